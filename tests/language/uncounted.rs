//! `zip` of iterators that make a number of items of their own, and `scan` that ends or whose state has parts.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn weighted(x: &[f64], w: &[f64], k: f64) -> f64 {
    let above = x.iter().filter(|v| **v > k).zip(w).map(|(v, w)| v * w).sum::<f64>();
    let below =
        w.iter().map(|w| w.sin()).zip(x.iter().filter(|v| **v <= k)).map(|(w, v)| w * v * v).sum::<f64>();
    above * below
}

/// The weights run out first, or the items do.
#[differentiable]
fn discounted(x: &[f64], w: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    let sums = x.iter().scan(k, |sum, v| {
        *sum = *sum * k + v;
        Some(*sum)
    });
    for (i, (sum, w)) in sums.zip(w).enumerate() {
        total += sum * w * (i + 1) as f64;
    }
    total
}

#[differentiable]
fn collected(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().chain(y).zip(y.iter().cycle()).map(|(a, b)| a * b).collect()
}

/// Nothing of what comes after the end is seen.
#[differentiable]
fn until(x: &[f64], limit: f64) -> f64 {
    let ended = x.iter().scan(0.0, |sum, v| {
        let next = *sum + v;
        if next > limit {
            None
        } else {
            *sum = next;
            Some(next * next)
        }
    });
    let left = x.iter().scan(1.0, |product, v| {
        *product *= v;
        if *product < 0.1 * limit {
            return None;
        }
        Some(*product)
    });
    ended.sum::<f64>() * left.fold(limit, |a, b| a + b)
}

#[differentiable]
fn log_of(x: f64) -> Option<f64> {
    if x > 0.0 { Some(x.ln()) } else { None }
}

#[differentiable]
fn tried(x: &[f64], k: f64) -> f64 {
    let decayed = x.iter().scan(1.0, |weight, v| {
        *weight *= k;
        let log = log_of(*v)?;
        Some(*weight * log)
    });
    decayed.sum()
}

#[differentiable]
fn parts(x: &[f64], k: f64) -> f64 {
    let apart = x.iter().scan((0.3, 1.0, 0), |(a, b, n), &v| {
        let old = *a;
        *a = *a * k + v;
        *b *= *a;
        *n += 1;
        (*n < 4).then(|| old * *b)
    });
    let whole = x.iter().scan((0.3, k), |state, v| {
        let (a, b) = *state;
        *state = (a * k + v, b * a);
        Some(a * b)
    });
    apart.zip(x).map(|(a, b)| a - b).sum::<f64>() + whole.sum::<f64>()
}

/// What is left out is recorded all the same.
#[differentiable]
fn recorded(x: &[f64]) -> f64 {
    let mut log: Vec<f64> = Vec::new();
    let skipped: f64 = x
        .iter()
        .map(|v| {
            log.push(*v);
            v * 2.0
        })
        .skip(1)
        .sum();
    let stepped: f64 = x
        .iter()
        .map(|v| {
            log.push(v * 3.0);
            v * 2.0
        })
        .step_by(2)
        .sum();
    skipped * stepped * log.iter().sum::<f64>() * log.len() as f64
}

#[test]
fn zipped() {
    let (x, w) = (vec![0.1, 0.5, 0.3, 0.8], vec![0.7, 0.2, 0.4]);
    check_rule(
        weighted::rule,
        [(x.clone(), w.clone(), 0.2), (w.clone(), x.clone(), 0.45), (vec![], w.clone(), 0.4)],
    );
    check_rule(
        discounted::rule,
        [(x.clone(), w.clone(), 0.9), (w.clone(), x.clone(), 0.4), (x.clone(), vec![], 0.4)],
    );
    check_rule(collected::rule, [(x.clone(), w.clone()), (w, x)]);
}

#[test]
fn scanned() {
    let x = vec![0.1, 0.5, 0.3, 0.8, 0.4];
    check_rule(until::rule, [(x.clone(), 0.7), (x.clone(), 5.0), (x.clone(), 0.05)]);
    check_rule(tried::rule, [(x.clone(), 0.7), (vec![0.2, -0.1, 0.3], 0.6)]);
    check_rule(recorded::rule, [(x.clone(),), (vec![0.4, 0.2],)]);
    check_rule(parts::rule, [(x.clone(), 0.7), (x[..2].to_vec(), 0.4)]);
}
