//! Functions of neural networks.
#![allow(missing_docs)]

mod attention;
mod classes;
mod convolution;
mod elements;
mod noise;
mod norms;
mod pooling;
mod recurrent;
mod rules;

use pullback::testing::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
