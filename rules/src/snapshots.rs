//! What a loop keeps at its checkpoints.

use std::ops::Range;

use crate::saved::Contents;
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
        let len = self.lengths.pop().expect("a pullback follows its forward");
        let start = self.elements.len() - len;
        contents.fill_from(&self.elements[start..]);
        self.elements.truncate(start);
    }
}

impl<T: Send> State for Snapshots<T> {
    fn reset(&mut self) {
        self.elements.clear();
        self.lengths.clear();
    }
    fn release(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        size_of_val(&self.elements[..]) + size_of_val(&self.lengths[..])
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
}
