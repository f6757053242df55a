//! Linear algebra: decompositions and what rests on them, as functions of matrices.
//!
//! Each function that returns an array has a form that writes to one: `cholesky` and `cholesky_into`. In the documentation of a gradient a dot
//! means the gradient with respect to what stands below it.
//!
//! # Memory
//! A rule decomposes a matrix once, keeps the factors for its pullback, and what it needs to work from call to call: from the second call on only
//! what is returned is allocated, and nothing by the forms that write. A function without its rule allocates whatever it needs each time; on dual
//! numbers the thread keeps that, since forward mode calls functions without rules.
//!
//! # Dual numbers
//! All functions run on [dual numbers](crate::DualNumber), and of two matrices the right one may be of constants then, `f64`.
//!
//! # Which part of a matrix
//! Of symmetric matrices the lower triangle is read, and no gradient comes to the other one. Matrices have any layout, and
//! right-hand sides are vectors or matrices.
//!
//! What computes the decompositions is [faer](https://docs.rs/faer), on as many threads as [`set_threads`](crate::set_threads) says if the feature
//! `rayon` is on; or, with the feature `openblas`, the LAPACK that OpenBLAS brings along, where matrices are not small. Products of matrices are computed as [`gemm`](crate::gemm()) computes them.

mod backend;
#[doc(hidden)]
pub mod cases;
mod cofactors;
mod exponential;
mod forms;
#[cfg(feature = "fft")]
mod fourier;
mod general;
mod joins;
mod kronecker;
#[cfg(feature = "openblas")]
mod lapack;
mod lu;
mod orthogonal;
mod orthogonal_parts;
mod packed;
mod parts;
mod pattern;
mod positive_definite;
mod scalar;
mod singular_values;
mod sparse;
mod symmetric;
mod triangular;

pub use exponential::{expm, expm_into};
#[cfg(feature = "fft")]
pub use fourier::{Series, fft, fft_into, ifft, ifft_into, irfft, irfft_into, rfft, rfft_into};
pub use general::{det, inv, inv_into, logdet, solve, solve_into};
pub use joins::Joins;
pub use kronecker::{kron, kron_into};
pub use lu::lu_into;
pub use orthogonal::{lstsq, lstsq_into, qr_into};
pub use packed::Columns;
pub use pattern::Pattern;
pub use positive_definite::{
    cholesky, cholesky_into, cholesky_solve, cholesky_solve_into, logdet_spd, solve_spd, solve_spd_into,
};
pub(crate) use scalar::sealed::{Components, OrthogonalFactors, TriangularFactors};
pub use scalar::{Number, Real};
pub use singular_values::{svd_into, svdvals, svdvals_into};
pub use sparse::{sparse_mul, sparse_mul_into, sparse_mul_transposed, sparse_mul_transposed_into};
pub use symmetric::{eigh_into, eigvalsh, eigvalsh_into};
pub use triangular::{solve_triangular, solve_triangular_into};

pub use crate::blas::Uplo;
