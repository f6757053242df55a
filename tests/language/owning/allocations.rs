//! Results that own memory in several layers: from the second call on a gradient allocates what the function does, also where sizes go up and
//! down.

use ndarray::{Array1, array};
use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn scaled(x: &[f64], k: f64) -> Vec<f64> {
    x.iter().map(|x| x * k).collect()
}

#[differentiable]
fn filled(x: &[f64], k: f64) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; 3]; x.len()];
    for i in 0..x.len() {
        rows[i][0] = x[i] * k;
        rows[i][1] = rows[i][0] * rows[i][0];
    }
    rows
}

#[differentiable]
fn three_deep(x: &[f64], k: f64) -> Vec<Vec<Vec<f64>>> {
    let mut v = vec![vec![vec![0.0; 2]; 3]; x.len()];
    for i in 0..x.len() {
        v[i][0][1] = x[i] * k;
        v[i][1][0] = v[i][0][1] * v[i][0][1];
    }
    v
}

#[differentiable]
fn as_a_part(x: &[f64], k: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut rows: Vec<Vec<f64>> = filled(x, k);
    rows[0][0] *= rows[0][1];
    let first: Vec<f64> = scaled(&rows[0], k);
    (rows, first)
}

/// Nothing tells what the call returns but the type of the function.
#[differentiable]
fn inside(x: &[f64], k: f64) -> Option<Vec<Vec<f64>>> {
    if k < 0.0 {
        return None;
    }
    let rows = filled(x, k);
    Some(rows)
}

#[differentiable]
fn left_early(x: &[f64], k: f64) -> Vec<f64> {
    if k < 0.0 {
        return vec![k];
    }
    let y = scaled(x, k);
    y
}

#[differentiable]
fn used(x: &[f64], k: f64) -> f64 {
    let Some(rows) = inside(x, k) else {
        return k * k;
    };
    let deep = three_deep(x, rows[0][1]);
    let (_, first) = as_a_part(x, k);
    let short = left_early(x, -k);
    deep[0][1][0] * rows[0][0] + first[0] * short[0]
}

/// What the other buffer holds is not told either.
#[differentiable]
fn two_buffers(x: &[f64], k: f64) -> Vec<f64> {
    let mut a = x.to_vec();
    let mut b = scaled(x, k);
    for _ in 0..3 {
        for i in 0..a.len() {
            b[i] *= a[i];
        }
        std::mem::swap(&mut a, &mut b);
    }
    a
}

/// Rows come back in another order than they were made in.
#[differentiable]
fn reordered(x: &Vec<Vec<f64>>, k: f64) -> Vec<Vec<f64>> {
    let mut y = x.clone();
    y.swap(0, 1);
    y[0][0] *= k * y[1][0];
    y
}

/// What comes back in place of the copy of what is returned is empty.
#[differentiable]
fn broken_with(x: &[f64], k: f64) -> Vec<f64> {
    let mut y = vec![0.0; x.len()];
    let mut steps = 0;
    loop {
        for i in 0..x.len() {
            y[i] = x[i] + k * y[i] * x[i];
        }
        steps += 1;
        if steps > x.len() {
            break y;
        }
    }
}

#[differentiable]
fn refill(x: &[f64], k: f64, out: &mut Vec<f64>) {
    out.clear();
    for i in 0..x.len() {
        out.push(x[i] * k * x[i]);
    }
}

/// So it is with the other buffer.
#[differentiable]
fn refilled_buffers(x: &[f64], k: f64) -> Vec<f64> {
    let mut a = x.to_vec();
    let mut b = Vec::with_capacity(x.len());
    for _ in 0..x.len() {
        refill(&a, k, &mut b);
        std::mem::swap(&mut a, &mut b);
    }
    a
}

/// Of the packed rows the first one owns nothing.
#[differentiable]
fn packed_rows(a: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(a.len());
    for i in 0..a.len() {
        let mut row: Vec<f64> = Vec::with_capacity(i);
        for j in 0..i {
            row.push(a[i][j] * a[i][i]);
        }
        if a[i][i] < 0.0 {
            return None;
        }
        rows.push(row);
    }
    Some(rows)
}

/// The iterator tells of the first number only.
#[differentiable]
fn prefix_sums(x: &[f64], k: f64) -> f64 {
    let sums: Vec<f64> = std::iter::once(k)
        .chain(x.iter().scan(0.0, |sum, x| {
            *sum += x * k;
            Some(*sum)
        }))
        .collect();
    sums[0] * sums[1]
}

#[differentiable]
fn squared(u: &Array1<f64>) -> Array1<f64> {
    let mut squares = Array1::<f64>::zeros(u.len());
    for i in 0..u.len() {
        squares[i] = u[i] * u[i];
    }
    squares
}

/// The sums serve the next steps, and the argument's copy the next call.
#[differentiable]
fn stepped(u: &Array1<f64>, k: f64) -> Array1<f64> {
    let mut u = u.clone();
    for _ in 0..3 {
        let squares = squared(&u);
        u = u + squares * k;
    }
    u
}

#[test]
fn nothing_beyond_the_primal() {
    let inputs = || [(vec![0.5, 1.5, 0.7], 0.5), (vec![0.3], 0.4), (vec![0.4, 0.8], -0.5)];
    check_rule(filled::rule, inputs());
    check_rule(three_deep::rule, inputs());
    check_rule(as_a_part::rule, inputs());
    check_rule(inside::rule, inputs());
    check_rule(left_early::rule, inputs());
    check_rule(used::rule, inputs());
    check_rule(two_buffers::rule, inputs());
    check_rule(prefix_sums::rule, inputs());
    check_rule(stepped::rule, [(array![0.5, 0.2, 0.7], 0.5), (array![0.3], 0.4)]);
    check_rule(broken_with::rule, inputs());
    check_rule(refilled_buffers::rule, inputs());
    let rows = vec![vec![0.5, 1.5], vec![0.7], vec![1.2, 0.2, 0.1]];
    let fewer = vec![vec![0.5], vec![0.7, 0.3, 0.2, 0.9]];
    check_rule(reordered::rule, [(rows, 0.5), (fewer, 0.3)]);
    let two = vec![vec![2.1, 0.2], vec![0.3, 1.5]];
    let three = vec![vec![2.1, 0.2, 0.1], vec![0.3, 1.5, 0.2], vec![0.2, 0.1, 1.9]];
    check_rule(packed_rows::rule, [(two,), (three,)]);
}
