//! Loops through named parts of slices, whole and by rows.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

/// Two layers, all of whose weights are in one slice.
#[differentiable]
fn layers(weights: &[f64], input: &[f64], hidden: usize) -> f64 {
    let n = input.len();
    let (w, r) = weights.split_at(hidden * n);
    let (b, v) = r.split_at(hidden);
    let mut h = vec![0.0; hidden];
    for i in 0..hidden {
        let mut s = b[i];
        for j in 0..n {
            s += w[i * n + j] * input[j];
        }
        h[i] = s.tanh();
    }
    let mut y = 0.0;
    for i in 0..hidden {
        y += v[i] * h[i];
    }
    y
}

/// Parts that overlap, and a part of a part.
#[differentiable]
fn overlapping(x: &[f64], n: usize) -> f64 {
    let a = &x[..n];
    let b = &x[1..];
    let c = &b[n / 2..];
    let mut total = 0.0;
    for i in 0..n {
        total += a[i] * b[i] * x[i];
    }
    for i in 0..n / 2 {
        total += c[i] * a[i] * c[i];
    }
    total
}

/// The part moves with a loop around, or with the loop itself.
#[differentiable]
fn moving(x: &[f64], width: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() + 1 - width {
        let window = &x[i..i + width];
        let mut product = 1.0;
        for j in 0..width {
            product += window[j] * window[j] * x[i];
        }
        total += product * product;
    }
    for i in 0..x.len() {
        let rest = &x[i..];
        total += rest[0] * rest[0];
        if i < rest.len() {
            total += rest[i] * x[i];
        }
    }
    let mut from = 0;
    for i in 0..x.len() / 2 {
        let part = &x[from..];
        total += part[i] * x[i];
        from += 1;
        let part = &x[..from];
        total += part[i] * part[i];
    }
    total
}

/// Some iterations look at what is not there in others.
#[differentiable]
fn sometimes(x: &[f64], y: &[f64], n: usize) -> f64 {
    let head = &x[..x.len() / 2];
    let tail = &y[y.len() / 2..];
    let mut total = 0.0;
    for i in 0..n {
        if i < head.len() {
            total += head[i] * head[i];
        }
        total += if i < tail.len() { tail[i].sin() } else { 0.5 };
    }
    for i in 0..n {
        if i == tail.len() {
            break;
        }
        total += tail[i] * tail[i];
    }
    total
}

/// A batch, taken apart by a loop within.
#[differentiable]
fn distances(points: &[f32], centre: &[f32], #[constant] scale: &[f32]) -> f32 {
    let d = centre.len();
    let known = &scale[1..];
    let mut total = 0.0;
    for p in 0..points.len() / d {
        let point = &points[p * d..(p + 1) * d];
        let mut s = 0.0;
        for k in 0..d {
            let off = point[k] - centre[k];
            s += known[k] * off * off;
        }
        total += s * s;
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
fn of_weights() {
    check_rule(layers::rule, [(wave(15), other(3), 3), (wave(4), vec![], 2), (vec![], other(2), 0)]);
}

#[test]
fn that_overlap_and_move() {
    check_rule(overlapping::rule, [(wave(5), 4), (wave(9), 6), (wave(1), 0)]);
    check_rule(moving::rule, [(wave(6), 3), (wave(4), 1), (wave(3), 0)]);
}

#[test]
fn that_end_early() {
    check_rule(sometimes::rule, [(wave(6), other(4), 5), (wave(1), other(1), 3), (wave(6), other(8), 2)]);
}

#[test]
fn of_a_batch() {
    let single = |n: usize| wave(n).into_iter().map(|x| x as f32).collect::<Vec<_>>();
    let (points, centre, scale) = (single(6), vec![0.3, 0.1], vec![9.0, 0.5, 2.0]);
    let mut g = distances::gradient();
    let (value, d) = g.value_and_gradient(&points, &centre, &scale);
    assert_eq!(value, distances(&points, &centre, &scale));
    for e in 0..6 {
        let moved = |by: f32| {
            let mut points = points.clone();
            points[e] += by;
            distances(&points, &centre, &scale)
        };
        let slope = (moved(1e-2) - moved(-1e-2)) / 2e-2;
        assert!((d.points[e] - slope).abs() < 2e-3, "{} instead of {slope}", d.points[e]);
    }
}
