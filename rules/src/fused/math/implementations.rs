//! The functions of `f64`, and those of `f32` by the arithmetic of `f64`.

use super::arithmetic::select;
use super::real::Real;
use super::{
    error_function, exponential, inverse_trigonometric, logarithm, power, rounding, single, trigonometric,
};

/// The functions whose bodies are alike.
macro_rules! alike {
    ($float:ty, $rounding:ident, $powi:ident) => {
        #[inline(always)]
        fn sin(self) -> Self {
            if far(self) { beyond(self, <$float>::sin) } else { self.sin_near() }
        }
        #[inline(always)]
        fn cos(self) -> Self {
            if far(self) { beyond(self, <$float>::cos) } else { self.cos_near() }
        }
        #[inline(always)]
        fn sin_cos(self) -> (Self, Self) {
            if far(self) { beyond(self, <$float>::sin_cos) } else { self.sin_cos_near() }
        }
        #[inline(always)]
        fn tan(self) -> Self {
            if far(self) { beyond(self, <$float>::tan) } else { self.tan_near() }
        }
        #[inline(always)]
        fn powi(self, n: i32) -> Self {
            power::$powi(self, n)
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            self.sqrt()
        }
        #[inline(always)]
        fn abs(self) -> Self {
            self.abs()
        }
        #[inline(always)]
        fn recip(self) -> Self {
            1.0 / self
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            // Not that of std, which leaves open which of two zeros it is.
            select((self >= other) | other.is_nan(), self, other)
        }
        #[inline(always)]
        fn min(self, other: Self) -> Self {
            select((self <= other) | other.is_nan(), self, other)
        }
        #[inline(always)]
        fn floor(self) -> Self {
            rounding::$rounding::floor(self)
        }
        #[inline(always)]
        fn ceil(self) -> Self {
            rounding::$rounding::ceil(self)
        }
        #[inline(always)]
        fn round(self) -> Self {
            rounding::$rounding::round(self)
        }
        #[inline(always)]
        fn trunc(self) -> Self {
            rounding::$rounding::trunc(self)
        }
        #[inline(always)]
        fn signum(self) -> Self {
            select(self.is_nan(), self, Self::copysign(1.0, self))
        }
    };
}

/// Functions of one argument, each by that of a module.
macro_rules! double {
    ($($module:ident::$function:ident as $method:ident;)*) => {$(
        #[inline(always)]
        fn $method(self) -> f64 {
            $module::$function(self)
        }
    )*};
}

/// The same, rounded.
macro_rules! rounded {
    ($($module:ident::$function:ident as $method:ident;)*) => {$(
        #[inline(always)]
        fn $method(self) -> f32 {
            $module::$function(f64::from(self)) as f32
        }
    )*};
}

/// Not NaN, and not near.
#[inline(always)]
fn far<T: Real>(x: T) -> bool {
    Real::abs(x) > T::NEAR
}

#[cold]
#[inline(never)]
fn beyond<T, R>(x: T, function: fn(T) -> R) -> R {
    function(x)
}

impl Real for f64 {
    const NEAR: f64 = trigonometric::NEAR;

    #[inline(always)]
    fn of(value: f64) -> f64 {
        value
    }

    double! {
        exponential::exp as exp;
        exponential::exp2 as exp2;
        exponential::exp_m1 as exp_m1;
        exponential::sinh as sinh;
        exponential::cosh as cosh;
        exponential::tanh as tanh;
        exponential::sigmoid as sigmoid;
        exponential::softplus as softplus;
        logarithm::ln as ln;
        logarithm::ln_1p as ln_1p;
        logarithm::log2 as log2;
        logarithm::log10 as log10;
        logarithm::asinh as asinh;
        logarithm::acosh as acosh;
        logarithm::atanh as atanh;
        trigonometric::sin as sin_near;
        trigonometric::cos as cos_near;
        trigonometric::tan as tan_near;
        inverse_trigonometric::atan as atan;
        inverse_trigonometric::asin as asin;
        inverse_trigonometric::acos as acos;
        power::cbrt as cbrt;
        error_function::erf as erf;
        error_function::erfc as erfc;
    }

    #[inline(always)]
    fn sin_cos_near(self) -> (f64, f64) {
        trigonometric::sin_cos(self)
    }
    #[inline(always)]
    fn atan2(self, x: f64) -> f64 {
        inverse_trigonometric::atan2(self, x)
    }
    #[inline(always)]
    fn powf(self, y: f64) -> f64 {
        power::powf(self, y)
    }
    #[inline(always)]
    fn hypot(self, y: f64) -> f64 {
        power::hypot(self, y)
    }

    alike!(f64, double, powi);
}

impl Real for f32 {
    const NEAR: f32 = trigonometric::NEAR as f32;

    #[inline(always)]
    fn of(value: f64) -> f32 {
        value as f32
    }

    rounded! {
        single::exp as exp;
        single::exp2 as exp2;
        single::exp_m1 as exp_m1;
        single::sinh as sinh;
        single::cosh as cosh;
        single::tanh as tanh;
        single::sigmoid as sigmoid;
        single::softplus as softplus;
        single::ln as ln;
        single::ln_1p as ln_1p;
        single::log2 as log2;
        single::log10 as log10;
        logarithm::asinh as asinh;
        logarithm::acosh as acosh;
        logarithm::atanh as atanh;
        single::sin as sin_near;
        single::cos as cos_near;
        single::tan as tan_near;
        inverse_trigonometric::atan as atan;
        inverse_trigonometric::asin as asin;
        inverse_trigonometric::acos as acos;
        power::cbrt as cbrt;
        error_function::erf as erf;
        error_function::erfc as erfc;
    }

    #[inline(always)]
    fn sin_cos_near(self) -> (f32, f32) {
        let (sin, cos) = single::sin_cos(f64::from(self));
        (sin as f32, cos as f32)
    }
    #[inline(always)]
    fn atan2(self, x: f32) -> f32 {
        inverse_trigonometric::atan2(f64::from(self), f64::from(x)) as f32
    }
    #[inline(always)]
    fn powf(self, y: f32) -> f32 {
        power::powf(f64::from(self), f64::from(y)) as f32
    }
    #[inline(always)]
    fn hypot(self, y: f32) -> f32 {
        // The squares are exact and far from the bounds of the exponent.
        let (x, y) = (f64::from(self), f64::from(y));
        let infinite = (x.abs() == f64::INFINITY) | (y.abs() == f64::INFINITY);
        select(infinite, f32::INFINITY, (x * x + y * y).sqrt() as f32)
    }

    alike!(f32, single, powi_f32);
}
