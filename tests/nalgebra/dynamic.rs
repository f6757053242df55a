//! Vectors and matrices whose dimensions are known at run time.

use nalgebra::{DMatrix, DVector, RowDVector, Vector3};
use pullback::prelude::*;
use pullback::testing::check_rule;

/// Numbers for tests, all different.
fn matrix(rows: usize, columns: usize, start: f64) -> DMatrix<f64> {
    DMatrix::from_fn(rows, columns, |i, j| start + 0.37 * ((3 * i + 7 * j) as f64 + start).sin())
}

fn vector(len: usize, start: f64) -> DVector<f64> {
    DVector::from_fn(len, |i, _| start + 0.41 * ((5 * i) as f64 - start).cos())
}

#[differentiable]
fn by_entries(a: &DMatrix<f64>, x: &DVector<f64>, y: &mut DVector<f64>) -> f64 {
    let mut total = 0.0;
    for i in 0..a.nrows() {
        let mut sum = 0.0;
        for j in 0..a.ncols() {
            sum += a[(i, j)] * x[j];
        }
        y[i] = y[i] * sum + a[i];
        total += y[i] * y[i];
    }
    total / y.len() as f64
}

#[differentiable]
fn with_locals(x: &DVector<f64>, n: usize) -> f64 {
    let mut y = DVector::<f64>::zeros(n);
    let mut m = DMatrix::<f64>::zeros(n, x.len());
    let z = x.clone();
    for i in 0..n {
        for j in 0..x.len() {
            m[(i, j)] += x[j] * z[i % x.len()];
            y[i] += m[(i, j)] * z[j];
        }
    }
    m.fill(x[0]);
    let copy = y.clone();
    y[0] *= m[(0, 0)];
    y[n - 1] * copy[0] + y[0]
}

#[test]
fn entries() {
    check_rule(
        by_entries::rule,
        [
            (matrix(2, 3, 0.3), vector(3, 0.2), vector(2, -0.4)),
            (matrix(4, 1, 0.3), vector(1, 0.2), vector(4, -0.4)),
        ],
    );
    check_rule(with_locals::rule, [(vector(3, 0.2), 2), (vector(2, 0.7), 4)]);
}
