//! Elements that meet in an operation of two arrays: of one type, or dual numbers and constants.

use std::cell::Cell;
use std::ops::{Add, Div, Mul, Rem, Sub};

use ndarray::linalg::general_mat_vec_mul;
use ndarray::{ArrayRef1, ArrayRef2, Ix2, Zip};

use super::Entry;
use crate::blas::products::{IntoShadow, by_constants, by_ndarray};
use crate::dual::DualNumber;
use crate::float::Float;
use crate::shadow::{Accumulate, ArrayCells};

/// Elements that meet elements `R` on their right. A constant that meets a dual number has no gradient, and its matrices are multiplied by
/// each part of the others.
pub trait Meets<R: Entry>:
    Entry
    + Add<R, Output = <Self as Meets<R>>::Both>
    + Sub<R, Output = <Self as Meets<R>>::Both>
    + Mul<R, Output = <Self as Meets<R>>::Both>
    + Div<R, Output = <Self as Meets<R>>::Both>
    + Rem<R, Output = <Self as Meets<R>>::Both>
{
    /// What comes of it.
    type Both: Entry
        + Mul<Self, Output = <Self as Meets<R>>::Both>
        + Mul<R, Output = <Self as Meets<R>>::Both>
        + Div<R, Output = <Self as Meets<R>>::Both>;

    /// The left operand as one of these.
    fn of_left(self) -> Self::Both;
    /// The right operand as one of these.
    fn of_right(right: R) -> Self::Both;
    /// Adds to the gradient of the left operand.
    fn to_left(cell: &Cell<Self>, d: Self::Both);
    /// Adds to the gradient of the right operand.
    fn to_right(cell: &Cell<R>, d: Self::Both);

    /// *⟨x, y⟩*
    fn inner(x: &ArrayRef1<Self>, y: &ArrayRef1<R>) -> Self::Both;
    /// *y ← A·x*
    fn by_vector(a: &ArrayRef2<Self>, x: &ArrayRef1<R>, y: &mut ArrayRef1<Self::Both>);
    /// *y ← Aᵀ·x*
    fn of_vector(x: &ArrayRef1<Self>, a: &ArrayRef2<R>, y: &mut ArrayRef1<Self::Both>);
    /// *C ← A·B*
    fn by_matrix(a: &ArrayRef2<Self>, b: &ArrayRef2<R>, c: &mut ArrayRef2<Self::Both>);
    /// *Ȧ += Ċ·Bᵀ*
    fn pull_left(
        into: &mut IntoShadow<Self::Both>,
        d: &ArrayRef2<Self::Both>,
        b: &ArrayRef2<R>,
        da: ArrayCells<'_, Self, Ix2>,
    );
    /// *Ḃ += Aᵀ·Ċ*
    fn pull_right(
        into: &mut IntoShadow<Self::Both>,
        a: &ArrayRef2<Self>,
        d: &ArrayRef2<Self::Both>,
        db: ArrayCells<'_, R, Ix2>,
    );
}

impl<T: Entry> Meets<T> for T {
    type Both = T;

    #[inline(always)]
    fn of_left(self) -> T {
        self
    }
    #[inline(always)]
    fn of_right(right: T) -> T {
        right
    }
    #[inline(always)]
    fn to_left(cell: &Cell<T>, d: T) {
        cell.accumulate(d);
    }
    #[inline(always)]
    fn to_right(cell: &Cell<T>, d: T) {
        cell.accumulate(d);
    }
    fn inner(x: &ArrayRef1<T>, y: &ArrayRef1<T>) -> T {
        x.dot(y)
    }
    fn by_vector(a: &ArrayRef2<T>, x: &ArrayRef1<T>, y: &mut ArrayRef1<T>) {
        general_mat_vec_mul(T::ONE, a, x, T::ZERO, y);
    }
    fn of_vector(x: &ArrayRef1<T>, a: &ArrayRef2<T>, y: &mut ArrayRef1<T>) {
        general_mat_vec_mul(T::ONE, &a.t(), x, T::ZERO, y);
    }
    fn by_matrix(a: &ArrayRef2<T>, b: &ArrayRef2<T>, c: &mut ArrayRef2<T>) {
        by_ndarray(a, b, c);
    }
    fn pull_left(into: &mut IntoShadow<T>, d: &ArrayRef2<T>, b: &ArrayRef2<T>, da: ArrayCells<'_, T, Ix2>) {
        into.add(T::ONE, d, &b.t(), da);
    }
    fn pull_right(into: &mut IntoShadow<T>, a: &ArrayRef2<T>, d: &ArrayRef2<T>, db: ArrayCells<'_, T, Ix2>) {
        into.add(T::ONE, &a.t(), d, db);
    }
}

