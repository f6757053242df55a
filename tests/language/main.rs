//! The Rust that `#[differentiable]` accepts: functions as users write them, each through the tester of rules.

use pullback::testing::CountingAllocator;

mod arrays;
mod bindings;
mod branches;
mod calls;
mod constants;
mod loops;
mod mutation;
mod scalars;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
