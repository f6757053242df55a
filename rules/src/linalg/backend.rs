//! What decomposes matrices: faer, or LAPACK with the feature `openblas` where it takes a matrix.

use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::householder;
use faer::linalg::qr::no_pivoting as qr;
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Conj, MatMut, MatRef, diag::DiagMut};
use ndarray::{ArrayRef2, s};

#[cfg(feature = "openblas")]
use super::lapack;
use super::packed::{Packed, Scratch};
use super::scalar::sealed::ThinQr;
use super::scalar::{Number, Real, Structure, auto};
use crate::blas::products::parallelism;
use crate::heap::heap_size;

/// *A = L·Lᵀ*, in place, out of the lower triangle of *A*. Or which pivot is not positive.
pub(super) fn cholesky<T: Number>(a: &mut Packed<T>, scratch: &mut Scratch) -> Result<(), usize> {
    let n = a.rows();
    if n == 0 {
        return Ok(());
    }
    let (matrix, room) = a.get_mut_with_room();
    let done = T::cholesky(matrix, room, scratch);
    // faer uses the upper triangle for its own purposes.
    a.clear_upper();
    // A NaN is no pivot that faer minds.
    done.and_then(|()| (0..n).find(|&i| a.column(i)[i].is_nan()).map_or(Ok(()), Err))
}

/// *P·A = L·U*
#[derive(Default)]
pub(super) struct Lu<T> {
    /// L below the diagonal, where it has ones, and U.
    pub(super) factors: Packed<T>,
    rows: Vec<usize>,
    inverse: Vec<usize>,
    /// Whether *P* has determinant −1.
    pub(super) odd: bool,
}

impl<T: Number> Lu<T> {
    /// Decomposes what is in `factors`, which is square.
    pub(super) fn factor(&mut self, scratch: &mut Scratch) {
        let n = self.factors.rows();
        self.rows.resize(n, 0);
        self.inverse.resize(n, 0);
        self.odd = false;
        if n == 0 {
            return;
        }
        let (a, room) = self.factors.get_mut_with_room();
        self.odd = T::lu(a, &mut self.rows, &mut self.inverse, room, scratch) % 2 == 1;
    }

    /// Row i of *P·A* is this row of *A*.
    pub(super) fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The first pivot that is zero.
    pub(super) fn zero_pivot(&self) -> Option<usize> {
        (0..self.factors.rows()).find(|&i| self.factors.column(i)[i] == T::ZERO)
    }

    /// *B ← A⁻¹·B*, by way of `room`.
    pub(super) fn solve(&self, b: &mut Packed<T>, room: &mut Packed<T>) {
        permute(b, &self.rows, room);
        solve_triangular(self.factors.get(), Shape::UNIT_LOWER, b);
        solve_triangular(self.factors.get(), Shape::UPPER, b);
    }

    /// *B ← A⁻ᵀ·B*, by way of `room`.
    pub(super) fn solve_transposed(&self, b: &mut Packed<T>, room: &mut Packed<T>) {
        solve_triangular(self.factors.get().transpose(), Shape::LOWER, b);
        solve_triangular(self.factors.get().transpose(), Shape::UNIT_UPPER, b);
        permute(b, &self.inverse, room);
    }
}

/// Row i becomes what row `rows[i]` was.
fn permute<T: Number>(b: &mut Packed<T>, rows: &[usize], room: &mut Packed<T>) {
    room.resize(b.rows(), 1);
    for j in 0..b.columns() {
        room.column_mut(0).copy_from_slice(b.column(j));
        for (to, &from) in b.column_mut(j).iter_mut().zip(rows) {
            *to = room.column(0)[from];
        }
    }
}

/// What is read of a triangular matrix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    lower: bool,
    unit: bool,
}

impl Shape {
    pub(super) const LOWER: Shape = Shape { lower: true, unit: false };
    pub(super) const UPPER: Shape = Shape { lower: false, unit: false };
    pub(super) const UNIT_LOWER: Shape = Shape { lower: true, unit: true };
    pub(super) const UNIT_UPPER: Shape = Shape { lower: false, unit: true };

    /// Of such a matrix, what is not always the same.
    pub(super) fn changing(self) -> Structure {
        match self {
            Shape::LOWER => Structure::TriangularLower,
            Shape::UPPER => Structure::TriangularUpper,
            Shape::UNIT_LOWER => Structure::StrictTriangularLower,
            Shape::UNIT_UPPER => Structure::StrictTriangularUpper,
        }
    }
}

/// *B ← A⁻¹·B* for a triangular *A*.
pub(super) fn solve_triangular<T: Number>(a: MatRef<'_, T>, shape: Shape, b: &mut Packed<T>) {
    if b.rows() > 0 && b.columns() > 0 {
        let (b, room) = b.get_mut_with_room();
        T::solve_packed(a, shape, b, room);
    }
}

/// Likewise, for any layout of *B*: solves from the right are solves of the transpose.
pub(super) fn solve_triangular_in<T: Number>(a: MatRef<'_, T>, shape: Shape, b: MatMut<'_, T>) {
    if b.nrows() == 0 || b.ncols() == 0 {
        return;
    }
    T::solve_triangular(a, shape, b);
}

