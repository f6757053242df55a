//! The number itself, its order and how it is shown. Its numeric methods are lines of the table in `scalar.rs`.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt::{self, Debug, Display, LowerExp};
use std::iter::{Product, Sum};

use crate::float::{Float, Scalar};
use crate::scalar::SinCosRule;

/// A number with its derivatives in `N` directions: *x + Σᵢ tᵢ·εᵢ*, with *εᵢ·εⱼ = 0*.
///
/// It has the operators and methods of `f64`, mixes with `f64` in both orders, and compares by its value alone, so that a program
/// takes the way that it takes for that value. With dual numbers as its components, *T* = `DualNumber<f64, M>`, it carries second
/// derivatives.
///
/// ```
/// use pullback_rules::DualNumber;
///
/// let x = DualNumber::variable(3.0, [1.0]);
/// let y = (x * x).exp() * 0.5;
/// assert_eq!(y.value(), 0.5 * 9.0_f64.exp());
/// assert!((y.tangent()[0] - 3.0 * 9.0_f64.exp()).abs() < 1e-9);
/// ```
///
/// Value and derivatives are read by methods. A gradient does not go through these: what a function is differentiated through twice
/// is its arithmetic.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DualNumber<T, const N: usize> {
    pub(crate) value: T,
    pub(crate) tangent: [T; N],
}

impl<T: Float, const N: usize> DualNumber<T, N> {
    /// Whether derivatives are computed [together](crate::dual::Together). What is not chosen by this is not even compiled, which would keep
    /// functions from being inlined.
    pub(crate) const IN_VECTORS: bool = N >= T::SOME;

    /// A number with the derivatives `tangent`.
    #[inline(always)]
    pub const fn variable(value: T, tangent: [T; N]) -> Self {
        DualNumber { value, tangent }
    }

    /// *x*
    #[inline(always)]
    pub const fn value(self) -> T {
        self.value
    }

    /// *t*, one for each direction.
    #[inline(always)]
    pub const fn tangent(self) -> [T; N] {
        self.tangent
    }

    /// Gives the number other derivatives.
    #[inline(always)]
    pub const fn set_tangent(&mut self, tangent: [T; N]) {
        self.tangent = tangent;
    }

    /// Gives the number another derivative in the direction number `k`.
    #[inline(always)]
    pub const fn set_part(&mut self, k: usize, tangent: T) {
        self.tangent[k] = tangent;
    }

    /// A number that does not depend on anything.
    #[inline(always)]
    pub fn constant(value: f64) -> Self {
        DualNumber { value: T::from_f64(value), tangent: [T::zero(); N] }
    }

    /// The derivatives of a result with the given `value`, where `slope` is its derivative with respect to `self`. An infinite slope
    /// leaves what does not change alone: *√x* at 0, of a constant.
    #[inline(always)]
    pub(crate) fn chain(self, value: T, slope: T) -> Self {
        if slope.is_finite() {
            return self.chain_finite(value, slope);
        }
        let mut result = DualNumber { value, tangent: self.tangent };
        for t in &mut result.tangent {
            if *t != T::zero() {
                *t *= slope;
            }
        }
        result
    }

    /// The same, where the slope is finite wherever the value is. That is not looked at, so that loops can run in vectors.
    #[inline(always)]
    pub(crate) fn chain_finite(self, value: T, slope: T) -> Self {
        let mut result = DualNumber { value, tangent: self.tangent };
        if const { Self::IN_VECTORS } {
            T::multiply_each(&mut result.tangent, slope);
        } else {
            for t in &mut result.tangent {
                *t *= slope;
            }
        }
        result
    }

    /// What a factor of 0 leaves of it: nothing, also where it is infinite. NaN stays, which marks what depends on what.
    #[inline(always)]
    pub(crate) fn passed_over(self) -> Self {
        let nothing = |t: T| {
            if t.is_finite() || t.is_nan() { t * T::zero() } else { T::zero() }
        };
        DualNumber { value: nothing(self.value), tangent: self.tangent.map(nothing) }
    }

    /// Adds the derivatives of another summand.
    #[inline(always)]
    pub(crate) fn plus_tangent_of(mut self, other: Self) -> Self {
        if const { Self::IN_VECTORS } {
            T::add_to_each(&mut self.tangent, &other.tangent);
        } else {
            for (t, u) in self.tangent.iter_mut().zip(other.tangent) {
                *t += u;
            }
        }
        self
    }

    /// Subtracts those of what is subtracted.
    #[inline(always)]
    pub(crate) fn minus_tangent_of(mut self, other: Self) -> Self {
        if const { Self::IN_VECTORS } {
            T::subtract_from_each(&mut self.tangent, &other.tangent);
        } else {
            for (t, u) in self.tangent.iter_mut().zip(other.tangent) {
                *t -= u;
            }
        }
        self
    }

    /// *x* without what it carries along, whatever it consists of.
    #[inline(always)]
    pub fn to_f64(self) -> f64 {
        self.value.to_f64()
    }

