//! Gradients by forward mode, of functions that are generic over a float.

use std::array::from_fn;

use pullback::{DualNumber, Float};

/// The gradient of `f` at `x`, all components at once.
#[inline]
pub fn gradient<T: Float, const N: usize>(
    x: [T; N],
    f: impl FnOnce([DualNumber<T, N>; N]) -> DualNumber<T, N>,
) -> [T; N] {
    let unit = |i| from_fn(|j| if i == j { T::one() } else { T::zero() });
    f(from_fn(|i| DualNumber::variable(x[i], unit(i)))).tangent()
}

/// What does not change while a gradient is computed.
#[inline]
pub fn constant<T: Float, const N: usize>(x: T) -> DualNumber<T, N> {
    DualNumber::variable(x, [T::zero(); N])
}
