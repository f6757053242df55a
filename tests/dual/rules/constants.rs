//! Linear algebra of dual numbers together with constants.

use ndarray::{Array1, Array2};
use pullback::linalg::{self, Pattern, Uplo};
use pullback::prelude::*;
use pullback::testing::check_second_order;
use pullback::{Trans, blas};

use super::linear_algebra::{regular_matrix, some_number};
use crate::random::Random;

/// Minus the logarithm of the marginal likelihood of a Gaussian process with a squared exponential kernel, but for a constant
/// (Rasmussen & Williams, *Gaussian Processes for Machine Learning*, 2006, eq. 5.8).
#[differentiable(dual)]
fn evidence(scales: [f64; 3], #[constant] x: &Array1<f64>, #[constant] y: &Array1<f64>) -> f64 {
    let n = x.len();
    let mut k = Array2::<f64>::zeros((n, n));
    for i in 0..n {
        for j in 0..n {
            let r = (x[i] - x[j]) / scales[0].exp();
            k[[i, j]] = (2.0 * scales[1] - 0.5 * r * r).exp();
        }
        k[[i, i]] += (2.0 * scales[2]).exp();
    }
    let l = linalg::cholesky(&k);
    let z = linalg::solve_triangular(Uplo::Lower, Trans::No, &l, y);
    let alpha: Array1<f64> = linalg::cholesky_solve(&l, y);
    let again: Array1<f64> = linalg::solve_spd(&k, y);
    0.25 * blas::dot(&z, &z) + 0.25 * alpha.dot(y) + 0.125 * again.dot(&alpha) + 0.5 * linalg::logdet_spd(&k)
}

#[test]
fn gaussian_processes() {
    let random = &mut Random(31);
    let inputs = [4, 1, 7].map(|n| ([0.3, 0.1, -0.5], random.vector(n), random.vector(n)));
    check_second_order(evidence::rule, inputs);
}

/// Right-hand sides of constants.
#[differentiable(dual)]
fn to_constants(a: &Array2<f64>, tall: &Array2<f64>, #[constant] b: &Array2<f64>) -> f64 {
    let x = linalg::solve(a, b);
    let y = linalg::lstsq(tall, b);
    let z = linalg::lstsq(&tall.t(), &y);
    let k = linalg::kron(&z, b);
    some_number(&x) * some_number(&y) + some_number(&k)
}

#[test]
fn right_hand_sides() {
    let random = &mut Random(32);
    let inputs = [3, 2, 4].map(|n| {
        let mut tall = random.matrix((n, 2), false);
        (0..2).for_each(|i| tall[[i, i]] += 2.0);
        (regular_matrix(random, n, false), tall, random.matrix((n, 2), true))
    });
    check_second_order(to_constants::rule, inputs);
}

#[differentiable(dual)]
fn sparse(
    #[constant] pattern: &Pattern,
    #[constant] load: &Array1<f64>,
    values: &Array1<f64>,
    #[constant] x: &Array1<f64>,
) -> f64 {
    let y: Array1<f64> = linalg::sparse_mul(pattern, values, x);
    let z: Array1<f64> = linalg::sparse_mul_transposed(pattern, values, load);
    y.mapv(f64::sin).sum() * z.mapv(f64::exp).sum()
}

#[test]
fn sparse_matrices() {
    let random = &mut Random(33);
    let inputs =
        [Pattern::new((3, 4), vec![0, 0, 3, 4], vec![0, 1, 3, 2]), Pattern::new((1, 4), vec![0, 1], vec![3])]
            .map(|pattern| {
                let (rows, entries) = (pattern.rows(), pattern.entries());
                (pattern, random.vector(rows), random.vector(entries), random.vector(4))
            });
    check_second_order(sparse::rule, inputs);
}
