//! Loops of the reverse pass that run block by block, so that the compiler can use vector instructions.
//!
//! Where each iteration contributes to several neighbouring elements, or to a number that all of them have in common, one waits for
//! another. In blocks, what iterations contribute is put side by side first, and only then added up.

use std::cell::Cell;
use std::ops::Range;

use crate::shadow::{Accumulate, Shadow};
use crate::tangent::Tangent;

/// The number of iterations in a block: what they contribute stays in the first level of the cache, and a block is filled by short
/// loops as well.
const BLOCK: usize = 64;

/// The parts of a range: where each begins, and how long it is.
#[inline(always)]
pub fn blocks(range: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
    let Range { start, end } = range;
    // The least of both tells the optimiser that a block is no longer than that.
    (start..end).step_by(BLOCK).map(move |first| (first, (end - first).min(BLOCK)))
}

/// How many iterations a block has that hand numbers on: short loops would wait for longer rows to be laid out.
const STEPS: usize = 16;

/// The parts of a range as [`blocks`] has them, of iterations that hand numbers on, the last one first.
#[inline(always)]
pub fn blocks_backward(range: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
    let Range { start, end } = range;
    (start..end).step_by(STEPS).rev().map(move |first| (first, (end - first).min(STEPS)))
}

/// A loop over `range` does not fill a block.
#[inline(always)]
pub fn are_few(range: impl Iterator) -> bool {
    count(range) < STEPS
}

/// The number of iterations of a loop over `range`.
#[inline(always)]
pub fn count(range: impl Iterator) -> usize {
    range.size_hint().0
}

/// Room for a number of each iteration of a block.
#[inline(always)]
pub fn row_of_block<T: Tangent>() -> [T; STEPS] {
    [T::zero(); STEPS]
}

/// What a row has in front of the iterations of a block: room for the last ones of the block before, as long as a line of the cache.
const MARGIN: usize = 8;

/// What the iterations of a block contribute at one offset from their index. Vectors are written to whole lines of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Row<T>([T; MARGIN + BLOCK]);

/// What the iterations of a block contribute to an array at `W` neighbouring offsets from their index.
pub struct Near<T, const W: usize> {
    /// By offset, the least one first.
    rows: [Row<T>; W],
}

impl<T: Tangent, const W: usize> Near<T, W>
where
    Cell<T>: Accumulate<Tangent = T>,
{
    /// Nothing so far.
    #[inline(always)]
    #[allow(clippy::new_without_default, reason = "for derived code alone")]
    pub fn new() -> Self {
        Near { rows: [Row([T::zero(); MARGIN + BLOCK]); W] }
    }

    /// What the iteration number `lane` of the block contributes.
    #[inline(always)]
    pub fn put(&mut self, offset: usize, lane: usize, contribution: T) {
        self.rows[offset].0[MARGIN + lane] = contribution;
    }

    /// Adds what a block contributes to `elements`, as many as it has iterations and the first ones that they reach, or sets these
    /// if they are `fresh`. What comes after them has to wait for the next block.
    #[inline(always)]
    pub fn spread(&mut self, elements: Shadow<&[Cell<T>]>, fresh: bool, len: usize) {
        let Some(elements) = elements.get() else { return };
        // With this known, the optimiser leaves no remainder.
        if len == BLOCK {
            self.hand_out(&elements[..BLOCK], fresh)
        } else {
            self.hand_out(&elements[..len], fresh)
        }
        for offset in 1..W {
            for k in MARGIN - offset..MARGIN {
                self.rows[offset].0[k] = self.rows[offset].0[k + len];
            }
        }
    }

    #[inline(always)]
    fn hand_out(&self, elements: &[Cell<T>], fresh: bool) {
        if fresh {
            for k in 0..elements.len() {
                elements[k].set(self.total(k, 0));
            }
        } else {
            for k in 0..elements.len() {
                elements[k].accumulate(self.total(k, 0));
            }
        }
    }

    /// What goes to the element number `k` of a block by the offsets from `least` on, the earlier iterations first.
    #[inline(always)]
    fn total(&self, k: usize, least: usize) -> T {
        let contribution = |offset: usize| self.rows[offset].0[MARGIN + k - offset];
        let mut total = contribution(W - 1);
        for offset in (least..W - 1).rev() {
            total.accumulate(contribution(offset));
        }
        total
    }

    /// What is left goes to `elements`, the `W - 1` behind the first ones of all blocks.
    #[inline(always)]
    pub fn finish(&self, elements: Shadow<&[Cell<T>]>, fresh: bool) {
        for (k, element) in elements.get().into_iter().flatten().enumerate() {
            let total = self.total(k, k + 1);
            if fresh { element.set(total) } else { element.accumulate(total) }
        }
    }
}

