//! The guide: chapters to read, whose examples are tests.
//!
//! 1. [Gradient objects](gradients): what `f::gradient()` gives, and how to use it.
//! 2. [The language](language): the Rust that `#[differentiable]` accepts, what it refuses, and the derivative at kinks.
//! 3. [Forward mode, Jacobians, Hessians](second_order): what `#[differentiable(dual)]` adds.
//! 4. [Rules](rules): derivatives that you write yourself.
//! 5. [Functions that take functions](higher_order): solvers, and rules that call back into derivatives.
//! 6. [Fused functions](fused): functions of the elements of arrays.
//! 7. [The catalogue](catalogue): the rules that there are, with their mathematics.
//! 8. [CUDA devices](cuda): the same functions on the arrays of a GPU.
//! 9. [Solvers of other crates](interoperability): argmin, basin, levenberg-marquardt, diffsol.
//! 10. [How it works](how_it_works): from a function to its reverse pass.

#[doc = include_str!("gradients.md")]
pub mod gradients {}

#[doc = include_str!("language.md")]
pub mod language {}

#[doc = include_str!("second_order.md")]
pub mod second_order {}

#[doc = include_str!("rules.md")]
pub mod rules {}

#[doc = include_str!("higher_order.md")]
pub mod higher_order {}

#[doc = include_str!("fused.md")]
pub mod fused {}

#[doc = include_str!("catalogue.md")]
pub mod catalogue {}

#[doc = include_str!("cuda.md")]
pub mod cuda {}

#[doc = include_str!("interoperability.md")]
pub mod interoperability {}

#[doc = include_str!("how_it_works.md")]
pub mod how_it_works {}
