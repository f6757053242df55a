//! Triangular factors of matrices of dual numbers, and of numbers in lanes: those of the values, and what becomes of the derivatives.

use std::marker::PhantomData;

use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::matmul::triangular::BlockStructure;
use faer::prelude::IntoConst;
use faer::{MatMut, MatRef};
use ndarray::{ArrayView2, ArrayViewMut1, ArrayViewMut2, ShapeBuilder};

use super::backend::Shape;
use super::packed::{LINE, Scratch, stride};
use super::scalar::Part;
use super::scalar::sealed::TriangularFactors;
use crate::blas::{Diag, Side, Trans, Uplo, trmm, trmv};
use crate::dual::{DualNumber, Lanes};
use crate::float::Float;

/// A matrix whose elements consist of numbers of type `P`.
#[derive(Clone, Copy)]
struct Elements<'a, P> {
    first: *mut P,
    rows: usize,
    columns: usize,
    /// From row to row and from column to column, in these numbers.
    strides: (isize, isize),
    life: PhantomData<&'a P>,
}

impl<'a, P> Elements<'a, P> {
    fn read<T>(matrix: MatRef<'a, T>) -> Self {
        let parts = const { size_of::<T>() / size_of::<P>() }.cast_signed();
        Elements {
            first: matrix.as_ptr().cast_mut().cast(),
            rows: matrix.nrows(),
            columns: matrix.ncols(),
            strides: (matrix.row_stride() * parts, matrix.col_stride() * parts),
            life: PhantomData,
        }
    }

    fn write<T>(matrix: MatMut<'a, T>) -> Self {
        let first = matrix.as_ptr_mut().cast();
        Elements { first, ..Self::read(matrix.into_const()) }
    }

    /// Number `k` of each element.
    ///
    /// # Safety
    /// There are so many, and nobody writes to them as long as they are borrowed.
    unsafe fn part(self, k: usize) -> MatRef<'a, P> {
        let (rows, columns) = self.strides;
        // SAFETY: as the caller guarantees.
        unsafe { MatRef::from_raw_parts(self.first.wrapping_add(k), self.rows, self.columns, rows, columns) }
    }

    /// Number `k` of each element, where all of them are as near to each other as in a [`Packed`](super::packed::Packed) matrix, in that `room`: then
    /// the algorithms compute the same bits. What they leave there is brought back, if that is wanted.
    ///
    /// # Safety
    /// As for [`part`](Self::part), and for [`part_mut`](Self::part_mut) if they are brought back.
    unsafe fn together<R>(
        self,
        k: usize,
        room: &mut MemStack,
        bring_back: bool,
        work: impl FnOnce(MatMut<'_, P>, &mut MemStack) -> R,
    ) -> R {
        let stride = stride::<P>(self.rows);
        let (place, rest) = room.make_aligned_uninit::<P>(stride * self.columns, LINE);
        let first = place.as_mut_ptr().cast::<P>();
        // SAFETY: as the caller guarantees; the place is nobody else's, and there is room for as many elements.
        unsafe {
            let at = |i: usize, j: usize| {
                let offset = i.cast_signed() * self.strides.0 + j.cast_signed() * self.strides.1;
                (self.first.wrapping_add(k).wrapping_offset(offset), first.add(i + j * stride))
            };
            let each = |copy: fn(*mut P, *mut P)| {
                for j in 0..self.columns {
                    for i in 0..self.rows {
                        let (here, there) = at(i, j);
                        copy(here, there);
                    }
                }
            };
            each(|here, there| here.copy_to_nonoverlapping(there, 1));
            let matrix = MatMut::from_raw_parts_mut(first, self.rows, self.columns, 1, stride.cast_signed());
            let result = work(matrix, rest);
            if bring_back {
                each(|here, there| there.copy_to_nonoverlapping(here, 1));
            }
            result
        }
    }

    fn transpose(self) -> Self {
        let (rows, columns) = self.strides;
        Elements { rows: self.columns, columns: self.rows, strides: (columns, rows), ..self }
    }

    /// The same, to be written to.
    ///
    /// # Safety
    /// The elements were to be written to, there are so many, and nobody else has them as long as they are borrowed.
    unsafe fn part_mut(self, k: usize) -> MatMut<'a, P> {
        let (rows, columns) = self.strides;
        // SAFETY: as the caller guarantees.
        unsafe {
            MatMut::from_raw_parts_mut(self.first.wrapping_add(k), self.rows, self.columns, rows, columns)
        }
    }
}

