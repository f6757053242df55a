//! Vectors by value, as parameters and as results of functions that are left early.

use ndarray::{Array1, array};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn mean(x: Vec<f64>, k: f64) -> f64 {
    let mut total = 0.0;
    for v in &x {
        total += v * v * k;
    }
    total / x.len() as f64
}

/// Consumed by a loop, and looked at before.
#[differentiable]
fn consumed(x: Vec<f64>, k: f64) -> f64 {
    let mut total = x[0] * k;
    for (i, v) in x.into_iter().enumerate() {
        total += v.sin() * i as f64;
    }
    total
}

#[differentiable]
fn changed(mut x: Vec<f64>, k: f64) -> Vec<f64> {
    x.push(k);
    for i in 1..x.len() {
        let before = x[i - 1];
        x[i] *= before;
    }
    x
}

#[differentiable]
fn moved(x: Vec<f64>, rows: Vec<Vec<f64>>) -> f64 {
    let mut y = x;
    y[0] *= rows[0][0];
    let mut total = 0.0;
    for row in rows {
        for (a, b) in row.iter().zip(&y) {
            total += a * b;
        }
    }
    total
}

/// Passed on by value.
#[differentiable]
fn passed_on(x: &[f64], k: f64) -> f64 {
    let v = x.to_vec();
    let first = mean(v, k);
    let second = mean(vec![k, x[0], first], 0.5);
    let mut w = x.to_vec();
    w[0] *= k;
    consumed(w, first) + mean(x.to_vec(), second)
}

/// Passed on as copies, and as what a call has returned.
#[differentiable]
fn copied(x: &[f64], k: f64) -> f64 {
    let v = x.to_vec();
    let first = mean(v.clone(), k);
    let (w, last): (Vec<f64>, f64) = doubled(x, first);
    mean(w, last) + mean(v, k)
}

#[differentiable]
fn doubled(x: &[f64], k: f64) -> (Vec<f64>, f64) {
    let y: Vec<f64> = x.iter().map(|v| v * 2.0 * k).collect();
    let last = y[y.len() - 1];
    (y, last)
}

/// What is given becomes a part of what is returned.
#[differentiable]
fn paired(x: Vec<f64>, y: Vec<f64>, k: f64) -> (Vec<f64>, f64, Vec<f64>) {
    let first = x[0] * k;
    (y, first, x)
}

#[derive(Clone, Differentiable)]
struct Model {
    weights: Vec<f64>,
    bias: f64,
}

#[derive(Clone, Differentiable)]
struct Layer(Vec<f64>, f64);

#[differentiable]
impl Model {
    fn new(weights: Vec<f64>, bias: f64) -> Self {
        Self { weights, bias }
    }

    fn scaled(mut weights: Vec<f64>, bias: f64) -> Self {
        weights[0] *= bias;
        let model = Model { weights: weights, bias: bias * 2.0 };
        model
    }
}

#[differentiable]
fn layer(weights: Vec<f64>, k: f64) -> Layer {
    Layer(weights, k * k)
}

#[differentiable]
fn made(x: Vec<f64>, k: f64) -> f64 {
    let a = Model::new(x.clone(), k);
    let b = Model::scaled(x.clone(), a.bias);
    let y = x.clone();
    let c = layer(y.clone(), b.bias);
    a.weights[0] * b.weights[0] + a.bias * c.1 + c.0[x.len() - 1] * y[0]
}

#[differentiable]
fn of_ndarray(x: Array1<f64>, k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i] * x[i] * k;
    }
    total
}

/// Left at several places.
#[differentiable]
fn padded(x: &[f64], k: f64, n: usize) -> Vec<f64> {
    if n == 0 {
        return vec![];
    }
    if n == x.len() {
        return x.to_vec();
    }
    let mut y = vec![k; n];
    for i in 0..n {
        if i >= x.len() {
            y[0] *= k;
            return y;
        }
        y[i] *= x[i];
    }
    y.push(x[0] * k);
    y
}

/// From within loops, by patterns, with what was made there.
#[differentiable]
fn first_above(rows: &[Vec<f64>], k: f64) -> Vec<f64> {
    for row in rows {
        let Some(first) = row.first() else { return vec![k; 2] };
        if first * k > 0.5 {
            let scaled: Vec<f64> = row.iter().map(|v| v * first).collect();
            return scaled;
        }
    }
    let best = match rows.last() {
        Some(row) => row[0],
        None => return vec![k * k],
    };
    vec![best * k, best]
}

#[differentiable]
fn uses_both(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for n in 0..4 {
        let y = padded(x, k, n);
        for (i, v) in y.iter().enumerate() {
            total = 0.9 * total + v * v * (i + 1) as f64;
        }
    }
    let rows = vec![x.to_vec(), vec![k, total]];
    let z = first_above(&rows, k);
    total + z[0] * z[z.len() - 1]
}

