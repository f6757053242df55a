//! The gradient with respect to a factor α, which comes with that with respect to another factor.

use super::backend::{MatrixScalar, scale};
use super::elementwise::{add, inner};
use super::operand::Operand;

/// For *f = α·⟨G, X⟩*: returns *⟨G, X⟩*, the gradient with respect to α, and adds *α·G* to `shadow`, if there is one. What
/// `compute` writes to the place that it gets is *G*.
///
/// # Safety
/// The operands are valid and of one shape; the shadow does not overlap *X*. `compute` writes to all of the place.
pub(super) unsafe fn through<T: MatrixScalar>(
    buffer: &mut Vec<T>,
    alpha: T,
    x: Operand<'_, T>,
    shadow: Option<Operand<'_, T>>,
    compute: impl FnOnce(Operand<'_, T>),
) -> T {
    buffer.resize(x.rows * x.columns, T::ZERO);
    // In the order of the primal's elements, so that they can be run through together.
    let place = match x.by_rows() {
        true => Operand::packed(buffer.as_mut_ptr(), x.columns, x.rows).t(),
        false => Operand::packed(buffer.as_mut_ptr(), x.rows, x.columns),
    };
    compute(place);
    // SAFETY: as the caller guarantees; the place is nobody else's.
    unsafe {
        if let Some(shadow) = shadow {
            add(alpha, place, shadow);
        }
        inner(place, x)
    }
}

/// As [`through`], where *G* may be computed by adding to zeros.
///
/// # Safety
/// As for [`through`], except that `compute` adds to the place.
pub(super) unsafe fn through_sum<T: MatrixScalar>(
    buffer: &mut Vec<T>,
    alpha: T,
    x: Operand<'_, T>,
    shadow: Option<Operand<'_, T>>,
    compute: impl FnOnce(Operand<'_, T>),
) -> T {
    // SAFETY: as the caller guarantees.
    unsafe {
        through(buffer, alpha, x, shadow, |place| {
            scale(T::ZERO, place);
            compute(place);
        })
    }
}
