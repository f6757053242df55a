//! Methods of matrices of static dimensions, and their pullbacks. *⟨A, B⟩* is the sum of all *aᵢⱼ·bᵢⱼ*.

use nalgebra::{Const, DimMin, SMatrix, SVector};

use super::Entry;
use super::rule::{Add, rules};
use crate::function::{ConstVal, Ref, Val};

rules! {
    /// *y = ⟨A, B⟩: Ȧ = ẏ·B, Ḃ = ẏ·A*
    Dot[R C], DotRule for SMatrix<T, R, C>:
    dot_has_no_rule_mark_its_impl_differentiable(&self a, b: Ref<SMatrix<T, R, C>>) -> T = a.dot(b);
    |d, da, db| (da.add(|| b * d), db.add(|| a * d));

    /// *y = a × b: ȧ = b × ẏ, ḃ = ẏ × a*
    Cross[R C], CrossRule for SMatrix<T, R, C>:
    cross_has_no_rule_mark_its_impl_differentiable(&self a, b: Ref<SMatrix<T, R, C>>) -> SMatrix<T, R, C> = a.cross(b);
    |d, da, db| (da.add(|| b.cross(&d)), db.add(|| d.cross(a)));

    /// *y = ‖A‖: Ȧ = ẏ·A/y*, and zero at zero
    Norm[R C], NormRule for SMatrix<T, R, C>:
    norm_has_no_rule_mark_its_impl_differentiable(&self a) -> T = a.norm();
    keeps y;
    |d, da| (da.add(|| along(a, y) * d),);

    /// As `Norm`.
    Magnitude[R C], MagnitudeRule for SMatrix<T, R, C>:
    magnitude_has_no_rule_mark_its_impl_differentiable(&self a) -> T = a.magnitude();
    keeps y;
    |d, da| (da.add(|| along(a, y) * d),);

    /// *y = ⟨A, A⟩: Ȧ = 2ẏ·A*
    NormSquared[R C], NormSquaredRule for SMatrix<T, R, C>:
    norm_squared_has_no_rule_mark_its_impl_differentiable(&self a) -> T = a.norm_squared();
    |d, da| (da.add(|| a * (d + d)),);

    /// As `NormSquared`.
    MagnitudeSquared[R C], MagnitudeSquaredRule for SMatrix<T, R, C>:
    magnitude_squared_has_no_rule_mark_its_impl_differentiable(&self a) -> T = a.magnitude_squared();
    |d, da| (da.add(|| a * (d + d)),);

    /// *y = ‖A - B‖: Ȧ = ẏ·(A - B)/y, Ḃ = -Ȧ*, and zero at zero
    MetricDistance[R C], MetricDistanceRule for SMatrix<T, R, C>:
    metric_distance_has_no_rule_mark_its_impl_differentiable(&self a, b: Ref<SMatrix<T, R, C>>) -> T = a.metric_distance(b);
    keeps y;
    |d, da, db| (da.add(|| along(&(a - b), y) * d), db.add(|| along(&(b - a), y) * d));

    /// *Y = A/‖A‖: Ȧ = (Ẏ - Y·⟨Y, Ẏ⟩)/‖A‖*
    Normalize[R C], NormalizeRule for SMatrix<T, R, C>:
    normalize_has_no_rule_mark_its_impl_differentiable(&self a) -> SMatrix<T, R, C> = a.normalize();
    keeps y;
    |d, da| (da.add(|| (d - y * y.dot(&d)) / a.norm()),);

    /// *Y = Aᵀ: Ȧ = Ẏᵀ*
    Transpose[R C], TransposeRule for SMatrix<T, R, C>:
    transpose_has_no_rule_mark_its_impl_differentiable(&self a) -> SMatrix<T, C, R> = a.transpose();
    |d, da| (da.add(|| d.transpose()),);

    /// *y = tr A: Ȧ = ẏ·I*
    Trace[N], TraceRule for SMatrix<T, N, N>:
    trace_has_no_rule_mark_its_impl_differentiable(&self a) -> T = a.trace();
    |d, da| (da.add(|| SMatrix::from_diagonal_element(d)),);

    /// *y = Σ aᵢⱼ: ȧᵢⱼ = ẏ*
    Sum[R C], SumRule for SMatrix<T, R, C>:
    sum_has_no_rule_mark_its_impl_differentiable(&self a) -> T = a.sum();
    |d, da| (da.add(|| SMatrix::repeat(d)),);

    /// *y = Σ aᵢⱼ/n: ȧᵢⱼ = ẏ/n*
    Mean[R C], MeanRule for SMatrix<T, R, C>:
    mean_has_no_rule_mark_its_impl_differentiable(&self a) -> T = a.mean();
    |d, da| (da.add(|| SMatrix::repeat(d / nalgebra::convert((R * C) as f64))),);

    /// *y* is the greatest entry: the first one of equals alone has the gradient.
    Max[R C], MaxRule for SMatrix<T, R, C>:
    max_has_no_rule_mark_its_impl_differentiable(&self a) -> T = a.max();
    keeps y;
    |d, da| (da.add(|| at_first(a, y, d)),);

    /// Likewise the least one.
    Min[R C], MinRule for SMatrix<T, R, C>:
    min_has_no_rule_mark_its_impl_differentiable(&self a) -> T = a.min();
    keeps y;
    |d, da| (da.add(|| at_first(a, y, d)),);

    /// *yᵢⱼ = aᵢⱼ·bᵢⱼ: ȧᵢⱼ = ẏᵢⱼ·bᵢⱼ, ḃᵢⱼ = ẏᵢⱼ·aᵢⱼ*
    ComponentMul[R C], ComponentMulRule for SMatrix<T, R, C>:
    component_mul_has_no_rule_mark_its_impl_differentiable(&self a, b: Ref<SMatrix<T, R, C>>) -> SMatrix<T, R, C>
        = a.component_mul(b);
    |d, da, db| (da.add(|| d.component_mul(b)), db.add(|| d.component_mul(a)));

    /// *yᵢⱼ = aᵢⱼ/bᵢⱼ: ȧᵢⱼ = ẏᵢⱼ/bᵢⱼ, ḃᵢⱼ = -ẏᵢⱼ·yᵢⱼ/bᵢⱼ*
    ComponentDiv[R C], ComponentDivRule for SMatrix<T, R, C>:
    component_div_has_no_rule_mark_its_impl_differentiable(&self a, b: Ref<SMatrix<T, R, C>>) -> SMatrix<T, R, C>
        = a.component_div(b);
    keeps y;
    |d, da, db| (da.add(|| d.component_div(b)), db.add(|| -d.component_mul(&y).component_div(b)));

    /// *Y = s·A: Ȧ = s·Ẏ, ṡ = ⟨A, Ẏ⟩*
    Scale[R C], ScaleRule for SMatrix<T, R, C>:
    scale_has_no_rule_mark_its_impl_differentiable(&self a, s: Val<T>) -> SMatrix<T, R, C> = a.scale(s);
    |d, da, _ds| (da.add(|| d * s), a.dot(&d));

    /// *Y = A/s: Ȧ = Ẏ/s, ṡ = -⟨Y, Ẏ⟩/s*
    Unscale[R C], UnscaleRule for SMatrix<T, R, C>:
    unscale_has_no_rule_mark_its_impl_differentiable(&self a, s: Val<T>) -> SMatrix<T, R, C> = a.unscale(s);
    |d, da, _ds| (da.add(|| d / s), -(a / s).dot(&d) / s);

    /// *yᵢⱼ = aᵢⱼ + s: Ȧ = Ẏ, ṡ = Σ ẏᵢⱼ*
    AddScalar[R C], AddScalarRule for SMatrix<T, R, C>:
    add_scalar_has_no_rule_mark_its_impl_differentiable(&self a, s: Val<T>) -> SMatrix<T, R, C> = a.add_scalar(s);
    |d, da, _ds| (da.add(|| d), d.sum());

    /// *y = (1 - t)·a + t·b: ȧ = (1 - t)·ẏ, ḃ = t·ẏ, ṫ = ⟨b - a, ẏ⟩*
    Lerp[R], LerpRule for SVector<T, R>:
    lerp_has_no_rule_mark_its_impl_differentiable(&self a, b: Ref<SVector<T, R>>, t: Val<T>) -> SVector<T, R> = a.lerp(b, t);
    |d, da, db, _dt| (da.add(|| d - d * t), db.add(|| d * t), (b - a).dot(&d));

    /// *Y = Aᵀ·B: Ȧ = B·Ẏᵀ, Ḃ = A·Ẏ*
    TrMul[K R C], TrMulRule for SMatrix<T, K, R>:
    tr_mul_has_no_rule_mark_its_impl_differentiable(&self a, b: Ref<SMatrix<T, K, C>>) -> SMatrix<T, R, C> = a.tr_mul(b);
    |d, da, db| (da.add(|| b * d.transpose()), db.add(|| a * d));

    /// *Y = A⁻¹: Ȧ = -Yᵀ·Ẏ·Yᵀ*, from *dY = -A⁻¹·dA·A⁻¹*
    TryInverse[N], TryInverseRule for SMatrix<T, N, N>:
    try_inverse_has_no_rule_mark_its_impl_differentiable(&self a) -> Option<SMatrix<T, N, N>> = a.try_inverse();
    keeps y;
    |d, da| (if let Some(y) = y { da.add(|| -(y.transpose() * d * y.transpose())) },);

    /// *y = det A: Ȧ = ẏ·cof A*, which is *ẏ·y·A⁻ᵀ* where there is an inverse
    Determinant[N] where [Const<N>: DimMin<Const<N>, Output = Const<N>>], DeterminantRule for SMatrix<T, N, N>:
    determinant_has_no_rule_mark_its_impl_differentiable(&self a) -> T = a.determinant();
    keeps y;
    |d, da| (da.add(|| cofactors(a, y) * d),);

    /// *y = aᵢᵢ: ȧᵢᵢ = ẏᵢ*
    Diagonal[N], DiagonalRule for SMatrix<T, N, N>:
    diagonal_has_no_rule_mark_its_impl_differentiable(&self a) -> SVector<T, N> = a.diagonal();
    |d, da| (da.add(|| SMatrix::from_diagonal(&d)),);

    /// The matrix for which *Y·w = v × w*: *v̇ = Σ eᵢ × ẏᵢ*, over its columns
    CrossMatrix[], CrossMatrixRule for SVector<T, 3>:
    cross_matrix_has_no_rule_mark_its_impl_differentiable(&self a) -> SMatrix<T, 3, 3> = a.cross_matrix();
    |d, da| (da.add(|| SVector::<T, 3>::new(d.m32 - d.m23, d.m13 - d.m31, d.m21 - d.m12)),);

    /// A copy; nalgebra's own yields a view. *ẏ* goes to where *y* is from.
    Column[R C], ColumnRule for SMatrix<T, R, C>:
    column_has_no_rule_mark_its_impl_differentiable(&self a, j: ConstVal<usize>) -> SVector<T, R> = a.column(j).into_owned();
    |d, da, _dj| (da.add(|| placed(&d, 0, j)), ());

    /// As `Column`.
    Row[R C], RowRule for SMatrix<T, R, C>:
    row_has_no_rule_mark_its_impl_differentiable(&self a, i: ConstVal<usize>) -> SMatrix<T, 1, C> = a.row(i).into_owned();
    |d, da, _di| (da.add(|| placed(&d, i, 0)), ());

    /// As `Column`.
    FixedView[R C]<H W>, FixedViewRule for SMatrix<T, R, C>:
    fixed_view_has_no_rule_mark_its_impl_differentiable(&self a, i: ConstVal<usize>, j: ConstVal<usize>) -> SMatrix<T, H, W>
        = a.fixed_view::<H, W>(i, j).into_owned();
    |d, da, _di, _dj| (da.add(|| placed(&d, i, j)), (), ());

    /// As `Column`.
    FixedRows[R C]<H>, FixedRowsRule for SMatrix<T, R, C>:
    fixed_rows_has_no_rule_mark_its_impl_differentiable(&self a, i: ConstVal<usize>) -> SMatrix<T, H, C>
        = a.fixed_rows::<H>(i).into_owned();
    |d, da, _di| (da.add(|| placed(&d, i, 0)), ());

    /// As `Column`.
    FixedColumns[R C]<W>, FixedColumnsRule for SMatrix<T, R, C>:
    fixed_columns_has_no_rule_mark_its_impl_differentiable(&self a, j: ConstVal<usize>) -> SMatrix<T, R, W>
        = a.fixed_columns::<W>(j).into_owned();
    |d, da, _dj| (da.add(|| placed(&d, 0, j)), ());

    /// A copy.
    IntoOwned[R C], IntoOwnedRule for SMatrix<T, R, C>:
    into_owned_has_no_rule_mark_its_impl_differentiable(&self a) -> SMatrix<T, R, C> = *a;
    |d, da| (da.add(|| d),);

    /// A copy.
    CloneOwned[R C], CloneOwnedRule for SMatrix<T, R, C>:
    clone_owned_has_no_rule_mark_its_impl_differentiable(&self a) -> SMatrix<T, R, C> = *a;
    |d, da| (da.add(|| d),);
}

