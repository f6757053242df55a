//! Operands in all layouts: the value is the primal's bit for bit, for each.

use ndarray::{Array1, Array2, Array3, ArrayRef2, Axis, ShapeBuilder, Zip, s};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

use crate::networks::{matrix, vector};

/// Sums tell in which order elements lie: most of their last bits depend on it.
#[differentiable]
fn chained(a: &Array2<f64>, b: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let sum = a + b;
    let product = &sum * a;
    let wide = b / v;
    let mapped = wide.mapv(|x| x * x * 0.3);
    let third = &mapped - b;
    let dot = a.t().dot(&third);
    let axis = product.sum_axis(Axis(0)) * wide.mean_axis(Axis(0)).unwrap();
    sum.sum()
        + product.sum() * wide.sum()
        + mapped.sum() / third.sum()
        + dot.sum()
        + axis.sum()
        + (v * a).sum()
        + (-a).sum()
        + (2.0 - b).sum()
        + b.to_owned().sum()
        + b.clone().sum()
        + (a.clone() - b).sum()
        + (-b.clone()).sum()
}

#[differentiable]
fn cubes(a: &Array3<f64>, b: &Array3<f64>) -> f64 {
    let sum = a + b;
    let mapped = a.mapv(|x| x * x * x);
    let axis = sum.sum_axis(Axis(1)) * sum.sum_axis(Axis(0)).sum_axis(Axis(0)).sum();
    sum.sum() + (&mapped * b).sum() + axis.sum() + (b / a).sum() + mapped.mean_axis(Axis(2)).unwrap().sum()
}

/// The same elements column by column.
fn by_columns(a: &Array2<f64>) -> Array2<f64> {
    let mut turned = Array2::zeros(a.raw_dim().f());
    turned.assign(a);
    turned
}

/// The same elements with gaps, and backwards in memory.
fn with_gaps(a: &Array2<f64>) -> Array2<f64> {
    let mut large = Array2::zeros((2 * a.nrows(), 3 * a.ncols()));
    large.slice_mut(s![..;2, ..;-3]).assign(a);
    large.slice_move(s![..;2, ..;-3])
}

#[test]
fn matrices() {
    let layouts: [fn(&Array2<f64>) -> Array2<f64>; 3] = [Array2::clone, by_columns, with_gaps];
    for (rows, columns) in [(3, 4), (9, 5), (1, 1), (1, 17), (17, 1)] {
        let (a, b, v) = (matrix(rows, columns, 0.9), matrix(rows, columns, 2.3), vector(columns, 1.7));
        let inputs: Vec<_> =
            layouts.iter().flat_map(|f| layouts.map(|g| (f(&a), g(&b), v.clone()))).collect();
        for (a, b, v) in &inputs {
            let (value, _) = chained::gradient().value_and_gradient(a, b, v);
            assert_eq!(value.to_bits(), chained(a, b, v).to_bits(), "{:?} {:?}", a.strides(), b.strides());
        }
    }
    let (a, b) = (matrix(3, 4, 0.9), matrix(3, 4, 2.3));
    check_rule(
        chained::rule,
        [(by_columns(&a), b.clone(), vector(4, 1.7)), (a.clone(), by_columns(&b), vector(4, 1.7))],
    );
    check_rule(
        chained::rule,
        [(with_gaps(&a), by_columns(&b), vector(4, 1.7)), (with_gaps(&a), with_gaps(&b), vector(4, 1.7))],
    );
}

#[test]
fn more_dimensions() {
    let cube =
        |start: f64| Array3::from_shape_fn((3, 4, 5), |(i, j, k)| start + ((i + 2 * j + 5 * k) as f64).sin());
    let layouts: [fn(Array3<f64>) -> Array3<f64>; 6] = [
        |x| x,
        |x| {
            let mut y = Array3::zeros(x.raw_dim().f());
            y.assign(&x);
            y
        },
        |x| {
            let mut y = Array3::zeros((4, 3, 5));
            y.swap_axes(0, 1);
            y.assign(&x);
            y
        },
        |x| {
            let mut y = Array3::zeros((3, 5, 4));
            y.swap_axes(1, 2);
            y.assign(&x);
            y
        },
        |x| {
            let mut y = x.clone();
            y.invert_axis(Axis(1));
            y.assign(&x);
            y
        },
        |x| {
            let mut y = Array3::zeros((6, 4, 5));
            y.slice_collapse(s![..;2, .., ..]);
            y.assign(&x);
            y
        },
    ];
    for f in layouts {
        for g in layouts {
            let (a, b) = (f(cube(1.9)), g(cube(2.7)));
            let (value, _) = cubes::gradient().value_and_gradient(&a, &b);
            assert_eq!(value.to_bits(), cubes(&a, &b).to_bits(), "{:?} {:?}", a.strides(), b.strides());
        }
    }
    check_rule(
        cubes::rule,
        [(layouts[2](cube(1.9)), layouts[4](cube(2.7))), (layouts[1](cube(1.9)), layouts[3](cube(2.7)))],
    );
}

/// Nothing in an array, and views that repeat their elements.
#[differentiable]
fn of_views(a: &ArrayRef2<f64>, b: &Array2<f64>, n: usize) -> f64 {
    let empty = b.slice(s![..0, ..]);
    let part = &empty * 2.0;
    let line = b.slice(s![0, ..]);
    let repeated = line.broadcast((n, b.ncols())).unwrap();
    part.sum() + (repeated.to_owned() * a).sum() + repeated.t().dot(a).sum() + (&repeated * &repeated).sum()
}

#[test]
fn empty_and_repeated() {
    let (a, b) = (matrix(3, 4, 0.9), matrix(2, 4, 2.3));
    let repeated = b.row(1);
    let repeated = repeated.broadcast((3, 4)).unwrap();
    let mut g = of_views::gradient();
    let (value, d) = g.value_and_gradient(&repeated, &b, 3);
    assert_eq!(value.to_bits(), of_views(&repeated, &b, 3).to_bits());
    let plain = repeated.to_owned();
    let mut other = of_views::gradient();
    let (_, expected) = other.value_and_gradient(&plain.view(), &b, 3);
    assert!((d.a - expected.a).iter().chain((d.b - expected.b).iter()).all(|x| x.abs() < 1e-12));
    let empty = Array2::zeros((0, 4));
    let (value, d) = g.value_and_gradient(&empty.view(), &b, 0);
    assert_eq!((value, d.a.len(), d.b.sum()), (0.0, 0, 0.0));
}
