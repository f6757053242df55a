//! How a special function is written once, for all numbers that there are.

use crate::dual::{DualNumber, Lanes};
use crate::float::Float;

/// A function of `M` numbers: its value, and what it is differentiated by.
pub trait Kernel<const M: usize> {
    /// The order of a family of functions, such as *n* of *Jₙ*.
    type Order: Copy;
    /// The value. That of `f32` is this one, rounded.
    fn value(order: Self::Order, x: [f64; M]) -> f64;
    /// The partial derivatives, where the value is `y`.
    fn slopes<T: Float>(order: Self::Order, x: [T; M], y: T) -> [T; M];
}

/// Numbers of which special functions are computed.
pub trait Special: Sized {
    /// The function `K` of `x`.
    fn special<K: Kernel<M>, const M: usize>(order: K::Order, x: [Self; M]) -> Self;
}

impl Special for f64 {
    #[inline(always)]
    fn special<K: Kernel<M>, const M: usize>(order: K::Order, x: [f64; M]) -> f64 {
        K::value(order, x)
    }
}

impl Special for f32 {
    #[inline(always)]
    fn special<K: Kernel<M>, const M: usize>(order: K::Order, x: [f32; M]) -> f32 {
        K::value(order, x.map(f64::from)) as f32
    }
}

impl<const P: usize> Special for Lanes<P> {
    #[inline(always)]
    fn special<K: Kernel<M>, const M: usize>(order: K::Order, x: [Self; M]) -> Self {
        Self::splat(K::value(order, x.map(Self::value)))
    }
}

impl<T: Float, const N: usize> Special for DualNumber<T, N> {
    #[inline]
    fn special<K: Kernel<M>, const M: usize>(order: K::Order, x: [Self; M]) -> Self {
        let values = x.map(DualNumber::value);
        let y = T::special::<K, M>(order, values);
        let constant = DualNumber::variable(y, [T::zero(); N]);
        if N == 0 {
            return constant;
        }
        let slopes = K::slopes(order, values, y);
        x.iter().zip(slopes).fold(constant, |sum, (x, slope)| sum.plus_tangent_of(x.chain(y, slope)))
    }
}

/// Functions with their rules: name and kernel, parameters, the output if the derivatives read it, the value for `f64`, and the partial
/// derivatives for any `T: Float`.
macro_rules! special {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident as $Kernel:ident $([$n:ident: $Order:ty])? ($($x:ident),+) $(= $y:ident)?: $value:expr => $($slope:expr),+;
    )*) => {$(
        $(#[$attribute])*
        #[must_use]
        #[inline]
        pub fn $name<T: Float>($($n: $Order,)? $($x: T),+) -> T {
            T::special::<$Kernel, _>(special!(@order $($n)?), [$($x),+])
        }

        struct $Kernel;

        impl Kernel<{ special!(@count $($x)+) }> for $Kernel {
            type Order = special!(@type $($Order)?);

            #[inline]
            fn value(order: Self::Order, [$($x),+]: [f64; special!(@count $($x)+)]) -> f64 {
                let _ = order;
                $(let $n = order;)?
                $value
            }

            // Not all formulas read all that there is.
            #[allow(unused_variables)]
            #[inline]
            fn slopes<T: Float>(
                order: Self::Order,
                [$($x),+]: [T; special!(@count $($x)+)],
                output: T,
            ) -> [T; special!(@count $($x)+)] {
                $(let $n = order;)?
                $(let $y = output;)?
                [$($slope),+]
            }
        }

        scalar_rule!(pub fn $name<T: Float>($(#[constant] $n: $Order,)? $($x: T),+) -> T $(= $y)? => $($slope),+);
    )*};
    (@order) => { () };
    (@order $n:ident) => { $n };
    (@type) => { () };
    (@type $Order:ty) => { $Order };
    (@count $($x:ident)+) => { { [$(stringify!($x)),+].len() } };
}
pub(super) use special;
