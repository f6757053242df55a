//! Traits of the standard library that users implement for their types: `From`, `Sum` and `Product`.

use std::marker::PhantomData;

use crate::call::{Call, HasRule};
use crate::derived::derived;
use crate::function::{Args, Function, Val};
use crate::output::Output;
use crate::rule::Rule;
use crate::scalar::cast_tangent;
use crate::tangent::Value;

/// `Self` has a rule for how it is made from an `A`. `#[differentiable]` on the `impl` of `From` derives it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no rule for how it is made from `{A}`",
    note = "mark the `impl` of `From<{A}>` for `{Self}` `#[differentiable]`"
)]
pub trait Conversion<A: Value + Copy + 'static>: Value + Output + From<A> + 'static {
    /// A rule that has not been called yet.
    fn make_rule() -> impl Rule<Function = Converted<A, Self>> + 'static;

    /// The arguments of a call, for code that `#[differentiable]` writes.
    #[inline(always)]
    fn from_has_no_rule_mark_its_impl_differentiable<'a>(x: A) -> Call<'a, Converted<A, Self>> {
        Call::new((x,))
    }
}

/// Numbers, by another name: `type Metres = f64`.
macro_rules! numbers {
    ($($to:ty: $($from:ty),*;)*) => {$($(
        impl Conversion<$from> for $to {
            fn make_rule() -> impl Rule<Function = Converted<$from, Self>> + 'static {
                derived(
                    (),
                    |(), (x,)| (Self::from(x), ()),
                    |(), (), (x,), _, d| (cast_tangent(&x, d),),
                )
            }
        }
    )*)*};
}
numbers! {
    f32: f32, i8, i16, u8, u16, bool;
    f64: f32, f64, i8, i16, i32, u8, u16, u32, bool;
}

/// `<B as From<A>>::from`
pub struct Converted<A, B>(PhantomData<fn(A) -> B>);

impl<A: Value + Copy + 'static, B: Conversion<A>> Function for Converted<A, B> {
    type Parameters = (Val<A>,);
    type Output = B;
    const NAME: &'static str = "From::from";

    fn primal((x,): Args<'_, Self>) -> B {
        B::from(x)
    }
}

impl<A: Value + Copy + 'static, B: Conversion<A>> HasRule for Converted<A, B> {
    fn make_rule() -> impl Rule<Function = Self> + 'static {
        <B as Conversion<A>>::make_rule()
    }
}

/// The sum, or the product, of values of this type folds by the operator `O`. `#[differentiable]` on the `impl` of `Sum` or `Product`
/// confirms it.
#[diagnostic::on_unimplemented(
    message = "the sum or product of values of `{Self}` has no rule",
    note = "mark the `impl` of `Sum` or `Product` for `{Self}` `#[differentiable]`, or write a loop"
)]
pub trait FoldsBy<O> {
    /// What is there before the first value.
    fn start() -> Self;
}
