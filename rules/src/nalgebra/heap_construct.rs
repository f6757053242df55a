//! Constructors of matrices on the heap.

use nalgebra::{DMatrix, DVector};

use super::Entry;
use super::on_heap::cells;
use super::rule::add_each;
use crate::call::{Call, HasRule};
use crate::derived::derived;
use crate::function::{Args, ConstVal, Function, Parameter, Ref, Val};
use crate::shadow::Accumulate;

/// Rules of associated functions: `d` is the gradient with respect to the matrix, and the rest as in
/// [`rules`](super::rule::rules).
macro_rules! constructors {
    ($(
        $(#[$doc:meta])*
        $Name:ident, $Trait:ident for $M:ident: $sibling:ident($($arg:ident: $Mode:ident<$A:ty>),*) = $method:ident;
        |$d:ident, $($shadow:ident),*| $gradients:expr;
    )*) => {
        /// The traits alone: their names mean nothing to derived code.
        pub(crate) mod traits {
            $(pub use super::$Trait as _;)*
        }
        $(
            $(#[$doc])*
            pub struct $Name<T>(std::marker::PhantomData<fn() -> T>);

            impl<T: Entry> Function for $Name<T> {
                type Parameters = ($($Mode<$A>,)*);
                type Output = $M<T>;
                const NAME: &'static str = stringify!($method);

                fn primal(($($arg,)*): Args<'_, Self>) -> $M<T> {
                    $M::$method($($arg),*)
                }
            }

            impl<T: Entry> HasRule for $Name<T> {
                fn make_rule() -> impl crate::Rule<Function = Self> + 'static {
                    derived::<Self, _, _, _, _>(
                        (),
                        |_, args| (Self::primal(args), ()),
                        #[allow(unused_variables)]
                        |_, (), ($($arg,)*), ($($shadow,)*), $d| $gradients,
                    )
                }
            }

            $(#[$doc])*
            pub trait $Trait<T: Entry> {
                #[doc(hidden)]
                fn $sibling<'a>($($arg: <$Mode<$A> as Parameter>::Arg<'a>),*) -> Call<'a, $Name<T>>;
            }

            impl<T: Entry> $Trait<T> for $M<T> {
                #[inline(always)]
                fn $sibling<'a>($($arg: <$Mode<$A> as Parameter>::Arg<'a>),*) -> Call<'a, $Name<T>> {
                    Call::new(($($arg,)*))
                }
            }
        )*
    };
}

constructors! {
    /// *yᵢ = s: ṡ = Σ ẏᵢ*
    VectorFromElement, VectorFromElementRule for DVector:
    from_element_has_no_rule_mark_its_impl_differentiable(n: ConstVal<usize>, s: Val<T>) = from_element;
    |d, _dn, _ds| ((), d.sum());

    /// *yᵢⱼ = s: ṡ = Σ ẏᵢⱼ*
    MatrixFromElement, MatrixFromElementRule for DMatrix:
    from_element_has_no_rule_mark_its_impl_differentiable(rows: ConstVal<usize>, columns: ConstVal<usize>, s: Val<T>) = from_element;
    |d, _dr, _dc, _ds| ((), (), d.sum());

    /// The entries of a slice.
    VectorFromColumnSlice, VectorFromColumnSliceRule for DVector:
    from_column_slice_has_no_rule_mark_its_impl_differentiable(x: Ref<[T]>) = from_column_slice;
    |d, dx| (add_each(dx, |k| d[k]),);

    /// As `VectorFromColumnSlice`.
    VectorFromRowSlice, VectorFromRowSliceRule for DVector:
    from_row_slice_has_no_rule_mark_its_impl_differentiable(x: Ref<[T]>) = from_row_slice;
    |d, dx| (add_each(dx, |k| d[k]),);

    /// The entries of a slice, column by column.
    MatrixFromColumnSlice, MatrixFromColumnSliceRule for DMatrix:
    from_column_slice_has_no_rule_mark_its_impl_differentiable(rows: ConstVal<usize>, columns: ConstVal<usize>, x: Ref<[T]>)
        = from_column_slice;
    |d, _dr, _dc, dx| ((), (), add_each(dx, |k| d[k]));

    /// The entries of a slice, row by row.
    MatrixFromRowSlice, MatrixFromRowSliceRule for DMatrix:
    from_row_slice_has_no_rule_mark_its_impl_differentiable(rows: ConstVal<usize>, columns: ConstVal<usize>, x: Ref<[T]>)
        = from_row_slice;
    |d, _dr, _dc, dx| ((), (), add_each(dx, |k| d[(k / columns, k % columns)]));

    /// *yᵢᵢ = vᵢ: v̇ᵢ = ẏᵢᵢ*
    MatrixFromDiagonal, MatrixFromDiagonalRule for DMatrix:
    from_diagonal_has_no_rule_mark_its_impl_differentiable(v: Ref<DVector<T>>) = from_diagonal;
    |d, dv| (cells::<DVector<T>>(dv).iter().enumerate().for_each(|(i, dv)| dv.accumulate(d[(i, i)])),);
}
