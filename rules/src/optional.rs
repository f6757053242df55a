//! What owns memory and may be missing: `bias: Option<Vec<f64>>`.
//!
//! The gradient with respect to an `Option` is that with respect to what is inside, see [`option`](crate::option); where there is nothing it is
//! empty. So the shadow of the one is that of the other.

use ndarray::{Array, Dimension};

use crate::exchange::Exchange;
use crate::lengths::Extent;
use crate::mutation::{CopyItem, Copyable};
use crate::output::Output;
use crate::rows::Item;
use crate::select::PartShadow;
use crate::shadow::{Differentiable, Element, Shadow};
use crate::tangent::Value;

pub(crate) const THERE: &str = "referred to where there is something";

/// An `Option` in a place of which derived code refers to what is inside.
#[diagnostic::on_unimplemented(
    message = "what is inside of `{Self}` is not referred to differentiably",
    note = "an `Option` of a number, of plain data, of a `Vec` or of an `Array` is"
)]
pub trait Inside {
    /// What may be there.
    type Part: Differentiable + ?Sized;

    /// What is there.
    ///
    /// # Panics
    /// If there is nothing.
    fn inside(&self) -> &Self::Part;
    /// The same to write to.
    fn inside_mut(&mut self) -> &mut Self::Part;
}

/// [`Inside`], as derived code calls it: like a method of the user's that selects a part.
pub trait SelectsInside: Inside + Differentiable {
    /// See [`Inside::inside`].
    #[inline(always)]
    fn inside_of_option(&self) -> &Self::Part {
        self.inside()
    }
    /// See [`Inside::inside_mut`].
    #[inline(always)]
    fn inside_of_option_mut(&mut self) -> &mut Self::Part {
        self.inside_mut()
    }
    /// `shadow` as that of the option, which tells its type.
    #[inline(always)]
    fn shadow_of_option<'s>(&self, shadow: PartShadow<'s, Self>) -> PartShadow<'s, Self> {
        shadow
    }
    /// The shadow of what is there.
    fn inside_of_option_selects_no_part_mark_its_impl_differentiable<'s>(
        &self,
        shadow: &'s Self::Shadow<'s>,
    ) -> PartShadow<'s, Self::Part>;
    /// The same.
    #[inline(always)]
    fn inside_of_option_mut_selects_no_part_mark_its_impl_differentiable<'s>(
        &self,
        shadow: &'s Self::Shadow<'s>,
    ) -> PartShadow<'s, Self::Part> {
        self.inside_of_option_selects_no_part_mark_its_impl_differentiable(shadow)
    }
}

impl<I> SelectsInside for I
where
    I: Inside + Differentiable + ?Sized,
    I::Part: for<'a> Differentiable<Shadow<'a> = <I as Differentiable>::Shadow<'a>>,
{
    #[inline(always)]
    fn inside_of_option_selects_no_part_mark_its_impl_differentiable<'s>(
        &self,
        shadow: &'s Self::Shadow<'s>,
    ) -> PartShadow<'s, Self::Part> {
        Shadow::new(*shadow)
    }
}

/// What is plain data is most often read by value; a function may take a reference to it.
impl<T: Value<Tangent: Element>> Inside for Option<T> {
    type Part = T;
    #[inline(always)]
    fn inside(&self) -> &T {
        self.as_ref().expect(THERE)
    }
    #[inline(always)]
    fn inside_mut(&mut self) -> &mut T {
        self.as_mut().expect(THERE)
    }
}

