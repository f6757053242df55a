use ndarray::{Array2, ArrayViewMut2};

use crate::blas::specimens::{Arguments, Everywhere, Random, Tested, assert_close, naive, shadow};
use crate::blas::{Diag, Side, Trans, Uplo, trmm, trsm};
use crate::{Ignored, Rule, Shadow};

type Variant = (Side, Uplo, Trans, Diag);

fn variants() -> impl Iterator<Item = Variant> {
    (0..16).map(|bits: u8| {
        (
            if bits & 1 == 0 { Side::Left } else { Side::Right },
            if bits & 2 == 0 { Uplo::Lower } else { Uplo::Upper },
            if bits & 4 == 0 { Trans::No } else { Trans::Yes },
            if bits & 8 == 0 { Diag::NonUnit } else { Diag::Unit },
        )
    })
}

/// Order of the triangular matrix, and rows or columns of the other one.
const SIZES: [(usize, usize); 11] =
    [(0, 3), (3, 0), (1, 1), (2, 1), (5, 3), (1, 40), (16, 16), (17, 1), (33, 18), (40, 7), (70, 35)];

fn referenced(uplo: Uplo, diag: Diag, (i, j): (usize, usize)) -> bool {
    match (i == j, uplo) {
        (true, _) => diag == Diag::NonUnit,
        (_, Uplo::Upper) => i < j,
        (_, Uplo::Lower) => i > j,
    }
}

/// Well conditioned where it is referenced, NaN elsewhere.
fn make_triangular<T: Tested>((_, uplo, _, diag): Variant, mut a: ArrayViewMut2<'_, T>) {
    let damped = T::of(1.0 / (a.nrows() as f64 + 1.0).sqrt());
    for (at, x) in a.indexed_iter_mut() {
        *x = match (referenced(uplo, diag, at), at.0 == at.1) {
            (false, _) => T::of(f64::NAN),
            (true, true) => T::of(1.5) + *x * *x,
            (true, false) => *x * damped,
        };
    }
}

/// op(A), complete.
fn dense((_, uplo, trans, diag): Variant, a: &Array2<f64>) -> Array2<f64> {
    let mut dense = Array2::eye(a.nrows());
    for (at, x) in dense.indexed_iter_mut() {
        if referenced(uplo, diag, at) {
            *x = a[at];
        } else if at.0 != at.1 || diag == Diag::NonUnit {
            *x = 0.0;
        }
    }
    if trans == Trans::Yes { dense.reversed_axes() } else { dense }
}

fn oriented(side: Side, b: Array2<f64>) -> Array2<f64> {
    if side == Side::Left { b } else { b.reversed_axes() }
}

/// op(A)·B or B·op(A)
fn naive_product(variant: Variant, a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    match variant.0 {
        Side::Left => naive(&dense(variant, a), b),
        Side::Right => naive(b, &dense(variant, a)),
    }
}

macro_rules! call {
    ($f:ident, $variant:ident, $alpha:expr, $active:expr) => {
        &|arguments: &mut Arguments<T>| {
            let (side, uplo, trans, diag) = $variant;
            let ([a, b], [da, db]) = (&mut arguments.values[..], &mut arguments.shadows[..]) else {
                unreachable!("two")
            };
            let a = a.view();
            let mut primal = b.clone();
            $f(side, uplo, trans, diag, $alpha, &a, &mut primal.view_mut());
            let mut rule = $f::<T>::rule();
            rule.forward($f::args(side, uplo, trans, diag, $alpha, &a, &mut b.view_mut()));
            assert_eq!(b.bits(), primal.bits(), "the forward is not the function");
            arguments.left.push(b.f64());
            let mut b = b.view_mut();
            let args = $f::args(side, uplo, trans, diag, $alpha, &a, &mut b);
            let da = if $active { shadow!(da) } else { Shadow::default() };
            let shadows = (Ignored, Ignored, Ignored, Ignored, Ignored, da, shadow!(db));
            let (.., dalpha, (), ()) = rule.pullback((), args, shadows, ());
            vec![dalpha]
        }
    };
}

fn shapes(side: Side, (n, others): (usize, usize)) -> [((usize, usize), bool); 2] {
    let b = if side == Side::Left { (n, others) } else { (others, n) };
    [((n, n), false), (b, true)]
}

