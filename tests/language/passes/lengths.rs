//! Loops over `0..n` through arrays that are longer, or change their length before and afterwards.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

/// As long as it takes, or longer.
#[differentiable]
fn through_all(x: &[f64], y: &mut [f64], z: &mut [f64], n: usize) -> f64 {
    let mut total = 0.0;
    let mut t = vec![0.0; n];
    for i in 0..n {
        t[i] = x[i] * y[i];
    }
    for i in 0..n {
        y[i] += t[i] * z[i];
        z[i] += t[i];
    }
    for i in 0..n {
        total += t[i] * y[i] * z[i];
    }
    total
}

/// Some elements are not there, and nobody looks at them.
#[differentiable]
fn not_all(x: &[f64], y: &mut [f64], n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..n {
        if i < y.len() {
            total += y[i] * y[i];
            y[i] *= 0.5;
        }
    }
    for i in 0..n {
        if i >= x.len() {
            continue;
        }
        total += x[i] * x[i] * y[0];
    }
    for i in 0..n {
        if i == x.len() {
            break;
        }
        y[0] += x[i] * x[i];
    }
    for i in n..0 {
        total += x[i] * y[i];
    }
    total
}

/// Vectors that grow and shrink.
#[differentiable]
fn changing(x: &[f64], k: f64) -> f64 {
    let n = x.len();
    let mut v: Vec<f64> = Vec::new();
    let mut w = vec![k; n + 1];
    for i in 0..n {
        v.push(x[i] * k);
    }
    for i in 0..n {
        v[i] = v[i] * x[i];
        w[i] += v[i] * v[i];
    }
    v.truncate(1);
    w.pop();
    for i in 0..n {
        w[i] *= x[i];
    }
    w.clear();
    w.push(k * k);
    let mut total = w[0];
    for i in 0..v.len() {
        total += v[i];
    }
    total
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.5 + 0.4 * (0.7 * i as f64 + 0.3).sin()).collect()
}

fn other(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.4 + 0.3 * (0.9 * i as f64 + 0.1).cos()).collect()
}

#[test]
fn long_enough() {
    check_rule(
        through_all::rule,
        [(wave(4), other(4), wave(4), 4), (wave(4), other(5), wave(6), 3), (wave(1), vec![], other(2), 0)],
    );
}

#[test]
fn too_short() {
    check_rule(not_all::rule, [(wave(2), other(3), 6), (wave(6), other(2), 4), (vec![], other(1), 2)]);
}

#[test]
fn of_various_lengths() {
    check_rule(changing::rule, [(wave(4), 0.7), (wave(1), 0.7)]);
    let mut g = changing::gradient();
    for n in [2, 5, 1, 5] {
        let (x, k) = (wave(n), 0.8);
        let (_, d) = g.value_and_gradient(&x, k);
        assert!((d.x[0] - 2.0 * k * x[0]).abs() < 1e-12);
        assert!(d.x[1..].iter().all(|d| *d == 0.0));
    }
}
