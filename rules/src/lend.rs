//! Structs that borrow, as parameters: `data: &Data<'_>`.

use std::marker::PhantomData;

use ndarray::{ArrayView, Dimension};

use crate::function::Parameter;
use crate::shadow::{Differentiable, Element, Shadow};

/// A type that borrows, for the longest lifetime, which stands for all. `#[derive(Differentiable)]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` borrows what carries no gradient",
    label = "no shadow is defined for this type",
    note = "types with a lifetime: structs with `#[derive(Differentiable)]`, and ndarray's `ArrayView`"
)]
pub trait Lend: Differentiable + 'static {
    /// The type for the lifetime `'a`.
    type At<'a>: 'a;

    /// What lives longer, seen as what lives as long as it is borrowed.
    fn shorten<'s, 'a: 's>(lent: &'s Self::At<'a>) -> &'s Self::At<'s>;
    /// See [`Differentiable::prepare`].
    fn prepare_lent(lent: &Self::At<'_>, gradient: &mut Self::Gradient);
    /// See [`Differentiable::align`].
    fn align_lent<'a>(lent: &Self::At<'_>, shadow: Self::Shadow<'a>) -> Self::Shadow<'a>;
}

/// `x: &T` where `T` borrows. The pullback adds the gradient to the shadow.
pub struct RefLent<T>(PhantomData<T>);

impl<T: Lend> Parameter for RefLent<T> {
    type Arg<'a> = &'a T::At<'a>;
    type Shadow<'a> = Shadow<T::Shadow<'a>>;
    type Gradient = ();
    type Buffer = T::Gradient;

    fn buffer() -> T::Gradient {
        T::empty()
    }
    #[inline(always)]
    fn reborrow<'b>(arg: &'b mut Self::Arg<'_>) -> &'b T::At<'b> {
        T::shorten(arg)
    }
    fn prepare(buffer: &mut T::Gradient, arg: &Self::Arg<'_>) {
        T::prepare_lent(arg, buffer);
    }
    fn shadow(buffer: &mut T::Gradient) -> Shadow<T::Shadow<'_>> {
        Shadow::new(T::shadow(buffer))
    }
    fn buffer_size(buffer: &T::Gradient) -> usize {
        T::gradient_size(buffer)
    }
    #[inline(always)]
    fn align<'a>(arg: &Self::Arg<'_>, shadow: Shadow<T::Shadow<'a>>) -> Shadow<T::Shadow<'a>> {
        shadow.map(|view| T::align_lent(arg, view))
    }
}

impl<T: Element, D: Dimension + Copy + 'static> Lend for ArrayView<'static, T, D> {
    type At<'a> = ArrayView<'a, T, D>;

    #[inline(always)]
    fn shorten<'s, 'a: 's>(lent: &'s ArrayView<'a, T, D>) -> &'s ArrayView<'s, T, D> {
        lent
    }
    fn prepare_lent(lent: &ArrayView<'_, T, D>, gradient: &mut Self::Gradient) {
        lent.prepare(gradient);
    }
    #[inline(always)]
    fn align_lent<'a>(lent: &ArrayView<'_, T, D>, shadow: Self::Shadow<'a>) -> Self::Shadow<'a> {
        lent.align(shadow)
    }
}
