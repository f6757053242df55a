//! Vectors and matrices of nalgebra in differentiable functions.

#![allow(unused, clippy::all, reason = "functions as users write them")]

use pullback::testing::CountingAllocator;

mod dynamic;
mod idioms;
mod more;
mod statics;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
