//! Many products of matrices at once

use ndarray::{Array3, ArrayRef, ArrayView2, Axis, Ix3};

use crate::activation::{Dual, DualMut};
use crate::blas::adjoint::{Factor, of_product, place};
use crate::blas::backend::{MatrixScalar, SmallPlan, keep, multiply, restore, scale};
use crate::blas::cases::{Allocates, Case, LAYOUTS, Layout, Random};
use crate::blas::elementwise::inner;
use crate::blas::operand::Operand;
use crate::blas::options::Trans;
use crate::saved::Saved;
use crate::shadow::ArrayCells;

type ArrayRef3<T> = ArrayRef<T, Ix3>;

/// *Cᵢ ← α·op(Aᵢ)·op(Bᵢ) + β·Cᵢ* for all *i*, the index of the first axis; as [`gemm`](fn@crate::gemm) for each.
///
/// One matrix may be in the place of as many as there are products: if the first axis of *A* or *B* has length 1, its matrix
/// takes part in all of them. All operands may have any layout, so that *A* and *B* may be broadcast as well, along the first axis with
/// stride 0 or otherwise. As in BLAS, *C* is not read if β is 0, nor are *A* and *B* if α is 0. Nothing is allocated.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::{Trans, gemm_batched};
///
/// let a = array![[[1.0, 2.0], [3.0, 4.0]]]; // for both products
/// let b = array![[[1.0], [0.0]], [[0.0], [1.0]]];
/// let mut c = array![[[0.0], [0.0]], [[0.0], [0.0]]];
/// gemm_batched(Trans::No, Trans::No, 1.0, &a, &b, 0.0, &mut c);
/// assert_eq!(c, array![[[1.0], [3.0]], [[2.0], [4.0]]]);
/// ```
///
/// # Gradient
/// That of [`gemm`](fn@crate::gemm) for each product; those of α, β and of a matrix that takes part in several are sums. It keeps
/// *C*, unless the caller has [forgone](crate::Rule::forgo) both that and *β̇*, and one product *Ċᵢ·op(Bᵢ)ᵀ* or *op(Aᵢ)ᵀ·Ċᵢ* where *α̇* is
/// wanted.
///
/// # Panics
/// If the shapes do not fit.
pub fn gemm_batched<T: MatrixScalar>(
    trans_a: Trans,
    trans_b: Trans,
    alpha: T,
    a: &ArrayRef3<T>,
    b: &ArrayRef3<T>,
    beta: T,
    c: &mut ArrayRef3<T>,
) {
    run(&mut SmallPlan::default(), trans_a, trans_b, alpha, a, b, beta, c);
}

#[inline(never)]
#[allow(clippy::too_many_arguments, reason = "those of gemm")]
fn run<T: MatrixScalar>(
    plan: &mut SmallPlan<T>,
    trans_a: Trans,
    trans_b: Trans,
    alpha: T,
    a: &ArrayRef3<T>,
    b: &ArrayRef3<T>,
    beta: T,
    c: &mut ArrayRef3<T>,
) {
    let shape = |trans, (count, rows, columns): (usize, usize, usize)| match trans {
        Trans::No => (count, rows, columns),
        Trans::Yes => (count, columns, rows),
    };
    let (op_a, op_b) = (shape(trans_a, a.dim()), shape(trans_b, b.dim()));
    let counts_fit = |count| count == 1 || count == c.dim().0;
    let inner_fits = op_a.2 == op_b.1 && (c.dim().1, c.dim().2) == (op_a.1, op_b.2);
    if !counts_fit(op_a.0) || !counts_fit(op_b.0) || !inner_fits {
        mismatch(op_a, op_b, c.dim());
    }
    for (i, mut c) in c.outer_iter_mut().enumerate() {
        let (a, b) = (number(a, i), number(b, i));
        let (x, y) = (trans_a.operand(Operand::read(&a)), trans_b.operand(Operand::read(&b)));
        // SAFETY: `c` is borrowed uniquely and, being mutable, does not overlap itself.
        unsafe { multiply(plan, alpha, x, y, beta, Operand::write(&mut c), None) }
    }
}

#[cold]
#[track_caller]
fn mismatch(a: (usize, usize, usize), b: (usize, usize, usize), c: (usize, usize, usize)) -> ! {
    let [a, b, c] = [a, b, c].map(|(count, rows, columns)| format!("{count}×{rows}×{columns}"));
    panic!("gemm_batched: op(A) is {a} and op(B) is {b} but C is {c}");
}

/// Matrix number `i`, or the only one.
fn number<T>(matrices: &ArrayRef3<T>, i: usize) -> ArrayView2<'_, T> {
    matrices.index_axis(Axis(0), if matrices.dim().0 == 1 { 0 } else { i })
}

fn cells<'a, T: MatrixScalar>(shadow: ArrayCells<'a, T, Ix3>, i: usize) -> Operand<'a, T> {
    let i = if shadow.dim().0 == 1 { 0 } else { i };
    Operand::cells(shadow.index_axis_move(Axis(0), i))
}

/// Cᵢ ← α·op(Aᵢ)·op(Bᵢ) + β·Cᵢ
#[derive(pullback_macros::Rule)]
#[rule(pub fn gemm_batched<T: MatrixScalar>(
    #[constant] trans_a: Trans,
    #[constant] trans_b: Trans,
    alpha: T,
    a: &ArrayRef3<T>,
    b: &ArrayRef3<T>,
    beta: T,
    c: &mut ArrayRef3<T>,
))]
struct GemmBatched<T: MatrixScalar> {
    #[rule(restores = c)]
    old_c: Saved<T>,
    #[rule(constant = alpha)]
    alpha_is_constant: bool,
    #[rule(constant = beta)]
    beta_is_constant: bool,
    /// What the gradient for α is a by-product of.
    product: Vec<T>,
    /// For the products that give C, Ȧ and Ḃ.
    plans: [SmallPlan<T>; 3],
}

