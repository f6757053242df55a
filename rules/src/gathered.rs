//! Items of iterators that are gathered for a rule, in memory that serves call after call: the function itself needs none.

use std::marker::PhantomData;

use crate::function::{Args, ConstVal, Cotangent, Function, Gradients, Shadows};
use crate::output::Output;
use crate::rows::Item;
use crate::rule::Rule;
use crate::state::State;

/// The type by which derived code tells that a vector is one of gathered items.
pub use std::vec::Vec;

/// `items`, which go through `gathered`: a rule has the latter.
#[inline(always)]
pub fn handed<I, T: ?Sized>(items: I, _gathered: &T) -> I {
    items
}

/// An empty vector with room for `n` items.
#[inline(always)]
pub fn room<T>(n: usize) -> Vec<T> {
    Vec::with_capacity(n)
}

/// What stands beside it for derived code, in which nothing but the use of the vector tells the type of the items.
#[allow(non_camel_case_types)]
pub enum room {}

impl room {
    /// The arguments of a call.
    #[inline(always)]
    pub fn args(n: usize) -> (usize,) {
        (n,)
    }
    /// The rule.
    pub fn rule<T: Item + Send + 'static>() -> Rooms<T> {
        Rooms { waiting: Vec::new(), pending: Vec::new(), largest: 0 }
    }
}

/// The function for items of one type.
pub struct RoomFor<T> {
    marker: PhantomData<fn() -> T>,
}

impl<T: Item + Send + 'static> Function for RoomFor<T> {
    type Parameters = (ConstVal<usize>,);
    type Output = Vec<T>;
    const NAME: &'static str = "room";

    fn primal((n,): Args<'_, Self>) -> Vec<T> {
        Vec::with_capacity(n)
    }
}

/// The rule of `room`.
pub struct Rooms<T> {
    /// Empty vectors that have come back.
    waiting: Vec<Vec<T>>,
    /// How much those have been asked to hold whose pullbacks have not run.
    pending: Vec<usize>,
    /// How much the largest had come to hold: there may be more items than are known of beforehand.
    largest: usize,
}

impl<T: Item + Send> State for Rooms<T> {
    /// What was dropped along with a residual is made anew, so that the next call finds it.
    fn reset(&mut self) {
        let enough = |n: usize| Vec::with_capacity(n.max(self.largest));
        self.waiting.extend(self.pending.drain(..).rev().map(enough));
    }
    fn shrink(&mut self) {
        (self.waiting, self.pending, self.largest) = (Vec::new(), Vec::new(), 0);
    }
    fn pending(&self) -> usize {
        0
    }
    fn memory(&self) -> usize {
        let waiting: usize = self.waiting.iter().map(Vec::<T>::size).sum();
        waiting + self.waiting.capacity() * size_of::<Vec<T>>() + self.pending.capacity() * size_of::<usize>()
    }
}

impl<T: Item + Send + 'static> Rule for Rooms<T> {
    type Function = RoomFor<T>;
    type Residual = ();

    #[inline]
    fn forward(&mut self, (n,): Args<'_, RoomFor<T>>) -> (Vec<T>, ()) {
        self.pending.push(n);
        let mut room = self.waiting.pop().unwrap_or_default();
        room.reserve(n);
        (room, ())
    }

    #[inline]
    fn pullback<'a>(
        &mut self,
        (): (),
        _: Args<'a, RoomFor<T>>,
        _: Shadows<'a, RoomFor<T>>,
        _: Cotangent<'_, RoomFor<T>>,
    ) -> Gradients<RoomFor<T>> {
        self.pending.pop();
        ((),)
    }

    #[inline]
    fn reclaim(&mut self, mut room: Vec<T>) {
        room.clear();
        self.largest = self.largest.max(room.capacity());
        self.waiting.push(room);
    }
}
