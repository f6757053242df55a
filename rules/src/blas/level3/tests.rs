use ndarray::{Array2, ArrayView2, MathCell, ShapeBuilder, s};

use crate::blas::specimens::{LAYOUTS, Layout, Matrix, Random, Tested, assert_close, inner, naive, shadow};
use crate::{Ignored, Rule, Shadow, State, Trans, gemm, mul_into};

const SIZES: [(usize, usize, usize); 17] = [
    (0, 3, 2),
    (3, 0, 2),
    (2, 3, 0),
    (1, 1, 1),
    (1, 7, 5),
    (7, 1, 5),
    (5, 7, 1),
    (1, 40, 50),
    (40, 1, 50),
    (4, 4, 4),
    (16, 8, 32),
    (3, 5, 17),
    (33, 7, 9),
    (40, 30, 20),
    (37, 70, 66),
    (3, 5, 70),
    (13, 9, 50),
];

/// Every size in every layout, each with some scalars: value, restore and all gradients against three loops.
fn check_gemm<T: Tested>() {
    let random = &mut Random(1);
    let transpositions = [Trans::No, Trans::Yes];
    let scalars = [0.0, 1.0, -1.5];
    let mut rule = gemm::<T>::rule();
    let mut case = 0;
    for (m, n, k) in SIZES {
        // Three loops take their time.
        let step = if m * n * k < 10_000 { 1 } else { 7 };
        for layout in (0..5 * 6 * 6).step_by(step) {
            let layouts = (LAYOUTS[layout % 5], LAYOUTS[layout / 5 % 6], LAYOUTS[layout / 30]);
            // 5 is prime to the number of combinations.
            case += 5;
            let (trans_a, trans_b) = (transpositions[case % 2], transpositions[case / 2 % 2]);
            let (alpha, beta) = (scalars[case / 4 % 3], scalars[case / 12 % 3]);
            let what = format!("{m}×{n}×{k} {layouts:?} {trans_a:?} {trans_b:?} {alpha} {beta}");

            let shape = |trans, rows, columns| match trans {
                Trans::No => (rows, columns),
                Trans::Yes => (columns, rows),
            };
            let op = |trans, matrix: Array2<f64>| match trans {
                Trans::No => matrix,
                Trans::Yes => matrix.reversed_axes(),
            };
            let mut c: Matrix<T> = random.matrix((m, n), layouts.0);
            let a = random.matrix::<T>(shape(trans_a, m, k), layouts.1);
            let b = random.matrix::<T>(shape(trans_b, k, n), layouts.2);
            let nan = beta == 0.0 && case % 7 == 0;
            if nan {
                c.view_mut().fill(T::of(f64::NAN));
            }
            let (before, old) = (c.bits(), c.f64());
            let mut same = c.clone();

            // The value.
            let (at, bt) = (T::of(alpha), T::of(beta));
            gemm(trans_a, trans_b, at, &a.view(), &b.view(), bt, &mut c.view_mut());
            let product = naive(&op(trans_a, a.f64()), &op(trans_b, b.f64()));
            let mut expected = &product * alpha;
            if beta != 0.0 {
                expected += &(&old * beta);
            }
            assert_close::<T>(&c.f64(), &expected, k, &what);
            rule.forward(gemm::args(trans_a, trans_b, at, &a.view(), &b.view(), bt, &mut same.view_mut()));
            assert_eq!(c.bits(), same.bits(), "{what}");

            // The gradients, for shadows of other layouts than the primals.
            let mut dc: Matrix<T> = random.matrix((m, n), LAYOUTS[case % 5]);
            let mut da: Matrix<T> = random.matrix(a.shape, LAYOUTS[case % 6]);
            let mut db: Matrix<T> = random.matrix(b.shape, LAYOUTS[(case + 3) % 6]);
            let seed = dc.f64();
            let by_a = naive(&seed, &op(trans_b, b.f64()).reversed_axes()) * alpha;
            let by_b = naive(&op(trans_a, a.f64()).reversed_axes(), &seed) * alpha;
            let expected_da = da.plus(&op(trans_a, by_a));
            let expected_db = db.plus(&op(trans_b, by_b));
            let active = (case % 11 != 0, case % 13 != 0);
            let (da_before, db_before) = (da.bits(), db.bits());
            let shadows = (
                Ignored,
                Ignored,
                Ignored,
                if active.0 { shadow!(da) } else { Shadow::default() },
                if active.1 { shadow!(db) } else { Shadow::default() },
                Ignored,
                shadow!(dc),
            );
            let (a_view, b_view) = (a.view(), b.view());
            let mut c_view = same.view_mut();
            let args = gemm::args(trans_a, trans_b, at, &a_view, &b_view, bt, &mut c_view);
            let ((), (), dalpha, (), (), dbeta, ()) = rule.pullback((), args, shadows, ());
            assert_eq!(same.bits(), before, "{what}");
            let terms = m * n * 2;
            if active.0 {
                assert_close::<T>(&da.f64(), &expected_da, terms, &what);
            } else {
                assert_eq!(da.bits(), da_before);
            }
            if active.1 {
                assert_close::<T>(&db.f64(), &expected_db, terms, &what);
            } else {
                assert_eq!(db.bits(), db_before);
            }
            assert_close::<T>(&dc.f64(), &(&seed * beta), 1, &what);
            let tolerance = 32.0 * T::EPSILON * (m * n * k + 4) as f64;
            assert!((dalpha.to() - inner(&seed, &product)).abs() <= tolerance, "{what}");
            assert!(nan || (dbeta.to() - inner(&seed, &old)).abs() <= tolerance, "{what}");
        }
    }
}

