//! Matrix products. What computes them is chosen in [`backend`] and nowhere else.

mod backend;
mod level3;
#[cfg(feature = "openblas")]
mod openblas;
mod operand;
mod planned;
pub(crate) mod products;
#[cfg(target_arch = "x86_64")]
mod simd;

pub use backend::{MatrixScalar, set_threads};
pub use level3::gemm::{Trans, gemm};
pub use level3::mul_into::mul_into;