/// All variants in all layouts, with a NaN wherever nothing is to be read.
fn check_trsm<T: Tested>() {
    let random = &mut Random(11);
    for variant in variants() {
        for (number, size) in SIZES.into_iter().enumerate() {
            let alpha = T::of([1.0, -1.5, 0.0][number % 3]);
            let shapes = shapes(variant.0, size);
            let everywhere = Everywhere {
                shapes: &shapes,
                adjust: &|i, a| {
                    if i == 0 {
                        make_triangular(variant, a);
                    }
                },
                call: call!(trsm, variant, alpha, number % 5 != 4),
                terms: size.0 * size.1 + size.0,
            };
            let what = format!("trsm {variant:?} {alpha:?}");
            for Arguments { values, left, .. } in everywhere.check(random, 3, &what) {
                let product = naive_product(variant, &values[0].f64(), &left[0]);
                assert_close::<T>(&product, &(values[1].f64() * alpha.to()), 4 * size.0, &what);
            }
        }
    }
}

#[test]
fn trsm_in_every_layout_f64() {
    check_trsm::<f64>();
}

#[test]
fn trsm_in_every_layout_f32() {
    check_trsm::<f32>();
}

fn check_trmm<T: Tested>() {
    let random = &mut Random(12);
    for variant in variants() {
        for (number, size) in SIZES.into_iter().enumerate() {
            let alpha = T::of([1.0, -1.5, 0.0][number % 3]);
            let shapes = shapes(variant.0, size);
            let everywhere = Everywhere {
                shapes: &shapes,
                adjust: &|i, a| {
                    if i == 0 {
                        make_triangular(variant, a);
                    }
                },
                call: call!(trmm, variant, alpha, number % 5 != 4),
                terms: size.0 * size.1 + size.0,
            };
            let what = format!("trmm {variant:?} {alpha:?}");
            for Arguments { values, left, .. } in everywhere.check(random, 3, &what) {
                let product = naive_product(variant, &values[0].f64(), &values[1].f64());
                assert_close::<T>(&left[0], &(product * alpha.to()), 4 * size.0, &what);
            }
        }
    }
}

#[test]
fn trmm_in_every_layout_f64() {
    check_trmm::<f64>();
}

#[test]
fn trmm_in_every_layout_f32() {
    check_trmm::<f32>();
}

/// Against the formulas, written with complete matrices and their inverse.
#[test]
fn gradients_of_large_problems() {
    fn check<T: Tested>() {
        let random = &mut Random(13);
        for variant in variants() {
            let (side, uplo, trans, diag) = variant;
            let shapes = shapes(side, (67, 21));
            let mut a = random.matrix::<T>(shapes[0].0, crate::blas::specimens::Layout::C).base;
            make_triangular(variant, a.view_mut());
            let mut arguments = Vec::new();
            for _ in 0..2 {
                let b = random.matrix::<T>(shapes[1].0, crate::blas::specimens::Layout::C).base;
                let seed = random.matrix::<T>(shapes[1].0, crate::blas::specimens::Layout::C).base;
                arguments.push((b, seed));
            }
            let alpha = T::of(0.75);
            let f64 = |x: &Array2<T>| x.map(|x| x.to());
            // The matrix that stands on the left, and what to make of what belongs to it.
            let op = oriented(side, dense(variant, &f64(&a)));
            let gradient_of_a = |x: Array2<f64>| {
                let x = oriented(side, if trans == Trans::Yes { x.reversed_axes() } else { x });
                Array2::from_shape_fn(x.dim(), |at| if referenced(uplo, diag, at) { x[at] } else { 0.0 })
            };
            let (b, seed) = &arguments[0];
            let (x, dx) = (oriented(side, f64(b)), oriented(side, f64(seed)));

            // The product.
            let (mut da, mut db, mut place) =
                (Array2::from_elem(a.dim(), T::of(0.0)), seed.clone(), b.clone());
            let mut rule = trmm::<T>::rule();
            rule.forward(trmm::args(side, uplo, trans, diag, alpha, &a, &mut place));
            let shadows = (
                Ignored,
                Ignored,
                Ignored,
                Ignored,
                Ignored,
                Shadow::new(da.cell_view()),
                Shadow::new(db.cell_view()),
            );
            let args = trmm::args(side, uplo, trans, diag, alpha, &a, &mut place);
            let (.., dalpha, (), ()) = rule.pullback((), args, shadows, ());
            let w = naive(&op.t().to_owned(), &dx);
            let expected = gradient_of_a(naive(&dx, &x.t().to_owned()) * alpha.to());
            assert_close::<T>(&f64(&da), &expected, 100, "Ȧ of trmm");
            assert_close::<T>(&oriented(side, f64(&db)), &(&w * alpha.to()), 100, "Ḃ of trmm");
            assert!((dalpha.to() - (&w * &x).sum()).abs() < T::EPSILON * 1e5);

            // The solve, given what it solved for.
            let solution = x;
            let b = oriented(side, naive(&op, &solution)) / alpha.to();
            let mut place = b.map(|&x| T::of(x));
            let (mut da, mut db) = (Array2::from_elem(a.dim(), T::of(0.0)), seed.clone());
            let mut rule = trsm::<T>::rule();
            rule.forward(trsm::args(side, uplo, trans, diag, alpha, &a, &mut place));
            let shadows = (
                Ignored,
                Ignored,
                Ignored,
                Ignored,
                Ignored,
                Shadow::new(da.cell_view()),
                Shadow::new(db.cell_view()),
            );
            let args = trsm::args(side, uplo, trans, diag, alpha, &a, &mut place);
            let (.., dalpha, (), ()) = rule.pullback((), args, shadows, ());
            let w = oriented(side, f64(&db)) / alpha.to();
            assert_close::<T>(&naive(&op.t().to_owned(), &w), &dx, 400, "Ḃ of trsm");
            let expected = gradient_of_a(-naive(&w, &solution.t().to_owned()));
            assert_close::<T>(&f64(&da), &expected, 400, "Ȧ of trsm");
            assert!((dalpha.to() - (&w * &oriented(side, b)).sum()).abs() < T::EPSILON * 1e5);
        }
    }
    check::<f64>();
    check::<f32>();
}

