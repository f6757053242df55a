//! Copies of what a function takes by value, and of anything else that is cloned.
//!
//! To its rule what a function owns is lent: where the function moves it, or changes it, there is a copy. Where that goes, to what the
//! function returns for instance, it is not seen again. But the argument itself is of no more use after the pullback, and is as large: it
//! serves the next copy, so that the two passes allocate what the function does.

use std::any::Any;
use std::borrow::Borrow;
use std::mem::needs_drop;

use crate::function::{Args, Cotangent, Gradients, Shadows};
use crate::mutation::{Copyable, to_owned};
use crate::output::Output;
use crate::rule::Rule;
use crate::state::State;

/// The rule of [`to_owned`].
pub struct Owning<C: Copyable + ?Sized> {
    spares: Stock<C::Owned>,
    /// What copies need that no argument has come back for.
    lent: Vec<usize>,
    /// What copies need that wait for their pullbacks.
    pending: Vec<usize>,
    /// Elements of the next argument that comes back.
    parts: Option<C::Owned>,
    /// One of each size, in place of those that are lost where a forward has no pullback.
    models: Stock<C::Owned>,
    /// No argument comes back, as for what is cloned: nothing is to take its place.
    gone: bool,
}

impl<C: Copyable + ?Sized> Owning<C> {
    /// Without memory.
    pub(crate) const fn new() -> Self {
        let spares = Stock::new();
        Owning {
            spares,
            lent: Vec::new(),
            pending: Vec::new(),
            parts: None,
            models: Stock::new(),
            gone: false,
        }
    }

    /// Something that needs so much memory: a spare one that is `refilled`, or a new one.
    pub(crate) fn supply(
        &mut self,
        room: usize,
        refill: impl FnOnce(&mut C::Owned),
        new: impl Fn() -> C::Owned,
    ) -> C::Owned {
        if self.pending.is_empty() && !self.lent.is_empty() {
            self.lent.clear();
            (self.gone, self.models) = (true, Stock::new());
        }
        // Sizes may take turns, and memory goes where it is not seen again: of each size there has to be enough.
        let enough = 2 * self.pending.capacity();
        let supplied = match self.spares.take(room, enough) {
            Some(mut spare) => {
                refill(&mut spare);
                spare
            }
            None => {
                if !self.gone && self.models.is_missing(room) {
                    self.models.give(room, new());
                }
                new()
            }
        };
        if room > 0 {
            self.lent.push(room);
        }
        self.pending.push(room);
        supplied
    }

    /// What was supplied last has had its pullback.
    pub(crate) fn settle(&mut self) {
        self.pending.pop();
    }
}

impl<C: Copyable<Owned: Send> + ?Sized> State for Owning<C> {
    fn reset(&mut self) {
        self.lent.clear();
        self.parts = None;
        for size in self.pending.drain(..) {
            if let Some(model) = self.models.like(size) {
                self.spares.give(size, Borrow::<C>::borrow(model).duplicate());
            }
        }
    }
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        0
    }
    fn memory(&self) -> usize {
        let needs = self.pending.capacity() + self.lent.capacity();
        self.spares.memory() + self.models.memory() + needs * size_of::<usize>()
    }
}

impl<C: Copyable<Owned: Send> + ?Sized + 'static> Rule for Owning<C> {
    type Function = to_owned<C>;
    type Residual = ();
    const AT_ONCE: bool = false;

    #[inline]
    fn forward(&mut self, (x,): Args<'_, to_owned<C>>) -> (C::Owned, ()) {
        if !needs_drop::<C::Owned>() {
            return (x.to_owned(), ());
        }
        (self.supply(x.room(), |spare| x.copy_into(spare), || x.duplicate()), ())
    }

    #[inline]
    fn pullback<'a>(
        &mut self,
        (): (),
        _: Args<'a, to_owned<C>>,
        (dx,): Shadows<'a, to_owned<C>>,
        d: Cotangent<'_, to_owned<C>>,
    ) -> Gradients<to_owned<C>> {
        self.settle();
        if let Some(dx) = dx.get() {
            C::hand_back(dx, d);
        }
        ((),)
    }

    fn reclaim_argument(&mut self, _parameter: usize, argument: &mut dyn Any) -> bool {
        let waits = !self.lent.is_empty();
        if !waits || argument.is::<()>() || C::keep_part(&mut self.parts, argument) {
            return waits;
        }
        let Some(place) = argument.downcast_mut::<Option<C::Owned>>() else { return false };
        // An empty one has been left behind where another was moved out of an enclosing block.
        let Some(argument) = place.as_mut().filter(|argument| C::Owned::size(argument) > 0) else {
            return false;
        };
        if let Some(parts) = &mut self.parts {
            C::put_parts(argument, parts);
        }
        // Of another size it is none of those that were lent, and does not serve the copies of these.
        let room = Borrow::<C>::borrow(argument).room();
        let Some(behind) = self.lent.iter().rev().take(RECENT).position(|need| *need == room) else {
            return false;
        };
        self.lent.remove(self.lent.len() - 1 - behind);
        self.spares.give(room, place.take().expect("just seen"));
        true
    }
}

