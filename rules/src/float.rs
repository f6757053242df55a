//! The scalars, and what generic code may ask of them.

use std::fmt::{Debug, Display, LowerExp};
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};

use crate::blank::Blank;
use crate::blas::MatrixScalar;
use crate::dual::{DualNumber, Laned, Lanes, Together};
use crate::linalg::{Components, OrthogonalFactors, TriangularFactors};
use crate::scalar::{ScalarRules, SinCosRule};
use crate::special::Special;

/// `f32` and `f64`, as derived code sees them: `#[differentiable]` adds this bound to type parameters that stand for a
/// float. It brings arithmetic, but no method or constant whose name could meet one of the function's own bounds.
///
/// Write it yourself beside a bound whose name does not tell that it is a float's: `fn f<T: MyReal + Scalar>(x: T) -> T`.
/// [`Float`] is for functions without other bounds.
///
/// # Safety
/// The type is plain data, so that a slice of it may be seen as a slice of cells.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no scalar",
    label = "a differentiable function is generic over `f32` and `f64`",
    note = "a struct with a field that holds arrays, such as a `Vec`, is itself `#[pullback(by_reference)]`"
)]
pub unsafe trait Scalar:
    Copy
    + Send
    + Sync
    + Default
    + Blank
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + RemAssign
    + ScalarRules
    + SinCosRule
    + 'static
{
    /// One: what a gradient starts with.
    #[doc(hidden)]
    fn gradient_seed() -> Self;
    /// `x % y` is `x - y` times this.
    #[doc(hidden)]
    fn truncated_quotient(self, divisor: Self) -> Self;
    /// A number that is greater where `total_cmp` is, and differs where the bits do.
    #[doc(hidden)]
    fn total_order(self) -> i64;
    /// This is the gradient with respect to something that nobody looks at.
    #[doc(hidden)]
    fn vanishes(self) -> bool;
}

