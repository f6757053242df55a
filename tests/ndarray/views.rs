//! Rows, columns, slices and transposes: parts of a place, of which nothing is copied.

use ndarray::{Array1, Array2, Array3, ArrayView1, ArrayView2, Axis, array, s};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

use crate::networks::{matrix, vector};

#[differentiable]
fn rows(x: &Array2<f64>, w: &Array1<f64>) -> f64 {
    let mut total = 0.0;
    for i in 0..x.nrows() {
        let r = x.row(i);
        total += r.dot(w) * r[0] + x.column(i % 2).sum();
    }
    total
}

#[differentiable]
fn transposed(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
    let y = a.t().dot(x);
    let g = a.t().dot(a);
    y.dot(&y) + g.sum() + a.t()[[1, 0]]
}

#[differentiable]
fn slices(a: &Array2<f64>, n: usize) -> f64 {
    let left = a.slice(s![.., ..n]);
    let right = a.slice(s![.., n..2 * n]);
    let product = &left * &right;
    product.sum() + left[[0, 0]] * a.slice(s![0, ..]).sum() + (&a.slice(s![1.., 0]) * 2.0).sum()
}

#[differentiable]
fn written_rows(a: &mut Array2<f64>, v: &Array1<f64>, s: f64) -> f64 {
    for i in 0..a.nrows() {
        let mut row = a.row_mut(i);
        row += v;
        row *= s;
        a.row_mut(i)[0] *= 2.0;
    }
    a.column_mut(1).assign(&v.slice(s![..2]));
    a.slice_mut(s![1.., 2..]).fill(s);
    a.sum() + (&*a * &*a).sum()
}

#[differentiable]
fn local_rows(x: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let mut h = x.clone();
    for i in 0..h.nrows() {
        let scaled = &h.row(i) * v;
        h.row_mut(i).assign(&scaled);
        h.row_mut(i)[1] += v[0];
    }
    let last = h.row(h.nrows() - 1);
    last.dot(&last) + h.t().sum()
}

#[differentiable]
fn third(x: &Array3<f64>, k: usize) -> f64 {
    let layer = x.index_axis(Axis(0), k);
    let row = layer.row(1);
    (&layer * &x.index_axis(Axis(0), 0)).sum() + row.dot(&x.slice(s![k, 0, ..])) + layer.diag().sum()
}

#[test]
fn views() {
    check_rule(rows::rule, [(matrix(3, 4, 0.1), vector(4, 0.3)), (matrix(1, 2, 0.1), vector(2, 0.3))]);
    check_rule(transposed::rule, [(matrix(3, 2, 0.1), vector(3, 0.3)), (matrix(1, 2, 0.1), vector(1, 0.3))]);
    check_rule(written_rows::rule, [(matrix(2, 3, 0.1), vector(3, 0.3), 0.7)]);
    check_rule(slices::rule, [(matrix(3, 4, 0.1), 2), (matrix(2, 5, 0.1), 1)]);
    check_rule(local_rows::rule, [(matrix(3, 4, 0.1), vector(4, 0.3)), (matrix(1, 2, 0.1), vector(2, 0.3))]);
    let cube = Array3::from_shape_fn((2, 3, 3), |(i, j, k)| 0.3 + ((i + 2 * j + 5 * k) as f64).sin());
    check_rule(third::rule, [(cube.clone(), 1), (cube, 0)]);
}
