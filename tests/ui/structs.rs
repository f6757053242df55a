use pullback::prelude::*;

#[derive(Differentiable)]
union Either {
    x: f64,
    n: u64,
}

#[derive(Differentiable)]
enum Tree {
    Leaf(Vec<f64>),
}

#[derive(Differentiable)]
#[pullback(by_value)]
struct Misspelt {
    x: f64,
}

#[derive(Differentiable)]
struct OnAField {
    #[pullback(by_reference)]
    x: f64,
}

#[derive(Differentiable)]
struct Data<'a> {
    x: &'a [f64],
}

#[differentiable]
fn borrows_what_is_active(x: &[f64]) -> f64 {
    let data = Data { x: &x[1..] };
    data.x[0]
}

fn main() {}
