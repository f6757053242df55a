//! Windows that slide over images: which elements of an image meet which elements of a window, and where.

use std::ops::Range;

use ndarray::{
    ArrayBase, ArrayRef2, ArrayView1, ArrayView3, ArrayViewMut1, Axis, Dimension, Ix3, Ix4, RawData, Zip, s,
};

use crate::linalg::Number;
use crate::shadow::{Accumulate, ArrayCells};

/// The dimension of images: channels of lines, or of planes, behind the axis that numbers them.
pub(super) trait Images: Dimension {
    /// As planes: a line is a plane with one row.
    fn planes<S: RawData>(array: ArrayBase<S, Self>) -> ArrayBase<S, Ix4>;
}

impl Images for Ix3 {
    fn planes<S: RawData>(array: ArrayBase<S, Ix3>) -> ArrayBase<S, Ix4> {
        array.insert_axis(Axis(2))
    }
}

impl Images for Ix4 {
    fn planes<S: RawData>(array: ArrayBase<S, Ix4>) -> ArrayBase<S, Ix4> {
        array
    }
}

/// What is given for each axis of a line or a plane, for a plane: `row` is for the rows of a line.
pub(super) fn of_planes<const N: usize>(given: [usize; N], row: usize) -> [usize; 2] {
    let mut both = [row; 2];
    both[2 - N..].copy_from_slice(&given);
    both
}

/// A window along one axis of an image.
#[derive(Clone, Copy)]
pub(crate) struct Slide {
    /// How long the image is, without padding.
    pub(crate) input: usize,
    /// How many elements the window has.
    pub(crate) window: usize,
    pub(crate) stride: usize,
    pub(crate) padding: usize,
    pub(crate) dilation: usize,
}

impl Slide {
    /// Fails unless there is a window, and it moves.
    pub(super) fn check(&self, function: &str) {
        assert!(self.window > 0, "{function}: the window is empty");
        assert!(self.stride > 0, "{function}: the stride is 0");
        assert!(self.dilation > 0, "{function}: the dilation is 0");
    }

    /// How many places there are for the window.
    pub(crate) fn places(&self) -> usize {
        let reach = self.dilation * (self.window - 1) + 1;
        (self.input + 2 * self.padding).checked_sub(reach).map_or(0, |room| room / self.stride + 1)
    }

    /// The element of the image that is met at this place by this element of the window, unless that is padding.
    pub(crate) fn meets(&self, place: usize, element: usize) -> Option<usize> {
        let padded = place * self.stride + element * self.dilation;
        padded.checked_sub(self.padding).filter(|&i| i < self.input)
    }

    /// The place where this element of the window meets that of the image, if there is one.
    pub(super) fn place(&self, i: usize, element: usize) -> Option<usize> {
        let ahead = (i + self.padding).checked_sub(element * self.dilation)?;
        let place = ahead / self.stride;
        (ahead.is_multiple_of(self.stride) && place < self.places()).then_some(place)
    }

    /// The places where this element of the window meets the image, and the element that it meets at the first of them.
    fn inside(&self, element: usize) -> (Range<usize>, usize) {
        let ahead = element * self.dilation;
        let place_of = |padded: usize| padded.saturating_sub(ahead).div_ceil(self.stride);
        let end = place_of(self.input + self.padding).min(self.places());
        let start = place_of(self.padding).min(end);
        (start..end, (start * self.stride + ahead).saturating_sub(self.padding))
    }

    /// The elements of the image that the window covers at this place, if those of the window are adjacent.
    pub(super) fn covers(&self, place: usize) -> Range<usize> {
        let start = place * self.stride;
        let unpadded = |padded: usize| padded.saturating_sub(self.padding).min(self.input);
        unpadded(start)..unpadded(start + self.window)
    }

    /// Of a line of the image what one element of the window meets at `count` places, the first of which meets `first`.
    fn met<'a, S>(&self, line: ArrayView1<'a, S>, first: usize, count: usize) -> ArrayView1<'a, S> {
        let end = if count == 0 { first } else { first + (count - 1) * self.stride + 1 };
        line.slice_move(s![first..end;self.stride])
    }
}

/// For each channel and each element of the window a row: what that element meets at all places, and zero where it meets padding.
pub(super) fn unfold<T: Number>(image: ArrayView3<'_, T>, slides: [Slide; 2], rows: &mut ArrayRef2<T>) {
    let rows = rows.as_slice_mut().expect("no gaps");
    each_line(image.dim().0, slides, |Line { channel, row, elements, inside, first }| {
        let line = &mut rows[elements];
        let Some(row) = row else { return line.fill(T::ZERO) };
        line[..inside.start].fill(T::ZERO);
        line[inside.end..].fill(T::ZERO);
        let met = slides[1].met(image.slice_move(s![channel, row, ..]), first, inside.len());
        ArrayViewMut1::from(&mut line[inside]).assign(&met);
    });
}

/// Adds what [`unfold`] would take from an element of the image to the shadow of that element.
pub(super) fn fold<T: Number>(image: ArrayCells<'_, T, Ix3>, slides: [Slide; 2], rows: &ArrayRef2<T>) {
    let rows = rows.as_slice().expect("no gaps");
    each_line(image.dim().0, slides, |Line { channel, row, elements, inside, first }| {
        let Some(row) = row else { return };
        let met = slides[1].met(image.slice_move(s![channel, row, ..]), first, inside.len());
        let line = ArrayView1::from(&rows[elements][inside]);
        Zip::from(met).and(line).for_each(|cell, &d| cell.accumulate(d));
    });
}

/// Of an unfolded image: what one element of the window meets in one row of places.
struct Line {
    channel: usize,
    /// The row of the image, unless all is padding.
    row: Option<usize>,
    /// Which elements of the unfolded image it is.
    elements: Range<usize>,
    /// The places that are no padding.
    inside: Range<usize>,
    /// What is met at the first of them.
    first: usize,
}

fn each_line(channels: usize, slides: [Slide; 2], mut visit: impl FnMut(Line)) {
    let [down, across] = slides;
    let (rows, len) = (down.places(), across.places());
    let mut start = 0;
    for channel in 0..channels {
        for i in 0..down.window {
            for j in 0..across.window {
                let (inside, first) = across.inside(j);
                for place in 0..rows {
                    let row = down.meets(place, i).filter(|_| !inside.is_empty());
                    let elements = start..start + len;
                    visit(Line { channel, row, elements, inside: inside.clone(), first });
                    start += len;
                }
            }
        }
    }
}
