//! Rules of vectors and matrices on dual numbers.

use ndarray::{Array1, Array2, Array3};
use pullback::blas::{self, Diag, Side, Trans, Uplo, general_mat_mul, general_mat_vec_mul};
use pullback::prelude::*;
use pullback::testing::{check_pushforward, check_second_order};

use crate::random::Random;

/// A triangular matrix that is easily solved with.
fn triangle(random: &mut Random, n: usize) -> Array2<f64> {
    let mut matrix = random.matrix((n, n), n.is_multiple_of(2));
    matrix.diag_mut().map_inplace(|x| *x += 3.0);
    matrix
}

/// The sizes of a product: both that are small and that are not, and with a single row or column.
const SIZES: [(usize, usize, usize); 7] =
    [(2, 3, 4), (1, 1, 1), (5, 1, 2), (0, 2, 2), (3, 3, 0), (17, 1, 3), (2, 18, 17)];

fn products(random: &mut Random) -> impl Iterator<Item = [Array2<f64>; 3]> {
    SIZES.into_iter().enumerate().map(|(i, (m, n, k))| {
        let bit = |bit: usize| i >> bit & 1 == 1;
        [random.matrix((m, n), bit(2)), random.matrix((m, k), bit(0)), random.matrix((k, n), bit(1))]
    })
}

#[differentiable(dual)]
fn product(c: &mut Array2<f64>, a: &Array2<f64>, b: &Array2<f64>) {
    mul_into(c, a, b);
}

/// Not linear in any of the matrices.
#[differentiable(dual)]
fn of_product(c: &mut Array2<f64>, a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    mul_into(c, a, b);
    let mut total = 0.0;
    for i in 0..c.nrows() {
        for j in 0..c.ncols() {
            total += (c[[i, j]] + 0.5 * (i + j) as f64).sin();
        }
    }
    total
}

#[test]
fn products_of_matrices() {
    let random = &mut Random(1);
    check_pushforward(product::rule, products(random).map(|[c, a, b]| (c, a, b)));
    check_second_order(of_product::rule, products(random).map(|[c, a, b]| (c, a, b)));
}

#[differentiable(dual)]
fn of_gemm(
    #[constant] trans: [Trans; 2],
    alpha: f64,
    a: &Array2<f64>,
    b: &Array2<f64>,
    beta: f64,
    c: &mut Array2<f64>,
) {
    gemm(trans[0], trans[1], alpha, a, b, beta, c);
}

/// Factors that are zero, and change even so; and those that are constants.
#[differentiable(dual)]
fn of_two_gemms(alpha: f64, a: &Array2<f64>, b: &Array2<f64>, beta: f64, c: &mut Array2<f64>) -> f64 {
    gemm(Trans::No, Trans::No, alpha * alpha, a, b, beta, c);
    gemm(Trans::No, Trans::No, 0.5, a, b, -1.0, c);
    let mut total = 0.0;
    for i in 0..c.nrows() {
        for j in 0..c.ncols() {
            total += c[[i, j]] * c[[i, j]] * (1 + i + 2 * j) as f64;
        }
    }
    total
}

#[test]
fn general_products() {
    let random = &mut Random(2);
    let factors = [1.0, 0.0, -1.5];
    let mut inputs = Vec::new();
    for (i, (m, n, k)) in SIZES.into_iter().enumerate() {
        let trans = [i % 2, i / 2 % 2].map(|bit| if bit == 1 { Trans::Yes } else { Trans::No });
        let shape = |trans, rows, columns| if trans == Trans::No { (rows, columns) } else { (columns, rows) };
        let a = random.matrix(shape(trans[0], m, k), i % 3 == 0);
        let b = random.matrix(shape(trans[1], k, n), i % 3 == 1);
        let c = random.matrix((m, n), i % 3 == 2);
        inputs.push((trans, factors[i % 3], a, b, factors[i / 2 % 3], c));
    }
    check_pushforward(of_gemm::rule, inputs);
    let inputs =
        products(random).enumerate().map(|(i, [c, a, b])| (factors[i % 3], a, b, factors[i / 2 % 3], c));
    check_second_order(of_two_gemms::rule, inputs.collect::<Vec<_>>());
}

