//! What a loop keeps at its checkpoints: rows of elements here, anything else in [`WholeSnapshots`](crate::whole::WholeSnapshots).

use std::ops::Range;

use crate::heap::HeapSize;
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
}
