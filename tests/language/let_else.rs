//! What a `match` or an `if let` takes out of an `Option` or leaves for, and parentheses around what is looked into.

use std::collections::HashMap;

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn references(x: &[f64]) -> f64 {
    let first = match x.first() {
        Some(first) => first,
        None => return 0.0,
    };
    let greatest = match x.iter().max_by(|a, b| a.total_cmp(b)) {
        None => return 0.0,
        Some(v) => v,
    };
    let third = if let Some(v) = x.get(2) { v } else { &0.5 };
    let fourth = match x.get(3) {
        Some(v) => v,
        _ => &x[0],
    };
    let mut total = first.sin() * greatest + third * *fourth;
    for i in 0..x.len() {
        let next = if let Some(next) = x.get(i + 1) {
            next
        } else {
            break;
        };
        total += x[i] * next;
    }
    total
}

#[differentiable]
fn quotient(x: f64, y: f64) -> Result<f64, String> {
    if y < 0.1 { Err("nothing to divide by".to_owned()) } else { Ok(x / y) }
}

#[differentiable]
fn values(x: f64, y: f64, z: Option<f64>) -> f64 {
    let mut q = match quotient(x, y) {
        Ok(q) => q,
        Err(_) => return x,
    };
    let z = if let Some(z) = z { z } else { return q * x };
    q *= z;
    q * q
}

#[allow(unused_parens)]
#[differentiable]
fn in_parentheses(x: &[f64]) -> f64 {
    let last = match (*x.last().unwrap()) {
        v if v < 0.4 => v.sin(),
        v => 0.5 * v,
    };
    let reference = match (&x[0]) {
        v if *v < 0.4 => v.sin(),
        v => 0.5 * v,
    };
    let first = if let Some(v) = (x.first()) { v.cos() } else { 0.5 };
    let (a, b) = ((&x[0]), *(x.last().unwrap()));
    last * reference * first * a * b
}

#[test]
fn options_that_are_taken_out() {
    let lists = || [vec![], vec![0.3], vec![0.7, 0.75, 0.2], vec![0.7, 0.5, 0.2, 0.9]].map(|x| (x,));
    check_rule(references::rule, lists());
    check_rule(values::rule, [(0.5, 0.05, None), (0.5, 2.0, None), (0.5, 2.0, Some(0.3))]);
    check_rule(in_parentheses::rule, [(vec![0.3, 0.5],), (vec![0.7, 0.75, 0.2],)]);
}

fn cell(p: [f64; 2]) -> (i64, i64) {
    ((p[0] / 0.5).floor() as i64, (p[1] / 0.5).floor() as i64)
}

/// What is looked up by a key that is made of others.
#[differentiable]
fn neighbours(points: &[[f64; 2]]) -> f64 {
    let mut grid: HashMap<(i64, i64), Vec<usize>> = HashMap::new();
    for (i, p) in points.iter().enumerate() {
        grid.entry(constant(cell(*p))).or_default().push(i);
    }
    let mut sum = 0.0;
    for p in points {
        let (x, y) = constant(cell(*p));
        for dx in -1..=1 {
            let Some(others) = grid.get(&(x + dx, y)) else { continue };
            for &j in others {
                sum += (p[0] - points[j][0]).powi(2) * p[1];
            }
        }
    }
    sum
}

#[test]
fn lookups_that_find_nothing() {
    let points = vec![[0.1, 0.2], [0.3, 0.25], [0.6, 0.4], [2.1, 0.3]];
    check_rule(neighbours::rule, [(points[..2].to_vec(),), (points,)]);
}
