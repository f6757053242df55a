//! A tool for [GradBench](https://github.com/gradbench/gradbench), the yardstick for automatic differentiation: the protocol,
//! and the evals as plain Rust functions. Every derivative is computed by pullback.

pub mod descent;
pub mod evals;
pub mod forward;
pub mod input;
pub mod protocol;
pub mod task;
