//! C ← A·B

use ndarray::ArrayRef2;

use crate::activation::{Dual, DualMut};
use crate::blas::backend::{MatrixScalar, SmallPlan, accumulate, multiply, restore, scale};
use crate::blas::operand::Operand;
use crate::saved::Saved;

/// *C ← A·B*, for *A* m×k, *B* k×n and *C* m×n.
///
/// The matrices may have any layout: row- or column-major, transposed, sliced, reversed; *A* and *B* may be broadcast. What
/// *C* held is not read, so that it may be anything. If k is 0, *C* becomes 0. Nothing is allocated.
///
/// ```
/// use ndarray::{Array2, array};
/// use pullback_rules::mul_into;
///
/// let a = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
/// let b = array![[1.0, 0.0], [1.0, 2.0]];
/// let mut c = Array2::zeros((3, 2));
/// mul_into(&mut c, &a, &b);
/// assert_eq!(c, array![[3.0, 4.0], [7.0, 8.0], [11.0, 12.0]]);
/// ```
///
/// # Gradient
/// With *Ċ* for the gradient with respect to *C*: *Ȧ += Ċ·Bᵀ*, *Ḃ += Aᵀ·Ċ*, *Ċ ← 0* (Giles, *Collected matrix derivative
/// results for forward and reverse mode algorithmic differentiation*, 2008, section 2.2.2).
///
/// # Panics
/// If the shapes do not fit.
#[inline]
pub fn mul_into<T: MatrixScalar>(c: &mut ArrayRef2<T>, a: &ArrayRef2<T>, b: &ArrayRef2<T>) {
    run(&mut SmallPlan::default(), c, a, b, None);
}

#[inline(never)]
fn run<T: MatrixScalar>(
    plan: &mut SmallPlan<T>,
    c: &mut ArrayRef2<T>,
    a: &ArrayRef2<T>,
    b: &ArrayRef2<T>,
    keep: Option<&mut [T]>,
) {
    let ((m, k), (l, n)) = (a.dim(), b.dim());
    if k != l || c.dim() != (m, n) {
        mismatch(c.dim(), (m, k), (l, n));
    }
    // SAFETY: `c` is borrowed uniquely and, being mutable, does not overlap itself.
    unsafe {
        multiply(plan, T::ONE, Operand::read(a), Operand::read(b), T::ZERO, Operand::write(c), keep);
    }
}

#[cold]
#[track_caller]
fn mismatch(c: (usize, usize), a: (usize, usize), b: (usize, usize)) -> ! {
    if a.1 != b.0 {
        panic!("mul_into: A is {}×{} but B is {}×{}", a.0, a.1, b.0, b.1);
    }
    panic!("mul_into: A·B is {}×{} but C is {}×{}", a.0, b.1, c.0, c.1);
}

/// C ← A·B
#[derive(pullback_macros::Rule)]
#[rule(pub fn mul_into<T: MatrixScalar>(c: &mut ArrayRef2<T>, a: &ArrayRef2<T>, b: &ArrayRef2<T>))]
struct MulInto<T: MatrixScalar> {
    #[rule(restores = c)]
    old_c: Saved<T>,
    /// For the products that give C, Ȧ and Ḃ.
    plans: [SmallPlan<T>; 3],
}

impl<T: MatrixScalar> Default for MulInto<T> {
    fn default() -> Self {
        MulInto { old_c: Saved::default(), plans: Default::default() }
    }
}

impl<T: MatrixScalar> MulInto<T> {
    #[inline]
    fn forward(&mut self, c: &mut ArrayRef2<T>, a: &ArrayRef2<T>, b: &ArrayRef2<T>) {
        let keep = self.old_c.buffer_to_restore(c.len(), T::ZERO);
        run(&mut self.plans[0], c, a, b, keep);
    }

    #[inline]
    fn pullback(
        &mut self,
        c: DualMut<'_, ArrayRef2<T>>,
        a: Dual<'_, ArrayRef2<T>>,
        b: Dual<'_, ArrayRef2<T>>,
    ) {
        if let Some(old_c) = self.old_c.take() {
            // SAFETY: `c` is borrowed uniquely and, being mutable, does not overlap itself.
            unsafe { restore(Operand::write(c.value), old_c) }
        }
        let Some(dc) = c.shadow.get().map(Operand::cells) else { return };
        let (a, da, b, db) = (Operand::read(a.value), a.shadow.get(), Operand::read(b.value), b.shadow.get());
        let [_, plan_a, plan_b] = &mut self.plans;
        // SAFETY: no shadow overlaps a primal, and the shadow of C none of the others. Those of A and B may be the same
        // cells, and are updated one after the other.
        unsafe {
            if let Some(da) = da {
                accumulate(plan_a, T::ONE, dc, b.t(), Operand::cells(da));
            }
            if let Some(db) = db {
                accumulate(plan_b, T::ONE, a.t(), dc, Operand::cells(db));
            }
            scale(T::ZERO, dc);
        }
    }
}
