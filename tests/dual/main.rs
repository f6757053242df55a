//! Forward mode, Jacobians and second derivatives.

use pullback::testing::CountingAllocator;

mod argmin;
mod corpus;
mod generic;
mod nested;
mod plain;
mod structs;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
