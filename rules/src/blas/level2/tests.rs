use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis};

use crate::blas::specimens::{Arguments, Everywhere, Random, Tested, assert_close, naive, shadow};
use crate::blas::{Diag, Trans, Uplo, gemv, ger, symv, syr, trmv, trsv};
use crate::{Ignored, Rule, Shadow};

const SIZES: [usize; 7] = [0, 1, 2, 5, 17, 33, 70];

/// Vectors of which only a part is gathered at a time.
const LONG: [(usize, usize); 4] = [(5, 1100), (1100, 5), (6, 1024), (1025, 7)];

/// The only column of a matrix, which is how vectors of all layouts come about.
fn vector<T>(matrix: ArrayView2<'_, T>) -> ArrayView1<'_, T> {
    matrix.index_axis_move(Axis(1), 0)
}

fn vector_mut<T>(matrix: ArrayViewMut2<'_, T>) -> ArrayViewMut1<'_, T> {
    matrix.index_axis_move(Axis(1), 0)
}

macro_rules! shadow_of_vector {
    ($matrix:expr) => {
        shadow!($matrix).map(|cells| cells.index_axis_move(Axis(1), 0))
    };
}

fn referenced(uplo: Uplo, (i, j): (usize, usize)) -> bool {
    match uplo {
        Uplo::Upper => i <= j,
        Uplo::Lower => i >= j,
    }
}

fn hide<T: Tested>(uplo: Uplo, unit: bool, mut a: ArrayViewMut2<'_, T>) {
    let damped = T::of(1.0 / (a.nrows() as f64 + 1.0).sqrt());
    for (at, x) in a.indexed_iter_mut() {
        *x = match (at.0 == at.1, referenced(uplo, at)) {
            (true, _) if unit => T::of(f64::NAN),
            (true, _) => T::of(1.5) + *x * *x,
            (_, true) => *x * damped,
            _ => T::of(f64::NAN),
        };
    }
}

fn options(bits: usize) -> (Uplo, Trans, Diag) {
    (
        if bits & 1 == 0 { Uplo::Lower } else { Uplo::Upper },
        if bits & 2 == 0 { Trans::No } else { Trans::Yes },
        if bits & 4 == 0 { Diag::NonUnit } else { Diag::Unit },
    )
}

fn op(trans: Trans, a: Array2<f64>) -> Array2<f64> {
    if trans == Trans::No { a } else { a.reversed_axes() }
}

fn check_gemv<T: Tested>() {
    let random = &mut Random(31);
    for (number, (m, n)) in SIZES
        .into_iter()
        .flat_map(|m| SIZES.map(|n| (m, n)))
        .filter(|(m, n)| m + n < 90)
        .chain(LONG)
        .enumerate()
    {
        let trans = if number % 2 == 0 { Trans::No } else { Trans::Yes };
        let (alpha, beta) = ([1.0, -1.5, 0.0][number % 3], [0.0, 1.0, 0.5, -1.0][number / 3 % 4]);
        let shape = if trans == Trans::No { (m, n) } else { (n, m) };
        let everywhere = Everywhere::<T> {
            shapes: &[(shape, false), ((n, 1), false), ((m, 1), true)],
            adjust: &|_, _| (),
            call: &|arguments: &mut Arguments<T>| {
                let ([a, x, y], [da, dx, dy]) = (&mut arguments.values[..], &mut arguments.shadows[..])
                else {
                    unreachable!("three")
                };
                let (a, x, alpha, beta) = (a.view(), vector(x.view()), T::of(alpha), T::of(beta));
                let mut primal = y.clone();
                gemv(trans, alpha, &a, &x, beta, &mut vector_mut(primal.view_mut()));
                let mut rule = gemv::<T>::rule();
                rule.forward(gemv::args(trans, alpha, &a, &x, beta, &mut vector_mut(y.view_mut())));
                assert_eq!(y.bits(), primal.bits(), "the forward is not the function");
                arguments.left.push(y.f64());
                let mut y = vector_mut(y.view_mut());
                let args = gemv::args(trans, alpha, &a, &x, beta, &mut y);
                let (dx, dy) = (shadow_of_vector!(dx), shadow_of_vector!(dy));
                let shadows = (Ignored, Ignored, shadow!(da), dx, Ignored, dy);
                let (_, dalpha, _, _, dbeta, _) = rule.pullback((), args, shadows, ());
                vec![dalpha, dbeta]
            },
            terms: m * n,
        };
        let what = format!("gemv {trans:?} {alpha} {beta}");
        for Arguments { values, left, .. } in everywhere.check(random, 6, &what) {
            let product = naive(&op(trans, values[0].f64()), &values[1].f64());
            assert_close::<T>(&left[0], &(product * alpha + values[2].f64() * beta), 2 * n, &what);
        }
    }
}

#[test]
fn gemv_in_every_layout() {
    check_gemv::<f64>();
    check_gemv::<f32>();
}

fn check_ger<T: Tested>() {
    let random = &mut Random(32);
    for (number, (m, n)) in
        SIZES.into_iter().flat_map(|m| SIZES.map(|n| (m, n))).filter(|(m, n)| m + n < 90).enumerate()
    {
        let alpha = [1.0, -1.5, 0.0][number % 3];
        let everywhere = Everywhere::<T> {
            shapes: &[((m, 1), false), ((n, 1), false), ((m, n), true)],
            adjust: &|_, _| (),
            call: &|arguments: &mut Arguments<T>| {
                let ([x, y, a], [dx, dy, da]) = (&mut arguments.values[..], &mut arguments.shadows[..])
                else {
                    unreachable!("three")
                };
                let (x, y, alpha) = (vector(x.view()), vector(y.view()), T::of(alpha));
                let mut primal = a.clone();
                ger(alpha, &x, &y, &mut primal.view_mut());
                let mut rule = ger::<T>::rule();
                rule.forward(ger::args(alpha, &x, &y, &mut a.view_mut()));
                assert_eq!(a.bits(), primal.bits(), "the forward is not the function");
                arguments.left.push(a.f64());
                let mut a = a.view_mut();
                let args = ger::args(alpha, &x, &y, &mut a);
                let shadows = (Ignored, shadow_of_vector!(dx), shadow_of_vector!(dy), shadow!(da));
                vec![rule.pullback((), args, shadows, ()).0]
            },
            terms: m * n,
        };
        let what = format!("ger {alpha}");
        for Arguments { values, left, .. } in everywhere.check(random, 6, &what) {
            let product = naive(&values[0].f64(), &values[1].f64().reversed_axes());
            assert_close::<T>(&left[0], &(product * alpha + values[2].f64()), 2, &what);
        }
    }
}

#[test]
fn ger_in_every_layout() {
    check_ger::<f64>();
    check_ger::<f32>();
}

fn check_symmetric<T: Tested>() {
    let random = &mut Random(33);
    for (number, n) in SIZES.into_iter().flat_map(|n| [n; 4]).enumerate() {
        let (uplo, ..) = options(number);
        let (alpha, beta) = ([1.0, -1.5, 0.0][number % 3], [0.0, 1.0, 0.5, -1.0][number / 3 % 4]);
        let complete = |a: &Array2<f64>| {
            let element = |(i, j)| if referenced(uplo, (i, j)) { a[[i, j]] } else { a[[j, i]] };
            Array2::from_shape_fn((n, n), element)
        };
        let everywhere = Everywhere::<T> {
            shapes: &[((n, n), false), ((n, 1), false), ((n, 1), true)],
            adjust: &|i, a| {
                if i == 0 {
                    hide(uplo, false, a);
                }
            },
            call: &|arguments: &mut Arguments<T>| {
                let ([a, x, y], [da, dx, dy]) = (&mut arguments.values[..], &mut arguments.shadows[..])
                else {
                    unreachable!("three")
                };
                let (a, x, alpha, beta) = (a.view(), vector(x.view()), T::of(alpha), T::of(beta));
                let mut primal = y.clone();
                symv(uplo, alpha, &a, &x, beta, &mut vector_mut(primal.view_mut()));
                let mut rule = symv::<T>::rule();
                rule.forward(symv::args(uplo, alpha, &a, &x, beta, &mut vector_mut(y.view_mut())));
                assert_eq!(y.bits(), primal.bits(), "the forward is not the function");
                arguments.left.push(y.f64());
                let mut y = vector_mut(y.view_mut());
                let args = symv::args(uplo, alpha, &a, &x, beta, &mut y);
                let (dx, dy) = (shadow_of_vector!(dx), shadow_of_vector!(dy));
                let shadows = (Ignored, Ignored, shadow!(da), dx, Ignored, dy);
                let (_, dalpha, _, _, dbeta, _) = rule.pullback((), args, shadows, ());
                vec![dalpha, dbeta]
            },
            terms: n * n,
        };
        let what = format!("symv {uplo:?} {alpha} {beta}");
        for Arguments { values, left, .. } in everywhere.check(random, 6, &what) {
            let product = naive(&complete(&values[0].f64()), &values[1].f64());
            assert_close::<T>(&left[0], &(product * alpha + values[2].f64() * beta), 4 * n, &what);
        }

        let everywhere = Everywhere::<T> {
            shapes: &[((n, 1), false), ((n, n), true)],
            adjust: &|i, a| {
                if i == 1 {
                    hide(uplo, false, a);
                }
            },
            call: &|arguments: &mut Arguments<T>| {
                let ([x, a], [dx, da]) = (&mut arguments.values[..], &mut arguments.shadows[..]) else {
                    unreachable!("two")
                };
                let (x, alpha) = (vector(x.view()), T::of(alpha));
                let mut primal = a.clone();
                syr(uplo, alpha, &x, &mut primal.view_mut());
                let mut rule = syr::<T>::rule();
                rule.forward(syr::args(uplo, alpha, &x, &mut a.view_mut()));
                assert_eq!(a.bits(), primal.bits(), "the forward is not the function");
                arguments.left.push(a.f64());
                let mut a = a.view_mut();
                let args = syr::args(uplo, alpha, &x, &mut a);
                let shadows = (Ignored, Ignored, shadow_of_vector!(dx), shadow!(da));
                vec![rule.pullback((), args, shadows, ()).1]
            },
            terms: n * n,
        };
        let what = format!("syr {uplo:?} {alpha}");
        for Arguments { values, left, .. } in everywhere.check(random, 6, &what) {
            let x = values[0].f64();
            let expected = naive(&x, &x.t().to_owned()) * alpha + values[1].f64();
            assert!(left[0].indexed_iter().all(|(at, x)| x.is_nan() != referenced(uplo, at)));
            let in_triangle = |x: &Array2<f64>| {
                Array2::from_shape_fn((n, n), |at| if referenced(uplo, at) { x[at] } else { 0.0 })
            };
            assert_close::<T>(&in_triangle(&left[0]), &in_triangle(&expected), 2, &what);
        }
    }
}

#[test]
fn symv_and_syr_in_every_layout() {
    check_symmetric::<f64>();
    check_symmetric::<f32>();
}

macro_rules! triangular {
    ($f:ident, $random:expr, $n:ident, ($uplo:ident, $trans:ident, $diag:ident), $check:expr) => {{
        let everywhere = Everywhere::<T> {
            shapes: &[(($n, $n), false), (($n, 1), true)],
            adjust: &|i, a| {
                if i == 0 {
                    hide($uplo, $diag == Diag::Unit, a);
                }
            },
            call: &|arguments: &mut Arguments<T>| {
                let ([a, x], [da, dx]) = (&mut arguments.values[..], &mut arguments.shadows[..]) else {
                    unreachable!("two")
                };
                let a = a.view();
                let mut primal = x.clone();
                $f($uplo, $trans, $diag, &a, &mut vector_mut(primal.view_mut()));
                let mut rule = $f::<T>::rule();
                rule.forward($f::args($uplo, $trans, $diag, &a, &mut vector_mut(x.view_mut())));
                assert_eq!(x.bits(), primal.bits(), "the forward is not the function");
                arguments.left.push(x.f64());
                let mut x = vector_mut(x.view_mut());
                let args = $f::args($uplo, $trans, $diag, &a, &mut x);
                let shadows = (Ignored, Ignored, Ignored, shadow!(da), shadow_of_vector!(dx));
                let _ = rule.pullback((), args, shadows, ());
                Vec::new()
            },
            terms: $n * 2,
        };
        for Arguments { values, left, .. } in everywhere.check($random, 6, stringify!($f)) {
            $check(&values[0].f64(), &values[1].f64(), &left[0]);
        }
    }};
}

fn check_triangular<T: Tested>() {
    let random = &mut Random(34);
    for (number, n) in SIZES.into_iter().flat_map(|n| [n; 8]).enumerate() {
        let (uplo, trans, diag) = options(number);
        let dense = |a: &Array2<f64>| {
            let element = |(i, j)| match (i == j, referenced(uplo, (i, j))) {
                (true, _) if diag == Diag::Unit => 1.0,
                (_, true) => a[[i, j]],
                _ => 0.0,
            };
            op(trans, Array2::from_shape_fn((n, n), element))
        };
        let is_product = |a: &Array2<f64>, x: &Array2<f64>, left: &Array2<f64>| {
            assert_close::<T>(left, &naive(&dense(a), x), 4 * n, "trmv");
        };
        triangular!(trmv, random, n, (uplo, trans, diag), is_product);
        let is_solution = |a: &Array2<f64>, x: &Array2<f64>, left: &Array2<f64>| {
            assert_close::<T>(&naive(&dense(a), left), x, 4 * n, "trsv");
        };
        triangular!(trsv, random, n, (uplo, trans, diag), is_solution);
    }
}

#[test]
fn trmv_and_trsv_in_every_layout() {
    check_triangular::<f64>();
    check_triangular::<f32>();
}

/// Where β is 0, what y holds does not matter; where α is 0, the others do not.
#[test]
fn what_is_not_read_does_not_spread() {
    let [nan, ones] = [f64::NAN, 1.0].map(|x| Array2::from_elem((70, 70), x));
    let [nans, x] = [f64::NAN, 1.0].map(|x| Array1::from_elem(70, x));
    let mut y = nans.clone();
    gemv(Trans::No, 1.0, &ones, &x, 0.0, &mut y);
    gemv(Trans::Yes, 0.0, &nan, &nans, 0.5, &mut y);
    assert_eq!(y, Array1::from_elem(70, 35.0));
    y = nans.clone();
    symv(Uplo::Upper, 1.0, &ones, &x, 0.0, &mut y);
    symv(Uplo::Upper, 0.0, &nan, &nans, 0.5, &mut y);
    assert_eq!(y, Array1::from_elem(70, 35.0));
    let mut a = ones.clone();
    ger(0.0, &nans, &nans, &mut a);
    syr(Uplo::Lower, 0.0, &nans, &mut a);
    assert_eq!(a, ones);
}

#[test]
#[should_panic(expected = "gemv: op(A) is 2×3 but x has length 2 and y has length 3")]
fn gemv_names_the_shapes() {
    let (a, x, mut y) = (Array2::<f64>::zeros((3, 2)), Array1::zeros(2), Array1::zeros(3));
    gemv(Trans::Yes, 1.0, &a, &x, 0.0, &mut y);
}

#[test]
#[should_panic(expected = "trsv: A is 3×3 but x has length 2")]
fn trsv_names_the_shapes() {
    trsv(Uplo::Lower, Trans::No, Diag::Unit, &Array2::<f64>::zeros((3, 3)), &mut Array1::zeros(2));
}

/// The shadow of a vector that is broadcast gets the sum.
#[test]
fn broadcast_vectors() {
    let a = Array2::from_shape_fn((3, 4), |(i, j)| (i + 2 * j) as f64);
    let (one, mut y) =
        (ndarray::aview1(&[2.0]).broadcast(4).expect("any length").to_owned(), Array1::zeros(3));
    let number = [2.0];
    let x = ndarray::aview1(&number);
    let x = x.broadcast(4).expect("any length");
    assert_eq!(x, one);
    let mut rule = gemv::<f64>::rule();
    rule.forward(gemv::args(Trans::No, 1.0, &a, &x, 0.0, &mut y));
    let (mut dx, mut dy) = (Array1::<f64>::zeros(1), Array1::ones(3));
    let cells = dx.cell_view();
    let shadows = (
        Ignored,
        Ignored,
        Shadow::default(),
        Shadow::new(cells.broadcast(4).expect("any length")),
        Ignored,
        Shadow::new(dy.cell_view()),
    );
    let _ = rule.pullback((), gemv::args(Trans::No, 1.0, &a, &x, 0.0, &mut y), shadows, ());
    assert_eq!(dx[0], a.sum());
}
