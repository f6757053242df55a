//! Iterators that are asked for one item after the other, by `next`.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

fn numbers() -> [(Vec<f64>, f64); 2] {
    [(vec![0.5, 0.3, 0.9, 1.4, 0.2, 0.1], 0.6), (vec![0.7, 0.1, 1.3], 0.8)]
}

#[differentiable]
fn one_after_the_other(x: &[f64], t: f64) -> f64 {
    let mut items = x.iter();
    let mut s = t;
    while let Some(v) = items.next() {
        s += v * s;
    }
    let mut parts = x.chunks(2);
    while let Some(part) = parts.next() {
        s *= part.iter().sum::<f64>();
    }
    s
}

#[differentiable]
fn the_first_apart(x: &[f64], t: f64) -> f64 {
    let mut items = x.iter();
    let mut before = *items.next().unwrap();
    let mut s = t;
    for v in items {
        s += (v - before) * (v - before) * s;
        before = *v;
    }
    let mut copies = x.iter().copied();
    let mut greatest = copies.next().unwrap();
    for v in copies {
        if v > greatest {
            greatest = v;
        }
    }
    s * greatest
}

#[differentiable]
fn some_apart(x: &[f64], t: f64) -> f64 {
    let mut scaled = x.iter().map(|v| v * t);
    let first = scaled.next().unwrap_or(0.0);
    let second = scaled.next().unwrap_or(1.0);
    let rest = scaled.sum::<f64>();
    let mut items = x.iter();
    let (a, b) = (items.next().unwrap(), items.next().unwrap());
    let c = items.next();
    first * second + rest + a * b + c.map_or(t, |v| v * t)
}

#[differentiable]
fn left_early(x: &[f64], t: f64) -> Option<f64> {
    let mut items = x.iter().enumerate();
    let (_, a) = items.next()?;
    let mut s = a * t;
    while let Some((i, v)) = items.next() {
        if *v > 1.0 {
            continue;
        }
        if i > 3 {
            break;
        }
        s += v * v * i as f64;
    }
    Some(s)
}

#[differentiable]
fn written_to(x: &mut [f64], t: f64) -> f64 {
    let mut items = x.iter_mut();
    if let Some(v) = items.next() {
        *v *= t;
    }
    while let Some(v) = items.next() {
        *v *= *v;
    }
    x.iter().map(|v| v * v).sum()
}

#[differentiable]
fn in_loops(x: &[f64], t: f64) -> f64 {
    let mut s = 0.0;
    for k in 0..2 {
        let mut items = x.iter().skip(k);
        let mut a = t;
        while let Some(v) = items.next() {
            a += v * v;
            let Some(w) = items.next() else { break };
            a *= w;
        }
        s += a;
    }
    let mut pairs = x.iter().zip(x.iter().skip(1));
    loop {
        match pairs.next() {
            Some((a, b)) => s += a * b * t,
            None => break s,
        }
    }
}

/// Of indices there is no gradient.
#[differentiable]
fn of_indices(x: &[f64], k: &[usize]) -> f64 {
    let (mut indices, mut chosen) = (0..x.len(), k.iter());
    let mut s = 1.0;
    while let Some(i) = indices.next() {
        s += x[i] * s;
        if let Some(j) = indices.next() {
            s *= x[j];
        }
    }
    while let Some(i) = chosen.next() {
        s += x[*i] * x[*i];
    }
    s
}

#[test]
fn items_by_next() {
    check_rule(one_after_the_other::rule, numbers());
    check_rule(the_first_apart::rule, numbers());
    check_rule(some_apart::rule, numbers());
    check_rule(left_early::rule, numbers());
    check_rule(written_to::rule, numbers());
    check_rule(in_loops::rule, numbers());
    check_rule(of_indices::rule, [(vec![0.5, 0.3, 0.9], vec![2, 0]), (vec![0.7, 0.1], vec![1])]);
}
