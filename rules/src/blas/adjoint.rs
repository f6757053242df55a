//! Adjoints that are the same for matrices and for vectors, which are matrices of one column.
//!
//! All functions here are unsafe for the same reason: operands are valid and fit; no shadow overlaps a primal, and that of
//! something mutable overlaps neither itself nor another one.

use super::backend::{MatrixScalar, SmallPlan, accumulate, multiply, restore, scale};
use super::byproduct::{through, through_sum};
use super::elementwise::inner;
use super::operand::Operand;
use super::options::{Diag, Side, Trans, Uplo};
use super::triangular::{
    Triangle, accumulate_symmetric, gradient_of_symmetric, gradient_of_triangle, product, solve,
};

use crate::heap::heap_size;
pub(super) use crate::matrices::Factor;
use crate::saved::Saved;

/// Something that is read, and its shadow unless it is constant.
pub(super) type Read<'a, T> = (Operand<'a, T>, Option<Operand<'a, T>>);

/// C = α·X·Y + …: adds to the gradients of X and Y, and returns that of α.
///
/// # Safety
/// See the module. The shadows of X and Y may be the same cells.
pub(super) unsafe fn of_product<T: MatrixScalar>(
    buffer: &mut Vec<T>,
    [plan_x, plan_y]: [&mut SmallPlan<T>; 2],
    Factor { value: alpha, is_constant }: Factor<T>,
    (x, dx): Read<'_, T>,
    (y, dy): Read<'_, T>,
    dc: Operand<'_, T>,
) -> T {
    // The gradient for α is a by-product of one of the two products: of one that is needed, or else the smaller one.
    let by_product = !is_constant;
    let through_x = match (dx, dy) {
        (Some(_), None) => true,
        (None, Some(_)) => false,
        _ => x.rows * x.columns <= y.rows * y.columns,
    };
    let mut dalpha = T::ZERO;
    // SAFETY: as the caller guarantees; shadows are updated one after the other.
    unsafe {
        if by_product && through_x {
            dalpha = through(buffer, alpha, x, dx, |place| {
                multiply(plan_x, T::ONE, dc, y.t(), T::ZERO, place, None);
            });
        } else if let Some(dx) = dx {
            accumulate(plan_x, alpha, dc, y.t(), dx);
        }
        if by_product && !through_x {
            dalpha = through(buffer, alpha, y, dy, |place| {
                multiply(plan_y, T::ONE, x.t(), dc, T::ZERO, place, None);
            });
        } else if let Some(dy) = dy {
            accumulate(plan_y, alpha, x.t(), dc, dy);
        }
    }
    dalpha
}

/// What the rule of C ← α·X·Y + β·C keeps.
#[derive(Default)]
pub(super) struct Update<T: MatrixScalar> {
    pub(super) old_c: Saved<T>,
    /// Of X or of Y, whichever is smaller: what the gradient for α is a by-product of.
    pub(super) product: Vec<T>,
    /// For the products that give Ẋ and Ẏ.
    plans: [SmallPlan<T>; 2],
}

heap_size! { [T: MatrixScalar] Update<T> { old_c, product } }

impl<T: MatrixScalar> Update<T> {
    /// Nobody needs C as it was before.
    pub(super) fn forgo(&mut self) {
        self.old_c.forgo();
    }

    /// Where to copy C. The gradient for β reads it, whatever β is.
    pub(super) fn place(&mut self, beta_is_constant: bool, len: usize) -> Option<&mut [T]> {
        place(&mut self.old_c, beta_is_constant, len)
    }

    /// Brings C back, adds to the gradients of X and Y, makes that of C the one of the old C, and returns those of α and β.
    ///
    /// # Safety
    /// See the module. C is valid for writes and does not overlap itself. The shadows of X and Y may be the same cells.
    pub(super) unsafe fn pull(
        &mut self,
        [alpha, beta]: [Factor<T>; 2],
        x: Read<'_, T>,
        y: Read<'_, T>,
        c: Operand<'_, T>,
        dc: Option<Operand<'_, T>>,
    ) -> (T, T) {
        let [plan_x, plan_y] = &mut self.plans;
        // SAFETY: as the caller guarantees.
        unsafe {
            if let Some(old_c) = self.old_c.take() {
                restore(c, old_c);
            }
            let Some(dc) = dc else { return (T::ZERO, T::ZERO) };
            let dbeta = if beta.is_constant { T::ZERO } else { inner(dc, c) };
            let dalpha = of_product(&mut self.product, [plan_x, plan_y], alpha, x, y, dc);
            scale(beta.value, dc);
            (dalpha, dbeta)
        }
    }
}

