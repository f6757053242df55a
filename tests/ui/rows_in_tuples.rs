use pullback::prelude::*;

#[differentiable]
fn of_slices(data: &[(&[f64], f64)], w: &[f64]) -> f64 {
    data.iter().map(|(x, y)| x[0] * w[0] * y).sum()
}

#[differentiable]
fn of_vectors(data: &[[Vec<f64>; 2]]) -> f64 {
    data[0][1][0]
}

fn main() {}
