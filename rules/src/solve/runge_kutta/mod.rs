//! Ordinary differential equations.

mod by_adjoint;
mod discrete;
mod stepper;

pub use by_adjoint::ode_adjoint;
pub use discrete::ode;

use crate::{DualFn, Mut, Ref, Val};

/// `f: impl Fn(f64, &[f64], &mut [f64])` in a pullback.
type Field<'a> = DualFn<'a, (Val<f64>, Ref<[f64]>, Mut<[f64]>)>;
