//! Matrices that rules work on: column by column, aligned, in memory that is kept.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::{MatMut, MatRef};
use ndarray::{ArrayRef, ArrayRef2, ArrayView2, ArrayViewMut2, Axis, Dimension, Ix1, Ix2, ShapeBuilder, Zip};

use super::scalar::Number;
use crate::blas::{Trans, gemm};
use crate::heap::HeapSize;
use crate::shadow::{Accumulate, ArrayCells};

/// A matrix with adjacent elements in each column. Where it begins in a cache line and how far columns are apart depends on its
/// shape alone: so does, then, what a computation rounds to.
pub struct Packed<T> {
    elements: Vec<T>,
    start: usize,
    rows: usize,
    columns: usize,
    stride: usize,
}

impl<T> Default for Packed<T> {
    fn default() -> Self {
        Packed { elements: Vec::new(), start: 0, rows: 0, columns: 0, stride: 1 }
    }
}

/// Bytes in a cache line.
pub(super) const LINE: usize = 64;

/// How far columns of so many rows are apart.
pub(super) fn stride<T>(rows: usize) -> usize {
    let line = (LINE / size_of::<T>()).max(1);
    if rows > line { rows.next_multiple_of(line) } else { rows.max(1) }
}

impl<T: Number> Packed<T> {
    /// Makes room for a matrix of this shape, in which anything may be.
    pub(super) fn resize(&mut self, rows: usize, columns: usize) {
        let (line, stride) = ((LINE / size_of::<T>()).max(1), stride::<T>(rows));
        let room = Self::room(rows, columns).unaligned_bytes_required().div_ceil(size_of::<T>());
        let len = stride * columns + line + room;
        if self.elements.len() < len {
            self.elements.resize(len, T::ZERO);
            self.start = self.elements.as_ptr().align_offset(LINE).min(line);
        }
        (self.rows, self.columns, self.stride) = (rows, columns, stride);
    }

    /// Makes it a matrix of zeros.
    pub(super) fn zeros(&mut self, rows: usize, columns: usize) {
        self.resize(rows, columns);
        self.slice_mut().fill(T::ZERO);
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    fn is_empty(&self) -> bool {
        self.rows == 0 || self.columns == 0
    }

    fn slice(&self) -> &[T] {
        &self.elements[self.start..self.start + self.stride * self.columns]
    }

    pub(super) fn slice_mut(&mut self) -> &mut [T] {
        &mut self.elements[self.start..self.start + self.stride * self.columns]
    }

    /// Column `j`.
    pub(super) fn column(&self, j: usize) -> &[T] {
        &self.slice()[j * self.stride..][..self.rows]
    }

    /// Column `j`.
    pub(super) fn column_mut(&mut self, j: usize) -> &mut [T] {
        let (rows, stride) = (self.rows, self.stride);
        &mut self.slice_mut()[j * stride..][..rows]
    }

    /// For faer.
    pub(super) fn get(&self) -> MatRef<'_, T> {
        MatRef::from_column_major_slice_with_stride(self.slice(), self.rows, self.columns, self.stride)
    }

