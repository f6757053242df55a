//! What takes closures: arrays made of indices, folds, lanes, changes in place.

use ndarray::{Array1, Array2, Array3, Axis, ShapeBuilder, s};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

use crate::networks::{matrix, vector};

#[differentiable]
fn of_indices(x: &[f64], scale: f64, n: usize) -> f64 {
    let kernel = Array2::from_shape_fn((n, x.len()), |(i, j)| {
        let d = x[i % x.len()] - x[j];
        (-d * d / scale).exp()
    });
    let line = Array1::from_shape_fn(x.len(), |k| x[k] * scale);
    let cube: Array3<f64> =
        Array3::from_shape_fn((2, n, 2), |(i, j, k)| line[j % line.len()] * (i + k) as f64);
    let like = Array2::<f64>::from_shape_fn(kernel.raw_dim(), |(i, j)| {
        if i > j {
            return 0.0;
        }
        kernel[[i, j]] * scale
    });
    kernel.dot(&line).sum() + cube.sum() * (&like * &kernel).sum()
}

#[differentiable]
fn folds(x: &Array2<f64>, v: &Array1<f64>, s: f64) -> f64 {
    let squares = x.fold(0.0, |sum, x| sum + x * x);
    let mixed = v.fold(s, |a, &x| a * 0.9 + x * s);
    let (low, high) = x.fold((s, 1.0), |(low, high), &x| (low - x, high * (1.0 + x * x)));
    let of_view = x.t().fold(1.0, |a, x| a * 0.5 + x.sin()) + x.row(0).fold(0.0, |a, x| x - 0.3 * a);
    let computed = (x * s).fold(0.0, |a, x| a * 0.7 + x);
    let largest = v.fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    squares * mixed + low / high + of_view * computed * largest
}

#[differentiable]
fn lanes(x: &Array2<f64>, v: &Array1<f64>, s: f64, k: usize) -> f64 {
    let norms = x.map_axis(Axis(k), |lane| lane.dot(&lane).sqrt() * s);
    let first = x.t().map_axis(Axis(k), |lane| lane[0] * lane.sum()).sum();
    let folded = x.fold_axis(Axis(k), s, |a, x| a * 0.5 + x * x);
    let others = x.fold_axis(Axis(1 - k), 1.0, |&a, &x| a * x + v[0]);
    (&norms * &folded).sum() * first + others.sum() + v.map_axis(Axis(0), |lane| lane.sum()).sum()
}

#[differentiable]
fn cubes(x: &Array3<f64>, k: usize) -> f64 {
    let folded = x.fold_axis(Axis(k), 0.0, |a, x| a * 0.3 + x.sin());
    let mut y = x.clone();
    y.accumulate_axis_inplace(Axis(k), |before, x| *x += before * before);
    (&folded * &folded).sum() + (y * x).sum() + x.cumprod(Axis(k)).sum()
}

#[differentiable]
fn accumulated(x: &mut Array2<f64>, v: &Array1<f64>, s: f64, k: usize) -> f64 {
    x.accumulate_axis_inplace(Axis(k), |&before, x| *x += before * s);
    let mut y = v.clone();
    y.accumulate_axis_inplace(Axis(0), |before, x| {
        let t = *before * s;
        *x = *x * 0.5 + t;
    });
    x.row_mut(0).accumulate_axis_inplace(Axis(0), |before, x| *x *= *before);
    let powers = v.cumprod(Axis(0));
    (&*x * &*x).sum() + y.dot(&powers)
}

#[differentiable]
fn in_place(x: &mut Array2<f64>, v: &Array1<f64>, s: f64) -> f64 {
    x.map_inplace(|x| *x = x.sin() * s);
    x.row_mut(0).map_inplace(|x| *x *= 2.0);
    let mut total = 0.0;
    v.for_each(|v| total += v * v * s);
    let mut y = v.clone();
    y.map_inplace(|y| {
        if *y > 0.5 {
            *y *= s;
            return;
        }
        *y = y.exp();
    });
    x.sum() * total + y.sum()
}

#[differentiable]
fn single(x: &Array2<f32>, s: f32) -> f32 {
    let mut y = x.clone();
    y.map_inplace(|y| *y *= s);
    y.accumulate_axis_inplace(Axis(0), |before, y| *y += before);
    let grid = Array2::from_shape_fn((2, 2), |(i, j)| s * (i + 2 * j) as f32);
    y.fold_axis(Axis(1), s, |a, y| a * y).sum() + x.fold(0.0, |a, x| a * 0.5 + x) + grid.sum()
}

/// The elements of a matrix in another layout: by columns, or backwards with gaps.
pub(crate) fn turned(x: &Array2<f64>) -> [Array2<f64>; 3] {
    let mut by_columns = Array2::zeros(x.raw_dim().f());
    by_columns.assign(x);
    let mut gaps = Array2::zeros((2 * x.nrows(), 3 * x.ncols())).slice_move(s![..;-2, ..;3]);
    gaps.assign(x);
    let mut backwards = x.clone();
    backwards.invert_axis(Axis(1));
    backwards.assign(x);
    [by_columns, gaps, backwards]
}

