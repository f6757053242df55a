//! Products of two matrices, and solves with many right-hand sides.

#[cfg(test)]
mod batched_tests;
pub(super) mod gemm;
pub(super) mod gemm_batched;
pub(super) mod mul_into;
pub(super) mod symm;
#[cfg(test)]
mod symmetric_tests;
pub(super) mod syrk;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod triangular_tests;
pub(super) mod trmm;
pub(super) mod trsm;
