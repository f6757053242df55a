//! The numeric methods of `f32` and `f64`, one line each: name, operands, the output if the formula reads it, and the
//! partial derivative with respect to each operand.
//!
//! Formulas are the textbook ones (Abramowitz & Stegun, chapters 3 and 4). Where a function has a kink or a pole its
//! line states what is taken; the table is part of the interface.

use pullback_macros::scalar_methods;

use crate::dual::{DualNumber, Lanes};
use crate::float::{Float, Scalar};
use crate::tangent::{Tangent, Value};

scalar_methods! {
    /// Pullbacks of the numeric methods of the standard library's floats: `x.sin_pullback(y, d)` is the gradient with
    /// respect to `x` when `d` is the one with respect to `x.sin()`; `y` computes that output, should the formula need it.
    pub trait ScalarRules for f32, f64, DualNumber, Lanes {
        // Powers and roots.
        recip(x) = y => -y * y;
        sqrt(x) = y => 0.5 / y;
        cbrt(x) = y => 1.0 / (3.0 * y * y);
        /// The exponent is an integer, and so constant.
        powi(x, n: i32) => if n == 0 { 0.0 } else { n as Self * x.powi(n - 1) };
        /// For `x = 0` the derivative with respect to the exponent is taken to be 0.
        powf(x, p) = y =>
            // As a formula where it is finite: on dual numbers, of an exponent that changes, it has a derivative.
            if p == 0.0 && !(1.0 / x).is_finite() { 0.0 } else { p * x.powf(p - 1.0) },
            if x == 0.0 { 0.0 } else { y * x.ln() };
        hypot(x, z) = y => if y == 0.0 { 0.0 } else { x / y }, if y == 0.0 { 0.0 } else { z / y };
        // Exponentials and logarithms.
        exp(x) = y => y;
        exp2(x) = y => y * (2.0 as Self).ln();
        exp_m1(x) = y => y + 1.0;
        ln(x) => 1.0 / x;
        ln_1p(x) => 1.0 / (1.0 + x);
        log2(x) => 1.0 / (x * (2.0 as Self).ln());
        log10(x) => 1.0 / (x * (10.0 as Self).ln());
        log(x, base) = y => 1.0 / (x * base.ln()), -y / (base * base.ln());
        // Trigonometric functions.
        sin(x) => x.cos();
        cos(x) => -x.sin();
        tan(x) = y => 1.0 + y * y;
        asin(x) => 1.0 / (1.0 - x * x).sqrt();
        acos(x) => -1.0 / (1.0 - x * x).sqrt();
        atan(x) => 1.0 / (1.0 + x * x);
        atan2(x, z) => z / (x * x + z * z), -x / (x * x + z * z);
        to_degrees(x) => 180.0 / (std::f64::consts::PI as Self);
        to_radians(x) => (std::f64::consts::PI as Self) / 180.0;
        // Hyperbolic functions.
        sinh(x) => x.cosh();
        cosh(x) => x.sinh();
        tanh(x) = y => 1.0 - y * y;
        asinh(x) => 1.0 / (x * x + 1.0).sqrt();
        acosh(x) => 1.0 / (x * x - 1.0).sqrt();
        atanh(x) => 1.0 / (1.0 - x * x);
        // Kinks. At a tie the first operand gets the gradient; a NaN that is passed over gets none.
        /// 0 at 0.
        abs(x) => if x == 0.0 { 0.0 } else { x.signum() };
        max(x, z) => if x >= z || z.is_nan() { 1.0 } else { 0.0 }, if x >= z || z.is_nan() { 0.0 } else { 1.0 };
        min(x, z) => if x <= z || z.is_nan() { 1.0 } else { 0.0 }, if x <= z || z.is_nan() { 0.0 } else { 1.0 };
        /// At a bound the gradient goes to `x`.
        clamp(x, low, high) =>
            if x >= low && x <= high { 1.0 } else { 0.0 },
            if x < low { 1.0 } else { 0.0 },
            if x > high { 1.0 } else { 0.0 };
        /// 0 at 0.
        copysign(x, sign) => if x == 0.0 { 0.0 } else { x.signum() * sign.signum() }, 0.0;
        // Steps: constant between their jumps.
        signum(x) => 0.0;
        floor(x) => 0.0;
        ceil(x) => 0.0;
        round(x) => 0.0;
        round_ties_even(x) => 0.0;
        trunc(x) => 0.0;
        fract(x) => 1.0;
        rem_euclid(x, z) => 1.0, -x.div_euclid(z);
        div_euclid(x, z) => 0.0, 0.0;
        // Sums and products.
        mul_add(x, a, b) => a, x, 1.0;
        midpoint(x, z) => 0.5, 0.5;
        // The numbers beside x: x, but for rounding.
        next_up(x) => 1.0;
        next_down(x) => 1.0;
    }
}

/// The pullback of `sin_cos`, which has two outputs.
pub trait SinCosRule: Sized {
    /// The pullback of `sin_cos`.
    fn sin_cos_pullback(self, y: impl FnOnce() -> (Self, Self), d: (Self, Self)) -> Self;
}

macro_rules! sin_cos {
    ($($t:ty),*) => {$(
        impl SinCosRule for $t {
            #[inline(always)]
            fn sin_cos_pullback(self, y: impl FnOnce() -> (Self, Self), d: (Self, Self)) -> Self {
                let (sin, cos) = y();
                d.0 * cos - d.1 * sin
            }
        }
    )*};
}
sin_cos!(f32, f64);

/// `d`, what comes from something with the gradient `seed`, unless nobody looks at that: nothing then, whatever the derivatives are.
#[inline(always)]
pub fn where_seen<S: Scalar, T: Scalar>(seed: S, d: T) -> T {
    if seed.vanishes() { T::default() } else { d }
}

/// The gradient of `x as T` with respect to `x`, from the gradient `d` with respect to the result.
#[inline(always)]
pub fn cast_tangent<X: Value, D>(_x: &X, d: D) -> X::Tangent
where
    X::Tangent: FromTangent<D>,
{
    X::Tangent::from_tangent(d)
}

/// Conversion of a gradient along a cast.
#[diagnostic::on_unimplemented(
    message = "a value whose gradient is `{Self}` is taken for a number that is converted to another one",
    note = "bind what is converted with its type, `let m: Meters = s.m;`, and mark the `impl` of `From` for it `#[differentiable]`"
)]
pub trait FromTangent<D>: Tangent {
    /// `d`, in this type.
    fn from_tangent(d: D) -> Self;
}

macro_rules! cast {
    ($($to:ty: $($from:ty),*;)*) => {$($(
        impl FromTangent<$from> for $to {
            #[inline(always)]
            fn from_tangent(d: $from) -> Self {
                d as $to
            }
        }
    )*)*};
}
cast! { f32: f32, f64; f64: f32, f64; }

impl<D> FromTangent<D> for () {
    #[inline(always)]
    fn from_tangent(_d: D) {}
}
