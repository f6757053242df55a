//! `Vector3::new(x, y, z)` and `Matrix2::new(m11, m12, m21, m22)`: the entries row by row, as arguments, of which a rule may
//! have sixteen.

use nalgebra::SMatrix;

use super::Entry;
use crate::function::{Args, Function, Val};

/// The matrix of the numbers of rows and columns whose entries are given.
pub struct New<T, const R: usize, const C: usize>(std::marker::PhantomData<fn() -> T>);

macro_rules! new {
    ($($R:literal $C:literal $Trait:ident: $($x:ident $i:literal $j:literal),*;)*) => {
        /// The traits alone: their names mean nothing to derived code.
        pub(crate) mod traits {
            $(pub use super::$Trait as _;)*
        }
        $(
            impl<T: Entry> Function for New<T, $R, $C> {
                type Parameters = ($(new!(@parameter $x T),)*);
                type Output = SMatrix<T, $R, $C>;
                const NAME: &'static str = "new";

                fn primal(($($x,)*): Args<'_, Self>) -> SMatrix<T, $R, $C> {
                    SMatrix::<T, $R, $C>::new($($x),*)
                }
            }

            impl<T: Entry> crate::call::HasRule for New<T, $R, $C> {
                fn make_rule() -> impl crate::Rule<Function = Self> + 'static {
                    crate::derived::derived::<Self, _, _, _, _>(
                        (),
                        |_, args| (Self::primal(args), ()),
                        |_, (), _, _, d| ($(d[($i, $j)],)*),
                    )
                }
            }

            /// See `New`.
            pub trait $Trait<T: Entry> {
                #[doc(hidden)]
                #[allow(clippy::too_many_arguments, reason = "one for each entry")]
                fn new_has_no_rule_mark_its_impl_differentiable<'a>($($x: T),*) -> crate::call::Call<'a, New<T, $R, $C>>;
            }

            impl<T: Entry> $Trait<T> for SMatrix<T, $R, $C> {
                #[inline(always)]
                fn new_has_no_rule_mark_its_impl_differentiable<'a>($($x: T),*) -> crate::call::Call<'a, New<T, $R, $C>> {
                    crate::call::Call::new(($($x,)*))
                }
            }
        )*
    };
    (@parameter $x:ident $T:ident) => { Val<$T> };
}

new! {
    1 1 New1x1: m11 0 0;
    1 2 New1x2: m11 0 0, m12 0 1;
    1 3 New1x3: m11 0 0, m12 0 1, m13 0 2;
    1 4 New1x4: m11 0 0, m12 0 1, m13 0 2, m14 0 3;
    1 5 New1x5: m11 0 0, m12 0 1, m13 0 2, m14 0 3, m15 0 4;
    1 6 New1x6: m11 0 0, m12 0 1, m13 0 2, m14 0 3, m15 0 4, m16 0 5;
    2 1 New2x1: m11 0 0, m21 1 0;
    2 2 New2x2: m11 0 0, m12 0 1, m21 1 0, m22 1 1;
    2 3 New2x3: m11 0 0, m12 0 1, m13 0 2, m21 1 0, m22 1 1, m23 1 2;
    2 4 New2x4: m11 0 0, m12 0 1, m13 0 2, m14 0 3, m21 1 0, m22 1 1, m23 1 2, m24 1 3;
    2 5 New2x5: m11 0 0, m12 0 1, m13 0 2, m14 0 3, m15 0 4, m21 1 0, m22 1 1, m23 1 2, m24 1 3, m25 1 4;
    2 6 New2x6: m11 0 0, m12 0 1, m13 0 2, m14 0 3, m15 0 4, m16 0 5, m21 1 0, m22 1 1, m23 1 2, m24 1 3, m25 1 4, m26 1 5;
    3 1 New3x1: m11 0 0, m21 1 0, m31 2 0;
    3 2 New3x2: m11 0 0, m12 0 1, m21 1 0, m22 1 1, m31 2 0, m32 2 1;
    3 3 New3x3: m11 0 0, m12 0 1, m13 0 2, m21 1 0, m22 1 1, m23 1 2, m31 2 0, m32 2 1, m33 2 2;
    3 4 New3x4: m11 0 0, m12 0 1, m13 0 2, m14 0 3, m21 1 0, m22 1 1, m23 1 2, m24 1 3, m31 2 0, m32 2 1, m33 2 2, m34 2 3;
    3 5 New3x5: m11 0 0, m12 0 1, m13 0 2, m14 0 3, m15 0 4, m21 1 0, m22 1 1, m23 1 2, m24 1 3, m25 1 4, m31 2 0, m32 2 1, m33 2 2, m34 2 3, m35 2 4;
    4 1 New4x1: m11 0 0, m21 1 0, m31 2 0, m41 3 0;
    4 2 New4x2: m11 0 0, m12 0 1, m21 1 0, m22 1 1, m31 2 0, m32 2 1, m41 3 0, m42 3 1;
    4 3 New4x3: m11 0 0, m12 0 1, m13 0 2, m21 1 0, m22 1 1, m23 1 2, m31 2 0, m32 2 1, m33 2 2, m41 3 0, m42 3 1, m43 3 2;
    4 4 New4x4: m11 0 0, m12 0 1, m13 0 2, m14 0 3, m21 1 0, m22 1 1, m23 1 2, m24 1 3, m31 2 0, m32 2 1, m33 2 2, m34 2 3, m41 3 0, m42 3 1, m43 3 2, m44 3 3;
    5 1 New5x1: m11 0 0, m21 1 0, m31 2 0, m41 3 0, m51 4 0;
    5 2 New5x2: m11 0 0, m12 0 1, m21 1 0, m22 1 1, m31 2 0, m32 2 1, m41 3 0, m42 3 1, m51 4 0, m52 4 1;
    5 3 New5x3: m11 0 0, m12 0 1, m13 0 2, m21 1 0, m22 1 1, m23 1 2, m31 2 0, m32 2 1, m33 2 2, m41 3 0, m42 3 1, m43 3 2, m51 4 0, m52 4 1, m53 4 2;
    6 1 New6x1: m11 0 0, m21 1 0, m31 2 0, m41 3 0, m51 4 0, m61 5 0;
    6 2 New6x2: m11 0 0, m12 0 1, m21 1 0, m22 1 1, m31 2 0, m32 2 1, m41 3 0, m42 3 1, m51 4 0, m52 4 1, m61 5 0, m62 5 1;
}
