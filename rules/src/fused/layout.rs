//! In what order the elements of several arrays are gone through together.

use super::LANES;
use super::call::Along;
use super::operand::{MOST_AXES, Place};

/// Something of each array that goes together with others: of those that are read, of those that are written, and of the one that has a
/// number of each row.
#[derive(Clone, Copy)]
pub(crate) struct Each<X, const I: usize, const O: usize> {
    pub(crate) read: [X; I],
    pub(crate) written: [X; O],
    pub(crate) of_rows: X,
}

impl<X, const I: usize, const O: usize> Each<X, I, O> {
    pub(crate) fn map<Y>(self, mut f: impl FnMut(X) -> Y) -> Each<Y, I, O> {
        Each { read: self.read.map(&mut f), written: self.written.map(&mut f), of_rows: f(self.of_rows) }
    }

    /// In the order in which they are counted.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &X> + Clone {
        self.read.iter().chain(&self.written).chain([&self.of_rows])
    }
}

impl<X, const I: usize, const O: usize> std::ops::Index<usize> for Each<X, I, O> {
    type Output = X;
    fn index(&self, array: usize) -> &X {
        if array < I { &self.read[array] } else { self.written.get(array - I).unwrap_or(&self.of_rows) }
    }
}

impl<const I: usize, const O: usize> Each<isize, I, O> {
    pub(super) const ZERO: Self = Each { read: [0; I], written: [0; O], of_rows: 0 };

    /// Adds `steps` steps. No iterators, as in all that is compiled for the instructions of its caller.
    #[inline(always)]
    pub(super) fn go(&mut self, strides: &Self, steps: isize) {
        for i in 0..I {
            self.read[i] += strides.read[i] * steps;
        }
        for o in 0..O {
            self.written[o] += strides.written[o] * steps;
        }
        self.of_rows += strides.of_rows * steps;
    }
}

impl<T, const I: usize, const O: usize> Each<*mut T, I, O> {
    /// As far away.
    #[inline(always)]
    pub(super) fn offset(mut self, offsets: &Each<isize, I, O>) -> Self {
        for i in 0..I {
            self.read[i] = self.read[i].wrapping_offset(offsets.read[i]);
        }
        for o in 0..O {
            self.written[o] = self.written[o].wrapping_offset(offsets.written[o]);
        }
        self.of_rows = self.of_rows.wrapping_offset(offsets.of_rows);
        self
    }
}

/// The shape that arrays have together, and how to go through it: rows, and the elements of each.
pub(crate) struct Layout<const I: usize, const O: usize> {
    /// The axes across rows, outermost first.
    pub(crate) outer: Axes<I, O>,
    /// Those within a row, the last one innermost.
    pub(crate) inner: Axes<I, O>,
    /// Adjacent elements are rather those of rows side by side than those of one row.
    pub(super) side_by_side: bool,
}

/// As many rows are worth to be gone through side by side.
const SOME: usize = LANES / 4;

/// Some axes, with what a step along each is worth in each array.
#[derive(Clone, Copy)]
pub(crate) struct Axes<const I: usize, const O: usize> {
    pub(crate) count: usize,
    pub(crate) lengths: [usize; MOST_AXES],
    pub(crate) strides: [Each<isize, I, O>; MOST_AXES],
}

/// The lengths of axes.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    axes: usize,
    lengths: [usize; MOST_AXES],
}

impl std::ops::Deref for Shape {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.lengths[..self.axes]
    }
}

impl std::ops::DerefMut for Shape {
    fn deref_mut(&mut self) -> &mut [usize] {
        &mut self.lengths[..self.axes]
    }
}

impl Shape {
    pub(crate) fn of(lengths: &[usize]) -> Self {
        let mut shape = Shape { axes: lengths.len(), lengths: [1; MOST_AXES] };
        shape.copy_from_slice(lengths);
        shape
    }

    /// Makes it what it and `array` have together when the shorter one is broadcast: `None` if they do not fit.
    pub(super) fn broadcast(&mut self, array: &[usize]) -> Option<()> {
        if let Some(missing) = array.len().checked_sub(self.axes) {
            let own = *self;
            *self = Shape { axes: array.len(), lengths: [1; MOST_AXES] };
            self[missing..].copy_from_slice(&own);
        }
        let offset = self.axes - array.len();
        for (whole, part) in self[offset..].iter_mut().zip(array) {
            match (*whole, *part) {
                (a, b) if a == b => {}
                (_, 1) => {}
                (1, b) => *whole = b,
                _ => return None,
            }
        }
        Some(())
    }
}

impl<const I: usize, const O: usize> Layout<I, O> {
    /// How many elements are gone through.
    #[cfg(feature = "cuda")]
    pub(crate) fn steps(&self) -> usize {
        [&self.outer, &self.inner].iter().flat_map(|axes| &axes.lengths[..axes.count]).product()
    }

