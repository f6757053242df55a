//! Copies of what a function takes by value, and of anything else that is cloned.
//!
//! To its rule what a function owns is lent: where the function moves it, or changes it, there is a copy. Where that goes, to what the
//! function returns for instance, it is not seen again. But the argument itself is of no more use after the pullback, and is as large: it
//! serves the next copy, so that the two passes allocate what the function does.

use std::any::Any;
use std::borrow::Borrow;

use crate::function::{Args, Cotangent, Gradients, Shadows};
use crate::mutation::{Copyable, to_owned};
use crate::output::Output;
use crate::rule::Rule;
use crate::state::State;

/// The rule of [`to_owned`].
pub struct Owning<C: Copyable + ?Sized> {
    spares: Spares<C::Owned>,
    /// How many copies no argument has come back for.
    lent: usize,
    /// What copies own that wait for their pullbacks.
    pending: Vec<usize>,
    /// One of each size, about, in place of those that are lost where a forward has no pullback.
    models: Spares<C::Owned>,
}

impl<C: Copyable + ?Sized> Owning<C> {
    /// Without memory.
    pub(crate) const fn new() -> Self {
        Owning { spares: Spares::new(), lent: 0, pending: Vec::new(), models: Spares::new() }
    }
}

impl<C: Copyable<Owned: Send> + ?Sized> State for Owning<C> {
    fn reset(&mut self) {
        self.lent = 0;
        for size in self.pending.drain(..) {
            if let Some(model) = self.models.like(size) {
                self.spares.give(Borrow::<C>::borrow(model).to_owned());
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
        self.spares.memory() + self.models.memory() + self.pending.capacity() * size_of::<usize>()
    }
}

impl<C: Copyable<Owned: Send> + ?Sized + 'static> Rule for Owning<C> {
    type Function = to_owned<C>;
    type Residual = ();
    const AT_ONCE: bool = false;

    #[inline]
    fn forward(&mut self, (x,): Args<'_, to_owned<C>>) -> (C::Owned, ()) {
        // Sizes may take turns, and memory goes where it is not seen again: of each size there has to be enough.
        let enough = 2 * self.pending.capacity();
        let room = x.room();
        let copy = match self.spares.take(room, enough) {
            Some(mut spare) => {
                x.clone_into(&mut spare);
                spare
            }
            None => {
                if self.models.like(room).is_none_or(|model| C::Owned::size(model) < room) {
                    self.models.keep(x.to_owned());
                }
                x.to_owned()
            }
        };
        self.lent += 1;
        self.pending.push(room);
        (copy, ())
    }

    #[inline]
    fn pullback<'a>(
        &mut self,
        (): (),
        _: Args<'a, to_owned<C>>,
        (dx,): Shadows<'a, to_owned<C>>,
        d: Cotangent<'_, to_owned<C>>,
    ) -> Gradients<to_owned<C>> {
        self.pending.pop();
        if let Some(dx) = dx.get() {
            C::hand_back(dx, d);
        }
        ((),)
    }

    fn reclaim_argument(&mut self, _parameter: usize, argument: &mut dyn Any) -> bool {
        // An empty one has been left behind where another was moved out of an enclosing block.
        let argument = argument.downcast_mut::<Option<C::Owned>>().filter(|_| self.lent > 0);
        let owning = argument.and_then(|argument| argument.take_if(|argument| C::Owned::size(argument) > 0));
        let Some(argument) = owning else { return false };
        self.lent -= 1;
        self.spares.give(argument);
        true
    }
}

/// Memory of several sizes.
struct Spares<T> {
    /// By the binary logarithm of the size.
    shelves: Vec<Vec<T>>,
    count: usize,
}

/// Among how many of about the right size to choose, so that it takes no time where there are thousands.
const RECENT: usize = 8;

impl<T> Spares<T> {
    const fn new() -> Self {
        Spares { shelves: Vec::new(), count: 0 }
    }
}

impl<T: Output> Spares<T> {
    /// Keeps one of about this size, in the place of the last one.
    fn keep(&mut self, model: T) {
        let last = self.shelves.get_mut(Self::shelf(T::size(&model))).and_then(Vec::pop);
        self.count -= usize::from(last.is_some());
        self.give(model);
    }

    /// What has been kept of about this size.
    fn like(&self, size: usize) -> Option<&T> {
        self.shelves.get(Self::shelf(size))?.last()
    }

    fn shelf(size: usize) -> usize {
        (usize::BITS - size.leading_zeros()) as usize
    }

    /// Something that owns `need` bytes, or else, if there are `enough`, about as many. Otherwise it would be missed where it fits.
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
        found
    }

    /// Of the latest one that owns `need` bytes, or else, if it may be `any`, the smallest that will do.
    fn fitting(shelf: &mut Vec<T>, need: usize, any: bool) -> Option<T> {
        let mut best = None;
        for i in (shelf.len().saturating_sub(RECENT)..shelf.len()).rev() {
            let room = T::size(&shelf[i]);
            if room == need {
                return Some(shelf.remove(i));
            }
            if any && room > need && best.is_none_or(|(_, least)| room < least) {
                best = Some((i, room));
            }
        }
        best.map(|(i, _)| shelf.remove(i))
    }

    fn give(&mut self, spare: T) {
        let shelf = Self::shelf(T::size(&spare));
        if self.shelves.len() <= shelf {
            self.shelves.resize_with(shelf + 1, Vec::new);
        }
        self.shelves[shelf].push(spare);
        self.count += 1;
    }

    fn memory(&self) -> usize {
        let spares: usize = self.shelves.iter().flatten().map(T::size).sum();
        let places: usize = self.shelves.iter().map(Vec::capacity).sum();
        self.shelves.capacity() * size_of::<Vec<T>>() + places * size_of::<T>() + spares
    }
}

/// An argument that is of no more use, unless one of the rules that it was lent to by `reclaim` takes it.
#[inline]
pub fn unless_reclaimed<T: 'static>(argument: T, reclaim: impl FnOnce(&mut dyn Any) -> bool) -> Option<T> {
    let mut argument = Some(argument);
    reclaim(&mut argument);
    argument
}