/// *A/y* for *y = ‖A‖*; zero for zero.
fn along<T: Entry, const R: usize, const C: usize>(a: &SMatrix<T, R, C>, y: T) -> SMatrix<T, R, C> {
    if y == nalgebra::zero() { SMatrix::zeros() } else { a / y }
}

/// Zero but for `part`, which begins at (i, j).
fn placed<T: Entry, const R: usize, const C: usize, const H: usize, const W: usize>(
    part: &SMatrix<T, H, W>,
    i: usize,
    j: usize,
) -> SMatrix<T, R, C> {
    let mut whole = SMatrix::<T, R, C>::zeros();
    whole.fixed_view_mut::<H, W>(i, j).copy_from(part);
    whole
}

/// The matrix of cofactors of `a`, whose determinant is `y`: at (i, j) the determinant of `a` with a unit vector as row i.
fn cofactors<T: Entry, const N: usize>(a: &SMatrix<T, N, N>, y: T) -> SMatrix<T, N, N>
where
    Const<N>: DimMin<Const<N>, Output = Const<N>>,
{
    if N > 3
        && let Some(inverse) = a.try_inverse()
    {
        return inverse.transpose() * y;
    }
    SMatrix::from_fn(|i, j| {
        let mut minor = *a;
        minor.row_mut(i).fill(nalgebra::zero());
        minor[(i, j)] = nalgebra::one();
        minor.determinant()
    })
}

/// `d` where `a` is `y` first, and zeros.
fn at_first<T: Entry, const R: usize, const C: usize>(a: &SMatrix<T, R, C>, y: T, d: T) -> SMatrix<T, R, C> {
    let mut gradient = SMatrix::zeros();
    if let Some(k) = a.iter().position(|&a| a == y) {
        gradient[k] = d;
    }
    gradient
}
