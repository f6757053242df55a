//! Products with a triangular matrix

use ndarray::ArrayRef2;

use super::trsm::{Input, triangular_inputs, triangular_mismatches};
use crate::activation::{Dual, DualMut};
use crate::blas::adjoint::of_triangular_product;
use crate::blas::backend::{MatrixScalar, keep, restore, scale};
use crate::blas::cases::{Allocates, Case, Layout, Random};
use crate::blas::elementwise::inner;
use crate::blas::operand::Operand;
use crate::blas::options::{Diag, Side, Trans, Uplo, assert_square};
use crate::blas::triangular::{Triangle, product};
use crate::saved::Saved;

/// *B ← α·op(A)·B*, or *B ← α·B·op(A)* with *A* on the right, for a triangular n×n matrix *A* and an m×k matrix *B* (m = n on
/// the left, k = n on the right); the `trmm` of BLAS.
///
/// The matrices may have any layout; *A* may be broadcast. The triangle of *A* that `uplo` does not name is neither read nor
/// given a gradient, and no more is the diagonal with [`Diag::Unit`]. As in BLAS, *A* and *B* are not read if α is 0. Nothing
/// is allocated.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::{Diag, Side, Trans, Uplo, trmm};
///
/// let a = array![[2.0, f64::NAN], [1.0, 4.0]];
/// let mut b = array![[1.0, 2.0], [2.0, 1.0]];
/// trmm(Side::Left, Uplo::Lower, Trans::No, Diag::NonUnit, 1.0, &a, &mut b);
/// assert_eq!(b, array![[2.0, 4.0], [9.0, 6.0]]);
/// ```
///
/// # Gradient
/// Let *Ẏ* be the gradient with respect to the result. With *W = op(A)ᵀ·Ẏ* (on the right: *Ẏ·op(A)ᵀ*): *Ḃ = α·W*,
/// *α̇ = ⟨W, B⟩*, *op(Ȧ) += α·Ẏ·Bᵀ* (on the right: *α·Bᵀ·Ẏ*), of which the triangle that is referenced is added (Giles,
/// *Collected matrix derivative results for forward and reverse mode algorithmic differentiation*, 2008, section 2.2.2).
/// It keeps *B*.
///
/// # Panics
/// If *A* is not square, or does not fit *B*.
#[inline(never)]
pub fn trmm<T: MatrixScalar>(
    side: Side,
    uplo: Uplo,
    trans: Trans,
    diag: Diag,
    alpha: T,
    a: &ArrayRef2<T>,
    b: &mut ArrayRef2<T>,
) {
    assert_square("trmm", side, a.dim(), b.dim());
    let (l, x) = Triangle::on_the_left((side, uplo, trans, diag), Operand::read(a), Operand::write(b));
    // SAFETY: `b` is borrowed uniquely and, being mutable, does not overlap itself. The shapes fit.
    unsafe {
        scale(alpha, x);
        if !alpha.is_zero() {
            product(l, x);
        }
    }
}

/// B ← α·op(A)·B
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn trmm<T: MatrixScalar>(
    #[constant] side: Side,
    #[constant] uplo: Uplo,
    #[constant] trans: Trans,
    #[constant] diag: Diag,
    alpha: T,
    a: &ArrayRef2<T>,
    b: &mut ArrayRef2<T>,
))]
struct Trmm<T: MatrixScalar> {
    old_b: Saved<T>,
    #[rule(constant = alpha)]
    alpha_is_constant: bool,
}

impl<T: MatrixScalar> Trmm<T> {
    #[allow(clippy::too_many_arguments, reason = "those of trmm")]
    fn forward(
        &mut self,
        side: Side,
        uplo: Uplo,
        trans: Trans,
        diag: Diag,
        alpha: T,
        a: &ArrayRef2<T>,
        b: &mut ArrayRef2<T>,
    ) {
        // SAFETY: the buffer is nobody else's.
        unsafe { keep(Operand::read(b), self.old_b.buffer(b.len(), T::ZERO)) }
        trmm(side, uplo, trans, diag, alpha, a, b);
    }

    #[allow(clippy::too_many_arguments, reason = "those of trmm")]
    fn pullback(
        &mut self,
        side: Side,
        uplo: Uplo,
        trans: Trans,
        diag: Diag,
        alpha: T,
        a: Dual<'_, ArrayRef2<T>>,
        b: DualMut<'_, ArrayRef2<T>>,
    ) -> T {
        let mut dalpha = T::ZERO;
        // SAFETY: no shadow overlaps a primal, nor those of A and B each other; B's, being that of something mutable, does
        // not overlap itself.
        unsafe {
            if let Some(old_b) = self.old_b.take() {
                restore(Operand::write(b.value), old_b);
            }
            let Some(db) = b.shadow.get().map(Operand::cells) else { return dalpha };
            let old_b = Operand::read(b.value);
            if !alpha.is_zero() || !self.alpha_is_constant {
                let a = (Operand::read(a.value), a.shadow.get().map(Operand::cells));
                of_triangular_product((side, uplo, trans, diag), alpha, a, old_b, db);
            }
            if !self.alpha_is_constant {
                dalpha = inner(db, old_b);
            }
            scale(alpha, db);
        }
        dalpha
    }
}

/// What tests and benchmarks call it on.
pub fn case<T: MatrixScalar>() -> Case<Input<T>> {
    Case {
        name: "trmm",
        allocates: Allocates::Once,
        inputs: triangular_inputs(),
        panicking: triangular_mismatches(),
        sizes: &[8, 32, 128, 512],
        sized: |n| {
            let random = &mut Random::new();
            let a = random.triangle(n, Uplo::Lower, false, Layout::C);
            let b = random.matrix((n, n), Layout::C);
            (Side::Left, Uplo::Lower, Trans::No, Diag::NonUnit, T::ONE, a, b)
        },
    }
}