impl<T: MatrixScalar> Default for GemmBatched<T> {
    fn default() -> Self {
        GemmBatched {
            old_c: Saved::default(),
            alpha_is_constant: false,
            beta_is_constant: false,
            product: Vec::new(),
            plans: Default::default(),
        }
    }
}

impl<T: MatrixScalar> GemmBatched<T> {
    #[allow(clippy::too_many_arguments, reason = "those of gemm")]
    fn forward(
        &mut self,
        trans_a: Trans,
        trans_b: Trans,
        alpha: T,
        a: &ArrayRef3<T>,
        b: &ArrayRef3<T>,
        beta: T,
        c: &mut ArrayRef3<T>,
    ) {
        if let Some(place) = place(&mut self.old_c, self.beta_is_constant, c.len())
            && !c.is_empty()
        {
            let len = c.len() / c.dim().0;
            for (c, place) in c.outer_iter().zip(place.chunks_exact_mut(len)) {
                // SAFETY: the buffer is nobody else's.
                unsafe { keep(Operand::read(&c), place) }
            }
        }
        run(&mut self.plans[0], trans_a, trans_b, alpha, a, b, beta, c);
    }

    #[allow(clippy::too_many_arguments, reason = "those of gemm")]
    fn pullback(
        &mut self,
        trans_a: Trans,
        trans_b: Trans,
        alpha: T,
        a: Dual<'_, ArrayRef3<T>>,
        b: Dual<'_, ArrayRef3<T>>,
        beta: T,
        c: DualMut<'_, ArrayRef3<T>>,
    ) -> (T, T) {
        let factor = Factor { value: alpha, is_constant: self.alpha_is_constant };
        let (mut dalpha, mut dbeta) = (T::ZERO, T::ZERO);
        let old_c = self.old_c.take();
        let len = (c.value.len() / c.value.dim().0.max(1)).max(1);
        let [_, plan_a, plan_b] = &mut self.plans;
        for (i, mut c_value) in c.value.outer_iter_mut().enumerate() {
            let (x, y) = (number(a.value, i), number(b.value, i));
            let x =
                (trans_a.operand(Operand::read(&x)), a.shadow.get().map(|da| trans_a.operand(cells(da, i))));
            let y =
                (trans_b.operand(Operand::read(&y)), b.shadow.get().map(|db| trans_b.operand(cells(db, i))));
            // SAFETY: no shadow overlaps a primal, and the shadow of C none of the others.
            unsafe {
                if let Some(old_c) = old_c.filter(|_| !c_value.is_empty()) {
                    restore(Operand::write(&mut c_value), &old_c[i * len..][..len]);
                }
                let Some(dc) = c.shadow.get().map(|dc| cells(dc, i)) else { continue };
                if !self.beta_is_constant {
                    dbeta += inner(dc, Operand::read(&c_value));
                }
                dalpha += of_product(&mut self.product, [&mut *plan_a, &mut *plan_b], factor, x, y, dc);
                scale(beta, dc);
            }
        }
        (dalpha, dbeta)
    }
}

/// What tests and benchmarks call it on.
#[allow(clippy::type_complexity, reason = "the arguments of gemm_batched")]
pub fn case<T: MatrixScalar>() -> Case<(Trans, Trans, T, Array3<T>, Array3<T>, T, Array3<T>)> {
    let random = &mut Random::new();
    let mut inputs = Vec::new();
    for variant in 0..16 {
        let bit = |i: usize| if variant >> i & 1 == 1 { Trans::Yes } else { Trans::No };
        let (trans_a, trans_b) = (bit(0), bit(1));
        let (count, m, n, k) = [
            (2, 2, 3, 4),
            (1, 1, 1, 1),
            (3, 2, 1, 2),
            (0, 2, 2, 2),
            (2, 0, 2, 2),
            (2, 17, 16, 17),
            (4, 3, 3, 0),
        ][variant % 7];
        let shape = |trans, count, rows, columns| match trans {
            Trans::No => [count, rows, columns],
            Trans::Yes => [count, columns, rows],
        };
        // Sometimes one for all.
        let counts = [(count, count), (1, count), (count, 1), (1, 1)][variant / 4];
        let a = random.matrices(shape(trans_a, counts.0, m, k), LAYOUTS[variant % 4]);
        let b = random.matrices(shape(trans_b, counts.1, k, n), LAYOUTS[variant / 3 % 4]);
        let c = random.matrices([count, m, n], LAYOUTS[(variant / 2 + 1) % 4]);
        let scalars = [T::ONE, T::ZERO, T::of(-1.5)];
        inputs.push((trans_a, trans_b, scalars[variant % 3], a, b, scalars[variant / 2 % 3], c));
    }
    let mut misfit = |a, b, c| {
        let [a, b, c] = [a, b, c].map(|shape| random.matrices(shape, Layout::C));
        (Trans::No, Trans::No, T::ONE, a, b, T::ONE, c)
    };
    Case {
        name: "gemm_batched",
        allocates: Allocates::Once,
        inputs,
        panicking: vec![
            misfit([2, 2, 2], [3, 2, 2], [3, 2, 2]),
            misfit([2, 2, 3], [2, 2, 2], [2, 2, 2]),
            misfit([2, 2, 2], [2, 2, 2], [1, 2, 2]),
        ],
        sizes: &[4, 16, 64],
        sized: |n| {
            let random = &mut Random::new();
            let [a, b, c] = [(); 3].map(|()| random.matrices([16, n, n], Layout::C));
            (Trans::No, Trans::No, T::ONE, a, b, T::ZERO, c)
        },
    }
}
