//! What a fused function reads and writes, whatever its number of axes.

use std::marker::PhantomData;

use ndarray::ArrayRef;

use super::{Rank, Real};
use crate::shadow::{ArrayCells, Shadow};

/// As many axes as ndarray counts at compile time.
pub(super) const MOST_AXES: usize = 6;

/// Where an array's elements are.
#[derive(Clone, Copy)]
pub(super) struct Place<T> {
    pub(super) start: *mut T,
    pub(super) axes: usize,
    pub(super) lengths: [usize; MOST_AXES],
    pub(super) strides: [isize; MOST_AXES],
}

impl<T> Place<T> {
    fn new(start: *mut T, lengths: &[usize], strides: &[isize]) -> Self {
        let mut place =
            Place { start, axes: lengths.len(), lengths: [1; MOST_AXES], strides: [0; MOST_AXES] };
        place.lengths[..lengths.len()].copy_from_slice(lengths);
        place.strides[..strides.len()].copy_from_slice(strides);
        place
    }

    pub(super) fn lengths(&self) -> &[usize] {
        &self.lengths[..self.axes]
    }
}

/// An array that is read; a number is an array without axes.
#[derive(Clone, Copy)]
pub struct Source<'a, T> {
    pub(super) place: Place<T>,
    lifetime: PhantomData<&'a T>,
}

impl<'a, T: Real> Source<'a, T> {
    /// All elements of `array`.
    pub fn array<D: Rank>(array: &'a ArrayRef<T, D>) -> Self {
        Source {
            place: Place::new(array.as_ptr().cast_mut(), array.shape(), array.strides()),
            lifetime: PhantomData,
        }
    }

    /// What `cells` hold.
    pub fn cells<D: Rank>(cells: &ArrayCells<'a, T, D>) -> Self {
        Source {
            place: Place::new(cells.as_ptr().cast::<T>().cast_mut(), cells.shape(), cells.strides()),
            lifetime: PhantomData,
        }
    }

    /// A number.
    pub fn number(number: &'a T) -> Self {
        Source { place: Place::new(std::ptr::from_ref(number).cast_mut(), &[], &[]), lifetime: PhantomData }
    }
}

/// An array that is written, or nothing, where nobody wants it.
pub struct Sink<'a, T> {
    pub(super) place: Option<Place<T>>,
    /// What comes is added to what is there.
    pub(super) adds: bool,
    /// It is the function's value, or the gradient with respect to that.
    pub(super) is_result: bool,
    lifetime: PhantomData<&'a mut T>,
}

impl<'a, T: Real> Sink<'a, T> {
    /// Overwrites all elements of `array`.
    pub fn array<D: Rank>(array: &'a mut ArrayRef<T, D>) -> Self {
        let place = Place::new(array.as_mut_ptr(), array.shape(), array.strides());
        Sink { place: Some(place), adds: false, is_result: true, lifetime: PhantomData }
    }

    /// Overwrites what `cells` hold.
    pub fn cells<D: Rank>(cells: &ArrayCells<'a, T, D>) -> Self {
        let place = Some(Source::cells(cells).place);
        Sink { place, adds: false, is_result: true, lifetime: PhantomData }
    }

    /// Adds to a shadow, unless the operand is constant; or overwrites it.
    pub fn shadow<D: Rank>(shadow: Shadow<ArrayCells<'a, T, D>>, overwrites: bool) -> Self {
        let place = shadow.get().map(|cells| Source::cells(&cells).place);
        Sink { place, adds: !overwrites, is_result: false, lifetime: PhantomData }
    }

    /// Adds to a number.
    pub fn number(number: &'a mut T) -> Self {
        let place = Some(Place::new(number, &[], &[]));
        Sink { place, adds: true, is_result: false, lifetime: PhantomData }
    }
}
