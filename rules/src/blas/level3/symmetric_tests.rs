use ndarray::{Array2, ArrayViewMut2};

use crate::blas::specimens::{Arguments, Everywhere, Random, Tested, assert_close, naive, shadow};
use crate::blas::{Side, Trans, Uplo, symm, syrk};
use crate::{Ignored, Rule, Shadow};

/// Order of the symmetric matrix, and the other size.
const SIZES: [(usize, usize); 9] =
    [(0, 3), (3, 0), (1, 1), (2, 1), (5, 3), (1, 20), (17, 1), (33, 18), (40, 7)];

fn referenced(uplo: Uplo, (i, j): (usize, usize)) -> bool {
    match uplo {
        Uplo::Upper => i <= j,
        Uplo::Lower => i >= j,
    }
}

fn hide<T: Tested>(uplo: Uplo, mut a: ArrayViewMut2<'_, T>) {
    for (at, x) in a.indexed_iter_mut() {
        if !referenced(uplo, at) {
            *x = T::of(f64::NAN);
        }
    }
}

/// The symmetric matrix, complete.
fn complete(uplo: Uplo, a: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn(a.dim(), |(i, j)| if referenced(uplo, (i, j)) { a[[i, j]] } else { a[[j, i]] })
}

fn variants() -> impl Iterator<Item = (Side, Uplo, Trans)> {
    (0..8).map(|bits: u8| {
        (
            if bits & 1 == 0 { Side::Left } else { Side::Right },
            if bits & 2 == 0 { Uplo::Lower } else { Uplo::Upper },
            if bits & 4 == 0 { Trans::No } else { Trans::Yes },
        )
    })
}

fn check_symm<T: Tested>() {
    let random = &mut Random(21);
    for (case, (side, uplo, other)) in variants().enumerate() {
        for (number, (n, others)) in SIZES.into_iter().enumerate() {
            let (alpha, beta) = ([1.0, -1.5, 0.0][number % 3], [0.0, 1.0, 0.5, -1.0][(number + case) % 4]);
            let shape = if side == Side::Left { (n, others) } else { (others, n) };
            let active = other == Trans::No;
            let everywhere = Everywhere::<T> {
                shapes: &[((n, n), false), (shape, false), (shape, true)],
                adjust: &|i, a| {
                    if i == 0 {
                        hide(uplo, a);
                    }
                },
                call: &|arguments: &mut Arguments<T>| {
                    let ([a, b, c], [da, db, dc]) = (&mut arguments.values[..], &mut arguments.shadows[..])
                    else {
                        unreachable!("three")
                    };
                    let (a, b, alpha, beta) = (a.view(), b.view(), T::of(alpha), T::of(beta));
                    let mut primal = c.clone();
                    symm(side, uplo, alpha, &a, &b, beta, &mut primal.view_mut());
                    let mut rule = symm::<T>::rule();
                    rule.forward(symm::args(side, uplo, alpha, &a, &b, beta, &mut c.view_mut()));
                    assert_eq!(c.bits(), primal.bits(), "the forward is not the function");
                    arguments.left.push(c.f64());
                    let mut c = c.view_mut();
                    let args = symm::args(side, uplo, alpha, &a, &b, beta, &mut c);
                    let db = if active { shadow!(db) } else { Shadow::default() };
                    let shadows = (Ignored, Ignored, Ignored, shadow!(da), db, Ignored, shadow!(dc));
                    let (_, _, dalpha, _, _, dbeta, _) = rule.pullback((), args, shadows, ());
                    vec![dalpha, dbeta]
                },
                terms: n * others * 4,
            };
            let what = format!("symm {side:?} {uplo:?} {alpha} {beta}");
            for Arguments { values, left, .. } in everywhere.check(random, 3, &what) {
                let a = complete(uplo, &values[0].f64());
                let b = values[1].f64();
                let product = if side == Side::Left { naive(&a, &b) } else { naive(&b, &a) };
                let expected = product * alpha + values[2].f64() * beta;
                assert_close::<T>(&left[0], &expected, 2 * n, &what);
            }
        }
    }
}

#[test]
fn symm_in_every_layout_f64() {
    check_symm::<f64>();
}

#[test]
fn symm_in_every_layout_f32() {
    check_symm::<f32>();
}