#[test]
fn made() {
    check_rule(
        of_indices::rule,
        [(vec![0.3, 0.7, 1.1], 0.8, 2), (vec![0.3], 0.8, 3), (vec![0.1, 0.2], 1.3, 1)],
    );
}

#[test]
fn folded() {
    let x = matrix(3, 4, 0.4);
    let [by_columns, gaps, backwards] = turned(&x);
    let mut v = vector(4, 0.3);
    v.invert_axis(Axis(0));
    check_rule(
        folds::rule,
        [
            (x, vector(3, 0.4), 0.7),
            (by_columns, v.clone(), 0.7),
            (gaps, vector(1, 0.4), 0.7),
            (backwards, v, 0.3),
            (matrix(1, 1, 0.2), vector(2, 0.4), 0.7),
        ],
    );
}

#[test]
fn along_axes() {
    let x = matrix(3, 4, 0.4);
    let [by_columns, gaps, backwards] = turned(&x);
    for k in [0, 1] {
        check_rule(
            lanes::rule,
            [
                (x.clone(), vector(3, 0.4), 0.7, k),
                (by_columns.clone(), vector(2, 0.4), 0.7, k),
                (gaps.clone(), vector(1, 0.4), 0.7, k),
                (backwards.clone(), vector(1, 0.4), 0.7, k),
                (matrix(1, 1, 0.4), vector(1, 0.4), 0.7, k),
            ],
        );
        check_rule(
            accumulated::rule,
            [
                (x.clone(), vector(3, 0.4), 0.7, k),
                (by_columns.clone(), vector(1, 0.4), 0.7, k),
                (gaps.clone(), vector(2, 0.4), 0.7, k),
                (matrix(1, 2, 0.4), vector(2, 0.4), 0.7, k),
            ],
        );
    }
    for k in 0..3 {
        let cube =
            Array3::from_shape_fn((2, 3, 2), |(i, j, k)| 0.9 + 0.5 * ((i + 2 * j + 5 * k) as f64).sin());
        let mut by_columns = Array3::zeros(cube.raw_dim().f());
        by_columns.assign(&cube);
        check_rule(cubes::rule, [(cube, k), (by_columns, k)]);
    }
    check_rule(single::rule, [(x.mapv(|x| x as f32), 0.7), (matrix(2, 1, 0.3).mapv(|x| x as f32), 0.4)]);
}

#[test]
fn changed() {
    let x = matrix(3, 4, 0.4);
    let [by_columns, gaps, _] = turned(&x);
    check_rule(
        in_place::rule,
        [(x, vector(3, 0.4), 0.7), (by_columns, vector(2, 0.7), 0.7), (gaps, vector(5, 0.4), 0.7)],
    );
}

/// One within another, in loops and branches, beside names that generated code might want.
#[differentiable]
fn nested(x: &Array2<f64>, w: &Array1<f64>, n: usize) -> f64 {
    let (lane, made, k, total) = (w[0], w.sum(), 2.0, 0.5);
    let mut h = x.clone();
    let mut result = 0.0;
    for i in 0..n {
        let scale = h.fold(total, |total, x| total + x * x * lane);
        let rows = h.map_axis(Axis(1), |lane| {
            let k = lane.fold(made, |made, x| made * 0.5 + x);
            if k > 100.0 {
                return lane[0];
            }
            k * scale.sqrt() + i as f64
        });
        let outer = Array2::from_shape_fn(x.raw_dim(), |(i, j)| {
            let part = rows[i] * w[j % w.len()];
            part.sin() + h[[i, j]] * k
        });
        h = if scale > 1.0 { (&outer * 0.1).tanh() } else { outer.exp().recip() };
        h.accumulate_axis_inplace(Axis(i % 2), |before, x| *x += before * lane);
        if h.fold(0.0, |a, x| a + x) > 0.0 {
            h.map_inplace(|x| *x *= lane + i as f64);
        }
        result += h.fold_axis(Axis(0), scale, |a, x| a * 0.2 + x.powi(2)).powi(i as i32 + 1).sum();
    }
    result
}

#[test]
fn one_within_another() {
    check_rule(
        nested::rule,
        [
            (matrix(3, 2, 0.1), vector(2, 0.3), 3),
            (matrix(2, 3, 0.1), vector(1, 0.4), 2),
            (matrix(1, 1, 0.1), vector(3, 0.4), 1),
            (matrix(2, 2, 0.1), vector(2, 0.4), 0),
        ],
    );
}

/// What `constant` holds is computed as written, and is not taken apart.
#[differentiable]
fn held(x: &Array2<f64>) -> f64 {
    let top = constant(x.fold_axis(Axis(0), f64::NEG_INFINITY, |top, &x| top.max(x)));
    let scale = constant((x * x).sum());
    let shifted = x - &top;
    (&shifted * &shifted).sum() / scale
}

#[test]
fn held_constants() {
    let x = ndarray::array![[0.3, -0.9], [1.4, 0.2]];
    let mut g = held::gradient();
    let (value, d) = g.value_and_gradient(&x);
    assert_eq!(value, held(&x));
    let (top, scale) = (ndarray::array![1.4, 0.2], (&x * &x).sum());
    assert!((2.0 * (&x - &top) / scale - d.x).iter().all(|error| error.abs() < 1e-15));
}