/// The memory for one such part.
fn room_for<P>(rows: usize, columns: usize) -> StackReq {
    StackReq::new_aligned::<P>(stride::<P>(rows) * columns, LINE)
}

/// *B ← A⁻¹·B* for part `k` of both.
///
/// # Safety
/// Nobody else has that part of *B*, which was to be written to.
unsafe fn solve_together<P: TriangularFactors>(
    k: usize,
    a: Elements<'_, P>,
    shape: Shape,
    b: Elements<'_, P>,
    room: &mut MemStack,
) {
    // Columns are what is adjacent, as in the matrix that this may be the transpose of.
    let transposed = a.strides.0 > a.strides.1;
    let packed = if transposed { a.transpose() } else { a };
    // SAFETY: as the caller guarantees.
    unsafe {
        packed.together(k, room, false, |a, room| {
            let a = if transposed { a.into_const().transpose() } else { a.into_const() };
            b.together(k, room, true, |b, room| P::solve_packed(a, shape, b, room));
        });
    }
}

/// For functions of ndarray's matrices. All strides are positive.
fn view<T>(matrix: MatRef<'_, T>) -> ArrayView2<'_, T> {
    let strides = (matrix.row_stride().cast_unsigned(), matrix.col_stride().cast_unsigned());
    // SAFETY: the same elements.
    unsafe { ArrayView2::from_shape_ptr((matrix.nrows(), matrix.ncols()).strides(strides), matrix.as_ptr()) }
}

/// The same, to be written to.
fn view_mut<T>(matrix: MatMut<'_, T>) -> ArrayViewMut2<'_, T> {
    let strides = (matrix.row_stride().cast_unsigned(), matrix.col_stride().cast_unsigned());
    let shape = (matrix.nrows(), matrix.ncols()).strides(strides);
    // SAFETY: the same elements.
    unsafe { ArrayViewMut2::from_shape_ptr(shape, matrix.as_ptr_mut()) }
}

/// Brings row `rows[i]` to row `i`, for all `i`.
fn permute<T>(matrix: &mut ArrayViewMut2<'_, T>, rows: &[usize]) {
    for start in 0..rows.len() {
        // Each cycle begins with the least of its rows.
        let mut row = rows[start];
        while row > start {
            row = rows[row];
        }
        if row < start {
            continue;
        }
        while rows[row] != start {
            for mut column in matrix.columns_mut() {
                column.swap(row, rows[row]);
            }
            row = rows[row];
        }
    }
}

/// *Ẋ = A⁻¹·(Ḃ − Ȧ·X)*, once *X* is known (Giles, *Collected matrix derivative results for forward and reverse mode algorithmic
/// differentiation*, 2008, section 2.3.1).
///
/// # Safety
/// *B* was to be written to, and nobody else has it. Both consist of dual numbers.
unsafe fn push_solution<T: Float, const N: usize>(a: Elements<'_, T>, shape: Shape, b: Elements<'_, T>) {
    let whole = BlockStructure::Rectangular;
    for k in 1..=N {
        // SAFETY: as the caller guarantees; parts of different numbers do not overlap.
        unsafe {
            let change = (a.part(k), shape.changing());
            T::add_product((b.part_mut(k), whole), true, change, (b.part(0), whole));
            T::solve_triangular(a.part(0), shape, b.part_mut(k));
        }
    }
}

#[allow(private_interfaces, reason = "sealed")]
impl<T: Float, const N: usize> TriangularFactors for DualNumber<T, N> {
    fn room(rows: usize, columns: usize) -> StackReq {
        room_for::<T>(rows, columns).and(T::room(rows, columns))
    }

    /// *L̇ = L·Φ(L⁻¹·Ȧ·L⁻ᵀ)*, where Φ takes the lower triangle with half of the diagonal (Murray, *Differentiation of the Cholesky decomposition*,
    /// 2016, eq. 8).
    fn cholesky(a: MatMut<'_, Self>, room: &mut MemStack, scratch: &mut Scratch) -> Result<(), usize> {
        let a = Elements::<T>::write(a);
        // SAFETY: parts of different numbers do not overlap.
        unsafe {
            a.together(0, room, true, |a, room| T::cholesky(a, room, scratch))?;
            let l = a.part(0);
            for k in 0..N {
                let mut da = view_mut(a.part_mut(k + 1));
                for i in 0..a.rows {
                    for j in 0..i {
                        da[[j, i]] = da[[i, j]];
                    }
                }
                T::solve_triangular(l, Shape::LOWER, a.part_mut(k + 1));
                T::solve_triangular(l, Shape::LOWER, a.part_mut(k + 1).transpose_mut());
                let mut phi = view_mut(a.part_mut(k + 1));
                for i in 0..a.rows {
                    phi[[i, i]] *= T::from_f64(0.5);
                    for j in 0..i {
                        phi[[j, i]] = T::zero();
                    }
                }
                trmm(Side::Left, Uplo::Lower, Trans::No, Diag::NonUnit, T::one(), &view(l), &mut phi);
            }
        }
        Ok(())
    }

    /// With *F = L⁻¹·P·Ȧ·U⁻¹*: *L̇ = L·F* with *F* below the diagonal, *U̇ = F·U* with the others (de Hoog, Anderssen and Lukas, *Differentiation of
    /// matrix functionals using triangular factorization*, 2011).
    fn lu(
        a: MatMut<'_, Self>,
        rows: &mut [usize],
        inverse: &mut [usize],
        room: &mut MemStack,
        scratch: &mut Scratch,
    ) -> usize {
        let a = Elements::<T>::write(a);
        let n = a.rows;
        // SAFETY: parts of different numbers do not overlap.
        unsafe {
            let exchanges = a.together(0, room, true, |a, room| T::lu(a, rows, inverse, room, scratch));
            let (factors, lu) = (a.part(0), view(a.part(0)));
            for k in 0..N {
                let mut f = view_mut(a.part_mut(k + 1));
                permute(&mut f, rows);
                T::solve_triangular(factors, Shape::UNIT_LOWER, a.part_mut(k + 1));
                T::solve_triangular(factors.transpose(), Shape::LOWER, a.part_mut(k + 1).transpose_mut());
                let mut f = view_mut(a.part_mut(k + 1));
                for i in 0..n {
                    let l: ArrayView2<'_, T> = lu.slice(ndarray::s![i + 1.., i + 1..]);
                    let mut column: ArrayViewMut1<'_, T> = f.slice_mut(ndarray::s![i + 1.., i]);
                    trmv(Uplo::Lower, Trans::No, Diag::Unit, &l, &mut column);
                    let u: ArrayView2<'_, T> = lu.slice(ndarray::s![i.., i..]);
                    let mut row: ArrayViewMut1<'_, T> = f.slice_mut(ndarray::s![i, i..]);
                    trmv(Uplo::Upper, Trans::Yes, Diag::NonUnit, &u, &mut row);
                }
            }
            exchanges
        }
    }

    fn solve_packed(a: MatRef<'_, Self>, shape: Shape, b: MatMut<'_, Self>, room: &mut MemStack) {
        let (a, b) = (Elements::<T>::read(a), Elements::<T>::write(b));
        // SAFETY: parts of different numbers do not overlap.
        unsafe {
            solve_together(0, a, shape, b, room);
            push_solution::<T, N>(a, shape, b);
        }
    }

    fn solve_triangular(a: MatRef<'_, Self>, shape: Shape, b: MatMut<'_, Self>) {
        let (a, b) = (Elements::<T>::read(a), Elements::<T>::write(b));
        // SAFETY: parts of different numbers do not overlap.
        unsafe {
            T::solve_triangular(a.part(0), shape, b.part_mut(0));
            push_solution::<T, N>(a, shape, b);
        }
    }

    fn add_product(
        (c, in_c): Part<MatMut<'_, Self>>,
        minus: bool,
        (a, of_a): Part<MatRef<'_, Self>>,
        (b, of_b): Part<MatRef<'_, Self>>,
    ) {
        let (c, a, b) = (Elements::<T>::write(c), Elements::<T>::read(a), Elements::<T>::read(b));
        // SAFETY: parts of different numbers do not overlap.
        unsafe {
            let add = |k: usize, i: usize, j: usize| {
                T::add_product((c.part_mut(k), in_c), minus, (a.part(i), of_a), (b.part(j), of_b));
            };
            add(0, 0, 0);
            for k in 1..=N {
                add(k, k, 0);
                add(k, 0, k);
            }
        }
    }
}

/// Lane by lane: what a gradient is multiplied by, or solved with, is the same in all of them.
#[allow(private_interfaces, reason = "sealed")]
impl<const K: usize> TriangularFactors for Lanes<K> {
    fn room(rows: usize, columns: usize) -> StackReq {
        room_for::<f64>(rows, columns)
    }

    fn cholesky(a: MatMut<'_, Self>, room: &mut MemStack, scratch: &mut Scratch) -> Result<(), usize> {
        let a = Elements::<f64>::write(a);
        (0..K).try_for_each(|k| {
            // SAFETY: one lane at a time.
            unsafe { a.together(k, room, true, |a, room| f64::cholesky(a, room, scratch)) }
        })
    }

    fn lu(
        a: MatMut<'_, Self>,
        rows: &mut [usize],
        inverse: &mut [usize],
        room: &mut MemStack,
        scratch: &mut Scratch,
    ) -> usize {
        let a = Elements::<f64>::write(a);
        (0..K).fold(0, |_, k| {
            // SAFETY: one lane at a time.
            unsafe { a.together(k, room, true, |a, room| f64::lu(a, rows, inverse, room, scratch)) }
        })
    }

    fn solve_packed(a: MatRef<'_, Self>, shape: Shape, b: MatMut<'_, Self>, room: &mut MemStack) {
        let (a, b) = (Elements::<f64>::read(a), Elements::<f64>::write(b));
        for k in 0..K {
            // SAFETY: one lane at a time.
            unsafe { solve_together(k, a, shape, b, room) }
        }
    }

    fn solve_triangular(a: MatRef<'_, Self>, shape: Shape, b: MatMut<'_, Self>) {
        let (a, b) = (Elements::<f64>::read(a), Elements::<f64>::write(b));
        for k in 0..K {
            // SAFETY: one lane at a time.
            unsafe { f64::solve_triangular(a.part(k), shape, b.part_mut(k)) }
        }
    }

    fn add_product(
        (c, in_c): Part<MatMut<'_, Self>>,
        minus: bool,
        (a, of_a): Part<MatRef<'_, Self>>,
        (b, of_b): Part<MatRef<'_, Self>>,
    ) {
        let (c, a, b) = (Elements::<f64>::write(c), Elements::<f64>::read(a), Elements::<f64>::read(b));
        for k in 0..K {
            // SAFETY: one lane at a time.
            unsafe { f64::add_product((c.part_mut(k), in_c), minus, (a.part(k), of_a), (b.part(k), of_b)) }
        }
    }
}
