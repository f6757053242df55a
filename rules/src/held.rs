//! In the place of a gradient, for a field marked `#[constant]`: drops what comes to it.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use ndarray::{ArrayBase, ArrayView, Data, Dimension, MathCell};

use crate::shadow::{Accumulate, Shadow};
use crate::tangent::{Tangent, Value};

/// The gradient with respect to a field of type `T` that is marked `#[constant]`. There is none: it has no size, and takes
/// all gradients without doing anything.
pub struct Constant<T: ?Sized>(PhantomData<fn() -> Box<T>>);

impl<T: ?Sized> Constant<T> {
    /// The only one.
    #[inline(always)]
    pub const fn new() -> Self {
        Constant(PhantomData)
    }
}

impl<T: ?Sized> Default for Constant<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized> Clone for Constant<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Constant<T> {}

impl<T: ?Sized> std::fmt::Debug for Constant<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Constant")
    }
}

impl<T: ?Sized> PartialEq for Constant<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T: Value> Accumulate for Constant<T> {
    type Tangent = T::Tangent;
    #[inline(always)]
    fn accumulate(&self, _: T::Tangent) {}
    #[inline(always)]
    fn read(&self) -> T::Tangent {
        T::Tangent::zero()
    }
    #[inline(always)]
    fn take(&self) -> T::Tangent {
        T::Tangent::zero()
    }
}

/// Something with elements of type `Part`.
pub trait Parts {
    /// What an index selects.
    type Part: 'static;
}

impl<T: 'static> Parts for [T] {
    type Part = T;
}
impl<T: 'static> Parts for Vec<T> {
    type Part = T;
}
impl<T: 'static, const N: usize> Parts for [T; N] {
    type Part = T;
}
impl<T: 'static, S: Data<Elem = T>, D> Parts for ArrayBase<S, D> {
    type Part = T;
}

impl<T: Parts + ?Sized, I> Index<I> for Constant<T> {
    type Output = Constant<T::Part>;
    #[inline(always)]
    fn index(&self, _: I) -> &Constant<T::Part> {
        &Constant(PhantomData)
    }
}

impl<T: Parts + ?Sized, I> IndexMut<I> for Constant<T> {
    #[inline(always)]
    fn index_mut(&mut self, _: I) -> &mut Constant<T::Part> {
        // Without size, this is no allocation.
        Box::leak(Box::new(Constant::new()))
    }
}

// Passed on to a callee, it is the shadow of a constant.
impl<T: ?Sized, C> From<Shadow<&Constant<T>>> for Shadow<&[C]> {
    #[inline(always)]
    fn from(_: Shadow<&Constant<T>>) -> Self {
        Shadow::default()
    }
}
impl<'s, T: ?Sized, C> From<Shadow<&'s Constant<T>>> for Shadow<&'s Cell<C>> {
    #[inline(always)]
    fn from(_: Shadow<&'s Constant<T>>) -> Self {
        Shadow::default()
    }
}
impl<'s, T: ?Sized> From<Shadow<&'s Constant<T>>> for Shadow<&'s ()> {
    #[inline(always)]
    fn from(_: Shadow<&'s Constant<T>>) -> Self {
        Shadow::default()
    }
}
impl<'s, T: ?Sized, C, const N: usize> From<Shadow<&'s Constant<T>>> for Shadow<&'s [C; N]> {
    #[inline(always)]
    fn from(_: Shadow<&'s Constant<T>>) -> Self {
        Shadow::default()
    }
}
impl<'s, 'a, T: ?Sized, C, D: Dimension> From<Shadow<&'s Constant<T>>>
    for Shadow<ArrayView<'a, MathCell<C>, D>>
{
    #[inline(always)]
    fn from(_: Shadow<&'s Constant<T>>) -> Self {
        Shadow::default()
    }
}

/// Adds `gradient` to a part of the gradient of a struct.
#[inline(always)]
pub fn accumulate_part<P: Receive>(part: &mut P, gradient: P::Gradient) {
    part.receive(gradient);
}

/// Sets a part of the gradient of a struct to zero.
#[inline(always)]
pub fn clear_part<P: Receive>(part: &mut P) {
    part.clear();
}

/// What the gradient of a struct consists of: tangents, and [`Constant`]s.
#[diagnostic::on_unimplemented(
    message = "a part of a struct is taken for a number, and its gradient is `{Self}`",
    label = "something here moves it out of the struct, or puts it there",
    note = "bind it with its type before, `let x: Vec<f64> = s.x;`, or `clone` it"
)]
pub trait Receive {
    /// What can be added to it.
    type Gradient;
    /// Adds it.
    fn receive(&mut self, gradient: Self::Gradient);
    /// Forgets what has come.
    fn clear(&mut self);
}

impl<T: Tangent> Receive for T {
    type Gradient = T;
    #[inline(always)]
    fn receive(&mut self, gradient: T) {
        self.accumulate(gradient);
    }
    #[inline(always)]
    fn clear(&mut self) {
        *self = T::zero();
    }
}

impl<T: Value> Receive for Constant<T> {
    type Gradient = T::Tangent;
    #[inline(always)]
    fn receive(&mut self, _: T::Tangent) {}
    #[inline(always)]
    fn clear(&mut self) {}
}

/// A part of the gradient of a struct that is taken apart.
pub struct Part<'p, P>(pub &'p mut P);

/// The part is that of a field marked `#[constant]`: there is nothing in it.
pub trait PartIsConstant<G> {
    /// Leaves `gradient` as it is, which is zero.
    fn change_places(&mut self, gradient: &mut G);
}

impl<T: ?Sized, G> PartIsConstant<G> for Part<'_, Constant<T>> {
    #[inline(always)]
    fn change_places(&mut self, _gradient: &mut G) {}
}

/// The part is a gradient.
pub trait PartChanges<G> {
    /// Changes places with `gradient`.
    fn change_places(&mut self, gradient: &mut G);
}

impl<G> PartChanges<G> for &mut Part<'_, G> {
    #[inline(always)]
    fn change_places(&mut self, gradient: &mut G) {
        std::mem::swap(self.0, gradient);
    }
}