macro_rules! float {
    (
        constants: $($constant:ident)*;
        methods: $($method:ident($($arg:ident: $of:ty),*) -> $output:ty;)*
    ) => {
        /// A float to be generic over: `f32` or `f64`, with the methods and constants of the standard library's.
        ///
        /// ```
        /// use pullback_rules::Float;
        ///
        /// fn logistic<T: Float>(x: T) -> T {
        ///     T::one() / (T::one() + (-x).exp())
        /// }
        /// assert_eq!(logistic(0.0_f32), 0.5);
        /// ```
        ///
        /// A function may use the bounds of another crate instead, such as num-traits' `Float`.
        pub trait Float:
            Scalar
            + MatrixScalar
            + TriangularFactors
            + OrthogonalFactors
            + Components
            + Special
            + Together
            + Debug
            + Display
            + LowerExp
            + Sum
            + Product
            + for<'a> Sum<&'a Self>
            + for<'a> Product<&'a Self>
        {
            $(
                #[doc = concat!("[`f64::consts::", stringify!($constant), "`](std::f64::consts)")]
                const $constant: Self;
            )*
            #[doc(hidden)]
            const NOUGHT: Self;
            /// See [`f64::EPSILON`].
            const EPSILON: Self;
            /// See [`f64::INFINITY`].
            const INFINITY: Self;
            /// See [`f64::NEG_INFINITY`].
            const NEG_INFINITY: Self;
            /// See [`f64::NAN`].
            const NAN: Self;
            /// See [`f64::MAX`].
            const MAX: Self;
            /// See [`f64::MIN`].
            const MIN: Self;
            /// See [`f64::MIN_POSITIVE`].
            const MIN_POSITIVE: Self;

            /// 0
            fn zero() -> Self;
            /// 1
            fn one() -> Self;
            /// `value as Self`: how a literal is written, `T::from_f64(0.5)`.
            fn from_f64(value: f64) -> Self;
            /// `self as f64`. It carries no gradient.
            fn to_f64(self) -> f64;
            $(
                #[doc = concat!("See [`f64::", stringify!($method), "`].")]
                #[must_use]
                fn $method(self, $($arg: $of),*) -> $output;
            )*
        }

        float!(@dual [$($constant)*] $($method($($arg: $of),*) -> $output;)*);
        float!(@lanes [$($constant)*] $($method($($arg: $of),*) -> $output;)*);
        float!(@impl f32 [$($constant)*] $($method($($arg: $of),*) -> $output;)*);
        float!(@impl f64 [$($constant)*] $($method($($arg: $of),*) -> $output;)*);
    };
    (@dual [$($constant:ident)*] $($method:ident($($arg:ident: $of:ty),*) -> $output:ty;)*) => {
        impl<T: Float, const N: usize> Float for DualNumber<T, N> {
            $(const $constant: Self = Self::variable(T::$constant, [T::NOUGHT; N]);)*
            const NOUGHT: Self = Self::variable(T::NOUGHT, [T::NOUGHT; N]);
            const EPSILON: Self = Self::variable(T::EPSILON, [T::NOUGHT; N]);
            const INFINITY: Self = Self::variable(T::INFINITY, [T::NOUGHT; N]);
            const NEG_INFINITY: Self = Self::variable(T::NEG_INFINITY, [T::NOUGHT; N]);
            const NAN: Self = Self::variable(T::NAN, [T::NOUGHT; N]);
            const MAX: Self = Self::variable(T::MAX, [T::NOUGHT; N]);
            const MIN: Self = Self::variable(T::MIN, [T::NOUGHT; N]);
            const MIN_POSITIVE: Self = Self::variable(T::MIN_POSITIVE, [T::NOUGHT; N]);

            #[inline(always)]
            fn zero() -> Self {
                Self::constant(0.0)
            }
            #[inline(always)]
            fn one() -> Self {
                Self::constant(1.0)
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                Self::constant(value)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.value.to_f64()
            }
            $(
                #[inline(always)]
                fn $method(self, $($arg: $of),*) -> $output {
                    // The inherent method.
                    DualNumber::$method(self, $($arg),*)
                }
            )*
        }
    };
    (@lanes [$($constant:ident)*] $($method:ident($($arg:ident: $of:ty),*) -> $output:ty;)*) => {
        impl<const K: usize> Float for Lanes<K> {
            $(const $constant: Self = Self::splat(std::f64::consts::$constant);)*
            const NOUGHT: Self = Self::splat(0.0);
            const EPSILON: Self = Self::splat(f64::EPSILON);
            const INFINITY: Self = Self::splat(f64::INFINITY);
            const NEG_INFINITY: Self = Self::splat(f64::NEG_INFINITY);
            const NAN: Self = Self::splat(f64::NAN);
            const MAX: Self = Self::splat(f64::MAX);
            const MIN: Self = Self::splat(f64::MIN);
            const MIN_POSITIVE: Self = Self::splat(f64::MIN_POSITIVE);

            #[inline(always)]
            fn zero() -> Self {
                Self::splat(0.0)
            }
            #[inline(always)]
            fn one() -> Self {
                Self::splat(1.0)
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                Self::splat(value)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.value()
            }
            $(
                #[inline(always)]
                fn $method(self, $($arg: $of),*) -> $output {
                    Laned::laned(f64::$method(self.value(), $($arg.plain()),*))
                }
            )*
        }
    };
    (@impl $t:ident [$($constant:ident)*] $($method:ident($($arg:ident: $of:ty),*) -> $output:ty;)*) => {
        // SAFETY: a number.
        unsafe impl Scalar for $t {
            #[inline(always)]
            fn gradient_seed() -> Self {
                1.0
            }
            #[inline(always)]
            fn truncated_quotient(self, divisor: Self) -> Self {
                (self / divisor).trunc()
            }
            #[inline(always)]
            fn total_order(self) -> i64 {
                // Of negative numbers the other bits count backwards.
                let bits = self.to_bits().cast_signed();
                let negative = (bits >> (8 * size_of::<$t>() - 1)).cast_unsigned();
                i64::from(bits ^ (negative >> 1).cast_signed())
            }
            #[inline(always)]
            fn vanishes(self) -> bool {
                self == 0.0
            }
        }

        impl Float for $t {
            $(const $constant: Self = std::$t::consts::$constant;)*
            const NOUGHT: Self = 0.0;
            const EPSILON: Self = $t::EPSILON;
            const INFINITY: Self = $t::INFINITY;
            const NEG_INFINITY: Self = $t::NEG_INFINITY;
            const NAN: Self = $t::NAN;
            const MAX: Self = $t::MAX;
            const MIN: Self = $t::MIN;
            const MIN_POSITIVE: Self = $t::MIN_POSITIVE;

            #[inline(always)]
            fn zero() -> Self {
                0.0
            }
            #[inline(always)]
            fn one() -> Self {
                1.0
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            $(
                #[inline(always)]
                fn $method(self, $($arg: $of),*) -> $output {
                    $t::$method(self, $($arg),*)
                }
            )*
        }
    };
}

float! {
    constants: E PI TAU FRAC_PI_2 FRAC_PI_3 FRAC_PI_4 FRAC_PI_6 FRAC_PI_8 FRAC_1_PI FRAC_2_PI FRAC_2_SQRT_PI SQRT_2
        FRAC_1_SQRT_2 LN_2 LN_10 LOG2_E LOG10_E LOG2_10 LOG10_2;
    methods:
        recip() -> Self;
        sqrt() -> Self;
        cbrt() -> Self;
        powi(n: i32) -> Self;
        powf(p: Self) -> Self;
        hypot(other: Self) -> Self;
        exp() -> Self;
        exp2() -> Self;
        exp_m1() -> Self;
        ln() -> Self;
        ln_1p() -> Self;
        log2() -> Self;
        log10() -> Self;
        log(base: Self) -> Self;
        sin() -> Self;
        cos() -> Self;
        sin_cos() -> (Self, Self);
        tan() -> Self;
        asin() -> Self;
        acos() -> Self;
        atan() -> Self;
        atan2(other: Self) -> Self;
        to_degrees() -> Self;
        to_radians() -> Self;
        sinh() -> Self;
        cosh() -> Self;
        tanh() -> Self;
        asinh() -> Self;
        acosh() -> Self;
        atanh() -> Self;
        abs() -> Self;
        max(other: Self) -> Self;
        min(other: Self) -> Self;
        clamp(low: Self, high: Self) -> Self;
        copysign(sign: Self) -> Self;
        signum() -> Self;
        floor() -> Self;
        ceil() -> Self;
        round() -> Self;
        round_ties_even() -> Self;
        trunc() -> Self;
        fract() -> Self;
        rem_euclid(divisor: Self) -> Self;
        div_euclid(divisor: Self) -> Self;
        mul_add(factor: Self, summand: Self) -> Self;
        midpoint(other: Self) -> Self;
        next_up() -> Self;
        next_down() -> Self;
        is_nan() -> bool;
        is_finite() -> bool;
        is_infinite() -> bool;
        is_sign_negative() -> bool;
        is_sign_positive() -> bool;
}
