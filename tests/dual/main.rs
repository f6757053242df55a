//! Forward mode, Jacobians and second derivatives.

use pullback::testing::CountingAllocator;

mod argmin;
mod arrays;
#[allow(clippy::all, reason = "functions as users write them")]
mod corpus;
mod generic;
mod linear_algebra;
mod nested;
mod plain;
mod products;
mod pushforwards;
mod random;
mod rows;
mod sparse;
mod structs;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
