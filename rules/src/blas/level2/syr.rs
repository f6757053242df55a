//! A symmetric matrix and a column times its own transpose

use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2};

use crate::activation::{Dual, DualMut};
use crate::blas::adjoint::{Factor, of_square, place};
use crate::blas::backend::MatrixScalar;
use crate::blas::cases::{Allocates, Case, LAYOUTS, Layout, Random};
use crate::blas::operand::Operand;
use crate::blas::options::Uplo;
use crate::blas::triangular::{accumulate_square, elements, keep_triangle, restore_triangle};
use crate::saved::Saved;

/// The triangle `uplo` of *A ← α·x·xᵀ + A*, for *x* of length n and *A* n×n; the `syr` of BLAS.
///
/// Both may have any layout; *x* may be broadcast. The other triangle of *A* is neither read nor written, and its gradient passes
/// through unchanged. As in BLAS, *x* is not read if α is 0. Nothing is allocated.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::{Uplo, syr};
///
/// let mut a = array![[1.0, 1.0], [1.0, 1.0]];
/// syr(Uplo::Upper, 2.0, &array![1.0, 2.0], &mut a);
/// assert_eq!(a, array![[3.0, 5.0], [1.0, 9.0]]);
/// ```
///
/// # Gradient
/// As for [`syrk`](fn@crate::blas::syrk), with one column: let *L* be the referenced triangle of the gradient with respect to the
/// result, and *S = L + Lᵀ*. Then *ẋ += α·S·x*, *α̇ = ½·⟨S·x, x⟩*, and *L* is the gradient with respect to the old triangle, too.
///
/// It keeps the triangle of *A*, unless the caller has [forgone](crate::Rule::forgo) that, and *S·x* where *α̇* is wanted.
///
/// # Panics
/// If *A* is not square, or *x* has another length.
#[inline(never)]
pub fn syr<T: MatrixScalar>(uplo: Uplo, alpha: T, x: &ArrayRef1<T>, a: &mut ArrayRef2<T>) {
    if a.dim() != (x.len(), x.len()) {
        mismatch(x.len(), a.dim());
    }
    // SAFETY: `a` is borrowed uniquely and, being mutable, does not overlap itself. The shapes fit.
    unsafe { accumulate_square(alpha, Operand::read_vector(x), uplo.lower(Operand::write(a))) }
}

#[cold]
#[track_caller]
fn mismatch(x: usize, (m, n): (usize, usize)) -> ! {
    panic!("syr: x has length {x} but A is {m}×{n}");
}

/// A ← α·x·xᵀ + A
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn syr<T: MatrixScalar>(#[constant] uplo: Uplo, alpha: T, x: &ArrayRef1<T>, a: &mut ArrayRef2<T>))]
struct Syr<T: MatrixScalar> {
    /// A triangle.
    #[rule(restores = a)]
    old_a: Saved<T>,
    #[rule(constant = alpha)]
    alpha_is_constant: bool,
    /// S·x
    product: Vec<T>,
}

impl<T: MatrixScalar> Syr<T> {
    fn forward(&mut self, uplo: Uplo, alpha: T, x: &ArrayRef1<T>, a: &mut ArrayRef2<T>) {
        // Where that is not so, the function panics.
        if a.is_square()
            && let Some(place) = place(&mut self.old_a, true, elements(a.nrows()))
        {
            // SAFETY: the buffer is nobody else's.
            unsafe { keep_triangle(uplo.lower(Operand::read(a)), place) }
        }
        syr(uplo, alpha, x, a);
    }

    fn pullback(
        &mut self,
        uplo: Uplo,
        alpha: T,
        x: Dual<'_, ArrayRef1<T>>,
        a: DualMut<'_, ArrayRef2<T>>,
    ) -> T {
        let x = (Operand::read_vector(x.value), x.shadow.get().map(Operand::vector_cells));
        let alpha = Factor { value: alpha, is_constant: self.alpha_is_constant };
        // SAFETY: no shadow overlaps a primal, nor those of x and A each other.
        unsafe {
            if let Some(old_a) = self.old_a.take() {
                restore_triangle(uplo.lower(Operand::write(a.value)), old_a);
            }
            let Some(da) = a.shadow.get() else { return T::ZERO };
            of_square(&mut self.product, alpha, x, uplo.lower(Operand::cells(da)))
        }
    }
}

/// What tests and benchmarks call it on.
pub fn case<T: MatrixScalar>() -> Case<(Uplo, T, Array1<T>, Array2<T>)> {
    let random = &mut Random::new();
    let mut inputs = Vec::new();
    for variant in 0..12 {
        let uplo = if variant % 2 == 0 { Uplo::Upper } else { Uplo::Lower };
        let n = [3, 1, 40, 2, 0, 5, 17][variant % 7];
        let x = random.vector(n, LAYOUTS[variant / 4 % 4]);
        let a = random.half(n, uplo, LAYOUTS[variant % 4]);
        inputs.push((uplo, [T::ONE, T::ZERO, T::of(-1.5)][variant % 3], x, a));
    }
    let mut misfit = |a| (Uplo::Lower, T::ONE, random.vector(2, Layout::C), random.matrix(a, Layout::C));
    Case {
        name: "syr",
        allocates: Allocates::Once,
        inputs,
        panicking: vec![misfit((2, 3)), misfit((3, 3))],
        sizes: &[8, 64, 512, 2048],
        sized: |n| {
            let random = &mut Random::new();
            (Uplo::Lower, T::ONE, random.vector(n, Layout::C), random.half(n, Uplo::Lower, Layout::C))
        },
    }
}