#[test]
fn gemm_in_every_layout_f64() {
    check_gemm::<f64>();
}

#[test]
fn gemm_in_every_layout_f32() {
    check_gemm::<f32>();
}

/// Every layout again, for the other function.
fn check_mul_into<T: Tested>() {
    let random = &mut Random(2);
    let mut rule = mul_into::<T>::rule();
    for (m, n, k) in SIZES {
        // Three loops take their time.
        let step = if m * n * k < 10_000 { 1 } else { 7 };
        for layout in (0..5 * 6 * 6).step_by(step) {
            let layouts = (LAYOUTS[layout % 5], LAYOUTS[layout / 5 % 6], LAYOUTS[layout / 30]);
            let what = format!("{m}×{n}×{k} {layouts:?}");
            let mut c: Matrix<T> = random.matrix((m, n), layouts.0);
            c.view_mut().fill(T::of(f64::NAN));
            let (a, b) = (random.matrix::<T>((m, k), layouts.1), random.matrix::<T>((k, n), layouts.2));
            let before = c.bits();
            let mut same = c.clone();
            mul_into(&mut c.view_mut(), &a.view(), &b.view());
            assert_close::<T>(&c.f64(), &naive(&a.f64(), &b.f64()), k, &what);
            rule.forward(mul_into::args(&mut same.view_mut(), &a.view(), &b.view()));
            assert_eq!(c.bits(), same.bits(), "{what}");

            let mut dc: Matrix<T> = random.matrix((m, n), LAYOUTS[layout % 5]);
            let mut da: Matrix<T> = random.matrix((m, k), LAYOUTS[layout % 6]);
            let mut db: Matrix<T> = random.matrix((k, n), LAYOUTS[(layout + 3) % 6]);
            let seed = dc.f64();
            let expected_da = da.plus(&naive(&seed, &b.f64().reversed_axes()));
            let expected_db = db.plus(&naive(&a.f64().reversed_axes(), &seed));
            let (a_view, b_view) = (a.view(), b.view());
            let mut c_view = same.view_mut();
            let args = mul_into::args(&mut c_view, &a_view, &b_view);
            rule.pullback((), args, (shadow!(dc), shadow!(da), shadow!(db)), ());
            assert_eq!(same.bits(), before, "{what}");
            assert_close::<T>(&da.f64(), &expected_da, 2 * m * n, &what);
            assert_close::<T>(&db.f64(), &expected_db, 2 * m * n, &what);
            assert!(dc.f64().iter().all(|&x| x == 0.0), "{what}");
        }
    }
}

#[test]
fn mul_into_in_every_layout_f64() {
    check_mul_into::<f64>();
}

#[test]
fn mul_into_in_every_layout_f32() {
    check_mul_into::<f32>();
}

