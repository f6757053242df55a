//! Orthogonal factors, eigenvalues, singular values and determinants, on dual numbers.

use ndarray::{Array1, Array2, array};
use pullback::linalg;
use pullback::prelude::*;
use pullback::testing::{check_pushforward, check_second_order};

use super::linear_algebra::{regular_matrix, some_number};
use crate::random::Random;

/// Matrices with singular values well apart, as large as some sizes, and directions of which a few are zero.
fn matrices<const N: usize>(
    random: &mut Random,
    sizes: [(usize, usize); N],
) -> impl Iterator<Item = Array2<f64>> {
    sizes
        .map(|(m, n)| {
            let mut a = random.matrix((m, n), m.is_multiple_of(2));
            for i in 0..m.min(n) {
                a[[i, i]] += 1.5 + i as f64;
            }
            a
        })
        .into_iter()
}

const SIZES: [(usize, usize); 6] = [(4, 3), (1, 1), (2, 5), (3, 3), (3, 0), (0, 2)];

#[differentiable(dual)]
fn of_orthogonal_factor(a: &Array2<f64>, q: &mut Array2<f64>, r: &mut Array2<f64>) -> f64 {
    linalg::qr_into(q, r, a);
    some_number(&*q) * some_number(&*r) + some_number(&*r)
}

#[test]
fn orthogonal_factors() {
    let random = &mut Random(21);
    let with_factors = |(a, random): (Array2<f64>, &mut Random)| {
        let (m, n) = a.dim();
        let k = m.min(n);
        (a, random.matrix((m, k), false), random.matrix((k, n), false))
    };
    for sizes in [SIZES, [(12, 5), (5, 12), (9, 9), (1, 2), (2, 1), (17, 2)]] {
        let all: Vec<_> = matrices(random, sizes).collect();
        let inputs: Vec<_> = all.into_iter().map(|a| with_factors((a, random))).collect();
        if sizes == SIZES {
            check_second_order(of_orthogonal_factor::rule, inputs);
        } else {
            check_pushforward(of_orthogonal_factor::rule, inputs);
        }
    }
}

#[differentiable(dual)]
fn of_least_squares(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let x = linalg::lstsq(a, b);
    some_number(&x)
}

#[differentiable(dual)]
fn squares_of_residuals(a: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let x: Array1<f64> = linalg::lstsq(a, b);
    (a.dot(&x) - b).mapv(|e| e * e).sum() + x.mapv(f64::sin).sum()
}

#[test]
fn least_squares() {
    let random = &mut Random(22);
    let all: Vec<_> = matrices(random, SIZES).collect();
    let inputs: Vec<_> = all
        .into_iter()
        .map(|a| {
            let m = a.nrows();
            (a, random.matrix((m, 2), true))
        })
        .collect();
    check_second_order(of_least_squares::rule, inputs);
    let all: Vec<_> = matrices(random, [(5, 2), (2, 2), (2, 3), (20, 6)]).collect();
    let inputs: Vec<_> = all
        .into_iter()
        .map(|a| {
            let m = a.nrows();
            (a, random.vector(m))
        })
        .collect();
    check_second_order(squares_of_residuals::rule, inputs);
}

#[differentiable(dual)]
fn of_eigenvectors(a: &Array2<f64>, w: &mut Array1<f64>, v: &mut Array2<f64>) -> f64 {
    linalg::eigh_into(w, v, a);
    some_number(&*v) + w.mapv(f64::sin).sum() * v[[0, 0]]
}

#[differentiable(dual)]
fn of_eigenvalues(a: &Array2<f64>) -> f64 {
    let w: Array1<f64> = linalg::eigvalsh(a);
    w.mapv(|w| w * w * w).sum() + w[0].sin()
}

#[test]
fn eigenvalues() {
    let random = &mut Random(23);
    let symmetric = |random: &mut Random, n: usize| {
        let mut a = random.matrix((n, n), false);
        (0..n).for_each(|i| a[[i, i]] += 2.0 * i as f64);
        a
    };
    let inputs = [3, 1, 4, 2].map(|n| (symmetric(random, n), random.vector(n), random.matrix((n, n), true)));
    check_second_order(of_eigenvectors::rule, inputs);
    check_second_order(of_eigenvalues::rule, [3, 1, 5, 2].map(|n| symmetric(random, n)).map(|a| (a,)));
    check_pushforward(of_eigenvalues::rule, [(symmetric(random, 12),)]);
}

