//! Matrices of the version of nalgebra that solvers have.

use nalgebra_0_34::DMatrix;
use ndarray::ArrayView2;

/// A copy.
pub(super) fn matrix(matrix: ArrayView2<'_, f64>) -> DMatrix<f64> {
    let (rows, columns) = matrix.dim();
    DMatrix::from_row_iterator(rows, columns, matrix.iter().copied())
}
