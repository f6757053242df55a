//! Names that mean one thing in a closure or a chain, and another where that is used.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn in_chains(x: &[f64], k: f64) -> f64 {
    let first = x.iter().map(|a| a * k);
    let second = x.iter().map(|a| a * k);
    let third = x.iter().map(|a| {
        let b = a * k;
        b * b
    });
    let a = x[0] * 2.0;
    let b = x[1];
    let mut s = a;
    for c in second {
        s += c * a;
    }
    let scaled: f64 = first.map(|c| c * a).sum();
    scaled * s + third.fold(b, |s, c| s * 0.5 + c * a)
}

#[differentiable]
fn of_what_becomes_of_them(x: &[f64], k: f64) -> f64 {
    let scaled = x.iter().map(|w| w * k);
    let w: Vec<f64> = scaled.collect();
    let shifted = x.iter().map(|s| s + k);
    let s: f64 = shifted.sum();
    let halves = x.iter().map(|best| best * 0.5);
    let best = halves.max_by(|a, b| a.total_cmp(b)).unwrap();
    let squares = x.iter().map(|v| {
        let t = v * k;
        t * t
    });
    let t = x[1];
    let mut all = vec![t];
    all.extend(squares);
    let pairs = x.iter().map(|e| e * s);
    let (p, q): (Vec<f64>, Vec<f64>) = pairs.map(|t| (t, t * best)).unzip();
    w[0] * all[1] * t + p[0] * q[1] + s * best
}

#[differentiable]
fn of_closures(x: &[f64], k: f64) -> f64 {
    let scale = |a: &f64| a * k;
    let bend = |a: f64| {
        let t = a * k;
        t * t
    };
    let (a, t) = (x[0] * 2.0, x[1]);
    let scaled: f64 = x.iter().map(scale).map(|c| c * a).sum();
    let bent: f64 = x.iter().map(|v| bend(*v) * t + a).sum();
    let mut s = t;
    for v in x.iter().map(|v| bend(*v)).filter(|v| *v > a * 0.1) {
        s += v * a * t;
    }
    scaled * bent + s
}

/// The names of what is gone through stand for its items.
#[differentiable]
fn exchanged(x: &[f64], y: &[f64], k: f64) -> f64 {
    let mut s = k;
    let pairs = x.iter().zip(y.iter());
    for (y, x) in pairs {
        s += x * y * y;
    }
    let found = x.iter().zip(y).find(|(a, _)| **a > k);
    if let Some((y, x)) = found {
        s += x * y * y;
    }
    if let Some((y, &x)) = x.iter().zip(y).last() {
        s *= x * y * y;
    }
    let mut rest = x.iter().zip(y);
    while let Some((y, x)) = rest.next() {
        s += y * x * x;
    }
    let last = x.last();
    if let Some(x) = last {
        s *= x;
    }
    let parts = x.windows(2);
    for x in parts {
        s += x[0] * x[1];
    }
    s
}

#[differentiable]
fn written_in_pairs(x: &mut [f64], y: &mut [f64], k: f64) -> f64 {
    let pair = x.iter_mut().zip(y.iter_mut()).next();
    if let Some((a, b)) = pair {
        *a *= k;
        *b *= *a;
    }
    if let Some((p, q)) = x.iter_mut().zip(y.iter_mut()).last() {
        *p *= *q;
        *q = *p * k;
    }
    x.iter().sum::<f64>() * y.iter().sum::<f64>()
}

#[test]
fn a_name_is_what_it_was_where_it_was_written() {
    let inputs = || [(vec![0.5, 0.3, 0.9], 0.6), (vec![0.7, 0.1, 1.3, 0.2], 0.8)];
    check_rule(in_chains::rule, inputs());
    check_rule(of_what_becomes_of_them::rule, inputs());
    check_rule(of_closures::rule, inputs());
    let y = vec![0.2, 0.4, 0.7];
    let two = || [(vec![0.5, 0.3, 0.9], y.clone(), 0.6), (vec![0.7, 0.1, 1.3], y.clone(), 0.8)];
    check_rule(exchanged::rule, two());
    check_rule(written_in_pairs::rule, two());
}

/// Vectors and maps of constants whose names go to something else.
#[differentiable]
fn hidden_constants(r: &[f64], n: usize) -> f64 {
    let k = vec![1_usize; n];
    let mut y = r[k[0] % r.len()] * r[k.len() % r.len()];
    let k = k.len() + 1;
    let seen = std::collections::HashMap::<usize, usize>::from([(1, 2)]);
    for i in 0..n {
        y += r[seen.len() % r.len()] * r[i];
    }
    let seen = seen.len();
    #[allow(unused_mut, reason = "nothing changes it")]
    let mut order: Vec<usize> = (0..n).collect();
    y * r[k % r.len()] * r[seen] + r[order.len() % r.len()] * r[order[0]]
}

/// An element that all iterations add to, by an index that changes later.
#[differentiable]
fn one_for_all(r: &[f64], n: usize) -> f64 {
    let mut k = vec![1_usize; n];
    let y: f64 = r.iter().map(|v| v * r[k.len() % r.len()]).sum();
    k.push(2);
    k.pop();
    y * r[k.len() % r.len()]
}

#[test]
fn constants_that_lose_their_names() {
    let inputs = || [(vec![0.3, 0.2, 0.4], 1), (vec![0.3, 0.7], 2)];
    check_rule(hidden_constants::rule, inputs());
    check_rule(one_for_all::rule, inputs());
}
