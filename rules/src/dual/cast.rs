//! `as`, of numbers that may be dual.

use crate::dual::number::DualNumber;
use crate::float::Float;
use crate::scalar::FromTangent;

/// `self as To`; a dual number becomes an integer by its value.
pub trait Cast<To> {
    /// The same number, in that type.
    fn cast(self) -> To;
}

macro_rules! casts {
    ($($from:ty),*) => {$(
        casts!(@to $from: f32, f64, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

        impl<T: Float, const N: usize> Cast<DualNumber<T, N>> for $from {
            #[inline(always)]
            fn cast(self) -> DualNumber<T, N> {
                DualNumber::constant(self as f64)
            }
        }
    )*};
    (@to $from:ty: $($to:ty),*) => {$(
        impl Cast<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to {
                self as $to
            }
        }
    )*};
}
casts!(f32, f64, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

macro_rules! of_bool {
    ($($to:ty),*) => {$(
        impl Cast<$to> for bool {
            #[inline(always)]
            fn cast(self) -> $to {
                <$to>::from(self)
            }
        }
    )*};
}
of_bool!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

macro_rules! of_dual {
    ($($to:ty),*) => {$(
        impl<T: Float, const N: usize> Cast<$to> for DualNumber<T, N> {
            #[inline(always)]
            fn cast(self) -> $to {
                self.to_f64() as $to
            }
        }
    )*};
}
of_dual!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

impl<T: Float, const N: usize> Cast<DualNumber<T, N>> for DualNumber<T, N> {
    #[inline(always)]
    fn cast(self) -> Self {
        self
    }
}

/// A number that may be dual, where code that carries no gradient looks at it.
pub trait Looked {
    /// What such code sees.
    type Value;
    /// The number without derivatives.
    fn value(self) -> Self::Value;
}

macro_rules! looked_at {
    ($($t:ty),*) => {$(
        impl Looked for $t {
            type Value = $t;
            #[inline(always)]
            fn value(self) -> $t {
                self
            }
        }
    )*};
}
looked_at!(f32, f64);

impl<T: Float, const N: usize> Looked for DualNumber<T, N> {
    type Value = f64;
    #[inline(always)]
    fn value(self) -> f64 {
        self.to_f64()
    }
}

impl<L: Looked + Copy> Looked for &L {
    type Value = L::Value;
    #[inline(always)]
    fn value(self) -> L::Value {
        (*self).value()
    }
}

/// See [`Looked`].
#[inline(always)]
pub fn value_of<L: Looked>(number: L) -> L::Value {
    number.value()
}

impl<T: Float, const N: usize> FromTangent<DualNumber<T, N>> for DualNumber<T, N> {
    #[inline(always)]
    fn from_tangent(d: Self) -> Self {
        d
    }
}
