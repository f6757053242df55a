//! OpenBLAS, for what is not small and has a layout that BLAS can take.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

use cblas_sys::CBLAS_DIAG::{CblasNonUnit, CblasUnit};
use cblas_sys::CBLAS_SIDE::{CblasLeft, CblasRight};
use cblas_sys::CBLAS_TRANSPOSE::{self, CblasNoTrans, CblasTrans};
use cblas_sys::CBLAS_UPLO::{CblasLower, CblasUpper};
// For the linker.
use openblas_src as _;

use super::backend::{MatMul, MatrixScalar, Product, SmallPlan, threads};
use super::cblas;
use super::operand::Operand;
use super::triangular::Triangle;

unsafe extern "C" {
    fn openblas_set_num_threads(threads: c_int);
}

/// The back end.
pub(super) struct OpenBlas;

impl<T: MatrixScalar> MatMul<T> for OpenBlas {
    fn takes(&self, product: &Product<'_, T>) -> bool {
        T::cblas().is_some() && arguments(product).is_some()
    }

    unsafe fn run(&mut self, product: &Product<'_, T>) {
        use_threads(threads());
        let (Some(cblas), Some((size, (trans_a, lda), (trans_b, ldb), ldc))) =
            (T::cblas(), arguments(product))
        else {
            return;
        };
        let Product { alpha, a, b, beta, c, .. } = *product;
        // SAFETY: the operands are valid, and the leading dimensions describe them.
        unsafe {
            product.keep();
            (cblas.gemm)(
                (trans_a, trans_b),
                size,
                alpha,
                (a.pointer, lda),
                (b.pointer, ldb),
                beta,
                (c.pointer, ldc),
            );
        }
    }
}

/// Computes X ← L⁻¹·X if the layout allows it, and says whether.
///
/// # Safety
/// As for `triangular::solve`.
pub(super) unsafe fn solve<T: MatrixScalar>(l: Triangle<'_, T>, x: Operand<'_, T>) -> bool {
    let (Some(cblas), Some((form, size, lda, ldx))) = (T::cblas(), triangular(l, x)) else { return false };
    use_threads(threads());
    // SAFETY: the operands are valid, and what was found describes them.
    unsafe { (cblas.trsm)(form, size, lda, ldx) }
    true
}

/// Computes X ← L·X if the layout allows it, and says whether.
///
/// # Safety
/// As for `triangular::solve`.
pub(super) unsafe fn product<T: MatrixScalar>(l: Triangle<'_, T>, x: Operand<'_, T>) -> bool {
    let (Some(cblas), Some((form, size, lda, ldx))) = (T::cblas(), triangular(l, x)) else { return false };
    use_threads(threads());
    // SAFETY: the operands are valid, and what was found describes them.
    unsafe { (cblas.trmm)(form, size, lda, ldx) }
    true
}

/// Computes C += α·S·B for a symmetric matrix with the lower triangle `l` if the layout allows it, and says whether.
///
/// # Safety
/// As for `triangular::accumulate_symmetric`.
pub(super) unsafe fn symmetric<T: MatrixScalar>(
    alpha: T,
    l: Operand<'_, T>,
    b: Operand<'_, T>,
    c: Operand<'_, T>,
) -> bool {
    let Some(cblas) = T::cblas().filter(|_| !is_small(l.rows, b.columns)) else { return false };
    let stored = match leading_dimension(l) {
        Some(ld) => Some((CblasLower, ld)),
        None => leading_dimension(l.t()).map(|ld| (CblasUpper, ld)),
    };
    let whole = |b, c| Some((leading_dimension(b)?, leading_dimension(c)?));
    // Transposed, what is on the left is on the right.
    let (side, (b, c), ld) = match (whole(b, c), whole(b.t(), c.t())) {
        (Some(ld), _) => (CblasLeft, (b, c), ld),
        (None, Some(ld)) => (CblasRight, (b.t(), c.t()), ld),
        (None, None) => return false,
    };
    let (Some((uplo, lda)), (ldb, ldc), Some(size)) = (stored, ld, size(c)) else { return false };
    use_threads(threads());
    // SAFETY: the operands are valid, and what was found describes them.
    unsafe { (cblas.symm)((side, uplo), size, alpha, (l.pointer, lda), (b.pointer, ldb), (c.pointer, ldc)) }
    true
}

