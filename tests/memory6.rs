use pullback::testing::CountingAllocator;
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
#[path = "language/binomial.rs"]
mod binomial;
#[path = "language/checkpoints.rs"]
mod checkpoints;
