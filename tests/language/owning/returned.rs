//! Functions that return vectors and arrays, and calls of them.

use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2, array};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// tanh(W·x)
#[differentiable]
fn layer(w: &[f64], x: &[f64]) -> Vec<f64> {
    let n = w.len() / x.len();
    let mut y = vec![0.0; n];
    for i in 0..n {
        for j in 0..x.len() {
            y[i] += w[i * x.len() + j] * x[j];
        }
        y[i] = y[i].tanh();
    }
    y
}

#[differentiable]
fn norm(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i] * x[i];
    }
    total
}

#[differentiable]
fn network(w: &[f64], v: &[f64], x: &[f64]) -> f64 {
    let h = layer(w, x);
    let y = layer(&v[..h.len()], &h);
    norm(&y) + h[0]
}

/// A result that takes the place of the argument, in a loop.
#[differentiable]
fn iterated(w: &[f64], x: &[f64], steps: usize) -> f64 {
    let mut h = x.to_vec();
    for _ in 0..steps {
        h = layer(w, &h);
    }
    norm(&h)
}

/// The same without a hint that this is a vector.
#[differentiable]
fn iterated_from_a_call(w: &[f64], x: &[f64], steps: usize) -> Vec<f64> {
    let mut h = layer(w, x);
    for i in 0..steps {
        let next = layer(w, &h);
        let size = norm(&next);
        h = layer(w, &next);
        h[0] *= size * i as f64;
    }
    h
}

#[differentiable]
fn squares(x: &[f64]) -> Vec<f64> {
    let mut y = Vec::new();
    for i in 0..x.len() {
        y.push(x[i] * x[i]);
    }
    y
}

#[differentiable]
fn three(x: f64, y: f64) -> Vec<f64> {
    vec![x * y, 1.0, x.sin()]
}

#[differentiable]
fn either(x: &[f64], k: f64) -> Vec<f64> {
    if k > 0.0 {
        let mut y = x.to_vec();
        y[0] *= k;
        y.push(k);
        y
    } else {
        vec![k; x.len()]
    }
}

#[differentiable]
fn through(x: &[f64], k: f64) -> Vec<f64> {
    let scaled = either(x, k);
    layer(&scaled, x)
}

#[differentiable]
fn constant_result(x: &[f64], k: f64) -> Vec<f64> {
    let total = k * x[0];
    vec![1.0; x.len()]
}

#[differentiable]
fn scaled(x: &Array1<f64>, k: f64) -> Array1<f64> {
    let mut y = x.clone();
    for i in 0..y.len() {
        y[i] *= k * y[0];
    }
    y
}

#[differentiable]
fn outer(x: &Array1<f64>, y: &Array1<f64>) -> Array2<f64> {
    let mut a = Array2::<f64>::zeros((x.len(), y.len()));
    for i in 0..x.len() {
        for j in 0..y.len() {
            a[[i, j]] = x[i] * y[j];
        }
    }
    a
}

#[differentiable]
fn of_arrays(x: &Array1<f64>, k: f64) -> f64 {
    let y = scaled(x, k);
    let mut a = outer(&y, x);
    let b = a.to_owned();
    a.fill(k);
    a[[0, 0]] = b[[0, 0]] * y[0];
    let mut c = Array2::zeros((x.len(), x.len()));
    c.assign(&a);
    let mut total = 0.0;
    for i in 0..x.len() {
        for j in 0..x.len() {
            total += a[[i, j]] * b[[j, i]] * c[[i, i]];
        }
    }
    total
}

#[test]
fn vectors() {
    check_rule(layer::rule, [(vec![0.5, -0.2, 0.3, 0.7], vec![0.3, 0.4]), (vec![0.5, -0.2, 0.3], vec![0.7])]);
    check_rule(squares::rule, [vec![0.5, -0.4, 0.3], vec![0.7], vec![]].map(|x| (x,)));
    check_rule(three::rule, [(0.5, 0.7), (0.1, 0.2)]);
    check_rule(either::rule, [(vec![0.5, -0.2, 0.3, 0.7], 0.7), (vec![0.5, -0.2, 0.3], -0.5)]);
    check_rule(constant_result::rule, [(vec![0.5, -0.2, 0.3, 0.7], 0.7)]);
}

#[test]
fn calls() {
    check_rule(
        network::rule,
        [
            (vec![0.5, -0.2, 0.3, 0.7], vec![0.3, 0.4, 0.5], vec![0.3, 0.4]),
            (vec![0.5, -0.2, 0.3], vec![0.7, 0.3, 0.1], vec![0.7]),
        ],
    );
    check_rule(
        iterated::rule,
        [
            (vec![0.5, -0.2, 0.3, 0.7], vec![0.3, 0.4], 3),
            (vec![0.5], vec![0.7], 4),
            (vec![0.5], vec![0.7], 0),
        ],
    );
    check_rule(
        iterated_from_a_call::rule,
        [
            (vec![0.5, -0.2, 0.3, 0.7], vec![0.3, 0.4], 3),
            (vec![0.5], vec![0.7], 4),
            (vec![0.5], vec![0.7], 0),
        ],
    );
    check_rule(through::rule, [(vec![0.5, -0.2, 0.3, 0.7], 0.7), (vec![0.5, -0.2, 0.3], -0.5)]);
}

#[test]
fn arrays() {
    check_rule(scaled::rule, [(array![0.5, -0.2, 0.3], 0.7), (array![0.9], 1.1)]);
    check_rule(outer::rule, [(array![0.5, -0.2, 0.3], array![0.7, 0.1]), (array![0.9], array![1.1])]);
    check_rule(of_arrays::rule, [(array![0.5, -0.2, 0.3], 0.7), (array![0.9, 0.4], 1.1)]);
}

#[test]
fn from_a_seed() {
    let mut g = squares::pullback();
    for _ in 0..2 {
        let (value, d) = g.value_and_pullback(&[1.0, 2.0], &[1.0, 10.0]);
        assert_eq!(value, [1.0, 4.0]);
        assert_eq!(d.x, [2.0, 40.0]);
    }
    let mut g = outer::pullback();
    let (_, d) = g.value_and_pullback(&array![1.0, 2.0], &array![3.0], &array![[1.0], [10.0]]);
    assert_eq!((d.x, d.y), (&array![3.0, 30.0], &array![21.0]));
}
