//! Constructors of matrices of static dimensions.

use nalgebra::{SMatrix, SVector};

use super::Entry;
use super::rule::{Add, add_each, rules};
use crate::function::{Ref, Val};

rules! {
    /// *yᵢⱼ = s: ṡ = Σ ẏᵢⱼ*
    FromElement[R C], FromElementRule for SMatrix<T, R, C>:
    from_element_has_no_rule_mark_its_impl_differentiable(s: Val<T>) -> SMatrix<T, R, C> = SMatrix::from_element(s);
    |d, _ds| (d.sum(),);

    /// As `FromElement`.
    Repeat[R C], RepeatRule for SMatrix<T, R, C>:
    repeat_has_no_rule_mark_its_impl_differentiable(s: Val<T>) -> SMatrix<T, R, C> = SMatrix::repeat(s);
    |d, _ds| (d.sum(),);

    /// *yᵢᵢ = vᵢ: v̇ᵢ = ẏᵢᵢ*
    FromDiagonal[N], FromDiagonalRule for SMatrix<T, N, N>:
    from_diagonal_has_no_rule_mark_its_impl_differentiable(v: Ref<SVector<T, N>>) -> SMatrix<T, N, N>
        = SMatrix::from_diagonal(v);
    |d, dv| (dv.add(|| d.diagonal()),);

    /// *Y = s·I: ṡ = tr Ẏ*
    FromDiagonalElement[N], FromDiagonalElementRule for SMatrix<T, N, N>:
    from_diagonal_element_has_no_rule_mark_its_impl_differentiable(s: Val<T>) -> SMatrix<T, N, N>
        = SMatrix::from_diagonal_element(s);
    |d, _ds| (d.trace(),);

    /// Column by column.
    FromColumns[R C], FromColumnsRule for SMatrix<T, R, C>:
    from_columns_has_no_rule_mark_its_impl_differentiable(columns: Ref<[SVector<T, R>]>) -> SMatrix<T, R, C>
        = SMatrix::from_columns(columns);
    |d, dcolumns| (add_each(dcolumns, |j| d.column(j).into_owned()),);

    /// Row by row.
    FromRows[R C], FromRowsRule for SMatrix<T, R, C>:
    from_rows_has_no_rule_mark_its_impl_differentiable(rows: Ref<[SMatrix<T, 1, C>]>) -> SMatrix<T, R, C>
        = SMatrix::from_rows(rows);
    |d, drows| (add_each(drows, |i| d.row(i).into_owned()),);

    /// The entries of a slice, row by row.
    FromRowSlice[R C], FromRowSliceRule for SMatrix<T, R, C>:
    from_row_slice_has_no_rule_mark_its_impl_differentiable(x: Ref<[T]>) -> SMatrix<T, R, C> = SMatrix::from_row_slice(x);
    |d, dx| (add_each(dx, |k| d[(k / C, k % C)]),);

    /// The entries of a slice, column by column.
    FromColumnSlice[R C], FromColumnSliceRule for SMatrix<T, R, C>:
    from_column_slice_has_no_rule_mark_its_impl_differentiable(x: Ref<[T]>) -> SMatrix<T, R, C>
        = SMatrix::from_column_slice(x);
    |d, dx| (add_each(dx, |k| d[k]),);

    /// The entries of an array.
    From[N], FromRule for SVector<T, N>:
    from_has_no_rule_mark_its_impl_differentiable(x: Val<[T; N]>) -> SVector<T, N> = SVector::from(x);
    |d, _dx| (d.data.0[0],);
}
