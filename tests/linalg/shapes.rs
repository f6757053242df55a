//! Shapes, layouts and entries at random.

use ndarray::{Array1, Array2, Ix2};
use proptest::prelude::*;
use pullback::linalg::{self, cases::Kind};
use pullback::testing::CheckRule;

use crate::inputs::{laid_out, matrix};

fn any_matrix(kind: Kind) -> impl Strategy<Value = Array2<f64>> {
    (0_usize..9, 0_usize..9, 0_usize..1000, 0_usize..4)
        .prop_map(move |(m, n, seed, layout)| laid_out(&matrix(kind, m, n, seed), layout))
}

fn several(kind: Kind) -> impl Strategy<Value = Vec<Array2<f64>>> {
    proptest::collection::vec(any_matrix(kind), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn qr(matrices in several(Kind::Separated)) {
        let inputs = matrices.into_iter().map(|a| {
            let k = a.nrows().min(a.ncols());
            (Array2::zeros((a.nrows(), k)), Array2::zeros((k, a.ncols())), a)
        });
        CheckRule::new(linalg::qr_into::<f64>::rule).inputs(inputs).tolerance(1e-8).allocating(0).run();
    }

    #[test]
    fn svd(matrices in several(Kind::Separated)) {
        let inputs = matrices.into_iter().map(|a| {
            let k = a.nrows().min(a.ncols());
            (Array2::zeros((a.nrows(), k)), Array1::zeros(k), Array2::zeros((k, a.ncols())), a)
        });
        CheckRule::new(linalg::svd_into::<f64>::rule).inputs(inputs).tolerance(1e-8).allocating(0).run();
    }

    #[test]
    fn lstsq(matrices in several(Kind::Separated), k in 0_usize..4, layout in 0_usize..4) {
        let inputs = matrices.into_iter().map(|a| {
            let b = laid_out(&matrix(Kind::Regular, a.nrows(), k, 7), layout);
            (a, b)
        });
        CheckRule::new(linalg::lstsq::<f64, f64, Ix2>::rule).inputs(inputs).tolerance(1e-8).allocating(1).run();
    }

    #[test]
    fn kron(a in any_matrix(Kind::Regular), b in any_matrix(Kind::Regular)) {
        CheckRule::new(linalg::kron::<f64, f64>::rule).input((a, b)).allocating(1).run();
    }
}