fn check_syrk<T: Tested>() {
    let random = &mut Random(22);
    for (case, (_, uplo, trans)) in variants().enumerate() {
        for (number, (n, k)) in SIZES.into_iter().enumerate() {
            let (alpha, beta) = ([1.0, -1.5, 0.0][number % 3], [0.0, 1.0, 0.5, -1.0][(number + case) % 4]);
            let shape = if trans == Trans::No { (n, k) } else { (k, n) };
            let everywhere = Everywhere::<T> {
                shapes: &[(shape, false), ((n, n), true)],
                adjust: &|i, c| {
                    if i == 1 {
                        hide(uplo, c);
                    }
                },
                call: &|arguments: &mut Arguments<T>| {
                    let ([a, c], [da, dc]) = (&mut arguments.values[..], &mut arguments.shadows[..]) else {
                        unreachable!("two")
                    };
                    let (a, alpha, beta) = (a.view(), T::of(alpha), T::of(beta));
                    let mut primal = c.clone();
                    syrk(uplo, trans, alpha, &a, beta, &mut primal.view_mut());
                    let mut rule = syrk::<T>::rule();
                    rule.forward(syrk::args(uplo, trans, alpha, &a, beta, &mut c.view_mut()));
                    assert_eq!(c.bits(), primal.bits(), "the forward is not the function");
                    arguments.left.push(c.f64());
                    let mut c = c.view_mut();
                    let args = syrk::args(uplo, trans, alpha, &a, beta, &mut c);
                    let shadows = (Ignored, Ignored, Ignored, shadow!(da), Ignored, shadow!(dc));
                    let (_, _, dalpha, _, dbeta, _) = rule.pullback((), args, shadows, ());
                    vec![dalpha, dbeta]
                },
                terms: n * n + n * k * 4,
            };
            let what = format!("syrk {uplo:?} {trans:?} {alpha} {beta}");
            for Arguments { values, left, .. } in everywhere.check(random, 3, &what) {
                let a = values[0].f64();
                let a = if trans == Trans::No { a } else { a.reversed_axes() };
                let expected = naive(&a, &a.t().to_owned()) * alpha + values[1].f64() * beta;
                let in_triangle = |x: &Array2<f64>| {
                    Array2::from_shape_fn((n, n), |at| if referenced(uplo, at) { x[at] } else { 0.0 })
                };
                assert_close::<T>(&in_triangle(&left[0]), &in_triangle(&expected), 2 * k, &what);
            }
        }
    }
}

#[test]
fn syrk_in_every_layout_f64() {
    check_syrk::<f64>();
}

#[test]
fn syrk_in_every_layout_f32() {
    check_syrk::<f32>();
}

/// Where β is 0, what C holds does not matter; where α is 0, A and B do not.
#[test]
fn what_is_not_read_does_not_spread() {
    let nan = Array2::from_elem((40, 40), f64::NAN);
    let ones = Array2::<f64>::ones((40, 40));
    for side in [Side::Left, Side::Right] {
        let mut c = nan.clone();
        symm(side, Uplo::Upper, 1.0, &ones, &ones, 0.0, &mut c);
        assert!(c.iter().all(|&x| x == 40.0));
        symm(side, Uplo::Lower, 0.0, &nan, &nan, 0.5, &mut c);
        assert!(c.iter().all(|&x| x == 20.0));
    }
    let mut c = nan.clone();
    syrk(Uplo::Lower, Trans::No, 1.0, &ones, 0.0, &mut c);
    syrk(Uplo::Lower, Trans::No, 0.0, &nan, 0.5, &mut c);
    assert!(c.indexed_iter().all(|((i, j), &x)| if i >= j { x == 20.0 } else { x.is_nan() }));
}

#[test]
#[should_panic(expected = "symm: B is 3×2 but C is 2×3")]
fn symm_names_the_shapes() {
    let (a, b, mut c) = (Array2::<f64>::zeros((3, 3)), Array2::zeros((3, 2)), Array2::zeros((2, 3)));
    symm(Side::Left, Uplo::Lower, 1.0, &a, &b, 0.0, &mut c);
}

#[test]
#[should_panic(expected = "syrk: op(A) is 2×3 but C is 3×3")]
fn syrk_names_the_shapes() {
    let (a, mut c) = (Array2::<f64>::zeros((3, 2)), Array2::zeros((3, 3)));
    syrk(Uplo::Lower, Trans::Yes, 1.0, &a, 0.0, &mut c);
}
