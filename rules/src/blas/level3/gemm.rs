//! C ← α·op(A)·op(B) + β·C

use ndarray::{Array2, ArrayRef2};

use crate::activation::{Dual, DualMut};
use crate::blas::adjoint::{Factor, Update};
use crate::blas::backend::{MatrixScalar, SmallPlan, multiply};
use crate::blas::cases::{Allocates, Case, LAYOUTS, Layout, Random};
use crate::blas::operand::Operand;
use crate::blas::options::Trans;

/// *C ← α·op(A)·op(B) + β·C*, for *op(A)* m×k, *op(B)* k×n and *C* m×n; the `gemm` of BLAS.
///
/// The matrices may have any layout: row- or column-major, transposed, sliced, reversed; *A* and *B* may be broadcast. As in
/// BLAS, *C* is not read if β is 0, nor are *A* and *B* if α is 0. Nothing is allocated.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::{Trans, gemm};
///
/// let a = array![[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]];
/// let b = array![[1.0, 0.0], [1.0, 2.0]];
/// let mut c = array![[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]];
/// gemm(Trans::Yes, Trans::No, 2.0, &a, &b, -1.0, &mut c);
/// assert_eq!(c, array![[5.0, 7.0], [13.0, 15.0], [21.0, 23.0]]);
/// ```
///
/// # Gradient
/// With *Ċ* for the gradient with respect to *C* and ⟨·, ·⟩ for the sum of the products of elements: *op(Ȧ) += α·Ċ·op(B)ᵀ*,
/// *op(Ḃ) += α·op(A)ᵀ·Ċ*, *α̇ = ⟨Ċ, op(A)·op(B)⟩ = ⟨Ċ·op(B)ᵀ, op(A)⟩*, *β̇ = ⟨Ċ, C⟩* with the old *C*, *Ċ ← β·Ċ* (Giles,
/// *Collected matrix derivative results for forward and reverse mode algorithmic differentiation*, 2008, section 2.2).
///
/// The old *C* is not kept where the caller has [forgone](crate::Rule::forgo) both that and *β̇*.
///
/// # Panics
/// If the shapes do not fit.
#[inline]
pub fn gemm<T: MatrixScalar>(
    trans_a: Trans,
    trans_b: Trans,
    alpha: T,
    a: &ArrayRef2<T>,
    b: &ArrayRef2<T>,
    beta: T,
    c: &mut ArrayRef2<T>,
) {
    run(&mut SmallPlan::default(), trans_a, trans_b, alpha, a, b, beta, c, None);
}

#[inline(never)]
#[allow(clippy::too_many_arguments, reason = "those of gemm")]
fn run<T: MatrixScalar>(
    plan: &mut SmallPlan<T>,
    trans_a: Trans,
    trans_b: Trans,
    alpha: T,
    a: &ArrayRef2<T>,
    b: &ArrayRef2<T>,
    beta: T,
    c: &mut ArrayRef2<T>,
    keep: Option<&mut [T]>,
) {
    let (op_a, op_b) = (trans_a.operand(Operand::read(a)), trans_b.operand(Operand::read(b)));
    if op_a.columns != op_b.rows || c.dim() != (op_a.rows, op_b.columns) {
        mismatch(c.dim(), (op_a.rows, op_a.columns), (op_b.rows, op_b.columns));
    }
    // SAFETY: `c` is borrowed uniquely and, being mutable, does not overlap itself.
    unsafe { multiply(plan, alpha, op_a, op_b, beta, Operand::write(c), keep) }
}

#[cold]
#[track_caller]
fn mismatch(c: (usize, usize), a: (usize, usize), b: (usize, usize)) -> ! {
    if a.1 != b.0 {
        panic!("gemm: op(A) is {}×{} but op(B) is {}×{}", a.0, a.1, b.0, b.1);
    }
    panic!("gemm: op(A)·op(B) is {}×{} but C is {}×{}", a.0, b.1, c.0, c.1);
}

/// C ← α·op(A)·op(B) + β·C
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn gemm<T: MatrixScalar>(
    #[constant] trans_a: Trans,
    #[constant] trans_b: Trans,
    alpha: T,
    a: &ArrayRef2<T>,
    b: &ArrayRef2<T>,
    beta: T,
    c: &mut ArrayRef2<T>,
))]
struct Gemm<T: MatrixScalar> {
    #[rule(restores = c)]
    update: Update<T>,
    #[rule(constant = alpha)]
    alpha_is_constant: bool,
    #[rule(constant = beta)]
    beta_is_constant: bool,
    /// For the product that gives C.
    plan: SmallPlan<T>,
}

impl<T: MatrixScalar> Gemm<T> {
    #[inline]
    #[allow(clippy::too_many_arguments, reason = "those of gemm")]
    fn forward(
        &mut self,
        trans_a: Trans,
        trans_b: Trans,
        alpha: T,
        a: &ArrayRef2<T>,
        b: &ArrayRef2<T>,
        beta: T,
        c: &mut ArrayRef2<T>,
    ) {
        let keep = self.update.place(self.beta_is_constant, c.len());
        run(&mut self.plan, trans_a, trans_b, alpha, a, b, beta, c, keep);
    }

