use pullback::prelude::*;

#[differentiable]
fn over_elements(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for x in x {
        total += x * x;
    }
    total
}

#[differentiable]
fn over_an_iterator(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for (i, x) in x.iter().enumerate() {
        total += x * i as f64;
    }
    total
}

#[differentiable]
fn chain(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

#[differentiable]
fn closure(x: f64, y: f64) -> f64 {
    let scale = |z: f64| z * y;
    scale(x)
}

#[differentiable]
fn method_of_an_array(x: &mut [f64]) -> f64 {
    x.sort_by(f64::total_cmp);
    x[0]
}

fn main() {}
