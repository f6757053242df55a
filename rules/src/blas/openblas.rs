//! OpenBLAS, for the layouts that BLAS can take.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

use cblas_sys::CBLAS_TRANSPOSE::{self, CblasNoTrans, CblasTrans};
// For the linker.
use openblas_src as _;

use super::backend::{MatMul, MatrixScalar, Product, threads};
use super::operand::Operand;

unsafe extern "C" {
    fn openblas_set_num_threads(threads: c_int);
}

/// The back end.
pub(super) struct OpenBlas;

impl<T: MatrixScalar> MatMul<T> for OpenBlas {
    fn takes(&self, product: &Product<'_, T>) -> bool {
        arguments(product).is_some()
    }

    unsafe fn run(&mut self, product: &Product<'_, T>) {
        use_threads(threads());
        let Some((size, (trans_a, lda), (trans_b, ldb), ldc)) = arguments(product) else { return };
        let Product { alpha, a, b, beta, c, .. } = *product;
        // SAFETY: the operands are valid, and the leading dimensions describe them.
        unsafe {
            product.keep();
            T::cblas(
                trans_a,
                trans_b,
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

/// OpenBLAS takes all the cores unless it is told otherwise.
fn use_threads(wanted: usize) {
    static SET: AtomicUsize = AtomicUsize::new(0);
    if SET.load(Ordering::Relaxed) != wanted {
        // SAFETY: any positive number is fine.
        unsafe { openblas_set_num_threads(c_int::try_from(wanted).unwrap_or(c_int::MAX)) };
        SET.store(wanted, Ordering::Relaxed);
    }
}

type Layout = (CBLAS_TRANSPOSE, c_int);
type Arguments = ((c_int, c_int, c_int), Layout, Layout, c_int);

/// Sizes, then the layouts of A and B, then the leading dimension of C: column-major, as C's rows are the nearer ones.
fn arguments<T: MatrixScalar>(product: &Product<'_, T>) -> Option<Arguments> {
    let (m, n, k) = product.size();
    let size = (c_int::try_from(m).ok()?, c_int::try_from(n).ok()?, c_int::try_from(k).ok()?);
    Some((size, layout(product.a)?, layout(product.b)?, leading_dimension(product.c)?))
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
