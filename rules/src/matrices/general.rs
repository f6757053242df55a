//! *C ← α·op(A)·op(B) + β·C* in any memory

use std::marker::PhantomData;

use ndarray::{Array2, Array3};

use super::{Factor, Multiply, Read, Stack, Update};
use crate::fused::{Array, Old, Real};
use crate::heap::heap_size;
use crate::{Dual, DualMut, MatrixScalar, Rule, Trans};

/// A matrix of `f32` or `f64`, or several of one shape, which the first of three axes tells apart; wherever they are.
pub trait Matrices<T: Real + MatrixScalar>: Array<T, Memory: Multiply<T>> {}

impl<T: Real + MatrixScalar> Matrices<T> for Array2<T> {}
impl<T: Real + MatrixScalar> Matrices<T> for Array3<T> {}

/// *C ← α·op(A)·op(B) + β·C* for matrices that are all in the same memory, or for many of them at once: the `gemm` of BLAS, and on a device
/// the batched one of cuBLAS.
///
/// With three axes, *Cᵢ ← α·op(Aᵢ)·op(Bᵢ) + β·Cᵢ* for all *i*, the index of the first axis. If that has length 1 in *A* or *B*, or if there is no such
/// axis, one matrix takes part in all products. As in BLAS, *C* is not read if β is 0, nor are *A* and *B* if α is 0.
///
/// For views of the host's arrays there are [`gemm`](fn@crate::gemm) and [`gemm_batched`](fn@crate::blas::gemm_batched).
///
/// ```
/// use ndarray::{Array3, array};
/// use pullback_rules::{Trans, general_product};
///
/// let (a, b) = (array![[1.0, 3.0], [2.0, 4.0]], array![[1.0], [0.5]]);
/// let mut c = array![[1.0], [1.0]];
/// general_product(Trans::Yes, Trans::No, 2.0, &a, &b, -1.0, &mut c);
/// assert_eq!(c, array![[3.0], [9.0]]);
///
/// // The same weights for all.
/// let x = array![[[1.0, 1.0]], [[0.0, 2.0]]];
/// let mut y = Array3::zeros((2, 1, 2));
/// general_product(Trans::No, Trans::No, 1.0, &x, &a, 0.0, &mut y);
/// assert_eq!(y, array![[[3.0, 7.0]], [[4.0, 8.0]]]);
/// ```
///
/// # Gradient
/// With *Ċ* for the gradient with respect to *C* and ⟨·, ·⟩ for the sum of the products of elements: *op(Ȧ) += α·Ċ·op(B)ᵀ*,
/// *op(Ḃ) += α·op(A)ᵀ·Ċ*, *α̇ = ⟨Ċ·op(B)ᵀ, op(A)⟩*, *β̇ = ⟨Ċ, C⟩* with the old *C*, *Ċ ← β·Ċ* (Giles, *Collected matrix derivative results for
/// forward and reverse mode algorithmic differentiation*, 2008, section 2.2). Those of α, β and of a matrix that takes part in several
/// products are sums over these.
///
/// It keeps the old *C*, unless the caller has [forgone](crate::Rule::forgo) both that and *β̇*, and one of the products in *Ȧ* and *Ḃ* where *α̇* is
/// wanted. *α̇* and *β̇* are numbers of the host's: for these the pullback waits for a device. Where α and β are constants it does not.
///
/// # Panics
/// If the shapes do not fit, if matrices on a device have gaps along both of their axes, or if the device fails.
pub fn general_product<T, A, B, C>(trans_a: Trans, trans_b: Trans, alpha: T, a: &A, b: &B, beta: T, c: &mut C)
where
    T: Real + MatrixScalar,
    A: Matrices<T>,
    B: Matrices<T, Memory = A::Memory>,
    C: Matrices<T, Memory = A::Memory>,
{
    GeneralProduct::<T, A, B, C>::default().run(trans_a, trans_b, alpha, a, b, beta, c);
}

fn read<'a, T: Real + MatrixScalar, A: Matrices<T>>(
    trans: Trans,
    Dual { value, shadow }: Dual<'a, A>,
) -> Read<'a, T> {
    let shadow = shadow.get().map(|shadow| Stack::new(A::shadow_source(&shadow).place));
    Read { trans, value: Stack::new(value.source().place), shadow }
}

