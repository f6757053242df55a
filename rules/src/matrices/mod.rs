//! Products of matrices in any memory.

#[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "the host has none"))]
mod epilogue;
mod general;
mod matrix;
mod stack;
mod update;

pub use epilogue::Activation;
pub(crate) use epilogue::{Epilogue, Fused};
pub use general::{Matrices, general_product};
pub use matrix::{Matrix, product};
pub(crate) use stack::{Multiply, Stack, terms};
pub(crate) use update::{Factor, Read, Update};
