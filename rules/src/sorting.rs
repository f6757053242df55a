//! Sorting: the order is a constant, by which the reverse pass brings numbers and gradients back to where they were.

use std::cell::Cell;

use crate::float::Scalar;
use crate::shadow::{Accumulate, Shadow};
use crate::state::State;

/// The orders that slices have been brought into, the latest last.
pub struct Sorted<T> {
    /// For each number of a sorted slice where it was before.
    orders: Vec<u32>,
    lens: Vec<usize>,
    /// Room to work in.
    numbers: Vec<T>,
    places: Vec<u32>,
    origins: Vec<u32>,
}

impl<T> Default for Sorted<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Sorted<T> {
    /// Nothing, and nothing allocated.
    pub const fn new() -> Self {
        Sorted {
            orders: Vec::new(),
            lens: Vec::new(),
            numbers: Vec::new(),
            places: Vec::new(),
            origins: Vec::new(),
        }
    }
}

impl<T: Scalar> Sorted<T> {
    /// Has `sort` reorder `x`, in whatever way, and finds out how. Of numbers that are the same bit for bit the first stays the
    /// first.
    ///
    /// # Panics
    /// If there are 2³² numbers or more.
    pub fn sort(&mut self, x: &mut [T], sort: impl FnOnce(&mut [T])) {
        let count = u32::try_from(x.len()).expect("fewer than 2³² numbers are sorted differentiably");
        self.numbers.clear();
        self.numbers.extend_from_slice(x);
        sort(x);
        // In ascending order it is known which number is which, before and after.
        let start = self.orders.len();
        self.orders.extend(0..count);
        let before = &self.numbers;
        self.orders[start..].sort_unstable_by_key(|&i| (before[i as usize].total_order(), i));
        if !x.is_sorted_by_key(|number| number.total_order()) {
            self.places.clear();
            self.places.extend(0..count);
            self.places.sort_unstable_by_key(|&i| (x[i as usize].total_order(), i));
            self.origins.clear();
            self.origins.extend_from_slice(&self.orders[start..]);
            for (place, origin) in self.places.iter().zip(&self.origins) {
                self.orders[start + *place as usize] = *origin;
            }
        }
        self.lens.push(x.len());
    }

    /// Undoes the latest sorting, of `x` and of its shadow.
    pub fn undo(&mut self, x: &mut [T], shadow: Shadow<&[Cell<T>]>) {
        let len = self.lens.pop().expect("a pullback follows its forward");
        let start = self.orders.len() - len;
        let order = &self.orders[start..];
        self.numbers.clear();
        self.numbers.extend_from_slice(x);
        for (number, origin) in self.numbers.iter().zip(order) {
            x[*origin as usize] = *number;
        }
        if let Some(shadow) = shadow.get() {
            self.numbers.clear();
            self.numbers.extend(shadow.iter().map(Accumulate::take));
            for (d, origin) in self.numbers.iter().zip(order) {
                shadow[*origin as usize].accumulate(*d);
            }
        }
        self.orders.truncate(start);
    }
}

impl<T: Send> State for Sorted<T> {
    fn reset(&mut self) {
        self.orders.clear();
        self.lens.clear();
    }
    fn release(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        size_of_val(&self.orders[..]) + size_of_val(&self.lens[..])
    }
}