/// All rows of the matrix are the same one: (L·x)ᵢ = Σⱼ₌₁ⁱ rⱼ·xⱼ, and the solution is xᵢ = (bᵢ − bᵢ₋₁)/rᵢ.
#[test]
fn broadcast_triangles() {
    for n in [3, 20, 40] {
        let row: Vec<f64> = (0..n).map(|j| 1.0 + j as f64 / n as f64).collect();
        let row = ndarray::Array1::from(row);
        let a = row.broadcast((n, n)).expect("any number of rows");
        let b = Array2::from_shape_fn((n, 2), |(i, j)| ((3 * i + j) as f64).sin());
        let mut x = b.clone();
        let mut rule = trsm::<f64>::rule();
        let (side, uplo, trans, diag) = (Side::Left, Uplo::Lower, Trans::No, Diag::NonUnit);
        rule.forward(trsm::args(side, uplo, trans, diag, 1.0, &a, &mut x));
        for ((i, j), &x) in x.indexed_iter() {
            let above = if i == 0 { 0.0 } else { b[[i - 1, j]] };
            assert!((x - (b[[i, j]] - above) / row[i]).abs() < 1e-13);
        }
        let solution = x.clone();
        let (mut drow, mut db) = (Array2::<f64>::zeros((1, n)), Array2::ones((n, 2)));
        let cells = drow.cell_view();
        let da = cells.broadcast((n, n)).expect("any number of rows");
        let shadows =
            (Ignored, Ignored, Ignored, Ignored, Ignored, Shadow::new(da), Shadow::new(db.cell_view()));
        let _ = rule.pullback((), trsm::args(side, uplo, trans, diag, 1.0, &a, &mut x), shadows, ());
        assert_eq!(x, b);
        // The sum of all xᵢ is Σⱼ (bⱼ − bⱼ₋₁)/rⱼ.
        for (j, drow) in drow.iter().enumerate() {
            let expected = -solution.row(j).sum() / row[j];
            assert!((drow - expected).abs() < 1e-12, "{n}, {j}: {drow} instead of {expected}");
        }
    }
}

#[test]
#[should_panic(expected = "trsm: A is 3×4, which is not square")]
fn trsm_wants_a_square_matrix() {
    let (a, mut b) = (Array2::<f64>::zeros((3, 4)), Array2::zeros((3, 4)));
    trsm(Side::Left, Uplo::Lower, Trans::No, Diag::NonUnit, 1.0, &a, &mut b);
}

#[test]
#[should_panic(expected = "trmm: A is 3×3 and on the right, but B is 3×4")]
fn trmm_names_the_shapes() {
    let (a, mut b) = (Array2::<f64>::zeros((3, 3)), Array2::zeros((3, 4)));
    trmm(Side::Right, Uplo::Lower, Trans::No, Diag::NonUnit, 1.0, &a, &mut b);
}
