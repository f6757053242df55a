//! Derived functions in the hands of other crates' solvers.
//!
//! A gradient object changes when it is called, and solvers call by `&self`, some of them from several threads. [`Problem`] is a function of a
//! point with a rule for each thread that is at work, and implements what solvers ask for. See [the guide](crate::guide::interoperability).

#[cfg(feature = "argmin")]
mod argmin;
#[cfg(feature = "argmin-nalgebra")]
mod argmin_nalgebra;
#[cfg(feature = "basin")]
mod basin;
#[cfg(feature = "diffsol")]
pub mod diffsol;
#[cfg(feature = "levenberg-marquardt")]
mod levenberg_marquardt;
#[cfg(any(feature = "argmin-nalgebra", feature = "levenberg-marquardt"))]
mod nalgebra;
mod point;
mod pool;
mod problem;
mod second_order;

#[cfg(feature = "argmin-nalgebra")]
pub use argmin_nalgebra::WithNalgebra;
pub use point::{PointParameter, PointParameters};
pub use problem::{Problem, Solvable};
pub use second_order::{HasHessian, HasHessianProduct, HasJacobian};
