//! A symmetric matrix times a vector

use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2};

use crate::activation::{Dual, DualMut};
use crate::blas::adjoint::{Factor, of_symmetric, place};
use crate::blas::backend::{MatrixScalar, keep, restore, scale};
use crate::blas::cases::{Allocates, Case, LAYOUTS, Layout, Random};
use crate::blas::elementwise::inner;
use crate::blas::operand::Operand;
use crate::blas::options::Uplo;
use crate::blas::triangular::accumulate_symmetric;
use crate::saved::Saved;

/// *y ← α·A·x + β·y*, for a symmetric n×n matrix *A* and vectors of length n; the `symv` of BLAS.
///
/// All operands may have any layout; *A* and *x* may be broadcast. The triangle of *A* that `uplo` does not name is neither read
/// nor given a gradient. As in BLAS, *y* is not read if β is 0, nor are *A* and *x* if α is 0. Nothing is allocated.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::{Uplo, symv};
///
/// let a = array![[1.0, f64::NAN], [2.0, 3.0]];
/// let mut y = array![1.0, 1.0];
/// symv(Uplo::Lower, 2.0, &a, &array![1.0, 1.0], -1.0, &mut y);
/// assert_eq!(y, array![5.0, 9.0]);
/// ```
///
/// # Gradient
/// As for [`symm`](fn@crate::blas::symm), with one column: *ẋ += α·A·ẏ*, *α̇ = ⟨A·ẏ, x⟩*, *β̇ = ⟨ẏ, y⟩* with the old *y*, *ẏ ← β·ẏ*; the gradient
/// of a referenced element off the diagonal is *α·(ẏᵢ·xⱼ + ẏⱼ·xᵢ)*, and that of one on the diagonal *α·ẏᵢ·xᵢ*.
///
/// It keeps *y*, unless the caller has [forgone](crate::Rule::forgo) both that and *β̇*, and *A·ẏ* where *α̇* is wanted.
///
/// # Panics
/// If *A* is not square, or the vectors have another length.
#[inline(never)]
pub fn symv<T: MatrixScalar>(
    uplo: Uplo,
    alpha: T,
    a: &ArrayRef2<T>,
    x: &ArrayRef1<T>,
    beta: T,
    y: &mut ArrayRef1<T>,
) {
    if a.dim() != (x.len(), x.len()) || x.len() != y.len() {
        mismatch(a.dim(), x.len(), y.len());
    }
    let (x, y) = (Operand::read_vector(x), Operand::write_vector(y));
    // SAFETY: `y` is borrowed uniquely and, being mutable, does not overlap itself. The shapes fit.
    unsafe {
        scale(beta, y);
        accumulate_symmetric(alpha, uplo.lower(Operand::read(a)), T::ONE, x, y);
    }
}

#[cold]
#[track_caller]
fn mismatch((m, n): (usize, usize), x: usize, y: usize) -> ! {
    panic!("symv: A is {m}×{n} but x has length {x} and y has length {y}");
}

/// y ← α·A·x + β·y
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn symv<T: MatrixScalar>(
    #[constant] uplo: Uplo,
    alpha: T,
    a: &ArrayRef2<T>,
    x: &ArrayRef1<T>,
    beta: T,
    y: &mut ArrayRef1<T>,
))]
struct Symv<T: MatrixScalar> {
    #[rule(restores = y)]
    old_y: Saved<T>,
    #[rule(constant = alpha)]
    alpha_is_constant: bool,
    #[rule(constant = beta)]
    beta_is_constant: bool,
    /// A·ẏ
    product: Vec<T>,
}

impl<T: MatrixScalar> Symv<T> {
    fn forward(
        &mut self,
        uplo: Uplo,
        alpha: T,
        a: &ArrayRef2<T>,
        x: &ArrayRef1<T>,
        beta: T,
        y: &mut ArrayRef1<T>,
    ) {
        if let Some(place) = place(&mut self.old_y, self.beta_is_constant, y.len()) {
            // SAFETY: the buffer is nobody else's.
            unsafe { keep(Operand::read_vector(y), place) }
        }
        symv(uplo, alpha, a, x, beta, y);
    }

    fn pullback(
        &mut self,
        uplo: Uplo,
        alpha: T,
        a: Dual<'_, ArrayRef2<T>>,
        x: Dual<'_, ArrayRef1<T>>,
        beta: T,
        y: DualMut<'_, ArrayRef1<T>>,
    ) -> (T, T) {
        let l = (uplo.lower(Operand::read(a.value)), a.shadow.get().map(|da| uplo.lower(Operand::cells(da))));
        let x = (Operand::read_vector(x.value), x.shadow.get().map(Operand::vector_cells));
        let alpha = Factor { value: alpha, is_constant: self.alpha_is_constant };
        // SAFETY: no shadow overlaps a primal, and the shadow of y none of the others.
        unsafe {
            if let Some(old_y) = self.old_y.take() {
                restore(Operand::write_vector(y.value), old_y);
            }
            let Some(dy) = y.shadow.get().map(Operand::vector_cells) else { return (T::ZERO, T::ZERO) };
            let dbeta = match self.beta_is_constant {
                true => T::ZERO,
                false => inner(dy, Operand::read_vector(y.value)),
            };
            let dalpha = of_symmetric(&mut self.product, alpha, l, x, dy);
            scale(beta, dy);
            (dalpha, dbeta)
        }
    }
}

/// What tests and benchmarks call it on.
#[allow(clippy::type_complexity, reason = "the arguments of symv")]
pub fn case<T: MatrixScalar>() -> Case<(Uplo, T, Array2<T>, Array1<T>, T, Array1<T>)> {
    let random = &mut Random::new();
    let mut inputs = Vec::new();
    for variant in 0..12 {
        let uplo = if variant % 2 == 0 { Uplo::Upper } else { Uplo::Lower };
        let n = [3, 1, 40, 2, 0, 5, 17][variant % 7];
        let a = random.half(n, uplo, LAYOUTS[variant % 4]);
        let x = random.vector(n, LAYOUTS[variant / 4 % 4]);
        let y = random.vector(n, LAYOUTS[(variant / 3 + 1) % 4]);
        let scalars = [T::ONE, T::ZERO, T::of(-1.5)];
        inputs.push((uplo, scalars[variant % 3], a, x, scalars[variant / 2 % 3], y));
    }
    let mut misfit = |a, x, y| {
        let a = random.matrix(a, Layout::C);
        (Uplo::Lower, T::ONE, a, random.vector(x, Layout::C), T::ONE, random.vector(y, Layout::C))
    };
    Case {
        name: "symv",
        allocates: Allocates::Once,
        inputs,
        panicking: vec![misfit((3, 2), 3, 3), misfit((2, 2), 3, 3), misfit((2, 2), 2, 3)],
        sizes: &[8, 64, 512, 2048],
        sized: |n| {
            let random = &mut Random::new();
            let a = random.half(n, Uplo::Lower, Layout::C);
            (Uplo::Lower, T::ONE, a, random.vector(n, Layout::C), T::ZERO, random.vector(n, Layout::C))
        },
    }
}
