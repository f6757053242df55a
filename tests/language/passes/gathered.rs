//! Elements that one block or loop reads several times, whatever else has the same index.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// On a ring of one or two, left and right are the same element, or this one.
#[differentiable]
fn ring(u: &mut [f64], v: &mut [f64], k: f64, steps: usize) -> f64 {
    let n = u.len().min(v.len());
    for _ in 0..steps {
        for i in 0..n {
            let left = if i == 0 { n - 1 } else { i - 1 };
            let right = if i + 1 == n { 0 } else { i + 1 };
            let reaction = u[i] * v[i] * v[i];
            u[i] += k * (v[left] * v[right] - v[i]) - reaction;
            v[left] = u[i] * v[i] + 0.5 * v[left] * v[right] * v[left];
        }
    }
    let mut total = 0.0;
    for i in 0..n {
        total += u[i] * v[i] * u[i];
    }
    total
}

/// The element changes between two readings.
#[differentiable]
fn rewritten(x: &mut [f64], k: f64) -> f64 {
    let last = x.len() - 1;
    let a = x[0] * x[last];
    x[0] *= k;
    let b = x[0] * x[0] * x[last];
    x[last] = a * x[0] + x[last] * x[last];
    a * b + x[last] * x[0] * x[last]
}

/// The index changes its meaning.
#[differentiable]
fn moving(x: &mut [f64], order: &mut [usize]) -> f64 {
    let mut p = 0;
    let mut total = x[p] * x[p];
    p = order.len() % x.len();
    total *= x[p] + total * x[p];
    for i in 0..order.len() {
        order[i] = (order[i] + i + p) % x.len();
        total += x[order[i]] * x[p] * x[order[i]];
        order[i] = (order[i] + 1) % x.len();
        total += x[order[i]] * x[order[i]];
        x[order[i]] *= 0.5;
    }
    total
}

/// An element that is the same in all iterations, of which there may be none.
#[differentiable]
fn pivots(a: &mut [f64], x: &[f64], n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..=n {
        for j in 0..(n - i) {
            total += a[n + 7 * i - 6 * i] * x[j] * a[n + 7 * i - 6 * i] * x[i];
        }
        for j in 0..i {
            let t = a[j] * a[i] * x[i];
            a[j] -= t * x[j] * a[i];
        }
    }
    total + a[0]
}

#[differentiable]
fn outer(w: &[f64], x: &[f64], y: &mut [f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..y.len() {
        for j in 0..x.len() {
            total += w[i % w.len()] * x[j] * y[i] * w[i % w.len()];
        }
        y[i] = total * y[i];
        for j in (0..x.len()).rev() {
            total += y[i] * x[j] * y[i];
        }
    }
    total
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.4 + 0.3 * (0.7 * i as f64 + 0.3).sin()).collect()
}

#[test]
fn elements_that_may_be_one() {
    let args = |n| (wave(n), wave(n + 1), 0.3, 2);
    check_rule(ring::rule, [args(1), args(2), args(3), args(7)]);
}

#[test]
fn what_comes_between() {
    check_rule(rewritten::rule, [(wave(1), 0.7), (wave(4), 0.7)]);
    check_rule(moving::rule, [(wave(3), vec![1, 0, 5, 2]), (wave(1), vec![3]), (wave(2), vec![])]);
}

#[test]
fn elements_that_stay_the_same() {
    check_rule(pivots::rule, [(wave(9), wave(5), 4), (wave(3), wave(2), 1), (wave(1), wave(1), 0)]);
    check_rule(
        outer::rule,
        [(wave(2), wave(3), wave(4)), (wave(1), vec![], wave(2)), (wave(2), wave(2), vec![])],
    );
}
