//! Where a gradient ends.

/// Returns `value`, and in a differentiable function stops its gradient: the result is treated as a constant, whatever it
/// is computed from.
///
/// `#[differentiable]` goes by the name: a call of any path that ends in `constant` is left as it is, and nothing in its
/// argument is differentiated. Elsewhere this is the identity, so that the value of the function stays what it is. The
/// argument is evaluated again in the reverse pass where what it reads is still there, so it should be cheap and free of
/// side effects.
///
/// Other tools call this `stop_gradient` (JAX) or `detach` (PyTorch).
///
/// ```
/// use pullback::prelude::*;
///
/// /// x·sin x, with the first factor held constant in the derivative.
/// #[differentiable]
/// fn half(x: f64) -> f64 {
///     constant(x) * x.sin()
/// }
///
/// let x: f64 = 0.5;
/// let mut g = half::gradient();
/// let (value, d) = g.value_and_gradient(x);
/// assert_eq!(value, x * x.sin());
/// assert_eq!(d.x, x * x.cos()); // without sin x
/// ```
#[inline(always)]
pub fn constant<T>(value: T) -> T {
    value
}
