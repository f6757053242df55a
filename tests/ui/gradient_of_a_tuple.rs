use pullback::prelude::*;

#[differentiable]
fn pair(x: f64) -> (f64, f64) {
    (x, x * x)
}

#[differentiable]
fn count(x: f64) -> usize {
    x as usize
}

#[differentiable]
fn nothing(x: f64) {
    let _ = x;
}

fn main() {
    let _ = nothing::gradient().value_and_gradient(1.0);
    let _ = pair::gradient().value_and_gradient(1.0);
    let _ = count::gradient().value_and_gradient(1.0);
}
