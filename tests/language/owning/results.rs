//! What functions return: what `collect` makes, and vectors of vectors; and copies of these.

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

/// In place.
#[differentiable]
fn touch(rows: &mut Vec<Vec<f64>>, k: f64) -> f64 {
    rows[0][0] *= 2.0 * k;
    rows[0][0]
}

#[differentiable]
fn cloned_rows(rows: &Vec<Vec<f64>>, k: f64) -> f64 {
    let mut mine = rows.clone();
    let r = touch(&mut mine, k);
    r * mine[0][1] + rows[0][0]
}

#[differentiable]
fn outer(x: &[f64], y: &[f64]) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; y.len()]; x.len()];
    for (row, v) in rows.iter_mut().zip(x) {
        for j in 0..y.len() {
            row[j] = v * y[j];
        }
    }
    rows
}

#[differentiable]
fn transposed(a: &[Vec<f64>], k: f64) -> Vec<Vec<f64>> {
    let mut t = vec![vec![0.0; a.len()]; a[0].len()];
    for i in 0..a.len() {
        for j in 0..a[0].len() {
            t[j][i] = a[i][j] * k * a[i][j];
        }
    }
    t
}

#[differentiable]
fn of_matrices(x: &[f64], y: &[f64], k: f64) -> f64 {
    let a = outer(x, y);
    let b = transposed(&a, k);
    let mut total = 0.0;
    for i in 0..a.len() {
        for j in 0..b.len() {
            total += a[i][j] * b[j][i] * (i + 2 * j) as f64;
        }
    }
    total
}

#[test]
fn copies() {
    let of = |p: [f64; 4]| cloned_rows(&vec![vec![p[0], p[1]], vec![p[2]]], p[3]);
    let at = [0.3, 0.7, 0.9, 0.4];
    let mut g = cloned_rows::gradient();
    let rows = vec![vec![0.3, 0.7], vec![0.9]];
    let (value, d) = g.value_and_gradient(&rows, 0.4);
    assert_eq!(value, of(at));
    check(at, of, [d.rows[0][0], d.rows[0][1], d.rows[1][0], d.k]);
}

#[test]
fn matrices_as_results() {
    let of = |p: [f64; 6]| of_matrices(&p[..2], &p[2..5], p[5]);
    let at = [0.3, 0.7, 0.9, 0.4, 0.5, 0.8];
    let mut g = of_matrices::gradient();
    let (value, d) = g.value_and_gradient(&at[..2], &at[2..5], 0.8);
    assert_eq!(value, of(at));
    check(at, of, [d.x[0], d.x[1], d.y[0], d.y[1], d.y[2], d.k]);
    let primal = allocations_in(|| of(at)).1;
    let (value, count) = allocations_in(|| g.value_and_gradient(&at[..2], &at[2..5], 0.8).0);
    assert_eq!(value, of(at));
    assert!(count <= primal, "{count} allocations, {primal} of the function itself");
}
