//! Whole arrays of ndarray: operators, products, reductions, maps.
//!
//! What a differentiable function computes with arrays becomes calls of the functions in here, by their names in
//! `__private::arrays`, each with a type of the same name that has its rule: `x.dot(w) + b` is `add_left(&dot(x, w), b)`. Each
//! function yields what ndarray does, bit for bit and in the same layout, since that decides in which order `sum` adds.
//!
//! A rule owns the memory of the arrays that its function returns. The forward hands one out, and the reverse pass hands it back
//! once nobody reads it any more: see [`Operation::reclaim`](operation::Operation::reclaim). From the second call on nothing is
//! allocated, however many intermediate values the primal makes. The one exception is the product of two matrices, for which
//! ndarray's kernel packs its operands in memory of its own.

use std::cell::Cell;

use ndarray::{ArrayRef, Dimension, NdFloat};

use crate::blas::MatrixScalar;
use crate::float::Scalar;
use crate::shadow::Element;

mod assign;
mod axes;
mod construct;
mod maps;
mod operation;
mod operators;
mod order;
mod products;
mod reductions;
mod shapes;
mod spare;
mod unary;
mod variances;

/// What derived code calls.
pub mod functions {
    pub use super::assign::*;
    pub use super::axes::{mean_axis, product_axis, sum_axis};
    pub use super::construct::{from_elem, laid_out, line, listed, shaped};
    pub use super::maps::{mapv, mapv_inplace};
    pub use super::operators::{
        add, add_left, add_right, div, div_left, div_right, mul, mul_left, mul_right, rem, rem_left,
        rem_right, sub, sub_left, sub_right,
    };
    pub use super::order::{layout, layout_across, order, zip_order};
    pub use super::products::{dot, dot as inner};
    pub use super::reductions::{mean, product, std_dev, sum, var};
    pub use super::shapes::{join, reshape, select};
    pub use super::unary::{copy, duplicate, negate, negate_left};
    pub use super::variances::{std_axis, var_axis};
}

/// What arrays consist of: `f32` or `f64`.
pub trait Entry: Scalar + MatrixScalar + NdFloat + Element<Cells = Cell<Self>> {
    /// `n as Self`
    fn count(n: usize) -> Self;
    /// *self·factor + term*, rounded once.
    fn fused(self, factor: Self, term: Self) -> Self;
    /// ndarray's `var`.
    fn variance<D: Dimension>(x: &ArrayRef<Self, D>, ddof: Self) -> Self;
}

macro_rules! entries {
    ($($T:ident)*) => {$(
        impl Entry for $T {
            #[inline(always)]
            fn count(n: usize) -> $T {
                n as $T
            }
            #[inline(always)]
            fn fused(self, factor: $T, term: $T) -> $T {
                self.mul_add(factor, term)
            }
            fn variance<D: Dimension>(x: &ArrayRef<$T, D>, ddof: $T) -> $T {
                x.var(ddof)
            }
        }
    )*};
}
entries!(f32 f64);

/// Types that a function is generic over.
type Marker<T> = std::marker::PhantomData<fn() -> T>;

/// A number of dimensions that the type tells.
pub trait Rank: Dimension + Copy + 'static {}
impl<D: Dimension + Copy + 'static> Rank for D {}
