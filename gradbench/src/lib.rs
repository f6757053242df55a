//! A tool for [GradBench](https://github.com/gradbench/gradbench), the yardstick for automatic differentiation: the protocol,
//! and the evals as plain Rust functions. Every derivative comes from `#[differentiable]`.

pub mod evals;
pub mod input;
pub mod protocol;
pub mod task;
