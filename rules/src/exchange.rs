//! Data behind references that changes places: `x.swap(i, j)`, `std::mem::swap(x, y)`.
//!
//! The gradients change places along with it, cell by cell, since a shadow is a view. So each shadow needs room for both: vectors may
//! differ in length, see [`State::least_room`], and what else changes places has to be of one shape.

use ndarray::{ArrayBase, ArrayRef, Data, Dimension, Zip};

use crate::rows::Item;
use crate::shadow::{Accumulate, Differentiable, Element};
use crate::state::State;
use crate::tangent::Value;

/// What can change places behind references. `#[derive(Differentiable)]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not change places differentiably",
    note = "numbers, arrays, vectors, ndarray's arrays and structs with `#[derive(Differentiable)]` do",
    note = "a field that holds an `Option` of a box gets another one as `s.field = Some(Box::new(x));`, in which `s.field.take()` may go on"
)]
pub trait Exchange: Differentiable {
    /// The shadow has room for it.
    fn fits(&self, shadow: Self::Shadow<'_>) -> bool;
    /// Exchanges the gradients in two shadows.
    fn exchange(one: Self::Shadow<'_>, other: Self::Shadow<'_>);
    /// Empties a shadow.
    fn clear(shadow: Self::Shadow<'_>);
}

/// What can change places in a slice. `#[derive(Differentiable)]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not change places in a slice differentiably",
    note = "numbers, arrays, vectors, ndarray's arrays and structs with `#[derive(Differentiable)]` do",
    note = "a field that holds an `Option` of a box gets another one as `s.field = Some(Box::new(x));`, in which `s.field.take()` may go on"
)]
pub trait ExchangeItems: Item + Exchange {
    /// See [`Exchange::fits`].
    fn all_fit(items: &[Self], shadows: Self::Shadows<'_>) -> bool;
    /// Exchanges two gradients of `shadows`.
    fn swap_shadows(shadows: Self::Shadows<'_>, i: usize, j: usize);
    /// See [`Exchange::exchange`].
    fn exchange_all(one: Self::Shadows<'_>, other: Self::Shadows<'_>);
    /// See [`Exchange::clear`].
    fn clear_all(shadows: Self::Shadows<'_>);
}

/// Exchanges what two cells hold, which may be one and the same.
#[inline(always)]
fn exchange_cells<C: Accumulate>(one: &C, other: &C) {
    let (a, b) = (one.take(), other.take());
    one.accumulate(b);
    other.accumulate(a);
}

impl<T: Value<Tangent: Element>> Exchange for T {
    #[inline(always)]
    fn fits(&self, _shadow: Self::Shadow<'_>) -> bool {
        true
    }
    #[inline(always)]
    fn exchange(one: Self::Shadow<'_>, other: Self::Shadow<'_>) {
        exchange_cells(one, other);
    }
    #[inline(always)]
    fn clear(shadow: Self::Shadow<'_>) {
        shadow.take();
    }
}

impl<T: Value<Tangent: Element>> ExchangeItems for T {
    #[inline(always)]
    fn all_fit(items: &[T], shadows: Self::Shadows<'_>) -> bool {
        items.len() <= shadows.len()
    }
    #[inline(always)]
    fn swap_shadows(shadows: Self::Shadows<'_>, i: usize, j: usize) {
        let (a, b) = (shadows[i].take(), shadows[j].take());
        shadows[i].accumulate(b);
        shadows[j].accumulate(a);
    }
    #[inline]
    fn exchange_all(one: Self::Shadows<'_>, other: Self::Shadows<'_>) {
        one.iter().zip(other).for_each(|(one, other)| exchange_cells(one, other));
    }
    #[inline]
    fn clear_all(shadows: Self::Shadows<'_>) {
        for shadow in shadows {
            shadow.take();
        }
    }
}

macro_rules! slice {
    ($($t:ty),*) => {$(
        impl<T: ExchangeItems> Exchange for $t {
            #[inline]
            fn fits(&self, shadow: Self::Shadow<'_>) -> bool {
                T::all_fit(self, shadow)
            }
            #[inline]
            fn exchange(one: Self::Shadow<'_>, other: Self::Shadow<'_>) {
                T::exchange_all(one, other);
            }
            #[inline]
            fn clear(shadow: Self::Shadow<'_>) {
                T::clear_all(shadow);
            }
        }
    )*};
}
slice!([T], Vec<T>);

macro_rules! arrays {
    ($([$($generics:tt)*] $t:ty),*) => {$(
        impl<$($generics)*> Exchange for $t {
            fn fits(&self, shadow: Self::Shadow<'_>) -> bool {
                self.raw_dim() == shadow.raw_dim()
            }
            fn exchange(one: Self::Shadow<'_>, other: Self::Shadow<'_>) {
                Zip::from(one).and(other).for_each(exchange_cells);
            }
            fn clear(shadow: Self::Shadow<'_>) {
                shadow.iter().for_each(|cell| {
                    cell.take();
                });
            }
        }
    )*};
}
arrays!(
    [T: Element, D: Dimension + Copy + 'static] ArrayRef<T, D>,
    [T: Element, S: Data<Elem = T>, D: Dimension + Copy + 'static] ArrayBase<S, D>
);

/// Implements [`ExchangeItems`] for a container.
macro_rules! exchange_rows {
    ([$($generics:tt)*] $t:ty) => {
        impl<$($generics)*> $crate::exchange::ExchangeItems for $t {
            fn all_fit(items: &[Self], shadows: Self::Shadows<'_>) -> bool {
                $crate::rows::Rows::all_fit(items, shadows)
            }
            fn swap_shadows(shadows: Self::Shadows<'_>, i: usize, j: usize) {
                if i != j {
                    <$t as $crate::exchange::Exchange>::exchange(shadows[i], shadows[j]);
                }
            }
            fn exchange_all(one: Self::Shadows<'_>, other: Self::Shadows<'_>) {
                for (one, other) in one.iter().zip(other) {
                    <$t as $crate::exchange::Exchange>::exchange(*one, *other);
                }
            }
            fn clear_all(shadows: Self::Shadows<'_>) {
                for shadow in shadows {
                    <$t as $crate::exchange::Exchange>::clear(*shadow);
                }
            }
        }
    };
}
#[cfg(feature = "nalgebra")]
pub(crate) use exchange_rows;

exchange_rows!([T: ExchangeItems + 'static] Vec<T>);
exchange_rows!([T: Element, S: Data<Elem = T> + 'static, D: Dimension + Copy + 'static] ArrayBase<S, D>);

/// # Panics
/// If two that each other's shadow cannot have room for are to change places.
#[inline(always)]
pub(crate) fn check<T: Exchange>(one: &T, other: &T) {
    assert!(
        one.makes_way(other) && other.makes_way(one),
        "arrays of different shapes, and vectors with different numbers of rows, do not change places differentiably behind a reference"
    );
}

/// # Panics
/// If whoever has made the shadows did not know how much room is needed.
#[inline(always)]
pub(crate) fn has_room(fits: bool) {
    assert!(fits, "the shadows of what changes places have room for it");
}

/// Undoes that a field of a local struct, or what it has changed places with, is somewhere else.
pub struct Exchanges<G> {
    aside: Option<G>,
    measure: Option<fn(&G) -> usize>,
}

impl<G> Default for Exchanges<G> {
    fn default() -> Self {
        Self::new()
    }
}

impl<G> Exchanges<G> {
    /// Nothing, and nothing allocated.
    pub const fn new() -> Self {
        Exchanges { aside: None, measure: None }
    }

    /// Undoes `std::mem::swap(one, other)`. Gradients of different size are copied, and so are values: each has its memory from elsewhere,
    /// the one along with that of a struct, where it is to be found again.
    #[inline]
    pub fn undo<T>(&mut self, one: &mut T, other: &mut T, d_one: &mut G, d_other: &mut G)
    where
        T: Differentiable<Gradient = G>,
    {
        let alike = one.gradient_need().is_some_and(|need| other.gradient_need() == Some(need));
        one.exchange_contents(other);
        if alike || !std::mem::needs_drop::<G>() {
            return std::mem::swap(d_one, d_other);
        }
        self.measure = Some(T::gradient_size);
        let aside = self.aside.get_or_insert_with(T::empty);
        T::copy_gradient(aside, T::view(d_one));
        T::copy_gradient(d_one, T::view(d_other));
        T::copy_gradient(d_other, T::view(aside));
    }

    /// The same of boxes, or none.
    #[inline]
    pub fn undo_boxes<T>(
        &mut self,
        one: &mut Option<Box<T>>,
        other: &mut Option<Box<T>>,
        d_one: &mut G,
        d_other: &mut G,
    ) where
        T: Item<Gradients = G>,
    {
        std::mem::swap(one, other);
        self.measure = Some(T::gradients_size);
        let aside = self.aside.get_or_insert_with(T::empty_all);
        T::copy_all(aside, T::views(d_one));
        T::copy_all(d_one, T::views(d_other));
        T::copy_all(d_other, T::views(aside));
    }
}

impl<G: Send> State for Exchanges<G> {
    fn reset(&mut self) {}
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        0
    }
    fn memory(&self) -> usize {
        self.aside.iter().zip(self.measure).map(|(aside, measure)| measure(aside)).sum()
    }
}
