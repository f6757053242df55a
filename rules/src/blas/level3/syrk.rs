//! Products of a matrix with its own transpose

use ndarray::{Array2, ArrayRef2};

use crate::activation::{Dual, DualMut};
use crate::blas::adjoint::{Factor, of_square, place};
use crate::blas::backend::MatrixScalar;
use crate::blas::cases::{Allocates, Case, LAYOUTS, Layout, Random};
use crate::blas::operand::Operand;
use crate::blas::options::{Trans, Uplo};
use crate::blas::triangular::{
    accumulate_square, elements, inner_of_triangles, keep_triangle, restore_triangle, scale_triangle,
};
use crate::saved::Saved;

/// The triangle `uplo` of *C ← α·op(A)·op(A)ᵀ + β·C*, for *op(A)* n×k and *C* n×n; the `syrk` of BLAS.
///
/// The matrices may have any layout; *A* may be broadcast. The other triangle of *C* is neither read nor written, and its
/// gradient passes through unchanged. As in BLAS, *C* is not read if β is 0, nor is *A* if α is 0. Nothing is allocated.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::{Trans, Uplo, syrk};
///
/// let a = array![[1.0, 2.0], [3.0, 4.0]];
/// let mut c = array![[0.0, 9.0], [0.0, 0.0]];
/// syrk(Uplo::Lower, Trans::No, 1.0, &a, 0.0, &mut c);
/// assert_eq!(c, array![[5.0, 9.0], [11.0, 25.0]]);
/// ```
///
/// # Gradient
/// Let *L* be the referenced triangle of *Ċ*, the gradient with respect to the result, and *S = L + Lᵀ*, the diagonal of
/// which is therefore twice that of *Ċ*. Then *op(Ȧ) += α·S·op(A)*, *α̇ = ½·⟨S·op(A), op(A)⟩*, *β̇ = ⟨L, C⟩* with the old *C*, *L ← β·L*
/// (the product rule; Giles, *Collected matrix derivative results for forward and reverse mode algorithmic differentiation*,
/// 2008, section 2.2.2).
///
/// It keeps the triangle of *C*, unless the caller has [forgone](crate::Rule::forgo) both that and *β̇*, and the product *S·op(A)*
/// where *α̇* is wanted.
///
/// # Panics
/// If *C* is not square, or has not as many rows as *op(A)*.
#[inline(never)]
pub fn syrk<T: MatrixScalar>(
    uplo: Uplo,
    trans: Trans,
    alpha: T,
    a: &ArrayRef2<T>,
    beta: T,
    c: &mut ArrayRef2<T>,
) {
    let a = trans.operand(Operand::read(a));
    if c.dim() != (a.rows, a.rows) {
        mismatch((a.rows, a.columns), c.dim());
    }
    let c = uplo.lower(Operand::write(c));
    // SAFETY: `c` is borrowed uniquely and, being mutable, does not overlap itself. The shapes fit.
    unsafe {
        scale_triangle(beta, c);
        accumulate_square(alpha, a, c);
    }
}

#[cold]
#[track_caller]
fn mismatch(a: (usize, usize), c: (usize, usize)) -> ! {
    panic!("syrk: op(A) is {}×{} but C is {}×{}", a.0, a.1, c.0, c.1);
}

/// C ← α·op(A)·op(A)ᵀ + β·C
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn syrk<T: MatrixScalar>(
    #[constant] uplo: Uplo,
    #[constant] trans: Trans,
    alpha: T,
    a: &ArrayRef2<T>,
    beta: T,
    c: &mut ArrayRef2<T>,
))]
struct Syrk<T: MatrixScalar> {
    /// A triangle.
    #[rule(restores = c)]
    old_c: Saved<T>,
    #[rule(constant = alpha)]
    alpha_is_constant: bool,
    #[rule(constant = beta)]
    beta_is_constant: bool,
    /// S·op(A)
    product: Vec<T>,
}

impl<T: MatrixScalar> Syrk<T> {
    fn forward(
        &mut self,
        uplo: Uplo,
        trans: Trans,
        alpha: T,
        a: &ArrayRef2<T>,
        beta: T,
        c: &mut ArrayRef2<T>,
    ) {
        // Where that is not so, the function panics.
        if c.is_square() {
            let place = place(&mut self.old_c, self.beta_is_constant, elements(c.nrows()));
            if let Some(place) = place {
                // SAFETY: the buffer is nobody else's.
                unsafe { keep_triangle(uplo.lower(Operand::read(c)), place) }
            }
        }
        syrk(uplo, trans, alpha, a, beta, c);
    }

    fn pullback(
        &mut self,
        uplo: Uplo,
        trans: Trans,
        alpha: T,
        a: Dual<'_, ArrayRef2<T>>,
        beta: T,
        c: DualMut<'_, ArrayRef2<T>>,
    ) -> (T, T) {
        let x = trans.operand(Operand::read(a.value));
        let dx = a.shadow.get().map(|da| trans.operand(Operand::cells(da)));
        let (mut dalpha, mut dbeta) = (T::ZERO, T::ZERO);
        // SAFETY: no shadow overlaps a primal, nor those of A and C each other.
        unsafe {
            if let Some(old_c) = self.old_c.take() {
                restore_triangle(uplo.lower(Operand::write(c.value)), old_c);
            }
            let Some(dc) = c.shadow.get() else { return (dalpha, dbeta) };
            let l = uplo.lower(Operand::cells(dc));
            if !self.beta_is_constant {
                dbeta = inner_of_triangles(l, uplo.lower(Operand::read(c.value)));
            }
            let alpha = Factor { value: alpha, is_constant: self.alpha_is_constant };
            dalpha = of_square(&mut self.product, alpha, (x, dx), l);
            scale_triangle(beta, l);
        }
        (dalpha, dbeta)
    }
}

/// What tests and benchmarks call it on.
#[allow(clippy::type_complexity, reason = "the arguments of syrk")]
pub fn case<T: MatrixScalar>() -> Case<(Uplo, Trans, T, Array2<T>, T, Array2<T>)> {
    let random = &mut Random::new();
    let mut inputs = Vec::new();
    for variant in 0..12 {
        let trans = if variant % 2 == 0 { Trans::No } else { Trans::Yes };
        let uplo = if variant / 2 % 2 == 0 { Uplo::Upper } else { Uplo::Lower };
        let (n, k) = [(3, 2), (1, 1), (40, 2), (2, 5), (4, 0), (0, 2), (5, 3)][variant % 7];
        let shape = if trans == Trans::No { (n, k) } else { (k, n) };
        let a = random.matrix(shape, LAYOUTS[variant % 4]);
        let c = random.half(n, uplo, LAYOUTS[(variant / 2 + 1) % 4]);
        let scalars = [T::ONE, T::ZERO, T::of(-1.5)];
        inputs.push((uplo, trans, scalars[variant % 3], a, scalars[variant / 2 % 3], c));
    }
    let mut misfit = |a, c| {
        let (a, c) = (random.matrix(a, Layout::C), random.matrix(c, Layout::C));
        (Uplo::Lower, Trans::No, T::ONE, a, T::ONE, c)
    };
    Case {
        name: "syrk",
        allocates: Allocates::Once,
        inputs,
        panicking: vec![misfit((2, 3), (2, 3)), misfit((2, 3), (3, 3))],
        sizes: &[8, 32, 128, 512],
        sized: |n| {
            let random = &mut Random::new();
            let a = random.matrix((n, n), Layout::C);
            (Uplo::Lower, Trans::No, T::ONE, a, T::ZERO, random.half(n, Uplo::Lower, Layout::C))
        },
    }
}
