//! Products of sparse and dense matrices.

use std::marker::PhantomData;

use ndarray::{Array, ArrayRef, ArrayRef1, Zip};

use super::cases::{Argument, Case, Kind};
use super::forms::forms;
use super::joins::Joins;
use super::packed::{Columns, Seed};
use super::pattern::Pattern;
use super::scalar::Number;
use crate::activation::Dual;
use crate::shadow::{Accumulate, ArrayCells};

forms! {
    /// *Y = A·X* for a sparse *A*, with `values` in the places of `pattern`.
    ///
    /// *A* is m×n, *X* a vector of n numbers or an n×k matrix, *Y* has m rows. All may have any layout.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg::{self, Pattern};
    ///
    /// let pattern = Pattern::new((2, 3), vec![0, 2, 3], vec![0, 2, 1]);
    /// let y = linalg::sparse_mul(&pattern, &array![1.0, 2.0, 3.0], &array![10.0, 20.0, 30.0]);
    /// assert_eq!(y, array![70.0, 60.0]);
    /// ```
    ///
    /// # Gradient
    /// *ȧₑ += Σₗ Ẏᵢₗ·Xⱼₗ* for entry e in row i and column j, and *Ẋ += Aᵀ·Ẏ* (Giles, *Collected matrix derivative results for forward and reverse
    /// mode algorithmic differentiation*, 2008, section 2.2.2). Nothing is saved.
    ///
    /// # Panics
    /// If the shapes do not fit, or if there is not one value for each entry.
    fn sparse_mul = SparseMul;
    /// *A·X* as of [`sparse_mul()`], written to `y`.
    ///
    /// # Panics
    /// As [`sparse_mul()`] does, and if `y` has another shape.
    fn sparse_mul_into = SparseMulInto;
    kernel SparseKernel<L: Joins<R>, R: Number, D: Columns>;
    constants (pattern: [&Pattern]);
    arguments (values: &ArrayRef1<L>, x: &ArrayRef<R, D>);
    result Array<L, D> / ArrayRef D;
}

forms! {
    /// *Y = Aᵀ·X* for a sparse *A*, with `values` in the places of `pattern`.
    ///
    /// *A* is m×n, *X* a vector of m numbers or an m×k matrix, *Y* has n rows. All may have any layout.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg::{self, Pattern};
    ///
    /// let pattern = Pattern::new((2, 3), vec![0, 2, 3], vec![0, 2, 1]);
    /// let y = linalg::sparse_mul_transposed(&pattern, &array![1.0, 2.0, 3.0], &array![10.0, 20.0]);
    /// assert_eq!(y, array![10.0, 60.0, 20.0]);
    /// ```
    ///
    /// # Gradient
    /// *ȧₑ += Σₗ Xᵢₗ·Ẏⱼₗ* for entry e in row i and column j, and *Ẋ += A·Ẏ*. Nothing is saved.
    ///
    /// # Panics
    /// If the shapes do not fit, or if there is not one value for each entry.
    fn sparse_mul_transposed = SparseMulTransposed;
    /// *Aᵀ·X* as of [`sparse_mul_transposed()`], written to `y`.
    ///
    /// # Panics
    /// As [`sparse_mul_transposed()`] does, and if `y` has another shape.
    fn sparse_mul_transposed_into = SparseMulTransposedInto;
    kernel TransposedKernel<L: Joins<R>, R: Number, D: Columns>;
    constants (pattern: [&Pattern]);
    arguments (values: &ArrayRef1<L>, x: &ArrayRef<R, D>);
    result Array<L, D> / ArrayRef D;
}

/// The shape of the product, which has `rows` rows.
fn shape<L, R, D: Columns>(
    function: &str,
    pattern: &Pattern,
    (rows, columns): (usize, usize),
    values: &ArrayRef1<L>,
    x: &ArrayRef<R, D>,
) -> D {
    let (entries, found) = (pattern.entries(), values.len());
    assert!(entries == found, "{function}: {found} values for {entries} entries");
    let found = x.shape()[0];
    assert!(columns == found, "{function}: {columns} rows are needed on the right, where {found} are");
    x.raw_dim().with_rows(rows)
}

