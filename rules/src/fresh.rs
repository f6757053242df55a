//! Shadows that a loop of derived code sets, element by element, where nobody has added to them before.

use std::cell::Cell;
use std::ops::Range;

use crate::shadow::{Accumulate, Shadow};
use crate::state::State;
use crate::tangent::Tangent;

/// Whether what the shadow of a parameter holds before the pullback matters; see [`Rule::overwrite`](crate::Rule::overwrite).
#[derive(Default)]
pub struct Fresh(bool);

impl Fresh {
    /// It does, until somebody tells otherwise.
    pub const fn new() -> Self {
        Fresh(false)
    }

    /// It does not, from now on: every pullback sets every element. Returns `true`.
    pub fn overwrite(&mut self) -> bool {
        self.0 = true;
        true
    }

    /// Whether elements are to be set.
    #[inline(always)]
    pub fn get(&self) -> bool {
        self.0
    }
}

impl State for Fresh {
    fn reset(&mut self) {}
    fn shrink(&mut self) {}
    fn pending(&self) -> usize {
        0
    }
    fn memory(&self) -> usize {
        0
    }
}

/// Cells side by side.
pub trait Line: Copy {
    /// What one of them holds.
    type Tangent: Tangent;
    /// Sets those outside of `range` to zero: all of them, if `range` is empty.
    fn clear_around(self, range: Range<usize>);
}

impl<T: Tangent> Line for &[Cell<T>] {
    type Tangent = T;
    fn clear_around(self, range: Range<usize>) {
        let range = if range.is_empty() { 0..0 } else { range };
        let (before, rest) = self.split_at(range.start);
        before.iter().chain(&rest[range.len()..]).for_each(|cell| cell.set(T::zero()));
    }
}

impl<T: Tangent, const N: usize> Line for &[Cell<T>; N] {
    type Tangent = T;
    fn clear_around(self, range: Range<usize>) {
        self.as_slice().clear_around(range);
    }
}

impl<V: Copy> Shadow<V> {
    /// Sets the element that `place` selects if the shadow is `fresh`, and adds to it otherwise.
    #[doc(hidden)]
    #[inline(always)]
    pub fn put<C: Accumulate>(self, fresh: bool, place: impl FnOnce(&V) -> &C, gradient: C::Tangent) {
        let Some(view) = self.get() else { return };
        let place = place(&view);
        if fresh {
            place.set(gradient);
        } else {
            place.accumulate(gradient);
        }
    }

    /// If the shadow is `fresh`, sets all elements to zero but those in `range`, for a loop that is going to set these.
    ///
    /// # Panics
    /// If there are no such elements.
    #[doc(hidden)]
    #[inline(always)]
    pub fn clear_around(self, fresh: bool, range: Range<usize>)
    where
        V: Line,
    {
        if let (Some(view), true) = (self.get(), fresh) {
            view.clear_around(range);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::slice_cells;

    fn cleared(n: usize, range: Range<usize>) -> Vec<f64> {
        let mut gradient = vec![7.0; n];
        Shadow::new(slice_cells(&mut gradient)).clear_around(true, range);
        gradient
    }

    #[test]
    fn what_is_outside_is_cleared() {
        assert_eq!(cleared(4, 0..4), [7.0; 4]);
        assert_eq!(cleared(4, 1..3), [0.0, 7.0, 7.0, 0.0]);
        assert_eq!(cleared(3, 0..2), [7.0, 7.0, 0.0]);
        assert_eq!(cleared(3, 2..3), [0.0, 0.0, 7.0]);
        assert_eq!(cleared(0, 0..0), [0.0; 0]);
    }

    /// Also where an empty range has its ends beyond the slice.
    #[test]
    #[allow(clippy::reversed_empty_ranges, reason = "a loop may have one")]
    fn without_iterations_everything_is() {
        assert_eq!(cleared(2, 0..0), [0.0; 2]);
        assert_eq!(cleared(2, 5..5), [0.0; 2]);
        assert_eq!(cleared(2, 9..1), [0.0; 2]);
    }

    #[test]
    fn unless_asked_nothing_is() {
        let mut gradient = [1.0, 2.0];
        let shadow = Shadow::new(slice_cells(&mut gradient));
        shadow.clear_around(false, 0..0);
        shadow.put(false, |d| &d[0], 3.0);
        shadow.put(true, |d| &d[1], 5.0);
        assert_eq!(gradient, [4.0, 5.0]);
        Shadow::<&[Cell<f64>]>::default().clear_around(true, 0..1);
    }
}
