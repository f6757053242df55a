//! Reverse-mode automatic differentiation of ordinary Rust functions, on stable Rust.
//!
//! An attribute derives the gradient of a function at compile time, out of the *rules* of what it calls: no tape, no graph, no
//! tensor type. What a gradient has to remember lives in typed rules that keep their memory, so from the second call on it
//! allocates nothing.
//!
//! ```
//! use pullback::prelude::*;
//!
//! /// Rosenbrock's function
//! #[differentiable]
//! fn rosenbrock(x: &[f64]) -> f64 {
//!     let mut total = 0.0;
//!     for i in 0..x.len() - 1 {
//!         let a = x[i + 1] - x[i] * x[i];
//!         let b = 1.0 - x[i];
//!         total += 100.0 * a * a + b * b;
//!     }
//!     total
//! }
//!
//! let mut g = rosenbrock::gradient(); // the type `rosenbrock` lives beside the function
//! let (value, d) = g.value_and_gradient(&[0.5, 0.25]); // the parameters of the function
//! assert_eq!(value, 0.25);
//! assert_eq!(d.x, [-1.0, 0.0]); // one field for each active parameter
//! ```
//!
//! # Where to go
//! * [Gradient objects](guide::gradients): what `d` holds, `&mut` arguments, several outputs, memory, threads, panics.
//! * [Forward mode, Jacobians, Hessians](guide::second_order), also [sparse] ones.
//! * [The language](guide::language): what [`differentiable`] accepts and refuses, [`constant`], the derivative at kinks.
//! * [Rules](guide::rules): derivatives of your own by [`scalar_rule!`], [`non_differentiable!`] and
//!   [`#[derive(Rule)]`](derive@Rule), tested by [`testing`].
//! * [Functions that take functions](guide::higher_order): roots, fixed points, minima and differential equations in [`solve`].
//! * [How it works](guide::how_it_works): from a function to its reverse pass, and what holds on the way.
//! * [Fused functions](guide::fused) of arrays, by [`fused!`]; functions of [neural networks](nn), and [random numbers](random).
//! * [CUDA devices](guide::cuda): the same functions on the arrays of a GPU.
//! * [Solvers of other crates](guide::interoperability), to which [`interop`] hands functions.
//! * [The catalogue](guide::catalogue) of the rules that there are: matrix products [`mul_into()`] and [`gemm()`], all of [`blas`] and
//!   [`linalg`], [special functions](special).
//!
//! # Features
//! None is on by default.
//!
//! * `argmin`, `argmin-nalgebra`, `basin`, `diffsol`, `levenberg-marquardt`: functions for the solvers of these crates, see [the
//!   guide](guide::interoperability).
//! * `cuda`: arrays on CUDA devices, see [the guide](guide::cuda). It builds without CUDA.
//! * `fft`: discrete Fourier transforms in [`linalg`].
//! * `nalgebra`: vectors and matrices of nalgebra in differentiable functions; see [the guide](guide::language#nalgebra).
//! * `openblas`: large matrix products and decompositions by the OpenBLAS that the system has (`libopenblas-dev`).
//! * `rayon`: large matrix products on several threads without OpenBLAS; see [`set_threads`].
//!
//! # Versions
//! Stable Rust from 1.95 on. Arrays are those of ndarray 0.17; vectors and matrices of nalgebra are those of its version 0.35.
#![deny(unsafe_op_in_unsafe_fn)]

#[macro_use]
mod tuples;

mod checkpoint;
mod constant;
mod extras;
mod gradient;
mod hessian;
mod jacobian;
mod lifted;
mod matrix;
mod nested;
mod pushforward;
mod rows;

pub mod guide;
pub mod interop;
pub mod sparse;
pub mod testing;

pub use checkpoint::checkpoint;
pub use constant::constant;
pub use pullback_macros::{
    Differentiable, differentiable, fused, non_differentiable, scalar_methods, scalar_rule,
};
pub use pullback_rules::*;

/// What a differentiable function and its users need in scope.
pub mod prelude {
    pub use crate::{
        Differentiable, Rule, Trans, checkpoint, constant, differentiable, fused, gemm, mul_into,
        non_differentiable, scalar_rule,
    };
}

/// What generated code refers to. Not part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use std::marker::PhantomData;

    pub use pullback_rules::__private::*;

    pub use crate::extras::Extras;
    pub use crate::gradient::{Driver, ScalarOutput};
    pub use crate::hessian::{Hessian, KeptProducts, Shown};
    pub use crate::jacobian::Jacobian;
    pub use crate::nested::{
        DirectionRule, GradientRule, OfDirection, OfGradient, derivative_of, gradient_of,
    };
    pub use crate::pushforward::{OutputTangent, Pushforward};
    pub use crate::rows::HasRows;
    pub use crate::sparse::hessian::SparseHessian;
    pub use crate::sparse::jacobian::SparseJacobian;
    pub use crate::sparse::{HessianColouring, JacobianColouring, Pattern};
    pub use crate::testing::{Coordinate, Coordinates, visit_optional};
}

/// The example in the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
