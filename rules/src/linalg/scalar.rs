//! The elements of the matrices that are decomposed.

use crate::blas::MatrixScalar;
use crate::float::Float;

/// An element of the arrays that the functions of this module take: `f32` and `f64`.
pub trait Real: MatrixScalar + Float + sealed::Real {}

impl Real for f32 {}
impl Real for f64 {}

pub(super) mod sealed {
    use super::super::backend::Lapack;

    /// Closed, because what decomposes matrices is written for two types.
    #[allow(private_bounds, reason = "sealed")]
    pub trait Real: faer::traits::RealField + Lapack {}

    impl Real for f32 {}
    impl Real for f64 {}
}
