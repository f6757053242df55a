//! Products with a symmetric matrix

use ndarray::{Array2, ArrayRef2};

use crate::activation::{Dual, DualMut};
use crate::blas::adjoint::{Factor, of_symmetric, place};
use crate::blas::backend::{MatrixScalar, keep, restore, scale};
use crate::blas::cases::{Allocates, Case, LAYOUTS, Layout, Random};
use crate::blas::elementwise::inner;
use crate::blas::operand::Operand;
use crate::blas::options::{Side, Uplo, assert_square};
use crate::blas::triangular::accumulate_symmetric;
use crate::saved::Saved;

/// *C ← α·A·B + β·C*, or *C ← α·B·A + β·C* with *A* on the right, for a symmetric n×n matrix *A* and m×k matrices *B* and *C*
/// (m = n on the left, k = n on the right); the `symm` of BLAS.
///
/// The matrices may have any layout; *A* and *B* may be broadcast. The triangle of *A* that `uplo` does not name is neither read
/// nor given a gradient. As in BLAS, *C* is not read if β is 0, nor are *A* and *B* if α is 0. Nothing is allocated.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::{Side, Uplo, symm};
///
/// let a = array![[1.0, f64::NAN], [2.0, 3.0]];
/// let b = array![[1.0, 0.0], [1.0, 1.0]];
/// let mut c = array![[1.0, 1.0], [1.0, 1.0]];
/// symm(Side::Left, Uplo::Lower, 2.0, &a, &b, -1.0, &mut c);
/// assert_eq!(c, array![[5.0, 3.0], [9.0, 5.0]]);
/// ```
///
/// # Gradient
/// With *Ċ* for the gradient with respect to the result: *Ḃ += α·A·Ċ* (on the right: *α·Ċ·A*), *α̇ = ⟨A·Ċ, B⟩*, *β̇ = ⟨Ċ, C⟩* with
/// the old *C*, *Ċ ← β·Ċ*. With *G = α·Ċ·Bᵀ* (on the right: *α·Bᵀ·Ċ*), the gradient of a referenced element off the diagonal is the sum of
/// both of its uses, *Gᵢⱼ + Gⱼᵢ*, and that of one on the diagonal is *Gᵢᵢ* (Giles, *Collected matrix derivative results for forward
/// and reverse mode algorithmic differentiation*, 2008, section 2.2.2).
///
/// It keeps *C*, unless the caller has [forgone](crate::Rule::forgo) both that and *β̇*, and the product *A·Ċ* where *α̇* is
/// wanted.
///
/// # Panics
/// If *A* is not square, or the shapes do not fit.
#[inline(never)]
pub fn symm<T: MatrixScalar>(
    side: Side,
    uplo: Uplo,
    alpha: T,
    a: &ArrayRef2<T>,
    b: &ArrayRef2<T>,
    beta: T,
    c: &mut ArrayRef2<T>,
) {
    assert_square("symm", side, a.dim(), b.dim());
    if b.dim() != c.dim() {
        mismatch(b.dim(), c.dim());
    }
    let l = uplo.lower(Operand::read(a));
    let (b, c) = (side.left(Operand::read(b)), side.left(Operand::write(c)));
    // SAFETY: `c` is borrowed uniquely and, being mutable, does not overlap itself. The shapes fit.
    unsafe {
        scale(beta, c);
        accumulate_symmetric(alpha, l, T::ONE, b, c);
    }
}

#[cold]
#[track_caller]
fn mismatch(b: (usize, usize), c: (usize, usize)) -> ! {
    panic!("symm: B is {}×{} but C is {}×{}", b.0, b.1, c.0, c.1);
}

/// C ← α·A·B + β·C
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn symm<T: MatrixScalar>(
    #[constant] side: Side,
    #[constant] uplo: Uplo,
    alpha: T,
    a: &ArrayRef2<T>,
    b: &ArrayRef2<T>,
    beta: T,
    c: &mut ArrayRef2<T>,
))]
struct Symm<T: MatrixScalar> {
    #[rule(restores = c)]
    old_c: Saved<T>,
    #[rule(constant = alpha)]
    alpha_is_constant: bool,
    #[rule(constant = beta)]
    beta_is_constant: bool,
    /// A·Ċ
    product: Vec<T>,
}

