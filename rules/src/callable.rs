//! Functions as arguments of functions that have a rule.
//!
//! Whoever calls a function that takes a function lends it two things: the function itself, to be called by code without gradient,
//! and its derivative, a pair of forward and pullback. Both are closures that borrow what they capture, the shadows of that
//! included, for the time of one call. What lasts is the type of the residual alone, of which the callee keeps one for each time
//! that it calls.

use std::marker::PhantomData;

use crate::call::{HasRule, Recursive};
use crate::function::{Args, Cotangent, Function, Gradients, Parameter, Parameters, Shadows};
use crate::output::Output;
use crate::rule::Rule;
use crate::shadow::{Element, Ignored, Shadow, cells};
use crate::state::State;
use crate::tangent::{Tangent, Value};

/// What can stand for a function parameter in the type of a function that has one: [`Lent`], or the type beside a function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not stand for a function that has a rule",
    note = "`f::<g>::gradient()` is the gradient of `f` for the function `g`, which `#[differentiable]` stands on"
)]
pub trait Callable: 'static {
    /// What a call of the function hands to its pullback.
    type Residual: Send + 'static;
    /// What a gradient object keeps for it.
    type Kept: State + Default;
}

/// Some closure that the caller lends, whose calls leave residuals of type `R`.
pub struct Lent<R>(PhantomData<fn() -> R>);

impl<R: Send + 'static> Callable for Lent<R> {
    type Residual = R;
    type Kept = ();
}

impl<F: HasRule> Callable for F {
    type Residual = ();
    type Kept = Recursive<F>;
}

/// The derivative of a function with parameters `P` and output `O`.
pub trait Derivative<P: Parameters, O: Output, R> {
    /// See [`State::least_room`].
    fn least_room(&self) -> usize;
    /// See [`Rule::forward`].
    fn forward(&mut self, args: P::Args<'_>) -> (O, R);
    /// See [`Rule::pullback`].
    fn pullback<'a>(
        &mut self,
        residual: R,
        args: P::Args<'a>,
        shadows: P::Shadows<'a>,
        seed: O::Cotangent<'_>,
    ) -> P::Gradients;
}

/// A function as an argument.
pub struct Callback<'a, P: Parameters, O: Output, F: Callable> {
    /// The function.
    pub primal: &'a dyn for<'b> Fn(P::Args<'b>) -> O,
    /// Its derivative; of the two passes, only the one that is under way.
    pub derivative: &'a mut (dyn Derivative<P, O, F::Residual> + 'a),
}

/// `f: impl Fn(…) -> O`, with parameters `P`. The shadows of what it captures are its own affair.
pub struct Called<P, O, F>(PhantomData<(P, O, F)>);

impl<P: Parameters, O: Output + 'static, F: Callable> Parameter for Called<P, O, F> {
    type Arg<'a> = Callback<'a, P, O, F>;
    type Shadow<'a> = Ignored;
    type Gradient = ();
    type Buffer = ();

    fn buffer() {}
    #[inline(always)]
    fn reborrow<'b>(arg: &'b mut Callback<'_, P, O, F>) -> Callback<'b, P, O, F> {
        Callback { primal: arg.primal, derivative: &mut *arg.derivative }
    }
    fn prepare((): &mut (), _: &Callback<'_, P, O, F>) {}
    #[inline(always)]
    fn least_room(arg: &Callback<'_, P, O, F>) -> usize {
        arg.derivative.least_room()
    }
    fn shadow((): &mut ()) -> Ignored {
        Ignored
    }
}

/// Makes the primal of a [`Callback`] out of a closure; its bounds are what the closure's type is inferred from.
#[inline(always)]
pub fn primal<P: Parameters, O, C: for<'b> Fn(P::Args<'b>) -> O>(function: C) -> C {
    function
}

/// The derivative in the forward pass.
pub struct Forward<C>(pub C);

