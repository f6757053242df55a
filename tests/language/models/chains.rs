//! Programs written with iterators and closures.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[differentiable]
fn cosine_similarity(a: &[f64], b: &[f64]) -> f64 {
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[differentiable]
fn log_sum_exp(x: &[f64]) -> f64 {
    let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + x.iter().map(|x| (x - top).exp()).sum::<f64>().ln()
}

#[differentiable]
fn cross_entropy(logits: &[f64], #[constant] target: &[f64]) -> f64 {
    let norm = log_sum_exp(logits);
    -target.iter().zip(logits).map(|(t, l)| t * (l - norm)).sum::<f64>()
}

#[differentiable]
fn standard_score(x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (x[0] - mean) / variance.sqrt()
}

#[differentiable]
fn horner(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |y, c| y * x + c)
}

#[differentiable]
fn rosenbrock(x: &[f64]) -> f64 {
    x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
}

/// Negative log-likelihood of labels; a row of `x` for each.
#[differentiable]
fn logistic_regression(w: &[f64], bias: f64, x: &[f64], labels: &[bool]) -> f64 {
    let mut loss = 0.0;
    for (row, &label) in x.chunks_exact(w.len()).zip(labels) {
        let z = bias + row.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
        let signed = if label { -z } else { z };
        loss += signed.exp().ln_1p();
    }
    loss / labels.len() as f64
}

/// Each point pays the squared distance to the nearest centre.
#[differentiable]
fn k_means_cost(centres: &[[f64; 2]], points: &[[f64; 2]]) -> f64 {
    points
        .iter()
        .map(|p| {
            centres
                .iter()
                .map(|c| (p[0] - c[0]).powi(2) + (p[1] - c[1]).powi(2))
                .fold(f64::INFINITY, f64::min)
        })
        .sum()
}

/// How far the hand of an arm is from its target.
#[differentiable]
fn arm(angles: &[f64], lengths: &[f64], target: (f64, f64)) -> f64 {
    let (mut x, mut y, mut heading) = (0.0, 0.0, 0.0);
    for (angle, length) in angles.iter().zip(lengths) {
        heading += angle;
        x += length * f64::cos(heading);
        y += length * f64::sin(heading);
    }
    f64::hypot(x - target.0, y - target.1)
}

#[differentiable]
fn lagrange(nodes: &[f64], values: &[f64], x: f64) -> f64 {
    let mut total = 0.0;
    for (i, (&xi, &yi)) in nodes.iter().zip(values).enumerate() {
        let basis: f64 =
            nodes.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, &xj)| (x - xj) / (xi - xj)).product();
        total += yi * basis;
    }
    total
}

#[differentiable]
fn softmax_in_place(x: &mut [f64]) {
    let top = x.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
    for v in x.iter_mut() {
        *v = (*v - top).exp();
    }
    let total: f64 = x.iter().sum();
    x.iter_mut().for_each(|v| *v /= total);
}

/// Trapezoids over points that need not be equidistant.
#[differentiable]
fn trapezoids(x: &[f64], y: &[f64]) -> f64 {
    x.windows(2).zip(y.windows(2)).map(|(x, y)| 0.5 * (x[1] - x[0]) * (y[0] + y[1])).sum()
}

#[differentiable]
fn simpson(from: f64, to: f64, a: f64, n: usize) -> f64 {
    let h = (to - from) / n as f64;
    let f = |x: f64| (-a * x * x).exp() * (3.0 * x).cos();
    let odd: f64 = (1..n).step_by(2).map(|i| f(from + i as f64 * h)).sum();
    let even: f64 = (2..n).step_by(2).map(|i| f(from + i as f64 * h)).sum();
    h / 3.0 * (f(from) + 4.0 * odd + 2.0 * even + f(to))
}

/// A filter of finite length over all positions where it fits.
#[differentiable]
fn filtered_power(signal: &[f64], taps: &[f64]) -> f64 {
    signal.windows(taps.len()).map(|w| w.iter().zip(taps).map(|(s, t)| s * t).sum::<f64>().powi(2)).sum()
}

