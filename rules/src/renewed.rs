//! Places behind references that get something else to hold, which may own memory: `*v = w;`, and vectors that are taken away from there,
//! `let w = std::mem::take(v);`. Vectors may have any length.
//!
//! What was there before may have more elements than there is memory for now. So the shadow needs more room than the capacity of the vector
//! tells, see [`State::least_room`].

use crate::boxed::in_box;
use crate::exchange::{Exchange, ExchangeItems};
use crate::lengths::{Cells, taken_off};
use crate::local::Pool;
use crate::shadow::{Differentiable, Shadow};
use crate::state::State;

/// `*place = new;`
pub fn renew<T>(new: T, place: &mut T) {
    *place = new;
}

/// The same where there is a box, or none: `self.left = Some(Box::new(leaf));`
pub fn renew_box<T>(new: Option<Box<T>>, place: &mut Option<Box<T>>) {
    *place = new;
}

/// `std::mem::take(v)`
pub fn take_all<T>(v: &mut Vec<T>) -> Vec<T> {
    std::mem::take(v)
}

/// `std::mem::take(place)` of a box, or none, that goes on in what the place gets next.
pub fn take_box<T>(place: &mut Option<Box<T>>) -> Option<Box<T>> {
    place.take()
}

/// What was where there is something else now.
pub struct Renewed<T> {
    before: Vec<T>,
    room: usize,
}

impl<T> Default for Renewed<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Renewed<T> {
    /// Nothing, and nothing allocated.
    pub const fn new() -> Self {
        Renewed { before: Vec::new(), room: 0 }
    }
}

impl<T: Exchange> Renewed<T> {
    /// `*place = new;`
    ///
    /// # Panics
    /// If one of them has arrays of other shapes than the other, or more rows of vectors.
    #[inline]
    pub fn renew(&mut self, new: T, place: &mut T) {
        assert!(
            place.makes_way(&new),
            "arrays of different shapes, and vectors with fewer rows, do not take each other's place differentiably behind a reference"
        );
        self.room = self.room.max(place.largest());
        self.before.push(std::mem::replace(place, new));
    }

    /// Undoes the latest one, and returns what was new with its gradient, whose memory comes from `pool`.
    #[inline]
    pub fn undo<'a>(
        &mut self,
        place: &mut T,
        shadow: impl Into<Shadow<T::Shadow<'a>>>,
        pool: &mut Pool<T::Gradient>,
    ) -> (T, T::Gradient) {
        let new = std::mem::replace(place, self.before.pop().expect("a pullback follows its forward"));
        let shadow = shadow.into();
        let d = taken_off(&new, shadow, pool);
        if let Some(shadow) = shadow.get().filter(|_| T::RESIZES) {
            // Where there was more before, nobody has looked at it yet.
            T::clear(shadow);
        }
        (new, d)
    }
}

impl<T: ExchangeItems> Renewed<Option<Box<T>>> {
    /// `*place = new;` of a box, or none.
    ///
    /// # Panics
    /// If what was in the box has boxes, or rows of vectors, that what is there now does not have.
    #[inline]
    pub fn renew_box(&mut self, new: Option<Box<T>>, place: &mut Option<Box<T>>) {
        assert!(
            in_box(place).makes_way(in_box(&new)),
            "behind a reference a box gets differentiably what has all the boxes, and as many rows of vectors, as what was there: put it where there is none"
        );
        self.room = self.room.max(T::largest_of(in_box(place)));
        self.before.push(std::mem::replace(place, new));
    }

    /// Undoes the latest one of these, and returns what was new with its gradient, whose memory comes from `pool`.
    #[inline]
    pub fn undo_box<'a>(
        &mut self,
        place: &mut Option<Box<T>>,
        shadow: impl Into<Shadow<T::Shadows<'a>>>,
        pool: &mut Pool<T::Gradients>,
    ) -> (Option<Box<T>>, T::Gradients) {
        let new = std::mem::replace(place, self.before.pop().expect("a pullback follows its forward"));
        let shadow = shadow.into();
        let d = taken_off::<[T]>(in_box(&new), shadow, pool);
        if let Some(shadow) = shadow.get() {
            // Where there was more before, nobody has looked at it yet.
            T::clear_all(shadow);
        }
        (new, d)
    }
}