/// What BLAS does not read may be anything.
#[test]
fn what_is_multiplied_by_zero() {
    let mut p = of_gemm::pushforward();
    let (a, b, nan) = (Array2::ones((2, 2)), Array2::ones((2, 2)), Array2::from_elem((2, 2), f64::NAN));
    let (mut c, zero) = (nan.clone(), Array2::zeros((2, 2)));
    let none = [Trans::No; 2];
    let tangents = p.value_and_pushforward(none, 3.0, &a, &b, 0.0, &mut c, 1.0, &zero, &zero, 0.0, &zero);
    assert_eq!((tangents.c, &c), (&Array2::from_elem((2, 2), 2.0), &Array2::from_elem((2, 2), 6.0)));
    // The derivative with respect to a factor of 0 is what is multiplied by it.
    let tangents = p.value_and_pushforward(none, 0.0, &a, &b, 2.0, &mut c, 1.0, &zero, &zero, 1.0, &zero);
    assert_eq!((tangents.c[[0, 1]], c[[0, 1]]), (2.0 + 6.0, 12.0));
}

/// ndarray's own products.
#[differentiable(dual)]
fn of_general(
    alpha: f64,
    a: &Array2<f64>,
    b: &Array2<f64>,
    beta: f64,
    c: &mut Array2<f64>,
    x: &mut Array1<f64>,
) -> f64 {
    general_mat_mul(alpha, a, b, beta, c);
    general_mat_mul(0.5, b, a, 1.0, c);
    let mut y = a.row(0).to_owned();
    general_mat_vec_mul(beta, c, x, 0.25, &mut y);
    blas::dot(&y, &y) + blas::dot(&y, &*x)
}

#[test]
fn products_of_ndarray() {
    let random = &mut Random(6);
    let inputs = [2, 1, 5].map(|n| {
        let [a, b, c] = [(); 3].map(|()| random.matrix((n, n), n.is_multiple_of(2)));
        (0.7, a, b, -0.5, c, random.vector(n))
    });
    check_second_order(of_general::rule, inputs);
}

#[differentiable(dual)]
fn of_batches(alpha: f64, a: &Array3<f64>, b: &Array3<f64>, beta: f64, c: &mut Array3<f64>) {
    blas::gemm_batched(Trans::No, Trans::Yes, alpha, a, b, beta, c);
}

#[test]
fn batches_of_products() {
    let random = &mut Random(3);
    let mut stack = |shape| Array3::from_shape_simple_fn(shape, || random.next());
    let inputs = [
        (1.5, stack((2, 3, 4)), stack((2, 2, 4)), -0.5, stack((2, 3, 2))),
        (0.0, stack((1, 3, 4)), stack((3, 2, 4)), 1.0, stack((3, 3, 2))),
    ];
    check_pushforward(of_batches::rule, inputs);
}

#[differentiable(dual)]
fn of_vectors(alpha: f64, a: &Array2<f64>, x: &mut Array1<f64>, y: &mut Array1<f64>, c: f64, s: f64) -> f64 {
    blas::gemv(Trans::No, alpha, a, x, -0.5, y);
    blas::gemv(Trans::Yes, 0.25, a, y, alpha, x);
    blas::axpy(alpha, x, y);
    blas::scal(c, x);
    blas::rot(x, y, c, s);
    blas::swap(x, y);
    let inner = blas::dot(&*x, &*y) * blas::nrm2(&*x);
    blas::copy(y, x);
    inner + blas::asum(&*x) * s
}

#[differentiable(dual)]
fn of_updates(
    #[constant] uplo: Uplo,
    alpha: f64,
    x: &Array1<f64>,
    y: &mut Array1<f64>,
    a: &mut Array2<f64>,
) -> f64 {
    blas::ger(alpha, x, y, a);
    blas::syr(uplo, alpha, x, a);
    blas::symv(uplo, alpha, a, x, 0.5, y);
    blas::dot(&*y, &*y)
}

