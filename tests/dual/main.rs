//! Forward mode, Jacobians and second derivatives.

use std::cell::Cell;

use pullback::testing::CountingAllocator;

mod argmin;
mod chains;
mod conditions;
// What is checked to second order takes as long to compile, optimised, as all other tests together: debug builds do it.
#[cfg(debug_assertions)]
#[allow(clippy::all, reason = "functions as users write them")]
mod corpus;
mod generic;
mod methods;
mod mixed;
mod nested;
mod optional;
mod plain;
mod pushforwards;
#[cfg(debug_assertions)]
mod random;
mod rows;
#[cfg(debug_assertions)]
mod rules;
mod sparse;
mod structs;

thread_local! {
    static EVALUATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Functions that are counted call this.
fn evaluated() {
    EVALUATIONS.set(EVALUATIONS.get() + 1);
}

/// How often `f` evaluates such functions.
fn evaluations_in<R>(f: impl FnOnce() -> R) -> usize {
    let before = EVALUATIONS.get();
    f();
    EVALUATIONS.get() - before
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