/// Memory for copies that need so many bytes.
struct Stock<T> {
    /// By the binary logarithm of the need.
    shelves: Vec<Vec<(usize, T)>>,
    count: usize,
}

/// Among how many for about as much to choose, so that it takes no time where there are thousands.
const RECENT: usize = 8;

impl<T> Stock<T> {
    const fn new() -> Self {
        Stock { shelves: Vec::new(), count: 0 }
    }

    fn shelf(need: usize) -> usize {
        (usize::BITS - need.leading_zeros()) as usize
    }

    /// There is none for this need, nor are there many for about as much.
    fn is_missing(&self, need: usize) -> bool {
        let shelf = self.shelves.get(Self::shelf(need));
        self.like(need).is_none() && shelf.is_none_or(|shelf| shelf.len() < RECENT)
    }

    /// What has been kept for this need.
    fn like(&self, need: usize) -> Option<&T> {
        self.shelves.get(Self::shelf(need))?.iter().find(|(room, _)| *room == need).map(|(_, model)| model)
    }

    /// Something for this need, or else, if there are `enough`, for about as much. Otherwise it would be missed where it fits.
    fn take(&mut self, need: usize, enough: usize) -> Option<T> {
        if self.count == 0 {
            return None;
        }
        let any = self.count >= enough;
        let shelf = Self::shelf(need);
        let mut found = self.shelves.get_mut(shelf).and_then(|shelf| Self::fitting(shelf, need, any));
        if any && found.is_none() {
            let middle = shelf.min(self.shelves.len());
            let (smaller, larger) = self.shelves.split_at_mut(middle);
            found = larger.iter_mut().chain(smaller.iter_mut().rev()).find_map(Vec::pop);
        }
        self.count -= usize::from(found.is_some());
        found.map(|(_, spare)| spare)
    }

    /// Of the latest the one for this need, or else, if it may be `any`, the smallest that will do.
    fn fitting(shelf: &mut Vec<(usize, T)>, need: usize, any: bool) -> Option<(usize, T)> {
        let mut best = None;
        for i in (shelf.len().saturating_sub(RECENT)..shelf.len()).rev() {
            let room = shelf[i].0;
            if room == need {
                return Some(shelf.remove(i));
            }
            if any && room > need && best.is_none_or(|(_, least)| room < least) {
                best = Some((i, room));
            }
        }
        best.map(|(i, _)| shelf.remove(i))
    }

    fn give(&mut self, need: usize, spare: T) {
        let shelf = Self::shelf(need);
        if self.shelves.len() <= shelf {
            self.shelves.resize_with(shelf + 1, Vec::new);
        }
        self.shelves[shelf].push((need, spare));
        self.count += 1;
    }
}

impl<T: Output> Stock<T> {
    fn memory(&self) -> usize {
        let spares: usize = self.shelves.iter().flatten().map(|(_, spare)| T::size(spare)).sum();
        let places: usize = self.shelves.iter().map(Vec::capacity).sum();
        self.shelves.capacity() * size_of::<Vec<(usize, T)>>() + places * size_of::<(usize, T)>() + spares
    }
}

/// Takes an argument that is of no more use apart, for the rules that parts of it were lent to, if these wait for them.
#[inline]
pub fn reclaim_parts<T: 'static>(argument: &mut dyn Any, waits: bool, reclaim: impl FnOnce(T)) -> bool {
    match argument.downcast_mut::<Option<T>>() {
        Some(argument) => argument.take_if(|_| waits).map(reclaim).is_some(),
        None => waits && argument.is::<()>(),
    }
}

/// An argument that is of no more use, unless one of the rules that it was lent to by `reclaim` takes it.
#[inline]
pub fn unless_reclaimed<T: 'static>(argument: T, reclaim: impl FnOnce(&mut dyn Any) -> bool) -> Option<T> {
    let mut argument = Some(argument);
    reclaim(&mut argument);
    argument
}