/// In the order in which ndarray adds up, so that values are the same to the bit: eight sums side by side where elements are adjacent.
pub(super) fn inner<L: Copy + Mul<R, Output = B>, R: Copy, B: Entry>(
    x: &ArrayRef1<L>,
    y: &ArrayRef1<R>,
) -> B {
    assert_eq!(x.len(), y.len(), "vectors of different lengths have no inner product");
    let (Some(x), Some(y)) = (x.as_slice(), y.as_slice()) else {
        return x.iter().zip(y).fold(B::ZERO, |sum, (&x, &y)| sum + x * y);
    };
    let (x_by_eight, x_rest) = x.as_chunks::<8>();
    let (y_by_eight, y_rest) = y.as_chunks::<8>();
    let mut sums = [B::ZERO; 8];
    for (x, y) in x_by_eight.iter().zip(y_by_eight) {
        for (sum, (&x, &y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += x * y;
        }
    }
    let sum = (0..4).fold(B::ZERO, |sum, i| sum + (sums[i] + sums[i + 4]));
    x_rest.iter().zip(y_rest).fold(sum, |sum, (&x, &y)| sum + x * y)
}

fn by_vector<L: Meets<R>, R: Entry>(a: &ArrayRef2<L>, x: &ArrayRef1<R>, y: &mut ArrayRef1<L::Both>) {
    Zip::from(a.rows()).and(y).for_each(|row, y| *y = inner(&row, x));
}

fn of_vector<L: Meets<R>, R: Entry>(x: &ArrayRef1<L>, a: &ArrayRef2<R>, y: &mut ArrayRef1<L::Both>) {
    Zip::from(a.columns()).and(y).for_each(|column, y| *y = inner(x, &column));
}

impl<T: Float, const N: usize> Meets<f64> for DualNumber<T, N> {
    type Both = Self;

    #[inline(always)]
    fn of_left(self) -> Self {
        self
    }
    #[inline(always)]
    fn of_right(right: f64) -> Self {
        Self::constant(right)
    }
    #[inline(always)]
    fn to_left(cell: &Cell<Self>, d: Self) {
        cell.accumulate(d);
    }
    #[inline(always)]
    fn to_right(_: &Cell<f64>, _: Self) {}
    fn inner(x: &ArrayRef1<Self>, y: &ArrayRef1<f64>) -> Self {
        inner(x, y)
    }
    fn by_vector(a: &ArrayRef2<Self>, x: &ArrayRef1<f64>, y: &mut ArrayRef1<Self>) {
        by_vector(a, x, y);
    }
    fn of_vector(x: &ArrayRef1<Self>, a: &ArrayRef2<f64>, y: &mut ArrayRef1<Self>) {
        of_vector(x, a, y);
    }
    fn by_matrix(a: &ArrayRef2<Self>, b: &ArrayRef2<f64>, c: &mut ArrayRef2<Self>) {
        by_constants(a, b, c);
    }
    fn pull_left(
        _: &mut IntoShadow<Self>,
        d: &ArrayRef2<Self>,
        b: &ArrayRef2<f64>,
        da: ArrayCells<'_, Self, Ix2>,
    ) {
        IntoShadow::add_by_constants(d, &b.t(), da);
    }
    fn pull_right(
        _: &mut IntoShadow<Self>,
        _: &ArrayRef2<Self>,
        _: &ArrayRef2<Self>,
        _: ArrayCells<'_, f64, Ix2>,
    ) {
    }
}

impl<T: Float, const N: usize> Meets<DualNumber<T, N>> for f64 {
    type Both = DualNumber<T, N>;

    #[inline(always)]
    fn of_left(self) -> DualNumber<T, N> {
        DualNumber::constant(self)
    }
    #[inline(always)]
    fn of_right(right: DualNumber<T, N>) -> DualNumber<T, N> {
        right
    }
    #[inline(always)]
    fn to_left(_: &Cell<f64>, _: DualNumber<T, N>) {}
    #[inline(always)]
    fn to_right(cell: &Cell<DualNumber<T, N>>, d: DualNumber<T, N>) {
        cell.accumulate(d);
    }
    fn inner(x: &ArrayRef1<f64>, y: &ArrayRef1<DualNumber<T, N>>) -> DualNumber<T, N> {
        inner(x, y)
    }
    fn by_vector(a: &ArrayRef2<f64>, x: &ArrayRef1<DualNumber<T, N>>, y: &mut ArrayRef1<DualNumber<T, N>>) {
        by_vector(a, x, y);
    }
    fn of_vector(x: &ArrayRef1<f64>, a: &ArrayRef2<DualNumber<T, N>>, y: &mut ArrayRef1<DualNumber<T, N>>) {
        of_vector(x, a, y);
    }
    /// *Cᵀ ← Bᵀ·Aᵀ*
    fn by_matrix(a: &ArrayRef2<f64>, b: &ArrayRef2<DualNumber<T, N>>, c: &mut ArrayRef2<DualNumber<T, N>>) {
        by_constants(&b.t(), &a.t(), &mut c.view_mut().reversed_axes());
    }
    fn pull_left(
        _: &mut IntoShadow<DualNumber<T, N>>,
        _: &ArrayRef2<DualNumber<T, N>>,
        _: &ArrayRef2<DualNumber<T, N>>,
        _: ArrayCells<'_, f64, Ix2>,
    ) {
    }
    /// *Ḃᵀ += Ċᵀ·A*
    fn pull_right(
        _: &mut IntoShadow<DualNumber<T, N>>,
        a: &ArrayRef2<f64>,
        d: &ArrayRef2<DualNumber<T, N>>,
        db: ArrayCells<'_, DualNumber<T, N>, Ix2>,
    ) {
        IntoShadow::add_by_constants(&d.t(), a, db.reversed_axes());
    }
}