fn zeros(shape: (usize, usize)) -> Array2<f64> {
    Array2::zeros(shape)
}

/// Finite differences of ⟨W, gemm⟩ in every input. The function is quadratic along a line at most in α with A or B, and linear
/// in each input alone, so that central differences have no truncation error.
#[test]
fn gemm_agrees_with_finite_differences() {
    let random = &mut Random(3);
    let (m, n, k) = (4, 5, 6);
    let weights = random.matrix::<f64>((m, n), Layout::C).base;
    let a = random.matrix::<f64>((k, m), Layout::C).base;
    let b = random.matrix::<f64>((k, n), Layout::C).base;
    let c = random.matrix::<f64>((m, n), Layout::C).base;
    for (alpha, beta) in [(1.3, -0.7), (0.0, 0.0), (1.0, 1.0)] {
        let value = |alpha: f64, a: &Array2<f64>, b: &Array2<f64>, beta: f64, c: &Array2<f64>| {
            let mut c = c.clone();
            gemm(Trans::Yes, Trans::No, alpha, a, b, beta, &mut c);
            inner(&weights, &c)
        };
        let h = 1e-3;
        let slope = |f: &dyn Fn(f64) -> f64| (f(h) - f(-h)) / (2.0 * h);
        let perturbed = |x: &Array2<f64>, at: usize, by: f64| {
            let mut x = x.clone();
            *x.iter_mut().nth(at).expect("in range") += by;
            x
        };

        let (mut da, mut db, mut dc) = (zeros((k, m)), zeros((k, n)), weights.clone());
        let mut place = c.clone();
        let mut rule = gemm::rule();
        rule.forward(gemm::args(Trans::Yes, Trans::No, alpha, &a, &b, beta, &mut place));
        let shadows = (
            Ignored,
            Ignored,
            Ignored,
            Shadow::new(da.cell_view()),
            Shadow::new(db.cell_view()),
            Ignored,
            Shadow::new(dc.cell_view()),
        );
        let args = gemm::args(Trans::Yes, Trans::No, alpha, &a, &b, beta, &mut place);
        let (_, _, dalpha, _, _, dbeta, _) = rule.pullback((), args, shadows, ());

        let close =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        close(dalpha, slope(&|h| value(alpha + h, &a, &b, beta, &c)));
        close(dbeta, slope(&|h| value(alpha, &a, &b, beta + h, &c)));
        for (i, &da) in da.iter().enumerate() {
            close(da, slope(&|h| value(alpha, &perturbed(&a, i, h), &b, beta, &c)));
        }
        for (i, &db) in db.iter().enumerate() {
            close(db, slope(&|h| value(alpha, &a, &perturbed(&b, i, h), beta, &c)));
        }
        for (i, &dc) in dc.iter().enumerate() {
            close(dc, slope(&|h| value(alpha, &a, &b, beta, &perturbed(&c, i, h))));
        }
    }
}

/// d⟨W, A·A⟩ = W·Aᵀ + Aᵀ·W, with one shadow for both operands.
#[test]
fn one_matrix_may_be_both_operands() {
    let random = &mut Random(4);
    for size in [3, 16, 40] {
        let a = random.matrix::<f64>((size, size), Layout::C).base;
        let weights = random.matrix::<f64>((size, size), Layout::C).base;
        let at = a.clone().reversed_axes();
        let expected = naive(&weights, &at) + naive(&at, &weights);

        let (mut da, mut dc, mut c) = (zeros((size, size)), weights.clone(), zeros((size, size)));
        let mut rule = mul_into::rule();
        rule.forward(mul_into::args(&mut c, &a, &a));
        let shadow = da.cell_view();
        let shadow = Shadow::new(shadow.reborrow());
        let shadows = (Shadow::new(dc.cell_view()), shadow, shadow);
        rule.pullback((), mul_into::args(&mut c, &a, &a), shadows, ());
        assert_close::<f64>(&da, &expected, 2 * size, "A·A");
    }
}

