//! Vectors and matrices whose dimensions are known at run time, which are on the heap: `DVector`, `DMatrix` and the like. They
//! are taken by reference and returned, as `Vec` is.

use std::cell::Cell;
use std::ops::Index;

use nalgebra::{Dim, IsContiguous, Matrix, RawStorageMut, VecStorage};

use super::Entry;
use crate::exchange::{Exchange, exchange_rows};
use crate::lengths::Extent;
use crate::mutation::{Copyable, Fill};
use crate::output::Output;
use crate::rows::row;
use crate::shadow::{Accumulate, Differentiable, slice_cells, zeros};

/// A matrix with its entries in a `Vec`.
pub(super) type Heap<T, R, C> = Matrix<T, R, C, VecStorage<T, R, C>>;

/// The shadow of a [`Heap`]: a cell for each entry, column by column.
pub struct EntryCells<'a, T> {
    pub(super) cells: &'a [Cell<T>],
    pub(super) shape: (usize, usize),
}

impl<T> Clone for EntryCells<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for EntryCells<'_, T> {}

impl<T> Index<usize> for EntryCells<'_, T> {
    type Output = Cell<T>;
    #[inline(always)]
    fn index(&self, k: usize) -> &Cell<T> {
        &self.cells[k]
    }
}

impl<T> Index<(usize, usize)> for EntryCells<'_, T> {
    type Output = Cell<T>;
    #[inline(always)]
    fn index(&self, (i, j): (usize, usize)) -> &Cell<T> {
        assert!(i < self.shape.0, "row {i} of {}", self.shape.0);
        &self.cells[i + j * self.shape.0]
    }
}

fn of_vec<T, R: Dim, C: Dim>(rows: usize, columns: usize, entries: Vec<T>) -> Heap<T, R, C>
where
    VecStorage<T, R, C>: RawStorageMut<T, R, C>,
{
    let (rows, columns) = (R::from_usize(rows), C::from_usize(columns));
    Matrix::from_data(VecStorage::new(rows, columns, entries))
}

fn empty<T, R: Dim, C: Dim>() -> Heap<T, R, C>
where
    VecStorage<T, R, C>: RawStorageMut<T, R, C>,
{
    of_vec(R::try_to_usize().unwrap_or(0), C::try_to_usize().unwrap_or(0), Vec::new())
}

/// Gives `gradient` the shape of `value`; `fill` makes the entries.
fn reshape<T: Entry, R: Dim, C: Dim>(
    value: &Heap<T, R, C>,
    gradient: &mut Heap<T, R, C>,
    fill: impl FnOnce(&mut Vec<T>),
) where
    VecStorage<T, R, C>: RawStorageMut<T, R, C> + IsContiguous,
{
    let (rows, columns) = value.shape();
    let mut entries = Vec::from(std::mem::replace(gradient, empty()).data);
    fill(&mut entries);
    *gradient = of_vec(rows, columns, entries);
}

impl<T: Entry, R: Dim, C: Dim> Differentiable for Heap<T, R, C>
where
    VecStorage<T, R, C>: RawStorageMut<T, R, C> + IsContiguous,
{
    type Shadow<'a> = EntryCells<'a, T>;
    type Gradient = Self;
    type View<'a> = &'a Self;
    const RESIZES: bool = false;

    fn empty() -> Self {
        empty()
    }
    fn prepare(&self, gradient: &mut Self) {
        reshape(self, gradient, |entries| zeros(entries, self.len()));
    }
    #[inline]
    fn shadow(gradient: &mut Self) -> EntryCells<'_, T> {
        let shape = gradient.shape();
        EntryCells { cells: slice_cells(gradient.as_mut_slice()), shape }
    }
    #[inline(always)]
    fn align<'a>(&self, shadow: Self::Shadow<'a>) -> Self::Shadow<'a> {
        assert!(shadow.shape == self.shape(), "a shadow has the shape of its matrix");
        EntryCells { cells: &shadow.cells[..self.len()], ..shadow }
    }
    #[inline(always)]
    fn shortened<'a, 's: 'a>(shadow: Self::Shadow<'s>) -> Self::Shadow<'a> {
        shadow
    }
    #[inline(always)]
    fn fit(&self, _gradient: &mut Self, _to: Extent) {}
    fn makes_way(&self, new: &Self) -> bool {
        self.shape() == new.shape()
    }
    fn take_shadow(shadow: Self::Shadow<'_>, gradient: &mut Self) {
        gradient.as_mut_slice().iter_mut().zip(shadow.cells).for_each(|(d, cell)| *d = cell.take());
    }
    #[inline]
    fn view(gradient: &Self) -> &Self {
        gradient
    }
    fn gradient_size(gradient: &Self) -> usize {
        gradient.len() * size_of::<T>()
    }
    fn seed(gradient: &mut Self, seed: &Self) {
        assert_eq!(gradient.shape(), seed.shape(), "the seed has another shape than the argument");
        gradient.as_mut_slice().copy_from_slice(seed.as_slice());
    }
    fn copy_gradient(gradient: &mut Self, other: &Self) {
        reshape(other, gradient, |entries| {
            entries.clear();
            entries.extend_from_slice(other.as_slice());
        });
    }
}

