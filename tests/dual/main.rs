//! Forward mode, Jacobians and second derivatives.

use pullback::testing::CountingAllocator;

mod argmin;
mod arrays;
mod constants;
#[allow(clippy::all, reason = "functions as users write them")]
mod corpus;
mod generic;
mod layers;
mod linear_algebra;
mod nested;
mod orthogonal;
mod plain;
mod products;
mod pushforwards;
mod random;
mod rows;
mod sparse;
mod structs;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