/// Elements of a shadow that has some in common with itself, as that of ndarray's windows has.
#[test]
fn shadows_may_overlap_themselves() {
    let signal = [1.0, 2.0, 3.0, 4.0];
    let a = ArrayView2::from_shape((3, 2).strides((1, 1)), &signal).expect("read only");
    let b = ndarray::array![[10.0], [20.0]];
    let (mut c, mut dsignal, mut dc) = (zeros((3, 1)), [0.0; 4], ndarray::array![[1.0], [2.0], [3.0]]);
    let mut rule = mul_into::rule();
    rule.forward(mul_into::args(&mut c, &a, &b));
    assert_eq!(c, ndarray::array![[50.0], [80.0], [110.0]]);
    let cells = ndarray::ArrayViewMut1::from(&mut dsignal[..]);
    let mut cells = cells;
    let cells = cells.cell_view();
    let shadow =
        ArrayView2::<MathCell<f64>>::from_shape((3, 2).strides((1, 1)), cells.to_slice().expect("a slice"));
    let shadows = (Shadow::new(dc.cell_view()), Shadow::new(shadow.expect("read only")), Shadow::default());
    rule.pullback((), mul_into::args(&mut c, &a, &b), shadows, ());
    assert_eq!(dsignal, [10.0, 40.0, 70.0, 60.0]);
}

/// Activations nest, of different sizes, too, and one that is forgotten does no harm.
#[test]
fn forward_forward_pullback_pullback() {
    let random = &mut Random(5);
    let mut rule = gemm::<f64>::rule();
    for sizes in [[(3, 4, 5), (20, 30, 10)], [(50, 2, 3), (1, 1, 1)], [(3, 4, 5), (3, 4, 5)]] {
        let mut data: Vec<_> = sizes
            .into_iter()
            .map(|(m, n, k)| {
                let c = random.matrix::<f64>((m, n), Layout::C).base;
                let a = random.matrix::<f64>((m, k), Layout::C).base;
                (c, a, random.matrix::<f64>((k, n), Layout::C).base)
            })
            .collect();
        let before = data.clone();
        for (c, a, b) in &mut data {
            rule.forward(gemm::args(Trans::No, Trans::No, 2.0, a, b, 0.5, c));
        }
        for ((c, a, b), (old, ..)) in data.iter_mut().zip(&before).rev() {
            let (mut da, mut db, mut dc) = (zeros(a.dim()), zeros(b.dim()), Array2::ones(c.dim()));
            let shadows = (
                Ignored,
                Ignored,
                Ignored,
                Shadow::new(da.cell_view()),
                Shadow::new(db.cell_view()),
                Ignored,
                Shadow::new(dc.cell_view()),
            );
            let args = gemm::args(Trans::No, Trans::No, 2.0, a, b, 0.5, c);
            let (_, _, dalpha, _, _, dbeta, _) = rule.pullback((), args, shadows, ());
            assert_eq!(c, old);
            assert!((dbeta - old.sum()).abs() < 1e-12);
            assert!((dalpha - naive(a, b).sum()).abs() < 1e-11);
            assert_close::<f64>(&da, &(naive(&Array2::ones(c.dim()), &b.t().to_owned()) * 2.0), 60, "Ȧ");
            assert_close::<f64>(&db, &(naive(&a.t().to_owned(), &Array2::ones(c.dim())) * 2.0), 60, "Ḃ");
            assert_eq!(dc, Array2::from_elem(c.dim(), 0.5));
        }
        let (c, a, b) = &mut data[0];
        rule.forward(gemm::args(Trans::No, Trans::No, 2.0, a, b, 0.5, c));
        rule.reset();
    }
}

