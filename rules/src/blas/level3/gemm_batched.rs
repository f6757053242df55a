//! Many products of matrices at once

use ndarray::{Array3, ArrayRef, Ix3};

use crate::activation::{Dual, DualMut};
use crate::blas::backend::MatrixScalar;
use crate::blas::cases::{Allocates, Case, LAYOUTS, Layout, Random};
use crate::blas::options::Trans;
use crate::fused::Host;
use crate::fused::operand::Place;
use crate::matrices::{Factor, Read, Stack, Update};
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
    GemmBatched::default().run(trans_a, trans_b, alpha, a, b, beta, c);
}

fn stack<T: MatrixScalar>(matrices: &ArrayRef3<T>) -> Stack<'_, T> {
    Stack::new(Place::new(matrices.as_ptr().cast_mut(), matrices.shape(), matrices.strides()))
}

fn stack_to_write<T: MatrixScalar>(matrices: &mut ArrayRef3<T>) -> Stack<'_, T> {
    Stack::new(Place::new(matrices.as_mut_ptr(), matrices.shape(), matrices.strides()))
}

fn stack_of_cells<T: MatrixScalar>(shadow: ArrayCells<'_, T, Ix3>) -> Stack<'_, T> {
    // A `MathCell` is a transparent `Cell`, which is a transparent `UnsafeCell`.
    Stack::new(Place::new(shadow.as_ptr().cast_mut().cast(), shadow.shape(), shadow.strides()))
}

fn read<'a, T: MatrixScalar>(trans: Trans, Dual { value, shadow }: Dual<'a, ArrayRef3<T>>) -> Read<'a, T> {
    Read { trans, value: stack(value), shadow: shadow.get().map(stack_of_cells) }
}

/// Cᵢ ← α·op(Aᵢ)·op(Bᵢ) + β·Cᵢ
#[derive(pullback_macros::Rule, Default)]
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
    update: Update<T, Host>,
}

impl<T: MatrixScalar> GemmBatched<T> {
    #[allow(clippy::too_many_arguments, reason = "those of gemm")]
    fn run(
        &mut self,
        trans_a: Trans,
        trans_b: Trans,
        alpha: T,
        a: &ArrayRef3<T>,
        b: &ArrayRef3<T>,
        beta: T,
        c: &mut ArrayRef3<T>,
    ) {
        let (a, b, c) = ((trans_a, stack(a)), (trans_b, stack(b)), stack_to_write(c));
        // SAFETY: `c` is borrowed uniquely and, being mutable, does not overlap itself.
        unsafe { self.update.run("gemm_batched", &Host, alpha, a, b, beta, c) }
    }

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
        match self.beta_is_constant {
            true => self.old_c.save_to_restore(c),
            false => self.old_c.save(c),
        }
        self.run(trans_a, trans_b, alpha, a, b, beta, c);
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
        self.old_c.restore(c.value);
        let Some(dc) = c.shadow.get() else { return (T::ZERO, T::ZERO) };
        let alpha = Factor { value: alpha, is_constant: self.alpha_is_constant };
        let beta = Factor { value: beta, is_constant: self.beta_is_constant };
        let (a, b) = (read(trans_a, a), read(trans_b, b));
        // SAFETY: no shadow overlaps a primal, and the shadow of C none of the others.
        unsafe { self.update.pull(&Host, [alpha, beta], a, b, stack(c.value), stack_of_cells(dc)) }
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
