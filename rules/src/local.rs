//! Shadows of local variables, and other helpers of derived code.

use std::ops::Range;

use crate::output::Output;
use crate::rows::{Item, Rows};
use crate::shadow::{Differentiable, Shadow};
use crate::state::State;
use crate::tangent::Tangent;

/// The residual of a branch: that of the arm that was taken.
pub enum Branch<A, B> {
    /// The condition held.
    Then(A),
    /// It did not.
    Else(B),
}

/// Shadows of a local that lives on the heap, kept from call to call.
pub struct Pool<G> {
    gradients: Vec<G>,
    /// What one of them owns.
    measure: Option<fn(&G) -> usize>,
    /// How one is taken apart that is given back, where it is that of what may be in boxes.
    release: Option<fn(G, &mut Vec<G>)>,
    /// What comes first to those that are taken [to be overwritten](Self::take_to_overwrite) sets every element.
    overwritten: bool,
}

/// Among how many gradients [`Pool::take`] chooses, so that it takes no time where there are thousands.
const RECENT: usize = 8;

impl<G> Default for Pool<G> {
    fn default() -> Self {
        Self::new()
    }
}

impl<G> Pool<G> {
    /// An empty pool.
    pub const fn new() -> Self {
        Pool { gradients: Vec::new(), measure: None, release: None, overwritten: false }
    }

    /// A zero gradient of the shape of `value`. The gradients of vectors that change places come back in another order than they
    /// are asked for, so that their sizes tell which one to take.
    pub fn take<T: Differentiable<Gradient = G> + ?Sized>(&mut self, value: &T) -> G {
        let mut gradient = self.any::<T>(value);
        value.prepare(&mut gradient);
        gradient
    }

    /// Likewise for what a call has returned, which may be a tuple of what owns memory and what does not.
    pub fn take_returned<T: Output<Gradient = G>>(&mut self, value: &T) -> G {
        self.measured(T::gradient_size);
        let mut gradient = self.pop().unwrap_or_else(T::empty);
        value.prepare(&mut gradient);
        gradient
    }

    /// Likewise, but if [so told](Self::overwrite) with whatever in it.
    pub fn take_to_overwrite<T: Differentiable<Gradient = G> + ?Sized>(&mut self, value: &T) -> G {
        let mut gradient = self.any::<T>(value);
        if self.overwritten {
            value.prepare_to_overwrite(&mut gradient);
        } else {
            value.prepare(&mut gradient);
        }
        gradient
    }

    /// Whether the rules that are handed the gradients taken to be overwritten will do that.
    pub fn overwrite(&mut self, overwritten: bool) {
        self.overwritten = overwritten;
    }

    /// One that may have another shape.
    fn any<T: Differentiable<Gradient = G> + ?Sized>(&mut self, value: &T) -> G {
        let kept = if std::mem::needs_drop::<G>() {
            self.measure = Some(T::gradient_size);
            match value.gradient_need() {
                Some(need) if self.gradients.len() > 1 => self.best(need, T::gradient_size, RECENT),
                _ => self.gradients.pop(),
            }
        } else {
            None
        };
        kept.unwrap_or_else(T::empty)
    }

    /// Notes what a gradient owns.
    pub(crate) fn measured(&mut self, measure: fn(&G) -> usize) {
        self.measure = Some(measure);
    }

    /// What `gradient` owns, once that has been noted.
    pub(crate) fn size_of(&self, gradient: &G) -> usize {
        self.measure.map_or(0, |measure| measure(gradient))
    }

    /// Of the last `among` gradients the one with least room that is `need` at least, or else with most.
    fn best(&mut self, need: usize, room: impl Fn(&G) -> usize, among: usize) -> Option<G> {
        let first = self.gradients.len().saturating_sub(among);
        let rooms = self.gradients[first..].iter().map(room).enumerate();
        let best = rooms.rev().min_by_key(|(_, room)| (*room < need, room.abs_diff(need)));
        best.map(|(i, _)| self.gradients.remove(first + i))
    }

    /// One of the gradients that are there, for what owns `need`. What owns nothing leaves those that do to others.
    pub(crate) fn like(
        &mut self,
        need: usize,
        measure: impl Fn(&G) -> usize,
        empty: impl FnOnce() -> G,
    ) -> Option<G> {
        if need == 0 && self.gradients.last().is_none_or(|latest| measure(latest) > 0) {
            return Some(empty());
        }
        self.best(need, measure, RECENT)
    }

    /// One of the gradients that are there.
    pub(crate) fn pop(&mut self) -> Option<G> {
        self.gradients.pop()
    }

    /// The one that was given back first; `measure` says what one of them owns.
    pub(crate) fn first(&mut self, measure: fn(&G) -> usize) -> Option<G> {
        self.measure = Some(measure);
        self.oldest()
    }

    /// The one that was given back first.
    pub(crate) fn oldest(&mut self) -> Option<G> {
        (!self.gradients.is_empty()).then(|| self.gradients.remove(0))
    }

    /// Takes back what [`take`](Pool::take) gave.
    pub fn give(&mut self, gradient: G) {
        // Plain data is made anew at no cost.
        match self.release {
            Some(release) => release(gradient, &mut self.gradients),
            None if std::mem::needs_drop::<G>() => self.gradients.push(gradient),
            None => {}
        }
    }

