//! Sums and products of elements, for matrices and vectors in any layout.

use super::backend::MatrixScalar;
use super::operand::Operand;
use super::vectorised::{Kernel, vectorised};

/// Elements at equal distances.
#[derive(Clone, Copy)]
struct Line<T> {
    pointer: *mut T,
    stride: isize,
    len: usize,
}

impl<T> Line<T> {
    /// # Safety
    /// The index is less than the length.
    #[inline(always)]
    unsafe fn at(self, i: usize) -> *mut T {
        // SAFETY: as the caller guarantees.
        unsafe { self.pointer.offset(i as isize * self.stride) }
    }

    /// # Safety
    /// The elements are valid and not written as long as the slice is used.
    #[inline(always)]
    unsafe fn slice<'a>(self) -> Option<&'a [T]> {
        // SAFETY: as the caller guarantees.
        (self.stride == 1).then(|| unsafe { std::slice::from_raw_parts(self.pointer, self.len) })
    }
}

/// Calls `each` with pairs of lines that make up two matrices of one shape, along what is nearest in the second.
#[inline(always)]
fn lines<T>(x: Operand<'_, T>, y: Operand<'_, T>, mut each: impl FnMut(Line<T>, Line<T>)) {
    assert!(x.rows == y.rows && x.columns == y.columns, "a shadow has the shape of its primal");
    if y.rows == 0 || y.columns == 0 {
        return;
    }
    let (mut x, mut y) = if y.by_rows() { (x.t(), y.t()) } else { (x, y) };
    if y.row_stride < 0 {
        (x, y) = (x.reverse_rows(), y.reverse_rows());
    }
    if y.column_stride < 0 {
        (x, y) = (x.reverse_columns(), y.reverse_columns());
    }
    let goes_on = |m: Operand<'_, T>| m.column_stride == m.rows as isize * m.row_stride;
    let (columns, len) =
        if y.columns > 1 && goes_on(x) && goes_on(y) { (1, y.rows * y.columns) } else { (y.columns, y.rows) };
    let line = |m: Operand<'_, T>, j: usize| Line {
        pointer: m.pointer.wrapping_offset(j as isize * m.column_stride),
        stride: m.row_stride,
        len,
    };
    for j in 0..columns {
        each(line(x, j), line(y, j));
    }
}

/// ⟨x, y⟩, the sum of the products of elements.
///
/// # Safety
/// The operands are valid.
#[inline]
pub(super) unsafe fn inner<T: MatrixScalar>(x: Operand<'_, T>, y: Operand<'_, T>) -> T {
    let mut sum = T::ZERO;
    lines(x, y, |x, y| {
        // SAFETY: the lines are within the operands, which nobody writes to meanwhile.
        unsafe {
            sum += match (x.slice(), y.slice()) {
                (Some(x), Some(y)) => dot(x, y),
                _ => (0..x.len).fold(T::ZERO, |sum, i| sum + *x.at(i) * *y.at(i)),
            };
        }
    });
    sum
}

/// *y += α·x*. Elements of *y* may share a place.
///
/// # Safety
/// The operands are valid, `y` for writes, and do not overlap each other.
#[inline]
pub(super) unsafe fn add<T: MatrixScalar>(alpha: T, x: Operand<'_, T>, y: Operand<'_, T>) {
    lines(x, y, |x, y| {
        // SAFETY: the lines are within the operands. One of unit stride does not share places with itself.
        unsafe {
            match x.slice() {
                Some(x) if y.stride == 1 => {
                    axpy(alpha, x, std::slice::from_raw_parts_mut(y.pointer, y.len));
                }
                _ => (0..x.len).for_each(|i| *y.at(i) += alpha * *x.at(i)),
            }
        }
    });
}

/// The sum of products, on several lanes because each addition waits for the one before it.
#[inline]
pub(super) fn dot<T: MatrixScalar>(x: &[T], y: &[T]) -> T {
    vectorised(Dot { x, y })
}

struct Dot<'a, T> {
    x: &'a [T],
    y: &'a [T],
}

impl<T: MatrixScalar> Kernel for Dot<'_, T> {
    type Output = T;

    #[inline(always)]
    fn run(self) -> T {
        const LANES: usize = 16;
        let (x, x_rest) = self.x.as_chunks::<LANES>();
        let (y, y_rest) = self.y.as_chunks::<LANES>();
        let mut sums = [T::ZERO; LANES];
        for (x, y) in x.iter().zip(y) {
            for lane in 0..LANES {
                sums[lane] += x[lane] * y[lane];
            }
        }
        let rest = x_rest.iter().zip(y_rest).fold(T::ZERO, |sum, (&x, &y)| sum + x * y);
        sums.into_iter().fold(rest, |sum, x| sum + x)
    }
}

/// *y += α·x*
#[inline]
pub(super) fn axpy<T: MatrixScalar>(alpha: T, x: &[T], y: &mut [T]) {
    vectorised(Axpy { alpha, x, y });
}

struct Axpy<'a, T> {
    alpha: T,
    x: &'a [T],
    y: &'a mut [T],
}

impl<T: MatrixScalar> Kernel for Axpy<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.y.iter_mut().zip(self.x).for_each(|(y, &x)| *y += self.alpha * x);
    }
}

/// The elements of a vector, in order.
///
/// # Safety
/// It is valid as long as the iterator is used.
#[inline]
pub(super) unsafe fn elements<T: MatrixScalar>(x: Operand<'_, T>) -> impl Iterator<Item = T> {
    // SAFETY: the index is within the shape.
    (0..x.rows).map(move |i| unsafe { *x.at(i, 0) })
}

/// The sum of what `f` makes of each element, on several lanes.
///
/// # Safety
/// The operand is valid.
#[inline]
pub(super) unsafe fn sum_of<T: MatrixScalar>(x: Operand<'_, T>, f: impl Fn(T) -> T + Copy) -> T {
    let mut sum = T::ZERO;
    lines(x, x, |x, _| {
        // SAFETY: the line is within the operand, which nobody writes to meanwhile.
        unsafe {
            sum += match x.slice() {
                Some(x) => vectorised(SumOf { x, f }),
                None => (0..x.len).fold(T::ZERO, |sum, i| sum + f(*x.at(i))),
            };
        }
    });
    sum
}

struct SumOf<'a, T, F> {
    x: &'a [T],
    f: F,
}

impl<T: MatrixScalar, F: Fn(T) -> T> Kernel for SumOf<'_, T, F> {
    type Output = T;

    #[inline(always)]
    fn run(self) -> T {
        const LANES: usize = 16;
        let (x, rest) = self.x.as_chunks::<LANES>();
        let mut sums = [T::ZERO; LANES];
        for x in x {
            for lane in 0..LANES {
                sums[lane] += (self.f)(x[lane]);
            }
        }
        let rest = rest.iter().fold(T::ZERO, |sum, &x| sum + (self.f)(x));
        sums.into_iter().fold(rest, |sum, x| sum + x)
    }
}