impl<T: MatrixScalar> Symm<T> {
    #[allow(clippy::too_many_arguments, reason = "those of symm")]
    fn forward(
        &mut self,
        side: Side,
        uplo: Uplo,
        alpha: T,
        a: &ArrayRef2<T>,
        b: &ArrayRef2<T>,
        beta: T,
        c: &mut ArrayRef2<T>,
    ) {
        let place = place(&mut self.old_c, self.beta_is_constant, c.len());
        if let Some(place) = place {
            // SAFETY: the buffer is nobody else's.
            unsafe { keep(Operand::read(c), place) }
        }
        symm(side, uplo, alpha, a, b, beta, c);
    }

    #[allow(clippy::too_many_arguments, reason = "those of symm")]
    fn pullback(
        &mut self,
        side: Side,
        uplo: Uplo,
        alpha: T,
        a: Dual<'_, ArrayRef2<T>>,
        b: Dual<'_, ArrayRef2<T>>,
        beta: T,
        c: DualMut<'_, ArrayRef2<T>>,
    ) -> (T, T) {
        let l = uplo.lower(Operand::read(a.value));
        let x = side.left(Operand::read(b.value));
        let (mut dalpha, mut dbeta) = (T::ZERO, T::ZERO);
        // SAFETY: no shadow overlaps a primal, and the shadow of C none of the others. Those of A and B may be the same
        // cells, and are updated one after the other.
        unsafe {
            if let Some(old_c) = self.old_c.take() {
                restore(Operand::write(c.value), old_c);
            }
            let Some(dc) = c.shadow.get().map(Operand::cells) else { return (dalpha, dbeta) };
            if !self.beta_is_constant {
                dbeta = inner(dc, Operand::read(c.value));
            }
            let dy = side.left(dc);
            let dx = b.shadow.get().map(|db| side.left(Operand::cells(db)));
            let alpha = Factor { value: alpha, is_constant: self.alpha_is_constant };
            let dl = a.shadow.get().map(|da| uplo.lower(Operand::cells(da)));
            dalpha = of_symmetric(&mut self.product, alpha, (l, dl), (x, dx), dy);
            scale(beta, dc);
        }
        (dalpha, dbeta)
    }
}

/// What tests and benchmarks call it on.
#[allow(clippy::type_complexity, reason = "the arguments of symm")]
pub fn case<T: MatrixScalar>() -> Case<(Side, Uplo, T, Array2<T>, Array2<T>, T, Array2<T>)> {
    let random = &mut Random::new();
    let mut inputs = Vec::new();
    for variant in 0..12 {
        let side = if variant % 2 == 0 { Side::Left } else { Side::Right };
        let uplo = if variant / 2 % 2 == 0 { Uplo::Upper } else { Uplo::Lower };
        let (n, others) = [(3, 2), (1, 1), (40, 2), (2, 5), (4, 0), (0, 2), (5, 3)][variant % 7];
        let shape = if side == Side::Left { (n, others) } else { (others, n) };
        let a = random.half(n, uplo, LAYOUTS[variant % 4]);
        let (b, c) = (
            random.matrix(shape, LAYOUTS[(variant / 3) % 4]),
            random.matrix(shape, LAYOUTS[(variant / 2 + 1) % 4]),
        );
        let scalars = [T::ONE, T::ZERO, T::of(-1.5)];
        inputs.push((side, uplo, scalars[variant % 3], a, b, scalars[variant / 2 % 3], c));
    }
    let mut misfit = |a, b, c| {
        let matrices = [a, b, c].map(|shape| random.matrix(shape, Layout::C));
        let [a, b, c] = matrices;
        (Side::Left, Uplo::Lower, T::ONE, a, b, T::ONE, c)
    };
    Case {
        name: "symm",
        allocates: Allocates::Once,
        inputs,
        panicking: vec![
            misfit((2, 3), (2, 3), (2, 3)),
            misfit((2, 2), (3, 2), (3, 2)),
            misfit((2, 2), (2, 3), (3, 2)),
        ],
        sizes: &[8, 32, 128, 512],
        sized: |n| {
            let random = &mut Random::new();
            let a = random.half(n, Uplo::Lower, Layout::C);
            let [b, c] = [(); 2].map(|()| random.matrix((n, n), Layout::C));
            (Side::Left, Uplo::Lower, T::ONE, a, b, T::ZERO, c)
        },
    }
}
