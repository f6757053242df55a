//! Products of matrices whose elements have parts, dual numbers and numbers in lanes: products of the matrices of these parts, by the
//! kernels for those.

use std::mem::MaybeUninit;

use ndarray::ArrayRef2;

use super::backend::sealed::Sealed;
use super::backend::{MatMul, MatrixScalar, Product, SmallPlan, multiply, scale};
use super::constants::Way;
use super::elementwise::add;
use super::matvec::MatVec;
use super::operand::Operand;
use crate::dual::{DualNumber, Lanes};
use crate::float::Float;

impl<T: Float, const N: usize> MatrixScalar for DualNumber<T, N> {}
impl<const K: usize> MatrixScalar for Lanes<K> {}

/// *C ← α·A·B + β·C* for parts of the matrices of a product. Where that is small, elements that are adjacent there are so here as well: then
/// the kernels are the same as for floats in the place of the matrices, and so are the bits.
///
/// # Safety
/// As for [`multiply`].
unsafe fn times<W: MatrixScalar, T: MatrixScalar>(
    whole: &Product<'_, W>,
    alpha: T,
    a: Operand<'_, T>,
    b: Operand<'_, T>,
    beta: T,
    c: Operand<'_, T>,
) {
    if alpha.is_zero() && beta.is_one() {
        return;
    }
    let (plan, small) = (&mut SmallPlan::default(), SmallPlan::is_for(whole));
    let mut places = [const { MaybeUninit::<[T; SmallPlan::<f64>::VOLUME]>::uninit() }; 2];
    let [place_a, place_c] = places.each_mut().map(|place| place.as_mut_ptr().cast());
    // SAFETY: as the caller guarantees. No matrix of a small product has more elements than there is room for.
    unsafe {
        let mut adjacent_a = a;
        if small && whole.a.row_stride == 1 {
            adjacent_a = Operand::packed(place_a, a.rows, a.columns);
            adjacent_a.assign(a);
        }
        if !(small && whole.c.row_stride == 1) {
            return multiply(plan, alpha, adjacent_a, b, beta, c, None);
        }
        let adjacent_c = Operand::packed(place_c, c.rows, c.columns);
        if !beta.is_zero() {
            adjacent_c.assign(c);
        }
        multiply(plan, alpha, adjacent_a, b, beta, adjacent_c, None);
        c.assign(adjacent_c);
    }
}

/// A product of a matrix and a vector that is not small. To pass over the matrix is what takes time then, and once is enough for all parts.
/// The values come as those of floats do: as small products are chosen, so are those of their parts.
#[inline]
fn in_one_pass<T: MatrixScalar>(product: &Product<'_, T>) -> bool {
    !SmallPlan::is_for(product) && MatVec.takes(product)
}

impl<T: Float, const N: usize> Sealed for DualNumber<T, N> {
    const ZERO: Self = Self::NOUGHT;
    const ONE: Self = Self::variable(T::ONE, [T::ZERO; N]);
    const SMALLEST: Self = Self::MIN_POSITIVE;
    const SPACING: Self = Self::EPSILON;

    /// *Ċ ← α·(Ȧ·B + A·Ḃ) + α̇·A·B + β·Ċ + β̇·C*
    #[allow(private_interfaces, reason = "sealed")]
    unsafe fn multiply(_: &mut SmallPlan<Self>, product: &Product<'_, Self>) {
        let Product { alpha, a, b, beta, c, .. } = *product;
        let [a_0, b_0, c_0] = [a, b, c].map(|matrix| matrix.part(0));
        // SAFETY: as the caller guarantees; parts overlap where the matrices do.
        unsafe {
            if in_one_pass(product) && !alpha.value.is_zero() {
                return MatVec.run(product);
            }
            product.keep();
            for (k, (dalpha, dbeta)) in alpha.tangent.into_iter().zip(beta.tangent).enumerate() {
                let [da, db, dc] = [a, b, c].map(|matrix| matrix.part(k + 1));
                scale(beta.value, dc);
                if !dbeta.is_zero() {
                    add(dbeta, c_0, dc);
                }
                times(product, alpha.value, da, b_0, T::ONE, dc);
                times(product, alpha.value, a_0, db, T::ONE, dc);
                times(product, dalpha, a_0, b_0, T::ONE, dc);
            }
            times(product, alpha.value, a_0, b_0, beta.value, c_0);
        }
    }

