//! Minima of inner problems.

use pullback::prelude::*;
use pullback::solve::argmin;
use pullback::testing::{allocations_in, check_rule};

use super::{close, panic_of};

/// ½·‖x − data‖² + λ·Σ √(1 + (xᵢ₊₁ − xᵢ)²)
#[differentiable(dual)]
fn energy(x: &[f64], data: &[f64], lambda: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let r = x[i] - data[i];
        total += 0.5 * r * r;
    }
    for i in 0..x.len() - 1 {
        let d = x[i + 1] - x[i];
        total += lambda * (1.0 + d * d).sqrt();
    }
    total
}

/// The gradient by hand.
#[differentiable]
fn slope(x: &[f64], data: &[f64], lambda: f64, g: &mut [f64]) {
    for i in 0..x.len() {
        g[i] = x[i] - data[i];
    }
    for i in 0..x.len() - 1 {
        let d = x[i + 1] - x[i];
        let pull = lambda * d / (1.0 + d * d).sqrt();
        g[i] -= pull;
        g[i + 1] += pull;
    }
}

/// How far the smoothed data are from the truth: what λ would be chosen by.
#[differentiable]
fn smoothed(lambda: f64, data: &[f64], #[constant] truth: &[f64], x: &mut [f64]) -> f64 {
    #[pullback(recompute)]
    argmin(|x, g| slope(x, data, lambda, g), x, 1e-13, 50);
    let mut total = 0.0;
    for i in 0..x.len() {
        total += (x[i] - truth[i]) * (x[i] - truth[i]);
    }
    total
}

/// min over x of ½·k·x² + ¼·x⁴ − f·x, with the gradient by the macro: its pullback is a product of the Hessian.
#[differentiable(dual)]
fn well(x: f64, k: f64, f: f64) -> f64 {
    0.5 * k * x * x + 0.25 * x * x * x * x - f * x
}

#[differentiable]
fn settled(k: f64, f: f64) -> f64 {
    let mut x = [0.0];
    #[pullback(recompute)]
    argmin(
        |x, g| {
            let (d, _, _) = well::grad(x[0], k, f);
            g[0] = d;
        },
        &mut x,
        1e-14,
        50,
    );
    x[0]
}

#[test]
fn a_bilevel_problem() {
    let data: Vec<f64> = (0..6).map(|i| (i as f64 * 1.7).sin() * 2.0).collect();
    let truth: Vec<f64> = (0..6).map(|i| i as f64 * 0.3).collect();
    check_rule(
        smoothed::rule,
        [
            (0.8, data.clone(), truth.clone(), vec![0.0; 6]),
            (0.1, data[..2].to_vec(), truth[..2].to_vec(), vec![1.0; 2]),
        ],
    );
    let mut g = smoothed::gradient();
    g.value_and_gradient(0.8, &data, &truth, &mut [0.0; 6]);
    let mut x = [0.0; 6];
    assert_eq!(allocations_in(|| drop(g.value_and_gradient(0.7, &data, &truth, &mut x))).1, 0);
}

#[test]
fn the_gradient_by_the_macro() {
    check_rule(settled::rule, [(1.5, 0.7), (0.6, -1.2)]);
    let mut g = settled::gradient();
    let (x, d) = g.value_and_gradient(1.5, 0.7);
    let curvature = 1.5 + 3.0 * x * x;
    close(d.f, 1.0 / curvature, 1e-12);
    close(d.k, -x / curvature, 1e-12);
}

#[test]
fn what_is_not_convex_is_found_out() {
    let message = panic_of(|| argmin(|x, g| g[0] = -x[0], &mut [1.0], 1e-9, 20));
    assert!(message.starts_with("argmin: the Hessian at [1.0] is not positive definite"), "{message}");
    let message = panic_of(|| argmin(|x, g| g[0] = x[0].exp(), &mut [0.0], 1e-9, 5));
    assert!(message.starts_with("argmin: no convergence in 5 steps"), "{message}");
}
