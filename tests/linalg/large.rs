//! Matrices that are decomposed in blocks, by faer, or by LAPACK with the feature `openblas`: gradients along a direction, and memory.

use ndarray::{Array1, Array2};
use pullback::linalg;
use pullback::prelude::*;
use pullback::testing::allocations_in;

/// Of its own for each seed.
fn matrix(rows: usize, columns: usize, seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        let x = ((i * 7919 + j * 104729 + seed * 1299709) % 65537) as f64;
        (x * x * 1e-4).sin()
    })
}

/// The gradient along `direction` is that of central differences, and another call allocates nothing.
macro_rules! check {
    ($f:ident($a:expr, $w:expr)) => {{
        let (a, w): (Array2<f64>, Array2<f64>) = ($a, $w);
        let direction = matrix(a.nrows(), a.ncols(), 9);
        let mut g = $f::gradient();
        let (value, d) = g.value_and_gradient(&a, &w);
        assert_eq!(value, $f(&a, &w));
        let along = (d.a * &direction).sum();
        let h = 1e-6;
        let [after, before] = [h, -h].map(|h| $f(&(&a + &(&direction * h)), &w));
        let difference = (after - before) / (2.0 * h);
        let scale = difference.abs().max(1e-3 * value.abs()).max(1.0);
        assert!((along - difference).abs() < 1e-5 * scale, "{along} instead of {difference}");
        let again = allocations_in(|| _ = g.value_and_gradient(&a, &w)).1;
        assert_eq!(again, 0, "allocations of another call");
    }};
}

const N: usize = 100;

#[differentiable]
fn positive_definite(a: &Array2<f64>, #[constant] w: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut k = Array2::<f64>::zeros((n, n));
    for i in 0..n {
        k[[i, i]] = n as f64;
    }
    gemm(Trans::No, Trans::Yes, 1.0, a, a, 1.0, &mut k);
    let mut l = Array2::<f64>::zeros((n, n));
    linalg::cholesky_into(&mut l, &k);
    let mut x = Array2::<f64>::zeros((n, w.ncols()));
    linalg::solve_spd_into(&mut x, &k, w);
    weighted(&l, w) + weighted(&x, w) + linalg::logdet_spd(&k)
}

#[differentiable]
fn general(a: &Array2<f64>, #[constant] w: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut x = Array2::<f64>::zeros((n, w.ncols()));
    linalg::solve_into(&mut x, a, w);
    let mut y = Array2::<f64>::zeros((n, n));
    linalg::inv_into(&mut y, a);
    weighted(&x, w) + weighted(&y, w) + linalg::logdet(a)
}

#[differentiable]
fn triangular_factors(a: &Array2<f64>, #[constant] w: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut p = Array2::<f64>::zeros((n, n));
    let mut l = Array2::<f64>::zeros((n, n));
    let mut u = Array2::<f64>::zeros((n, n));
    linalg::lu_into(&mut p, &mut l, &mut u, a);
    weighted(&l, w) + weighted(&u, w)
}

#[differentiable]
fn orthogonal(a: &Array2<f64>, #[constant] w: &Array2<f64>) -> f64 {
    let (m, n) = (a.nrows(), a.ncols());
    let mut q = Array2::<f64>::zeros((m, n));
    let mut r = Array2::<f64>::zeros((n, n));
    linalg::qr_into(&mut q, &mut r, a);
    let mut x = Array2::<f64>::zeros((n, w.ncols()));
    linalg::lstsq_into(&mut x, a, w);
    weighted(&q, w) + (&r * &r).sum() + r[[0, n - 1]] + (&x * &x).sum()
}

/// *V·exp(diag(w)/n)·Vᵀ*, which is smooth where eigenvalues are close.
#[differentiable]
fn eigenvalues(a: &Array2<f64>, #[constant] w: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut values = Array1::<f64>::zeros(n);
    let mut vectors = Array2::<f64>::zeros((n, n));
    linalg::eigh_into(&mut values, &mut vectors, a);
    let mut scaled = Array2::<f64>::zeros((n, n));
    for i in 0..n {
        for j in 0..n {
            scaled[[i, j]] = vectors[[i, j]] * (values[j] / n as f64).exp();
        }
    }
    let mut y = Array2::<f64>::zeros((n, n));
    gemm(Trans::No, Trans::Yes, 1.0, &scaled, &vectors, 0.0, &mut y);
    weighted(&y, w)
}

/// *U·Vᵀ*, and the logarithms of the singular values.
#[differentiable]
fn singular_values(a: &Array2<f64>, #[constant] w: &Array2<f64>) -> f64 {
    let (m, n) = (a.nrows(), a.ncols());
    let mut u = Array2::<f64>::zeros((m, n));
    let mut s = Array1::<f64>::zeros(n);
    let mut vt = Array2::<f64>::zeros((n, n));
    linalg::svd_into(&mut u, &mut s, &mut vt, a);
    let mut y = Array2::<f64>::zeros((m, n));
    mul_into(&mut y, &u, &vt);
    let mut total = weighted(&y, w);
    for i in 0..n {
        total += s[i].ln();
    }
    total
}

#[differentiable]
fn weighted(x: &Array2<f64>, #[constant] w: &Array2<f64>) -> f64 {
    let mut total = 0.0;
    for i in 0..x.nrows() {
        for j in 0..x.ncols() {
            total += x[[i, j]] * w[[i, j]];
        }
    }
    total
}

/// Far enough from singular.
fn regular() -> Array2<f64> {
    matrix(N, N, 1) + Array2::<f64>::eye(N) * 20.0
}

#[test]
fn factors() {
    check!(positive_definite(matrix(N, N, 1), matrix(N, N, 2)));
    check!(general(regular(), matrix(N, N, 2)));
    check!(triangular_factors(regular(), matrix(N, N, 2)));
    check!(orthogonal(regular(), matrix(N, N, 2)));
    check!(orthogonal(matrix(N + 40, N, 1), matrix(N + 40, N, 2)));
}

#[test]
fn values() {
    check!(eigenvalues(matrix(N, N, 1), matrix(N, N, 2)));
    check!(singular_values(regular(), matrix(N, N, 2)));
    check!(singular_values(matrix(N + 40, N, 1), matrix(N + 40, N, 2)));
}

/// What is decomposed comes back as the product of its factors.
#[test]
fn in_single_precision() {
    let a = regular().mapv(|x| x as f32);
    let near = |x: &Array2<f32>, y: &Array2<f32>| {
        let off = (x - y).fold(0.0_f32, |off, x| off.max(x.abs()));
        assert!(off < 1e-3, "off by {off}");
    };
    let new = || Array2::<f32>::zeros((N, N));
    let [mut p, mut l, mut u, mut q, mut r, mut vt] = std::array::from_fn(|_| new());
    linalg::lu_into(&mut p, &mut l, &mut u, &a);
    near(&p.dot(&l).dot(&u), &a);
    linalg::qr_into(&mut q, &mut r, &a);
    near(&q.dot(&r), &a);
    let mut s = Array1::zeros(N);
    linalg::svd_into(&mut u, &mut s, &mut vt, &a);
    near(&(&u * &s).dot(&vt), &a);
    let symmetric = &a + &a.t();
    linalg::eigh_into(&mut s, &mut q, &symmetric);
    near(&(&q * &s).dot(&q.t()), &symmetric);
    let spd = a.dot(&a.t()) / 100.0;
    let l = linalg::cholesky(&spd);
    near(&l.dot(&l.t()), &spd);
    near(&spd.dot(&linalg::inv(&spd)), &Array2::eye(N));
}
