//! Functions of each element, by ndarray's methods of that name.

use ndarray::{Array1, Array2, ShapeBuilder};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

use crate::networks::{matrix, vector};

#[differentiable]
fn exponentials(x: &Array2<f64>) -> f64 {
    let grown = x.exp() + x.exp2() * x.exp_m1();
    let shrunk = x.ln() + x.ln_1p() * x.log2() - x.log10();
    (grown * shrunk).sum() + x.sqrt().sum() * x.cbrt().sum() - x.recip().sum()
}

#[differentiable]
fn waves(x: &Array2<f64>, y: &Array2<f64>) -> f64 {
    let circular = x.sin() * x.cos() + x.tan() * y.asin() + y.acos() * x.atan();
    let hyperbolic = x.sinh() * x.cosh() - x.tanh() * x.asinh() + x.acosh() * y.atanh();
    (circular * hyperbolic).sum() + (x.to_degrees() * x.to_radians()).sum()
}

/// The arguments carry gradients, too, and are evaluated once.
#[differentiable]
fn powers(x: &Array1<f64>, p: f64, n: i32) -> f64 {
    let y = x.powf(p * 0.5) + x.powi(3) * x.powi(-2) + x.powi(n) - x.pow2();
    let h = x.hypot(p.sin());
    (y * h).sum() + x.log(p + 1.0).sum() + (x - 1.0).abs().sum()
}

#[differentiable]
fn pieces(x: &Array1<f64>, high: f64) -> f64 {
    let inside = x.clamp(0.5, high);
    let jumps = x.floor() + x.ceil() * x.round() + x.trunc() * x.signum();
    (inside * jumps * x.fract()).sum()
}

#[differentiable]
fn single(x: &Array2<f32>, p: f32) -> f32 {
    let y = (x * 0.5).exp();
    (&y / (y.sqrt() + x.powf(p))).sum()
}

/// Of views, and of what is computed.
#[differentiable]
fn of_parts(x: &Array2<f64>) -> f64 {
    let mut total = 0.0;
    for i in 0..x.nrows() {
        total += x.row(i).exp().sum().ln();
    }
    total + x.t().sqrt().dot(x).sum() + (x * x).sum_axis(ndarray::Axis(0)).sqrt().sum()
}

#[test]
fn elementary() {
    check_rule(exponentials::rule, [(matrix(2, 3, 0.8),), (matrix(3, 1, 1.8),)]);
    check_rule(waves::rule, [(matrix(2, 3, 1.4), matrix(2, 3, 0.2)), (matrix(1, 1, 1.4), matrix(1, 1, 0.2))]);
    check_rule(powers::rule, [(vector(3, 1.8), 0.7, 2), (vector(5, 1.8), 1.3, -3)]);
    check_rule(pieces::rule, [(vector(4, 1.3), 1.4), (vector(2, 1.7), 1.1)]);
    check_rule(single::rule, [(matrix(2, 3, 0.8).mapv(|x| x as f32), 0.7)]);
    check_rule(of_parts::rule, [(matrix(3, 4, 0.8),), (matrix(1, 2, 0.8),)]);
}

/// The values are ndarray's in their layout as well, on which sums depend.
#[test]
fn layouts() {
    let rows = matrix(7, 5, 0.8);
    let mut columns = Array2::zeros(rows.raw_dim().f());
    columns.assign(&rows);
    for x in [&rows, &columns] {
        assert_eq!(exponentials::gradient().value_and_gradient(x).0.to_bits(), exponentials(x).to_bits());
    }
}
