//! `VecDeque`: moving windows, delay lines and work lists.

use std::collections::VecDeque;

use pullback::prelude::*;
use pullback::testing::check_rule;

/// The mean of the last `width` values, of which the oldest is taken off a running sum.
#[differentiable]
fn moving_average(x: &[f64], #[constant] width: usize) -> Vec<f64> {
    let mut window = VecDeque::with_capacity(width + 1);
    let mut sum = 0.0;
    let mut averages = Vec::new();
    for &value in x {
        window.push_back(value);
        sum += value;
        if window.len() > width {
            sum -= window.pop_front().unwrap();
        }
        averages.push(sum / window.len() as f64);
    }
    averages
}

#[test]
fn values_leave_at_the_front() {
    check_rule(moving_average::rule, [(vec![0.3, 0.5, -0.2, 0.7, 0.1], 2), (vec![0.4, 0.6], 3)]);
}

/// A filter whose delay line gets shorter at the back.
#[differentiable]
fn filtered(x: &[f64], taps: &[f64]) -> f64 {
    let mut line: VecDeque<f64> = VecDeque::from(vec![0.0; taps.len()]);
    let mut energy = 0.0;
    for &value in x {
        line.pop_back();
        line.push_front(value);
        let y: f64 = line.iter().zip(taps).map(|(a, b)| a * b).sum();
        energy += y * y + 0.1 * line[0] * line.back().unwrap();
    }
    energy
}

#[test]
fn values_enter_at_the_front() {
    check_rule(filtered::rule, [(vec![0.3, 0.5, -0.2, 0.7], vec![0.5, 0.3, 0.2])]);
}

/// Intervals that are halved until they are short, the first to be found first.
#[differentiable]
fn halved(x: &[f64]) -> f64 {
    let mut work: std::collections::VecDeque<(f64, f64)> = std::collections::VecDeque::new();
    work.push_back((x[0], x[1]));
    let mut total = 0.0;
    while let Some((a, b)) = work.pop_front() {
        let middle = 0.5 * (a + b);
        if (b - a).abs() < 0.3 {
            total += (b - a) * middle.sin();
        } else {
            work.push_back((a, middle));
            work.push_back((middle, b));
        }
    }
    total
}

#[test]
fn work_lists_run_empty() {
    check_rule(halved::rule, [(vec![0.2, 1.3],), (vec![0.2, 0.4],)]);
}

/// What may not be there: looked at, taken, and dropped.
#[differentiable]
fn at_both_ends(x: &[f64]) -> f64 {
    let mut queue = x.iter().map(|a| a * a).collect::<VecDeque<_>>();
    queue.pop_front();
    if let Some(first) = queue.front_mut() {
        *first *= 3.0;
    }
    let last = queue.back().copied().unwrap_or(0.5);
    let first = queue.pop_front().unwrap_or(x[0]);
    debug_assert!(queue.len() < x.len());
    let mut product = first * last;
    for value in &queue {
        product *= 1.0 + value;
    }
    product
}

#[test]
fn ends_may_be_missing() {
    check_rule(at_both_ends::rule, [(vec![0.3, 0.5, -0.2, 0.7],), (vec![0.3],), (vec![0.3, 0.8],)]);
}

/// Of constants, a queue stays what it is.
#[differentiable]
fn breadth_first(x: &[f64], #[constant] next: &[Vec<usize>]) -> f64 {
    let mut reached = vec![false; x.len()];
    let mut queue = VecDeque::from([0]);
    let mut total = 1.0;
    while let Some(node) = queue.pop_front() {
        if reached[node] {
            continue;
        }
        reached[node] = true;
        total = total * x[node] + 1.0;
        queue.extend(&next[node]);
    }
    total
}

#[test]
fn queues_of_constants() {
    let next = vec![vec![2, 1], vec![3], vec![0, 3], vec![]];
    check_rule(breadth_first::rule, [(vec![0.3, 0.5, 0.7, 1.1], next)]);
}