row!([T: Entry, C: Dim] Heap<T, nalgebra::Dyn, C>);
exchange_rows!([T: Entry, C: Dim] Heap<T, nalgebra::Dyn, C>);

impl<T: Entry, R: Dim, C: Dim> Exchange for Heap<T, R, C>
where
    VecStorage<T, R, C>: RawStorageMut<T, R, C> + IsContiguous,
{
    fn fits(&self, shadow: Self::Shadow<'_>) -> bool {
        self.shape() == shadow.shape
    }
    fn exchange(one: Self::Shadow<'_>, other: Self::Shadow<'_>) {
        one.cells.iter().zip(other.cells).for_each(|(one, other)| one.swap(other));
    }
    fn clear(shadow: Self::Shadow<'_>) {
        shadow.cells.iter().for_each(|cell| cell.set(T::zero()));
    }
}

impl<T: Entry, R: Dim, C: Dim> Output for Heap<T, R, C>
where
    VecStorage<T, R, C>: RawStorageMut<T, R, C> + IsContiguous,
{
    type Cotangent<'a> = &'a Self;
    type Gradient = Self;

    fn empty() -> Self {
        empty()
    }
    fn prepare(&self, gradient: &mut Self) {
        Differentiable::prepare(self, gradient);
    }
    fn lend(gradient: &Self) -> &Self {
        gradient
    }
    fn size(value: &Self) -> usize {
        value.len() * size_of::<T>()
    }
    fn gradient_size(gradient: &Self) -> usize {
        gradient.len() * size_of::<T>()
    }
    fn copy(gradient: &mut Self, cotangent: &Self) {
        <Self as Differentiable>::copy_gradient(gradient, cotangent);
    }
    /// nalgebra's `clone_from` allocates.
    fn copy_to(&self, copy: &mut Self)
    where
        Self: Clone,
    {
        <Self as Output>::copy(copy, self);
    }
}

impl<T: Entry, R: Dim, C: Dim> Copyable for Heap<T, R, C>
where
    VecStorage<T, R, C>: RawStorageMut<T, R, C> + IsContiguous + Clone,
{
    fn hand_back(shadow: EntryCells<'_, T>, d: &Self) {
        shadow.cells.iter().zip(d.as_slice()).for_each(|(cell, d)| cell.accumulate(*d));
    }
    fn room(&self) -> usize {
        size_of_val(self.as_slice())
    }
    fn copy_into(&self, copy: &mut Self) {
        Output::copy_to(self, copy);
    }
}

impl<T: Entry, R: Dim, C: Dim> Fill for Heap<T, R, C>
where
    VecStorage<T, R, C>: RawStorageMut<T, R, C> + IsContiguous,
{
    type Element = T;
    type Contents = [T];

    fn contents(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }
    fn fill(&mut self, value: T) {
        self.as_mut_slice().fill(value);
    }
    fn drain(shadow: EntryCells<'_, T>) -> T {
        let mut total = nalgebra::zero();
        shadow.cells.iter().for_each(|cell| total += cell.take());
        total
    }
}
