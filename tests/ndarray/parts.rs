//! What arrays are gone through by beside elements and rows: elements with their indices, lanes, windows, chunks; and vectors.

use ndarray::{Array1, Array2, Array3, Axis, Slice, s};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

use crate::closures::turned;
use crate::networks::{matrix, vector};

#[differentiable]
fn indexed(x: &Array2<f64>, v: &Array1<f64>, cube: &Array3<f64>) -> f64 {
    let mut total = 0.0;
    for ((i, j), &x) in x.indexed_iter() {
        if j == 0 {
            continue;
        }
        total += x * x * (i + 2 * j) as f64;
        if i == 1 && j == 2 {
            break;
        }
    }
    for (i, v) in v.indexed_iter() {
        total *= 1.0 + v * i as f64 / 9.0;
    }
    let moments = cube.indexed_iter().map(|((i, j, k), c)| c * c * (i + 2 * j + 3 * k) as f64).sum::<f64>();
    total * moments + x.t().indexed_iter().map(|((j, i), x)| x * (1 + 2 * i + j) as f64).sum::<f64>()
}

#[differentiable]
fn indexed_writes(x: &mut Array2<f64>, v: &Array1<f64>, n: usize) -> f64 {
    for _ in 0..n {
        for ((i, j), x) in x.indexed_iter_mut() {
            *x *= v[j] + i as f64 / 5.0;
        }
    }
    let mut y = v.clone();
    y.indexed_iter_mut().for_each(|(i, y)| *y = y.sin() * i as f64);
    x.sum() * y.sum()
}

#[differentiable]
fn lanes(x: &mut Array2<f64>, v: &Array1<f64>, k: usize) -> f64 {
    for mut lane in x.lanes_mut(Axis(k)) {
        lane *= 1.5;
        lane[0] *= lane[1];
    }
    let mut total = 0.0;
    for (lane, v) in x.t().lanes(Axis(1)).into_iter().zip(v) {
        total += lane.dot(&lane) * lane[0] * v;
    }
    total + x.lanes(Axis(k)).into_iter().map(|lane| lane.product()).sum::<f64>()
}

#[differentiable]
fn windows(x: &Array2<f64>, v: &Array1<f64>, kernel: &Array2<f64>, size: usize) -> f64 {
    let mut total = 0.0;
    for window in v.windows(size) {
        total += window[0] * window.sum();
    }
    for window in x.windows([2, 3]) {
        let met = (&window * kernel).sum();
        total += met * met;
    }
    total * x.windows((size, 1)).into_iter().map(|window| window[[0, 0]] * window.sum()).sum::<f64>()
}

#[differentiable]
fn chunks(x: &Array2<f64>, v: &Array1<f64>, size: usize) -> f64 {
    let mut total = 0.0;
    for chunk in x.axis_chunks_iter(Axis(1), size) {
        total += chunk.sum() * chunk[[0, 0]];
    }
    for chunk in x.exact_chunks((2, size)) {
        total += chunk[[0, 0]] * chunk[[1, 0]];
    }
    for (i, chunk) in v.exact_chunks(size).into_iter().enumerate() {
        total += chunk.dot(&chunk) * i as f64;
    }
    let last = x.slice_axis(Axis(0), Slice::from(1..));
    total * last.sum() + v.axis_chunks_iter(Axis(0), size).map(|chunk| chunk.product()).sum::<f64>()
}

#[differentiable]
fn vectors(x: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let first = x.row(0).to_vec();
    let all = v.to_vec();
    let squares = Array1::from_iter(v.iter().map(|v| v * v));
    let flat = x.flatten();
    first[0] * all[1] + squares.dot(v) + flat[1] * flat.sum()
}

#[test]
fn with_indices() {
    let cube = Array3::from_shape_fn((2, 3, 2), |(i, j, k)| 0.9 + 0.5 * ((i + 2 * j + 5 * k) as f64).sin());
    let x = matrix(3, 4, 0.4);
    let [by_columns, gaps, backwards] = turned(&x);
    check_rule(
        indexed::rule,
        [
            x.clone(),
            by_columns.clone(),
            gaps.clone(),
            backwards.clone(),
            matrix(1, 1, 0.3),
            Array2::zeros((0, 2)),
        ]
        .map(|x| (x, vector(3, 0.2), cube.clone())),
    );
    check_rule(indexed_writes::rule, [x, by_columns, gaps, backwards].map(|x| (x, vector(4, 0.2), 2)));
}

#[test]
fn lanes_of_matrices() {
    let x = matrix(3, 4, 0.4);
    let [by_columns, gaps, backwards] = turned(&x);
    for k in [0, 1] {
        check_rule(
            lanes::rule,
            [x.clone(), by_columns.clone(), gaps.clone(), backwards.clone()].map(|x| (x, vector(4, 0.3), k)),
        );
    }
}

#[test]
fn windows_and_chunks() {
    let (x, kernel) = (matrix(4, 5, 0.4), matrix(2, 3, 0.2));
    let [by_columns, gaps, backwards] = turned(&x);
    for size in [1, 2, 3] {
        check_rule(
            windows::rule,
            [x.clone(), by_columns.clone(), gaps.clone(), backwards.clone()]
                .map(|x| (x, vector(5, 0.3), kernel.clone(), size)),
        );
        check_rule(
            chunks::rule,
            // Backwards, ndarray's own `exact_chunks` overflows.
            [x.clone(), by_columns.clone(), matrix(8, 15, 0.1).slice_move(s![..;2, ..;3])]
                .map(|x| (x, vector(7, 0.3), size)),
        );
    }
}

#[test]
#[should_panic = "the size of a part must not be zero"]
fn windows_of_nothing() {
    let mut g = windows::gradient();
    g.value_and_gradient(&matrix(2, 3, 0.4), &vector(2, 0.3), &matrix(2, 3, 0.1), 0);
}

#[test]
fn to_vectors() {
    let x = matrix(3, 4, 0.4);
    let [by_columns, gaps, backwards] = turned(&x);
    check_rule(vectors::rule, [x, by_columns, gaps, backwards].map(|x| (x, vector(3, 0.3))));
}
