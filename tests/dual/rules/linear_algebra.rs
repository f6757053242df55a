//! Decompositions, and what rests on them, on dual numbers.

use ndarray::{Array1, Array2, ArrayRef2};
use pullback::linalg::{self, Pattern, Uplo};
use pullback::prelude::*;
use pullback::testing::{check_pushforward, check_second_order};
use pullback::{Trans, blas};

use crate::random::Random;

/// With a positive diagonal that is large enough; rows are exchanged when it is decomposed, where it is not symmetric.
pub(crate) fn regular_matrix(random: &mut Random, n: usize, symmetric: bool) -> Array2<f64> {
    let a = random.matrix((n, n), false);
    if symmetric {
        return a.dot(&a.t()) + 0.5 * Array2::eye(n);
    }
    let mut a = 0.5 * a;
    for i in 0..n {
        a[[i, (i + 1) % n]] += 2.0;
    }
    a
}

/// A function of a matrix that is not linear in any entry.
#[differentiable(dual)]
pub(crate) fn some_number(a: &ArrayRef2<f64>) -> f64 {
    let mut total = 0.0;
    for i in 0..a.nrows() {
        for j in 0..a.ncols() {
            total += (a[[i, j]] + 0.25 * (i + 2 * j) as f64).sin();
        }
    }
    total
}

#[differentiable(dual)]
fn of_cholesky(a: &Array2<f64>, b: &Array2<f64>, x: &mut Array2<f64>) -> f64 {
    let l = linalg::cholesky(a);
    linalg::cholesky_solve_into(x, &l, b);
    some_number(&l) + some_number(&*x)
}

#[differentiable(dual)]
fn of_positive_definite(a: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let x = linalg::solve_spd(a, b);
    linalg::logdet_spd(a) * blas::dot(&x, b)
}

#[test]
fn positive_definite() {
    let random = &mut Random(1);
    let mut inputs = [3, 1, 5, 0, 20]
        .map(|n| {
            (regular_matrix(random, n, true), random.matrix((n, 2), false), random.matrix((n, 2), false))
        })
        .to_vec();
    check_pushforward(of_cholesky::rule, inputs.split_off(4));
    check_second_order(of_cholesky::rule, inputs);
    let mut inputs = [3, 1, 5, 0, 20].map(|n| (regular_matrix(random, n, true), random.vector(n))).to_vec();
    check_pushforward(of_positive_definite::rule, inputs.split_off(4));
    check_second_order(of_positive_definite::rule, inputs);
}

#[differentiable(dual)]
fn of_regular(a: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let x = linalg::solve(a, b);
    let inverse = linalg::inv(a);
    linalg::logdet(a) * blas::dot(&x, &x) + some_number(&inverse)
}

#[differentiable(dual)]
fn of_factors(
    a: &Array2<f64>,
    p: &mut Array2<f64>,
    l: &mut Array2<f64>,
    u: &mut Array2<f64>,
    b: &Array1<f64>,
) -> f64 {
    linalg::lu_into(p, l, u, a);
    let x = linalg::solve_triangular(Uplo::Lower, Trans::No, &*l, b);
    let y = linalg::solve_triangular(Uplo::Upper, Trans::Yes, &*u, &x);
    some_number(&*l) + some_number(&*u) * blas::dot(&x, &y)
}

#[test]
fn regular() {
    let random = &mut Random(2);
    let mut inputs = [3, 1, 5, 0, 20].map(|n| (regular_matrix(random, n, false), random.vector(n))).to_vec();
    check_pushforward(of_regular::rule, inputs.split_off(4));
    check_second_order(of_regular::rule, inputs);
}

#[test]
fn triangular_factors() {
    let random = &mut Random(2);
    let mut inputs = [3, 1, 4, 18]
        .map(|n| {
            let [p, l, u] = [(); 3].map(|()| random.matrix((n, n), false));
            (regular_matrix(random, n, false), p, l, u, random.vector(n))
        })
        .to_vec();
    check_pushforward(of_factors::rule, inputs.split_off(3));
    check_second_order(of_factors::rule, inputs);
}

#[differentiable(dual)]
fn of_exponential(a: &Array2<f64>, b: &Array2<f64>, scale: f64, y: &mut Array2<f64>) -> f64 {
    let e = linalg::expm(a);
    linalg::kron_into(y, &e, b);
    scale * some_number(&*y)
}

#[test]
fn exponentials() {
    let random = &mut Random(3);
    // Both with and without squares.
    let inputs = [(2, 0.1), (3, 1.0), (2, 6.0), (1, 1.0)].map(|(n, size)| {
        (size * random.matrix((n, n), false), random.matrix((2, 1), false), 0.5, Array2::zeros((2 * n, n)))
    });
    check_second_order(of_exponential::rule, inputs);
}

#[differentiable(dual)]
fn of_sparse(#[constant] pattern: &Pattern, values: &Array1<f64>, x: &Array1<f64>, b: &Array2<f64>) -> f64 {
    let y: Array1<f64> = linalg::sparse_mul(pattern, values, x);
    let z: Array1<f64> = linalg::sparse_mul_transposed(pattern, values, &y);
    let c: Array2<f64> = linalg::sparse_mul(pattern, values, b);
    (y.mapv(f64::sin)).sum() + z.dot(&z) + (&c * &c).sum()
}

#[test]
fn products_with_sparse_matrices() {
    let random = &mut Random(9);
    let n = 4;
    let patterns = [
        Pattern::new((3, n), vec![0, 0, 3, 4], vec![0, 1, 3, 2]),
        Pattern::new((1, n), vec![0, 1], vec![3]),
        Pattern::new((4, n), vec![0, 2, 4, 5, 5], vec![1, 2, 0, 3, 1]),
    ];
    let inputs = patterns.map(|pattern| {
        let values = random.vector(pattern.entries());
        (pattern, values, random.vector(n), random.matrix((n, 2), true))
    });
    check_second_order(of_sparse::rule, inputs);
}
