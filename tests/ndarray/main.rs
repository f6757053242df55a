//! Whole arrays of ndarray in differentiable functions.

#![allow(unused, clippy::all, reason = "functions as users write them")]

use pullback::testing::CountingAllocator;

mod closures;
mod elementary;
mod fields;
mod fresh;
mod layouts;
mod memory;
mod networks;
mod operators;
mod parts;
mod products;
mod reductions;
mod untyped;
mod updates;
mod views;
mod views_by_value;
mod zips;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
