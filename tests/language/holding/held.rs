//! Options of vectors, arrays and structs under a name.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

#[differentiable]
fn scaled(x: &[f64], k: f64) -> Vec<f64> {
    x.iter().map(|v| v * k).collect()
}

#[differentiable]
fn square(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

/// The cheapest of a few candidates.
#[differentiable]
fn best(x: &[f64]) -> f64 {
    let mut best: Option<Vec<f64>> = None;
    let mut cost = f64::INFINITY;
    for k in 1..4 {
        let y: Vec<f64> = x.iter().map(|v| v * k as f64 - 1.0).collect();
        let c: f64 = y.iter().map(|v| v * v).sum();
        if c < cost {
            cost = c;
            best = Some(y.clone());
        }
    }
    if let Some(b) = &best { b[0] * b[1] } else { 0.0 }
}

/// Set, changed, asked for and taken apart in all ways.
#[differentiable]
fn handled(x: &[f64], n: usize) -> f64 {
    let mut found: Option<Vec<f64>> = None;
    let mut rounds = 0.0;
    for k in 0..n {
        if found.is_none() || k % 2 == 1 {
            let y = scaled(x, k as f64 + x[0]);
            found = Some(y);
        } else if let Some(f) = &mut found {
            f[0] *= x[1];
        }
        if found.is_some() {
            rounds += x[0];
        }
        if k == 3 {
            found = None;
        }
    }
    let Some(f) = &found else { return x[0] * rounds };
    let first = match found.as_ref() {
        Some(f) => f[0] * rounds,
        None => 0.0,
    };
    let last = f[f.len() - 1];
    let whole = found.expect("there is one");
    first + last * square(&whole)
}

/// What the last iteration has left is taken out.
#[differentiable]
fn taken(x: &[f64], n: usize) -> f64 {
    let mut before: Option<Vec<f64>> = Some(x.to_vec());
    let mut total = 0.0;
    for k in 0..n {
        let now: Vec<f64> = x.iter().map(|v| v.powi(k as i32 + 1)).collect();
        if let Some(old) = before.take() {
            total += old.iter().zip(&now).map(|(a, b)| a * b).sum::<f64>();
        }
        if k % 2 == 0 {
            before = Some(now);
        }
    }
    if let Some(old) = before {
        total += old[0];
    }
    total
}

#[differentiable]
fn mapped(x: &[f64]) -> f64 {
    let mut large: Option<Vec<f64>> = None;
    if x[0] > 0.6 {
        large = Some(x.to_vec());
    }
    let scale = large.is_some() as usize as f64 + 1.0;
    let value = large.map_or(0.5 * x[0], |v| v[0] * v[1]);
    value * scale
}

#[derive(Clone, Copy, Differentiable)]
struct Sample {
    x: f64,
    weight: f64,
}

/// Options of plain data, by reference.
#[differentiable]
fn of_plain_data(x: &[f64]) -> f64 {
    let mut rise: Option<[f64; 2]> = None;
    let mut top: Option<Sample> = None;
    for i in 1..x.len() {
        if x[i] > x[i - 1] {
            rise = Some([x[i], x[i - 1]]);
        }
        if top.is_none_or(|s| s.x < x[i]) {
            top = Some(Sample { x: x[i], weight: x[0] * i as f64 });
        }
    }
    let steep = if let Some(r) = &rise { r[0] * r[1] } else { x[0] * x[0] };
    match top.as_ref() {
        Some(s) => steep * s.x * s.weight,
        None => steep,
    }
}

#[test]
fn vectors() {
    check_all!([vec![0.5, 0.2, 0.9], vec![0.7, 0.1]]; best, mapped, of_plain_data);
    let x = || vec![0.5, 0.2, 0.9];
    check_rule(handled::rule, [(x(), 3), (vec![0.7, 0.1], 1), (x(), 0), (x(), 4), (x(), 6)]);
    check_rule(taken::rule, [(x(), 3), (vec![0.7, 0.1], 1), (x(), 0), (x(), 4)]);
}
