//! In what order the elements of several arrays are gone through together.

use super::LANES;
use super::call::Along;
use super::operand::{MOST_AXES, Place};

/// As many arrays go together.
pub(crate) const MOST_ARRAYS: usize = 24;

/// Something of each array.
pub(crate) type Each<X> = [X; MOST_ARRAYS];

/// The shape that arrays have together, and how to go through it: rows, and the elements of each.
pub(crate) struct Layout {
    /// The axes across rows, outermost first.
    pub(crate) outer: Axes,
    /// Those within a row, the last one innermost.
    pub(crate) inner: Axes,
    /// Adjacent elements are rather those of rows side by side than those of one row.
    pub(super) side_by_side: bool,
}

/// As many rows are worth to be gone through side by side.
const SOME: usize = LANES / 4;

/// Some axes, with what a step along each is worth in each array.
#[derive(Clone, Copy)]
pub(crate) struct Axes {
    arrays: usize,
    pub(crate) count: usize,
    pub(crate) lengths: [usize; MOST_AXES],
    pub(crate) strides: [Each<isize>; MOST_AXES],
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

impl Layout {
    /// For arrays that fit into `lengths`; rows run `along` some axes. Axes come in the order of the strides of
    /// the array number `like`.
    pub(super) fn new<T>(lengths: &[usize], along: Along, places: &[Option<Place<T>>], like: usize) -> Self {
        let strides = |axis: usize| -> Each<isize> {
            std::array::from_fn(|i| {
                let Some(Some(place)) = places.get(i) else { return 0 };
                // Missing axes are in front.
                let Some(own) = (axis + place.axes).checked_sub(lengths.len()) else { return 0 };
                if place.lengths[own] == 1 { 0 } else { place.strides[own] }
            })
        };
        let mut order = [0; MOST_AXES];
        let order = &mut order[..lengths.len()];
        order.iter_mut().enumerate().for_each(|(i, axis)| *axis = i);
        order.sort_by_key(|axis| std::cmp::Reverse(strides(*axis)[like].unsigned_abs()));
        let (mut outer, mut inner) = (Axes::none(places.len()), Axes::none(places.len()));
        let mut across = false;
        for i in order.iter().copied().filter(|i| lengths[*i] != 1) {
            across = !along.contains(i);
            let group = if across { &mut outer } else { &mut inner };
            group.push(lengths[i], strides(i));
        }
        let rows = outer.count.checked_sub(1).map_or(1, |last| outer.lengths[last]);
        let side_by_side = rows >= SOME && across;
        Layout { outer, inner, side_by_side }
    }
}

impl Axes {
    fn none(arrays: usize) -> Self {
        Axes { arrays, count: 0, lengths: [1; MOST_AXES], strides: [[0; MOST_ARRAYS]; MOST_AXES] }
    }

    /// Adds an axis, longer than 1, within the others; one with the last if both are one to all arrays.
    fn push(&mut self, length: usize, strides: Each<isize>) {
        if let Some(last) = self.count.checked_sub(1) {
            let whole = length as isize;
            if (0..self.arrays).all(|i| self.strides[last][i] == strides[i] * whole) {
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
    pub(super) fn goes_like(&self, other: &Self) -> bool {
        self.lengths[..self.count] == other.lengths[..other.count]
    }

    /// How many steps there are.
    pub(super) fn len(&self) -> usize {
        self.lengths[..self.count].iter().product()
    }

    /// Without the innermost axis, and that one's length and strides.
    pub(super) fn split(mut self) -> (Self, usize, Each<isize>) {
        match self.count.checked_sub(1) {
            Some(last) => {
                self.count = last;
                (self, self.lengths[last], self.strides[last])
            }
            None => (self, 1, [0; MOST_ARRAYS]),
        }
    }

    /// All steps, in order.
    #[inline(always)]
    pub(super) fn steps(&self) -> Steps<'_> {
        Steps { axes: self, at: [0; MOST_AXES], offsets: [0; MOST_ARRAYS], begun: false }
    }
}

/// A way through some axes. No iterator, whose closures would not be compiled for the instructions of their caller.
pub(super) struct Steps<'a> {
    axes: &'a Axes,
    at: [usize; MOST_AXES],
    /// How far away this step is in each array.
    pub(super) offsets: Each<isize>,
    begun: bool,
}

impl Steps<'_> {
    /// Goes on; `false` at the end.
    #[inline(always)]
    pub(super) fn next(&mut self) -> bool {
        let Axes { arrays, count, lengths, strides } = self.axes;
        if !std::mem::replace(&mut self.begun, true) {
            return self.axes.len() > 0;
        }
        let mut axis = *count;
        while axis > 0 {
            axis -= 1;
            self.at[axis] += 1;
            let back = if self.at[axis] < lengths[axis] { 0 } else { lengths[axis] as isize };
            for i in 0..*arrays {
                self.offsets[i] += strides[axis][i] * (1 - back);
            }
            if back == 0 {
                return true;
            }
            self.at[axis] = 0;
        }
        false
    }
}