#[derive(Rule)]
#[rule(pub fn general_product<
    T: Real + MatrixScalar,
    A: Matrices<T>,
    B: Matrices<T, Memory = A::Memory>,
    C: Matrices<T, Memory = A::Memory>,
>(
    #[constant] trans_a: Trans,
    #[constant] trans_b: Trans,
    alpha: T,
    a: &A,
    b: &B,
    beta: T,
    c: &mut C,
))]
struct GeneralProduct<
    T: Real + MatrixScalar,
    A: Matrices<T>,
    B: Matrices<T, Memory = A::Memory>,
    C: Matrices<T, Memory = A::Memory>,
> {
    #[rule(restores = c)]
    old_c: OldC<T, C>,
    #[rule(constant = alpha)]
    alpha_is_constant: bool,
    #[rule(constant = beta)]
    beta_is_constant: bool,
    update: Update<T, A::Memory>,
    operands: PhantomData<fn() -> B>,
}

/// What C held, which is wanted for *β̇* as well.
struct OldC<T: Real, C: Array<T>> {
    copy: Old<T, C>,
    is_forgone: bool,
}

impl<T: Real, C: Array<T>> OldC<T, C> {
    fn forgo(&mut self) {
        self.is_forgone = true;
    }
}

heap_size! { [T: Real, C: Array<T>] OldC<T, C> { copy } }

impl<T, A, B, C> Default for GeneralProduct<T, A, B, C>
where
    T: Real + MatrixScalar,
    A: Matrices<T>,
    B: Matrices<T, Memory = A::Memory>,
    C: Matrices<T, Memory = A::Memory>,
{
    fn default() -> Self {
        GeneralProduct {
            old_c: OldC { copy: Old::default(), is_forgone: false },
            alpha_is_constant: false,
            beta_is_constant: false,
            update: Update::default(),
            operands: PhantomData,
        }
    }
}

impl<T, A, B, C> GeneralProduct<T, A, B, C>
where
    T: Real + MatrixScalar,
    A: Matrices<T>,
    B: Matrices<T, Memory = A::Memory>,
    C: Matrices<T, Memory = A::Memory>,
{
    #[allow(clippy::too_many_arguments, reason = "those of gemm")]
    fn run(&mut self, trans_a: Trans, trans_b: Trans, alpha: T, a: &A, b: &B, beta: T, c: &mut C) {
        let memory = c.memory();
        let (a, b) = (Stack::new(a.source().place), Stack::new(b.source().place));
        let c = Stack::new(c.sink().place.expect("an array"));
        // SAFETY: `c` is borrowed uniquely and does not overlap itself.
        unsafe {
            self.update.run("general_product", &memory, alpha, (trans_a, a), (trans_b, b), beta, c);
        }
    }

    #[allow(clippy::too_many_arguments, reason = "those of gemm")]
    fn forward(&mut self, trans_a: Trans, trans_b: Trans, alpha: T, a: &A, b: &B, beta: T, c: &mut C) {
        if !(self.old_c.is_forgone && self.beta_is_constant) {
            self.old_c.copy.save(c);
        }
        self.run(trans_a, trans_b, alpha, a, b, beta, c);
    }

    #[allow(clippy::too_many_arguments, reason = "those of gemm")]
    fn pullback(
        &mut self,
        trans_a: Trans,
        trans_b: Trans,
        alpha: T,
        a: Dual<'_, A>,
        b: Dual<'_, B>,
        beta: T,
        c: DualMut<'_, C>,
    ) -> (T, T) {
        self.old_c.copy.restore(c.value);
        let Some(dc) = c.shadow.get() else { return (T::ZERO, T::ZERO) };
        let alpha = Factor { value: alpha, is_constant: self.alpha_is_constant };
        let beta = Factor { value: beta, is_constant: self.beta_is_constant };
        let (a, b) = (read(trans_a, a), read(trans_b, b));
        let (old, dc) = (Stack::new(c.value.source().place), Stack::new(C::shadow_source(&dc).place));
        // SAFETY: no shadow overlaps a primal, and that of C none of the others.
        unsafe { self.update.pull(&c.value.memory(), [alpha, beta], a, b, old, dc) }
    }
}