impl<P: Parameters, O: Output, R, C: for<'b> FnMut(P::Args<'b>) -> (O, R)> Derivative<P, O, R>
    for Forward<C>
{
    fn least_room(&self) -> usize {
        unreachable!("this is the forward pass")
    }
    #[inline(always)]
    fn forward(&mut self, args: P::Args<'_>) -> (O, R) {
        (self.0)(args)
    }
    fn pullback<'a>(&mut self, _: R, _: P::Args<'a>, _: P::Shadows<'a>, _: O::Cotangent<'_>) -> P::Gradients {
        unreachable!("this is the forward pass")
    }
}

/// The derivative in the reverse pass, and how much room what it calls asks for.
pub struct Pullback<C>(pub C, pub usize);

impl<P, O, R, C> Derivative<P, O, R> for Pullback<C>
where
    P: Parameters,
    O: Output,
    C: for<'b, 'c> FnMut(R, P::Args<'b>, P::Shadows<'b>, O::Cotangent<'c>) -> P::Gradients,
{
    #[inline(always)]
    fn least_room(&self) -> usize {
        self.1
    }
    fn forward(&mut self, _: P::Args<'_>) -> (O, R) {
        unreachable!("this is the reverse pass")
    }
    #[inline(always)]
    fn pullback<'a>(
        &mut self,
        residual: R,
        args: P::Args<'a>,
        shadows: P::Shadows<'a>,
        seed: O::Cotangent<'_>,
    ) -> P::Gradients {
        // What comes back into vectors may need more room than they have elements now.
        let shadows = if const { P::RESIZES } { shadows } else { P::align(&args, shadows) };
        (self.0)(residual, args, shadows, seed)
    }
}

impl<F: HasRule> Derivative<F::Parameters, F::Output, ()> for Recursive<F> {
    fn least_room(&self) -> usize {
        State::least_room(self)
    }
    fn forward(&mut self, args: Args<'_, F>) -> (F::Output, ()) {
        Rule::forward(self, args)
    }
    fn pullback<'a>(
        &mut self,
        (): (),
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> Gradients<F> {
        Rule::pullback(self, (), args, shadows, seed)
    }
}

impl<'a, P: Parameters, O: Output, F> Callback<'a, P, O, F>
where
    F: Callable<Residual = ()> + HasRule + Function<Parameters = P, Output = O>,
{
    /// The function `F`, with a rule of it that lasts.
    pub fn of_rule(rule: &'a mut Recursive<F>) -> Self {
        Callback { primal: &|args| F::primal(args), derivative: rule }
    }
}

/// The shadow of a parameter of a closure, which may be a reference or a value: as a view. In `Room` is the gradient with respect
/// to a value; it is what the pullback returns.
pub trait Either<'r, T> {
    /// See [`Parameter::Gradient`].
    type Room: 'static;
    /// The view.
    type View;

    /// Zero.
    fn room(&self, value: &T) -> Self::Room;
    /// The view of what is referred to, or of `room`.
    fn view(self, value: &T, room: &'r mut Self::Room) -> Self::View;
}

impl<'r, T: Value<Tangent: Element>> Either<'r, T> for Ignored {
    type Room = T::Tangent;
    type View = Shadow<&'r <T::Tangent as Element>::Cells>;

    #[inline(always)]
    fn room(&self, _: &T) -> T::Tangent {
        T::Tangent::zero()
    }
    #[inline(always)]
    fn view(self, _: &T, room: &'r mut T::Tangent) -> Self::View {
        Shadow::new(cells(room))
    }
}

impl<'r, T, V: Copy> Either<'r, T> for Shadow<V> {
    type Room = ();
    type View = Shadow<V>;

    #[inline(always)]
    fn room(&self, _: &T) {}
    #[inline(always)]
    fn view(self, _: &T, (): &'r mut ()) -> Shadow<V> {
        self
    }
}

/// What is not written to, as the syntax of a closure is taken to tell.
#[diagnostic::on_unimplemented(
    message = "whether this parameter of the closure is written to is not to be seen here",
    label = "may be a `&mut`",
    note = "write its type, such as `y: &mut [f64]`"
)]
pub trait ReadOnly {}

#[diagnostic::do_not_recommend]
impl<T: Copy> ReadOnly for T {}

/// Makes sure that a parameter of a closure is no `&mut`.
#[inline(always)]
pub fn read_only<T: ReadOnly>(_: &T) {}