impl<T: Send> State for Renewed<T> {
    fn least_room(&self) -> usize {
        self.room
    }
    fn reset(&mut self) {
        self.before.clear();
    }
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        size_of_val(&self.before[..])
    }
    fn memory(&self) -> usize {
        self.before.capacity() * size_of::<T>()
    }
}

/// Vectors and boxes that have been taken away.
#[derive(Default)]
pub struct TakenAway {
    room: usize,
}

impl TakenAway {
    /// None.
    pub const fn new() -> Self {
        TakenAway { room: 0 }
    }

    /// `std::mem::take(v)`
    #[inline]
    pub fn take_all<T>(&mut self, v: &mut Vec<T>) -> Vec<T> {
        self.room = self.room.max(v.capacity());
        std::mem::take(v)
    }

    /// Undoes it: `taken` has the gradient `d`.
    #[inline]
    pub fn put_back<T, V: Cells>(&self, v: &mut Vec<T>, taken: Vec<T>, shadow: Shadow<V>, d: &[V::One]) {
        d.iter().enumerate().for_each(|(i, d)| shadow.set_at(i, *d));
        *v = taken;
    }

    /// `std::mem::take(place)` of a box, or none, that is within what comes in its place: a list that gets longer at its start.
    #[inline]
    pub fn take_box<T: ExchangeItems>(&mut self, place: &mut Option<Box<T>>) -> Option<Box<T>> {
        self.room = self.room.max(T::largest_of(in_box(place)));
        place.take()
    }

    /// Undoes that: `taken` has the gradient `d`.
    ///
    /// # Panics
    /// If what has come in its place has not the boxes, or the rows of vectors, that were there.
    #[inline]
    pub fn put_back_box<'a, T: ExchangeItems>(
        &self,
        place: &mut Option<Box<T>>,
        taken: Option<Box<T>>,
        shadow: impl Into<Shadow<T::Shadows<'a>>>,
        d: &mut T::Gradients,
    ) {
        *place = taken;
        if let Some(shadow) = shadow.into().get() {
            assert!(
                T::all_fit(in_box(place), shadow),
                "behind a reference a box gets differentiably what has all the boxes, and as many rows of vectors, as what was there"
            );
            T::exchange_all(T::shadows(d), shadow);
        }
    }
}

impl State for TakenAway {
    fn least_room(&self) -> usize {
        self.room
    }
    fn reset(&mut self) {}
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        0
    }
    fn memory(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::slice_cells;

    #[test]
    fn of_any_length() {
        for (new, before) in
            [(vec![1.0, 2.0], vec![3.0; 4]), (vec![1.0, 2.0, 3.0], vec![4.0]), (vec![], vec![1.0])]
        {
            let (mut renewed, mut v, mut pool) = (Renewed::new(), before.clone(), Pool::new());
            renewed.renew(new.clone(), &mut v);
            assert_eq!(v, new);
            assert!(renewed.least_room() >= before.len());
            let mut d: Vec<f64> = (0..4).map(f64::from).collect();
            let (back, d_new) = renewed.undo(&mut v, Shadow::new(slice_cells(&mut d)), &mut pool);
            assert_eq!((&back, &v), (&new, &before));
            assert!(d_new.iter().enumerate().all(|(i, d)| *d == i as f64));
            assert!(d[..before.len()].iter().all(|d| *d == 0.0));
        }
    }

    #[test]
    fn taken_and_put_back() {
        let (mut away, mut v) = (TakenAway::new(), vec![1.0, 2.0]);
        let taken = away.take_all(&mut v);
        assert_eq!((v.len(), away.least_room()), (0, 2));
        let mut d = vec![f64::NAN; 2];
        away.put_back(&mut v, taken, Shadow::new(slice_cells(&mut d)), &[3.0, 4.0]);
        assert_eq!((v, d), (vec![1.0, 2.0], vec![3.0, 4.0]));
    }
}