    /// For faer.
    pub(super) fn get_mut(&mut self) -> MatMut<'_, T> {
        let (rows, columns, stride) = (self.rows, self.columns, self.stride);
        MatMut::from_column_major_slice_with_stride_mut(self.slice_mut(), rows, columns, stride)
    }

    /// What it takes to decompose the matrix, or to solve with it on the right-hand side: memory behind the elements.
    fn room(rows: usize, columns: usize) -> StackReq {
        T::room(rows, rows).and(T::room(rows, columns))
    }

    /// For faer, with that memory.
    pub(super) fn get_mut_with_room(&mut self) -> (MatMut<'_, T>, &mut MemStack) {
        let (rows, columns, stride) = (self.rows, self.columns, self.stride);
        let (elements, rest) = self.elements[self.start..].split_at_mut(stride * columns);
        // SAFETY: the same bytes. Nobody leaves any there that are not initialised, and numbers consist of any.
        let room = unsafe { std::slice::from_raw_parts_mut(rest.as_mut_ptr().cast(), size_of_val(rest)) };
        let matrix = MatMut::from_column_major_slice_with_stride_mut(elements, rows, columns, stride);
        (matrix, MemStack::new(room))
    }

    /// For ndarray.
    pub(super) fn view(&self) -> ArrayView2<'_, T> {
        if self.is_empty() {
            return ArrayView2::from_shape((self.rows, self.columns), &[]).expect("no elements");
        }
        let shape = (self.rows, self.columns).strides((1, self.stride));
        ArrayView2::from_shape(shape, self.slice()).expect("room for the shape")
    }

    /// For ndarray.
    pub(super) fn view_mut(&mut self) -> ArrayViewMut2<'_, T> {
        if self.is_empty() {
            return ArrayViewMut2::from_shape((self.rows, self.columns), &mut []).expect("no elements");
        }
        let shape = (self.rows, self.columns).strides((1, self.stride));
        ArrayViewMut2::from_shape(shape, self.slice_mut()).expect("room for the shape")
    }

    /// Takes shape and elements of `matrix`, each as `read` says.
    pub(super) fn load<A: Copy>(&mut self, matrix: &ArrayRef2<A>, read: impl Fn(A) -> T) {
        let (rows, columns) = matrix.dim();
        self.resize(rows, columns);
        Zip::from(self.view_mut()).and(matrix).for_each(|to, &x| *to = read(x));
    }

    /// Takes shape and elements of `matrix`.
    pub(super) fn assign(&mut self, matrix: &ArrayRef2<T>) {
        let (rows, columns) = matrix.dim();
        self.resize(rows, columns);
        self.view_mut().assign(matrix);
    }

    /// Takes the lower triangle of `matrix`, which is square, and zeros above it.
    pub(super) fn assign_lower(&mut self, matrix: &ArrayRef2<T>) {
        self.assign(matrix);
        self.clear_upper();
    }

    /// Zeros above the diagonal.
    pub(super) fn clear_upper(&mut self) {
        for j in 0..self.columns {
            let end = j.min(self.rows);
            self.column_mut(j)[..end].fill(T::ZERO);
        }
    }

    /// Zeros below the diagonal.
    pub(super) fn clear_lower(&mut self) {
        for j in 0..self.columns {
            let start = (j + 1).min(self.rows);
            self.column_mut(j)[start..].fill(T::ZERO);
        }
    }

    /// Takes shape and elements of `other`.
    pub(super) fn copy(&mut self, other: &Packed<T>) {
        self.assign(&other.view());
    }
}

/// Memory that faer's algorithms ask for.
#[derive(Default)]
pub struct Scratch {
    buffer: Option<MemBuffer>,
}

impl Scratch {
    pub(super) fn stack(&mut self, required: StackReq) -> &mut MemStack {
        let needed = required.unaligned_bytes_required();
        if self.buffer.as_ref().is_none_or(|buffer| buffer.len() < needed) {
            self.buffer = Some(MemBuffer::new(StackReq::new_aligned::<u8>(needed, LINE)));
        }
        MemStack::new(self.buffer.as_mut().expect("just made"))
    }
}

/// The gradient with respect to what a function has computed, as its two forms get it.
pub(super) enum Seed<'a, T, D: Dimension> {
    /// Of the array that was returned.
    Lent(&'a ArrayRef<T, D>),
    /// Of the array that was written to.
    Cells(ArrayCells<'a, T, D>),
}

impl<T: Number, D: Columns> Seed<'_, T, D> {
    /// Copies it.
    pub(super) fn load(&self, to: &mut Packed<T>) {
        match self {
            Seed::Lent(array) => to.assign(&D::matrix(array.view())),
            Seed::Cells(cells) => {
                let cells = D::matrix(*cells);
                let (rows, columns) = cells.dim();
                to.resize(rows, columns);
                Zip::from(to.view_mut()).and(&cells).for_each(|to, cell| *to = cell.get());
            }
        }
    }
}

#[cfg(feature = "fft")]
impl<T: Number, D: Dimension> Seed<'_, T, D> {
    /// One entry of it.
    pub(super) fn at<I: ndarray::NdIndex<D>>(&self, index: I) -> T {
        match self {
            Seed::Lent(array) => array[index],
            Seed::Cells(cells) => cells[index].get(),
        }
    }
}

/// *Ȧ += G*, entry by entry.
pub(super) fn add<T: Number>(shadow: ArrayCells<'_, T, Ix2>, gradient: &ArrayRef2<T>) {
    Zip::from(shadow).and(gradient).for_each(|cell, &g| cell.accumulate(g));
}

/// *Ȧ += G* for a symmetric matrix *A* of which the function reads the lower triangle alone: what belongs to *Aᵢⱼ* and *Aⱼᵢ* goes to the
/// one of them that is read.
pub(super) fn add_to_lower<T: Number>(shadow: ArrayCells<'_, T, Ix2>, gradient: &Packed<T>) {
    for j in 0..gradient.columns() {
        shadow[[j, j]].accumulate(gradient.column(j)[j]);
        for i in j + 1..gradient.rows() {
            shadow[[i, j]].accumulate(gradient.column(j)[i] + gradient.column(i)[j]);
        }
    }
}

