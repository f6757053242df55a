//! Of one array, element by element, without a function of the user's: copies, `-`.

use ndarray::{Array, ArrayRef, Zip};

use super::operation::{Operation, operation};
use super::spare::Spare;
use super::{Entry, Rank};
use crate::function::{Args, Cotangent, Gradients, Ref, Shadows};
use crate::shadow::{Accumulate, Element};

macro_rules! unary {
    ($(
        $(#[$doc:meta])*
        $name:ident<$Bound:ident>, laid out $like:ident: |$x:ident| $value:expr; |$d:ident| $gradient:expr;
    )*) => {$(
        operation! {
            $(#[$doc])*
            $name<T: ($Bound), D: (Rank)>(x: Ref<ArrayRef<T, D>> as &'a ArrayRef<T, D>) -> Array<T, D>;
        }

        impl<T: $Bound, D: Rank> Operation for $name<T, D> {
            type Kept = Spare<T>;

            fn forward(spare: &mut Spare<T>, (x,): Args<'_, Self>) -> Array<T, D> {
                let mut y = spare.$like(x);
                Zip::from(&mut y).and(x).for_each(|y, &$x| *y = $value);
                y
            }
            fn pullback<'a>(
                _: &mut Spare<T>,
                _: Args<'a, Self>,
                (dx,): Shadows<'a, Self>,
                d: Cotangent<'_, Self>,
            ) -> Gradients<Self> {
                if let Some(dx) = dx.get() {
                    Zip::from(dx).and(d).for_each(|dx, &$d| dx.accumulate($gradient));
                }
                ((),)
            }
            fn reclaim(spare: &mut Spare<T>, y: Array<T, D>) {
                spare.reclaim(y);
            }
        }
    )*};
}

unary! {
    /// `to_owned`: *ẋ = ẏ*
    copy<Element>, laid out like: |x| x; |d| d;
    /// `clone`, gaps included: *ẋ = ẏ*
    duplicate<Element>, laid out same: |x| x; |d| d;
    /// `-x`: *ẋ = -ẏ*
    negate<Entry>, laid out like: |x| -x; |d| -d;
    /// `-x` for an array that is owned
    negate_left<Entry>, laid out same: |x| -x; |d| -d;
}
