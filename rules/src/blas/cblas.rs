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

/// What differs between the two scalar types.
#[allow(private_interfaces, reason = "sealed")]
pub trait Cblas: Sized {
    /// # Safety
    /// The arguments are those of `cblas_?gemm`, and right.
    #[allow(clippy::too_many_arguments, reason = "those of gemm")]
    unsafe fn gemm(
        trans_a: CBLAS_TRANSPOSE,
        trans_b: CBLAS_TRANSPOSE,
        size: (c_int, c_int, c_int),
        alpha: Self,
        a: In<Self>,
        b: In<Self>,
        beta: Self,
        c: Out<Self>,
    );
    /// X ← op(A)⁻¹·X or X·op(A)⁻¹
    ///
    /// # Safety
    /// The arguments are those of `cblas_?trsm`, and right.
    unsafe fn trsm(form: Triangular, size: (c_int, c_int), a: In<Self>, x: Out<Self>);
    /// X ← op(A)·X or X·op(A)
    ///
    /// # Safety
    /// The arguments are those of `cblas_?trmm`, and right.
    unsafe fn trmm(form: Triangular, size: (c_int, c_int), a: In<Self>, x: Out<Self>);
    /// C += α·A·B or α·B·A
    ///
    /// # Safety
    /// The arguments are those of `cblas_?symm`, and right.
    unsafe fn symm(
        form: (CBLAS_SIDE, CBLAS_UPLO),
        size: (c_int, c_int),
        alpha: Self,
        a: In<Self>,
        b: In<Self>,
        c: Out<Self>,
    );
    /// C += α·op(A)·op(A)ᵀ
    ///
    /// # Safety
    /// The arguments are those of `cblas_?syrk`, and right.
    unsafe fn syrk(
        form: (CBLAS_UPLO, CBLAS_TRANSPOSE),
        size: (c_int, c_int),
        alpha: Self,
        a: In<Self>,
        c: Out<Self>,
    );
}

macro_rules! cblas {
    ($T:ident, $gemm:ident, $trsm:ident, $trmm:ident, $symm:ident, $syrk:ident) => {
        #[allow(private_interfaces, reason = "sealed")]
        impl Cblas for $T {
            unsafe fn gemm(
                trans_a: CBLAS_TRANSPOSE,
                trans_b: CBLAS_TRANSPOSE,
                (m, n, k): (c_int, c_int, c_int),
                alpha: Self,
                (a, lda): In<Self>,
                (b, ldb): In<Self>,
                beta: Self,
                (c, ldc): Out<Self>,
            ) {
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
            }

            unsafe fn trsm(
                (side, uplo, trans, diag): Triangular,
                (m, n): (c_int, c_int),
                (a, lda): In<Self>,
                (x, ldx): Out<Self>,
            ) {
                // SAFETY: as the caller guarantees.
                unsafe {
                    cblas_sys::$trsm(CblasColMajor, side, uplo, trans, diag, m, n, 1.0, a, lda, x, ldx);
                }
            }

            unsafe fn trmm(
                (side, uplo, trans, diag): Triangular,
                (m, n): (c_int, c_int),
                (a, lda): In<Self>,
                (x, ldx): Out<Self>,
            ) {
                // SAFETY: as the caller guarantees.
                unsafe {
                    cblas_sys::$trmm(CblasColMajor, side, uplo, trans, diag, m, n, 1.0, a, lda, x, ldx);
                }
            }

            unsafe fn symm(
                (side, uplo): (CBLAS_SIDE, CBLAS_UPLO),
                (m, n): (c_int, c_int),
                alpha: Self,
                (a, lda): In<Self>,
                (b, ldb): In<Self>,
                (c, ldc): Out<Self>,
            ) {
                // SAFETY: as the caller guarantees.
                unsafe {
                    cblas_sys::$symm(CblasColMajor, side, uplo, m, n, alpha, a, lda, b, ldb, 1.0, c, ldc);
                }
            }

            unsafe fn syrk(
                (uplo, trans): (CBLAS_UPLO, CBLAS_TRANSPOSE),
                (n, k): (c_int, c_int),
                alpha: Self,
                (a, lda): In<Self>,
                (c, ldc): Out<Self>,
            ) {
                // SAFETY: as the caller guarantees.
                unsafe {
                    cblas_sys::$syrk(CblasColMajor, uplo, trans, n, k, alpha, a, lda, 1.0, c, ldc);
                }
            }
        }
    };
}
cblas!(f32, cblas_sgemm, cblas_strsm, cblas_strmm, cblas_ssymm, cblas_ssyrk);
cblas!(f64, cblas_dgemm, cblas_dtrsm, cblas_dtrmm, cblas_dsymm, cblas_dsyrk);
