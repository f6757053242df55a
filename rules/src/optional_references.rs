//! References that may be missing: parameters such as `weights: Option<&[f64]>`.
//!
//! As with an [`Option` that owns what is inside](crate::optional), the gradient is that with respect to what is referred to, and empty where
//! there is nothing.

use std::marker::PhantomData;

use crate::function::Parameter;
use crate::optional::THERE;
use crate::select::PartShadow;
use crate::shadow::{Differentiable, Ignored, Shadow};

/// `x: Option<&T>`. The pullback adds the gradient to the shadow.
pub struct OptRef<T: ?Sized>(PhantomData<T>);

impl<T: Differentiable + ?Sized + 'static> Parameter for OptRef<T> {
    type Arg<'a> = Option<&'a T>;
    type Shadow<'a> = Shadow<T::Shadow<'a>>;
    type Gradient = ();
    type Buffer = T::Gradient;

    fn buffer() -> T::Gradient {
        T::empty()
    }
    #[inline(always)]
    fn reborrow<'b>(arg: &'b mut Option<&T>) -> Option<&'b T> {
        *arg
    }
    fn prepare(buffer: &mut T::Gradient, arg: &Option<&T>) {
        match arg {
            Some(there) => there.prepare(buffer),
            // Emptied, it keeps its memory.
            None => T::copy_gradient(buffer, T::view(&T::empty())),
        }
    }
    fn shadow(buffer: &mut T::Gradient) -> Shadow<T::Shadow<'_>> {
        Shadow::new(T::shadow(buffer))
    }
    fn buffer_size(buffer: &T::Gradient) -> usize {
        T::gradient_size(buffer)
    }
    #[inline(always)]
    fn align<'a>(arg: &Option<&T>, shadow: Shadow<T::Shadow<'a>>) -> Shadow<T::Shadow<'a>> {
        match arg {
            Some(there) => shadow.map(|view| there.align(view)),
            None => shadow,
        }
    }
}

/// `#[constant] x: Option<&T>`.
pub struct ConstOptRef<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized + 'static> Parameter for ConstOptRef<T> {
    type Arg<'a> = Option<&'a T>;
    type Shadow<'a> = Ignored;
    type Gradient = ();
    type Buffer = ();

    fn buffer() {}
    #[inline(always)]
    fn reborrow<'b>(arg: &'b mut Option<&T>) -> Option<&'b T> {
        *arg
    }
    fn prepare((): &mut (), _: &Option<&T>) {}
    fn shadow((): &mut ()) -> Ignored {
        Ignored
    }
}

/// What such an `Option` refers to, as derived code calls it: like a method of the user's that selects a part.
pub trait SelectsReferred {
    /// What may be referred to.
    type Part: Differentiable + ?Sized;

    /// What is there.
    ///
    /// # Panics
    /// If there is nothing.
    fn referred_by_option(&self) -> &Self::Part;
    /// The shadow of that.
    fn referred_by_option_selects_no_part_mark_its_impl_differentiable<'s>(
        &self,
        shadow: &'s <Self::Part as Differentiable>::Shadow<'s>,
    ) -> PartShadow<'s, Self::Part>;
}

impl<T: Differentiable + ?Sized> SelectsReferred for Option<&T> {
    type Part = T;

    #[inline(always)]
    fn referred_by_option(&self) -> &T {
        self.expect(THERE)
    }
    #[inline(always)]
    fn referred_by_option_selects_no_part_mark_its_impl_differentiable<'s>(
        &self,
        shadow: &'s T::Shadow<'s>,
    ) -> PartShadow<'s, T> {
        Shadow::new(*shadow)
    }
}
