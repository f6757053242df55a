//! Products that are added to a shadow.

use ndarray::{ArrayRef2, Ix2};

use super::backend::{MatrixScalar, SmallPlan, accumulate};
use super::operand::Operand;
use crate::shadow::ArrayCells;

/// What spares planning a product that has the size of the last one.
pub(crate) struct ProductPlan<T: MatrixScalar>(SmallPlan<T>);

impl<T: MatrixScalar> Default for ProductPlan<T> {
    fn default() -> Self {
        ProductPlan(SmallPlan::default())
    }
}

/// *C += A·B*, for matrices of any layout.
///
/// # Panics
/// If the shapes do not fit.
pub(crate) fn accumulate_product<T: MatrixScalar>(
    plan: &mut ProductPlan<T>,
    a: &ArrayRef2<T>,
    b: &ArrayRef2<T>,
    c: ArrayCells<'_, T, Ix2>,
) {
    // SAFETY: a shadow overlaps no array that is borrowed.
    unsafe { accumulate(&mut plan.0, T::ONE, Operand::read(a), Operand::read(b), Operand::cells(c)) }
}