macro_rules! kernel {
    ($Kernel:ident, |$i:ident, $j:ident| to $to:ident from $from:ident, $dimensions:expr) => {
        #[derive(Default)]
        struct $Kernel<L, R, D> {
            marker: PhantomData<(L, R, D)>,
        }

        impl<L: Joins<R>, R: Number, D: Columns> $Kernel<L, R, D> {
            fn shape(function: &str, pattern: &Pattern, values: &ArrayRef1<L>, x: &ArrayRef<R, D>) -> D {
                let dimensions: fn(&Pattern) -> (usize, usize) = $dimensions;
                shape(function, pattern, dimensions(pattern), values, x)
            }

            fn forward(
                &mut self,
                _: &str,
                pattern: &Pattern,
                values: &ArrayRef1<L>,
                x: &ArrayRef<R, D>,
                y: &mut ArrayRef<L, D>,
            ) {
                let (x, mut y) = (D::matrix(x.view()), D::matrix(y.view_mut()));
                y.fill(L::ZERO);
                for ($i, $j, e) in pattern.iter() {
                    let value = values[e];
                    Zip::from(y.row_mut($to))
                        .and(x.row($from))
                        .for_each(|y, &x| *y += value * L::of_right(x));
                }
            }

            fn pullback(
                &mut self,
                pattern: &Pattern,
                values: Dual<'_, ArrayRef1<L>>,
                x: Dual<'_, ArrayRef<R, D>>,
                seed: Seed<'_, L, D>,
            ) {
                let dx = x.shadow.get().and_then(L::right_cells).map(D::matrix);
                let (da, a) = (values.shadow.get(), values.value);
                let x = D::matrix(x.value.view());
                let pull = |$i: usize, $j: usize, e: usize, dy: &dyn Fn(usize, usize) -> L| {
                    if let Some(da) = &da {
                        da[e].accumulate(
                            (0..x.ncols()).map(|l| dy($to, l) * L::of_right(x[[$from, l]])).sum(),
                        );
                    }
                    if let Some(dx) = &dx {
                        (0..x.ncols()).for_each(|l| dx[[$from, l]].accumulate(a[e] * dy($to, l)));
                    }
                };
                match seed {
                    Seed::Lent(dy) => {
                        let dy = D::matrix(dy.view());
                        pattern.iter().for_each(|(i, j, e)| pull(i, j, e, &|i, l| dy[[i, l]]));
                    }
                    Seed::Cells(dy) => {
                        let dy: ArrayCells<'_, L, ndarray::Ix2> = D::matrix(dy);
                        pattern.iter().for_each(|(i, j, e)| pull(i, j, e, &|i, l| dy[[i, l]].get()));
                    }
                }
            }
        }
    };
}
kernel!(SparseKernel, |i, j| to i from j, |pattern| (pattern.rows(), pattern.columns()));
kernel!(TransposedKernel, |i, j| to j from i, |pattern| (pattern.columns(), pattern.rows()));

/// The values are as many as the pattern of the tests has entries.
pub(super) const CASES: &[Case] = &[
    Case {
        name: "sparse_mul",
        arguments: &[Argument::Matrix(Kind::Regular, 1, 2)],
        sizes: &[[3, 4, 2], [0, 3, 1], [1, 1, 1], [5, 2, 0], [20, 30, 3], [4, 0, 2]],
        allocations: 1,
        benchmark: &[[1000, 1000, 1], [1000, 1000, 8]],
    },
    Case {
        name: "sparse_mul_transposed",
        arguments: &[Argument::Matrix(Kind::Regular, 0, 2)],
        sizes: &[[3, 4, 2], [0, 3, 1], [1, 1, 1], [5, 2, 0], [20, 30, 3], [4, 0, 2]],
        allocations: 1,
        benchmark: &[[1000, 1000, 1], [1000, 1000, 8]],
    },
];
