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

use ndarray::{Dimension, LinalgScalar};

use crate::blas::MatrixScalar;
use crate::dual::DualNumber;
use crate::float::{Float, Scalar};
use crate::shadow::Element;

mod assign;
mod axes;
mod construct;
mod maps;
mod meets;
mod operation;
mod operators;
mod order;
mod owned;
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
    pub use super::construct::{from_diag, from_elem, laid_out, line, linspace, listed, shaped};
    pub use super::maps::{mapv, mapv as mapv_into, mapv_inplace, mapv_of_constants};
    pub use super::operators::{
        add, add_left, add_right, div, div_left, div_right, mul, mul_left, mul_right, rem, rem_left,
        rem_right, sub, sub_left, sub_right,
    };
    pub use super::order::{layout, layout_across, order, zip_order};
    pub use super::owned::*;
    pub use super::products::{dot, dot as inner, dot as times};
    pub use super::reductions::{mean, product, std_dev, sum, var};
    pub use super::shapes::{join, reshape, select};
    pub use super::unary::{copy, duplicate, negate, negate_left};
    pub use super::variances::{std_axis, var_axis};
}

/// Traits by which methods have rules where the syntax does not tell that they are those of arrays.
pub(crate) mod traits {
    pub use super::products::Multiplied as _;
    pub use super::reductions::Summed as _;
}

/// What arrays consist of: `f32` or `f64`, or dual numbers.
pub trait Entry: Scalar + MatrixScalar + LinalgScalar + Element<Cells = Cell<Self>> {
    /// `n as Self`
    fn count(n: usize) -> Self;
    /// *self·factor + term*, rounded once.
    fn fused(self, factor: Self, term: Self) -> Self;
}

impl Entry for f32 {
    #[inline(always)]
    fn count(n: usize) -> f32 {
        n as f32
    }
    #[inline(always)]
    fn fused(self, factor: f32, term: f32) -> f32 {
        self.mul_add(factor, term)
    }
}

impl Entry for f64 {
    #[inline(always)]
    fn count(n: usize) -> f64 {
        n as f64
    }
    #[inline(always)]
    fn fused(self, factor: f64, term: f64) -> f64 {
        self.mul_add(factor, term)
    }
}

impl<T: Float, const N: usize> Entry for DualNumber<T, N> {
    #[inline(always)]
    fn count(n: usize) -> Self {
        Self::constant(n as f64)
    }
    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
}

/// Types that a function is generic over.
type Marker<T> = std::marker::PhantomData<fn() -> T>;

/// A number of dimensions that the type tells.
pub trait Rank: Dimension + Copy + 'static {}
impl<D: Dimension + Copy + 'static> Rank for D {}
