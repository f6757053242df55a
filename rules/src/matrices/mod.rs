//! Products of matrices in any memory.

mod general;
mod matrix;
mod stack;
mod update;

pub use general::{Matrices, general_product};
pub use matrix::{Matrix, product};
pub(crate) use stack::{Multiply, Stack, terms};
pub(crate) use update::{Factor, Read, Update};