/// What the iterations of a loop contribute to a number that they have in common.
pub struct Common<T> {
    /// By iteration of the block.
    pub sums: [T; BLOCK],
    lanes: [T; LANES],
    /// What did not fill the lanes.
    rest: T,
}

/// How many sums run side by side.
const LANES: usize = 8;

impl<T: Tangent> Common<T> {
    /// Nothing so far.
    #[inline(always)]
    #[allow(clippy::new_without_default, reason = "for derived code alone")]
    pub fn new() -> Self {
        Common { sums: [T::zero(); BLOCK], lanes: [T::zero(); LANES], rest: T::zero() }
    }

    /// Adds what a block of `len` iterations contributes.
    #[inline(always)]
    pub fn gather(&mut self, len: usize) {
        let whole = len - len % LANES;
        for first in (0..whole).step_by(LANES) {
            for lane in 0..LANES {
                self.lanes[lane].accumulate(self.sums[first + lane]);
            }
        }
        for k in whole..len {
            self.rest.accumulate(self.sums[k]);
        }
    }

    /// The sum.
    #[inline(always)]
    pub fn total(self) -> T {
        let mut total = self.rest;
        for lane in self.lanes {
            total.accumulate(lane);
        }
        total
    }
}

/// The part of a vector that a block writes to. Without iterations nobody asks where it starts.
///
/// # Panics
/// If the part is not within the vector.
#[inline(always)]
pub fn row_mut<T>(vector: &mut [T], start: usize, len: usize) -> &mut [T] {
    &mut vector[start..][..len]
}

/// The shadow of a local for the time of a loop that adds to several parts of it, which may be the same.
#[inline(always)]
pub fn own_cells<T>(shadow: &mut [T]) -> &[Cell<T>] {
    Cell::from_mut(shadow).as_slice_of_cells()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::slice_cells;

    /// *Σᵢ* contributions *1000·offset + i* to the elements at *i + offset*, one after the other.
    fn expected<const W: usize>(range: Range<usize>, start: f64) -> Vec<f64> {
        let mut expected = vec![start; range.end + W];
        for i in range {
            for offset in 0..W {
                expected[i + offset] += contribution(offset, i);
            }
        }
        expected
    }

    fn contribution(offset: usize, i: usize) -> f64 {
        (1000 * offset + i) as f64
    }

    fn in_blocks<const W: usize>(range: Range<usize>, fresh: bool, start: f64) -> Vec<f64> {
        let mut elements = vec![start; range.end + W];
        let all = Shadow::new(slice_cells(&mut elements[..]));
        let mut near = Near::<f64, W>::new();
        for (first, len) in blocks(range.clone()) {
            for lane in 0..len {
                for offset in 0..W {
                    near.put(offset, lane, contribution(offset, first + lane));
                }
            }
            near.spread(all.map(|d| &d[first..][..len]), fresh, len);
        }
        if !range.is_empty() {
            near.finish(all.map(|d| &d[range.end..][..W - 1]), fresh);
        }
        elements
    }

    #[test]
    fn each_element_gets_what_its_neighbours_contribute() {
        for len in [0, 1, 2, 3, 7, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + 3, 2 * BLOCK, 5 * BLOCK + 2] {
            let range = 3..3 + len;
            assert_eq!(in_blocks::<1>(range.clone(), false, 5.0), expected::<1>(range.clone(), 5.0));
            assert_eq!(in_blocks::<2>(range.clone(), false, 5.0), expected::<2>(range.clone(), 5.0));
            assert_eq!(in_blocks::<5>(range.clone(), false, 5.0), expected::<5>(range, 5.0));
        }
    }

    /// Those that are reached are set, whatever they held, and no others are touched.
    #[test]
    fn fresh_elements_are_set() {
        for len in [1, 2, BLOCK + 1, 3 * BLOCK] {
            let set = in_blocks::<3>(2..2 + len, true, 5.0);
            let expected = expected::<3>(2..2 + len, 0.0);
            let reached = 2..2 + len + 2;
            assert_eq!(set[reached.clone()], expected[reached.clone()]);
            assert!(set[..2].iter().chain(&set[reached.end..]).all(|element| *element == 5.0));
        }
    }

    #[test]
    fn of_a_constant_nothing_is_kept() {
        Near::<f64, 2>::new().spread(Shadow::default(), false, 3);
        Near::<f64, 2>::new().finish(Shadow::default(), false);
    }

    #[test]
    fn all_iterations_contribute() {
        for n in [0, 1, 7, 8, 9, BLOCK, 3 * BLOCK + 9] {
            let mut common = Common::new();
            for (first, len) in blocks(0..n) {
                for lane in 0..len {
                    common.sums[lane] = (first + lane) as f64;
                }
                common.gather(len);
            }
            assert_eq!(common.total(), (0..n).sum::<usize>() as f64);
        }
    }
}
