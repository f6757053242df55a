//! Integers that are no indices: ranges of them, in chains and loops.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn powers(s: f64) -> f64 {
    let k: Vec<f64> = (1..=5i32).map(|i| s.powi(i)).collect();
    k[0] * k[4] - k[1]
}

#[differentiable]
fn unsigned(s: f64, n: u32) -> Vec<f64> {
    (0..n).map(|i| (s * i as f64).sin()).collect()
}

#[differentiable]
fn around_zero(s: f64, r: i32) -> f64 {
    let k: Vec<f64> = (-r..=r).map(|i| s.powi(i) + i as f64 * s).collect();
    k.iter().product()
}

#[differentiable]
fn wrapped(x: &[f64], i: isize) -> f64 {
    x[i.rem_euclid(x.len() as isize) as usize]
}

#[differentiable]
fn convolution(x: &[f64], k: &[f64]) -> f64 {
    let mut t = 0.0;
    for (i, w) in (-1isize..=1).zip(k) {
        t += w * wrapped(x, 1 + i);
    }
    t
}

#[differentiable]
fn whole_convolution(x: &[f64], k: &[f64]) -> Vec<f64> {
    let r = (k.len() / 2) as isize;
    (0..x.len() as isize).map(|i| (-r..=r).zip(k).map(|(j, w)| w * wrapped(x, i + j)).sum()).collect()
}

#[differentiable]
fn zipped(s: &[f64], r: u8) -> f64 {
    s.iter().zip(0..r).map(|(s, i)| s.powi(i32::from(i))).sum::<f64>()
        + s.iter().zip(1u64..).map(|(s, i)| s * i as f64).product::<f64>()
}

#[differentiable]
fn backwards(s: f64, n: i64) -> f64 {
    let k: Vec<f64> = (2..n).rev().map(|i| s / i as f64).collect();
    let l: Vec<f64> = (0..n).step_by(2).enumerate().map(|(j, i)| s * (i + j as i64) as f64).collect();
    let m: Vec<f64> = (-1..n).skip(1).take(2).map(|i| s.powi(i as i32)).collect();
    k.iter().fold(1.0, |t, k| t * k + s) + l.iter().map(|l| l.sin()).sum::<f64>() + m[0] * m[1]
}

/// Only what is done with the items tells the type.
#[differentiable]
fn literals(s: f64) -> f64 {
    let k: Vec<f64> = (0..4).map(|i| s.powi(i)).collect();
    let mut t = k[2] * k[3];
    for (i, k) in (1..4).zip(&k) {
        t += k * s.powi(i);
    }
    t
}

#[differentiable]
fn of_what_has_been_computed(s: f64, order: usize) -> f64 {
    let n = order as i32;
    let m = n + 1;
    let mut t = 0.0;
    for i in 0..m {
        let row: Vec<f64> = (i..m).map(|j| s.powi(j - i)).collect();
        t += row.iter().sum::<f64>() * s;
    }
    t
}

#[differentiable]
fn degrees(s: f64, degrees: &[i32]) -> f64 {
    let k: Vec<f64> = (0..=degrees[0]).map(|i| s.powi(i.min(degrees[1]))).collect();
    k.iter().map(|k| k * s).sum()
}

#[test]
fn ranges_of_any_integers() {
    check_rule(powers::rule, [(0.7,), (1.3,)]);
    check_rule(unsigned::rule, [(0.7, 3), (1.3, 5), (0.3, 0)]);
    check_rule(around_zero::rule, [(0.7, 1), (1.3, 2), (1.3, 0)]);
    check_rule(
        convolution::rule,
        [(vec![0.3, 0.8, 0.4], vec![0.3, 0.2, 0.9]), (vec![0.3, 0.8], vec![0.4; 2])],
    );
    check_rule(
        whole_convolution::rule,
        [(vec![0.3, 0.8, 0.4], vec![0.3, 0.2, 0.9]), (vec![0.3, 0.8], vec![0.4])],
    );
    check_rule(zipped::rule, [(vec![0.3, 0.8, 0.4], 3), (vec![0.3, 0.8], 1), (vec![], 4)]);
    check_rule(backwards::rule, [(0.7, 4), (0.8, 7)]);
    check_rule(literals::rule, [(0.7,), (1.3,)]);
    check_rule(of_what_has_been_computed::rule, [(0.7, 3), (0.8, 1), (0.8, 0)]);
    check_rule(degrees::rule, [(0.7, vec![3, 2]), (0.8, vec![0, 0])]);
}
