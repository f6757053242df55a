//! Vectors and matrices of nalgebra in differentiable functions.

#![allow(unused, clippy::all, reason = "functions as users write them")]

use pullback::testing::CountingAllocator;

mod dynamic;
mod idioms;
mod more;
mod statics;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// `TRYBUILD=overwrite cargo test --features nalgebra --test nalgebra messages` accepts new ones.
#[test]
fn messages() {
    trybuild::TestCases::new().compile_fail("tests/nalgebra/ui/*.rs");
}
