//! Matrices with vectors. A vector is a matrix of one column, so that all of this is done by what does it for matrices.

pub(super) mod gemv;
pub(super) mod ger;
pub(super) mod symv;
pub(super) mod syr;
#[cfg(test)]
mod tests;
pub(super) mod triangular;
