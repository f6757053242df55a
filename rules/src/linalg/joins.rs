//! Elements of the two matrices that a function takes.

use ndarray::Dimension;

use super::scalar::Number;
use crate::dual::DualNumber;
use crate::float::Float;
use crate::shadow::ArrayCells;

/// Elements of a matrix that goes together with one of elements `R` on its right: of the same type, or constants beside dual numbers. A constant has
/// no gradient.
///
/// There is no such thing for constants on the left: `f64` would have a choice then, and `solve(&a, &Array2::eye(n))` no type.
#[diagnostic::on_unimplemented(
    message = "a matrix of `{Self}` does not go together with one of `{R}`",
    label = "both consist of the same numbers, or the right one of constants",
    note = "where a function runs on dual numbers, the matrix on the left is active, or a parameter without `#[constant]`; the one on the right may be \
            of constants, which are `f64`"
)]
pub trait Joins<R: Number>: Number {
    /// An element of the other matrix as one of this.
    fn of_right(right: R) -> Self;
    /// Where the gradient of the other matrix goes to.
    fn right_cells<D: Dimension>(cells: ArrayCells<'_, R, D>) -> Option<ArrayCells<'_, Self, D>>;
}

impl<T: Number> Joins<T> for T {
    #[inline(always)]
    fn of_right(right: T) -> T {
        right
    }
    #[inline(always)]
    fn right_cells<D: Dimension>(cells: ArrayCells<'_, T, D>) -> Option<ArrayCells<'_, T, D>> {
        Some(cells)
    }
}

impl<T: Float, const N: usize> Joins<f64> for DualNumber<T, N> {
    #[inline(always)]
    fn of_right(right: f64) -> Self {
        Self::constant(right)
    }
    #[inline(always)]
    fn right_cells<D: Dimension>(_: ArrayCells<'_, f64, D>) -> Option<ArrayCells<'_, Self, D>> {
        None
    }
}
