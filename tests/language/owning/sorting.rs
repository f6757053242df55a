//! Sorting: the order is a constant, the gradient goes back to where each number was.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn median(x: &[f64]) -> f64 {
    let mut sorted = x.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let n = sorted.len();
    if n % 2 == 1 { sorted[n / 2] } else { 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]) }
}

/// With interpolation between neighbours.
#[differentiable]
fn quantile(x: &[f64], q: f64) -> f64 {
    let mut sorted: Vec<f64> = x.iter().copied().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = q * (sorted.len() - 1) as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (at - at.floor()) * (sorted[above] - sorted[below])
}

/// In place, in descending order, then used.
#[differentiable]
fn trimmed_mean(x: &mut [f64], k: f64) -> f64 {
    let mut total = x[0] * k;
    x.sort_by(|a, b| b.total_cmp(a));
    let n = x.len();
    for v in &x[1..n - 1] {
        total += v * v;
    }
    x[0] *= total;
    total / (n - 2) as f64 + x[n - 1]
}

/// The distance between two distributions on a line.
#[differentiable]
fn wasserstein(x: &[f64], y: &[f64]) -> f64 {
    let (mut a, mut b) = (x.to_vec(), y.to_vec());
    a.sort_by(|p, q| p.total_cmp(q));
    b.sort_by(|p, q| p.total_cmp(q));
    a.iter().zip(&b).map(|(p, q)| (p - q).powi(2)).sum()
}

/// A filter: arrays within a loop, which keep their order until the reverse pass.
#[differentiable]
fn median_filter(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 2..x.len() {
        let mut window = [x[i - 2], x[i - 1] * k, x[i]];
        window.sort_unstable_by(|a, b| a.total_cmp(b));
        if window[1] > 0.0 {
            window[2] *= window[1];
            window.sort_by(|a, b| b.partial_cmp(a).unwrap());
        }
        total += window[0] * window[1] + window[2].sin();
    }
    total
}

/// By a key, and by a comparison that looks at what carries gradients; parts, rows, what is between.
#[differentiable]
fn by_keys(x: &mut Vec<f64>, centre: f64) -> f64 {
    x.sort_by_key(|v| (v * 10.0) as i64);
    x[0] *= centre;
    x.sort_by(|a, b| (a - centre).abs().total_cmp(&(b - centre).abs()));
    let nearest = x[0] * x[1];
    let (left, right) = x.split_at_mut(2);
    right.sort_by(|a, b| a.total_cmp(b));
    left[0] += right[0] * centre;
    x[1..].sort_unstable_by(|a, b| b.total_cmp(a));
    let mut rows = vec![x.to_vec(), vec![centre, 0.3, 0.1]];
    for row in rows.iter_mut() {
        row.sort_by(|a, b| a.total_cmp(b));
        row[0] *= nearest;
    }
    rows[0][1] * rows[1][0] + x[0] * x[2]
}

#[differentiable]
fn selected(x: &mut [f64], k: usize) -> f64 {
    let pivot = *x.select_nth_unstable_by(k, |a, b| a.total_cmp(b)).1;
    let mut total = pivot * x[k];
    let mut copy = x.to_vec();
    let (_, middle, _) = copy.select_nth_unstable_by(k / 2, |a, b| b.total_cmp(a));
    *middle *= pivot;
    for (i, v) in copy.iter().enumerate() {
        if i != k / 2 {
            total += 0.1 * v * v;
        }
    }
    total + copy[k / 2]
}

/// Zeros of both signs and numbers that are equal.
#[differentiable]
fn ties(x: &mut [f64], k: f64) -> f64 {
    x.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    let mut total = 0.0;
    for (i, v) in x.iter_mut().enumerate() {
        *v *= k * (i + 1) as f64;
        total += *v;
    }
    total
}

/// Without gradient nothing is kept.
#[differentiable]
fn constants(x: f64, levels: &[i32]) -> f64 {
    let mut grid = vec![3.0, 1.0, 2.0];
    grid.sort_by(|a, b| f64::total_cmp(a, b));
    let mut order = levels.to_vec();
    order.sort_by(|a, b| b.cmp(a));
    grid[0] * x + order[0] as f64 * x * x
}

#[differentiable]
fn single_precision(x: &mut [f32], k: f32) -> f32 {
    x.sort_by(|a, b| a.total_cmp(b));
    x[0] * k + x[x.len() - 1] * x[0]
}

