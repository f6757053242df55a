use ndarray::{Array2, Array3, Axis};

use crate::blas::cases::{LAYOUTS, Layout, Random};
use crate::blas::{Trans, gemm, gemm_batched};
use crate::{Ignored, MatrixScalar, Rule, Shadow};

/// Each product is what `gemm` gives, and so are its gradients, in all layouts.
#[test]
fn as_many_products_one_by_one() {
    fn check<T: MatrixScalar + std::fmt::Debug>() {
        let random = &mut Random::new();
        for (case, (count, m, n, k)) in
            [(3, 2, 3, 4), (2, 17, 5, 9), (1, 1, 1, 1), (2, 40, 30, 20), (3, 0, 2, 2), (0, 1, 1, 1)]
                .into_iter()
                .flat_map(|size| [size; 8])
                .enumerate()
        {
            let trans = |bit: usize| if case >> bit & 1 == 1 { Trans::Yes } else { Trans::No };
            let (trans_a, trans_b) = (trans(0), trans(1));
            let (alpha, beta) = (T::of(-1.5), [T::of(0.0), T::of(0.5)][case / 4 % 2]);
            let shape = |trans, rows, columns| match trans {
                Trans::No => [count, rows, columns],
                Trans::Yes => [count, columns, rows],
            };
            let mut layout = 0;
            let mut matrices = |shape: [usize; 3]| -> Array3<T> {
                layout += 1;
                random.matrices(shape, LAYOUTS[(case / 2 + layout) % 4])
            };
            let (a, b) = (matrices(shape(trans_a, m, k)), matrices(shape(trans_b, k, n)));
            let c = matrices([count, m, n]);
            let (mut da, mut db, mut dc) =
                (matrices(shape(trans_a, m, k)), matrices(shape(trans_b, k, n)), matrices([count, m, n]));

            let (mut da_each, mut db_each, mut dc_each) = (da.clone(), db.clone(), dc.clone());
            let mut expected = c.clone();
            let mut sums = (T::of(0.0), T::of(0.0));
            for i in 0..count {
                let part = |x: &Array3<T>| x.index_axis(Axis(0), i).to_owned();
                let (a, b) = (part(&a), part(&b));
                let mut c = expected.index_axis_mut(Axis(0), i);
                let mut rule = gemm::<T>::rule();
                let mut place = c.to_owned();
                gemm(trans_a, trans_b, alpha, &a, &b, beta, &mut c);
                rule.forward(gemm::args(trans_a, trans_b, alpha, &a, &b, beta, &mut place));
                let [mut da, mut db, mut dc] =
                    [&mut da_each, &mut db_each, &mut dc_each].map(|x| x.index_axis_mut(Axis(0), i));
                let shadows = (
                    Ignored,
                    Ignored,
                    Ignored,
                    Shadow::new(da.cell_view()),
                    Shadow::new(db.cell_view()),
                    Ignored,
                    Shadow::new(dc.cell_view()),
                );
                let args = gemm::args(trans_a, trans_b, alpha, &a, &b, beta, &mut place);
                let (_, _, dalpha, _, _, dbeta, _) = rule.pullback((), args, shadows, ());
                sums.0 += dalpha;
                sums.1 += dbeta;
            }

            let mut place = c.clone();
            gemm_batched(trans_a, trans_b, alpha, &a, &b, beta, &mut place);
            close(&place, &expected);
            place.assign(&c);
            let mut rule = gemm_batched::<T>::rule();
            rule.forward(gemm_batched::args(trans_a, trans_b, alpha, &a, &b, beta, &mut place));
            close(&place, &expected);
            let shadows = (
                Ignored,
                Ignored,
                Ignored,
                Shadow::new(da.cell_view()),
                Shadow::new(db.cell_view()),
                Ignored,
                Shadow::new(dc.cell_view()),
            );
            let args = gemm_batched::args(trans_a, trans_b, alpha, &a, &b, beta, &mut place);
            let (_, _, dalpha, _, _, dbeta, _) = rule.pullback((), args, shadows, ());
            assert_eq!(place, c);
            close(&da, &da_each);
            close(&db, &db_each);
            close(&dc, &dc_each);
            let numbers = |x: [T; 2]| Array3::from_shape_fn((1, 1, 2), |(_, _, i)| x[i]);
            let scale = T::of(1.0 / (1.0 + (count * m * n) as f64));
            close(&numbers([dalpha * scale, dbeta * scale]), &numbers([sums.0 * scale, sums.1 * scale]));
        }
    }
    check::<f64>();
    check::<f32>();
}

/// To what the order of additions may change.
#[track_caller]
fn close<T: MatrixScalar + std::fmt::Debug>(found: &Array3<T>, expected: &Array3<T>) {
    assert_eq!(found.dim(), expected.dim());
    let tolerance = T::SPACING * T::of(1e4);
    for (&found, &expected) in found.iter().zip(expected) {
        assert!((found - expected).magnitude() <= tolerance, "{found:?} instead of {expected:?}");
    }
}

/// One matrix in the place of three, with stride 0: its gradient is the sum.
#[test]
fn broadcast_along_the_batch() {
    let random = &mut Random::new();
    let a: Array2<f64> = random.matrix((2, 3), Layout::C);
    let b: Array3<f64> = random.matrices([3, 3, 4], Layout::C);
    let mut c: Array3<f64> = random.matrices([3, 2, 4], Layout::C);
    let same = a.broadcast((3, 2, 3)).expect("any number of matrices");
    let mut rule = gemm_batched::<f64>::rule();
    rule.forward(gemm_batched::args(Trans::No, Trans::No, 1.0, &same, &b, 0.0, &mut c));
    for i in 0..3 {
        let expected = a.dot(&b.index_axis(Axis(0), i));
        assert!((&c.index_axis(Axis(0), i) - &expected).iter().all(|x| x.abs() < 1e-14));
    }
    let (mut da, mut dc) = (Array2::<f64>::zeros((2, 3)), Array3::ones((3, 2, 4)));
    let cells = da.cell_view();
    let shadows = (
        Ignored,
        Ignored,
        Ignored,
        Shadow::new(cells.broadcast((3, 2, 3)).expect("any number of matrices")),
        Shadow::default(),
        Ignored,
        Shadow::new(dc.cell_view()),
    );
    let args = gemm_batched::args(Trans::No, Trans::No, 1.0, &same, &b, 0.0, &mut c);
    let _ = rule.pullback((), args, shadows, ());
    for ((_, k), da) in da.indexed_iter() {
        assert!((da - b.index_axis(Axis(1), k).sum()).abs() < 1e-13);
    }
}

#[test]
#[should_panic(expected = "gemm_batched: op(A) is 2×2×3 and op(B) is 3×3×2 but C is 2×2×2")]
fn gemm_batched_names_the_shapes() {
    let (a, b, mut c) = (Array3::<f64>::zeros((2, 2, 3)), Array3::zeros((3, 3, 2)), Array3::zeros((2, 2, 2)));
    gemm_batched(Trans::No, Trans::No, 1.0, &a, &b, 0.0, &mut c);
}
