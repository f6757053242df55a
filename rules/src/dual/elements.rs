//! What ndarray asks of the elements that it sums and multiplies.

use ndarray::ScalarOperand;
use num_traits::{One, Zero};

use crate::dual::number::DualNumber;
use crate::float::Float;

impl<T: Float, const N: usize> Zero for DualNumber<T, N> {
    #[inline(always)]
    fn zero() -> Self {
        Self::constant(0.0)
    }
    /// Whether there is nothing to be multiplied: no derivative either.
    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.value == T::zero() && self.tangent.iter().all(|t| *t == T::zero())
    }
}

impl<T: Float, const N: usize> One for DualNumber<T, N> {
    #[inline(always)]
    fn one() -> Self {
        Self::constant(1.0)
    }
    /// Whether to multiply by it makes no difference, to derivatives either.
    #[inline(always)]
    fn is_one(&self) -> bool {
        self.value == T::one() && self.tangent.iter().all(|t| *t == T::zero())
    }
}

impl<T: Float, const N: usize> ScalarOperand for DualNumber<T, N> {}
