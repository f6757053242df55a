//! What is in a box and may be missing: `left: Option<Box<Node>>`.
//!
//! It is taken for a slice of one, or of none: the storage and the shadows of the elements of a slice are in memory of their own, so that the
//! gradient of a struct can hold those of others of its own type.

use std::any::Any;
use std::marker::PhantomData;
use std::slice;

use crate::function::Parameter;
use crate::lengths::Extent;
use crate::optional::THERE;
use crate::output::Output;
use crate::rows::Item;
use crate::select::PartShadow;
use crate::shadow::{Differentiable, Shadow};

/// What is in the box, if there is one.
#[inline(always)]
pub fn in_box<T>(option: &Option<Box<T>>) -> &[T] {
    option.as_deref().map_or(&[], slice::from_ref)
}

/// The same to write to.
#[inline(always)]
pub fn in_box_mut<T>(option: &mut Option<Box<T>>) -> &mut [T] {
    option.as_deref_mut().map_or(&mut [], slice::from_mut)
}

/// `Box::new(x)`, which derived code takes apart again.
#[inline(always)]
pub fn boxed<T>(x: T) -> Box<T> {
    Box::new(x)
}

/// `Some(Box::new(x))`
#[inline(always)]
pub fn some_boxed<T>(x: T) -> Option<Box<T>> {
    Some(Box::new(x))
}

/// What is in such a box.
pub trait Boxed {
    /// Its type.
    type Content;
    /// Takes it out.
    ///
    /// # Panics
    /// If there is none.
    fn out_of_box(self) -> Self::Content;
    /// Refers to it.
    ///
    /// # Panics
    /// If there is none.
    fn in_the_box(&self) -> &Self::Content;
}

impl<T> Boxed for Box<T> {
    type Content = T;
    #[inline(always)]
    fn out_of_box(self) -> T {
        *self
    }
    #[inline(always)]
    fn in_the_box(&self) -> &T {
        self
    }
}

impl<T> Boxed for Option<Box<T>> {
    type Content = T;
    #[inline(always)]
    fn out_of_box(self) -> T {
        *self.expect(THERE)
    }
    #[inline(always)]
    fn in_the_box(&self) -> &T {
        self.as_deref().expect(THERE)
    }
}

/// Boxes of any types that copies of what holds such have too many, for those that have too few.
#[derive(Default)]
pub struct SpareBoxes(Vec<Spare>);

struct Spare {
    held: Box<dyn Any + Send>,
    /// The bytes of the heap that it owns.
    size: usize,
}

impl SpareBoxes {
    /// None.
    pub(crate) const fn new() -> Self {
        SpareBoxes(Vec::new())
    }

    fn take<T: 'static>(&mut self) -> Option<Box<T>> {
        let last = self.0.iter().rposition(|spare| spare.held.is::<T>())?;
        self.0.swap_remove(last).held.downcast().ok()
    }

    /// The bytes of the heap that they own.
    pub(crate) fn memory(&self) -> usize {
        self.0.capacity() * size_of::<Spare>() + self.0.iter().map(|spare| spare.size).sum::<usize>()
    }
}

/// What may be in a box, and in that of a copy.
pub struct CopyBox<'f, T>(pub &'f Option<Box<T>>, pub &'f mut Option<Box<T>>);

impl<T: Output + Clone + Send + 'static> CopyBox<'_, T> {
    /// Copies it in the memory that is there, or in `spares`.
    pub fn refill(&mut self, spares: &mut SpareBoxes) -> bool {
        let Some(here) = self.0 else {
            spares.0.extend(self.1.take().map(|held| Spare { size: size_of::<T>() + T::size(&held), held }));
            return true;
        };
        if self.1.is_none() {
            *self.1 = spares.take();
        }
        match self.1 {
            Some(copy) => T::copy_in(here, copy, spares),
            None => *self.1 = Some(here.clone()),
        }
        true
    }
}

/// What cannot be copied so.
pub trait CopyAnyBox {
    /// Does nothing, and says so.
    fn refill(&mut self, _spares: &mut SpareBoxes) -> bool {
        false
    }
}

impl<T> CopyAnyBox for CopyBox<'_, T> {}

