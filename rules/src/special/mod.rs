//! Special functions, of `f64` and `f32`, with gradients and with derivatives of any order: of statistics and of physics, and such as are
//! written so that they neither overflow nor cancel.
//!
//! They are functions of numbers, to be called like others in plain and in derived code:
//!
//! ```
//! use pullback_rules::special::{ln_gamma, xlogy};
//!
//! /// The log-likelihood of a count by the negative binomial distribution with this mean, and with the variance mean + mean²/size.
//! fn log_likelihood(count: f64, mean: f64, size: f64) -> f64 {
//!     ln_gamma(count + size) - ln_gamma(size) - ln_gamma(count + 1.0)
//!         + xlogy(count, mean / (mean + size))
//!         + xlogy(size, size / (mean + size))
//! }
//! // A geometric distribution: ½·½³
//! assert!((log_likelihood(3.0, 1.0, 1.0) - 4.0 * 0.5_f64.ln()).abs() < 1e-14);
//! ```
//!
//! Those of `f32` are computed in double precision, and rounded. Errors are stated in units of the last place (ulp) of the result in `f64`,
//! for arguments that are exact. On dual numbers a function has the derivative that its gradient has; so second derivatives are those of
//! the formulas given here. DLMF is the [*Digital Library of Mathematical Functions*](https://dlmf.nist.gov).

mod bessel;
mod error_function;
mod gamma_functions;
mod kernel;
mod stable;
#[cfg(test)]
mod tests;

pub use bessel::{i_n, i_n_scaled, i0, i0_scaled, i1, i1_scaled, j0, j1, jn, y0, y1, yn};
pub use error_function::{erf, erfc, norm_cdf, norm_pdf, norm_quantile};
pub use gamma_functions::{beta, digamma, gamma, ln_beta, ln_gamma, polygamma, trigamma};
#[doc(hidden)]
pub use kernel::{Kernel, Special};
pub use stable::{log_sigmoid, log_sum_exp, log1mexp, sigmoid, softplus, xlogy};
