//! Each function, in both forms and for both scalar types, against the contract of rules.

use ndarray::{Array1, Array2, Axis, Ix1, Ix2};
use pullback::linalg::{self, Uplo};
use pullback::testing::CheckRule;
use pullback::{Rule, Trans};

use crate::inputs::{case, ones, pairs, single};

/// How well gradients agree with differences, relative to the largest number in the gradient.
const DOUBLE: f64 = 1e-9;
const SINGLE: f64 = 2e-3;

/// What an `_into` function finds where it writes.
fn rubbish<T: Clone, D: ndarray::Dimension>(result: &ndarray::Array<T, D>, with: T) -> ndarray::Array<T, D> {
    ndarray::Array::from_elem(result.raw_dim(), with)
}

/// A function of one matrix that returns an array.
macro_rules! of_one {
    ($($name:ident, $into:ident;)*) => {$(
        #[test]
        fn $name() {
            let allocations = case(stringify!($name)).allocations;
            let inputs = ones(stringify!($name));
            CheckRule::new(linalg::$name::<f64>::rule).tolerance(DOUBLE).allocating(allocations).inputs(inputs.iter().map(|a| (a.clone(),))).run();
            CheckRule::new(linalg::$into::<f64>::rule)
                .tolerance(DOUBLE)
                .allocating(0)
                .inputs(inputs.iter().map(|a| (rubbish(&linalg::$name(a), 7.0), a.clone())))
                .run();
            let inputs: Vec<_> = inputs.iter().map(single).collect();
            CheckRule::new(linalg::$name::<f32>::rule).tolerance(SINGLE).allocating(allocations).inputs(inputs.iter().map(|a| (a.clone(),))).run();
            CheckRule::new(linalg::$into::<f32>::rule)
                .tolerance(SINGLE)
                .allocating(0)
                .inputs(inputs.iter().map(|a| (rubbish(&linalg::$name(a), f32::NAN), a.clone())))
                .run();
        }
    )*};
}
of_one! {
    cholesky, cholesky_into;
    inv, inv_into;
    eigvalsh, eigvalsh_into;
    svdvals, svdvals_into;
    expm, expm_into;
}

/// A function of one matrix that returns a number.
macro_rules! number {
    ($($name:ident;)*) => {$(
        #[test]
        fn $name() {
            let allocations = case(stringify!($name)).allocations;
            let inputs = ones(stringify!($name));
            CheckRule::new(linalg::$name::<f64>::rule).tolerance(DOUBLE).allocating(allocations).inputs(inputs.iter().map(|a| (a.clone(),))).run();
            CheckRule::new(linalg::$name::<f32>::rule).tolerance(SINGLE).allocating(allocations).inputs(inputs.iter().map(|a| (single(a),))).run();
        }
    )*};
}
number! {
    logdet_spd;
    det;
    logdet;
}

/// A function of a matrix and right-hand sides, which may be a vector.
macro_rules! solver {
    ($($name:ident, $into:ident;)*) => {$(
        #[test]
        fn $name() {
            let allocations = case(stringify!($name)).allocations;
            let inputs = pairs(stringify!($name));
            CheckRule::new(linalg::$name::<f64, f64, Ix2>::rule).tolerance(DOUBLE).allocating(allocations).inputs(inputs.clone()).run();
            CheckRule::new(linalg::$into::<f64, f64, Ix2>::rule)
                .tolerance(DOUBLE)
                .allocating(0)
                .inputs(inputs.iter().map(|(a, b)| (rubbish(&linalg::$name(a, b), 7.0), a.clone(), b.clone())))
                .panicking((Array2::zeros((1, 1)), Array2::eye(2), Array2::zeros((2, 1))))
                .run();
            let vectors = inputs.iter().filter(|(_, b)| b.ncols() > 0);
            let vectors: Vec<_> = vectors.map(|(a, b)| (a.clone(), b.index_axis(Axis(1), 0).to_owned())).collect();
            CheckRule::new(linalg::$name::<f64, f64, Ix1>::rule).tolerance(DOUBLE).allocating(allocations)
                .inputs(vectors.clone())
                .panicking((Array2::eye(3), Array1::zeros(2)))
                .run();
            CheckRule::new(linalg::$into::<f32, f32, Ix1>::rule)
                .tolerance(SINGLE)
                .allocating(0)
                .inputs(vectors.iter().map(|(a, b)| {
                    let (a, b) = (single(a), b.mapv(|x| x as f32));
                    (rubbish(&linalg::$name(&a, &b), 7.0), a, b)
                }))
                .run();
            CheckRule::new(linalg::$name::<f32, f32, Ix2>::rule).tolerance(SINGLE).allocating(allocations)
                .inputs(inputs.iter().map(|(a, b)| (single(a), single(b))))
                .run();
        }
    )*};
}
solver! {
    cholesky_solve, cholesky_solve_into;
    solve_spd, solve_spd_into;
    solve, solve_into;
    lstsq, lstsq_into;
}

