//! Products of a matrix whose elements may have parts and one of constants: one product for each part.

use ndarray::Array2;
use ndarray::linalg::general_mat_mul;

use super::backend::{SmallPlan, accumulate, multiply};
use super::operand::Operand;

/// How a product comes to its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// *C ← A·B* by ndarray's kernels. *C* does not overlap itself.
    ByNdarray,
    /// *C ← A·B*. *C* does not overlap itself.
    Set,
    /// *C += A·B*
    Add,
}

/// # Safety
/// As for [`accumulate`].
pub(super) unsafe fn doubles(a: Operand<'_, f64>, b: Operand<'_, f64>, c: Operand<'_, f64>, way: Way) {
    let plan = &mut SmallPlan::default();
    // SAFETY: as the caller guarantees.
    unsafe {
        match way {
            Way::ByNdarray => general_mat_mul(1.0, &a.view(), &b.view(), 0.0, &mut c.view_mut()),
            Way::Set => multiply(plan, 1.0, a, b, 0.0, c, None),
            Way::Add => accumulate(plan, 1.0, a, b, c),
        }
    }
}

/// # Safety
/// As for [`accumulate`].
pub(super) unsafe fn singles(a: Operand<'_, f32>, b: Operand<'_, f64>, c: Operand<'_, f32>, way: Way) {
    // SAFETY: as the caller guarantees.
    let b: Array2<f32> = unsafe { b.view() }.mapv(|x| x as f32);
    let (b, plan) = (Operand::read(&b), &mut SmallPlan::default());
    // SAFETY: as the caller guarantees.
    unsafe {
        match way {
            Way::ByNdarray => general_mat_mul(1.0, &a.view(), &b.view(), 0.0, &mut c.view_mut()),
            Way::Set => multiply(plan, 1.0, a, b, 0.0, c, None),
            Way::Add => accumulate(plan, 1.0, a, b, c),
        }
    }
}
