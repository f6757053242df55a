//! Calls that keep nothing: what a call needs for its pullback is computed when the pullback comes.

use std::any::Any;

use crate::boxed::BoxRef;
use crate::function::{
    Args, ConstCloned, ConstRef, ConstVal, Cotangent, Function, Gradients, Held, Parameters, Ref, Shadows,
    Val, for_tuples,
};
use crate::lend::{Lend, RefLent};
use crate::optional_references::{ConstOptRef, OptRef};
use crate::rule::Rule;
use crate::state::{State, state_within};

/// A rule whose forward is the primal alone. The pullback runs the forward of the rule within, and then its pullback.
pub struct Checkpointed<R>(R);

/// The rule within `checkpoint(…)`.
pub fn checkpointed<R: Rule>(rule: R) -> Checkpointed<R>
where
    <R::Function as Function>::Parameters: Unchanging,
{
    Checkpointed(rule)
}

/// Parameters that a function finds the same when it is run once more.
pub trait Unchanging: Parameters {}

/// One of them.
#[diagnostic::on_unimplemented(
    message = "this call changes what it is given, so that `checkpoint` could not run it once more",
    label = "takes a `&mut` parameter, or a function",
    note = "leave out `checkpoint`, or put it around calls further inside"
)]
pub trait Unchanged {}

impl<T> Unchanged for Val<T> {}
impl<T> Unchanged for Held<T> {}
impl<T> Unchanged for ConstVal<T> {}
impl<T> Unchanged for ConstCloned<T> {}
impl<T: ?Sized> Unchanged for Ref<T> {}
impl<T: ?Sized> Unchanged for ConstRef<T> {}
impl<T: ?Sized> Unchanged for OptRef<T> {}
impl<T> Unchanged for BoxRef<T> {}
impl<T: ?Sized> Unchanged for ConstOptRef<T> {}
impl<T: Lend> Unchanged for RefLent<T> {}

macro_rules! unchanging {
    ($($P:ident $i:tt),*) => {
        impl<$($P: Unchanged),*> Unchanging for ($($P,)*) where Self: Parameters {}
    };
}
for_tuples!(unchanging);

state_within! { [R: State] Checkpointed<R> { 0: R } }

impl<R: Rule> Rule for Checkpointed<R> {
    type Function = R::Function;
    type Residual = ();
    const AT_ONCE: bool = R::AT_ONCE;

    #[inline]
    fn forward(&mut self, args: Args<'_, R::Function>) -> (<R::Function as Function>::Output, ()) {
        (R::Function::primal(args), ())
    }

    fn pullback<'a>(
        &mut self,
        (): (),
        args: Args<'a, R::Function>,
        shadows: Shadows<'a, R::Function>,
        seed: Cotangent<'_, R::Function>,
    ) -> Gradients<R::Function> {
        let (output, gradients) = self.0.value_and_pullback(args, shadows, seed);
        self.0.reclaim(output);
        gradients
    }

    fn value_and_pullback<'a>(
        &mut self,
        args: Args<'a, R::Function>,
        shadows: Shadows<'a, R::Function>,
        seed: Cotangent<'_, R::Function>,
    ) -> (<R::Function as Function>::Output, Gradients<R::Function>) {
        self.0.value_and_pullback(args, shadows, seed)
    }

    fn reclaim_argument(&mut self, parameter: usize, argument: &mut dyn Any) -> bool {
        self.0.reclaim_argument(parameter, argument)
    }

    fn forgo(&mut self, parameter: usize) {
        self.0.forgo(parameter);
    }

    fn overwrite(&mut self, parameter: usize) -> bool {
        self.0.overwrite(parameter)
    }
}
