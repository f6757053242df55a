//! The functions, for all types.

use crate::float::Scalar;
use crate::shadow::Element;
use crate::tangent::Value;

/// `f32` and `f64`, with functions that vectorise; see the [module](super). Inherent methods have the same names and go first:
/// call these as `Real::exp(x)`. The bounds are those of `f64`; for `f32` it is 0.51 ulp. Dual numbers have the same functions, one after
/// the other.
#[diagnostic::on_unimplemented(
    message = "functions of elements are not computed of `{Self}`",
    note = "`fused!` functions, functions of `pullback::nn` such as activations and `softmax`, and products in any memory are for `f32`, `f64` and \
            dual numbers: a function that calls them is one of `f64`, and not generic over a `Float`"
)]
pub trait Real: Scalar + Element + Value<Tangent = Self> {
    /// Whether there are derivatives beside the value.
    const CARRIES: bool = false;

    /// The number nearest to `value`.
    fn of(value: f64) -> Self;
    /// The value without derivatives.
    #[inline(always)]
    fn detached(self) -> Self {
        self
    }
    /// The derivatives, of −0.
    #[inline(always)]
    fn derivatives(self) -> Self {
        Self::of(-0.0)
    }

    /// The largest magnitude for which [`sin_near`](Real::sin_near) and the like are defined, just below 2²⁰ π/2.
    const NEAR: Self;

    /// `eˣ`, to 1 ulp; 0 where that is not a normal number (below 2^−1021.5, for `f32` below 2⁻¹²⁶).
    fn exp(self) -> Self;
    /// `2ˣ`, to 1 ulp; exact for integers.
    fn exp2(self) -> Self;
    /// `eˣ − 1`, to 1 ulp, near zero as well.
    fn exp_m1(self) -> Self;
    /// The natural logarithm, to 1 ulp.
    fn ln(self) -> Self;
    /// `ln(1 + x)`, to 1 ulp, near zero as well.
    fn ln_1p(self) -> Self;
    /// The logarithm to base 2, to 1 ulp; exact for powers of two.
    fn log2(self) -> Self;
    /// The logarithm to base 10, to 1 ulp; exact for powers of ten.
    fn log10(self) -> Self;

    /// The sine, to 1 ulp; not vectorised, as it calls std beyond [`NEAR`](Real::NEAR).
    fn sin(self) -> Self;
    /// The cosine, as [`sin`](Real::sin).
    fn cos(self) -> Self;
    /// Both, as [`sin`](Real::sin).
    fn sin_cos(self) -> (Self, Self);
    /// The tangent, to 1 ulp; as [`sin`](Real::sin).
    fn tan(self) -> Self;
    /// The sine up to [`NEAR`](Real::NEAR), to 1 ulp; NaN beyond.
    fn sin_near(self) -> Self;
    /// The cosine up to [`NEAR`](Real::NEAR), to 1 ulp; NaN beyond.
    fn cos_near(self) -> Self;
    /// Both up to [`NEAR`](Real::NEAR), to 1 ulp; NaN beyond.
    fn sin_cos_near(self) -> (Self, Self);
    /// The tangent up to [`NEAR`](Real::NEAR), to 1 ulp; NaN beyond.
    fn tan_near(self) -> Self;
    /// Whether the forms for near arguments are defined for all of these.
    #[inline(always)]
    fn all_near(values: &[Self]) -> bool {
        values.iter().fold(true, |near, x| near & (Real::abs(*x) <= Self::NEAR))
    }

    /// The hyperbolic sine, to 1 ulp, near zero as well.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine, to 1 ulp.
    fn cosh(self) -> Self;
    /// The hyperbolic tangent, to 2 ulp, near zero as well.
    fn tanh(self) -> Self;
    /// The inverse hyperbolic sine, to 2 ulp.
    fn asinh(self) -> Self;
    /// The inverse hyperbolic cosine, to 2.5 ulp; NaN below 1.
    fn acosh(self) -> Self;
    /// The inverse hyperbolic tangent, to 2 ulp; NaN beyond ±1.
    fn atanh(self) -> Self;

    /// The arc tangent, to 1 ulp.
    fn atan(self) -> Self;
    /// The arc sine, to 1 ulp; NaN beyond ±1.
    fn asin(self) -> Self;
    /// The arc cosine, to 1 ulp; NaN beyond ±1.
    fn acos(self) -> Self;
    /// The angle of the point (`x`, `self`), to 1 ulp.
    fn atan2(self, x: Self) -> Self;

    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// The cube root, to 0.51 ulp.
    fn cbrt(self) -> Self;
    /// An integer power by repeated multiplication, the same bits as `powi` of std: cheap for a constant exponent, 64
    /// multiplications otherwise. The error is up to |n|/2 ulp.
    fn powi(self, n: i32) -> Self;
    /// `xʸ`, to 1 ulp, by a logarithm of twice the precision.
    fn powf(self, y: Self) -> Self;
    /// `√(x² + y²)`, to 1 ulp; neither overflows nor underflows on the way.
    fn hypot(self, y: Self) -> Self;

    /// The error function, to 2 ulp, near zero as well.
    fn erf(self) -> Self;
    /// `1 − erf x`, to 6 ulp, however small it is.
    fn erfc(self) -> Self;
    /// `1 / (1 + e⁻ˣ)`, to 1 ulp; 0 where [`exp`](Real::exp) is.
    fn sigmoid(self) -> Self;
    /// `ln(1 + eˣ)`, to 2 ulp, and it does not overflow; 0 where [`exp`](Real::exp) is.
    fn softplus(self) -> Self;
    /// `ln(1 / (1 + e⁻ˣ))`, to 2 ulp.
    #[inline(always)]
    fn log_sigmoid(self) -> Self {
        -Real::softplus(-self)
    }

    /// The magnitude.
    fn abs(self) -> Self;
    /// `1 / x`, correctly rounded.
    fn recip(self) -> Self;
    /// The larger one; of a number and NaN, the number; of two zeros, `self`.
    fn max(self, other: Self) -> Self;
    /// The smaller one; of a number and NaN, the number; of two zeros, `self`.
    fn min(self, other: Self) -> Self;
    /// The largest integer that is not larger.
    fn floor(self) -> Self;
    /// The smallest integer that is not smaller.
    fn ceil(self) -> Self;
    /// The nearest integer, ties away from zero.
    fn round(self) -> Self;
    /// The integer part.
    fn trunc(self) -> Self;
    /// 1 with the sign of `self`, that of zeros included; NaN for NaN.
    fn signum(self) -> Self;
}
