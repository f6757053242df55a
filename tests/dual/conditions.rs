//! Conditions of functions on dual numbers look at values.

use pullback::prelude::*;
use pullback::testing::{check_rule, check_second_order};

/// Chains in conditions: sums, folds, closures that capture, tuples.
#[differentiable(dual)]
fn chains_in_conditions(x: &[f64], p: (f64, f64), k: f64) -> f64 {
    let mut total = k * p.1;
    if x.iter().sum::<f64>() > 0.1 {
        total += x[0];
    }
    if x.iter().filter(|v| **v > k).map(|v| v * x[1]).sum::<f64>() < 0.2 {
        total *= x[1];
    }
    if x.iter().map(|v| (v - k).abs()).product::<f64>() < 0.9 {
        total += x[1] * k;
    }
    if x.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v)) > 0.4 {
        total += x[0] * x[1];
    }
    if x.iter().rev().copied().fold(0.0, f64::max) < 2.0 && x.iter().fold(0.3, |s, &v| s + v * k) > 0.0 {
        total *= p.0;
    }
    if x.windows(2).map(|w| (w[1] - w[0]).abs()).fold(0.0, |s, d| s + d) > 0.3 {
        total += p.0 * x[0].sin();
    }
    if (0.12..0.79).contains(&k.min(p.1)) && p.0.max(k) < 1.5 && k.hypot(p.0) > 0.1 {
        total += k * k;
    }
    let near = x.iter().copied().filter(|v| (v - p.0).abs() < 0.5).count();
    total + near as f64 * k
}

/// It asks itself which way to go.
#[differentiable(dual)]
fn by_itself(x: &[f64], k: f64, n: usize) -> f64 {
    if n == 0 {
        return x[0] * k;
    }
    if by_itself(x, 0.5, n - 1).abs() < 0.3 { k * x[1] } else { k * by_itself(x, k, n - 1) }
}

#[differentiable(dual)]
fn of_numbers_by_itself(x: f64, n: usize) -> f64 {
    if n == 0 {
        return x.sin();
    }
    if of_numbers_by_itself(x * 0.9, n - 1) > 0.3 { x * of_numbers_by_itself(x, n - 1) } else { x * x }
}

/// It calls itself where the derivatives do not come to: with constants alone, and in assertions.
#[differentiable(dual)]
fn by_itself_without_derivatives(x: f64, n: usize) -> f64 {
    if n == 0 {
        return x;
    }
    assert!(by_itself_without_derivatives(x, n - 1).is_finite(), "{x} at {n}, {}", half(x));
    debug_assert!(!matches!(half(x), v if v.is_nan()));
    let constant = by_itself_without_derivatives(0.5, n - 1);
    if by_itself_without_derivatives(0.25, n - 1) < 0.0 {
        return constant;
    }
    (x - constant) * x.sin() + half(by_itself_without_derivatives(x, n - 1))
}

#[differentiable(dual)]
fn half(x: f64) -> f64 {
    0.5 * x
}

/// Branches end in floats and in what functions come to.
#[differentiable(dual)]
fn branches_in_indices(x: &[f64], z: &[f64]) -> f64 {
    let (c, pair) = (half(z[1]), (z[0], z[1]));
    let j = (z.last().map(|v| v * 0.7).unwrap_or(pair.0).abs() * 3.3) as usize % x.len();
    let by_match = match z[0] {
        z if z < 0.5 => z,
        _ => c,
    };
    let i = (match z[0] {
        z if z < 0.5 => z,
        _ => c,
    } * 3.3) as usize
        % x.len();
    if (if z[0] > 0.2 { c } else { z[1] }) < 0.3 { x[i] * by_match * pair.1 } else { c * x[i] * x[j] }
}

#[test]
fn conditions_look_at_values() {
    let inputs = [(vec![0.3, 0.7], (0.4, 0.9), 0.6), (vec![-0.2, 0.5, 1.1, 0.4], (0.8, -0.3), 1.3)];
    check_rule(chains_in_conditions::rule, inputs.clone());
    check_second_order(chains_in_conditions::rule, inputs);
    let inputs = [(vec![0.3, 0.7], 0.6, 2), (vec![1.2, 0.5, 0.1], 1.3, 3)];
    check_rule(by_itself::rule, inputs.clone());
    check_second_order(by_itself::rule, inputs);
    check_second_order(of_numbers_by_itself::rule, [(0.7, 2), (0.2, 3)]);
    let inputs = [(0.7, 1), (0.2, 3)];
    check_rule(by_itself_without_derivatives::rule, inputs);
    check_second_order(by_itself_without_derivatives::rule, inputs);
    let inputs = [[0.3, 0.5], [0.7, 0.8], [0.1, 0.7], [0.1, 0.2]].map(|z| (vec![0.3, 0.5, 1.2], z.to_vec()));
    check_rule(branches_in_indices::rule, inputs.clone());
    check_second_order(branches_in_indices::rule, inputs);
}
