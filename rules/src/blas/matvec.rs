//! Matrices times vectors: one pass over the matrix, in the order of memory.

use super::backend::{MatMul, MatrixScalar, Product};
use super::operand::Operand;
use super::vectorised::{Kernel, vectorised};

/// The back end for products of one column, if the elements of the matrix are adjacent along some axis.
pub(super) struct MatVec;

/// As many elements of a vector are gathered on the stack at a time.
const CHUNK: usize = 512;

/// As many rows or columns are run through together, so that the vector is loaded once for all of them.
const TOGETHER: usize = 4;

impl<T: MatrixScalar> MatMul<T> for MatVec {
    fn takes(&self, Product { a, c, .. }: &Product<'_, T>) -> bool {
        c.columns == 1 && (a.row_stride == 1 || a.column_stride == 1)
    }

    unsafe fn run(&mut self, product: &Product<'_, T>) {
        let Product { alpha, a, b: x, beta, c: y, .. } = *product;
        // SAFETY: as the caller guarantees. A part of a row or column with adjacent elements is a slice, and `y` is no part of it.
        unsafe {
            product.keep();
            if a.row_stride == 1 {
                by_columns(alpha, a, x, beta, y);
            } else {
                by_rows(alpha, a, x, beta, y);
            }
        }
    }
}

/// # Safety
/// As for [`MatMul::run`]; the rows of A are adjacent.
unsafe fn by_columns<T: MatrixScalar>(
    alpha: T,
    a: Operand<'_, T>,
    x: Operand<'_, T>,
    beta: T,
    y: Operand<'_, T>,
) {
    for first in (0..a.rows).step_by(CHUNK) {
        let len = CHUNK.min(a.rows - first);
        let mut sums = [T::ZERO; CHUNK];
        let sums = &mut sums[..len];
        // SAFETY: as the caller guarantees.
        unsafe {
            let column = |j| std::slice::from_raw_parts(a.at(first, j), len);
            let whole = a.columns - a.columns % TOGETHER;
            for j in (0..whole).step_by(TOGETHER) {
                let columns = std::array::from_fn(|k| column(j + k));
                let factors = std::array::from_fn(|k| *x.at(j + k, 0));
                vectorised(AddColumns::<T, TOGETHER> { columns, factors, sums });
            }
            for j in whole..a.columns {
                vectorised(AddColumns { columns: [column(j)], factors: [*x.at(j, 0)], sums });
            }
            for (i, &sum) in sums.iter().enumerate() {
                write(y.at(first + i, 0), alpha * sum, beta);
            }
        }
    }
}

/// # Safety
/// As for [`MatMul::run`]; the columns of A are adjacent.
unsafe fn by_rows<T: MatrixScalar>(
    alpha: T,
    a: Operand<'_, T>,
    x: Operand<'_, T>,
    beta: T,
    y: Operand<'_, T>,
) {
    let mut gathered = [T::ZERO; CHUNK];
    let adjacent = x.row_stride == 1;
    let step = if adjacent { a.columns } else { CHUNK };
    for first in (0..a.columns).step_by(step) {
        let len = step.min(a.columns - first);
        // SAFETY: as the caller guarantees.
        unsafe {
            let x = if adjacent {
                std::slice::from_raw_parts(x.at(first, 0), len)
            } else {
                (0..len).for_each(|j| gathered[j] = *x.at(first + j, 0));
                &gathered[..len]
            };
            let row = |i| std::slice::from_raw_parts(a.at(i, first), len);
            // What came before is in y already.
            let beta = if first == 0 { beta } else { T::ONE };
            let whole = a.rows - a.rows % TOGETHER;
            for i in (0..whole).step_by(TOGETHER) {
                let rows = std::array::from_fn(|k| row(i + k));
                let sums = vectorised(Dots::<T, TOGETHER> { rows, x });
                for (k, sum) in sums.into_iter().enumerate() {
                    write(y.at(i + k, 0), alpha * sum, beta);
                }
            }
            for i in whole..a.rows {
                let [sum] = vectorised(Dots { rows: [row(i)], x });
                write(y.at(i, 0), alpha * sum, beta);
            }
        }
    }
}

/// *y ← sum + β·y*
///
/// # Safety
/// The place is valid.
#[inline(always)]
unsafe fn write<T: MatrixScalar>(y: *mut T, sum: T, beta: T) {
    // SAFETY: as the caller guarantees.
    unsafe { *y = if beta.is_zero() { sum } else { sum + beta.scaling(*y) } }
}

struct AddColumns<'a, T, const N: usize> {
    columns: [&'a [T]; N],
    factors: [T; N],
    sums: &'a mut [T],
}