#[test]
fn solve_triangular() {
    for uplo in [Uplo::Lower, Uplo::Upper] {
        for trans in [Trans::No, Trans::Yes] {
            let inputs = pairs("solve_triangular");
            CheckRule::new(linalg::solve_triangular::<f64, f64, Ix2>::rule)
                .tolerance(DOUBLE)
                .allocating(1)
                .inputs(inputs.iter().map(|(a, b)| (uplo, trans, a.clone(), b.clone())))
                .panicking((uplo, trans, Array2::zeros((2, 2)), Array2::zeros((2, 1))))
                .run();
            let vector = |b: &Array2<f64>| b.column(0).mapv(|x| x as f32);
            CheckRule::new(linalg::solve_triangular_into::<f32, f32, Ix1>::rule)
                .tolerance(SINGLE)
                .allocating(0)
                .inputs(
                    inputs
                        .iter()
                        .filter(|(_, b)| b.ncols() > 0)
                        .map(|(a, b)| (vector(b), uplo, trans, single(a), vector(b))),
                )
                .run();
        }
    }
}

#[test]
fn kron() {
    let inputs = pairs("kron");
    CheckRule::new(linalg::kron::<f64, f64>::rule)
        .tolerance(DOUBLE)
        .allocating(1)
        .inputs(inputs.clone())
        .run();
    CheckRule::new(linalg::kron_into::<f32, f32>::rule)
        .tolerance(SINGLE)
        .allocating(0)
        .inputs(inputs.iter().map(|(a, b)| {
            let (a, b) = (single(a), single(b));
            (rubbish(&linalg::kron(&a, &b), 7.0), a, b)
        }))
        .run();
}

#[test]
fn qr() {
    let outputs = |a: &Array2<f64>| {
        let k = a.nrows().min(a.ncols());
        (Array2::zeros((a.nrows(), k)), Array2::from_elem((k, a.ncols()), 7.0))
    };
    let inputs = ones("qr_into").into_iter().map(|a| (outputs(&a).0, outputs(&a).1, a)).collect::<Vec<_>>();
    CheckRule::new(linalg::qr_into::<f64>::rule)
        .tolerance(DOUBLE)
        .allocating(0)
        .inputs(inputs.clone())
        .panicking((Array2::zeros((2, 2)), Array2::zeros((2, 2)), Array2::zeros((3, 2))))
        .run();
    CheckRule::new(linalg::qr_into::<f32>::rule)
        .tolerance(SINGLE)
        .allocating(0)
        .inputs(inputs.iter().map(|(q, r, a)| (single(q), single(r), single(a))))
        .run();
    for (mut q, mut r, a) in inputs {
        linalg::qr_into(&mut q, &mut r, &a);
        assert!((q.dot(&r) - &a).iter().all(|x| x.abs() < 1e-13));
        assert!((q.t().dot(&q) - Array2::<f64>::eye(q.ncols())).iter().all(|x| x.abs() < 1e-13));
        assert!(r.indexed_iter().all(|((i, j), &x)| if i > j { x == 0.0 } else { i < j || x >= 0.0 }));
    }
}

#[test]
fn lu() {
    let filled = |a: &Array2<f64>, with| Array2::from_elem(a.dim(), with);
    let inputs = ones("lu_into").into_iter().map(|a| (filled(&a, 7.0), filled(&a, -3.0), filled(&a, 2.0), a));
    let inputs = inputs.collect::<Vec<_>>();
    let zeros = Array2::zeros((2, 2));
    CheckRule::new(linalg::lu_into::<f64>::rule)
        .tolerance(DOUBLE)
        .allocating(0)
        .inputs(inputs.clone())
        .panicking((zeros.clone(), zeros.clone(), zeros.clone(), Array2::zeros((3, 2))))
        .panicking((zeros.clone(), zeros.clone(), Array2::zeros((2, 1)), Array2::eye(2)))
        .panicking((zeros.clone(), zeros.clone(), zeros.clone(), Array2::ones((2, 2))))
        .run();
    CheckRule::new(linalg::lu_into::<f32>::rule)
        .tolerance(SINGLE)
        .allocating(0)
        .inputs(inputs.iter().map(|(p, l, u, a)| (single(p), single(l), single(u), single(a))))
        .run();
    for (mut p, mut l, mut u, a) in inputs {
        linalg::lu_into(&mut p, &mut l, &mut u, &a);
        assert!((p.dot(&l).dot(&u) - &a).iter().all(|x| x.abs() < 1e-13));
        assert!(p.iter().all(|&x| x == 0.0 || x == 1.0) && p.dot(&p.t()) == Array2::<f64>::eye(a.nrows()));
        assert!(l.indexed_iter().all(|((i, j), &x)| if i > j {
            x.abs() <= 1.0
        } else {
            x == f64::from(i == j)
        }));
        assert!(u.indexed_iter().all(|((i, j), &x)| i <= j || x == 0.0));
    }
}

