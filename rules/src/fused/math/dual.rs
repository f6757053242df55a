//! The functions of dual numbers: values are those of the floats, bit for bit, and slopes those of the numeric methods.

use super::real::Real;
use crate::dual::DualNumber;
use crate::float::Float;
use crate::special::{self, Kernel, Special};

/// Kernels of functions of one number, and of two, which the table of numeric methods has as well; and the functions of dual numbers.
macro_rules! functions {
    (
        of_one { $($Kernel:ident $method:ident $pullback:ident;)* }
        of_two { $($Binary:ident $of_two:ident $pullback_of_two:ident;)* }
        special: $($special:ident)*;
        same: $($same:ident)*;
    ) => {
        $(
            struct $Kernel;

            impl Kernel<1> for $Kernel {
                type Order = ();

                #[inline]
                fn value((): (), [x]: [f64; 1]) -> f64 {
                    Real::$method(x)
                }
                #[inline]
                fn slopes<T: Float>((): (), [x]: [T; 1], y: T) -> [T; 1] {
                    [x.$pullback(|| y, T::one())]
                }
            }
        )*
        $(
            struct $Binary;

            impl Kernel<2> for $Binary {
                type Order = ();

                #[inline]
                fn value((): (), [x, z]: [f64; 2]) -> f64 {
                    Real::$of_two(x, z)
                }
                #[inline]
                fn slopes<T: Float>((): (), [x, z]: [T; 2], y: T) -> [T; 2] {
                    x.$pullback_of_two(z, || y, T::one()).into()
                }
            }
        )*

        impl<T: Float, const N: usize> Real for DualNumber<T, N> {
            const CARRIES: bool = true;
            const NEAR: Self = Self::INFINITY;

            #[inline(always)]
            fn of(value: f64) -> Self {
                Self::constant(value)
            }
            #[inline(always)]
            fn detached(self) -> Self {
                Self::constant(self.to_f64())
            }
            #[inline(always)]
            fn derivatives(self) -> Self {
                Self::special::<Derivatives, 1>((), [self])
            }

            $(
                #[inline(always)]
                fn $method(self) -> Self {
                    Self::special::<$Kernel, 1>((), [self])
                }
            )*
            $(
                #[inline(always)]
                fn $of_two(self, other: Self) -> Self {
                    Self::special::<$Binary, 2>((), [self, other])
                }
            )*

            // All are near.
            #[inline(always)]
            fn sin_near(self) -> Self {
                Real::sin(self)
            }
            #[inline(always)]
            fn cos_near(self) -> Self {
                Real::cos(self)
            }
            #[inline(always)]
            fn tan_near(self) -> Self {
                Real::tan(self)
            }
            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                (Real::sin(self), Real::cos(self))
            }
            #[inline(always)]
            fn sin_cos_near(self) -> (Self, Self) {
                Real::sin_cos(self)
            }

            $(
                #[inline(always)]
                fn $special(self) -> Self {
                    special::$special(self)
                }
            )*
            // These are the same as std's, bit for bit.
            $(
                #[inline(always)]
                fn $same(self) -> Self {
                    Float::$same(self)
                }
            )*
            #[inline(always)]
            fn powi(self, n: i32) -> Self {
                Float::powi(self, n)
            }
        }
    };
}
functions! {
    of_one {
        Exp exp exp_pullback;
        Exp2 exp2 exp2_pullback;
        ExpM1 exp_m1 exp_m1_pullback;
        Ln ln ln_pullback;
        Ln1p ln_1p ln_1p_pullback;
        Log2 log2 log2_pullback;
        Log10 log10 log10_pullback;
        Sin sin sin_pullback;
        Cos cos cos_pullback;
        Tan tan tan_pullback;
        Sinh sinh sinh_pullback;
        Cosh cosh cosh_pullback;
        Tanh tanh tanh_pullback;
        Asinh asinh asinh_pullback;
        Acosh acosh acosh_pullback;
        Atanh atanh atanh_pullback;
        Asin asin asin_pullback;
        Acos acos acos_pullback;
        Atan atan atan_pullback;
        Cbrt cbrt cbrt_pullback;
    }
    of_two {
        Atan2 atan2 atan2_pullback;
        Powf powf powf_pullback;
        Hypot hypot hypot_pullback;
        Max max max_pullback;
        Min min min_pullback;
    }
    special: erf erfc sigmoid softplus log_sigmoid;
    same: sqrt abs recip floor ceil round trunc signum;
}

/// What a number carries along, without its value: to add it to a number changes that in nothing else, the sign of a zero included.
struct Derivatives;

impl Kernel<1> for Derivatives {
    type Order = ();

    #[inline]
    fn value((): (), _: [f64; 1]) -> f64 {
        -0.0
    }
    #[inline]
    fn slopes<T: Float>((): (), _: [T; 1], _: T) -> [T; 1] {
        [T::one()]
    }
}
