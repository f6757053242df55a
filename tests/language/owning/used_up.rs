//! Vectors that are collected into the memory of others, as the standard library does, and parameters by value.

use ndarray::Array1;
use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn softmax(x: &[f64]) -> Vec<f64> {
    let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exponentials: Vec<f64> = x.iter().map(|x| (x - top).exp()).collect();
    let sum: f64 = exponentials.iter().sum();
    exponentials.into_iter().map(|e| e / sum).collect()
}

#[differentiable]
fn iterated(x: &[f64], k: f64, n: usize) -> f64 {
    let mut v: Vec<f64> = x.iter().map(|x| x * k).collect();
    for _ in 0..n {
        let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        if norm > 10.0 {
            v = v.into_iter().map(|v| v / norm).collect();
            continue;
        }
        let w: Vec<f64> = v.iter().map(|v| v.sin() + k).collect();
        let u: Vec<f64> = w.into_iter().zip(v.iter()).map(|(w, v)| w * v * norm).collect();
        v = u.into_iter().enumerate().map(|(i, u)| (u * i as f64).exp()).collect();
    }
    v.into_iter().map(|v| v * v).sum()
}

/// Numbers of another type need other memory, of parameters as well.
#[differentiable]
fn converted(x: Vec<f64>, k: f32) -> Vec<f32> {
    x.into_iter().map(|x| x as f32 * k).collect()
}

#[differentiable]
fn array(x: &[f64]) -> Array1<f64> {
    let squares = Array1::from_iter(x.iter().map(|x| x * x));
    squares.iter().map(|s| s.sin()).collect()
}

#[test]
fn by_collect() {
    check_rule(softmax::rule, [(vec![0.3, 0.1, 0.5],), (vec![1.0, 0.3],)]);
    check_rule(iterated::rule, [(vec![0.3, 0.1, 0.5], 0.4, 3), (vec![12.0, 3.0], 0.9, 2)]);
    check_rule(converted::rule, [(vec![0.3, 0.1, 0.5], 0.5), (vec![1.0, 0.3], 0.75)]);
    check_rule(array::rule, [(vec![0.3, 0.1, 0.5],), (vec![1.0, 0.3],)]);
}