/// *A = Q·R* by Householder's reflections.
#[derive(Default)]
pub struct Qr<T> {
    /// R, and the reflections below its diagonal.
    factors: Packed<T>,
    coefficients: Packed<T>,
    r: Packed<T>,
    scratch: Scratch,
}

impl<T: Real> ThinQr<T> for Qr<T> {
    fn factor(&mut self, a: &ArrayRef2<T>) {
        self.factors.assign(a);
        self.decompose();
        let n = self.factors.columns();
        self.r.assign(&self.factors.view().slice(s![..n, ..]));
    }

    fn triangle(&self) -> &Packed<T> {
        &self.r
    }

    fn expand(&mut self, x: &Packed<T>, y: &mut Packed<T>) {
        y.zeros(self.factors.rows(), x.columns());
        y.view_mut().slice_mut(s![..x.rows(), ..]).assign(&x.view());
        self.reflect(y, false);
    }

    fn project(&mut self, x: &mut Packed<T>, y: &mut Packed<T>) {
        self.reflect(x, true);
        y.assign(&x.view().slice(s![..self.factors.columns(), ..]));
    }
}

impl<T: Real> Qr<T> {
    /// Decomposes what is in `factors`, which has at least as many rows as columns.
    fn decompose(&mut self) {
        let Qr { factors, coefficients, scratch, .. } = self;
        let (m, n) = (factors.rows(), factors.columns());
        #[cfg(feature = "openblas")]
        if lapack::takes(m, n) {
            return lapack::qr(factors, coefficients, scratch);
        }
        let block = qr::factor::recommended_block_size::<T>(m, n);
        coefficients.zeros(block, n);
        if n == 0 {
            return;
        }
        let (par, params) = (parallelism(), auto::<qr::factor::QrParams, T>());
        let stack = scratch.stack(qr::factor::qr_in_place_scratch::<T>(m, n, block, par, params));
        qr::factor::qr_in_place(factors.get_mut(), coefficients.get_mut(), par, stack, params);
    }

    /// *B ← Q·B*, *Q* with all its columns; or *Qᵀ·B*.
    fn reflect(&mut self, b: &mut Packed<T>, transposed: bool) {
        let Qr { factors, coefficients, scratch, .. } = self;
        let (m, block) = (factors.rows(), coefficients.rows());
        if factors.columns() == 0 || b.columns() == 0 {
            return;
        }
        #[cfg(feature = "openblas")]
        if lapack::takes(m, factors.columns()) {
            return lapack::reflect(factors, coefficients, b, transposed, scratch);
        }
        let (basis, factor, par) = (factors.get(), coefficients.get(), parallelism());
        if transposed {
            let required =
                householder::apply_block_householder_sequence_transpose_on_the_left_in_place_scratch::<T>(
                    m,
                    block,
                    b.columns(),
                );
            householder::apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj(
                basis,
                factor,
                Conj::No,
                b.get_mut(),
                par,
                scratch.stack(required),
            );
        } else {
            let required = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(
                m,
                block,
                b.columns(),
            );
            householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
                basis,
                factor,
                Conj::No,
                b.get_mut(),
                par,
                scratch.stack(required),
            );
        }
    }
}

/// *A = V·diag(w)·Vᵀ* of the symmetric *A* whose lower triangle is read, *w* ascending. Says whether it has converged.
pub(super) fn eigh<T: Real>(
    a: &Packed<T>,
    values: &mut Vec<T>,
    vectors: &mut Packed<T>,
    scratch: &mut Scratch,
) -> bool {
    let n = a.rows();
    values.resize(n, T::ZERO);
    vectors.resize(n, n);
    if n == 0 {
        return true;
    }
    #[cfg(feature = "openblas")]
    if lapack::takes(n, n) {
        vectors.copy(a);
        return lapack::eigh(vectors, values, scratch);
    }
    let (par, params) = (parallelism(), auto());
    let stack = scratch.stack(self_adjoint_evd_scratch::<T>(n, ComputeEigenvectors::Yes, par, params));
    let w = DiagMut::from_slice_mut(values);
    self_adjoint_evd(a.get(), w, Some(vectors.get_mut()), par, stack, params).is_ok()
}

/// *A = U·diag(s)·Vᵀ* with min(m, n) columns in *U* and *V*, *s* descending. Says whether it has converged.
pub(super) fn svd_of<T: Real>(
    a: &Packed<T>,
    u: &mut Packed<T>,
    values: &mut Vec<T>,
    v: &mut Packed<T>,
    scratch: &mut Scratch,
) -> bool {
    let (m, n) = (a.rows(), a.columns());
    let k = m.min(n);
    values.resize(k, T::ZERO);
    u.resize(m, k);
    v.resize(n, k);
    if k == 0 {
        return true;
    }
    #[cfg(feature = "openblas")]
    if lapack::takes(m, n) {
        return lapack::svd(a, u, values, v, scratch);
    }
    let (thin, par, params) = (ComputeSvdVectors::Thin, parallelism(), auto());
    let stack = scratch.stack(svd_scratch::<T>(m, n, thin, thin, par, params));
    let s = DiagMut::from_slice_mut(values);
    svd(a.get(), s, Some(u.get_mut()), Some(v.get_mut()), par, stack, params).is_ok()
}

heap_size! {
    [T: Copy] Lu<T> { factors, rows, inverse }
    [T: Copy] Qr<T> { factors, coefficients, r, scratch }
}
