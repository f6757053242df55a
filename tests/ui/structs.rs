use pullback::prelude::*;

struct Plain {
    x: f64,
}

#[differentiable]
fn without_the_derive(x: f64) -> f64 {
    let plain = Plain { x };
    plain.x
}

#[derive(Clone, Differentiable)]
struct NotCopy {
    x: f64,
}

#[differentiable]
fn by_value(s: NotCopy) -> f64 {
    s.x
}

#[derive(Differentiable)]
struct Layer {
    bias: Vec<f64>,
}

#[derive(Differentiable)]
struct HoldsAContainer {
    layer: Layer,
}

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

fn main() {}
