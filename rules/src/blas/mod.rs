//! Vectors and matrices of any layout: the functions of BLAS that have rules.
//!
//! What computes them is chosen in `backend` and `triangular`, and nowhere else.

mod adjoint;
mod backend;
mod byproduct;
#[doc(hidden)]
pub mod cases;
#[cfg(feature = "openblas")]
mod cblas;
mod constants;
mod elementwise;
mod general;
mod leaf;
mod level1;
mod level2;
mod level3;
mod matvec;
#[cfg(feature = "openblas")]
pub(crate) mod openblas;
mod operand;
mod options;
mod parts;
mod planned;
pub(crate) mod products;
#[cfg(target_arch = "x86_64")]
mod simd;
#[cfg(test)]
mod specimens;
mod stacks;
mod triangular;
pub(crate) mod vectorised;

pub use backend::{MatrixScalar, set_threads};
#[doc(no_inline)]
pub use general::{general_mat_mul, general_mat_vec_mul};
pub use level1::movement::{copy, rot, swap};
pub use level1::reductions::{asum, dot, iamax, nrm2};
pub use level1::updates::{axpy, scal};
pub use level2::gemv::gemv;
pub use level2::ger::ger;
pub use level2::symv::symv;
pub use level2::syr::syr;
pub use level2::triangular::{trmv, trsv};
pub use level3::gemm::gemm;
pub use level3::gemm_batched::gemm_batched;
pub(crate) use level3::mul_into::MulInto;
pub use level3::mul_into::mul_into;
pub use level3::symm::symm;
pub use level3::syrk::syrk;
pub use level3::trmm::trmm;
pub use level3::trsm::trsm;
pub use options::{Diag, Side, Trans, Uplo};
