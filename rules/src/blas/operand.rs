//! Matrices as the back ends see them: a pointer, a shape and two strides.

use std::marker::PhantomData;
use std::ops::Range;

use ndarray::{ArrayRef1, ArrayRef2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, MathCell, ShapeBuilder};

use crate::matrices::Stack;

/// A matrix that lives for `'a`, in any layout: either stride may be negative or zero.
pub(super) struct Operand<'a, T> {
    pub(super) pointer: *mut T,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// From one row to the next, in elements.
    pub(super) row_stride: isize,
    /// From one column to the next, in elements.
    pub(super) column_stride: isize,
    life: PhantomData<&'a T>,
}

impl<T> Clone for Operand<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Operand<'_, T> {}

impl<'a, T> Operand<'a, T> {
    #[inline(always)]
    fn new(pointer: *mut T, (rows, columns): (usize, usize), strides: &[isize]) -> Self {
        Operand {
            pointer,
            rows,
            columns,
            row_stride: strides[0],
            column_stride: strides[1],
            life: PhantomData,
        }
    }

    /// A matrix that is only read.
    #[inline(always)]
    pub(super) fn read(matrix: &'a ArrayRef2<T>) -> Self {
        Self::new(matrix.as_ptr().cast_mut(), matrix.dim(), matrix.strides())
    }

    /// A matrix that may be written.
    #[inline(always)]
    pub(super) fn write(matrix: &'a mut ArrayRef2<T>) -> Self {
        Self::new(matrix.as_mut_ptr(), matrix.dim(), matrix.strides())
    }

    /// A shadow: it may be read and written, as cells may.
    #[inline(always)]
    pub(super) fn cells(matrix: ArrayView2<'a, MathCell<T>>) -> Self {
        // A `MathCell` is a transparent `Cell`, which is a transparent `UnsafeCell`.
        Self::new(matrix.as_ptr().cast_mut().cast(), matrix.dim(), matrix.strides())
    }

    #[inline(always)]
    fn column(pointer: *mut T, len: usize, stride: isize) -> Self {
        // The other stride means nothing.
        Self::new(pointer, (len, 1), &[stride, len as isize])
    }

    /// A vector that is only read, as a column.
    #[inline(always)]
    pub(super) fn read_vector(vector: &'a ArrayRef1<T>) -> Self {
        Self::column(vector.as_ptr().cast_mut(), vector.len(), vector.strides()[0])
    }

    /// A vector that may be written, as a column.
    #[inline(always)]
    pub(super) fn write_vector(vector: &'a mut ArrayRef1<T>) -> Self {
        Self::column(vector.as_mut_ptr(), vector.len(), vector.strides()[0])
    }

    /// The shadow of a vector, as a column.
    #[inline(always)]
    pub(super) fn vector_cells(vector: ArrayView1<'a, MathCell<T>>) -> Self {
        // A `MathCell` is a transparent `Cell`, which is a transparent `UnsafeCell`.
        Self::column(vector.as_ptr().cast_mut().cast(), vector.len(), vector.strides()[0])
    }

    /// A packed matrix, column after column.
    #[inline(always)]
    pub(super) fn packed(pointer: *mut T, rows: usize, columns: usize) -> Self {
        Self::new(pointer, (rows, columns), &[1, rows as isize])
    }

    /// Matrix number `i`, or the only one.
    pub(super) fn of_stack(stack: Stack<'a, T>, i: usize) -> Self
    where
        T: Copy,
    {
        let (_, rows, columns) = stack.shape();
        Self::new(stack.start(i), (rows, columns), &stack.place.strides[1..3])
    }

    /// Part number `k` of each element, where these consist of `P`s and nothing else.
    #[inline(always)]
    pub(super) fn part<P>(self, k: usize) -> Operand<'a, P> {
        let parts = const { size_of::<T>() / size_of::<P>() };
        debug_assert!(k < parts);
        Operand {
            pointer: self.pointer.cast::<P>().wrapping_add(k),
            rows: self.rows,
            columns: self.columns,
            row_stride: self.row_stride * parts.cast_signed(),
            column_stride: self.column_stride * parts.cast_signed(),
            life: PhantomData,
        }
    }

