//! Methods that write to a matrix of static dimensions. What it held is part of the residual.

use std::marker::PhantomData;

use nalgebra::{SMatrix, SVector};

use super::Entry;
use super::rule::Add;
use crate::call::{Call, HasRule, WritesToReceiver};
use crate::derived::derived;
use crate::function::{Args, ConstVal, Function, Mut, Ref};

/// `name(a, …) -> Y`: what it does to `a`, and then, `d` being the gradient with respect to `a` afterwards and `dy` that with
/// respect to the value: the gradient with respect to `a` before, and what becomes of the other arguments'.
macro_rules! methods {
    ($(
        $(#[$doc:meta])*
        $Name:ident, $Trait:ident: $sibling:ident($a:ident $(, $b:ident: $Mode:ident<$B:ty>)*) -> $Y:ty = $primal:expr;
        |$y:ident, $d:ident, $dy:ident, $($db:ident),*| $before:expr, ($($others:expr),*);
    )*) => {
        /// The traits alone: their names mean nothing to derived code.
        pub(crate) mod traits {
            $(pub use super::$Trait as _;)*
        }
        $(
            $(#[$doc])*
            pub struct $Name<T, const R: usize, const C: usize>(PhantomData<fn() -> T>);

            impl<T: Entry, const R: usize, const C: usize> Function for $Name<T, R, C> {
                type Parameters = (Mut<SMatrix<T, R, C>>, $($Mode<$B>,)*);
                type Output = $Y;
                const NAME: &'static str = stringify!($Name);

                fn primal(($a, $($b,)*): Args<'_, Self>) -> $Y {
                    $primal
                }
            }

            impl<T: Entry, const R: usize, const C: usize> HasRule for $Name<T, R, C> {
                #[allow(unused_variables)]
                fn make_rule() -> impl crate::Rule<Function = Self> + 'static {
                    derived::<Self, _, _, _, _>(
                        (),
                        |_, ($a, $($b,)*)| {
                            let old = *$a;
                            let value = $primal;
                            (value, (old, value))
                        },
                        |_, (old, $y), ($a, $($b,)*), (da, $($db,)*), $dy| {
                            let $d = da.take(|cells| *cells);
                            let before = $before;
                            let others = ($($others,)*);
                            da.add(|| before);
                            *$a = old;
                            methods!(@gradients others $($b)*)
                        },
                    )
                }
            }

            $(#[$doc])*
            pub trait $Trait<T: Entry, const R: usize, const C: usize> {
                #[doc(hidden)]
                fn $sibling<'a>(
                    &'a mut self,
                    $($b: <$Mode<$B> as crate::Parameter>::Arg<'a>),*
                ) -> Call<'a, $Name<T, R, C>, WritesToReceiver>;
            }

            impl<T: Entry, const R: usize, const C: usize> $Trait<T, R, C> for SMatrix<T, R, C> {
                #[inline(always)]
                fn $sibling<'a>(
                    &'a mut self,
                    $($b: <$Mode<$B> as crate::Parameter>::Arg<'a>),*
                ) -> Call<'a, $Name<T, R, C>, WritesToReceiver> {
                    Call::new((self, $($b,)*))
                }
            }
        )*
    };
    (@gradients $others:ident) => { ((),) };
    (@gradients $others:ident $b:ident) => { ((), $others.0) };
    (@gradients $others:ident $b:ident $c:ident) => { ((), $others.0, $others.1) };
}

methods! {
    /// *A ← B*
    CopyFrom, CopyFromRule: copy_from_has_no_rule_mark_its_impl_differentiable(a, b: Ref<SMatrix<T, R, C>>) -> () = a.copy_from(b);
    |y, d, dy, db| SMatrix::zeros(), (db.add(|| d));

    /// Column j of *A ← b*
    SetColumn, SetColumnRule: set_column_has_no_rule_mark_its_impl_differentiable(a, j: ConstVal<usize>, b: Ref<SVector<T, R>>) -> ()
        = a.set_column(j, b);
    |y, d, dy, dj, db| without(&d, |_, column| column == j), ((), db.add(|| d.column(j).into_owned()));

    /// Row i of *A ← b*
    SetRow, SetRowRule: set_row_has_no_rule_mark_its_impl_differentiable(a, i: ConstVal<usize>, b: Ref<SMatrix<T, 1, C>>) -> ()
        = a.set_row(i, b);
    |y, d, dy, di, db| without(&d, |row, _| row == i), ((), db.add(|| d.row(i).into_owned()));

    /// *A ← A/‖A‖*, and the norm: see `normalize`
    NormalizeMut, NormalizeMutRule: normalize_mut_has_no_rule_mark_its_impl_differentiable(a) -> T = a.normalize_mut();
    |y, d, dy, | (d - *a * a.dot(&d)) / y + *a * dy, ();
}

/// `d` with zeros where `gone` says so.
fn without<T: Entry, const R: usize, const C: usize>(
    d: &SMatrix<T, R, C>,
    gone: impl Fn(usize, usize) -> bool,
) -> SMatrix<T, R, C> {
    SMatrix::from_fn(|i, j| if gone(i, j) { nalgebra::zero() } else { d[(i, j)] })
}
