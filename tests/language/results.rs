//! `collect` into what a function returns.

use pullback::prelude::*;
use pullback::testing::allocations_in;

use crate::differences::check;

#[differentiable]
fn scaled(x: &[f64], by: f64) -> Vec<f64> {
    x.iter().map(|v| v * by).collect()
}

#[differentiable]
fn later(x: &[f64], by: f64) -> Vec<f64> {
    let shifted: Vec<f64> = x.iter().map(|v| v + by).collect();
    shifted.iter().zip(x).map(|(a, b)| a * b).collect()
}

#[differentiable]
fn either(x: &[f64], by: f64) -> Vec<f64> {
    if by > 0.5 {
        return x.iter().map(|v| v * v).collect();
    }
    x.iter().map(|v| v * by).collect()
}

#[differentiable]
fn named(x: &[f64], by: f64) -> Vec<f64> {
    let out = if by > 0.5 { x.iter().map(|v| v - by).collect() } else { x.iter().map(|v| v.exp()).collect() };
    out
}

#[differentiable]
fn user(x: &[f64], by: f64) -> f64 {
    let s = scaled(x, by);
    let l = later(&s, by);
    let e = either(&l, by);
    let n = named(&l, by);
    n[0] * n[1] + s.iter().sum::<f64>() * l[0] + e.iter().map(|v| v * v).sum::<f64>()
}

#[test]
fn collected() {
    let x = [0.5, 0.7, 1.1];
    let of = |p: [f64; 3]| user(&p[..2], p[2]);
    for by in [0.3, 0.8] {
        let mut g = user::gradient();
        let (value, d) = g.value_and_gradient(&x[..2], by);
        assert_eq!(value, of([x[0], x[1], by]));
        check([x[0], x[1], by], of, [d.x[0], d.x[1], d.by]);
        // The functions allocate their results, four of them and a vector on the way; rules own the memory for theirs.
        let primal = allocations_in(|| user(&x[..2], by)).1;
        assert!(allocations_in(|| g.value_and_gradient(&x[..2], by).0).1 <= primal);
    }
}
