//! The functions of [`nn`](super) for arrays in any memory: ndarray's, and those on a device. They take arrays, and no views of the host's.

pub use super::gather::{Indices, embedding};
