//! Forward mode, Jacobians and second derivatives.

use std::cell::Cell;

use pullback::testing::CountingAllocator;

mod argmin;
mod arrays;
mod constants;
#[allow(clippy::all, reason = "functions as users write them")]
mod corpus;
// Optimised, `fused` and `nn` take ten minutes to compile; tests of the rules run fused functions on dual numbers.
#[cfg(debug_assertions)]
mod fused;
mod generic;
mod layers;
mod linear_algebra;
mod methods;
mod mixed;
mod nested;
#[cfg(debug_assertions)]
mod nn;
mod orthogonal;
mod plain;
mod products;
mod pushforwards;
mod random;
mod rows;
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