    /// For arrays that fit into `lengths`; rows run `along` some axes. Axes come in the order of the strides of
    /// the array number `like`.
    pub(super) fn new<T>(
        lengths: &[usize],
        along: Along,
        places: &Each<Option<&Place<T>>, I, O>,
        like: usize,
    ) -> Self {
        let stride = |place: Option<&Place<T>>, axis: usize| {
            let Some(place) = place else { return 0 };
            // Missing axes are in front.
            let Some(own) = (axis + place.axes).checked_sub(lengths.len()) else { return 0 };
            if place.lengths[own] == 1 { 0 } else { place.strides[own] }
        };
        let (mut order, mut count) = ([0; MOST_AXES], 0);
        for axis in 0..lengths.len() {
            if lengths[axis] != 1 {
                order[count] = axis;
                count += 1;
            }
        }
        let like = places[like];
        order[..count].sort_by_key(|axis| std::cmp::Reverse(stride(like, *axis).unsigned_abs()));
        let (mut outer, mut inner) = (Axes::NONE, Axes::NONE);
        let mut across = false;
        for axis in order[..count].iter().copied() {
            across = !along.contains(axis);
            let group = if across { &mut outer } else { &mut inner };
            group.push(lengths[axis], places.map(|place| stride(place, axis)));
        }
        let rows = outer.count.checked_sub(1).map_or(1, |last| outer.lengths[last]);
        let side_by_side = rows >= SOME && across;
        Layout { outer, inner, side_by_side }
    }
}

impl<const I: usize, const O: usize> Axes<I, O> {
    const NONE: Self = Axes { count: 0, lengths: [1; MOST_AXES], strides: [Each::ZERO; MOST_AXES] };

    /// Adds an axis, longer than 1, within the others; one with the last if both are one to all arrays.
    fn push(&mut self, length: usize, strides: Each<isize, I, O>) {
        if let Some(last) = self.count.checked_sub(1) {
            let whole = length as isize;
            if self.strides[last].iter().zip(strides.iter()).all(|(last, stride)| *last == stride * whole) {
                self.lengths[last] *= length;
                self.strides[last] = strides;
                return;
            }
        }
        self.lengths[self.count] = length;
        self.strides[self.count] = strides;
        self.count += 1;
    }

    /// Both go through as many lines of the same lengths.
    pub(super) fn goes_like<const P: usize, const Q: usize>(&self, other: &Axes<P, Q>) -> bool {
        self.lengths[..self.count] == other.lengths[..other.count]
    }

    /// All axes.
    #[inline(always)]
    pub(super) fn all(&self) -> Lines<'_, I, O> {
        Lines { axes: self, count: self.count }
    }

    /// Those without the innermost axis, and that one's length and strides.
    #[inline(always)]
    pub(super) fn split(&self) -> (Lines<'_, I, O>, usize, Each<isize, I, O>) {
        match self.count.checked_sub(1) {
            Some(last) => (Lines { axes: self, count: last }, self.lengths[last], self.strides[last]),
            None => (self.all(), 1, Each::ZERO),
        }
    }
}

/// The first ones of some axes. No copies of these: there is room for many.
#[derive(Clone, Copy)]
pub(super) struct Lines<'a, const I: usize, const O: usize> {
    axes: &'a Axes<I, O>,
    count: usize,
}

impl<'a, const I: usize, const O: usize> Lines<'a, I, O> {
    /// How many steps there are.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        let mut len = 1;
        for axis in 0..self.count {
            len *= self.axes.lengths[axis];
        }
        len
    }

    /// All steps, in order.
    #[inline(always)]
    pub(super) fn steps(self) -> Steps<'a, I, O> {
        Steps { lines: self, at: [0; MOST_AXES], offsets: Each::ZERO, begun: false }
    }
}

/// A way through some axes. No iterator, whose closures would not be compiled for the instructions of their caller.
pub(super) struct Steps<'a, const I: usize, const O: usize> {
    lines: Lines<'a, I, O>,
    at: [usize; MOST_AXES],
    /// How far away this step is in each array.
    pub(super) offsets: Each<isize, I, O>,
    begun: bool,
}

impl<const I: usize, const O: usize> Steps<'_, I, O> {
    /// Goes on; `false` at the end.
    #[inline(always)]
    pub(super) fn next(&mut self) -> bool {
        let Lines { axes: Axes { lengths, strides, .. }, count } = self.lines;
        if !std::mem::replace(&mut self.begun, true) {
            return self.lines.len() > 0;
        }
        let mut axis = count;
        while axis > 0 {
            axis -= 1;
            self.at[axis] += 1;
            let back = if self.at[axis] < lengths[axis] { 0 } else { lengths[axis] as isize };
            self.offsets.go(&strides[axis], 1 - back);
            if back == 0 {
                return true;
            }
            self.at[axis] = 0;
        }
        false
    }
}
