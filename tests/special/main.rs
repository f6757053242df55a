//! Special functions in derived functions: gradients in both precisions, forward mode and second derivatives, and what they are for.

use pullback::testing::CountingAllocator;

mod derivatives;
mod edges;
mod models;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
