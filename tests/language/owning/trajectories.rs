//! Vectors of vectors that are returned, and whose rows are pushed.

use pullback::prelude::*;
use pullback::testing::check_rule;

/// The states of a pendulum.
#[differentiable]
fn trajectory(start: &[f64], h: f64, steps: usize) -> Vec<Vec<f64>> {
    let mut states = vec![start.to_vec()];
    for i in 0..steps {
        let (q, p) = (states[i][0], states[i][1]);
        states.push(vec![q + h * p, p - h * q.sin()]);
    }
    states
}

/// Rows of several lengths, by name and without.
#[differentiable]
fn triangle(x: &[f64], k: f64) -> Vec<Vec<f64>> {
    let mut rows = Vec::new();
    for i in 0..x.len() {
        let mut row = vec![k; i + 1];
        row[i] *= x[i];
        if i > 0 {
            row[0] *= x[i - 1];
        }
        rows.push(row);
        if i % 2 == 1 {
            rows.push(x.to_vec());
        }
    }
    rows
}

/// What nobody pushes is made as well; rows are taken out again.
#[differentiable]
fn filtered(x: &[f64], k: f64) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for i in 0..x.len() {
        let mut row = vec![x[i] * k, k];
        row[1] *= row[0];
        if row[0] > 0.0 {
            rows.push(row);
        }
    }
    rows.insert(0, vec![k * k, x[0]]);
    if rows.len() > 2 {
        let last = rows.pop().unwrap();
        rows[0][0] *= last[0];
    }
    rows
}

/// Left early, with vectors and without.
#[differentiable]
fn checked(x: &[f64], k: f64) -> Option<Vec<Vec<f64>>> {
    let mut rows = Vec::new();
    for i in 0..x.len() {
        let row = vec![x[i] * k, k];
        if row[0] > 1.0 {
            return None;
        }
        rows.push(row);
    }
    if k < 0.0 {
        return Some(vec![x.to_vec()]);
    }
    Some(rows)
}

/// Written in the same loop that reads them.
#[differentiable]
fn total(start: &[f64], h: f64, steps: usize) -> f64 {
    let states = trajectory(start, h, steps);
    let mut total = 0.0;
    for (i, state) in states.iter().enumerate() {
        total += state[0] * state[1] * (i + 1) as f64;
    }
    let Some(rows) = checked(&states[steps], h) else { return total };
    total * rows[0][0]
}

fn inputs() -> [(Vec<f64>, f64); 3] {
    [(vec![0.5, 0.7], 0.3), (vec![0.5, 0.7, -0.2], 0.4), (vec![2.0, -0.3, 0.4, 0.9, 0.1], 0.8)]
}

#[test]
fn rows_pushed() {
    check_rule(
        trajectory::rule,
        [(vec![0.5, 0.7], 0.3, 3), (vec![0.2, 1.3], 0.1, 5), (vec![0.5, 0.7], 0.3, 0)],
    );
    check_rule(triangle::rule, inputs());
    check_rule(filtered::rule, inputs());
    check_rule(checked::rule, inputs());
    check_rule(checked::rule, [(vec![0.3, 0.4], -0.5), (vec![], 0.4)]);
}

#[test]
fn passed_on() {
    check_rule(total::rule, [(vec![0.5, 0.7], 0.3, 3), (vec![0.2, 1.3], 0.1, 5), (vec![2.5, 8.7], 0.9, 2)]);
}
