//! Assignments to several places at once: `(a, b) = (b, a + b);`.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn fibonacci(x: f64, n: usize) -> f64 {
    let (mut a, mut b) = (x, 1.0);
    let (mut i, mut j) = (0, n);
    while i < j {
        (a, b) = (b, a + b * x);
        (i, j) = (i + 2, j + 1);
    }
    a * b
}

/// Whole vectors change places; nothing is copied.
#[differentiable]
fn diffused(u: &[f64], rate: f64, steps: usize) -> f64 {
    let mut front = u.to_vec();
    let mut back = vec![0.0; u.len()];
    let mut oldest = vec![rate; u.len()];
    for _ in 0..steps {
        for i in 0..u.len() {
            back[i] = front[i] + rate * (front[(i + 1) % u.len()] - front[i]) * oldest[i];
        }
        (front, back, oldest) = (back, oldest, front);
    }
    front.iter().product::<f64>() + oldest[0]
}

#[derive(Clone, Copy, Differentiable)]
struct Pair {
    x: f64,
    y: f64,
}

#[differentiable]
fn stepped(pair: Pair, k: f64) -> (Pair, f64) {
    (Pair { x: pair.y, y: pair.x * k }, pair.x)
}

/// Elements, fields, names without a value so far, and what is left out.
#[differentiable]
fn of_all_kinds(x: &mut [f64], k: f64) -> f64 {
    let n = x.len();
    (x[0], x[n - 1]) = (x[1] * k, x[0]);
    let (sin, cos);
    (sin, cos) = k.sin_cos();
    let mut pair = Pair { x: sin, y: k };
    let mut sum = 0.0;
    for _ in 0..3 {
        let part;
        (pair, part) = stepped(pair, k);
        sum += part;
    }
    Pair { x: sum, .. } = Pair { x: sum * cos, y: 0.0 };
    ([x[0], pair.y], _) = ([x[1], sum * x[0]], x[0]);
    x[0] * x[n - 1] + sum * pair.y
}

#[test]
fn at_once() {
    check_rule(fibonacci::rule, [(0.3, 2), (1.0, 5)]);
    check_rule(diffused::rule, [(vec![0.3, 0.1, 0.5], 0.4, 3), (vec![1.0, 0.3], 0.7, 2)]);
    check_rule(of_all_kinds::rule, [(vec![0.3, 0.1, 0.5], 0.4), (vec![1.0, 0.3], 0.7)]);
}