/// *Ȧ += G* on the diagonal and on one side of it.
pub(super) fn add_to_triangle<T: Number>(shadow: ArrayCells<'_, T, Ix2>, gradient: &Packed<T>, lower: bool) {
    for (j, column) in shadow.columns().into_iter().enumerate() {
        let (skipped, taken) = if lower { (j, usize::MAX) } else { (0, j + 1) };
        let entries = column.iter().zip(gradient.column(j)).take(taken).skip(skipped);
        entries.for_each(|(cell, &g)| cell.accumulate(g));
    }
}

/// The dimension of right-hand sides: a vector, or a matrix with one in each column.
pub trait Columns: Dimension + Copy + sealed::Columns + 'static {}

impl Columns for Ix1 {}
impl Columns for Ix2 {}

mod sealed {
    use ndarray::{ArrayBase, Axis, Ix1, Ix2, RawData};

    pub trait Columns: Sized {
        /// The vectors as columns.
        fn matrix<S: RawData>(array: ArrayBase<S, Self>) -> ArrayBase<S, Ix2>;
        /// The shape with another number of rows.
        fn with_rows(self, rows: usize) -> Self;
    }

    impl Columns for Ix1 {
        fn matrix<S: RawData>(array: ArrayBase<S, Ix1>) -> ArrayBase<S, Ix2> {
            array.insert_axis(Axis(1))
        }
        fn with_rows(self, rows: usize) -> Ix1 {
            Ix1(rows)
        }
    }

    impl Columns for Ix2 {
        fn matrix<S: RawData>(array: ArrayBase<S, Ix2>) -> ArrayBase<S, Ix2> {
            array
        }
        fn with_rows(self, rows: usize) -> Ix2 {
            Ix2(rows, self[1])
        }
    }
}

/// Copies `matrix` to `to`, which may be a vector.
pub(super) fn write<T: Number, D: Columns>(to: &mut ArrayRef<T, D>, matrix: &Packed<T>) {
    D::matrix(to.view_mut()).assign(&matrix.view());
}

/// The number of rows of a square matrix.
///
/// # Panics
/// If it is not square.
#[track_caller]
pub(super) fn square<T>(function: &str, matrix: &ArrayRef2<T>) -> usize {
    let (rows, columns) = matrix.dim();
    assert!(rows == columns, "{function}: the matrix is {rows}×{columns}, and has to be square");
    rows
}

/// Fails unless there are as many rows in `b` as `rows`.
#[track_caller]
pub(super) fn fits<T, D: Dimension>(function: &str, rows: usize, b: &ArrayRef<T, D>) {
    let found = b.len_of(Axis(0));
    assert!(rows == found, "{function}: the matrix has {rows} rows, the right-hand side {found}");
}

/// Fails unless `to`, which is written to, has this shape.
#[track_caller]
pub(super) fn has_shape<T, D: Dimension>(function: &str, to: &ArrayRef<T, D>, shape: &D) {
    assert!(
        to.raw_dim() == *shape,
        "{function}: the result has the shape {:?}, what it is written to {:?}",
        shape.slice(),
        to.shape()
    );
}

/// *C ← α·A·B + β·C*
pub(super) fn times<T: Number>(alpha: T, a: &ArrayRef2<T>, b: &ArrayRef2<T>, beta: T, c: &mut ArrayRef2<T>) {
    gemm(Trans::No, Trans::No, alpha, a, b, beta, c);
}

/// *M ← Aᵀ·B·C*, by way of `room`.
pub(super) fn in_bases<T: Number>(
    a: &ArrayRef2<T>,
    b: &ArrayRef2<T>,
    c: &ArrayRef2<T>,
    room: &mut Packed<T>,
    m: &mut Packed<T>,
) {
    room.resize(a.ncols(), b.ncols());
    times(T::ONE, &a.t(), b, T::ZERO, &mut room.view_mut());
    m.resize(a.ncols(), c.ncols());
    times(T::ONE, &room.view(), c, T::ZERO, &mut m.view_mut());
}

impl<T: Copy> HeapSize for Packed<T> {
    fn heap_size(&self) -> usize {
        self.elements.heap_size()
    }
}

impl HeapSize for Scratch {
    fn heap_size(&self) -> usize {
        self.buffer.as_ref().map_or(0, |buffer| buffer.len())
    }
}
