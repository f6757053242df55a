//! Expressions of matrices and vectors, as networks have them.

use ndarray::{Array1, Array2, Axis, array, s};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// Numbers for tests, all different.
pub(crate) fn matrix(rows: usize, columns: usize, start: f64) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| start + 0.37 * ((3 * i + 7 * j) as f64 + start).sin())
}

pub(crate) fn vector(len: usize, start: f64) -> Array1<f64> {
    Array1::from_shape_fn(len, |i| start + 0.41 * ((5 * i) as f64 - start).cos())
}

#[differentiable]
fn loss(w1: &Array2<f64>, b1: &Array1<f64>, w2: &Array2<f64>, x: &Array2<f64>, y: &Array2<f64>) -> f64 {
    let h = (x.dot(w1) + b1).mapv(f64::tanh);
    let r = h.dot(w2) - y;
    (&r * &r).sum() / x.nrows() as f64
}

/// Each array is made of the last one, under the same name.
#[differentiable]
fn under_one_name(x: &Array1<f64>) -> f64 {
    let mut h = Array1::<f64>::zeros(x.len());
    pullback::nn::relu(&mut h, x);
    let h = h.mapv(f64::tanh);
    let h = h.mapv(|t| t * t + 1.0);
    (&h * x).sum()
}

#[derive(Differentiable)]
struct Layer {
    weights: Array2<f64>,
    bias: Array1<f64>,
}

#[differentiable]
fn layer(layer: &Layer, x: &Array1<f64>) -> Array1<f64> {
    let weights: &Array2<f64> = &layer.weights;
    (x.dot(weights) + &layer.bias).mapv(|v| v.max(0.1 * v))
}

/// Layers in a struct, one after the other.
#[differentiable]
fn deep(layers: &[Layer], x: &Array1<f64>, y: &Array1<f64>, decay: f64) -> f64 {
    let mut h = x.clone();
    let mut penalty = 0.0;
    for i in 0..layers.len() {
        let next: Array1<f64> = layer(&layers[i], &h);
        h = next;
        let weights: &Array2<f64> = &layers[i].weights;
        penalty += decay * (weights * weights).sum();
    }
    let d = &h - y;
    d.dot(&d) + penalty
}

/// All weights of one kind side by side.
#[differentiable]
fn shared(weights: &[Array2<f64>], biases: &Vec<Array1<f64>>, x: &Array1<f64>) -> f64 {
    let mut h = x.to_owned();
    for (w, b) in weights.iter().zip(biases.iter()) {
        h = w.dot(&h) + b;
        h.mapv_inplace(|v| v.tanh());
    }
    h.sum()
}

#[differentiable]
fn swish(x: f64, beta: f64) -> f64 {
    x / (1.0 + (-beta * x).exp())
}

/// Functions of the user's, with their own gradients, and what they capture.
#[differentiable]
fn activated(x: &Array2<f64>, beta: f64, s: &[f64]) -> f64 {
    let y = x.mapv(|v| swish(v, beta));
    let z = y.map(|v| if *v > 0.0 { v * s[0] } else { v * v * s[1] });
    let w = z.map(|&v| {
        let t = v * beta;
        t.sin() + t
    });
    (w * y).sum()
}

/// A gated recurrent unit.
#[differentiable]
fn gru(u: &Array2<f64>, w: &Array2<f64>, x: &Array2<f64>, h0: &Array1<f64>) -> f64 {
    let mut h = h0.clone();
    for t in 0..x.nrows() {
        let input = x.row(t);
        let z = (u.dot(&h) + input).mapv(|v| 1.0 / (1.0 + (-v).exp()));
        let candidate = w.dot(&(&z * &h)).mapv(f64::tanh);
        h = (1.0 - &z) * &h + z * candidate;
    }
    h.dot(h0)
}

#[test]
fn layers() {
    let l =
        |rows, columns, start| Layer { weights: matrix(rows, columns, start), bias: vector(columns, start) };
    let ls = || vec![l(3, 4, 0.1), l(4, 2, 0.5)];
    let (x, y) = (vector(3, 0.3), vector(2, 0.9));
    let mut g = deep::gradient();
    let value = g.value_and_gradient(&ls(), &x, &y, 0.3).0;
    assert_eq!(value.to_bits(), deep(&ls(), &x, &y, 0.3).to_bits());
    let step = 1e-6;
    for (i, row, column) in [(0, 1, 2), (1, 3, 0)] {
        let moved = |by: f64| {
            let mut ls = ls();
            ls[i].weights[[row, column]] += by;
            deep(&ls, &x, &y, 0.3)
        };
        let (_, d) = g.value_and_gradient(&ls(), &x, &y, 0.3);
        let difference = (moved(step) - moved(-step)) / (2.0 * step);
        assert!((d.layers[i].weights[[row, column]] - difference).abs() < 1e-7);
    }
    check_rule(
        shared::rule,
        [(vec![matrix(3, 3, 0.1), matrix(2, 3, 0.4)], vec![vector(3, 0.1), vector(2, 0.2)], vector(3, 0.7))],
    );
    check_rule(
        activated::rule,
        [(matrix(3, 3, -0.1), 0.7, vec![0.4, 0.9]), (matrix(1, 2, 0.1), 0.7, vec![0.4, 0.9])],
    );
    check_rule(
        gru::rule,
        [
            (matrix(3, 3, 0.1), matrix(3, 3, 0.4), matrix(4, 3, 0.2), vector(3, 0.6)),
            (matrix(2, 2, 0.1), matrix(2, 2, 0.4), matrix(1, 2, 0.2), vector(2, 0.6)),
        ],
    );
}

#[test]
fn two_layers() {
    check_rule(
        loss::rule,
        [
            (matrix(3, 4, 0.1), vector(4, 0.2), matrix(4, 2, -0.3), matrix(5, 3, 0.4), matrix(5, 2, 0.9)),
            (matrix(2, 3, 0.1), vector(3, 0.2), matrix(3, 1, -0.3), matrix(1, 2, 0.4), matrix(1, 1, 0.9)),
        ],
    );
}

#[test]
fn names_that_are_taken_again() {
    check_rule(under_one_name::rule, [(vector(3, 0.1),), (vector(5, -0.2),)]);
}
