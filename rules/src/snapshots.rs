//! What a loop keeps at its checkpoints.

use std::ops::Range;

use crate::heap::HeapSize;
use crate::output::Output;
use crate::saved::Contents;
use crate::schedule::thin;
use crate::state::State;

/// Copies of something that changes, of which the latest comes back first.
pub struct Snapshots<T> {
    elements: Vec<T>,
    lengths: Vec<usize>,
}

impl<T> Snapshots<T> {
    /// No copy, and nothing allocated.
    pub const fn new() -> Self {
        Snapshots { elements: Vec::new(), lengths: Vec::new() }
    }
}

impl<T> Default for Snapshots<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy> Snapshots<T> {
    /// Copies `contents`.
    pub fn save<C: Contents<Element = T> + ?Sized>(&mut self, contents: &C) {
        let before = self.elements.len();
        contents.append_to(&mut self.elements);
        self.lengths.push(self.elements.len() - before);
    }

    /// Brings back the latest copy that is still here.
    pub fn restore<C: Contents<Element = T> + ?Sized>(&mut self, contents: &mut C) {
        self.go_back(contents, true);
    }

    /// Brings back the latest copy, which stays here unless it `is_last` to be asked for.
    pub fn go_back<C: Contents<Element = T> + ?Sized>(&mut self, contents: &mut C, is_last: bool) {
        let len = *self.lengths.last().expect("a pullback follows its forward");
        let start = self.elements.len() - len;
        contents.fill_from(&self.elements[start..]);
        if is_last {
            self.elements.truncate(start);
            self.lengths.pop();
        }
    }

    /// Drops every second one of the latest `count` copies.
    pub fn thin(&mut self, count: usize) {
        let first = self.lengths.len() - count;
        let mut to = self.elements.len() - self.lengths[first..].iter().sum::<usize>();
        let mut from = to;
        for (i, &len) in self.lengths[first..].iter().enumerate() {
            if i % 2 == 0 {
                self.elements.copy_within(from..from + len, to);
                to += len;
            }
            from += len;
        }
        self.elements.truncate(to);
        thin(&mut self.lengths, count);
    }
}

/// Something that is copied as a whole: it is no row of elements.
pub trait Whole {
    /// What a copy is.
    type Copy: Send;
    /// A first copy.
    fn copied(&self) -> Self::Copy;
    /// A copy in the place of an older one.
    fn copy_over(&self, copy: &mut Self::Copy);
    /// Becomes what `copy` is.
    fn bring_back(&mut self, copy: &Self::Copy);
    /// How many bytes of the heap `copy` owns.
    fn copy_size(copy: &Self::Copy) -> usize;
}

impl<T: Output + Clone + Send> Whole for T {
    type Copy = T;
    fn copied(&self) -> T {
        self.clone()
    }
    fn copy_over(&self, copy: &mut T) {
        self.copy_to(copy);
    }
    fn bring_back(&mut self, copy: &T) {
        copy.copy_to(self);
    }
    fn copy_size(copy: &T) -> usize {
        T::size(copy)
    }
}

impl<T: Output + Clone + Send> Whole for [T] {
    type Copy = Vec<T>;
    fn copied(&self) -> Vec<T> {
        self.to_vec()
    }
    fn copy_over(&self, copy: &mut Vec<T>) {
        match copy.len() == self.len() {
            true => self.iter().zip(copy).for_each(|(part, copy)| part.copy_to(copy)),
            false => self.clone_into(copy),
        }
    }
    fn bring_back(&mut self, copy: &Vec<T>) {
        assert_eq!(self.len(), copy.len(), "restored with another shape than saved");
        self.iter_mut().zip(copy).for_each(|(part, copy)| copy.copy_to(part));
    }
    fn copy_size(copy: &Vec<T>) -> usize {
        copy.capacity() * size_of::<T>() + copy.iter().map(T::size).sum::<usize>()
    }
}

/// The same as [`Snapshots`] of structs and of vectors of vectors. Their memory stays for further copies.
pub struct WholeSnapshots<C> {
    copies: Vec<C>,
    /// Those that are still to come back; the others are there for their memory.
    count: usize,
    size: fn(&C) -> usize,
}

impl<C> WholeSnapshots<C> {
    /// No copy, and nothing allocated.
    pub const fn new() -> Self {
        WholeSnapshots { copies: Vec::new(), count: 0, size: |_| 0 }
    }
}

impl<C> Default for WholeSnapshots<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C> WholeSnapshots<C> {
    /// See [`Snapshots::save`].
    pub fn save<T: Whole<Copy = C> + ?Sized>(&mut self, contents: &T) {
        self.size = T::copy_size;
        match self.copies.get_mut(self.count) {
            Some(copy) => contents.copy_over(copy),
            None => self.copies.push(contents.copied()),
        }
        self.count += 1;
    }

