//! A matrix and a column times a row

use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2};

use crate::activation::{Dual, DualMut};
use crate::blas::adjoint::{Factor, of_product, place};
use crate::blas::backend::{MatrixScalar, SmallPlan, keep, multiply, restore};
use crate::blas::cases::{Allocates, Case, LAYOUTS, Layout, Random};
use crate::blas::operand::Operand;
use crate::saved::Saved;

/// *A ← α·x·yᵀ + A*, for *x* of length m, *y* of length n and *A* m×n; the `ger` of BLAS.
///
/// All operands may have any layout; *x* and *y* may be broadcast. As in BLAS, *x* and *y* are not read if α is 0. Nothing
/// is allocated.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::ger;
///
/// let mut a = array![[1.0, 1.0], [1.0, 1.0]];
/// ger(2.0, &array![1.0, 2.0], &array![3.0, 4.0], &mut a);
/// assert_eq!(a, array![[7.0, 9.0], [13.0, 17.0]]);
/// ```
///
/// # Gradient
/// With *Ȧ* for the gradient with respect to the result: *ẋ += α·Ȧ·y*, *ẏ += α·Ȧᵀ·x*, *α̇ = ⟨Ȧ, x·yᵀ⟩*, and that with
/// respect to the old *A* is *Ȧ* as well (as for [`gemm`](fn@crate::gemm), with one column and one row).
///
/// It keeps *A*, unless the caller has [forgone](crate::Rule::forgo) that, and *Ȧ·y* or *Ȧᵀ·x* where *α̇* is wanted.
///
/// # Panics
/// If the shapes do not fit.
#[inline(never)]
pub fn ger<T: MatrixScalar>(alpha: T, x: &ArrayRef1<T>, y: &ArrayRef1<T>, a: &mut ArrayRef2<T>) {
    if a.dim() != (x.len(), y.len()) {
        mismatch(x.len(), y.len(), a.dim());
    }
    let (x, y) = (Operand::read_vector(x), Operand::read_vector(y));
    // SAFETY: `a` is borrowed uniquely and, being mutable, does not overlap itself.
    unsafe { multiply(&mut SmallPlan::default(), alpha, x, y.t(), T::ONE, Operand::write(a), None) }
}

#[cold]
#[track_caller]
fn mismatch(x: usize, y: usize, (m, n): (usize, usize)) -> ! {
    panic!("ger: x has length {x} and y has length {y} but A is {m}×{n}");
}

/// A ← α·x·yᵀ + A
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn ger<T: MatrixScalar>(alpha: T, x: &ArrayRef1<T>, y: &ArrayRef1<T>, a: &mut ArrayRef2<T>))]
struct Ger<T: MatrixScalar> {
    #[rule(restores = a)]
    old_a: Saved<T>,
    #[rule(constant = alpha)]
    alpha_is_constant: bool,
    /// Ȧ·y or Ȧᵀ·x
    product: Vec<T>,
    /// For the products that give ẋ and ẏ.
    plans: [SmallPlan<T>; 2],
}

impl<T: MatrixScalar> Ger<T> {
    fn forward(&mut self, alpha: T, x: &ArrayRef1<T>, y: &ArrayRef1<T>, a: &mut ArrayRef2<T>) {
        if let Some(place) = place(&mut self.old_a, true, a.len()) {
            // SAFETY: the buffer is nobody else's.
            unsafe { keep(Operand::read(a), place) }
        }
        ger(alpha, x, y, a);
    }

    fn pullback(
        &mut self,
        alpha: T,
        x: Dual<'_, ArrayRef1<T>>,
        y: Dual<'_, ArrayRef1<T>>,
        a: DualMut<'_, ArrayRef2<T>>,
    ) -> T {
        let x = (Operand::read_vector(x.value), x.shadow.get().map(Operand::vector_cells));
        let y = (Operand::read_vector(y.value).t(), y.shadow.get().map(|dy| Operand::vector_cells(dy).t()));
        let alpha = Factor { value: alpha, is_constant: self.alpha_is_constant };
        let [plan_x, plan_y] = &mut self.plans;
        // SAFETY: no shadow overlaps a primal, and the shadow of A none of the others.
        unsafe {
            if let Some(old_a) = self.old_a.take() {
                restore(Operand::write(a.value), old_a);
            }
            let Some(da) = a.shadow.get().map(Operand::cells) else { return T::ZERO };
            of_product(&mut self.product, [plan_x, plan_y], alpha, x, y, da)
        }
    }
}

/// What tests and benchmarks call it on.
#[allow(clippy::type_complexity, reason = "the arguments of ger")]
pub fn case<T: MatrixScalar>() -> Case<(T, Array1<T>, Array1<T>, Array2<T>)> {
    let random = &mut Random::new();
    let mut inputs = Vec::new();
    for variant in 0..12 {
        let (m, n) = [(3, 2), (1, 1), (40, 3), (2, 5), (4, 0), (0, 2), (20, 30)][variant % 7];
        let x = random.vector(m, LAYOUTS[variant / 4 % 4]);
        let y = random.vector(n, LAYOUTS[(variant / 3 + 1) % 4]);
        let a = random.matrix((m, n), LAYOUTS[variant % 4]);
        inputs.push(([T::ONE, T::ZERO, T::of(-1.5)][variant % 3], x, y, a));
    }
    let mut misfit = |a| {
        let [x, y] = [(); 2].map(|()| random.vector(2, Layout::C));
        (T::ONE, x, y, random.matrix(a, Layout::C))
    };
    Case {
        name: "ger",
        allocates: Allocates::Once,
        inputs,
        panicking: vec![misfit((2, 3)), misfit((3, 2))],
        sizes: &[8, 64, 512, 2048],
        sized: |n| {
            let random = &mut Random::new();
            let [x, y] = [(); 2].map(|()| random.vector(n, Layout::C));
            (T::ONE, x, y, random.matrix((n, n), Layout::C))
        },
    }
}
