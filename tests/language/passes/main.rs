//! Loops, and how lean their reverse passes are: what these keep, what they set instead of adding to it, and which run at once with the
//! forward pass; each with values and gradients as any other function's.

#![allow(
    unused,
    unreachable_pub,
    clippy::all,
    missing_docs,
    reason = "functions as users write them, and some that nobody should write"
)]

use pullback::testing::CountingAllocator;

#[macro_use]
#[path = "../check_all.rs"]
mod check_all;

mod annotations;
mod at_once;
mod binomial;
mod blocks;
mod checkpoints;
mod columns;
mod counts;
mod ends;
mod filled;
mod firsts;
mod fresh;
mod fusion;
mod gathered;
mod latest;
mod lengths;
mod order;
mod overwriting;
mod parts;
mod recurrences;
mod rows;
mod sinking;
mod sweeps;
mod whole;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