/// What a pattern has bound is a box to the user, and a reference to what is in it to derived code, by which `b.as_ref()` is the same.
pub trait IsInBox {
    /// Itself.
    #[inline(always)]
    fn as_ref(&self) -> &Self {
        self
    }
}

/// The shadow of an `Option<Box<T>>`.
type OfBox<'s, T> = Shadow<<T as Item>::Shadows<'s>>;

/// What is in the box, as derived code calls it: like [`SelectsInside`](crate::optional::SelectsInside).
pub trait SelectsInBox {
    /// What may be there.
    type Part: Item + Differentiable;

    /// What is there.
    ///
    /// # Panics
    /// If there is nothing.
    fn inside_of_option(&self) -> &Self::Part;
    /// The same to write to.
    fn inside_of_option_mut(&mut self) -> &mut Self::Part;
    /// `shadow` as that of the option, which tells its type.
    #[inline(always)]
    fn shadow_of_option<'s>(&self, shadow: OfBox<'s, Self::Part>) -> OfBox<'s, Self::Part> {
        shadow
    }
    /// The shadow of what is there.
    #[inline(always)]
    fn inside_of_option_selects_no_part_mark_its_impl_differentiable<'s>(
        &self,
        shadow: &'s <Self::Part as Item>::Shadows<'s>,
    ) -> PartShadow<'s, Self::Part> {
        Shadow::new(Self::Part::shadow_at(*shadow, 0))
    }
    /// The same.
    #[inline(always)]
    fn inside_of_option_mut_selects_no_part_mark_its_impl_differentiable<'s>(
        &self,
        shadow: &'s <Self::Part as Item>::Shadows<'s>,
    ) -> PartShadow<'s, Self::Part> {
        Shadow::new(Self::Part::shadow_at(*shadow, 0))
    }
}

impl<T: Item + Differentiable> SelectsInBox for Option<Box<T>> {
    type Part = T;

    #[inline(always)]
    fn inside_of_option(&self) -> &T {
        self.as_deref().expect(THERE)
    }
    #[inline(always)]
    fn inside_of_option_mut(&mut self) -> &mut T {
        self.as_deref_mut().expect(THERE)
    }
}

/// `x: &Option<Box<T>>`. The pullback adds the gradient to the shadow, a slice of one or of none.
pub struct BoxRef<T>(PhantomData<T>);

/// `x: &mut Option<Box<T>>`: see [`Mut`](crate::Mut).
pub struct BoxMut<T>(PhantomData<T>);

/// Implements [`Parameter`] for `$Mode`, by a reference `$Arg` which `$reborrow` shortens.
macro_rules! by_reference {
    ($Mode:ident, $Arg:ty, |$arg:ident| $reborrow:expr $(, { $($more:tt)* })?) => {
        impl<T: Item + 'static> Parameter for $Mode<T> {
            type Arg<'a> = $Arg;
            type Shadow<'a> = Shadow<T::Shadows<'a>>;
            type Gradient = ();
            type Buffer = T::Gradients;

            fn buffer() -> T::Gradients {
                T::empty_all()
            }
            #[inline(always)]
            fn reborrow<'b>($arg: &'b mut Self::Arg<'_>) -> Self::Arg<'b> {
                $reborrow
            }
            fn prepare(buffer: &mut T::Gradients, arg: &Self::Arg<'_>) {
                T::prepare_all(in_box(arg), buffer);
            }
            fn shadow(buffer: &mut T::Gradients) -> Shadow<T::Shadows<'_>> {
                Shadow::new(T::shadows(buffer))
            }
            fn buffer_size(buffer: &T::Gradients) -> usize {
                T::gradients_size(buffer)
            }
            #[inline(always)]
            fn align<'a>(arg: &Self::Arg<'_>, shadow: Shadow<T::Shadows<'a>>) -> Shadow<T::Shadows<'a>> {
                shadow.map(|view| T::align_all(in_box(arg), view))
            }
            $($($more)*)?
        }
    };
}
by_reference!(BoxRef, &'a Option<Box<T>>, |arg| *arg);
by_reference!(BoxMut, &'a mut Option<Box<T>>, |arg| &mut **arg, {
    const RESIZES: bool = true;

    #[inline]
    fn fit(buffer: &mut T::Gradients, arg: &Self::Arg<'_>, to: Extent) {
        let held = in_box(arg);
        T::fit_all(held, held.len(), buffer, to);
    }
});