/// The traits of `Option<$C>`, in which `$nothing` stands for what is not there.
macro_rules! optional {
    ([$($generics:tt)*] $C:ty, $nothing:expr) => {
        impl<$($generics)*> Inside for Option<$C> {
            type Part = $C;
            #[inline(always)]
            fn inside(&self) -> &$C {
                self.as_ref().expect(THERE)
            }
            #[inline(always)]
            fn inside_mut(&mut self) -> &mut $C {
                self.as_mut().expect(THERE)
            }
        }

        impl<$($generics)*> Differentiable for Option<$C> {
            type Shadow<'a> = <$C as Differentiable>::Shadow<'a>;
            type Gradient = <$C as Differentiable>::Gradient;
            type View<'a> = <$C as Differentiable>::View<'a>;
            const RESIZES: bool = <$C as Differentiable>::RESIZES;

            fn empty() -> Self::Gradient {
                <$C as Differentiable>::empty()
            }
            fn prepare(&self, gradient: &mut Self::Gradient) {
                let nothing = $nothing;
                match self.as_ref().or(nothing.as_ref()) {
                    Some(inside) => Differentiable::prepare(inside, gradient),
                    None => *gradient = <$C as Differentiable>::empty(),
                }
            }
            #[inline]
            fn shadow(gradient: &mut Self::Gradient) -> Self::Shadow<'_> {
                <$C as Differentiable>::shadow(gradient)
            }
            #[inline(always)]
            fn align<'a>(&self, shadow: Self::Shadow<'a>) -> Self::Shadow<'a> {
                match self {
                    Some(inside) => inside.align(shadow),
                    None => shadow,
                }
            }
            #[inline(always)]
            fn shortened<'a, 's: 'a>(shadow: Self::Shadow<'s>) -> Self::Shadow<'a> {
                <$C as Differentiable>::shortened(shadow)
            }
            fn fit(&self, gradient: &mut Self::Gradient, to: Extent) {
                let nothing = $nothing;
                if let Some(inside) = self.as_ref().or(nothing.as_ref()) {
                    inside.fit(gradient, to);
                }
            }
            fn largest(&self) -> usize {
                self.as_ref().map_or(0, <$C as Differentiable>::largest)
            }
            fn makes_way(&self, new: &Self) -> bool {
                let nothing = $nothing;
                match [self, new].map(|option| option.as_ref().or(nothing.as_ref())) {
                    [Some(before), Some(new)] => before.makes_way(new),
                    [before, new] => before.is_none() && new.is_none(),
                }
            }
            fn take_shadow(shadow: Self::Shadow<'_>, gradient: &mut Self::Gradient) {
                <$C as Differentiable>::take_shadow(shadow, gradient);
            }
            fn reserve_as(&self, copy: &mut Self) {
                if let (Some(inside), Some(copy)) = (self, copy) {
                    inside.reserve_as(copy);
                }
            }
            fn view(gradient: &Self::Gradient) -> Self::View<'_> {
                <$C as Differentiable>::view(gradient)
            }
            fn gradient_size(gradient: &Self::Gradient) -> usize {
                <$C as Differentiable>::gradient_size(gradient)
            }
            fn gradient_need(&self) -> Option<usize> {
                self.as_ref().map_or(Some(0), <$C as Differentiable>::gradient_need)
            }
            fn seed(gradient: &mut Self::Gradient, seed: Self::View<'_>) {
                <$C as Differentiable>::seed(gradient, seed);
            }
            fn copy_gradient(gradient: &mut Self::Gradient, other: Self::View<'_>) {
                <$C as Differentiable>::copy_gradient(gradient, other);
            }
        }

        impl<$($generics)*> Exchange for Option<$C>
        where
            $C: Exchange,
        {
            fn fits(&self, shadow: Self::Shadow<'_>) -> bool {
                self.as_ref().is_none_or(|inside| inside.fits(shadow))
            }
            fn exchange(one: Self::Shadow<'_>, other: Self::Shadow<'_>) {
                <$C as Exchange>::exchange(one, other);
            }
            fn clear(shadow: Self::Shadow<'_>) {
                <$C as Exchange>::clear(shadow);
            }
        }
    };
}
optional!([T: Item] Vec<T>, Some(Vec::new()));
optional!([T: Element, D: Dimension + Copy + 'static] Array<T, D>, None);

macro_rules! copied {
    ([$($generics:tt)*] $C:ty) => {
        impl<$($generics)*> Copyable for Option<$C> {
            fn hand_back(shadow: Self::Shadow<'_>, d: <Self as Output>::Cotangent<'_>) {
                <$C as Copyable>::hand_back(shadow, d);
            }
            fn room(&self) -> usize {
                self.as_ref().map_or(0, Copyable::room)
            }
            fn make_room(&self, copy: &mut Self) {
                if let (Some(inside), Some(copy)) = (self, copy) {
                    inside.make_room(copy);
                }
            }
        }
    };
}
copied!([T: CopyItem] Vec<T>);
copied!([T: Element, D: Dimension + Copy + 'static] Array<T, D>);