/// Simple and exponential smoothing, side by side.
#[differentiable]
fn smoothing_error(series: &[f64], alpha: f64) -> f64 {
    let mut level = series[0];
    let mut error = 0.0;
    for &value in &series[1..] {
        error += (value - level).powi(2);
        level += alpha * (value - level);
    }
    error
}

#[differentiable]
fn layer(weights: &[f64], bias: &[f64], x: &[f64], out: &mut [f64]) {
    for ((row, b), y) in weights.chunks_exact(x.len()).zip(bias).zip(out.iter_mut()) {
        *y = row.iter().zip(x).fold(*b, |sum, (w, x)| sum + w * x).tanh();
    }
}

#[differentiable]
fn two_layers(w1: &[f64], b1: &[f64], w2: &[f64], x: &[f64]) -> f64 {
    let mut hidden = vec![0.0; b1.len()];
    layer(w1, b1, x, &mut hidden);
    hidden.iter().zip(w2).map(|(h, w)| h * w).sum()
}

#[differentiable]
fn discounted(payments: &[f64], rate: f64) -> f64 {
    payments.iter().enumerate().map(|(year, payment)| payment / (1.0 + rate).powi(year as i32 + 1)).sum()
}

#[differentiable]
fn clipped_sum(x: &[f64], limit: f64) -> f64 {
    x.iter().filter(|x| x.abs() > 0.1).map(|x| x.clamp(-limit, limit)).sum::<f64>()
        + x.iter().skip(1).step_by(2).map(|x| x * x * limit).sum::<f64>()
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect()
}

#[test]
fn reductions() {
    check_rule(cosine_similarity::rule, [(wave(4), vec![0.4, 0.9, 0.2, -0.7]), (wave(2), vec![0.4, 0.9])]);
    check_rule(log_sum_exp::rule, [(wave(4),), (wave(1),)]);
    check_rule(cross_entropy::rule, [(wave(3), vec![0.2, 0.3, 0.5]), (wave(2), vec![1.0, 0.0])]);
    check_rule(standard_score::rule, [(wave(5),), (wave(3),)]);
    check_rule(horner::rule, [(wave(5), 0.7), (vec![], 0.7)]);
    check_rule(rosenbrock::rule, [(wave(5),), (wave(1),), (vec![],)]);
    check_rule(clipped_sum::rule, [(wave(6), 0.8), (wave(1), 0.2), (vec![], 0.4)]);
    check_rule(discounted::rule, [(wave(5), 0.05), (vec![], 0.1)]);
}

#[test]
fn models() {
    check_rule(
        logistic_regression::rule,
        [
            (vec![0.3, -0.6], 0.1, wave(6), vec![true, false, true]),
            (vec![0.3], 0.2, wave(2), vec![false, false]),
        ],
    );
    check_rule(
        k_means_cost::rule,
        [
            (vec![[0.0, 0.0], [1.0, 1.0]], vec![[0.1, 0.2], [1.1, 0.9], [-0.5, 1.3]]),
            (vec![[0.3, 0.1]], vec![]),
        ],
    );
    check_rule(
        arm::rule,
        [(vec![0.3, -0.5, 0.9], vec![1.0, 0.8, 0.5], (1.2, 0.7)), (vec![0.3], vec![1.0], (0.2, 0.7))],
    );
    check_rule(softmax_in_place::rule, [(wave(4),), (wave(1),)]);
    check_rule(
        two_layers::rule,
        [(wave(6), wave(3), wave(3), wave(2)), (wave(1), wave(1), wave(1), wave(1))],
    );
    check_rule(smoothing_error::rule, [(wave(6), 0.3), (wave(1), 0.5)]);
}

#[test]
fn numerics() {
    check_rule(lagrange::rule, [(vec![0.0, 0.4, 1.1, 1.5], wave(4), 0.7), (vec![0.3], wave(1), 0.7)]);
    check_rule(trapezoids::rule, [(vec![0.0, 0.4, 1.1], wave(3)), (vec![0.3], wave(1))]);
    check_rule(simpson::rule, [(0.1, 1.3, 0.7, 10), (-0.4, 0.5, 1.5, 2)]);
    check_rule(filtered_power::rule, [(wave(6), vec![0.2, 0.5, 0.3]), (wave(2), vec![0.1, 0.7, 0.2])]);
}
