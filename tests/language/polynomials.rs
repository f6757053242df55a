//! Sums of products, whose slopes are known before the gradient is: in one number and in several, in loops and out of them.

use pullback::prelude::*;
use pullback::testing::check_rule;

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-14 * (1.0 + expected.abs()), "{found} instead of {expected}");
}

#[differentiable]
fn horner(x: f64) -> f64 {
    0.5 + x * (-1.5 + x * (0.25 + x * (2.0 - x)))
}

#[differentiable]
fn horner_of_single(x: f32) -> f32 {
    1.5 * x * (1.0 + x * (0.25 - x / 3.0)) - x
}

/// Of elements, which take one gradient each; with what is no number known at compile time.
#[differentiable]
fn of_elements(x: &[f64], #[constant] c: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += c[0] + x[i] * (c[1] - x[i] * (c[2] + x[i] * c[3]));
    }
    total
}

/// The number is read more often than it takes part.
#[differentiable]
fn that_cancel(x: f64, y: f64) -> f64 {
    let nothing = x - x + (x - x) * 2.0;
    let negative = -(x * y * 2.0) - -x * x * x;
    nothing + negative
}

#[differentiable(dual)]
fn products(p: &[f64; 4], y: [f64; 2]) -> [f64; 2] {
    [p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] / 1.5 - p[3] * y[1]]
}

/// Among them what is a polynomial no more.
#[differentiable]
fn mixed(x: f64, y: f64, z: f64) -> f64 {
    let product = x * y * z + (x - y) * 0.5;
    let other = x * y.sin() * z + x / y;
    let squares = 0.5 * x * x + y * z * z;
    product * other - squares
}

#[differentiable]
fn called(x: &[f64; 3], p: &[f64; 4]) -> f64 {
    let mut y = [x[0], x[1]];
    for _ in 0..3 {
        let d = products(p, y);
        y[0] += 0.1 * d[0] + horner(y[1]);
        y[1] += 0.1 * d[1];
    }
    y[0] * y[1] * x[2]
}

#[test]
fn slopes_of_polynomials() {
    check_rule(horner::rule, [(0.7,), (-1.3,), (0.0,)]);
    check_rule(horner_of_single::rule, [(0.7,), (-1.25,)]);
    check_rule(of_elements::rule, [(vec![0.5, -0.4], vec![0.3, 1.2, -0.7, 0.4]), (vec![0.0], vec![1.0; 4])]);
    check_rule(that_cancel::rule, [(0.7, 0.2), (-1.3, 0.0)]);
    check_rule(products::rule, [([0.3, 0.4, -0.5, 0.6], [1.2, -0.7]), ([0.0; 4], [0.5, 0.25])]);
    check_rule(mixed::rule, [(0.7, 0.2, -0.4), (-1.3, 0.5, 0.1)]);
    check_rule(called::rule, [([0.3, 0.4, 1.5], [0.3, 0.4, -0.5, 0.6]), ([0.1, 0.0, 1.0], [0.2; 4])]);
}

/// By hand.
#[test]
fn their_values() {
    let mut g = horner::gradient();
    let x = 0.7_f64;
    assert_close(g.value_and_gradient(x).1.x, -1.5 + 0.5 * x + 6.0 * x * x - 4.0 * x.powi(3));
    let mut g = mixed::gradient();
    let (x, y, z) = (0.7_f64, 0.2_f64, -0.4_f64);
    let (product, other) = (x * y * z + (x - y) * 0.5, x * y.sin() * z + x / y);
    let (_, d) = g.value_and_gradient(x, y, z);
    assert_close(d.x, (y * z + 0.5) * other + product * (y.sin() * z + 1.0 / y) - x);
    assert_close(d.y, (x * z - 0.5) * other + product * (x * y.cos() * z - x / (y * y)) - z * z);
    assert_close(d.z, x * y * other + product * x * y.sin() - 2.0 * y * z);
}

/// Several gradients come at once, one for each row.
#[test]
fn jacobians_of_polynomials() {
    let (p, y) = ([0.3, 0.4, -0.5, 0.6], [1.2, -0.7]);
    let (mut jacobian, mut g) = (products::jacobian(), products::pullback());
    let (_, rows) = jacobian.value_and_jacobian(&p, y);
    for (i, seed) in [[1.0, 0.0], [0.0, 1.0]].into_iter().enumerate() {
        let (_, d) = g.value_and_pullback(&p, y, seed);
        for (j, expected) in d.p.iter().chain(&d.y).enumerate() {
            assert_close(rows[[i, j]], *expected);
        }
    }
}
