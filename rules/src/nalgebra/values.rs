//! Matrices of static dimensions as values, and their shadows.

use std::cell::Cell;

use nalgebra::{Matrix, SMatrix};

use super::dynamic::EntryCells;
use super::{Cells, Entry};
use crate::held::{Constant, Parts};
use crate::mutation::Fill;
use crate::operators::ScalarOperand;
use crate::output::output_of_value;
use crate::shadow::{Accumulate, Element, Shadow};
use crate::tangent::{Tangent, Value};

impl<T: Entry, const R: usize, const C: usize> Value for SMatrix<T, R, C> {
    type Tangent = Self;
}
output_of_value!([T: Entry, const R: usize, const C: usize] SMatrix<T, R, C>);

impl<T: Entry, const R: usize, const C: usize> Tangent for SMatrix<T, R, C> {
    #[inline(always)]
    fn zero() -> Self {
        SMatrix::from_array_storage(nalgebra::ArrayStorage([[<T as Tangent>::zero(); R]; C]))
    }
    #[inline(always)]
    fn accumulate(&mut self, other: Self) {
        self.data.0.accumulate(other.data.0);
    }
}

impl<T: Entry, const R: usize, const C: usize> Accumulate for Cells<T, R, C> {
    type Tangent = SMatrix<T, R, C>;
    #[inline(always)]
    fn accumulate(&self, gradient: SMatrix<T, R, C>) {
        self.data.0.accumulate(gradient.data.0);
    }
    #[inline(always)]
    fn read(&self) -> SMatrix<T, R, C> {
        SMatrix::from_array_storage(nalgebra::ArrayStorage(self.data.0.read()))
    }
    #[inline(always)]
    fn take(&self) -> SMatrix<T, R, C> {
        SMatrix::from_array_storage(nalgebra::ArrayStorage(self.data.0.take()))
    }
}

// SAFETY: a matrix is `repr(C)` around its storage and markers without size, and the storage is `repr(transparent)` around an
// array of arrays; that of a matrix of cells is the same array of cells. `LAYOUT` makes sure of size and alignment.
unsafe impl<T: Entry, const R: usize, const C: usize> Element for SMatrix<T, R, C> {
    type Cells = Cells<T, R, C>;
    const LAYOUT: () = {
        assert!(size_of::<Self>() == size_of::<[[T; R]; C]>());
        assert!(size_of::<Self>() == size_of::<Self::Cells>());
        assert!(align_of::<Self>() == align_of::<Self::Cells>());
        assert!(align_of::<Self>() == align_of::<Cell<T>>());
    };
}

/// The pullbacks of operators read no more of a matrix than they have to, as those of floats.
impl<T: Entry, const R: usize, const C: usize> ScalarOperand for SMatrix<T, R, C> {
    type Owned = Self;
}

impl<T: Entry, const R: usize, const C: usize> ScalarOperand for &SMatrix<T, R, C> {
    type Owned = SMatrix<T, R, C>;
}

impl<T: Entry, const R: usize, const C: usize> Fill for SMatrix<T, R, C> {
    type Element = T;
    type Contents = [T];

    fn contents(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }
    fn fill(&mut self, value: T) {
        self.as_mut_slice().fill(value);
    }
    fn drain(shadow: &Cells<T, R, C>) -> T {
        shadow.take().sum()
    }
}

impl<T: 'static, R: 'static, C: 'static, S> Parts for Matrix<T, R, C, S> {
    type Part = T;
}

// Passed on to a callee, a constant field has the shadow of a constant.
impl<M: ?Sized, T, const R: usize, const C: usize> From<Shadow<&Constant<M>>> for Shadow<&Cells<T, R, C>> {
    #[inline(always)]
    fn from(_: Shadow<&Constant<M>>) -> Self {
        Shadow::default()
    }
}

impl<M: ?Sized, T> From<Shadow<&Constant<M>>> for Shadow<EntryCells<'_, T>> {
    #[inline(always)]
    fn from(_: Shadow<&Constant<M>>) -> Self {
        Shadow::default()
    }
}
