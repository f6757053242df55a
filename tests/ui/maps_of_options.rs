use ndarray::Array1;
use pullback::prelude::*;

#[derive(Differentiable)]
struct Model {
    bias: Option<f64>,
    weights: Array1<f64>,
}

#[differentiable]
fn maps_an_option(m: &Model) -> f64 {
    let b = m.bias.map(|b| b * b);
    b.unwrap_or(0.0)
}

#[differentiable]
fn maps_an_array_of_ndarray(m: &Model) -> f64 {
    let w = m.weights.map(|w| w * w);
    w.sum()
}

fn main() {}
