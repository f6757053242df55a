//! Gradients within differentiable functions.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// The potential of two charges, of which one moves away.
#[differentiable(dual)]
fn potential(x: [f64; 2], w: f64) -> f64 {
    let mut total = 0.0;
    for charge in [[10.0, 10.0 - w], [10.0, 0.0]] {
        total += 1.0 / ((x[0] - charge[0]).powi(2) + (x[1] - charge[1]).powi(2)).sqrt();
    }
    total
}

/// Where a particle hits the ground, squared: the accelerations are gradients.
#[differentiable]
fn landing(w: f64) -> f64 {
    let (mut x, mut v) = ([0.0, 8.0], [0.75, 0.0]);
    let h = 0.1;
    loop {
        let (a, _) = potential::grad(x, w);
        x = [x[0] + h * v[0], x[1] + h * v[1]];
        if x[1] <= 0.0 {
            let t = -x[1] / v[1];
            let end = x[0] + t * v[0];
            break end * end;
        }
        v = [v[0] - h * a[0], v[1] - h * a[1]];
    }
}

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
fn of_values() {
    check_rule(landing::rule, [(0.2,), (0.25,)]);
    // The expected result of GradBench's `particle`.
    let mut g = landing::gradient();
    let (value, d) = g.value_and_gradient(0.2071918746486116);
    assert!(value < 1e-8 && d.w.abs() < 1e-2, "{value} {}", d.w);
}

#[test]
fn of_slices() {
    let arguments = [(vec![0.5, -0.25, 0.75], 0.5, 0.125), (vec![1.5, 0.25], -0.5, 0.25)];
    // `y` and both gradients, as in the function itself.
    CheckRule::new(after_a_step::rule).inputs(arguments).allocating(3).run();
}