    /// The sine and the cosine.
    #[inline(always)]
    pub fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = self.value.sin_cos();
        (self.chain(sin, cos), self.chain(cos, -sin))
    }

    /// Whether the value is NaN.
    #[inline(always)]
    pub fn is_nan(self) -> bool {
        self.value.is_nan()
    }

    /// Whether the value is finite.
    #[inline(always)]
    pub fn is_finite(self) -> bool {
        self.value.is_finite()
    }

    /// Whether the value is infinite.
    #[inline(always)]
    pub fn is_infinite(self) -> bool {
        self.value.is_infinite()
    }

    /// Whether the value has a negative sign.
    #[inline(always)]
    pub fn is_sign_negative(self) -> bool {
        self.value.is_sign_negative()
    }

    /// Whether the value has a positive sign.
    #[inline(always)]
    pub fn is_sign_positive(self) -> bool {
        self.value.is_sign_positive()
    }

    /// The order of the values, see [`f64::total_cmp`].
    #[inline(always)]
    pub fn total_cmp(&self, other: &Self) -> Ordering {
        self.total_order().cmp(&other.total_order())
    }
}

/// `d * factor`, where `d` is likely to be a constant that the compiler knows. What does not change is not multiplied then: of floats no
/// optimiser would leave that out by itself.
#[inline(always)]
pub fn by_seed<T: Float, const N: usize>(
    d: DualNumber<T, N>,
    factor: impl Borrow<DualNumber<T, N>>,
) -> DualNumber<T, N> {
    let factor = *factor.borrow();
    if d.tangent.iter().any(|t| *t != T::zero()) {
        return d * factor;
    }
    factor.chain_finite(d.value * factor.value, d.value)
}

impl<T: Float, const N: usize> Default for DualNumber<T, N> {
    #[inline(always)]
    fn default() -> Self {
        Self::constant(0.0)
    }
}

impl<T: Float, const N: usize> From<f64> for DualNumber<T, N> {
    #[inline(always)]
    fn from(value: f64) -> Self {
        Self::constant(value)
    }
}

impl<T: Float, const N: usize> PartialEq for DualNumber<T, N> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Float, const N: usize> PartialOrd for DualNumber<T, N> {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl<T: Float, const N: usize> PartialEq<f64> for DualNumber<T, N> {
    #[inline(always)]
    fn eq(&self, other: &f64) -> bool {
        self.value.to_f64() == *other
    }
}

impl<T: Float, const N: usize> PartialOrd<f64> for DualNumber<T, N> {
    #[inline(always)]
    fn partial_cmp(&self, other: &f64) -> Option<Ordering> {
        self.value.to_f64().partial_cmp(other)
    }
}

impl<T: Float, const N: usize> PartialEq<DualNumber<T, N>> for f64 {
    #[inline(always)]
    fn eq(&self, other: &DualNumber<T, N>) -> bool {
        *self == other.value.to_f64()
    }
}

impl<T: Float, const N: usize> PartialOrd<DualNumber<T, N>> for f64 {
    #[inline(always)]
    fn partial_cmp(&self, other: &DualNumber<T, N>) -> Option<Ordering> {
        self.partial_cmp(&other.value.to_f64())
    }
}

impl<T: Debug, const N: usize> Debug for DualNumber<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} + {:?}ε", self.value, self.tangent)
    }
}

/// The value, as the function itself would show it.
impl<T: Display, const N: usize> Display for DualNumber<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: LowerExp, const N: usize> LowerExp for DualNumber<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

// Sums start as those of `f64` do, so that their values are the same to the bit.
impl<T: Float, const N: usize> Sum for DualNumber<T, N> {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        let start = Self::constant(std::iter::empty::<f64>().sum());
        iter.fold(start, |total, x| total + x)
    }
}

impl<'a, T: Float, const N: usize> Sum<&'a Self> for DualNumber<T, N> {
    fn sum<I: Iterator<Item = &'a Self>>(iter: I) -> Self {
        iter.copied().sum()
    }
}

impl<T: Float, const N: usize> Product for DualNumber<T, N> {
    fn product<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::constant(1.0), |total, x| total * x)
    }
}

impl<'a, T: Float, const N: usize> Product<&'a Self> for DualNumber<T, N> {
    fn product<I: Iterator<Item = &'a Self>>(iter: I) -> Self {
        iter.copied().product()
    }
}

// SAFETY: numbers.
unsafe impl<T: Float, const N: usize> Scalar for DualNumber<T, N> {
    #[inline(always)]
    fn gradient_seed() -> Self {
        Self::constant(1.0)
    }
    #[inline(always)]
    fn truncated_quotient(self, divisor: Self) -> Self {
        (self / divisor).trunc()
    }
    #[inline(always)]
    fn total_order(self) -> i64 {
        self.value.total_order()
    }
    #[inline(always)]
    fn vanishes(self) -> bool {
        self.value.vanishes() && self.tangent.iter().all(|t| t.vanishes())
    }
}

impl<T: Float, const N: usize> SinCosRule for DualNumber<T, N> {
    #[inline(always)]
    fn sin_cos_pullback(self, y: impl FnOnce() -> (Self, Self), d: (Self, Self)) -> Self {
        let (sin, cos) = y();
        d.0 * cos - d.1 * sin
    }
}
