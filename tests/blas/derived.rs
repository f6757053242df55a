//! Derived functions that call BLAS by the path of its module.

use ndarray::{Array1, Array2, array};
use pullback::blas::{self, Diag, MatrixScalar, Side, Trans, Uplo};
use pullback::prelude::*;
use pullback::testing::check_rule;

/// The logarithm of the density of a normal distribution with the covariance *L·Lᵀ*, but for a constant.
#[differentiable]
fn log_density(x: &Array1<f64>, mean: &Array1<f64>, l: &Array2<f64>) -> f64 {
    let mut z = x.clone();
    blas::axpy(-1.0, mean, &mut z);
    blas::trsv(Uplo::Lower, Trans::No, Diag::NonUnit, l, &mut z);
    let mut log_determinant = 0.0;
    for i in 0..z.len() {
        log_determinant += l[[i, i]].ln();
    }
    -0.5 * blas::dot(&z, &z) - log_determinant
}

/// That of many points, which are columns, at once.
#[differentiable]
fn log_density_of_all(x: &Array2<f64>, l: &Array2<f64>) -> f64 {
    let mut z = x.clone();
    blas::trsm(Side::Left, Uplo::Lower, Trans::No, Diag::NonUnit, 1.0, l, &mut z);
    let mut total = 0.0;
    for i in 0..z.nrows() {
        for j in 0..z.ncols() {
            total -= 0.5 * z[[i, j]] * z[[i, j]];
        }
        total -= z.ncols() as f64 * l[[i, i]].ln();
    }
    total
}

/// The Rayleigh quotient after some steps.
#[differentiable]
fn power_iteration(a: &Array2<f64>, start: &Array1<f64>, steps: usize) -> f64 {
    let mut x = start.clone();
    let mut y = Array1::zeros(start.len());
    for _ in 0..steps {
        blas::gemv(Trans::No, 1.0, a, &x, 0.0, &mut y);
        let norm = blas::nrm2(&y);
        blas::copy(&y, &mut x);
        blas::scal(1.0 / norm, &mut x);
    }
    blas::gemv(Trans::No, 1.0, a, &x, 0.0, &mut y);
    blas::dot(&x, &y) / blas::dot(&x, &x)
}

/// Some steps of conjugate gradients for *A·x = b* from 0, and the sum of what it finds.
#[differentiable]
fn conjugate_gradients(a: &Array2<f64>, b: &Array1<f64>, steps: usize) -> f64 {
    let mut x = Array1::zeros(b.len());
    let mut r = b.clone();
    let mut p = b.clone();
    let mut q = Array1::zeros(b.len());
    let mut rr = blas::dot(&r, &r);
    for _ in 0..steps {
        blas::symv(Uplo::Lower, 1.0, a, &p, 0.0, &mut q);
        let alpha = rr / blas::dot(&p, &q);
        blas::axpy(alpha, &p, &mut x);
        blas::axpy(-alpha, &q, &mut r);
        let next = blas::dot(&r, &r);
        blas::scal(next / rr, &mut p);
        blas::axpy(1.0, &r, &mut p);
        rr = next;
    }
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i] * (1.0 + 0.5 * x[i]);
    }
    total
}

/// Sums of outer products, of which one triangle is there, and products with that.
#[differentiable]
fn gram(a: &Array2<f64>, b: &Array2<f64>, ridge: f64) -> f64 {
    let mut c = Array2::zeros((a.nrows(), a.nrows()));
    blas::syrk(Uplo::Upper, Trans::No, 0.5, a, 0.0, &mut c);
    for i in 0..a.nrows() {
        c[[i, i]] += ridge;
    }
    let mut d = Array2::zeros((b.nrows(), b.ncols()));
    blas::symm(Side::Left, Uplo::Upper, ridge, &c, b, 0.0, &mut d);
    blas::trmm(Side::Left, Uplo::Upper, Trans::Yes, Diag::Unit, 1.0, &c, &mut d);
    let mut total = 0.0;
    for i in 0..d.nrows() {
        for j in 0..d.ncols() {
            total += (d[[i, j]] * 0.5).sin();
        }
    }
    total
}

/// Rotations that annihilate the second of two elements, as in a QR decomposition, and a matrix of rank one.
#[differentiable]
#[allow(clippy::ptr_arg, reason = "as a user may write it")]
fn rotated(rows: &mut Vec<Array1<f64>>, w: &Array2<f64>) -> f64 {
    let mut x = rows[0].clone();
    let mut y = rows[1].clone();
    let r = x[0].hypot(y[0]);
    let (c, s) = (x[0] / r, y[0] / r);
    blas::rot(&mut x, &mut y, c, s);
    blas::swap(&mut x, &mut y);
    let mut a = w.clone();
    blas::ger(0.7, &x, &y, &mut a);
    blas::syr(Uplo::Lower, -0.3, &y, &mut a);
    blas::trmv(Uplo::Lower, Trans::Yes, Diag::NonUnit, &a, &mut x);
    blas::scal(r, &mut rows[0]);
    blas::asum(&x) * y[0] + blas::dot(&rows[0], &rows[1])
}

/// The pivot is constant, the number that it selects is not.
#[differentiable]
fn pivot(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
    let k = blas::iamax(x);
    x[k] * y[k] + blas::nrm2(y)
}