    /// A zero gradient of what may be in a box, for locals that hand their boxes on to one another. That of each box is kept by itself, since a list
    /// or a tree is put together and taken apart box by box.
    pub fn take_held<T: Item<Gradients = G>>(&mut self, held: &[T]) -> G
    where
        G: 'static,
    {
        self.measured(T::gradients_size);
        self.release = Some(T::release_all);
        if !held.is_empty() {
            // Those of a list came back from its start on, as they are asked for again.
            self.gradients.reverse();
        }
        let mut gradient = T::empty_all();
        T::prepare_all_from(held, &mut gradient, &mut self.gradients);
        gradient
    }
}

impl<T: Differentiable> Pool<Rows<T>> {
    /// A zero gradient for each row; the memory may come from the `stock` to which gradients of single rows go.
    pub fn take_rows(&mut self, rows: &[T], stock: &mut Pool<T::Gradient>) -> Rows<T> {
        self.measure = Some(Rows::heap_size);
        stock.measure = Some(T::gradient_size);
        let mut gradients = self.gradients.pop().unwrap_or_default();
        gradients.prepare_from(stock, rows);
        gradients
    }

    /// The same where gradients change places with those of what is returned: which of them has room for so many rows differs.
    pub fn fit_rows(&mut self, rows: &[T], stock: &mut Pool<T::Gradient>) -> Rows<T> {
        stock.measure = Some(T::gradient_size);
        let mut gradients = self.fitting(rows.len());
        gradients.prepare_from(stock, rows);
        gradients
    }

    /// The gradients with least room for at least `len` rows, if there are such, or with most room.
    pub(crate) fn fitting(&mut self, len: usize) -> Rows<T> {
        self.measure = Some(Rows::heap_size);
        self.best(len, Rows::room, usize::MAX).unwrap_or_default()
    }

    /// Takes back what [`take_rows`](Pool::take_rows) gave, but for the gradients of the rows: rows that are taken out come before.
    pub fn give_rows(&mut self, mut rows: Rows<T>, stock: &mut Pool<T::Gradient>) {
        rows.return_to(stock);
        self.gradients.push(rows);
    }
}

impl<G: Send> State for Pool<G> {
    fn reset(&mut self) {}
    fn shrink(&mut self) {
        *self = Pool { overwritten: self.overwritten, ..Self::new() };
    }
    fn pending(&self) -> usize {
        0
    }
    fn memory(&self) -> usize {
        self.gradients.capacity() * size_of::<G>()
            + self.measure.map_or(0, |measure| self.gradients.iter().map(measure).sum())
    }
}

/// The shadow of the local `value`, as a callee gets it.
#[inline(always)]
pub fn shadow_of<'a, T: Differentiable + ?Sized>(
    _value: &T,
    gradient: &'a mut T::Gradient,
) -> Shadow<T::Shadow<'a>> {
    Shadow::new(T::shadow(gradient))
}

/// In the place of the shadow of a constant argument.
#[inline(always)]
pub fn none<T: Default>() -> T {
    T::default()
}

/// The gradient with respect to what an array repeats.
#[inline(always)]
pub fn sum<T: Tangent, const N: usize>(gradients: [T; N]) -> T {
    let mut total = T::zero();
    for gradient in gradients {
        total.accumulate(gradient);
    }
    total
}

/// The part of a matrix in a flat slice that a loop of `len` iterations goes through. Without iterations nobody asks where
/// it starts.
///
/// # Panics
/// If the part is not within the slice.
#[inline(always)]
pub fn row_of<T>(flat: &[T], start: impl FnOnce() -> usize, len: usize) -> &[T] {
    if len == 0 { &[] } else { &flat[start()..][..len] }
}

/// Likewise, where it is not known whether all of it is there: none, if it is not.
#[inline(always)]
pub fn whole_row<T>(flat: &[T], start: impl FnOnce() -> usize, len: usize) -> Option<&[T]> {
    if len == 0 { None } else { flat.get(start()..)?.get(..len) }
}

/// The elements of a range, the last one first, where [`Iterator::rev`] is not to be had.
pub fn backwards<I: Iterator + Clone>(range: I) -> impl Iterator<Item = I::Item> {
    let count = range.clone().count();
    (0..count).rev().map(move |i| range.clone().nth(i).expect("one of those counted"))
}

/// The first `count` elements of a range, the last one first: those that a loop has seen which was left early.
pub fn first<I: Iterator + Clone>(range: I, count: usize) -> impl Iterator<Item = I::Item> {
    (0..count).rev().map(move |i| range.clone().nth(i).expect("one of those counted"))
}

/// A loop over `0..count` has found `count` elements in an array of length `len`: what the optimiser does not know.
#[inline(always)]
pub fn reaches(len: usize, count: usize) {
    assert!(count <= len, "an array is as long as in the forward pass");
}

/// The range of a loop within one over `outer`: nothing, if that has no iterations, and then nobody asks for it.
#[inline(always)]
pub fn within<I: PartialOrd>(outer: Range<I>, inner: impl FnOnce() -> Range<usize>) -> Range<usize> {
    if outer.is_empty() { 0..0 } else { inner() }
}
