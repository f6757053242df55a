//! Sparse Jacobians and Hessians.
//!
//! A sparse matrix is a [`Pattern`] beside an array of values, here as in [`linalg`](crate::linalg). Columns of a Jacobian that have entries in
//! different rows are computed at once: in the derivative along the sum of their directions each row tells the entry of one of them (Curtis,
//! Powell and Reid, *On the estimation of sparse Jacobian matrices*, 1974). Which columns go together is a colouring of a graph (Gebremedhin,
//! Manne and Pothen, *What color is your Jacobian? Graph coloring for computing derivatives*, 2005), which is found once and kept. What a
//! Jacobian costs then grows with the number of colours, whatever the number of columns.
//!
//! ```
//! use pullback::prelude::*;
//! use pullback::sparse::JacobianColouring;
//!
//! /// What is left of −u″ = k·eᵘ between neighbours on a line.
//! #[differentiable(dual)]
//! fn residual(u: &[f64], #[constant] k: f64) -> Vec<f64> {
//!     let n = u.len();
//!     let mut r = vec![0.0; n];
//!     for i in 0..n {
//!         let left = if i > 0 { u[i - 1] } else { 0.0 };
//!         let right = if i + 1 < n { u[i + 1] } else { 0.0 };
//!         r[i] = 2.0 * u[i] - left - right - k * u[i].exp();
//!     }
//!     r
//! }
//!
//! let u = vec![0.1; 1000];
//! let mut j = residual::jacobian();
//! let pattern = j.jacobian_pattern(&u, 0.01);
//! assert_eq!(pattern.entries(), 2998);
//! let colouring = JacobianColouring::new(pattern);
//! assert_eq!(colouring.colours(), 3);
//!
//! let (r, entries) = j.value_and_sparse_jacobian(&u, 0.01, &colouring);
//! assert_eq!(r, residual(&u, 0.01));
//! assert_eq!(entries[0], 2.0 - 0.01 * 0.1_f64.exp());
//! // The other formats of sparse matrices begin with these.
//! let pattern = colouring.pattern();
//! assert_eq!((pattern.starts()[1], pattern.row(0), entries[1]), (2, &[0, 1][..], -1.0));
//! ```
//!
//! Either columns have colours, eight of which come by one run in forward mode, or rows, some of which come by one run in reverse mode: whichever
//! takes less time. A full row would give each column a colour of its own. It is set aside, for reverse mode, and forward mode computes the
//! others; likewise a full column where rows have colours (Hossain and Steihaug, *Computing a sparse Jacobian matrix by rows and columns*,
//! 1998). A Hessian is symmetric, so that one of two entries that mirror each other is enough, and columns need fewer colours: those of a *star
//! colouring* (Coleman and Moré, *Estimation of sparse Hessian matrices and graph coloring problems*, 1984; Gebremedhin, Tarafdar, Manne and
//! Pothen, *New acyclic and star coloring algorithms with application to computing Hessians*, 2007). They come by products of the Hessian, four
//! at a time, and entries that mirror each other are the same number.
//!
//! ```
//! use pullback::prelude::*;
//! use pullback::sparse::HessianColouring;
//!
//! /// Rosenbrock's function
//! #[differentiable(dual)]
//! fn rosenbrock(x: &[f64]) -> f64 {
//!     x.windows(2).map(|x| (1.0 - x[0]).powi(2) + 100.0 * (x[1] - x[0] * x[0]).powi(2)).sum()
//! }
//!
//! let x = vec![1.0; 1000];
//! let mut h = rosenbrock::hessian();
//! let colouring = HessianColouring::new(h.hessian_pattern(&x));
//! let (value, d, entries) = h.value_gradient_and_sparse_hessian(&x, &colouring);
//! assert_eq!((value, d.x[0]), (0.0, 0.0));
//! assert_eq!((colouring.pattern().row(0), entries[0], entries[1]), (&[0, 1][..], 802.0, -400.0));
//! assert_eq!((colouring.colours(), colouring.runs()), (3, 1));
//! ```
//!
//! Columns and rows are [coordinates](crate::guide::second_order#directions-and-coordinates), as those of dense matrices. From the second call
//! on nothing is allocated besides what the function returns.
//!
//! # Patterns
//! A pattern is given, [in CSR](Pattern::new) or [as a list](Pattern::of_entries), or detected: `jacobian_pattern(args…)` and
//! `hessian_pattern(args…)` run the function, or its gradient, with a mark in the place of derivatives, and see how far it spreads. What is
//! computed from a coordinate counts as dependent, even if the derivative happens to be zero there, as that of 0·x or of the operand that `max`
//! does not take. So a detected pattern holds not only at one point, but wherever the function *takes the same branches*, which formulas of
//! [derivatives at kinks](crate::guide::language#methods-and-kinks) have as well. Where they depend on
//! values, detect at several points, and take the [union](Pattern::union):
//!
//! ```
//! use pullback::prelude::*;
//! use pullback::sparse::JacobianColouring;
//!
//! #[differentiable(dual)]
//! fn upwind(u: [f64; 3]) -> f64 {
//!     let slope = if u[1] > 0.0 { u[1] - u[0] } else { u[2] - u[1] };
//!     u[1] * slope
//! }
//!
//! let mut j = upwind::jacobian();
//! let patterns = [[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]].map(|u| j.jacobian_pattern(u));
//! assert_eq!(patterns[0].row(0), [0, 1]);
//! let colouring = JacobianColouring::new(patterns[0].union(&patterns[1]));
//! let (_, entries) = j.value_and_sparse_jacobian([1.0, -2.0, 4.0], &colouring);
//! assert_eq!(entries.to_vec(), [0.0, 8.0, -2.0]);
//! ```
//!
//! The mark is NaN, which no operation on derivatives loses, and values do not see it. Marked are whole blocks of columns at first, and their
//! parts in turn: of blocks that have a colour in common as many as there are at once (Gillis and Diehl, *Hierarchical seeding for efficient
//! sparsity pattern recovery in automatic differentiation*, 2014). For a band of any length that takes some runs for each power of eight. Where a
//! derivative is NaN by itself, its row is taken to be full: detect where all is finite.
//!
//! # Checks
//! An entry outside of the pattern would be added to another one. So each call compares the product of the matrix with a full vector with that
//! computed in one more direction, next to those of the last colours. Where they differ by more than 10⁻⁶ of the row's size, or a row shows an
//! entry of a colour that it should not have, the pattern is detected once more, since rounding errors may be all that is left of terms which
//! cancel: that takes memory. If the row has other entries indeed, the call panics.
mod check;
mod colouring;
mod detect;
pub(crate) mod hessian;
pub(crate) mod jacobian;
mod plan;
mod run;

pub use plan::{HessianColouring, JacobianColouring};

#[doc(no_inline)]
pub use crate::linalg::Pattern;
