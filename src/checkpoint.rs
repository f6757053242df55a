//! Calls whose pullback computes again what it needs.

/// Returns `value`, and in a differentiable function keeps nothing of the call that it stands around: the reverse pass makes
/// the call once more, from the same arguments, and this time keeps what its pullback reads, for as long as that takes.
///
/// `#[differentiable]` goes by the name, as with [`constant`](crate::constant()): `checkpoint(f(&x, y))` takes a call, of a
/// function or method that has a rule and no `&mut` parameters. Elsewhere this is the identity.
///
/// A loop of *n* calls that each keep *m* numbers then needs memory for *n* arguments and *m* numbers, in place of *n·m*, at the
/// cost of one more primal. Within the call, and around it, others may have checkpoints of their own. Vectors that the
/// function returns are allocated in the reverse pass as well.
///
/// Loops have checkpoints by [an annotation](crate::guide::language#what-is-computed-again-and-what-is-kept).
///
/// ```
/// use pullback::prelude::*;
///
/// /// One day of growth in small steps.
/// #[differentiable]
/// fn day(size: f64, rate: f64) -> f64 {
///     let mut size = size;
///     for _ in 0..1000 {
///         size += 0.001 * rate * size * (1.0 - size);
///     }
///     size
/// }
///
/// #[differentiable]
/// fn year(size: f64, rate: f64) -> f64 {
///     let mut size = size;
///     for _ in 0..365 {
///         size = checkpoint(day(size, rate)); // keeps one number, not thousand
///     }
///     size
/// }
///
/// let mut g = year::gradient();
/// let (value, d) = g.value_and_gradient(0.01, 0.01);
/// let exact = 0.01 / (0.01 + 0.99 * (-3.65_f64).exp()); // the logistic curve
/// assert!((value - exact).abs() < 1e-4);
/// assert!((d.rate - 365.0 * exact * (1.0 - exact)).abs() < 1e-1);
/// ```
#[inline(always)]
pub fn checkpoint<T>(value: T) -> T {
    value
}