    /// *Ċ ← Ȧ·B + A·Ḃ*
    fn by_ndarray(a: &ArrayRef2<Self>, b: &ArrayRef2<Self>, c: &mut ArrayRef2<Self>) {
        let [a, b, c] = [Operand::read(a), Operand::read(b), Operand::write(c)];
        let [a_0, b_0] = [a, b].map(|matrix| matrix.part(0));
        let plan = &mut SmallPlan::default();
        // SAFETY: the operands are those of references, and ndarray checks the shapes. The parts of *C* do not overlap.
        unsafe {
            T::by_ndarray(&a_0.view(), &b_0.view(), &mut c.part(0).view_mut());
            for k in 1..=N {
                multiply(plan, T::ONE, a.part(k), b_0, T::ZERO, c.part(k), None);
                multiply(plan, T::ONE, a_0, b.part(k), T::ONE, c.part(k), None);
            }
        }
    }

    /// *Ċ ← Ȧ·B*
    #[allow(private_interfaces, reason = "sealed")]
    unsafe fn by_constants(a: Operand<'_, Self>, b: Operand<'_, f64>, c: Operand<'_, Self>, way: Way) {
        for k in 0..=N {
            let way = if k > 0 && way == Way::ByNdarray { Way::Set } else { way };
            // SAFETY: as the caller guarantees; parts overlap where the matrices do.
            unsafe { T::by_constants(a.part(k), b, c.part(k), way) }
        }
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.value.is_zero() && self.tangent.iter().all(|t| t.is_zero())
    }

    #[inline(always)]
    fn is_one(&self) -> bool {
        self.value.is_one() && self.tangent.iter().all(|t| t.is_zero())
    }

    #[inline(always)]
    fn scaling(self, x: Self) -> Self {
        let mut scaled = Self { value: self.value.scaling(x.value), tangent: x.tangent };
        for (t, factor) in scaled.tangent.iter_mut().zip(self.tangent) {
            *t = self.value.scaling(*t) + factor.scaling(x.value);
        }
        scaled
    }

    #[inline(always)]
    fn of(x: f64) -> Self {
        Self::constant(x)
    }

    #[inline(always)]
    fn magnitude(self) -> Self {
        self.abs()
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }
}

impl<const K: usize> Sealed for Lanes<K> {
    const ZERO: Self = Self::splat(0.0);
    const ONE: Self = Self::splat(1.0);
    const SMALLEST: Self = Self::splat(f64::MIN_POSITIVE);
    const SPACING: Self = Self::splat(f64::EPSILON);

    #[allow(private_interfaces, reason = "sealed")]
    unsafe fn multiply(_: &mut SmallPlan<Self>, product: &Product<'_, Self>) {
        let Product { alpha, a, b, beta, c, .. } = *product;
        // SAFETY: as the caller guarantees; parts overlap where the matrices do.
        unsafe {
            if in_one_pass(product) {
                return MatVec.run(product);
            }
            product.keep();
            for k in 0..K {
                times::<_, f64>(product, alpha.0[k], a.part(k), b.part(k), beta.0[k], c.part(k));
            }
        }
    }

    /// Once for all lanes: of a value they hold the same.
    fn by_ndarray(a: &ArrayRef2<Self>, b: &ArrayRef2<Self>, c: &mut ArrayRef2<Self>) {
        let [a, b, whole] = [Operand::read(a), Operand::read(b), Operand::write(c)];
        let [a, b] = [a, b].map(|matrix| matrix.part::<f64>(0));
        // SAFETY: the operands are those of references.
        unsafe { f64::by_ndarray(&a.view(), &b.view(), &mut whole.part(0).view_mut()) }
        c.map_inplace(|x| *x = Self::splat(x.0[0]));
    }

    #[allow(private_interfaces, reason = "sealed")]
    unsafe fn by_constants(a: Operand<'_, Self>, b: Operand<'_, f64>, c: Operand<'_, Self>, way: Way) {
        // SAFETY: as the caller guarantees; parts overlap where the matrices do.
        unsafe {
            if way == Way::ByNdarray {
                f64::by_constants(a.part(0), b, c.part(0), way);
                return c.view_mut().map_inplace(|x| *x = Self::splat(x.0[0]));
            }
            for k in 0..K {
                f64::by_constants(a.part(k), b, c.part(k), way);
            }
        }
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.0.iter().all(|x| x.is_zero())
    }

    #[inline(always)]
    fn is_one(&self) -> bool {
        self.0.iter().all(|x| x.is_one())
    }

    #[inline(always)]
    fn scaling(self, mut x: Self) -> Self {
        for (x, factor) in x.0.iter_mut().zip(self.0) {
            *x = factor.scaling(*x);
        }
        x
    }

    #[inline(always)]
    fn of(x: f64) -> Self {
        Self::splat(x)
    }

    #[inline(always)]
    fn magnitude(self) -> Self {
        Float::abs(self)
    }

    #[inline(always)]
    fn root(self) -> Self {
        Float::sqrt(self)
    }
}