#[test]
fn vectors() {
    let random = &mut Random(4);
    let inputs = [3, 1, 5, 18].map(|n| {
        let a = random.matrix((n, n), n.is_multiple_of(2));
        (0.7, a, random.vector(n), random.vector(n), 0.8, -0.6)
    });
    check_pushforward(of_vectors::rule, inputs[3..].iter().cloned());
    check_second_order(of_vectors::rule, inputs[..3].iter().cloned());
    let uplos = [Uplo::Lower, Uplo::Upper];
    let inputs = [3, 4, 1, 18].map(|n| {
        let (x, y) = (random.vector(n), random.vector(n));
        (uplos[n % 2], 0.7, x, y, random.matrix((n, n), n.is_multiple_of(3)))
    });
    check_pushforward(of_updates::rule, inputs[3..].iter().cloned());
    check_second_order(of_updates::rule, inputs[..3].iter().cloned());
}

/// How a triangular matrix is meant.
type Form = (Side, Uplo, Trans, Diag);

#[differentiable(dual)]
fn of_triangles(
    #[constant] form: Form,
    alpha: f64,
    a: &Array2<f64>,
    b: &mut Array2<f64>,
    x: &mut Array1<f64>,
) -> f64 {
    blas::trsm(form.0, form.1, form.2, form.3, alpha, a, b);
    blas::trmm(form.0, form.1, form.2, form.3, 0.5, a, b);
    blas::trsv(form.1, form.2, form.3, a, x);
    blas::trmv(form.1, form.2, form.3, a, x);
    blas::trsv(form.1, form.2, form.3, a, x);
    let mut total = blas::dot(&*x, &*x);
    for i in 0..b.nrows() {
        for j in 0..b.ncols() {
            total += b[[i, j]] * b[[i, j]];
        }
    }
    total
}

#[differentiable(dual)]
fn of_symmetric(
    #[constant] uplo: Uplo,
    alpha: f64,
    a: &Array2<f64>,
    b: &Array2<f64>,
    c: &mut Array2<f64>,
) -> f64 {
    blas::symm(Side::Left, uplo, alpha, a, b, 0.5, c);
    blas::syrk(uplo, Trans::No, alpha, b, 0.5, c);
    let mut total = 0.0;
    for i in 0..c.nrows() {
        for j in 0..c.ncols() {
            total += c[[i, j]] * c[[i, j]];
        }
    }
    total
}

#[test]
fn triangles() {
    let random = &mut Random(5);
    let mut inputs = Vec::new();
    for variant in 0..16 {
        let bit = |i: usize| variant >> i & 1 == 1;
        let form = (
            if bit(0) { Side::Left } else { Side::Right },
            if bit(1) { Uplo::Upper } else { Uplo::Lower },
            if bit(2) { Trans::Yes } else { Trans::No },
            if bit(3) { Diag::Unit } else { Diag::NonUnit },
        );
        let (n, others) = [(3, 2), (1, 1), (2, 5), (4, 0), (5, 3)][variant % 5];
        let b = random.matrix(if bit(0) { (n, others) } else { (others, n) }, variant % 3 == 0);
        inputs.push((form, [1.0, 0.0, -1.5][variant % 3], triangle(random, n), b, random.vector(n)));
    }
    check_second_order(of_triangles::rule, inputs);
    let form = (Side::Left, Uplo::Lower, Trans::No, Diag::NonUnit);
    let large = (form, 1.5, triangle(random, 20), random.matrix((20, 2), false), random.vector(20));
    check_pushforward(of_triangles::rule, [large]);
    let inputs = [(Uplo::Lower, 3), (Uplo::Upper, 4), (Uplo::Lower, 9)].map(|(uplo, n)| {
        let [a, b, c] = [(); 3].map(|()| random.matrix((n, n), n.is_multiple_of(2)));
        (uplo, 0.7, a, b, c)
    });
    check_second_order(of_symmetric::rule, inputs);
}