impl<T: MatrixScalar, const N: usize> Kernel for AddColumns<'_, T, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let len = self.sums.len();
        let columns = self.columns.map(|column| &column[..len]);
        for i in 0..len {
            let mut sum = self.sums[i];
            for k in 0..N {
                sum += self.factors[k] * columns[k][i];
            }
            self.sums[i] = sum;
        }
    }
}

struct Dots<'a, T, const N: usize> {
    rows: [&'a [T]; N],
    x: &'a [T],
}

impl<T: MatrixScalar, const N: usize> Kernel for Dots<'_, T, N> {
    type Output = [T; N];

    #[inline(always)]
    fn run(self) -> [T; N] {
        const LANES: usize = 8;
        let (x, x_rest) = self.x.as_chunks::<LANES>();
        let rows = self.rows.map(|row| row.as_chunks::<LANES>());
        let mut lanes = [[T::ZERO; LANES]; N];
        for (j, x) in x.iter().enumerate() {
            for (lanes, row) in lanes.iter_mut().zip(&rows) {
                // As a value: nothing in it is checked or written meanwhile, so that the loop becomes vectors.
                let row = row.0[j];
                for lane in 0..LANES {
                    lanes[lane] += row[lane] * x[lane];
                }
            }
        }
        let mut sums = [T::ZERO; N];
        for k in 0..N {
            let rest = rows[k].1.iter().zip(x_rest).fold(T::ZERO, |sum, (&a, &x)| sum + a * x);
            sums[k] = lanes[k].into_iter().fold(rest, |sum, x| sum + x);
        }
        sums
    }
}

/// *y += α·S·x*, with the symmetric matrix *S* whose lower triangle is *L*, except that its diagonal is that of *L* times
/// `diagonal`: each element of *L* is read once. Says whether the layout allows it.
///
/// # Safety
/// The operands are valid, `y` for writes, and fit. `y` overlaps neither of the others.
pub(super) unsafe fn symmetric<T: MatrixScalar>(
    alpha: T,
    l: Operand<'_, T>,
    diagonal: T,
    x: Operand<'_, T>,
    y: Operand<'_, T>,
) -> bool {
    let n = l.rows;
    if x.columns != 1 || x.row_stride != 1 || y.row_stride != 1 {
        return false;
    }
    let by_rows = l.column_stride == 1;
    if !by_rows && l.row_stride != 1 {
        return false;
    }
    // SAFETY: as the caller guarantees. What is left of or below an element of the diagonal has adjacent elements.
    unsafe {
        let (x, y) = (std::slice::from_raw_parts(x.pointer, n), std::slice::from_raw_parts_mut(y.pointer, n));
        for i in 0..n {
            let range = if by_rows { 0..i } else { i + 1..n };
            let line = match (by_rows, range.is_empty()) {
                (_, true) => &[],
                (true, _) => std::slice::from_raw_parts(l.at(i, 0), range.len()),
                (false, _) => std::slice::from_raw_parts(l.at(i + 1, i), range.len()),
            };
            let (x_part, y_part) = (&x[range.clone()], &mut y[range]);
            let sum = vectorised(DotAndAdd { line, x: x_part, factor: alpha * x[i], y: y_part });
            y[i] += alpha * (sum + diagonal * *l.at(i, i) * x[i]);
        }
    }
    true
}

/// *y += factor·line*, and ⟨line, x⟩.
struct DotAndAdd<'a, T> {
    line: &'a [T],
    x: &'a [T],
    factor: T,
    y: &'a mut [T],
}

impl<T: MatrixScalar> Kernel for DotAndAdd<'_, T> {
    type Output = T;

    #[inline(always)]
    fn run(self) -> T {
        const LANES: usize = 16;
        let (line, line_rest) = self.line.as_chunks::<LANES>();
        let (x, x_rest) = self.x.as_chunks::<LANES>();
        let (y, y_rest) = self.y.as_chunks_mut::<LANES>();
        let mut lanes = [T::ZERO; LANES];
        for ((line, x), y) in line.iter().zip(x).zip(y) {
            // As values, which nobody writes meanwhile.
            let (line, x, mut new_y) = (*line, *x, *y);
            for lane in 0..LANES {
                lanes[lane] += line[lane] * x[lane];
            }
            for lane in 0..LANES {
                new_y[lane] += self.factor * line[lane];
            }
            *y = new_y;
        }
        let mut sum = T::ZERO;
        for ((&l, &x), y) in line_rest.iter().zip(x_rest).zip(y_rest) {
            sum += l * x;
            *y += self.factor * l;
        }
        lanes.into_iter().fold(sum, |sum, x| sum + x)
    }
}
