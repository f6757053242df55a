use pullback::prelude::*;

#[derive(Differentiable)]
union Either {
    x: f64,
    n: u64,
}

#[derive(Differentiable)]
enum Tree<'a> {
    Leaf(&'a [f64]),
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

#[derive(Differentiable)]
struct Boxed {
    x: Box<f64>,
}

#[differentiable]
fn makes_a_box(x: f64) -> f64 {
    let boxed = Boxed { x: Box::new(x) };
    *boxed.x
}

#[derive(Clone, Differentiable)]
struct Layer {
    weights: Vec<f64>,
}

#[differentiable]
impl Layer {
    fn new(w: f64) -> Self {
        Layer { weights: vec![w] }
    }
}

#[differentiable]
fn pushes_what_a_call_has_returned(x: f64) -> f64 {
    let layer = Layer::new(x);
    let mut layers = Vec::new();
    if layers.is_empty() {
        layers.push(layer);
    }
    layers[0].weights[0]
}

#[derive(Clone, Differentiable)]
struct WithBias {
    weights: Vec<f64>,
    bias: Option<Box<[f64]>>,
    #[constant]
    note: Option<Vec<f64>>,
}

fn main() {}
