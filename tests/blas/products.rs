//! The rules of the products of matrices, on whatever proptest makes up.

use ndarray::{Array2, Axis, ShapeBuilder, s};
use proptest::prelude::*;
use pullback::blas::{Diag, Side, Uplo, syrk, trsm};
use pullback::testing::{CheckRule, allocations_in};
use pullback::{Trans, gemm, mul_into};

/// A matrix of any layout: by rows, by columns, with gaps, or backwards.
fn matrix(shape: (usize, usize)) -> impl Strategy<Value = Array2<f64>> {
    let elements = proptest::collection::vec(-2.0..2.0, 4 * shape.0 * shape.1);
    (elements, 0..4).prop_map(move |(elements, layout)| {
        let (m, n) = shape;
        let fill = |array: &mut Array2<f64>| array.iter_mut().zip(&elements).for_each(|(x, e)| *x = *e);
        let mut array = match layout {
            1 => Array2::zeros((m, n).f()),
            2 => Array2::zeros((2 * m, 2 * n)).slice_move(s![..;2, ..;2]),
            _ => Array2::zeros((m, n)),
        };
        if layout == 3 {
            array.invert_axis(Axis(0));
        }
        fill(&mut array);
        array
    })
}

/// Sizes that leave remainders of every vector width, and some for which other methods are chosen.
fn size() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 0_usize..6, 2 => 6_usize..20, 1 => 30_usize..40]
}

type Product = (Array2<f64>, Array2<f64>, Array2<f64>);

/// C, A and B.
fn product() -> impl Strategy<Value = Product> {
    (size(), size(), size()).prop_flat_map(|(m, k, n)| (matrix((m, n)), matrix((m, k)), matrix((k, n))))
}

fn products() -> impl Strategy<Value = Vec<Product>> {
    proptest::collection::vec(product(), 1..4)
}

fn single(a: &Array2<f64>) -> Array2<f32> {
    a.mapv(|x| x as f32)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mul_into_of_doubles(inputs in products()) {
        CheckRule::new(mul_into::<f64>::rule)
            .inputs(inputs)
            .panicking((Array2::zeros((1, 1)), Array2::zeros((1, 2)), Array2::zeros((3, 1))))
            .run();
    }

    #[test]
    fn mul_into_of_singles(inputs in products()) {
        CheckRule::new(mul_into::<f32>::rule)
            .inputs(inputs.iter().map(|(c, a, b)| (single(c), single(a), single(b))))
            .panicking((Array2::zeros((2, 1)), Array2::zeros((1, 2)), Array2::zeros((2, 1))))
            .run();
    }

    #[test]
    fn gemm_of_doubles(
        inputs in products(),
        trans in proptest::array::uniform2(any::<bool>()),
        alpha in prop_oneof![Just(0.0), Just(1.0), -2.0..2.0],
        beta in prop_oneof![Just(0.0), Just(1.0), -2.0..2.0],
    ) {
        let [of_a, of_b] = trans.map(|trans| if trans { Trans::Yes } else { Trans::No });
        let oriented = |trans, x: Array2<f64>| if trans == Trans::Yes { x.reversed_axes() } else { x };
        CheckRule::new(gemm::<f64>::rule)
            .inputs(
                inputs.into_iter().map(|(c, a, b)| (of_a, of_b, alpha, oriented(of_a, a), oriented(of_b, b), beta, c)),
            )
            .panicking((of_a, of_b, alpha, Array2::zeros((5, 4)), Array2::zeros((3, 2)), beta, Array2::zeros((1, 1))))
            .run();
    }

    #[test]
    fn trsm_of_doubles(
        inputs in proptest::collection::vec(
            (size(), size()).prop_flat_map(|(n, others)| (matrix((n, n)), matrix((n, others)))),
            1..4,
        ),
        options in proptest::array::uniform4(any::<bool>()),
        alpha in prop_oneof![Just(0.0), Just(1.0), -2.0..2.0],
    ) {
        let [left, upper, trans, unit] = options;
        let side = if left { Side::Left } else { Side::Right };
        let uplo = if upper { Uplo::Upper } else { Uplo::Lower };
        let trans = if trans { Trans::Yes } else { Trans::No };
        let diag = if unit { Diag::Unit } else { Diag::NonUnit };
        let regular = |mut a: Array2<f64>| {
            let n = a.nrows() as f64;
            for ((i, j), x) in a.indexed_iter_mut() {
                *x = match (i == j, (i < j) == upper) {
                    (true, _) => if unit { f64::NAN } else { 1.0 + *x * *x },
                    (_, true) => *x / (1.0 + n),
                    (_, false) => f64::NAN,
                };
            }
            a
        };
        CheckRule::new(trsm::<f64>::rule)
            .inputs(inputs.into_iter().map(|(a, b)| {
                let b = if left { b } else { b.reversed_axes() };
                (side, uplo, trans, diag, alpha, regular(a), b)
            }))
            .panicking((side, uplo, trans, diag, alpha, Array2::zeros((2, 3)), Array2::zeros((2, 3))))
            .run();
    }

    #[test]
    fn syrk_of_doubles(
        inputs in proptest::collection::vec(
            (size(), size()).prop_flat_map(|(n, k)| (matrix((n, k)), matrix((n, n)))),
            1..4,
        ),
        upper in any::<bool>(),
        alpha in prop_oneof![Just(0.0), Just(1.0), -2.0..2.0],
        beta in prop_oneof![Just(0.0), Just(1.0), -2.0..2.0],
    ) {
        let uplo = if upper { Uplo::Upper } else { Uplo::Lower };
        CheckRule::new(syrk::<f64>::rule)
            .inputs(inputs.into_iter().map(|(a, c)| (uplo, Trans::Yes, alpha, a.reversed_axes(), beta, c)))
            .panicking((uplo, Trans::No, alpha, Array2::zeros((2, 3)), beta, Array2::zeros((3, 3))))
            .run();
    }
}

/// The products themselves allocate nothing: neither the small ones nor, from the second on, the large ones.
#[test]
fn products_allocate_nothing() {
    for (m, n, k) in [(2, 3, 4), (16, 8, 32), (40, 50, 60), (130, 1, 300)] {
        let (a, b, mut c) = (Array2::ones((m, k)), Array2::ones((k, n)), Array2::<f64>::zeros((m, n)));
        let mut product = || mul_into(&mut c, &a, &b);
        product();
        assert_eq!(allocations_in(product).1, 0, "mul_into, {m}×{n}×{k}");
        let (a, b, mut c) = (Array2::ones((k, m)), Array2::ones((n, k)), Array2::<f32>::zeros((m, n)));
        let mut product = || gemm(Trans::Yes, Trans::Yes, 2.0, &a, &b, 0.5, &mut c);
        product();
        assert_eq!(allocations_in(product).1, 0, "gemm, {m}×{n}×{k}");
    }
}
