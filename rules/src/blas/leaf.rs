//! What is left of triangular problems when all that is rectangular has been split off: blocks of a few rows.
//!
//! A block is copied to the stack, some columns at a time, such that the loops run over as many columns as fill vectors.

use super::backend::MatrixScalar;
use super::operand::Operand;
use super::triangular::Triangle;
use super::vectorised::{Kernel, vectorised};

/// The rows of a block at most.
pub(super) const ROWS: usize = 16;

/// The columns that are computed at a time.
const COLUMNS: usize = 16;

/// A lower triangle, by rows.
type Packed<T> = [[T; ROWS]; ROWS];

fn packed<T: MatrixScalar>(l: Triangle<'_, T>) -> Packed<T> {
    let mut packed = [[T::ZERO; ROWS]; ROWS];
    for i in 0..l.lower.rows {
        for j in 0..i + usize::from(!l.unit) {
            // SAFETY: the indices are within the shape, in the triangle that is referenced.
            packed[i][j] = unsafe { *l.lower.at(i, j) };
        }
    }
    packed
}

/// X ← L⁻¹·X
///
/// # Safety
/// The operands are valid, `x` for writes, and fit; they do not overlap; there are at most [`ROWS`] rows.
pub(super) unsafe fn solve<T: MatrixScalar>(l: Triangle<'_, T>, x: Operand<'_, T>) {
    // SAFETY: as the caller guarantees.
    unsafe { by_panels::<T, true>(l, x) }
}

/// X ← L·X
///
/// # Safety
/// As for [`solve`].
pub(super) unsafe fn multiply<T: MatrixScalar>(l: Triangle<'_, T>, x: Operand<'_, T>) {
    // SAFETY: as the caller guarantees.
    unsafe { by_panels::<T, false>(l, x) }
}

/// # Safety
/// As for [`solve`].
unsafe fn by_panels<T: MatrixScalar, const SOLVE: bool>(l: Triangle<'_, T>, x: Operand<'_, T>) {
    let triangle = packed(l);
    let (n, unit) = (x.rows, l.unit);
    for first in (0..x.columns).step_by(COLUMNS) {
        let panel = x.columns_in(first..x.columns.min(first + COLUMNS));
        // SAFETY: as the caller guarantees.
        unsafe {
            if panel.columns == 1 {
                let mut column = [[T::ZERO; 1]; ROWS];
                load(panel, &mut column);
                vectorised(Block::<T, 1, SOLVE> { n, unit, triangle: &triangle, rows: &mut column });
                store(&column, panel);
            } else {
                let mut rows = [[T::ZERO; COLUMNS]; ROWS];
                load(panel, &mut rows);
                vectorised(Block::<T, COLUMNS, SOLVE> { n, unit, triangle: &triangle, rows: &mut rows });
                store(&rows, panel);
            }
        }
    }
}

/// # Safety
/// The panel is valid and has room in the block.
#[inline]
unsafe fn load<T: MatrixScalar, const N: usize>(panel: Operand<'_, T>, block: &mut [[T; N]; ROWS]) {
    for i in 0..panel.rows {
        for j in 0..panel.columns {
            // SAFETY: the indices are within the shape.
            block[i][j] = unsafe { *panel.at(i, j) };
        }
    }
}

/// # Safety
/// The panel is valid for writes and has room in the block.
#[inline]
unsafe fn store<T: MatrixScalar, const N: usize>(block: &[[T; N]; ROWS], panel: Operand<'_, T>) {
    for i in 0..panel.rows {
        for j in 0..panel.columns {
            // SAFETY: the indices are within the shape.
            unsafe { *panel.at(i, j) = block[i][j] };
        }
    }
}

struct Block<'a, T, const N: usize, const SOLVE: bool> {
    n: usize,
    unit: bool,
    triangle: &'a Packed<T>,
    rows: &'a mut [[T; N]; ROWS],
}

impl<T: MatrixScalar, const N: usize, const SOLVE: bool> Kernel for Block<'_, T, N, SOLVE> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Block { n, unit, triangle, rows } = self;
        let n = n.min(ROWS);
        if SOLVE {
            for i in 0..n {
                let mut row = rows[i];
                for k in 0..i {
                    let factor = triangle[i][k];
                    for j in 0..N {
                        row[j] -= factor * rows[k][j];
                    }
                }
                if !unit {
                    row.iter_mut().for_each(|x| *x /= triangle[i][i]);
                }
                rows[i] = row;
            }
        } else {
            // From below, since a row depends on those above it.
            for i in (0..n).rev() {
                let mut row = rows[i];
                if !unit {
                    row.iter_mut().for_each(|x| *x *= triangle[i][i]);
                }
                for k in 0..i {
                    let factor = triangle[i][k];
                    for j in 0..N {
                        row[j] += factor * rows[k][j];
                    }
                }
                rows[i] = row;
            }
        }
    }
}
