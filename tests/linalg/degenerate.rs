//! Equal eigenvalues and singular values, singular matrices: the right gradient, or one that is not a number; never a wrong one.

use ndarray::{Array1, Array2, array};
use pullback::linalg;
use pullback::prelude::*;

use crate::inputs::noise;

/// *tr(C·V·diag(w)·Vᵀ)*, which is *tr(C·A)*, by way of eigenvectors.
#[differentiable]
fn by_vectors(a: &Array2<f64>, #[constant] c: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut w = Array1::<f64>::zeros(n);
    let mut v = Array2::<f64>::zeros((n, n));
    linalg::eigh_into(&mut w, &mut v, a);
    let mut total = 0.0;
    for i in 0..n {
        for j in 0..n {
            let mut entry = 0.0;
            for k in 0..n {
                entry += v[[i, k]] * w[k] * v[[j, k]];
            }
            total += c[[i, j]] * entry;
        }
    }
    total
}

/// *Σ wᵢ³*, which is *tr(A³)*, by way of eigenvalues.
#[differentiable]
fn by_values(a: &Array2<f64>) -> f64 {
    let w = linalg::eigvalsh(a);
    let mut total = 0.0;
    for i in 0..w.len() {
        total += w[i] * w[i] * w[i];
    }
    total
}

/// One entry of one vector.
#[differentiable]
fn entry_of_a_vector(a: &Array2<f64>, k: usize) -> f64 {
    let n = a.nrows();
    let mut w = Array1::<f64>::zeros(n);
    let mut v = Array2::<f64>::zeros((n, n));
    linalg::eigh_into(&mut w, &mut v, a);
    v[[0, k]] + w[k]
}

/// *Q·diag(w)·Qᵀ*
fn with_eigenvalues(w: &[f64]) -> Array2<f64> {
    let n = w.len();
    let (mut q, mut r) = (Array2::zeros((n, n)), Array2::zeros((n, n)));
    linalg::qr_into(&mut q, &mut r, &Array2::from_shape_fn((n, n), |(i, j)| noise(3, i, j)));
    (&q * &Array1::from(w.to_vec())).dot(&q.t())
}

/// The gradient with respect to the lower triangle of a symmetric matrix, given that with respect to all of it.
fn folded(full: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn(full.dim(), |(i, j)| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => full[[i, i]],
        std::cmp::Ordering::Greater => full[[i, j]] + full[[j, i]],
    })
}

fn largest(a: &Array2<f64>) -> f64 {
    a.iter().fold(0.0_f64, |m, x| if x.is_nan() { f64::NAN } else { m.max(x.abs()) })
}

fn with_equal_eigenvalues() -> [Array2<f64>; 5] {
    [
        with_eigenvalues(&[1.0, 2.0, 2.0, 3.0]),
        with_eigenvalues(&[2.0, 2.0, 2.0, 2.0]),
        Array2::eye(4) * 3.0,
        Array2::zeros((4, 4)),
        with_eigenvalues(&[-1.0, 1.0, 1.0, 1.0 + 1e-15]),
    ]
}

/// What treats eigenvalues alike has its gradient, whichever basis has been found.
#[test]
fn functions_of_equal_eigenvalues() {
    let mut g = by_values::gradient();
    for a in with_equal_eigenvalues() {
        let (_, d) = g.value_and_gradient(&a);
        let error = largest(&(d.a - &folded(&(3.0 * a.dot(&a)))));
        assert!(error < 1e-12, "{error:e} for {a}");
    }
}

/// The gradient does not follow from those with respect to values and vectors, and is no number; not only part of what it should be.
#[test]
fn vectors_of_equal_eigenvalues() {
    let mut g = by_vectors::gradient();
    let c = Array2::from_shape_fn((4, 4), |(i, j)| if i == j { 0.0 } else { noise(5, i, j) });
    for a in with_equal_eigenvalues() {
        assert!(g.value_and_gradient(&a, &c).1.a.iter().any(|x| x.is_nan()), "{a}");
    }
    // The rule is as good as new.
    let a = with_eigenvalues(&[1.0, 2.0, 2.1, 3.0]);
    let error = largest(&(g.value_and_gradient(&a, &c).1.a - &folded(&c)));
    assert!(error < 1e-13, "{error:e}");

    let mut g = entry_of_a_vector::gradient();
    assert!(g.value_and_gradient(&Array2::eye(3), 0).1.a.iter().any(|x| x.is_nan()));
    assert!(g.value_and_gradient(&a, 0).1.a.iter().all(|x| x.is_finite()));
}

/// Close to each other: the gradient is that of a reasonable computation, or none.
#[test]
fn nearly_equal_eigenvalues() {
    let mut g = by_vectors::gradient();
    let c = Array2::from_shape_fn((4, 4), |(i, j)| noise(5, i, j));
    for gap in [1e-4, 1e-6, 1e-8, 1e-10, 1e-12] {
        let a = with_eigenvalues(&[1.0, 2.0, 2.0 + gap, 3.0]);
        let error = largest(&(g.value_and_gradient(&a, &c).1.a - &folded(&c)));
        assert!(error < 1e-14 / gap, "{error:e} for {gap:e}");
    }
}

