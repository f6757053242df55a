//! What a fused function reads and writes, whatever its number of axes.

use std::marker::PhantomData;

use ndarray::ArrayRef;

use super::{Rank, Real};
use crate::shadow::{ArrayCells, Shadow};

/// As many axes as ndarray counts at compile time.
pub(crate) const MOST_AXES: usize = 6;

/// Where an array's elements are.
#[derive(Clone, Copy)]
pub(crate) struct Place<T> {
    /// On a device this is an address there.
    pub(crate) start: *mut T,
    pub(crate) axes: usize,
    pub(crate) lengths: [usize; MOST_AXES],
    pub(crate) strides: [isize; MOST_AXES],
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    pub(crate) owner: Owner,
}

/// Where a place is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// An array of the host's.
    Host,
    /// A number of the host's.
    Number,
    /// An array on a device, by that one's identity.
    #[cfg(feature = "cuda")]
    Device(usize),
}

impl<T> Place<T> {
    pub(crate) fn new(start: *mut T, lengths: &[usize], strides: &[isize]) -> Self {
        let mut place = Place {
            start,
            axes: lengths.len(),
            lengths: [1; MOST_AXES],
            strides: [0; MOST_AXES],
            owner: Owner::Host,
        };
        place.lengths[..lengths.len()].copy_from_slice(lengths);
        place.strides[..strides.len()].copy_from_slice(strides);
        place
    }

    /// By rows, without gaps.
    pub(crate) fn packed(start: *mut T, lengths: &[usize]) -> Self {
        let mut place = Place::new(start, lengths, &[]);
        let mut next = 1;
        for axis in (0..lengths.len()).rev() {
            place.strides[axis] = next;
            next *= lengths[axis] as isize;
        }
        place
    }

    fn number(start: *mut T) -> Self {
        Place { owner: Owner::Number, ..Place::new(start, &[], &[]) }
    }

    pub(crate) fn lengths(&self) -> &[usize] {
        &self.lengths[..self.axes]
    }
}

/// An array that is read; a number is an array without axes.
#[derive(Clone, Copy)]
pub struct Source<'a, T> {
    pub(crate) place: Place<T>,
    lifetime: PhantomData<&'a T>,
}

impl<'a, T: Real> Source<'a, T> {
    /// What is at that place, for `'a`.
    pub(crate) fn at(place: Place<T>) -> Self {
        Source { place, lifetime: PhantomData }
    }

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
        Source { place: Place::number(std::ptr::from_ref(number).cast_mut()), lifetime: PhantomData }
    }
}

/// An array that is written, or nothing, where nobody wants it.
pub struct Sink<'a, T> {
    pub(crate) place: Option<Place<T>>,
    /// What comes is added to what is there.
    pub(crate) adds: bool,
    /// It is the function's value, or the gradient with respect to that.
    pub(crate) is_result: bool,
    lifetime: PhantomData<&'a mut T>,
}

impl<'a, T: Real> Sink<'a, T> {
    /// What is at that place, if anything, for `'a`.
    pub(crate) fn at(place: Option<Place<T>>, adds: bool) -> Self {
        Sink { place, adds, is_result: !adds, lifetime: PhantomData }
    }

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
        Sink::number_unless(false, number)
    }

    /// Adds to a number, unless the operand is constant.
    pub fn number_unless(is_constant: bool, number: &'a mut T) -> Self {
        let place = (!is_constant).then(|| Place::number(number));
        Sink { place, adds: true, is_result: false, lifetime: PhantomData }
    }
}
