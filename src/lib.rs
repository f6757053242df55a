//! pullback
#![deny(unsafe_op_in_unsafe_fn)]

mod gradient;

pub mod testing;

pub use pullback_macros::{differentiable, non_differentiable, scalar_methods, scalar_rule};
pub use pullback_rules::*;

/// What a differentiable function and its users need in scope.
pub mod prelude {
    pub use crate::{Rule, Trans, differentiable, gemm, mul_into, non_differentiable, scalar_rule};
}

/// What generated code refers to. Not part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use std::marker::PhantomData;

    pub use pullback_rules::__private::*;

    pub use crate::gradient::{Driver, ScalarOutput, one};
}

/// The example in the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
