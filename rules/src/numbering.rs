//! How the elements of something are counted whose type the syntax does not tell: by one integer, or row by row where they have an index for
//! each axis.

use std::ops::Index;

use ndarray::{ArrayRef, Dimension, Ix2, Ix3, Ix4, Ix5, Ix6};

use crate::inert::Inert;

/// An array of ndarray's with several axes, whose elements `iter` gives row by row.
pub trait RowByRow {
    /// What turns numbers into indices.
    type Numbering;

    /// How the elements are counted.
    fn numbering(&self) -> Self::Numbering;
}

macro_rules! row_by_row {
    ($($D:ty),*) => {$(
        impl<T> RowByRow for ArrayRef<T, $D> {
            type Numbering = Axes<$D>;

            #[inline(always)]
            fn numbering(&self) -> Axes<$D> {
                Axes(self.raw_dim())
            }
        }
    )*};
}
row_by_row!(Ix2, Ix3, Ix4, Ix5, Ix6);

/// Whatever is indexed by an integer: slices, vectors and the like.
pub trait OneByOne: IndexedByNumbers {
    /// How the elements are counted.
    #[inline(always)]
    fn numbering(&self) -> Line {
        Line
    }
}

impl<C: IndexedByNumbers + ?Sized> OneByOne for C {}

/// Has elements that an integer is the index of.
#[diagnostic::on_unimplemented(
    message = "the elements of this are not differentiable: nothing here tells its type, which is taken for that of a collection with indices",
    label = "`{Self}` has none",
    note = "an `Option`: write `if let`; a map: `for (key, value) in …` over what it is `collect`ed into before"
)]
pub trait IndexedByNumbers {}

impl<C: Index<usize> + ?Sized> IndexedByNumbers for C {}

/// Of elements that have one index.
#[derive(Clone, Copy, Debug)]
pub struct Line;

impl Line {
    /// The index of an element by its number.
    #[inline(always)]
    pub fn index_of(&self, number: usize) -> usize {
        number
    }
}

impl Inert for Line {}

/// Of elements with an index for each axis: how many there are along it.
#[derive(Clone, Debug)]
pub struct Axes<D>(D);

impl<D> Inert for Axes<D> {}

impl<D: Dimension> Axes<D> {
    /// The indices of an element by its number.
    #[inline(always)]
    pub fn index_of(&self, number: usize) -> D {
        let Axes(lengths) = self;
        let (mut index, mut rest) = (D::zeros(lengths.ndim()), number);
        for axis in (1..lengths.ndim()).rev() {
            index[axis] = rest % lengths[axis];
            rest /= lengths[axis];
        }
        index[0] = rest;
        index
    }
}