#[differentiable]
fn arrays(x: &[f64], k: f64) -> Array1<f64> {
    if k < 0.0 {
        let mut y = Array1::zeros(2);
        y[0] = k;
        return y;
    }
    let mut y = Array1::zeros(x.len());
    for i in 0..x.len() {
        y[i] = x[i] * k;
    }
    y
}

/// Local closures that are left by `?`.
#[differentiable]
fn tried(x: &[f64], k: f64) -> f64 {
    let positive = |v: f64| if v > 0.0 { Some(v) } else { None };
    let root = |i: usize| -> Option<f64> {
        let v = positive(x[i])?;
        let w = if i + 1 < x.len() { positive(x[i + 1] + k)? } else { 1.0 };
        Some(v.sqrt() * w)
    };
    let scaled = |v: f64| {
        let w = (v > 0.1).then_some(v)?;
        let u = (w < 0.8).then(|| w.sin() * k)?;
        Some(w * u)
    };
    let checked = |v: f64| -> Result<f64, usize> {
        let w = if v < 2.0 { Ok(v * k) } else { Err(3_usize) }?;
        Ok(w * w)
    };
    let mut total = 0.0;
    for i in 0..x.len() {
        if let Some(r) = root(i) {
            total += r * k;
        }
        total += scaled(x[i]).unwrap_or(0.0) + (x[i] > 0.2).then_some(x[i] * k).unwrap_or(k);
        total += checked(x[i]).unwrap_or(0.5);
    }
    total + root(0).unwrap_or(k)
}

/// Constant vectors that a call takes and returns: their memory is its copy's.
#[differentiable]
fn relaxed(b: &[f64], start: Vec<f64>) -> (Vec<f64>, usize) {
    let mut x = start;
    for i in 0..b.len() {
        x[i] = b[i] * (1.0 + x[i]);
    }
    (x, b.len())
}

#[differentiable]
fn from_constants(b: &[f64]) -> f64 {
    let (x, n) = relaxed(b, vec![0.0; b.len()]);
    let mut sum = x[0] * n as f64;
    for k in 0..2 {
        let ones = vec![1.0; b.len() + k];
        let (y, _) = relaxed(b, ones);
        sum += y[0] * y[0] * sum;
    }
    sum
}

#[test]
fn taken_by_value() {
    check_rule(mean::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7], 1.2)]);
    check_rule(consumed::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7], 1.2)]);
    check_rule(changed::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7], 1.2), (vec![], 0.3)]);
    check_rule(
        moved::rule,
        [(vec![0.5, -0.4], vec![vec![0.3, 0.2], vec![0.7]]), (vec![0.7], vec![vec![1.2]])],
    );
    check_rule(passed_on::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7], 1.2)]);
    check_rule(copied::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7], 1.2)]);
    check_rule(paired::rule, [(vec![0.5, -0.4, 0.3], vec![0.3], 0.7), (vec![0.7], vec![], 1.2)]);
    check_rule(made::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7], 1.2)]);
    check_rule(of_ndarray::rule, [(array![0.5, -0.4, 0.3], 0.7), (array![0.7], 1.2)]);
    check_rule(from_constants::rule, [(vec![0.5, -0.4, 0.3],), (vec![0.7],)]);
    let mut g = mean::gradient();
    let (value, d) = g.value_and_gradient(vec![3.0, 1.0], 0.5);
    assert_eq!((value, d.x, d.k), (2.5, &[1.5, 0.5][..], 5.0));
}

#[test]
fn left_early() {
    let x = vec![0.5, -0.4, 0.3];
    check_rule(
        padded::rule,
        [(x.clone(), 0.7, 0), (x.clone(), 0.7, 3), (x.clone(), 0.8, 2), (x.clone(), 0.8, 5)],
    );
    let rows = vec![vec![0.3, 0.2], vec![0.8, 0.6]];
    check_rule(
        first_above::rule,
        [(rows.clone(), 0.7), (rows.clone(), 0.2), (vec![], 0.7), (vec![vec![]], 0.3)],
    );
    check_rule(uses_both::rule, [(x.clone(), 0.7), (vec![0.9, 0.2], 1.2)]);
    check_rule(arrays::rule, [(x.clone(), 0.7), (vec![0.9], -1.2)]);
}

#[test]
fn closures_left_by_try() {
    check_rule(tried::rule, [(vec![0.5, -0.4, 0.3, 2.3], 0.7), (vec![-0.7], 1.2), (vec![0.7, 0.4], 1.2)]);
}