#[test]
fn eigh() {
    let inputs = ones("eigh_into").into_iter().map(|a| (Array1::zeros(a.nrows()), a.clone() * 0.0, a));
    let inputs = inputs.collect::<Vec<_>>();
    CheckRule::new(linalg::eigh_into::<f64>::rule)
        .tolerance(DOUBLE)
        .allocating(0)
        .inputs(inputs.clone())
        .panicking((Array1::zeros(1), Array2::zeros((1, 1)), Array2::from_elem((1, 1), f64::NAN)))
        .run();
    CheckRule::new(linalg::eigh_into::<f32>::rule)
        .tolerance(SINGLE)
        .allocating(0)
        .inputs(inputs.iter().map(|(w, v, a)| (w.mapv(|x| x as f32), single(v), single(a))))
        .run();
    for (mut w, mut v, a) in inputs {
        linalg::eigh_into(&mut w, &mut v, &a);
        assert!((a.dot(&v) - &v * &w).iter().all(|x| x.abs() < 1e-12));
    }
}

#[test]
fn svd() {
    let outputs = |a: &Array2<f64>| {
        let k = a.nrows().min(a.ncols());
        (Array2::zeros((a.nrows(), k)), Array1::zeros(k), Array2::zeros((k, a.ncols())))
    };
    let inputs = ones("svd_into").into_iter().map(|a| (outputs(&a), a));
    let inputs = inputs.map(|((u, s, vt), a)| (u, s, vt, a)).collect::<Vec<_>>();
    CheckRule::new(linalg::svd_into::<f64>::rule)
        .tolerance(DOUBLE)
        .allocating(0)
        .inputs(inputs.clone())
        .panicking((
            Array2::zeros((1, 1)),
            Array1::zeros(1),
            Array2::zeros((1, 1)),
            Array2::from_elem((1, 1), f64::INFINITY),
        ))
        .run();
    CheckRule::new(linalg::svd_into::<f32>::rule)
        .tolerance(SINGLE)
        .allocating(0)
        .inputs(inputs.iter().map(|(u, s, vt, a)| (single(u), s.mapv(|x| x as f32), single(vt), single(a))))
        .run();
    for (mut u, mut s, mut vt, a) in inputs {
        linalg::svd_into(&mut u, &mut s, &mut vt, &a);
        assert!(((&u * &s).dot(&vt) - &a).iter().all(|x| x.abs() < 1e-12));
    }
}

/// Approximants of all degrees, with and without squaring.
#[test]
fn exponentials_of_small_and_large_matrices() {
    let scaled =
        [1e-3, 0.02, 0.1, 0.3, 1.5, 6.0].map(|factor| (crate::inputs::ones("expm")[0].clone() * factor,));
    CheckRule::new(linalg::expm::<f64>::rule).tolerance(DOUBLE).allocating(1).inputs(scaled.clone()).run();
    for (a,) in scaled {
        let mut series = Array2::<f64>::eye(3);
        let mut term = series.clone();
        for k in 1..120 {
            term = term.dot(&a) / k as f64;
            series += &term;
        }
        let size = series.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        assert!((linalg::expm(&a) - series).iter().all(|x| x.abs() < 1e-12 * size));
    }
}

/// The messages name the function.
#[test]
fn panics() {
    fn message(f: impl FnOnce() + std::panic::UnwindSafe) -> String {
        *std::panic::catch_unwind(f).expect_err("a panic").downcast::<String>().expect("a message")
    }
    let a = || ndarray::array![[1.0, 2.0], [2.0, 1.0]];
    assert!(
        message(move || drop(linalg::cholesky(&a())))
            .contains("cholesky: the matrix is not positive definite")
    );
    let nan = || a() * f64::NAN;
    assert!(
        message(move || drop(linalg::cholesky(&nan())))
            .contains("cholesky: the matrix is not positive definite")
    );
    assert!(
        message(|| drop(linalg::inv(&Array2::<f64>::ones((2, 2))))).contains("inv: the matrix is singular")
    );
    assert!(message(|| drop(linalg::inv(&Array2::<f64>::ones((2, 3))))).contains("inv: the matrix is 2×3"));
    assert!(
        message(|| drop(linalg::lstsq(&Array2::<f64>::ones((3, 2)), &Array1::ones(3))))
            .contains("lstsq: the rank")
    );
    let mut l = Array2::<f64>::zeros((3, 2));
    assert!(
        message(move || linalg::cholesky_into(&mut l, &Array2::eye(2)))
            .contains("cholesky_into: the result has")
    );
    let mut rule = linalg::cholesky::<f64>::rule();
    let (good, bad) = (Array2::<f64>::eye(2), a());
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| rule.forward((&bad,)))).is_err());
    assert_eq!(rule.forward((&good,)).0, good);
}
