//! Forward mode, Jacobians and second derivatives.

use pullback::testing::CountingAllocator;

mod generic;
mod plain;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
