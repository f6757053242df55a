//! Calls that borrow values without a name.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..a.len() {
        total += a[i] * b[i];
    }
    total
}

#[differentiable]
fn turned(v: &[f64; 2], t: &f64) -> [f64; 2] {
    let (s, c) = t.sin_cos();
    [c * v[0] - s * v[1], s * v[0] + c * v[1]]
}

/// Adds, and returns what was there.
#[differentiable]
fn add(x: &mut [f64], y: &[f64]) -> f64 {
    let before = x[0];
    for i in 0..y.len() {
        x[i] += y[i] * x[i];
    }
    before
}

#[differentiable]
fn of_arrays(x: f64, y: f64) -> f64 {
    dot(&[x, y, 1.0], &[y, x * x, x]) * dot(&[2.0, 3.0], &[x, y]) + dot(&[y; 4], &[0.5; 4])
}

#[differentiable]
fn of_calls(v: &[f64; 2], t: f64) -> f64 {
    let w = turned(&turned(&turned(v, &t), &(2.0 * t)), &t.sin());
    dot(&turned(&w, &t), &turned(v, &-t))
}

#[differentiable]
fn in_loops_and_branches(x: &[f64], t: f64) -> f64 {
    let mut v = [t, 1.0];
    let mut total = 0.0;
    for i in 0..x.len() {
        if x[i] > 0.0 {
            v = turned(&[v[1], x[i]], &(t * x[i]));
        } else {
            total += dot(&v, &[x[i], total]);
        }
        let mut j = 0;
        while dot(&v, &v) > 0.5 && j < 3 {
            v = turned(&[0.7 * v[0], v[1]], &dot(&v, &[t, x[i]]));
            j += 1;
        }
    }
    total + v[0] * v[1]
}

#[differentiable]
fn beside_mutation(x: &mut [f64], k: f64) -> f64 {
    add(x, &[k, k * k]);
    let before = add(&mut x[1..], &[k.sin()]);
    let mut total = add(x, &turned(&[k, before], &k));
    for i in 0..x.len() {
        add(&mut x[i..], &[total * before]);
        total = add(&mut x[i..], &[k * total]);
    }
    total * x[0]
}

#[differentiable]
fn names_of_their_own(temporary0: f64, temporary0_1: f64) -> f64 {
    dot(&[temporary0, temporary0_1], &[temporary0_1, dot(&[temporary0], &[temporary0_1])])
}

/// What carries no gradient stays as it is.
/// A system of one equation.
#[differentiable]
fn solve(a: Vec<Vec<f64>>, b: &[f64]) -> Option<Vec<f64>> {
    if a[0][0] == 0.0 {
        return None;
    }
    Some(vec![b[0] / a[0][0]])
}

#[differentiable]
fn unwrapped(x: f64, b: &[f64]) -> f64 {
    let y = solve(vec![vec![x]], b).unwrap();
    y[0] * x
}

#[differentiable]
fn outer(x: &[f64; 2], y: &[f64; 2]) -> [[f64; 2]; 2] {
    [[x[0] * y[0], x[0] * y[1]], [x[1] * y[0], x[1] * y[1]]]
}

/// Parts of what calls return.
#[differentiable]
fn parts_of_calls(x: &[f64; 2], y: &[f64; 2], i: usize) -> f64 {
    let s = x[0] + outer(x, y)[i][1] * outer(y, y)[0][i];
    s * (outer(x, x))[1][0].sin()
}

#[differentiable]
fn constants(x: f64, n: usize) -> f64 {
    let weight = average(&[n as f64, 2.0]);
    x * weight * *pick(&[n, 2 * n, 3 * n]) as f64
}

fn pick(x: &[usize]) -> &usize {
    &x[x.len() - 1]
}

fn average(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

#[test]
fn are_borrowed() {
    check_rule(of_arrays::rule, [(0.5, 0.3), (-1.2, 0.7)]);
    check_rule(of_calls::rule, [([0.5, 0.3], 0.4), ([-1.2, 0.7], 2.0)]);
    check_rule(
        in_loops_and_branches::rule,
        [(vec![0.5, -0.3, 0.8, 1.2], 0.7), (vec![], 0.4), (vec![-0.3], 1.4)],
    );
    check_rule(constants::rule, [(0.5, 2), (1.5, 0)]);
    check_rule(names_of_their_own::rule, [(0.5, 0.3), (-1.2, 0.7)]);
}

#[test]
fn and_taken_apart() {
    check_rule(unwrapped::rule, [(0.4, vec![0.4, 0.9])]);
    check_rule(parts_of_calls::rule, [([0.4, 0.9], [0.3, 1.2], 0), ([0.4, 0.9], [0.3, 1.2], 1)]);
}

#[test]
fn beside_what_is_written() {
    check_rule(beside_mutation::rule, [(vec![0.5, 0.3, 0.8], 0.4), (vec![0.6, 0.9], -0.7)]);
}

#[differentiable]
fn rates(s: &[f64; 2], k: f64) -> [f64; 2] {
    [s[1], -k * s[0].sin()]
}

/// What is made where it is borrowed, under a name or for a closure.
#[differentiable]
fn references_to_what_is_made(x: &[f64], k: f64) -> f64 {
    let s = &[x[0], x[1]];
    let plus = |a: &[f64; 2], b: &[f64; 2], h: f64| [a[0] + h * b[0], a[1] + h * b[1]];
    let half = &plus(s, &rates(s, k), 0.05);
    let next = plus(s, &rates(half, k), 0.1);
    let copy = &mut x.to_vec();
    copy[0] *= next[0];
    let squares = &x.iter().map(|v| v * v).collect::<Vec<_>>();
    let scaled = &(k * next[1]);
    copy[0] * squares[1] + *scaled
}

#[test]
fn made_where_it_is_borrowed() {
    check_rule(references_to_what_is_made::rule, [(vec![0.3, 0.5], 0.7)]);
}

#[differentiable]
fn written_from_what_is_made(x: &[f64], k: f64) -> f64 {
    let mut v = x.to_vec();
    v[..1].copy_from_slice(&[k * x[1]]);
    v.extend_from_slice(&[x[0] * v[0], k]);
    if k > 0.0 {
        v.extend_from_slice(&vec![x[1] * k; 2])
    }
    let mut rows = vec![vec![0.0; 2]; 2];
    rows[1].copy_from_slice(&[v[3], v[2] * x[0]]);
    rows[0].clone_from_slice(&x.iter().map(|v| v * v).collect::<Vec<_>>());
    v.iter().product::<f64>() + rows[1][0] * rows[1][1] * rows[0][0]
}

#[test]
fn made_where_it_is_written_from() {
    check_rule(written_from_what_is_made::rule, [(vec![0.3, 0.5], 0.7), (vec![0.4, 0.9], -0.3)]);
}
