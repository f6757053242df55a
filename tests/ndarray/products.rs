//! ndarray's products that add to what there is.

use ndarray::{Array1, Array2, ShapeBuilder, s};
use pullback::blas::{general_mat_mul, general_mat_vec_mul};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

use crate::networks::{matrix, vector};

#[differentiable]
fn chained(a: &Array2<f64>, b: &Array2<f64>, x: &Array1<f64>, alpha: f64, beta: f64) -> f64 {
    let mut c = Array2::<f64>::zeros((a.nrows(), b.ncols()));
    general_mat_mul(1.0, a, b, 0.0, &mut c);
    let mut y = Array1::<f64>::ones(b.nrows());
    general_mat_vec_mul(alpha, b, x, beta, &mut y);
    let mut d = c.clone();
    general_mat_mul(alpha, &a.t(), &c, beta, &mut d);
    general_mat_mul(0.5, a, &d, 1.0, &mut c);
    c.sum() * d.sum() + y.dot(&y)
}

/// In each layout: by rows, by columns, backwards with gaps.
fn layouts(x: Array2<f64>) -> [Array2<f64>; 3] {
    let mut by_columns = Array2::zeros(x.raw_dim().f());
    by_columns.assign(&x);
    let mut gaps = Array2::zeros((2 * x.nrows(), 3 * x.ncols())).slice_move(s![..;2, ..;-3]);
    gaps.assign(&x);
    [x, by_columns, gaps]
}

#[test]
fn products() {
    for (m, k, n) in [(2, 3, 4), (1, 1, 1), (9, 2, 11), (0, 2, 2), (3, 0, 2)] {
        for (alpha, beta) in [(1.0, 0.0), (-1.5, 1.0), (0.7, 0.3), (0.0, 2.0)] {
            let ([a, b, c], [d, e, f]) = (layouts(matrix(m, k, 0.1)), layouts(matrix(k, n, 0.4)));
            let [g, h, i] = layouts(matrix(m, n, 0.7));
            check_rule(
                general_mat_mul::<f64>::rule,
                [
                    (alpha, a.clone(), f, beta, h),
                    (alpha, b.clone(), d, beta, i),
                    (alpha, c.clone(), e, beta, g),
                ],
            );
            let mut y = vector(m, 0.3);
            y.invert_axis(ndarray::Axis(0));
            check_rule(
                general_mat_vec_mul::<f64>::rule,
                [
                    (alpha, a, vector(k, 0.2), beta, y.clone()),
                    (alpha, b, vector(k, 0.2), beta, y),
                    (alpha, c, vector(k, 0.2), beta, vector(m, 0.6)),
                ],
            );
        }
    }
    let single = |x: Array2<f64>| x.mapv(|x| x as f32);
    check_rule(
        general_mat_mul::<f32>::rule,
        [(0.7, single(matrix(2, 3, 0.1)), single(matrix(3, 4, 0.4)), 0.3, single(matrix(2, 4, 0.7)))],
    );
    let line = |x: Array1<f64>| x.mapv(|x| x as f32);
    check_rule(
        general_mat_vec_mul::<f32>::rule,
        [(0.7, single(matrix(2, 3, 0.1)), line(vector(3, 0.4)), 0.3, line(vector(2, 0.7)))],
    );
}

#[test]
fn derived() {
    check_rule(
        chained::rule,
        [
            (matrix(2, 2, 0.1), matrix(2, 3, 0.4), vector(3, 0.2), 0.7, 0.3),
            (matrix(3, 3, 0.1), matrix(3, 1, 0.4), vector(1, 0.2), 0.7, 0.3),
        ],
    );
}
