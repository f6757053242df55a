//! Ten models of many fields: the primal, the derived gradient, and the gradient by hand.

mod by_hand;
mod by_hand_arrays;
mod cases;
mod models;
#[path = "../support/mod.rs"]
mod support;

use support::{Comparison, HAND_WRITTEN, PRIMAL, contender};

impl cases::Contest for Comparison {
    fn case<P, D, H>(
        &mut self,
        name: &'static str,
        primal: impl FnMut() -> P,
        derived: impl FnMut() -> D,
        by_hand: impl FnMut() -> H,
    ) {
        let contenders =
            vec![contender(PRIMAL, primal), contender("derived", derived), contender(HAND_WRITTEN, by_hand)];
        self.case(name, contenders);
    }
}

fn main() {
    let mut comparison = Comparison::new();
    cases::all(&mut comparison);
    comparison.finish();
}
