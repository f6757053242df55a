//! What other families of rules use of this one.

use ndarray::ArrayRef2;

use super::backend::{self, MatrixScalar, SmallPlan};
use super::constants::Way;
use super::operand::Operand;
use crate::shadow::ArrayCells;

pub(crate) use super::backend::{leave_vector_registers_clean, parallelism};

/// *C += α·A·B* for a shadow *C*, which may have elements in common with itself.
#[derive(Default)]
pub struct IntoShadow<T: MatrixScalar> {
    plan: SmallPlan<T>,
}

impl<T: MatrixScalar> IntoShadow<T> {
    pub(crate) fn add(
        &mut self,
        alpha: T,
        a: &ArrayRef2<T>,
        b: &ArrayRef2<T>,
        c: ArrayCells<'_, T, ndarray::Ix2>,
    ) {
        // SAFETY: what is behind a shared reference has no cells; the shapes are checked.
        unsafe {
            backend::accumulate(&mut self.plan, alpha, Operand::read(a), Operand::read(b), Operand::cells(c));
        }
    }

    /// The same where *B* consists of constants.
    pub(crate) fn add_by_constants(a: &ArrayRef2<T>, b: &ArrayRef2<f64>, c: ArrayCells<'_, T, ndarray::Ix2>) {
        // SAFETY: what is behind a shared reference has no cells; the shapes are checked there.
        unsafe { T::by_constants(Operand::read(a), Operand::read(b), Operand::cells(c), Way::Add) }
    }
}

/// *C ← A·B*, values by ndarray's kernels.
pub(crate) fn by_ndarray<T: MatrixScalar>(a: &ArrayRef2<T>, b: &ArrayRef2<T>, c: &mut ArrayRef2<T>) {
    T::by_ndarray(a, b, c);
}

/// The same where *B* consists of constants.
pub(crate) fn by_constants<T: MatrixScalar>(a: &ArrayRef2<T>, b: &ArrayRef2<f64>, c: &mut ArrayRef2<T>) {
    // SAFETY: *C* is borrowed uniquely; ndarray checks the shapes.
    unsafe { T::by_constants(Operand::read(a), Operand::read(b), Operand::write(c), Way::ByNdarray) }
}
