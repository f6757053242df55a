//! Solvers that take functions: fixed points, roots, minima, matrix-free linear systems, differential equations.
//!
//! A derived function calls them with closures that capture what they like, and marks the call, since these rules call their
//! functions in the reverse pass as well:
//!
//! ```text
//! #[pullback(recompute)]
//! let e = zero(|e| e - eccentricity * e.sin() - anomaly, 0.0, 7.0, 1e-14);
//! ```
//!
//! The forward iterates without keeping anything of the iterations. The pullback differentiates the equation that holds at the
//! solution, by the implicit function theorem (Griewank & Walther, *Evaluating Derivatives*, 2008, chapter 15; Blondel et al.,
//! *Efficient and modular implicit differentiation*, 2022). So it costs about as much for a thousand iterations as for one, and its gradient
//! is that of the solution, however good the start was. It asks for pullbacks of the function at the solution,
//! first without the gradients of what is captured, until it knows the seed for which to ask with them, once.
//!
//! The functions are of `f64`, write all of their `&mut` argument, and always return the same for the same arguments. In the
//! documentation of a gradient a bar means the gradient with respect to what stands below it, *θ* is what the function captures.
//!
//! # Memory
//! A rule keeps the room that it works in: from the second call on nothing is allocated. A function without its rule allocates that
//! room each time.
//!
//! # Failures
//! What does not converge panics with a message that names the function, in the forward, or in the pullback for the equation that this
//! solves. Where a failure is to be expected, catch it, or solve with other means and use [`at_root`](at_root()).

mod brent;
mod dense;
mod iteration;
mod krylov;
mod linear;
mod minimum;
mod newton;
mod runge_kutta;

pub use brent::zero;
pub use iteration::fixed_point;
pub use linear::{cg, gmres};
pub use minimum::argmin;
pub use newton::{Adjoint, at_root, root};
pub use runge_kutta::{ode, ode_adjoint};

use crate::{DualFn, Mut, Ref};

/// `f: impl Fn(&[f64], &mut [f64])` in a pullback.
type Map<'a> = DualFn<'a, (Ref<[f64]>, Mut<[f64]>)>;

/// *Jᵀ·seed* to `product`, where *J* is the Jacobian of `f` at `x`. Whatever `seed` and `room` held is lost.
fn transposed(f: &mut Map<'_>, x: &[f64], seed: &mut [f64], room: &mut [f64], product: &mut [f64]) {
    product.fill(0.0);
    f.pullback_of_arguments((x, room), (product.into(), seed.into()), ());
}

/// *θ̄ += (∂f/∂θ)ᵀ·seed*
fn to_captures(f: &mut Map<'_>, x: &[f64], seed: &mut [f64], room: &mut [f64]) {
    f.pullback((x, room), (crate::none(), seed.into()), ());
}

/// Makes `buffer` that long; what is in it does not matter.
fn fit(buffer: &mut Vec<f64>, len: usize) {
    buffer.resize(len, 0.0);
}

/// The largest magnitude; NaN if there is one.
fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| if x.abs() <= largest { largest } else { x.abs() })
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}
