//! Numbers that are pulled back from several seeds at once.

use std::cmp::Ordering;
use std::fmt::{self, Debug, Display, LowerExp};
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};

use crate::dual::DualNumber;
use crate::float::{Float, Scalar};
use crate::scalar::SinCosRule;

/// A number of a reverse pass with `K` seeds (Griewank & Walther, *Evaluating Derivatives*, section 3.2: vector mode). A value is the same
/// in all lanes, a gradient has one lane for each seed. Since gradients are linear in the seed, arithmetic goes lane by lane, and whatever
/// else is asked of a number is asked of values: that is computed once.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Lanes<const K: usize>(pub [f64; K]);

impl<const K: usize> Lanes<K> {
    /// The same number in all lanes.
    #[inline(always)]
    pub const fn splat(value: f64) -> Self {
        Lanes([value; K])
    }

    /// What is in all lanes.
    #[inline(always)]
    pub(crate) fn value(self) -> f64 {
        let value = self.0[0];
        debug_assert!(
            self.0.iter().all(|x| *x == value || x.is_nan() && value.is_nan()),
            "gradients enter rules by linear arithmetic, and nothing else is asked of them: {:?}",
            self.0
        );
        value
    }

    /// `factor` times the gradient.
    #[inline(always)]
    pub(crate) fn times(mut self, factor: f64) -> Self {
        for d in &mut self.0 {
            *d *= factor;
        }
        self
    }
}

impl<const K: usize> DualNumber<Lanes<K>, 0> {
    /// The gradient with respect to it, for the seed in lane `k`.
    #[inline(always)]
    pub fn lane(&self, k: usize) -> f64 {
        self.value.0[k]
    }
}

macro_rules! operators {
    ($($Op:ident $op:ident $OpAssign:ident $op_assign:ident;)*) => {$(
        impl<const K: usize> $OpAssign for Lanes<K> {
            #[inline(always)]
            fn $op_assign(&mut self, other: Self) {
                for (a, b) in self.0.iter_mut().zip(other.0) {
                    a.$op_assign(b);
                }
            }
        }

        impl<const K: usize> $Op for Lanes<K> {
            type Output = Self;
            #[inline(always)]
            fn $op(mut self, other: Self) -> Self {
                self.$op_assign(other);
                self
            }
        }
    )*};
}
operators! {
    Add add AddAssign add_assign;
    Sub sub SubAssign sub_assign;
    Mul mul MulAssign mul_assign;
    Div div DivAssign div_assign;
    Rem rem RemAssign rem_assign;
}

impl<const K: usize> Neg for Lanes<K> {
    type Output = Self;
    #[inline(always)]
    fn neg(mut self) -> Self {
        for x in &mut self.0 {
            *x = -*x;
        }
        self
    }
}

impl<const K: usize> Default for Lanes<K> {
    #[inline(always)]
    fn default() -> Self {
        Self::splat(0.0)
    }
}

/// A gradient is equal to another, such as zero, where it is so for all seeds.
impl<const K: usize> PartialEq for Lanes<K> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<const K: usize> PartialOrd for Lanes<K> {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value().partial_cmp(&other.value())
    }
}

macro_rules! shown {
    ($($Format:ident),*) => {$(
        impl<const K: usize> $Format for Lanes<K> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $Format::fmt(&self.value(), f)
            }
        }
    )*};
}
shown!(Debug, Display, LowerExp);

// Sums start as those of `f64` do, so that their values are the same to the bit.
impl<const K: usize> Sum for Lanes<K> {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::splat(std::iter::empty::<f64>().sum()), |total, x| total + x)
    }
}

impl<'a, const K: usize> Sum<&'a Self> for Lanes<K> {
    fn sum<I: Iterator<Item = &'a Self>>(iter: I) -> Self {
        iter.copied().sum()
    }
}

impl<const K: usize> Product for Lanes<K> {
    fn product<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::splat(1.0), |total, x| total * x)
    }
}

impl<'a, const K: usize> Product<&'a Self> for Lanes<K> {
    fn product<I: Iterator<Item = &'a Self>>(iter: I) -> Self {
        iter.copied().product()
    }
}

// SAFETY: numbers.
#[diagnostic::do_not_recommend]
unsafe impl<const K: usize> Scalar for Lanes<K> {
    #[inline(always)]
    fn gradient_seed() -> Self {
        Self::splat(1.0)
    }
    #[inline(always)]
    fn truncated_quotient(self, divisor: Self) -> Self {
        (self / divisor).trunc()
    }
    #[inline(always)]
    fn total_order(self) -> i64 {
        self.value().total_order()
    }
    #[inline(always)]
    fn vanishes(self) -> bool {
        self == Self::default()
    }
}

impl<const K: usize> SinCosRule for Lanes<K> {
    #[inline(always)]
    fn sin_cos_pullback(self, y: impl FnOnce() -> (Self, Self), d: (Self, Self)) -> Self {
        let (sin, cos) = y();
        d.0 * cos - d.1 * sin
    }
}

/// What a numeric method takes and returns, in lanes, and of `f64`.
pub(crate) trait Laned {
    /// Of `f64`.
    type Plain;
    /// What is in all lanes.
    fn plain(self) -> Self::Plain;
    /// The same in all lanes.
    fn laned(plain: Self::Plain) -> Self;
}

impl<const K: usize> Laned for Lanes<K> {
    type Plain = f64;
    #[inline(always)]
    fn plain(self) -> f64 {
        self.value()
    }
    #[inline(always)]
    fn laned(plain: f64) -> Self {
        Self::splat(plain)
    }
}

impl<const K: usize> Laned for (Lanes<K>, Lanes<K>) {
    type Plain = (f64, f64);
    #[inline(always)]
    fn plain(self) -> (f64, f64) {
        (self.0.value(), self.1.value())
    }
    #[inline(always)]
    fn laned(plain: (f64, f64)) -> Self {
        (Lanes::splat(plain.0), Lanes::splat(plain.1))
    }
}

macro_rules! itself {
    ($($t:ty),*) => {$(
        impl Laned for $t {
            type Plain = $t;
            #[inline(always)]
            fn plain(self) -> $t {
                self
            }
            #[inline(always)]
            fn laned(plain: $t) -> $t {
                plain
            }
        }
    )*};
}
itself!(bool, i32);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::ScalarRules;

    #[test]
    fn gradients_go_lane_by_lane() {
        let (x, d) = (Lanes::splat(3.0), Lanes([2.0, 0.0, -1.0]));
        assert_eq!((d * x).0, [6.0, 0.0, -3.0]);
        assert_eq!((d / x - d).0, [2.0 / 3.0 - 2.0, 0.0, -1.0 / 3.0 + 1.0]);
        assert_eq!(x.sin_pullback(|| x.sin(), d).0, d.0.map(|d| d * 3.0_f64.cos()));
        let (of_x, of_p) = x.powf_pullback(Lanes::splat(2.0), || x.powf(Lanes::splat(2.0)), d);
        assert_eq!((of_x.0, of_p.0), (d.0.map(|d| d * 6.0), d.0.map(|d| d * (9.0 * 3.0_f64.ln()))));
    }

    #[test]
    fn a_gradient_is_zero_where_all_lanes_are() {
        assert!(Lanes([0.0, 1.0]) != Lanes::zero());
        assert!(Lanes([1.0, 0.0]) != Lanes::zero());
        assert!(Lanes([0.0, -0.0]) == Lanes::zero());
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "linear arithmetic")]
    fn more_is_asked_of_values_alone() {
        let _ = Lanes([0.0, 1.0]).abs();
    }
}