/// In a loop that is run again from checkpoints, and in a branch of it.
#[differentiable]
fn run_again(x: &mut [f64], k: f64, steps: usize) -> f64 {
    #[pullback(checkpoint = 2)]
    for s in 0..steps {
        x.sort_by(|a, b| a.total_cmp(b));
        for i in 0..x.len() {
            x[i] = (x[i] * k + (i * i) as f64).sin();
        }
        if s % 2 == 0 {
            x[1..].sort_unstable_by(|a, b| b.total_cmp(a));
        }
    }
    x[0] * x[x.len() - 1]
}

/// Indices in the order of active values.
#[differentiable]
fn ranked(x: &[f64], k: usize) -> f64 {
    let y: Vec<f64> = x.iter().map(|x| x * x).collect();
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&i, &j| x[j].partial_cmp(&x[i]).unwrap());
    let mut total = 0.0;
    for (rank, &i) in order.iter().enumerate() {
        total += x[i] / (rank as f64 + 2.0).log2();
    }
    for _ in 0..2 {
        order.sort_unstable_by(|a, b| y[*b].total_cmp(&y[*a]));
        order.retain(|&i| y[i] > 0.01);
        total += order.iter().take(k).map(|&i| y[i] * x[i]).sum::<f64>() * x[order[0]];
        order.reverse();
        total *= y[order[0]];
    }
    total
}

#[test]
fn ranks() {
    check_rule(ranked::rule, [(vec![0.4, 0.3, 0.8], 2), (vec![-0.2, 0.4], 1)]);
}

#[test]
fn order_statistics() {
    check_rule(median::rule, [(vec![0.5, -0.4, 0.3, 0.9, 0.1],), (vec![0.7, 0.2],), (vec![0.7],)]);
    check_rule(quantile::rule, [(vec![0.5, -0.4, 0.3, 0.9, 0.1], 0.3), (vec![0.7, 0.2], 0.8)]);
    CheckRule::new(median::rule)
        .inputs([(vec![0.5, -0.4, 0.3, 0.9, 0.1, 0.2],)])
        .panicking((vec![0.5, f64::NAN, 0.3],))
        .run();
    check_rule(trimmed_mean::rule, [(vec![0.5, -0.4, 0.3, 0.9, 0.1], 0.7), (vec![0.7, 0.2, 0.4], 1.2)]);
    let long = |start: f64| (0..100).map(|i| (start + i as f64 * 7.3).sin()).collect::<Vec<_>>();
    check_rule(
        wasserstein::rule,
        [(long(0.3), long(1.7)), (vec![0.7, 0.2], vec![0.1, 0.8]), (vec![], vec![])],
    );
    check_rule(median_filter::rule, [(vec![0.5, -0.4, 0.3, 0.9, 0.1, -0.7], 0.7), (vec![0.7], 1.2)]);
}

#[test]
fn in_other_orders() {
    check_rule(by_keys::rule, [(vec![0.55, -0.45, 0.35, 0.95, 0.15], 0.42), (vec![0.75, 0.25, 0.42], 0.6)]);
    check_rule(
        selected::rule,
        [(vec![0.5, -0.4, 0.3, 0.9, 0.1], 2), (vec![0.7, 0.2, 0.4, 0.3], 3), (vec![0.7], 0)],
    );
    check_rule(
        run_again::rule,
        [(vec![0.5, -0.4, 0.3], 0.7, 5), (vec![0.7, 0.2], 1.2, 2), (vec![0.7], 1.2, 0)],
    );
    check_rule(constants::rule, [(0.7, vec![1, 3, 2]), (1.2, vec![5])]);
    check_rule(single_precision::rule, [(vec![0.5, -0.4, 0.3, 0.9], 0.7), (vec![0.7, 0.2], 1.2)]);
}

#[test]
fn equal_numbers() {
    let mut x = [0.0, -0.0, 2.0, -0.0, 0.0, 2.0, -1.0];
    let mut g = ties::gradient();
    let (value, d) = g.value_and_gradient(&mut x, 0.5);
    assert_eq!(value, ties(&mut x.clone(), 0.5));
    // Each number has the factor of the place that it went to.
    let mut factors: Vec<_> = d.x.iter().map(|d| d / 0.5).collect();
    assert_eq!((factors[6], factors[2] + factors[5]), (1.0, 13.0));
    factors.sort_by(f64::total_cmp);
    assert_eq!(factors, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    assert_eq!(x.map(f64::to_bits), [0.0, -0.0, 2.0, -0.0, 0.0, 2.0, -1.0].map(f64::to_bits));
}
