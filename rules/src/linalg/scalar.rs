//! The elements of the matrices that are decomposed.

use crate::blas::MatrixScalar;
use crate::float::Float;

/// An element of the arrays that the functions of this module take: `f32` and `f64`.
pub trait Real: MatrixScalar + Float + sealed::Real {}

impl Real for f32 {}
impl Real for f64 {}

pub(super) mod sealed {
    /// Closed, because what decomposes matrices is written for two types.
    pub trait Real: faer::traits::RealField {}

    impl Real for f32 {}
    impl Real for f64 {}
}
