use pullback::prelude::*;

#[differentiable]
fn scale(x: &mut [f64], k: f64) -> f64 {
    x[0] *= k;
    x[0]
}

#[differentiable]
fn changes_what_it_is_given(x: &mut [f64]) -> f64 {
    checkpoint(scale(x, 2.0))
}

#[differentiable]
fn no_call(x: f64, y: f64) -> f64 {
    checkpoint(x * y)
}

#[differentiable]
fn two_strategies(x: f64, checkpoints: usize) -> f64 {
    let mut y = x;
    #[pullback(binomial)]
    for _ in 0..checkpoints {
        y *= y.sin();
    }
    y
}

fn main() {}
