//! ndarray's arrays, by element and through matrix products.

use ndarray::{Array1, Array2, array};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn elements(a: &Array2<f64>, v: &Array1<f64>, k: f64) -> f64 {
    let (rows, columns) = (a.nrows(), a.ncols());
    let mut total = 0.0;
    for i in 0..rows {
        let mut dot = 0.0;
        for j in 0..columns {
            dot += a[[i, j]] * v[j];
        }
        total += dot * dot * k + a[(i, 0)];
    }
    total
}

#[differentiable]
fn written(c: &mut Array2<f64>, x: &[f64]) -> f64 {
    for i in 0..c.nrows() {
        for j in 0..c.ncols() {
            if i != j {
                c[[i, j]] = c[[j, i]] * x[i] + c[[i, j]];
            } else {
                c[[i, j]] *= x[j];
            }
        }
    }
    c[[0, 1]] * c[[1, 0]] + c[[1, 1]]
}

#[differentiable]
fn products(w: &Array2<f64>, #[constant] x: &Array2<f64>, steps: usize) -> f64 {
    let mut h = Array2::zeros((w.nrows(), x.ncols()));
    let mut g = Array2::zeros((w.nrows(), x.ncols()));
    mul_into(&mut h, w, x);
    for _ in 0..steps {
        for i in 0..h.nrows() {
            for j in 0..h.ncols() {
                h[[i, j]] = h[[i, j]].tanh();
            }
        }
        mul_into(&mut g, w, &h);
        for i in 0..h.nrows() {
            for j in 0..h.ncols() {
                h[[i, j]] += g[[i, j]] * 0.5;
            }
        }
    }
    let mut total = 0.0;
    for i in 0..h.nrows() {
        for j in 0..h.ncols() {
            total += h[[i, j]] * h[[i, j]];
        }
    }
    total
}

/// A product of constants needs no gradient.
#[differentiable]
fn constant_product(w: &Array2<f64>, #[constant] x: &Array2<f64>) -> f64 {
    let mut square = Array2::zeros((x.nrows(), x.ncols()));
    mul_into(&mut square, x, x);
    let mut h = Array2::zeros((w.nrows(), x.ncols()));
    mul_into(&mut h, w, &square);
    h[[0, 0]] * h[[1, 1]] * square[[0, 1]]
}

#[differentiable]
fn scaled(c: &mut Array2<f64>, a: &Array2<f64>, alpha: f64, n: usize) -> f64 {
    for _ in 0..n {
        gemm(Trans::No, Trans::Yes, alpha, a, a, 0.5, c);
    }
    c[[0, 0]] * alpha + c[[1, 0]]
}

#[differentiable]
fn singles(a: &Array2<f32>, b: &mut Array1<f32>) -> f32 {
    for i in 0..b.len() {
        b[i] = b[i] * a[[i, 0]];
    }
    b[0] * b[1]
}

fn wave(rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| (1.3 * i as f64 - 0.7 * j as f64 + 0.4).sin())
}

#[test]
fn by_element() {
    check_rule(
        elements::rule,
        [
            (wave(2, 3), array![0.5, 0.2, -0.3], 0.7),
            (wave(3, 2).reversed_axes(), array![0.5, 1.0, 0.4], 1.5),
            (wave(0, 3), array![0.5, 0.2, -0.3], 0.7),
        ],
    );
    CheckRule::new(written::rule)
        .inputs([(wave(2, 2), vec![0.5, 0.2]), (wave(3, 3).reversed_axes(), vec![0.7, 1.2, -0.4])])
        .panicking((wave(1, 1), vec![0.4]))
        .run();
    check_rule(
        singles::rule,
        [
            (wave(2, 2).mapv(|x| x as f32), array![0.5, 0.25]),
            (wave(3, 1).mapv(|x| x as f32), array![0.5, 0.25, 2.0]),
        ],
    );
}

#[test]
fn by_product() {
    check_rule(
        products::rule,
        [(wave(2, 2), wave(2, 3), 2), (wave(3, 3), wave(3, 1), 0), (wave(1, 1), wave(1, 1), 3)],
    );
    check_rule(constant_product::rule, [(wave(2, 2), wave(2, 2)), (wave(2, 3), wave(3, 3))]);
    check_rule(scaled::rule, [(wave(2, 2), wave(2, 3), 0.7, 2), (wave(3, 3), wave(3, 1), 1.2, 0)]);
}