/// For either type, and for whatever is a vector: what is passed for `&ArrayRef1`.
#[differentiable]
fn form<T: MatrixScalar>(a: &ndarray::ArrayRef2<T>, x: &ndarray::ArrayRef1<T>) -> T {
    let mut y = Array1::from_elem(x.len(), T::default());
    blas::gemv(Trans::Yes, blas::dot(x, x), a, x, blas::asum(x), &mut y);
    blas::dot(x, &y)
}

fn wave(rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| (1.3 * i as f64 - 0.7 * j as f64 + 0.4).sin())
}

fn ripple(len: usize) -> Array1<f64> {
    Array1::from_shape_fn(len, |i| (2.1 * i as f64 + 0.5).cos())
}

/// Positive definite, and a lower triangle with a positive diagonal.
fn definite(n: usize) -> Array2<f64> {
    let a = wave(n, n);
    Array2::from_shape_fn((n, n), |(i, j)| 0.2 * (a[[i, j]] + a[[j, i]]) + if i == j { 2.0 } else { 0.0 })
}

#[test]
fn of_a_normal_distribution() {
    check_rule(
        log_density::rule,
        [(ripple(3), ripple(3) * 0.5, definite(3)), (ripple(20), -ripple(20), definite(20).reversed_axes())],
    );
    check_rule(log_density_of_all::rule, [(wave(3, 4), definite(3)), (wave(20, 2), definite(20))]);
    let mut g = log_density::gradient();
    let (_, d) = g.value_and_gradient(&array![2.0], &array![1.0], &array![[2.0]]);
    // −½·((x − μ)/l)² − ln l
    assert_eq!((d.x, d.mean, d.l), (&array![-0.25], &array![0.25], &array![[-0.375]]));
}

#[test]
fn of_iterations() {
    check_rule(power_iteration::rule, [(definite(4), ripple(4), 3), (definite(7), ripple(7), 1)]);
    check_rule(conjugate_gradients::rule, [(definite(4), ripple(4), 2), (definite(6), ripple(6), 4)]);
    // As many steps as there are unknowns solve A·x = b, of which the gradient is known.
    let (a, b) = (definite(3), ripple(3));
    let mut g = conjugate_gradients::gradient();
    let (_, d) = g.value_and_gradient(&a, &b, 3);
    let (mut x, mut w) = (b.clone(), Array1::<f64>::zeros(3));
    solve(&a, &mut x);
    w.assign(&x.mapv(|x| 1.0 + x));
    solve(&a, &mut w);
    for i in 0..3 {
        assert!((d.b[i] - w[i]).abs() < 1e-10, "{} instead of {}", d.b[i], w[i]);
        for j in 0..3 {
            let expected = match i.cmp(&j) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => -w[i] * x[i],
                std::cmp::Ordering::Greater => -w[i] * x[j] - w[j] * x[i],
            };
            assert!((d.a[[i, j]] - expected).abs() < 1e-10, "{i} {j}");
        }
    }
}

/// By elimination.
fn solve(a: &Array2<f64>, b: &mut Array1<f64>) {
    let mut u = a.clone();
    for k in 0..b.len() {
        for i in k + 1..b.len() {
            let factor = u[[i, k]] / u[[k, k]];
            for j in k..b.len() {
                let above = u[[k, j]];
                u[[i, j]] -= factor * above;
            }
            b[i] -= factor * b[k];
        }
    }
    blas::trsv(Uplo::Upper, Trans::No, Diag::NonUnit, &u, b);
}

#[test]
fn of_products() {
    check_rule(gram::rule, [(wave(3, 2), wave(3, 4), 0.5), (wave(5, 6).reversed_axes(), wave(6, 1), 1.5)]);
    check_rule(
        rotated::rule,
        [(vec![ripple(3), array![0.4, -0.3, 1.0]], wave(3, 3)), (vec![ripple(1), array![0.4]], wave(1, 1))],
    );
}

#[test]
fn of_an_index() {
    check_rule(pivot::rule, [(ripple(4), ripple(4) * 0.3 + 1.0), (array![0.5], array![2.0])]);
}

#[test]
fn of_views_and_of_singles() {
    let a = wave(4, 4);
    let mut g = form::<f64>::gradient();
    let of_views = g.value_and_gradient(&a.slice(ndarray::s![..;-1, ..]), &a.column(1));
    let mut g = form::<f64>::gradient();
    let (reversed, column) = (a.slice(ndarray::s![..;-1, ..]).to_owned(), a.column(1).to_owned());
    let of_copies = g.value_and_gradient(&reversed, &column);
    assert!((of_views.0 - of_copies.0).abs() < 1e-14);
    for (found, expected) in of_views.1.a.iter().zip(of_copies.1.a) {
        assert!((found - expected).abs() < 1e-14);
    }
    for (found, expected) in of_views.1.x.iter().zip(of_copies.1.x) {
        assert!((found - expected).abs() < 1e-14);
    }
    check_rule(form::<f64>::rule, [(wave(3, 3), ripple(3)), (wave(20, 20), ripple(20))]);
    check_rule(form::<f32>::rule, [(wave(3, 3).mapv(|x| x as f32), ripple(3).mapv(|x| x as f32))]);
}
