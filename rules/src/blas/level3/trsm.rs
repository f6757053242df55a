//! Solves with a triangular matrix and many right-hand sides

use ndarray::{Array2, ArrayRef2};

use crate::activation::{Dual, DualMut};
use crate::blas::adjoint::{of_solve, place};
use crate::blas::backend::{MatrixScalar, keep, restore, scale};
use crate::blas::cases::{Allocates, Case, LAYOUTS, Layout, Random};
use crate::blas::elementwise::inner;
use crate::blas::operand::Operand;
use crate::blas::options::{Diag, Side, Trans, Uplo, assert_square};
use crate::blas::triangular::{Triangle, solve};
use crate::saved::Saved;

/// *B ← α·op(A)⁻¹·B*, or *B ← α·B·op(A)⁻¹* with *A* on the right, for a triangular n×n matrix *A* and an m×k matrix *B*
/// (m = n on the left, k = n on the right); the `trsm` of BLAS.
///
/// The matrices may have any layout; *A* may be broadcast. The triangle of *A* that `uplo` does not name is neither read nor
/// given a gradient, and no more is the diagonal with [`Diag::Unit`]. As in BLAS, *A* and *B* are not read if α is 0, and
/// a zero on the diagonal gives infinities. Nothing is allocated, and no inverse formed.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::{Diag, Side, Trans, Uplo, trsm};
///
/// let a = array![[2.0, f64::NAN], [1.0, 4.0]];
/// let mut b = array![[2.0, 4.0], [9.0, 6.0]];
/// trsm(Side::Left, Uplo::Lower, Trans::No, Diag::NonUnit, 1.0, &a, &mut b);
/// assert_eq!(b, array![[1.0, 2.0], [2.0, 1.0]]);
/// ```
///
/// # Gradient
/// Let *X* be the result and *Ẋ* its gradient. With the solution *W* of *op(A)ᵀ·W = Ẋ* (on the right: *W·op(A)ᵀ = Ẋ*):
/// *Ḃ = α·W*, *α̇ = ⟨W, B⟩*, *op(Ȧ) += −W·Xᵀ* (on the right: *−Xᵀ·W*), of which the triangle that is referenced is added (Giles, *Collected
/// matrix derivative results for forward and reverse mode algorithmic differentiation*, 2008, section 2.3.1). It keeps *B*, unless the
/// caller has [forgone](crate::Rule::forgo) both that and *α̇*.
///
/// # Panics
/// If *A* is not square, or does not fit *B*.
#[inline(never)]
pub fn trsm<T: MatrixScalar>(
    side: Side,
    uplo: Uplo,
    trans: Trans,
    diag: Diag,
    alpha: T,
    a: &ArrayRef2<T>,
    b: &mut ArrayRef2<T>,
) {
    assert_square("trsm", side, a.dim(), b.dim());
    let (l, x) = Triangle::on_the_left((side, uplo, trans, diag), Operand::read(a), Operand::write(b));
    // SAFETY: `b` is borrowed uniquely and, being mutable, does not overlap itself. The shapes fit.
    unsafe {
        scale(alpha, x);
        if !alpha.is_zero() {
            solve(l, x);
        }
    }
}

/// B ← α·op(A)⁻¹·B
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn trsm<T: MatrixScalar>(
    #[constant] side: Side,
    #[constant] uplo: Uplo,
    #[constant] trans: Trans,
    #[constant] diag: Diag,
    alpha: T,
    a: &ArrayRef2<T>,
    b: &mut ArrayRef2<T>,
))]
struct Trsm<T: MatrixScalar> {
    #[rule(restores = b)]
    old_b: Saved<T>,
    #[rule(constant = alpha)]
    alpha_is_constant: bool,
}

impl<T: MatrixScalar> Trsm<T> {
    #[allow(clippy::too_many_arguments, reason = "those of trsm")]
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
        let place = place(&mut self.old_b, self.alpha_is_constant, b.len());
        if let Some(place) = place {
            // SAFETY: the buffer is nobody else's.
            unsafe { keep(Operand::read(b), place) }
        }
        trsm(side, uplo, trans, diag, alpha, a, b);
    }

    #[allow(clippy::too_many_arguments, reason = "those of trsm")]
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
            let db = b.shadow.get().map(Operand::cells);
            if let Some(db) = db.filter(|_| !alpha.is_zero() || !self.alpha_is_constant) {
                // With α = 0 the solution is 0, and A has no gradient.
                let da = a.shadow.get().map(Operand::cells).filter(|_| !alpha.is_zero());
                let (a, x) = ((Operand::read(a.value), da), Operand::read(b.value));
                of_solve((side, uplo, trans, diag), a, x, db);
            }
            if let Some(old_b) = self.old_b.take() {
                restore(Operand::write(b.value), old_b);
            }
            if let Some(db) = db {
                if !self.alpha_is_constant {
                    dalpha = inner(db, Operand::read(b.value));
                }
                scale(alpha, db);
            }
        }
        dalpha
    }
}

/// The arguments.
pub(super) type Input<T> = (Side, Uplo, Trans, Diag, T, Array2<T>, Array2<T>);

/// What tests and benchmarks call it on.
pub fn case<T: MatrixScalar>() -> Case<Input<T>> {
    Case {
        name: "trsm",
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

/// All sixteen variants, in all layouts.
pub(super) fn triangular_inputs<T: MatrixScalar>() -> Vec<Input<T>> {
    let random = &mut Random::new();
    let mut inputs = Vec::new();
    for variant in 0..16 {
        let bit = |i: usize| variant >> i & 1 == 1;
        let side = if bit(0) { Side::Left } else { Side::Right };
        let uplo = if bit(1) { Uplo::Upper } else { Uplo::Lower };
        let trans = if bit(2) { Trans::Yes } else { Trans::No };
        let diag = if bit(3) { Diag::Unit } else { Diag::NonUnit };
        let (n, others) = [(3, 2), (1, 1), (2, 5), (4, 0), (0, 2), (5, 3), (20, 2)][variant % 7];
        let shape = if side == Side::Left { (n, others) } else { (others, n) };
        let a = random.triangle(n, uplo, diag == Diag::Unit, LAYOUTS[variant % 4]);
        let b = random.matrix(shape, LAYOUTS[(variant / 4 + variant) % 4]);
        let alpha = [T::ONE, T::ZERO, T::of(-1.5)][variant % 3];
        inputs.push((side, uplo, trans, diag, alpha, a, b));
    }
    inputs
}

/// What does not fit.
pub(super) fn triangular_mismatches<T: MatrixScalar>() -> Vec<Input<T>> {
    let random = &mut Random::new();
    let mut input = |side, a, b| {
        let (a, b) = (random.matrix(a, Layout::C), random.matrix(b, Layout::C));
        (side, Uplo::Lower, Trans::No, Diag::NonUnit, T::ONE, a, b)
    };
    vec![
        input(Side::Left, (2, 3), (2, 3)),
        input(Side::Left, (2, 2), (3, 2)),
        input(Side::Right, (2, 2), (2, 3)),
    ]
}