/// *‖A‖²* by way of all singular vectors: *Σ Aᵢⱼ·(U·S·Vᵀ)ᵢⱼ*.
#[differentiable]
fn norm_by_vectors(a: &Array2<f64>, #[constant] c: &Array2<f64>) -> f64 {
    let (m, n) = (a.nrows(), a.ncols());
    let k = if m < n { m } else { n };
    let mut u = Array2::<f64>::zeros((m, k));
    let mut s = Array1::<f64>::zeros(k);
    let mut vt = Array2::<f64>::zeros((k, n));
    linalg::svd_into(&mut u, &mut s, &mut vt, a);
    let mut total = 0.0;
    for i in 0..m {
        for j in 0..n {
            let mut entry = 0.0;
            for l in 0..k {
                entry += u[[i, l]] * s[l] * vt[[l, j]];
            }
            total += c[[i, j]] * entry * entry;
        }
    }
    total
}

#[differentiable]
fn entry_of_u(a: &Array2<f64>) -> f64 {
    let (m, n) = (a.nrows(), a.ncols());
    let mut u = Array2::<f64>::zeros((m, n));
    let mut s = Array1::<f64>::zeros(n);
    let mut vt = Array2::<f64>::zeros((n, n));
    linalg::svd_into(&mut u, &mut s, &mut vt, a);
    u[[0, 0]]
}

/// *Σ sᵢ⁴*
#[differentiable]
fn by_singular_values(a: &Array2<f64>) -> f64 {
    let s = linalg::svdvals(a);
    let mut total = 0.0;
    for i in 0..s.len() {
        total += s[i] * s[i] * s[i] * s[i];
    }
    total
}

#[test]
fn equal_singular_values() {
    let (mut by_values, mut by_vectors) = (by_singular_values::gradient(), norm_by_vectors::gradient());
    let tall = array![[2.0, 0.0], [0.0, 2.0], [0.0, 0.0]];
    let zeros = array![[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]];
    let no_rank = array![[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]];
    let singular = array![[1.0, 2.0], [2.0, 4.0]];
    let q = with_eigenvalues(&[1.0, -1.0, 1.0]);
    for a in [
        &q * 0.0,
        q,
        tall.clone(),
        tall.reversed_axes(),
        zeros,
        no_rank.clone(),
        no_rank.reversed_axes(),
        singular,
    ] {
        let (_, d) = by_values.value_and_gradient(&a);
        let error = largest(&(d.a - &(4.0 * a.dot(&a.t()).dot(&a))));
        assert!(error < 1e-11, "{error:e} for {a}");
        let c = Array2::from_shape_fn(a.dim(), |(i, j)| noise(5, i, j));
        assert!(by_vectors.value_and_gradient(&a, &c).1.a.iter().any(|x| x.is_nan()), "{a}");
    }
    let a = array![[1.0, 2.0], [2.0, -4.0], [3.0, 6.0]];
    let c = Array2::from_shape_fn(a.dim(), |(i, j)| noise(5, i, j));
    for (a, c) in [(a.clone(), c.clone()), (a.reversed_axes(), c.reversed_axes())] {
        let error = largest(&(by_vectors.value_and_gradient(&a, &c).1.a - &(2.0 * &c * &a)));
        assert!(error < 1e-12, "{error:e} for {a}");
    }
    let mut g = entry_of_u::gradient();
    assert!(g.value_and_gradient(&Array2::eye(3)).1.a.iter().any(|x| x.is_nan()));
}

/// The determinant of a singular matrix has a gradient: the cofactors.
#[test]
fn determinants_of_singular_matrices() {
    #[differentiable]
    fn determinant(a: &Array2<f64>) -> f64 {
        linalg::det(a)
    }

    let mut g = determinant::gradient();
    let singular = array![[1.0, 2.0, 3.0], [2.0, 4.0, 6.5], [3.0, 6.0, 1.0]];
    let rank_one = array![[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 6.0, 9.0]];
    for a in
        [singular, rank_one, Array2::zeros((3, 3)), array![[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]
    {
        let cofactor = |i: usize, j: usize| {
            let b = |k: usize, l: usize| a[[(i + k) % 3, (j + l) % 3]];
            b(1, 1) * b(2, 2) - b(1, 2) * b(2, 1)
        };
        let (value, d) = g.value_and_gradient(&a);
        assert!(value.abs() < 1e-13, "{value} for {a}");
        let error = d.a - &Array2::from_shape_fn((3, 3), |(i, j)| cofactor(i, j));
        assert!(error.iter().all(|x| x.abs() < 1e-13), "{error} for {a}");
    }
    assert_eq!(g.value_and_gradient(&array![[0.0]]).1.a, array![[1.0]]);
}

/// Where there is no gradient, what comes out is no number.
#[test]
fn no_gradient() {
    #[differentiable]
    fn log_determinant(a: &Array2<f64>) -> f64 {
        linalg::logdet(a)
    }

    let mut g = log_determinant::gradient();
    for a in [Array2::ones((2, 2)), Array2::ones((20, 20)), Array2::zeros((3, 3))] {
        let (value, d) = g.value_and_gradient(&a);
        assert_eq!(value, f64::NEG_INFINITY);
        assert!(d.a.iter().all(|x| !x.is_finite()));
        assert_eq!(linalg::det(&a), 0.0);
    }
    assert!(linalg::det(&array![[0.0, f64::NAN], [0.0, 1.0]]).is_nan());
}
