//! Vectors, arrays and `&mut` parameters.

use pullback::prelude::*;
use pullback::testing::{check_pushforward, check_second_order};

/// An owned output, and growing memory.
#[differentiable(dual)]
fn from_roots(roots: &[f64]) -> Vec<f64> {
    let mut c = vec![1.0];
    for &root in roots {
        c.push(0.0);
        for i in (1..c.len()).rev() {
            c[i] = c[i - 1] - root * c[i];
        }
        c[0] *= -root;
    }
    c
}

#[differentiable(dual)]
fn horner(c: &[f64], x: f64) -> f64 {
    c.iter().rev().fold(0.0, |y, c| y * x + c)
}

#[differentiable(dual)]
fn between_roots(roots: &[f64], x: f64) -> f64 {
    let c = from_roots(roots);
    horner(&c, x)
}

/// Two buffers, swapped in every step, one of them cleared.
#[differentiable(dual)]
fn heat(start: &[f64], conductivity: f64, #[constant] left: f64, steps: usize) -> f64 {
    let n = start.len();
    let mut now = start.to_vec();
    let mut next = vec![0.0; n];
    for _ in 0..steps {
        next.fill(0.0);
        next[0] = left;
        for i in 1..n - 1 {
            next[i] = now[i] + conductivity * (now[i - 1] - 2.0 * now[i] + now[i + 1]);
        }
        next[n - 1] = now[n - 1] * conductivity;
        std::mem::swap(&mut now, &mut next);
    }
    now.iter().map(|v| v * v).sum()
}

#[differentiable(dual)]
fn scale_in_place(x: &mut [f64], factor: f64, #[constant] offset: f64) {
    for v in x.iter_mut() {
        *v = *v * factor + offset;
    }
    x[0] = offset;
}

#[differentiable(dual)]
fn squares_in_place(x: &mut [f64], rounds: usize) -> f64 {
    for _ in 0..rounds {
        for i in 1..x.len() {
            x[i] -= x[i - 1] * x[i - 1] * 0.25;
        }
    }
    scale_in_place(x, 1.5, 0.5);
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i].powi(3);
    }
    total
}

#[differentiable(dual)]
fn rotate(angles: [f64; 2], p: &[f64; 3]) -> [f64; 3] {
    let (s, c) = angles[0].sin_cos();
    let m = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]];
    let mut out = [0.0; 3];
    for i in 0..3 {
        for j in 0..3 {
            out[i] += m[i][j] * p[j];
        }
    }
    let (s, c) = angles[1].sin_cos();
    [out[0], c * out[1] - s * out[2], s * out[1] + c * out[2]]
}

#[differentiable(dual)]
fn polar(p: (f64, f64), scale: f64) -> (f64, [f64; 2]) {
    let (x, y) = p;
    let r = x.hypot(y);
    (r * scale, [y.atan2(x), 1.0])
}

#[differentiable(dual)]
fn of_tuples(p: (f64, f64), scale: f64) -> f64 {
    let (r, [angle, one]) = polar(p, scale);
    let (a, b) = (2.0, r * angle);
    let pair = (one, b);
    a * b * pair.0 + pair.1 * scale
}

#[differentiable(dual)]
fn chained(x: &[f64], y: &[f64]) -> f64 {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let spread: Vec<f64> = x.iter().map(|v| v - mean).collect();
    let fit: f64 = spread.iter().zip(y).filter(|(s, _)| **s != 0.0).map(|(s, y)| s * y.exp()).sum();
    fit + x.windows(2).map(|w| (w[1] - w[0]).powi(2)).sum::<f64>()
}

#[differentiable(dual)]
fn table(x: &[f64], rows: usize) -> f64 {
    let mut t = vec![vec![0.0; x.len()]; rows];
    for (j, &v) in x.iter().enumerate() {
        t[0][j] = v;
    }
    for i in 1..rows {
        for j in 0..x.len() {
            let before = if j == 0 { 1.0 } else { t[i][j - 1] };
            t[i][j] = before * t[i - 1][j] + 0.1;
        }
    }
    t[rows - 1].iter().sum()
}

#[differentiable(dual)]
fn first_above(x: &[f64], #[constant] threshold: f64) -> Option<f64> {
    for &v in x {
        if v > threshold {
            return Some(v * v - threshold);
        }
    }
    None
}

#[differentiable(dual)]
fn with_default(x: &[f64], #[constant] threshold: f64) -> f64 {
    let found = first_above(x, threshold);
    found.unwrap_or(0.0) * x[0] + x[0].powi(2)
}

#[differentiable(dual)]
fn mapped(x: &[f64], #[constant] threshold: f64) -> f64 {
    let product = first_above(x, threshold).map(|v| v * v * x[0]).unwrap_or(x[0] * x[0]);
    product * first_above(x, threshold).map_or(1.0, |v| v.sin())
}

#[test]
fn vectors() {
    check_pushforward(from_roots::rule, [(vec![0.5, -1.2, 2.0],), (vec![],)]);
    check_second_order(horner::rule, [(vec![0.5, 1.2, -0.7], 0.8), (vec![], 0.3)]);
    check_second_order(between_roots::rule, [(vec![0.5, -1.2, 2.0], 0.8), (vec![0.4], 0.3)]);
    check_second_order(heat::rule, [(vec![0.5, 1.0, -0.3, 0.8], 0.2, 0.7, 3), (vec![0.3, 0.9], 0.1, 1.0, 1)]);
    check_second_order(
        chained::rule,
        [(vec![0.5, 1.0, 1.7], vec![0.3, -0.4, 0.2]), (vec![0.5, 0.2], vec![0.1, 0.9])],
    );
    check_second_order(table::rule, [(vec![0.5, 1.0, 1.7], 3), (vec![0.3], 1)]);
}

#[test]
fn in_place() {
    check_pushforward(scale_in_place::rule, [(vec![0.5, 1.0], 2.0, 0.3), (vec![0.7], 1.0, -0.2)]);
    check_second_order(squares_in_place::rule, [(vec![0.5, 1.0, -0.3], 3), (vec![0.7], 1)]);
}

#[test]
fn arrays_and_tuples() {
    check_pushforward(rotate::rule, [([0.3, -0.5], [1.0, 2.0, 0.5])]);
    check_pushforward(polar::rule, [((0.3, 0.7), 2.0), ((-1.0, 0.4), 0.5)]);
    check_second_order(of_tuples::rule, [((0.3, 0.7), 2.0), ((-1.0, 0.4), 0.5)]);
    check_pushforward(first_above::rule, [(vec![0.5, 1.0, 2.0], 0.7)]);
    check_second_order(with_default::rule, [(vec![0.5, 1.0, 2.0], 0.7), (vec![0.5], 0.7)]);
    check_second_order(mapped::rule, [(vec![0.5, 1.0, 2.0], 0.7), (vec![0.5], 0.7)]);
}
