#![allow(unused, missing_docs)]
use pullback::testing::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[path = "language/callables.rs"]
mod callables;