/// C = α·S·X + …, for a symmetric matrix with the lower triangle L: adds to the gradients of L and X, and returns that of α.
///
/// # Safety
/// See the module.
pub(super) unsafe fn of_symmetric<T: MatrixScalar>(
    buffer: &mut Vec<T>,
    Factor { value: alpha, is_constant }: Factor<T>,
    (l, dl): Read<'_, T>,
    (x, dx): Read<'_, T>,
    dc: Operand<'_, T>,
) -> T {
    let mut dalpha = T::ZERO;
    // SAFETY: as the caller guarantees; shadows are updated one after the other.
    unsafe {
        if !is_constant {
            dalpha = through_sum(buffer, alpha, x, dx, |place| {
                accumulate_symmetric(T::ONE, l, T::ONE, dc, place);
            });
        } else if let Some(dx) = dx {
            accumulate_symmetric(alpha, l, T::ONE, dc, dx);
        }
        if let Some(dl) = dl {
            gradient_of_symmetric(alpha, dc, x, dl);
        }
    }
    dalpha
}

/// The lower triangle of C = α·X·Xᵀ + …, of whose gradient the lower triangle is `dl`: adds to that of X, and returns that of
/// α.
///
/// # Safety
/// See the module.
pub(super) unsafe fn of_square<T: MatrixScalar>(
    buffer: &mut Vec<T>,
    Factor { value: alpha, is_constant }: Factor<T>,
    (x, dx): Read<'_, T>,
    dl: Operand<'_, T>,
) -> T {
    let twice = T::ONE + T::ONE;
    // SAFETY: as the caller guarantees.
    unsafe {
        if !is_constant {
            let dalpha = through_sum(buffer, alpha, x, dx, |place| {
                accumulate_symmetric(T::ONE, dl, twice, x, place);
            });
            return dalpha / twice;
        }
        if let Some(dx) = dx {
            accumulate_symmetric(alpha, dl, twice, x, dx);
        }
    }
    T::ZERO
}

/// X = op(A)⁻¹·B, or on the right: makes the gradient of X that of B, and adds to that of A.
///
/// # Safety
/// See the module.
pub(super) unsafe fn of_solve<T: MatrixScalar>(
    (side, uplo, trans, diag): (Side, Uplo, Trans, Diag),
    (a, da): Read<'_, T>,
    x: Operand<'_, T>,
    dx: Operand<'_, T>,
) {
    let (l, db) = Triangle::on_the_left((side, uplo, trans.other(), diag), a, dx);
    // SAFETY: as the caller guarantees.
    unsafe {
        solve(l, db);
        if let Some(da) = da {
            gradient_of_triangle((side, uplo, trans, diag), -T::ONE, dx, x, da);
        }
    }
}

/// Y = α·op(A)·B, or on the right: adds to the gradient of A, and makes that of Y into *op(A)ᵀ·Ẏ*, which is that of B but for
/// α.
///
/// # Safety
/// See the module.
pub(super) unsafe fn of_triangular_product<T: MatrixScalar>(
    (side, uplo, trans, diag): (Side, Uplo, Trans, Diag),
    alpha: T,
    (a, da): Read<'_, T>,
    b: Operand<'_, T>,
    dy: Operand<'_, T>,
) {
    // SAFETY: as the caller guarantees.
    unsafe {
        if let Some(da) = da {
            gradient_of_triangle((side, uplo, trans, diag), alpha, dy, b, da);
        }
        let (l, db) = Triangle::on_the_left((side, uplo, trans.other(), diag), a, dy);
        product(l, db);
    }
}

/// Where to copy what is overwritten: always where its gradient for a factor needs it, otherwise unless that is forgone.
pub(super) fn place<T: MatrixScalar>(
    saved: &mut crate::Saved<T>,
    to_restore_only: bool,
    len: usize,
) -> Option<&mut [T]> {
    match to_restore_only {
        true => saved.buffer_to_restore(len, T::ZERO),
        false => Some(saved.buffer(len, T::ZERO)),
    }
}
