//! What a stateful rule is for: C ← A·B, 16×32 by 32×8, and back again.
//!
//! Reverse mode has to bring back what the product overwrites. A rule without state copies it into new memory on each
//! call; a rule with state has kept the memory of the last call.

mod support;

use std::cell::RefCell;
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

    pub(super) type Undo = dyn FnOnce(&mut Array2<f64>);

    /// Computes the product and returns what undoes it.
    pub(super) fn forward(c: &mut Array2<f64>, a: &Array2<f64>, b: &Array2<f64>) -> Box<Undo> {
        let old_c = c.clone();
        mul_into(c, a, b);
        Box::new(move |c| c.assign(&old_c))
    }
}

/// Both as an expert would write them, with the memory they need.
struct ByHand {
    old_c: Array2<f64>,
    da: Array2<f64>,
    db: Array2<f64>,
}

impl ByHand {
    fn restore(&mut self, c: &mut Array2<f64>, a: &Array2<f64>, b: &Array2<f64>) {
        self.old_c.assign(c);
        mul_into(c, a, b);
        c.assign(&self.old_c);
    }

    fn gradient(&mut self, c: &mut Array2<f64>, a: &Array2<f64>, b: &Array2<f64>, dc: &mut Array2<f64>) {
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

/// The best library for products of this size.
fn by_nano_gemm(plan: &nano_gemm::Plan<f64>, c: &mut Array2<f64>, a: &Array2<f64>, b: &Array2<f64>) {
    // Cᵀ ← Bᵀ·Aᵀ, whose columns are adjacent, since its kernels are for such.
    let (n, m, k) = (c.ncols(), c.nrows(), a.ncols());
    let (c, a, b) = (black_box(c).as_mut_ptr(), black_box(a).as_ptr(), black_box(b).as_ptr());
    // SAFETY: the matrices have these shapes, and their elements are adjacent.
    unsafe {
        plan.execute_unchecked(
            n, m, k, c, 1, n as isize, b, 1, n as isize, a, 1, k as isize, 0.0, 1.0, false, false,
        );
    }
}

fn main() {
    let mut comparison = Comparison::new();
    let a = Array2::from_shape_fn((16, 32), |(i, j)| ((i * 7 + j * 3) as f64).sin());
    let b = Array2::from_shape_fn((32, 8), |(i, j)| ((i * 5 + j * 2) as f64).cos());
    let entry = Array2::from_shape_fn((16, 8), |(i, j)| (i + j) as f64);
    let seed = Array2::from_shape_fn((16, 8), |(i, j)| (i as f64 - j as f64) / 10.0);
    let zeros = || (Array2::zeros(a.dim()), Array2::zeros(b.dim()));

    let (da, db) = zeros();
    let mut by_hand = ByHand { old_c: entry.clone(), da, db };
    let mut rule = mul_into::<f64>::rule();
    let plan = nano_gemm::Plan::new_colmajor_lhs_and_dst_f64(b.ncols(), a.nrows(), a.ncols());
    // The same memory for all of them: a matrix that begins in the middle of a cache line takes longer.
    let c = RefCell::new(entry.clone());
    comparison.case(
        "mul: forward, restore",
        vec![
            contender(PRIMAL, || mul_into(black_box(&mut c.borrow_mut()), black_box(&a), black_box(&b))),
            contender("primal by nano-gemm", || by_nano_gemm(&plan, &mut c.borrow_mut(), &a, &b)),
            contender("stateless rule", || {
                let c = &mut c.borrow_mut();
                let undo = stateless::forward(black_box(c), black_box(&a), black_box(&b));
                undo(black_box(c));
            }),
            contender("stateful rule", || {
                restore(&mut rule, black_box(&mut c.borrow_mut()), black_box(&a), black_box(&b));
            }),
            contender(HAND_WRITTEN, || {
                by_hand.restore(black_box(&mut c.borrow_mut()), black_box(&a), black_box(&b));
            }),
        ],
    );

    let (mut da, mut db) = zeros();
    let mut dc = seed.clone();
    c.borrow_mut().assign(&entry);
    gradient(&mut rule, &mut c.borrow_mut(), &a, &b, (&mut dc, &mut da, &mut db));
    let mut dc_by_hand = seed.clone();
    by_hand.gradient(&mut c.borrow_mut(), &a, &b, &mut dc_by_hand);
    assert!(*c.borrow() == entry && dc == dc_by_hand);
    assert_close(&da, &by_hand.da);
    assert_close(&db, &by_hand.db);
    // Ċ is empty from here on, which takes as long as any other.
    comparison.case(
        "mul: with gradient",
        vec![
            contender(PRIMAL, || mul_into(black_box(&mut c.borrow_mut()), black_box(&a), black_box(&b))),
            contender("stateful rule", || {
                gradient(
                    &mut rule,
                    black_box(&mut c.borrow_mut()),
                    black_box(&a),
                    &b,
                    (&mut dc, &mut da, &mut db),
                );
            }),
            contender(HAND_WRITTEN, || {
                by_hand.gradient(black_box(&mut c.borrow_mut()), black_box(&a), &b, &mut dc_by_hand);
            }),
        ],
    );
    comparison.finish();
}