    /// The same sizes and strides, for matrices that are not there yet.
    pub(super) fn anywhere(self) -> Operand<'static, T> {
        Operand { life: PhantomData, ..self }
    }

    /// The transpose, which is the same memory.
    #[inline(always)]
    pub(super) fn t(self) -> Self {
        Operand {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// The columns in `range`.
    #[inline(always)]
    pub(super) fn columns_in(self, range: Range<usize>) -> Self {
        debug_assert!(range.start <= range.end && range.end <= self.columns);
        Operand {
            pointer: self.pointer.wrapping_offset(range.start as isize * self.column_stride),
            columns: range.len(),
            ..self
        }
    }

    /// The first `at` columns, and the others.
    #[inline(always)]
    pub(super) fn split_columns(self, at: usize) -> (Self, Self) {
        (self.columns_in(0..at), self.columns_in(at..self.columns))
    }

    /// The first `at` rows, and the others.
    #[inline(always)]
    pub(super) fn split_rows(self, at: usize) -> (Self, Self) {
        let (above, below) = self.t().split_columns(at);
        (above.t(), below.t())
    }

    /// The last row first.
    #[inline(always)]
    pub(super) fn reverse_rows(self) -> Self {
        let last = self.rows.saturating_sub(1) as isize;
        Operand {
            pointer: self.pointer.wrapping_offset(last * self.row_stride),
            row_stride: -self.row_stride,
            ..self
        }
    }

    /// The last column first.
    #[inline(always)]
    pub(super) fn reverse_columns(self) -> Self {
        self.t().reverse_rows().t()
    }

    /// Whether columns are nearer to each other than rows. In a row or a column one stride means nothing: it counts as the
    /// column.
    #[inline(always)]
    pub(super) fn by_rows(self) -> bool {
        if self.columns == 1 || self.rows == 1 {
            self.rows == 1
        } else {
            self.row_stride.unsigned_abs() > self.column_stride.unsigned_abs()
        }
    }

    /// The same elements in the order of memory: rows nearer to each other than columns, and neither backwards.
    #[inline(always)]
    pub(super) fn in_order(self) -> Self {
        let mut this = if self.by_rows() { self.t() } else { self };
        if this.row_stride < 0 {
            this = this.reverse_rows();
        }
        if this.column_stride < 0 {
            this = this.reverse_columns();
        }
        this
    }

    /// The matrix as ndarray sees it.
    ///
    /// # Safety
    /// It is valid, and nobody writes to it for as long.
    pub(super) unsafe fn view(self) -> ArrayView2<'a, T> {
        let (upright, backwards) = self.upright();
        let strides = (upright.row_stride.unsigned_abs(), upright.column_stride.unsigned_abs());
        // SAFETY: as the caller guarantees; the strides are those of a matrix.
        let mut view = unsafe {
            ArrayView2::from_shape_ptr((self.rows, self.columns).strides(strides), upright.pointer)
        };
        backwards.into_iter().flatten().for_each(|axis| view.invert_axis(axis));
        view
    }

    /// Likewise, to be written to.
    ///
    /// # Safety
    /// It is valid for writes, and nobody else's for as long; it does not overlap itself.
    pub(super) unsafe fn view_mut(self) -> ArrayViewMut2<'a, T> {
        let (upright, backwards) = self.upright();
        let strides = (upright.row_stride.unsigned_abs(), upright.column_stride.unsigned_abs());
        // SAFETY: as the caller guarantees; the strides are those of a matrix.
        let mut view = unsafe {
            ArrayViewMut2::from_shape_ptr((self.rows, self.columns).strides(strides), upright.pointer)
        };
        backwards.into_iter().flatten().for_each(|axis| view.invert_axis(axis));
        view
    }

    /// The same elements, neither rows nor columns backwards, and the axes along which that turns them round.
    fn upright(self) -> (Self, [Option<Axis>; 2]) {
        let (mut this, mut turned) = (self, [None; 2]);
        if this.row_stride < 0 {
            (this, turned[0]) = (this.reverse_rows(), Some(Axis(0)));
        }
        if this.column_stride < 0 {
            (this, turned[1]) = (this.reverse_columns(), Some(Axis(1)));
        }
        (this, turned)
    }

    /// Copies all elements from `other`, which has the same shape.
    ///
    /// # Safety
    /// Both are valid, this one for writes, and they do not overlap.
    #[inline(always)]
    pub(super) unsafe fn assign(self, other: Operand<'_, T>)
    where
        T: Copy,
    {
        debug_assert!(self.rows == other.rows && self.columns == other.columns);
        let dense =
            |m: Operand<'_, T>| m.row_stride == 1 && (m.columns == 1 || m.column_stride == m.rows as isize);
        // SAFETY: the indices are within the shape; adjacent elements are as many as are copied at once.
        unsafe {
            if self.rows == 0 || self.columns == 0 {
            } else if dense(self) && dense(other) {
                other.pointer.copy_to_nonoverlapping(self.pointer, self.rows * self.columns);
            } else {
                for j in 0..self.columns {
                    for i in 0..self.rows {
                        *self.at(i, j) = *other.at(i, j);
                    }
                }
            }
        }
    }

    /// Where element (i, j) is.
    ///
    /// # Safety
    /// The indices are within the shape.
    #[inline(always)]
    pub(super) unsafe fn at(self, i: usize, j: usize) -> *mut T {
        // SAFETY: the element is part of the matrix, as the caller guarantees.
        unsafe { self.pointer.offset(i as isize * self.row_stride + j as isize * self.column_stride) }
    }

    /// Whether two elements may share a place: always right when it says no.
    #[inline(always)]
    pub(super) fn may_overlap_itself(self) -> bool {
        let axis = |len, stride: isize| (stride.unsigned_abs(), len);
        let (mut inner, mut outer) =
            (axis(self.rows, self.row_stride), axis(self.columns, self.column_stride));
        if self.rows == 0 || self.columns == 0 {
            return false;
        }
        if self.rows == 1 {
            return self.columns > 1 && self.column_stride == 0;
        }
        if self.columns == 1 {
            return self.row_stride == 0;
        }
        if inner.0 > outer.0 {
            std::mem::swap(&mut inner, &mut outer);
        }
        inner.0 == 0 || outer.0 <= inner.0 * (inner.1 - 1)
    }
}
