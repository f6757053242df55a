//! A matrix times a vector

use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2};

use crate::activation::{Dual, DualMut};
use crate::blas::adjoint::{Factor, Update};
use crate::blas::backend::{MatrixScalar, SmallPlan, keep, multiply};
use crate::blas::cases::{Allocates, Case, LAYOUTS, Layout, Random};
use crate::blas::operand::Operand;
use crate::blas::options::Trans;

/// *y ← α·op(A)·x + β·y*, for *op(A)* m×n, *x* of length n and *y* of length m; the `gemv` of BLAS.
///
/// All operands may have any layout; *A* and *x* may be broadcast. As in BLAS, *y* is not read if β is 0, nor are *A* and *x* if
/// α is 0. Nothing is allocated.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::{Trans, gemv};
///
/// let a = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
/// let mut y = array![1.0, 1.0, 1.0];
/// gemv(Trans::No, 2.0, &a, &array![1.0, 1.0], -1.0, &mut y);
/// assert_eq!(y, array![5.0, 13.0, 21.0]);
/// ```
///
/// # Gradient
/// With *ẏ* for the gradient with respect to the result: *op(Ȧ) += α·ẏ·xᵀ*, *ẋ += α·op(A)ᵀ·ẏ*, *α̇ = ⟨ẏ, op(A)·x⟩*, *β̇ = ⟨ẏ, y⟩* with the
/// old *y*, *ẏ ← β·ẏ* (as for [`gemm`](fn@crate::gemm), with one column).
///
/// It keeps *y*, unless the caller has [forgone](crate::Rule::forgo) both that and *β̇*, and *op(A)ᵀ·ẏ* or *ẏ·xᵀ*, whichever is needed anyway or
/// smaller, where *α̇* is wanted.
///
/// # Panics
/// If the shapes do not fit.
#[inline]
pub fn gemv<T: MatrixScalar>(
    trans: Trans,
    alpha: T,
    a: &ArrayRef2<T>,
    x: &ArrayRef1<T>,
    beta: T,
    y: &mut ArrayRef1<T>,
) {
    run(&mut SmallPlan::default(), trans, alpha, a, x, beta, y);
}

#[inline(never)]
fn run<T: MatrixScalar>(
    plan: &mut SmallPlan<T>,
    trans: Trans,
    alpha: T,
    a: &ArrayRef2<T>,
    x: &ArrayRef1<T>,
    beta: T,
    y: &mut ArrayRef1<T>,
) {
    let op_a = trans.operand(Operand::read(a));
    if op_a.columns != x.len() || op_a.rows != y.len() {
        mismatch((op_a.rows, op_a.columns), x.len(), y.len());
    }
    // SAFETY: `y` is borrowed uniquely and, being mutable, does not overlap itself.
    unsafe { multiply(plan, alpha, op_a, Operand::read_vector(x), beta, Operand::write_vector(y), None) }
}

#[cold]
#[track_caller]
fn mismatch((m, n): (usize, usize), x: usize, y: usize) -> ! {
    panic!("gemv: op(A) is {m}×{n} but x has length {x} and y has length {y}");
}

/// y ← α·op(A)·x + β·y
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn gemv<T: MatrixScalar>(
    #[constant] trans: Trans,
    alpha: T,
    a: &ArrayRef2<T>,
    x: &ArrayRef1<T>,
    beta: T,
    y: &mut ArrayRef1<T>,
))]
struct Gemv<T: MatrixScalar> {
    #[rule(restores = y)]
    update: Update<T>,
    #[rule(constant = alpha)]
    alpha_is_constant: bool,
    #[rule(constant = beta)]
    beta_is_constant: bool,
    /// For the product that gives y.
    plan: SmallPlan<T>,
}

impl<T: MatrixScalar> Gemv<T> {
    fn forward(
        &mut self,
        trans: Trans,
        alpha: T,
        a: &ArrayRef2<T>,
        x: &ArrayRef1<T>,
        beta: T,
        y: &mut ArrayRef1<T>,
    ) {
        if let Some(place) = self.update.place(self.beta_is_constant, y.len()) {
            // SAFETY: the buffer is nobody else's.
            unsafe { keep(Operand::read_vector(y), place) }
        }
        run(&mut self.plan, trans, alpha, a, x, beta, y);
    }

    fn pullback(
        &mut self,
        trans: Trans,
        alpha: T,
        a: Dual<'_, ArrayRef2<T>>,
        x: Dual<'_, ArrayRef1<T>>,
        beta: T,
        y: DualMut<'_, ArrayRef1<T>>,
    ) -> (T, T) {
        let a = (
            trans.operand(Operand::read(a.value)),
            a.shadow.get().map(|da| trans.operand(Operand::cells(da))),
        );
        let x = (Operand::read_vector(x.value), x.shadow.get().map(Operand::vector_cells));
        let alpha = Factor { value: alpha, is_constant: self.alpha_is_constant };
        let beta = Factor { value: beta, is_constant: self.beta_is_constant };
        let (y, dy) = (Operand::write_vector(y.value), y.shadow.get().map(Operand::vector_cells));
        // SAFETY: `y` is borrowed uniquely and, being mutable, does not overlap itself; no shadow overlaps a primal, and the shadow
        // of y none of the others.
        unsafe { self.update.pull([alpha, beta], a, x, y, dy) }
    }
}

/// What tests and benchmarks call it on.
#[allow(clippy::type_complexity, reason = "the arguments of gemv")]
pub fn case<T: MatrixScalar>() -> Case<(Trans, T, Array2<T>, Array1<T>, T, Array1<T>)> {
    let random = &mut Random::new();
    let mut inputs = Vec::new();
    for variant in 0..16 {
        let trans = if variant % 2 == 0 { Trans::No } else { Trans::Yes };
        let (m, n) = [(3, 2), (1, 1), (40, 3), (2, 5), (4, 0), (0, 2), (20, 30)][variant % 7];
        let shape = if trans == Trans::No { (m, n) } else { (n, m) };
        let a = random.matrix(shape, LAYOUTS[variant % 4]);
        let x = random.vector(n, LAYOUTS[variant / 4 % 4]);
        let y = random.vector(m, LAYOUTS[(variant / 3 + 1) % 4]);
        let scalars = [T::ONE, T::ZERO, T::of(-1.5)];
        inputs.push((trans, scalars[variant % 3], a, x, scalars[variant / 2 % 3], y));
    }
    let mut misfit = |x, y| {
        let a = random.matrix((3, 2), Layout::C);
        (Trans::No, T::ONE, a, random.vector(x, Layout::C), T::ONE, random.vector(y, Layout::C))
    };
    Case {
        name: "gemv",
        allocates: Allocates::Once,
        inputs,
        panicking: vec![misfit(3, 3), misfit(2, 2)],
        sizes: &[8, 64, 512, 2048],
        sized: |n| {
            let random = &mut Random::new();
            let a = random.matrix((n, n), Layout::C);
            (Trans::No, T::ONE, a, random.vector(n, Layout::C), T::ZERO, random.vector(n, Layout::C))
        },
    }
}
