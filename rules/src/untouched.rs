//! What stands in the place of shadows of `&mut` arguments without gradient.

use crate::shadow::{Ignored, Shadow};

/// In the place of a shadow, for a `&mut` argument without gradient.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untouched;

impl<V: Inactive> From<Shadow<V>> for Untouched {
    fn from(_: Shadow<V>) -> Self {
        Untouched
    }
}

/// No shadow is that of an inactive argument: this is for the message alone.
#[diagnostic::on_unimplemented(
    message = "an active argument is written to by a function whose parameter carries no gradient",
    label = "what is written here would lose its gradient",
    note = "leave out `#[constant]` on the parameter, or pass a variable that only ever holds constants: `let mut rng = constant(Rng::new(7));`"
)]
pub trait Inactive {}

/// In the place of the shadow of a constant that a call may write to: the callee holds it constant as well.
#[inline(always)]
pub fn untouched<T: HeldConstant>() -> T {
    T::default()
}

/// The shadow of a parameter that is held constant.
#[diagnostic::on_unimplemented(
    message = "a call with active arguments may write to this `#[constant]` parameter, and what it writes would lose its gradient",
    label = "gets a `#[constant]` parameter",
    note = "leave out `#[constant]`, or put it on the parameter of the function that is called as well",
    note = "pass `&*` of the parameter if the call only reads it"
)]
pub trait HeldConstant: Default {}

impl HeldConstant for Ignored {}
impl HeldConstant for Untouched {}
