//! Vectors and matrices of nalgebra.
//!
//! Those whose dimensions are known at compile time are values: *Ȧ*, the gradient with respect to *A*, is a matrix of the same
//! type, and the cells of a shadow are a matrix of cells, so that `a[(i, j)]` and `v.x` select the same place of all three.
//! [`values`] says so, [`operators`] has `+ - * /`, [`construct`] and [`new`] the constructors, [`methods`], [`writes`] and
//! [`numeric`] the methods.
//!
//! Those whose dimensions are known at run time are on the heap, and treated as `Vec` is: [`dynamic`] says how. Operators
//! become calls of the functions in [`on_heap`]; [`heap_construct`], [`heap_methods`] and [`heap_writes`] have the rest.

use nalgebra::{RealField, SMatrix};

mod construct;
mod dynamic;
mod heap_construct;
mod heap_methods;
mod heap_writes;
mod methods;
mod new;
mod numeric;
pub mod on_heap;
mod operators;
mod rule;
mod values;
mod writes;

/// What derived code has in scope.
pub(crate) mod traits {
    pub use super::construct::traits::*;
    pub use super::heap_construct::traits::*;
    pub use super::heap_methods::traits::*;
    pub use super::heap_writes::traits::*;
    pub use super::methods::traits::*;
    pub use super::new::traits::*;
    pub use super::numeric::NumericRules as _;
    pub use super::writes::traits::*;
}

/// What matrices consist of: `f32` or `f64`.
pub trait Entry: crate::Scalar + RealField {}
impl<T: crate::Scalar + RealField> Entry for T {}

/// A matrix with a cell in the place of each entry.
type Cells<T, const R: usize, const C: usize> = SMatrix<std::cell::Cell<T>, R, C>;