    /// See [`Snapshots::restore`].
    pub fn restore<T: Whole<Copy = C> + ?Sized>(&mut self, contents: &mut T) {
        self.go_back(contents, true);
    }

    /// See [`Snapshots::go_back`].
    pub fn go_back<T: Whole<Copy = C> + ?Sized>(&mut self, contents: &mut T, is_last: bool) {
        let last = self.count.checked_sub(1).expect("a pullback follows its forward");
        contents.bring_back(&self.copies[last]);
        if is_last {
            self.count = last;
        }
    }

    /// See [`Snapshots::thin`].
    pub fn thin(&mut self, count: usize) {
        let first = self.count - count;
        for i in (2..count).step_by(2) {
            self.copies.swap(first + i / 2, first + i);
        }
        self.count = first + count.div_ceil(2);
    }
}

impl<C: Send> State for WholeSnapshots<C> {
    fn reset(&mut self) {
        self.count = 0;
    }
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        self.copies[..self.count].iter().map(|copy| size_of::<C>() + (self.size)(copy)).sum()
    }
    fn memory(&self) -> usize {
        self.copies.capacity() * size_of::<C>() + self.copies.iter().map(self.size).sum::<usize>()
    }
}

impl<T: Send> State for Snapshots<T> {
    fn reset(&mut self) {
        self.elements.clear();
        self.lengths.clear();
    }
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        size_of_val(&self.elements[..]) + size_of_val(&self.lengths[..])
    }
    fn memory(&self) -> usize {
        self.elements.capacity() * size_of::<T>() + self.lengths.heap_size()
    }
}

/// How many iterations there are to a checkpoint, if the user asks for `every`: each has one if that is 0.
pub fn spacing(every: usize) -> usize {
    every.max(1)
}

/// The segments of `count` iterations with a checkpoint for each `every`, the last one first.
pub fn segments(count: usize, every: usize) -> impl Iterator<Item = Range<usize>> {
    let every = spacing(every);
    (0..count).step_by(every).rev().map(move |start| start..count.min(start.saturating_add(every)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_cover_all_iterations_backwards() {
        for (count, every) in [(0, 3), (1, 3), (7, 3), (9, 3), (4, 1), (4, 0), (3, usize::MAX)] {
            let mut end = count;
            for segment in segments(count, every) {
                assert!(segment.end == end && !segment.is_empty());
                assert_eq!(segment.start % spacing(every), 0);
                end = segment.start;
            }
            assert_eq!(end, 0);
        }
    }

    #[test]
    fn the_latest_copy_comes_back_first() {
        let mut snapshots = Snapshots::new();
        let mut x = vec![1.0, 2.0];
        snapshots.save(&x);
        x.push(3.0);
        snapshots.save(&x);
        assert_eq!(snapshots.pending(), 5 * 8 + 2 * size_of::<usize>());
        x.clear();
        snapshots.restore(&mut x);
        assert_eq!(x, [1.0, 2.0, 3.0]);
        snapshots.restore(&mut x);
        assert_eq!(x, [1.0, 2.0]);
        assert_eq!(snapshots.pending(), 0);
    }

    #[test]
    fn every_second_copy_is_dropped() {
        let mut snapshots = Snapshots::new();
        for len in 0..8_i32 {
            snapshots.save(&(0..len).map(|i| 10 * len + i).collect::<Vec<_>>());
        }
        // The first three belong to an earlier loop.
        snapshots.thin(5);
        let mut x = vec![];
        for len in [7, 5, 3, 2, 1, 0] {
            for is_last in [false, true] {
                snapshots.go_back(&mut x, is_last);
                assert_eq!(x, (0..len).map(|i| 10 * len + i).collect::<Vec<_>>());
            }
        }
        assert_eq!(snapshots.pending(), 0);
    }

    #[test]
    fn whole_values_come_back_likewise() {
        let mut copies = WholeSnapshots::new();
        let rows = |n: usize| vec![vec![n as f64; n]; 3];
        for _ in 0..2 {
            (0..8).for_each(|n| copies.save(&rows(n)));
            copies.thin(5);
            let mut x = vec![];
            for n in [7, 5, 3, 2, 1, 0] {
                for is_last in [false, true] {
                    copies.go_back(&mut x, is_last);
                    assert_eq!(x, rows(n));
                }
            }
            assert_eq!((copies.pending(), copies.copies.len()), (0, 8));
        }
    }
}
