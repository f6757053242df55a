//! Products of matrices with matrices.

// The rule of a function is a type of its name, beside which there is no room for a module of that name: what is in here is
// re-exported further out.
pub(super) mod gemm;
pub(super) mod mul_into;

#[cfg(test)]
mod tests;