    #[allow(clippy::too_many_arguments, reason = "those of gemm")]
    fn pullback(
        &mut self,
        trans_a: Trans,
        trans_b: Trans,
        alpha: T,
        a: Dual<'_, ArrayRef2<T>>,
        b: Dual<'_, ArrayRef2<T>>,
        beta: T,
        c: DualMut<'_, ArrayRef2<T>>,
    ) -> (T, T) {
        let (da, db) = (a.shadow.get().map(Operand::cells), b.shadow.get().map(Operand::cells));
        let a = (trans_a.operand(Operand::read(a.value)), da.map(|da| trans_a.operand(da)));
        let b = (trans_b.operand(Operand::read(b.value)), db.map(|db| trans_b.operand(db)));
        let alpha = Factor { value: alpha, is_constant: self.alpha_is_constant };
        let beta = Factor { value: beta, is_constant: self.beta_is_constant };
        let (c, dc) = (Operand::write(c.value), c.shadow.get().map(Operand::cells));
        // SAFETY: `c` is borrowed uniquely and, being mutable, does not overlap itself; no shadow overlaps a primal, and the shadow
        // of C none of the others.
        unsafe { self.update.pull([alpha, beta], a, b, c, dc) }
    }
}

/// What tests and benchmarks call it on.
#[allow(clippy::type_complexity, reason = "the arguments of gemm")]
pub fn case<T: MatrixScalar>() -> Case<(Trans, Trans, T, Array2<T>, Array2<T>, T, Array2<T>)> {
    let random = &mut Random::new();
    let mut inputs = Vec::new();
    for variant in 0..16 {
        let bit = |i: usize| if variant >> i & 1 == 1 { Trans::Yes } else { Trans::No };
        let (trans_a, trans_b) = (bit(0), bit(1));
        let (m, n, k) =
            [(2, 3, 4), (1, 1, 1), (20, 1, 2), (0, 2, 2), (17, 16, 17), (3, 3, 0), (4, 40, 3)][variant % 7];
        let shape = |trans, rows, columns| match trans {
            Trans::No => (rows, columns),
            Trans::Yes => (columns, rows),
        };
        let a = random.matrix(shape(trans_a, m, k), LAYOUTS[variant % 4]);
        let b = random.matrix(shape(trans_b, k, n), LAYOUTS[variant / 4]);
        let c = random.matrix((m, n), LAYOUTS[(variant / 3 + 1) % 4]);
        let scalars = [T::ONE, T::ZERO, T::of(-1.5)];
        inputs.push((trans_a, trans_b, scalars[variant % 3], a, b, scalars[variant / 2 % 3], c));
    }
    let mut misfit = |a, b, c| {
        let matrices = [a, b, c].map(|shape| random.matrix(shape, Layout::C));
        let [a, b, c] = matrices;
        (Trans::No, Trans::No, T::ONE, a, b, T::ONE, c)
    };
    Case {
        name: "gemm",
        allocates: Allocates::Once,
        inputs,
        panicking: vec![misfit((2, 3), (2, 3), (2, 3)), misfit((2, 2), (2, 3), (3, 2))],
        sizes: &[8, 32, 128, 512],
        sized: |n| {
            let random = &mut Random::new();
            let [a, b, c] = [(); 3].map(|()| random.matrix((n, n), Layout::C));
            (Trans::No, Trans::No, T::ONE, a, b, T::ZERO, c)
        },
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::Gemm;
    use crate::Shadow;
    use crate::Trans;
    use crate::activation::{Activation, Dual, DualMut};

    const ALPHA: usize = 2;
    const BETA: usize = 5;
    const C: usize = 6;

    /// The old C is saved unless neither it nor β's gradient is wanted, and gradients that nobody wants are 0.
    #[test]
    fn forgone() {
        let (a, b) = (Array2::ones((2, 3)), Array2::ones((3, 2)));
        for (beta, forgone) in [0.0, 0.5].into_iter().flat_map(|beta| (0..8).map(move |bits| (beta, bits))) {
            let forgoes = |bit: usize| forgone >> bit & 1 == 1;
            let [no_alpha, no_beta, no_c] = [0, 1, 2].map(forgoes);
            let mut frame = Gemm::default();
            for (parameter, _) in [ALPHA, BETA, C].into_iter().zip([no_alpha, no_beta, no_c]).filter(|p| p.1)
            {
                frame.forgo(parameter);
            }
            let (mut c, mut dc) = (Array2::from_elem((2, 2), 7.0), Array2::ones((2, 2)));
            let (mut da, mut db) = (Array2::zeros((2, 3)), Array2::zeros((3, 2)));
            frame.forward(Trans::No, Trans::No, 2.0, &a, &b, beta, &mut c);
            assert_eq!(c, Array2::from_elem((2, 2), 6.0 + 7.0 * beta));
            assert_eq!(frame.update.old_c.capacity() == 0, no_beta && no_c);
            let gradients = frame.pullback(
                Trans::No,
                Trans::No,
                2.0,
                Dual { value: &a, shadow: Shadow::new(da.cell_view()) },
                Dual { value: &b, shadow: Shadow::new(db.cell_view()) },
                beta,
                DualMut { value: &mut c, shadow: Shadow::new(dc.cell_view()) },
            );
            assert_eq!(gradients, (if no_alpha { 0.0 } else { 12.0 }, if no_beta { 0.0 } else { 28.0 }));
            assert_eq!(frame.update.product.capacity() == 0, no_alpha);
            assert!(no_c || c == Array2::from_elem((2, 2), 7.0));
            assert_eq!((da, db), (Array2::from_elem((2, 3), 4.0), Array2::from_elem((3, 2), 4.0)));
            assert_eq!(dc, Array2::from_elem((2, 2), beta));
        }
    }
}
