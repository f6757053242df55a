//! Linear algebra: the rules keep the contract, and work in functions as users write them.

#![allow(unreachable_pub, reason = "functions as users write them")]

use pullback::testing::CountingAllocator;

mod degenerate;
mod inputs;
mod layouts;
mod models;
mod rules;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