/// Their sum and their derivatives in a direction are well defined where eigenvalues are equal; what a vector does there is not.
#[test]
fn equal_eigenvalues() {
    let (a, direction) = (Array2::eye(2), array![[0.5, 0.0], [1.0, 2.0]]);
    let mut p = of_eigenvalues::pushforward();
    let (_, t) = p.value_and_pushforward(&Array2::eye(2), &array![[0.5, 0.0], [0.0, 2.0]]);
    assert!((t - (3.0 * 2.5 + 0.5 * 1.0_f64.cos())).abs() < 1e-14, "{t}");
    let (_, d, product) = p.value_gradient_and_hvp(&a, &direction);
    assert!(d.a.iter().all(|d| d.is_finite()), "{:?}", d.a);
    assert!(product.a[[0, 0]].is_nan() && product.a[[1, 1]].is_nan(), "{:?}", product.a);
    let mut p = of_eigenvectors::pushforward();
    let (w, v) = (&mut Array1::zeros(2), &mut Array2::zeros((2, 2)));
    let (_, tangent, _) =
        p.value_and_pushforward(&a, w, v, &direction, &Array1::zeros(2), &Array2::zeros((2, 2)));
    assert!(tangent.is_nan());
    // What does not change leaves them alone.
    let zero = Array2::zeros((2, 2));
    let (_, tangent, _) = p.value_and_pushforward(&a, w, v, &zero, &Array1::zeros(2), &zero);
    assert_eq!(tangent, 0.0);
}

#[differentiable(dual)]
fn of_singular_vectors(
    a: &Array2<f64>,
    u: &mut Array2<f64>,
    s: &mut Array1<f64>,
    vt: &mut Array2<f64>,
) -> f64 {
    linalg::svd_into(u, s, vt, a);
    some_number(&*u) * some_number(&*vt) + s.mapv(f64::sin).sum()
}

#[differentiable(dual)]
fn of_singular_values(a: &Array2<f64>) -> f64 {
    let s: Array1<f64> = linalg::svdvals(a);
    s.mapv(|s| s.ln() * s).sum()
}

#[test]
fn singular_values() {
    let random = &mut Random(24);
    let all: Vec<_> = matrices(random, [(4, 3), (1, 1), (2, 4), (3, 3), (2, 0), (0, 2)]).collect();
    let inputs: Vec<_> = all
        .into_iter()
        .map(|a| {
            let (m, n) = a.dim();
            let k = m.min(n);
            (a, random.matrix((m, k), false), random.vector(k), random.matrix((k, n), false))
        })
        .collect();
    check_second_order(of_singular_vectors::rule, inputs);
    let inputs: Vec<_> =
        matrices(random, [(4, 3), (1, 1), (2, 4), (3, 3), (2, 0), (0, 2)]).map(|a| (a,)).collect();
    check_second_order(of_singular_values::rule, inputs);
    check_pushforward(of_singular_values::rule, matrices(random, [(12, 5), (5, 12)]).map(|a| (a,)));
}

#[differentiable(dual)]
fn of_determinant(a: &Array2<f64>) -> f64 {
    let y = linalg::det(a);
    y * y + 3.0 * y
}

#[test]
fn determinants() {
    let random = &mut Random(25);
    let regular = [3, 1, 5, 0, 2].map(|n| (regular_matrix(random, n, false),));
    check_second_order(of_determinant::rule, regular);
    // Of rank 2 and of rank 1, where no inverse helps.
    let low_rank = |random: &mut Random, n: usize, rank: usize| {
        random.matrix((n, rank), false).dot(&random.matrix((rank, n), false))
    };
    let singular =
        [(3, 2), (3, 1), (4, 2), (2, 1), (1, 0), (4, 3)].map(|(n, rank)| (low_rank(random, n, rank),));
    check_second_order(of_determinant::rule, singular);
}

#[cfg(feature = "fft")]
mod transforms {
    use super::*;

    #[differentiable(dual)]
    fn of_transform(x: &Array2<f64>, y: &mut Array2<f64>) -> f64 {
        linalg::fft_into(y, x);
        let y = y.mapv(|y| y * y * y);
        let z: Array2<f64> = linalg::ifft(&y);
        some_number(&z)
    }

    #[differentiable(dual)]
    fn of_real_transform(x: &Array1<f64>) -> f64 {
        let y: Array2<f64> = linalg::rfft(x);
        let y = y.mapv(|y| y * y);
        let z: Array1<f64> = linalg::irfft(x.len(), &y);
        z.mapv(f64::sin).sum() + some_number(&y)
    }

    #[test]
    fn fourier() {
        let random = &mut Random(26);
        let inputs = [3, 1, 4, 0, 6].map(|n| (random.matrix((n, 2), n == 4), random.matrix((n, 2), false)));
        check_second_order(of_transform::rule, inputs);
        let inputs = [3, 1, 4, 2, 6].map(|n| (random.vector(n),));
        check_second_order(of_real_transform::rule, inputs);
    }
}
