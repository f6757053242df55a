//! The functions of BLAS and their rules.

mod cases;
mod derived;
mod products;

#[global_allocator]
static ALLOCATOR: pullback::testing::CountingAllocator = pullback::testing::CountingAllocator;
