//! What a stateful rule is for: C ← A·B, 16×32 by 32×8, and back again.
//!
//! Reverse mode has to bring back what the product overwrites. A rule without state copies it into new memory on each
//! call; a rule with state has kept the memory of the last call.

mod support;

use std::hint::black_box;

use ndarray::Array2;
use pullback::Trans::{No, Yes};
use pullback::prelude::*;
use pullback::{Rule, Shadow};
use support::{Comparison, HAND_WRITTEN, PRIMAL, assert_close, contender};

/// A rule without state, as it is written where rules have none.
mod stateless {
    use ndarray::Array2;
    use pullback::prelude::mul_into;

    /// Computes the product and returns what undoes it.
    pub(super) fn forward(
        c: &mut Array2<f64>,
        a: &Array2<f64>,
        b: &Array2<f64>,
    ) -> Box<dyn FnOnce(&mut Array2<f64>)> {
        let old_c = c.clone();
        mul_into(c, a, b);
        Box::new(move |c| c.assign(&old_c))
    }
}

/// The gradient as an expert would write it, with the memory it needs.
struct ByHand {
    old_c: Array2<f64>,
    da: Array2<f64>,
    db: Array2<f64>,
}

impl ByHand {
    fn run(&mut self, c: &mut Array2<f64>, a: &Array2<f64>, b: &Array2<f64>, dc: &mut Array2<f64>) {
        self.old_c.assign(c);
        mul_into(c, a, b);
        gemm(No, Yes, 1.0, dc, b, 1.0, &mut self.da);
        gemm(Yes, No, 1.0, a, dc, 1.0, &mut self.db);
        dc.fill(0.0);
        c.assign(&self.old_c);
    }
}

type Shadows<'a> = (&'a mut Array2<f64>, &'a mut Array2<f64>, &'a mut Array2<f64>);

/// Forward and pullback of the rule: adds to the shadows of `a` and `b`, empties that of `c`, restores `c`.
fn gradient(
    rule: &mut impl Rule<Function = mul_into<f64>, Residual = ()>,
    c: &mut Array2<f64>,
    a: &Array2<f64>,
    b: &Array2<f64>,
    (dc, da, db): Shadows<'_>,
) {
    rule.forward((c, a, b));
    let shadows = (Shadow::new(dc.cell_view()), Shadow::new(da.cell_view()), Shadow::new(db.cell_view()));
    rule.pullback((), (c, a, b), shadows, ());
}

/// The same where nobody wants a gradient: restores `c`.
fn restore(
    rule: &mut impl Rule<Function = mul_into<f64>, Residual = ()>,
    c: &mut Array2<f64>,
    a: &Array2<f64>,
    b: &Array2<f64>,
) {
    rule.forward((c, a, b));
    rule.pullback((), (c, a, b), (Shadow::default(), Shadow::default(), Shadow::default()), ());
}

fn main() {
    let mut comparison = Comparison::new();
    let a = Array2::from_shape_fn((16, 32), |(i, j)| ((i * 7 + j * 3) as f64).sin());
    let b = Array2::from_shape_fn((32, 8), |(i, j)| ((i * 5 + j * 2) as f64).cos());
    let c = Array2::from_shape_fn((16, 8), |(i, j)| (i + j) as f64);
    let seed = Array2::from_shape_fn((16, 8), |(i, j)| (i as f64 - j as f64) / 10.0);
    let zeros = || (c.clone(), Array2::zeros((16, 32)), Array2::zeros((32, 8)), seed.clone());

    let mut by_hand = ByHand { old_c: c.clone(), da: Array2::zeros((16, 32)), db: Array2::zeros((32, 8)) };
    let (mut c_by_hand, _, _, mut dc_by_hand) = zeros();
    by_hand.run(&mut c_by_hand, &a, &b, &mut dc_by_hand);
    let (mut c_derived, mut da, mut db, mut dc) = zeros();
    let mut rule = mul_into::<f64>::rule();
    gradient(&mut rule, &mut c_derived, &a, &b, (&mut dc, &mut da, &mut db));
    assert_eq!(c_derived, c);
    assert_close(&da, &by_hand.da);
    assert_close(&db, &by_hand.db);
    assert_close(&dc, &dc_by_hand);

    let mut c_primal = c.clone();
    let mut c_stateless = c.clone();
    let mut c_restored = c.clone();
    let mut restoring = mul_into::<f64>::rule();
    comparison.case(
        "mul 16×32 by 32×8",
        vec![
            contender(PRIMAL, || mul_into(black_box(&mut c_primal), black_box(&a), black_box(&b))),
            contender("no state: forward, restore", || {
                let undo = stateless::forward(black_box(&mut c_stateless), black_box(&a), black_box(&b));
                undo(black_box(&mut c_stateless));
            }),
            contender("state: forward, restore", || {
                restore(&mut restoring, black_box(&mut c_restored), black_box(&a), black_box(&b));
            }),
            contender("state: and gradient", || {
                dc.assign(&seed);
                gradient(
                    &mut rule,
                    black_box(&mut c_derived),
                    black_box(&a),
                    &b,
                    (&mut dc, &mut da, &mut db),
                );
            }),
            contender(HAND_WRITTEN, || {
                dc_by_hand.assign(&seed);
                by_hand.run(black_box(&mut c_by_hand), black_box(&a), black_box(&b), &mut dc_by_hand);
            }),
        ],
    );
    comparison.finish();
}
