//! Rules that call back into the derivatives of the functions they are given.

#![allow(unused, clippy::all, reason = "functions as users write them")]

use pullback::testing::CountingAllocator;

mod own;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
