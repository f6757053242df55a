//! The functions of OpenBLAS for the two scalar types, of matrices by columns.

use std::ffi::c_int;

use cblas_sys::CBLAS_LAYOUT::CblasColMajor;
use cblas_sys::{CBLAS_DIAG, CBLAS_SIDE, CBLAS_TRANSPOSE, CBLAS_UPLO};

/// Where a matrix begins, and its leading dimension.
pub(super) type In<T> = (*const T, c_int);
/// As [`In`], to be written.
pub(super) type Out<T> = (*mut T, c_int);
/// How a triangular matrix is meant.
pub(super) type Triangular = (CBLAS_SIDE, CBLAS_UPLO, CBLAS_TRANSPOSE, CBLAS_DIAG);

/// The functions for one type, where the arguments are those of BLAS.
///
/// # Safety
/// The arguments have to be right.
#[allow(clippy::type_complexity, reason = "those of BLAS")]
pub(super) struct Cblas<T> {
    pub(super) gemm: unsafe fn(
        (CBLAS_TRANSPOSE, CBLAS_TRANSPOSE),
        (c_int, c_int, c_int),
        alpha: T,
        a: In<T>,
        b: In<T>,
        beta: T,
        c: Out<T>,
    ),
    /// X ← op(A)⁻¹·X or X·op(A)⁻¹
    pub(super) trsm: unsafe fn(Triangular, size: (c_int, c_int), a: In<T>, x: Out<T>),
    /// X ← op(A)·X or X·op(A)
    pub(super) trmm: unsafe fn(Triangular, size: (c_int, c_int), a: In<T>, x: Out<T>),
    /// C += α·A·B or α·B·A
    pub(super) symm:
        unsafe fn((CBLAS_SIDE, CBLAS_UPLO), size: (c_int, c_int), alpha: T, a: In<T>, b: In<T>, c: Out<T>),
    /// C += α·op(A)·op(A)ᵀ
    pub(super) syrk:
        unsafe fn((CBLAS_UPLO, CBLAS_TRANSPOSE), size: (c_int, c_int), alpha: T, a: In<T>, c: Out<T>),
}

macro_rules! cblas {
    ($CBLAS:ident: $T:ident, $gemm:ident, $trsm:ident, $trmm:ident, $symm:ident, $syrk:ident) => {
        pub(super) const $CBLAS: Cblas<$T> = Cblas {
            gemm: |(trans_a, trans_b), (m, n, k), alpha, (a, lda), (b, ldb), beta, (c, ldc)| {
                // SAFETY: as the caller guarantees.
                unsafe {
                    cblas_sys::$gemm(
                        CblasColMajor,
                        trans_a,
                        trans_b,
                        m,
                        n,
                        k,
                        alpha,
                        a,
                        lda,
                        b,
                        ldb,
                        beta,
                        c,
                        ldc,
                    );
                }
            },
            trsm: |(side, uplo, trans, diag), (m, n), (a, lda), (x, ldx)| {
                // SAFETY: as the caller guarantees.
                unsafe {
                    cblas_sys::$trsm(CblasColMajor, side, uplo, trans, diag, m, n, 1.0, a, lda, x, ldx);
                }
            },
            trmm: |(side, uplo, trans, diag), (m, n), (a, lda), (x, ldx)| {
                // SAFETY: as the caller guarantees.
                unsafe {
                    cblas_sys::$trmm(CblasColMajor, side, uplo, trans, diag, m, n, 1.0, a, lda, x, ldx);
                }
            },
            symm: |(side, uplo), (m, n), alpha, (a, lda), (b, ldb), (c, ldc)| {
                // SAFETY: as the caller guarantees.
                unsafe {
                    cblas_sys::$symm(CblasColMajor, side, uplo, m, n, alpha, a, lda, b, ldb, 1.0, c, ldc);
                }
            },
            syrk: |(uplo, trans), (n, k), alpha, (a, lda), (c, ldc)| {
                // SAFETY: as the caller guarantees.
                unsafe {
                    cblas_sys::$syrk(CblasColMajor, uplo, trans, n, k, alpha, a, lda, 1.0, c, ldc);
                }
            },
        };
    };
}
cblas!(SINGLE: f32, cblas_sgemm, cblas_strsm, cblas_strmm, cblas_ssymm, cblas_ssyrk);
cblas!(DOUBLE: f64, cblas_dgemm, cblas_dtrsm, cblas_dtrmm, cblas_dsymm, cblas_dsyrk);
