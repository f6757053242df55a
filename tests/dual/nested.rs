//! Gradients within differentiable functions; those of `gradbench.rs` are of arguments by value.

use pullback::prelude::*;
use pullback::testing::CheckRule;

#[differentiable(dual)]
fn bowl(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += k * x[i] * x[i] * x[i] + (i as f64) * x[i].sin();
    }
    total
}

#[differentiable(dual)]
fn shallow(x: &[f64], #[constant] k: f64) -> f64 {
    bowl(x, k) + x[0] * x[1]
}

/// A step of gradient descent, and the value there.
#[differentiable]
fn after_a_step(x: &[f64], k: f64, rate: f64) -> f64 {
    let d = shallow::grad(x, 0.5);
    let mut y = x.to_vec();
    for i in 0..x.len() {
        y[i] -= rate * d[i];
    }
    let again = shallow::grad(&y, 0.5);
    bowl(&y, k) + again[0] * d[1]
}

#[test]
fn of_slices() {
    let arguments = [(vec![0.5, -0.25, 0.75], 0.5, 0.125), (vec![1.5, 0.25], -0.5, 0.25)];
    // `y` and both gradients, as in the function itself.
    CheckRule::new(after_a_step::rule).inputs(arguments).allocating(3).run();
}