/// Computes the lower triangle of C += α·A·Aᵀ if the layout allows it, and says whether.
///
/// # Safety
/// As for `triangular::accumulate_square`.
pub(super) unsafe fn square<T: MatrixScalar>(alpha: T, a: Operand<'_, T>, c: Operand<'_, T>) -> bool {
    let Some(cblas) = T::cblas().filter(|_| !is_small(c.rows, a.columns)) else { return false };
    // The upper triangle of the transpose is the same.
    let stored = match leading_dimension(c) {
        Some(ld) => Some((CblasLower, ld)),
        None => leading_dimension(c.t()).map(|ld| (CblasUpper, ld)),
    };
    let (Some((uplo, ldc)), Some((trans, lda)), Some(size)) = (stored, layout(a), size(a)) else {
        return false;
    };
    use_threads(threads());
    // SAFETY: the operands are valid, and what was found describes them.
    unsafe { (cblas.syrk)((uplo, trans), size, alpha, (a.pointer, lda), (c.pointer, ldc)) }
    true
}

/// On as many threads as products run.
pub(crate) fn use_own_threads() {
    use_threads(threads());
}

/// OpenBLAS takes all the cores unless it is told otherwise.
fn use_threads(wanted: usize) {
    static SET: AtomicUsize = AtomicUsize::new(0);
    if SET.load(Ordering::Relaxed) != wanted {
        // SAFETY: any positive number is fine.
        unsafe { openblas_set_num_threads(c_int::try_from(wanted).unwrap_or(c_int::MAX)) };
        SET.store(wanted, Ordering::Relaxed);
    }
}

/// Where a call would take longer than the work.
fn is_small(n: usize, columns: usize) -> bool {
    n.saturating_mul(n).saturating_mul(columns) <= SmallPlan::<f64>::VOLUME
}

type Layout = (CBLAS_TRANSPOSE, c_int);
type Arguments = ((c_int, c_int, c_int), Layout, Layout, c_int);

/// Sizes, then the layouts of A and B, then the leading dimension of C: column-major, as C's rows are the nearer ones.
fn arguments<T: MatrixScalar>(product: &Product<'_, T>) -> Option<Arguments> {
    let (m, n, k) = product.size();
    let size = (c_int::try_from(m).ok()?, c_int::try_from(n).ok()?, c_int::try_from(k).ok()?);
    Some((size, layout(product.a)?, layout(product.b)?, leading_dimension(product.c)?))
}

type TriangularArguments<T> = (cblas::Triangular, (c_int, c_int), cblas::In<T>, cblas::Out<T>);

/// The arguments for `L·X`, unless it is small.
fn triangular<T>(l: Triangle<'_, T>, x: Operand<'_, T>) -> Option<TriangularArguments<T>> {
    let Triangle { lower: mut a, unit } = l;
    if is_small(a.rows, x.columns) {
        return None;
    }
    // An upper triangle has become a lower one by reversing rows and columns.
    let reversed = a.row_stride < 0 && a.column_stride < 0;
    let x = if reversed { x.reverse_rows() } else { x };
    if reversed {
        a = a.reverse_rows().reverse_columns();
    }
    let (trans, lda) = layout(a)?;
    let uplo = if reversed == matches!(trans, CblasTrans) { CblasLower } else { CblasUpper };
    // Transposed, what is on the left is on the right.
    let (side, trans, x, ldx) = match leading_dimension(x) {
        Some(ld) => (CblasLeft, trans, x, ld),
        None => {
            let other = if matches!(trans, CblasTrans) { CblasNoTrans } else { CblasTrans };
            (CblasRight, other, x.t(), leading_dimension(x.t())?)
        }
    };
    let diag = if unit { CblasUnit } else { CblasNonUnit };
    // What is transposed here is the order of indices alone: the pointer stays.
    Some(((side, uplo, trans, diag), size(x)?, (a.pointer, lda), (x.pointer, ldx)))
}

fn size<T>(matrix: Operand<'_, T>) -> Option<(c_int, c_int)> {
    Some((c_int::try_from(matrix.rows).ok()?, c_int::try_from(matrix.columns).ok()?))
}

fn layout<T>(matrix: Operand<'_, T>) -> Option<Layout> {
    let plain = leading_dimension(matrix).map(|ld| (CblasNoTrans, ld));
    plain.or_else(|| leading_dimension(matrix.t()).map(|ld| (CblasTrans, ld)))
}

/// The distance of columns, if rows are adjacent and columns do not overlap.
fn leading_dimension<T>(matrix: Operand<'_, T>) -> Option<c_int> {
    let adjacent = matrix.rows <= 1 || matrix.row_stride == 1;
    let least = matrix.rows.max(1) as isize;
    // The stride of a single column means nothing.
    let distance = if matrix.columns <= 1 { least } else { matrix.column_stride };
    (adjacent && distance >= least).then(|| c_int::try_from(distance).ok()).flatten()
}
