//! Forward mode, Jacobians and second derivatives.

use pullback::testing::CountingAllocator;

mod generic;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
