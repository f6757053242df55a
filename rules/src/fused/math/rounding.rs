//! Rounding to integers, exact, by the rounding of sums: SSE2 has no instruction for it.

macro_rules! rounding {
    ($($module:ident: $float:ty, $ulp_one:expr;)*) => {$(
        pub(super) mod $module {
            use super::super::arithmetic::select;

            /// From here on there are integers only.
            const INTEGERS: $float = $ulp_one;

            /// The nearest integer, ties to even, of |x|.
            #[inline(always)]
            fn nearest(x: $float) -> $float {
                (x.abs() + INTEGERS) - INTEGERS
            }

            /// The magnitude `y` with the sign of `x`, or `x` where that is an integer for its size, infinite or NaN.
            #[inline(always)]
            fn with_sign(x: $float, y: $float) -> $float {
                select(x.abs() < INTEGERS, y.copysign(x), x)
            }

            #[inline(always)]
            pub(in super::super) fn trunc(x: $float) -> $float {
                let y = nearest(x);
                with_sign(x, y - select(y > x.abs(), 1.0, 0.0))
            }

            #[inline(always)]
            pub(in super::super) fn floor(x: $float) -> $float {
                let y = nearest(x).copysign(x);
                with_sign(x, y - select(y > x, 1.0, 0.0))
            }

            #[inline(always)]
            pub(in super::super) fn ceil(x: $float) -> $float {
                let y = nearest(x).copysign(x);
                with_sign(x, y + select(y < x, 1.0, 0.0))
            }

            #[inline(always)]
            pub(in super::super) fn round(x: $float) -> $float {
                let y = nearest(x);
                with_sign(x, y + select(x.abs() - y == 0.5, 1.0, 0.0))
            }
        }
    )*};
}
rounding! {
    double: f64, 4503599627370496.0;
    single: f32, 8388608.0;
}
