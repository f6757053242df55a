//! Linear algebra: the rules keep the contract, and work in functions as users write them.

#![allow(unreachable_pub, reason = "functions as users write them")]

use pullback::testing::CountingAllocator;

mod allocations;
mod degenerate;
#[cfg(feature = "fft")]
mod fourier;
mod inputs;
mod large;
mod layouts;
mod models;
mod rules;
mod shapes;
mod sparse;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