/// From the second call on the kernels are those that the first has chosen; and still right when sizes, strides or what is
/// constant change.
#[test]
fn again_and_again() {
    fn check<T: Tested + std::fmt::Debug>() {
        let random = &mut Random(6);
        let mut rule = mul_into::<T>::rule();
        // With as many columns left out on the right of C, A, B and the shadows.
        let gaps = [[0; 6], [0; 6], [0, 1, 0, 0, 2, 0], [3, 0, 2, 0, 0, 1], [0, 0, 0, 1, 0, 0], [0; 6]];
        let sizes = [(16, 8, 32), (4, 4, 4), (15, 7, 31), (8, 16, 16), (16, 16, 16), (3, 9, 1), (2, 2, 65)];
        let cases = sizes.into_iter().flat_map(|size| gaps.map(|gaps| (size, gaps)));
        for (case, ((m, n, k), gaps)) in cases.enumerate() {
            let shapes = [(m, n), (m, k), (k, n), (m, n), (m, k), (k, n)];
            let mut matrices: Vec<Array2<T>> = shapes
                .iter()
                .zip(gaps)
                .map(|(&(rows, columns), gap)| random.matrix((rows, columns + gap), Layout::C).base)
                .collect();
            let before = matrices.clone();
            let f64 = |i: usize| {
                let part = before[i].slice(s![.., ..before[i].ncols() - gaps[i]]);
                part.map(|x| x.to())
            };
            let [c, a, b, dc, da, db] = &mut matrices[..] else { unreachable!("six") };
            let mut c = c.slice_mut(s![.., ..n]);
            let (a, b) = (a.slice(s![.., ..k]), b.slice(s![.., ..n]));
            let mut expected = c.to_owned();
            mul_into(&mut expected, &a, &b);
            rule.forward(mul_into::args(&mut c, &a, &b));
            assert_eq!(c, expected);
            let (mut dc, mut da, mut db) =
                (dc.slice_mut(s![.., ..n]), da.slice_mut(s![.., ..k]), db.slice_mut(s![.., ..n]));
            let active = [case % 5 != 1, case % 7 != 2];
            let shadows = (
                Shadow::new(dc.cell_view()),
                if active[0] { Shadow::new(da.cell_view()) } else { Shadow::default() },
                if active[1] { Shadow::new(db.cell_view()) } else { Shadow::default() },
            );
            rule.pullback((), mul_into::args(&mut c, &a, &b), shadows, ());

            let what = format!("{m}×{n}×{k} {gaps:?} {active:?}");
            assert_eq!(matrices[0], before[0], "{what}");
            assert!(matrices[3].slice(s![.., ..n]).iter().all(|x| x.to() == 0.0), "{what}");
            let gradients =
                [naive(&f64(3), &f64(2).reversed_axes()), naive(&f64(1).reversed_axes(), &f64(3))];
            for (i, (gradient, active)) in [4, 5].into_iter().zip(gradients.into_iter().zip(active)) {
                let columns = gradient.ncols();
                let found = matrices[i].slice(s![.., ..columns]).map(|x| x.to());
                let expected = if active { f64(i) + gradient } else { f64(i) };
                assert_close::<T>(&found, &expected, 2 * m * n, &what);
            }
            for i in 3..6 {
                let columns = shapes[i].1;
                assert_eq!(
                    matrices[i].slice(s![.., columns..]),
                    before[i].slice(s![.., columns..]),
                    "{what}"
                );
            }
        }
    }
    check::<f64>();
    check::<f32>();
}

/// What nobody will look at is not restored.
#[test]
fn forgone() {
    let (a, b) = (Array2::ones((2, 3)), Array2::ones((3, 2)));
    let mut c = Array2::from_elem((2, 2), 7.0);
    let mut rule = mul_into::rule().forgoing(0);
    rule.forward(mul_into::args(&mut c, &a, &b));
    let mut dc = Array2::ones((2, 2));
    let shadows = (Shadow::new(dc.cell_view()), Shadow::default(), Shadow::default());
    rule.pullback((), mul_into::args(&mut c, &a, &b), shadows, ());
    assert_eq!(c, Array2::from_elem((2, 2), 3.0));
    assert_eq!(dc, zeros((2, 2)));
}

#[test]
#[should_panic(expected = "mul_into: A is 16×32 but B is 30×8")]
fn mul_into_names_the_shapes() {
    mul_into(&mut zeros((16, 8)), &zeros((16, 32)), &zeros((30, 8)));
}

#[test]
#[should_panic(expected = "mul_into: A·B is 16×8 but C is 8×16")]
fn mul_into_names_the_shape_of_c() {
    mul_into(&mut zeros((8, 16)), &zeros((16, 32)), &zeros((32, 8)));
}

#[test]
#[should_panic(expected = "gemm: op(A) is 32×16 but op(B) is 8×32")]
fn gemm_names_the_shapes() {
    gemm(Trans::Yes, Trans::Yes, 1.0, &zeros((16, 32)), &zeros((32, 8)), 0.0, &mut zeros((16, 8)));
}
