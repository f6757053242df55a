//! Functions as arguments of hand-written rules: what their pullbacks get of them.
//!
//! A derived rule calls a function in the forward pass and undoes each of these calls in the reverse pass. A rule written by hand
//! may go another way: it runs the function in the forward pass without keeping anything, and in the reverse pass it asks for
//! pullbacks at points of its own choice, as often as it likes. So the caller lends the function to the forward pass, and
//! to the pullback the function once more, with both of its passes in one closure.

use std::marker::PhantomData;

use crate::function::{Function, Parameter, Parameters};
use crate::output::Output;
use crate::rule::Rule;
use crate::shadow::{Ignored, Shadow};

/// A function argument in the pullback of a hand-written rule: the function, and its derivative at whatever point is asked for.
///
/// `P` is the tuple of the ways in which the function takes its arguments, [`Val<T>`](crate::Val) for `T`, [`Ref<T>`](crate::Ref) for
/// `&T`, [`Mut<T>`](crate::Mut) for `&mut T`, [`ConstVal<T>`](crate::ConstVal) for what has no gradient; `O` is what it returns. For
/// `f: impl Fn(f64, &[f64], &mut [f64])` a pullback gets `f: DualFn<'_, (Val<f64>, Ref<[f64]>, Mut<[f64]>)>`.
///
/// What a closure captures is the caller's, and so are the gradients with respect to that. [`pullback`](DualFn::pullback) adds to
/// them; [`pullback_of_arguments`](DualFn::pullback_of_arguments) leaves them alone, for the steps on the way to the right seed.
///
/// The guide has [an example](https://docs.rs/pullback/latest/pullback/guide/higher_order/).
pub struct DualFn<'a, P: Parameters, O: Output = ()> {
    value: &'a dyn for<'b> Fn(P::Args<'b>) -> O,
    /// In the forward pass there is none.
    derivative: Option<&'a mut (dyn BothPasses<P, O> + 'a)>,
}

impl<'a, P: Parameters, O: Output> DualFn<'a, P, O> {
    /// Calls the function, with a tuple of its arguments.
    #[inline]
    pub fn call(&self, args: P::Args<'_>) -> O {
        (self.value)(args)
    }

    /// Runs the function and its pullback, for the gradient `seed` with respect to what it returns: `()` for nothing. The first of
    /// the results is what it returned, the second has the gradients with respect to arguments by value, and `()` for each
    /// of the others, whose gradients come to `shadows`: [`none`](crate::none) where they are not wanted.
    ///
    /// What is passed by `&mut` is brought back to what it held before the call; its shadow holds the gradient with respect to what
    /// the function writes there, and afterwards that with respect to what it found, which is zero for a mere output.
    ///
    /// Adds to the gradients with respect to what the function captures.
    pub fn pullback<'b>(
        &mut self,
        args: P::Args<'b>,
        shadows: P::Shadows<'b>,
        seed: O::Cotangent<'_>,
    ) -> (O, P::Gradients) {
        self.run(Again { args, shadows, seed, captures: true })
    }

    /// [`pullback`](DualFn::pullback), but for what the function captures.
    pub fn pullback_of_arguments<'b>(
        &mut self,
        args: P::Args<'b>,
        shadows: P::Shadows<'b>,
        seed: O::Cotangent<'_>,
    ) -> (O, P::Gradients) {
        self.run(Again { args, shadows, seed, captures: false })
    }

    fn run(&mut self, again: Again<'_, '_, P, O>) -> (O, P::Gradients) {
        self.derivative.as_mut().expect("a pullback gets the derivative").run(again)
    }

    /// The function in the forward pass.
    #[doc(hidden)]
    pub fn of_value(value: &'a dyn for<'b> Fn(P::Args<'b>) -> O) -> Self {
        DualFn { value, derivative: None }
    }

    /// The function in the reverse pass.
    #[doc(hidden)]
    pub fn of_both(
        value: &'a dyn for<'b> Fn(P::Args<'b>) -> O,
        derivative: &'a mut (dyn BothPasses<P, O> + 'a),
    ) -> Self {
        DualFn { value, derivative: Some(derivative) }
    }
}

/// `f: impl Fn(…) -> O`, with parameters `P`, of a function that has a hand-written rule.
pub struct GivenFn<P, O>(PhantomData<(P, O)>);

impl<P: Parameters, O: Output + 'static> Parameter for GivenFn<P, O> {
    type Arg<'a> = DualFn<'a, P, O>;
    type Shadow<'a> = Ignored;
    type Gradient = ();
    type Buffer = ();

    fn buffer() {}
    #[inline(always)]
    fn reborrow<'b>(arg: &'b mut DualFn<'_, P, O>) -> DualFn<'b, P, O> {
        let derivative: Option<&'b mut (dyn BothPasses<P, O> + 'b)> = match &mut arg.derivative {
            Some(derivative) => Some(&mut **derivative),
            None => None,
        };
        DualFn { value: arg.value, derivative }
    }
    fn prepare((): &mut (), _: &DualFn<'_, P, O>) {}
    fn shadow((): &mut ()) -> Ignored {
        Ignored
    }
}

/// Runs a function forward and backward.
pub trait BothPasses<P: Parameters, O: Output> {
    /// What the function returned, and the gradients with respect to arguments by value.
    fn run(&mut self, again: Again<'_, '_, P, O>) -> (O, P::Gradients);
}

/// [`BothPasses`] by a closure; its bounds are what the closure's type is inferred from.
pub struct AtOnce<C>(pub C);

impl<P, O, C> BothPasses<P, O> for AtOnce<C>
where
    P: Parameters,
    O: Output,
    C: for<'a, 's> FnMut(Again<'a, 's, P, O>) -> (O, P::Gradients),
{
    #[inline]
    fn run(&mut self, again: Again<'_, '_, P, O>) -> (O, P::Gradients) {
        (self.0)(again)
    }
}

/// What [`BothPasses`] is asked for.
pub struct Again<'a, 's, P: Parameters, O: Output> {
    args: P::Args<'a>,
    shadows: P::Shadows<'a>,
    seed: O::Cotangent<'s>,
    captures: bool,
}

impl<'a, 's, P: Parameters, O: Output> Again<'a, 's, P, O> {
    /// The forward pass.
    #[inline(always)]
    pub fn forward<R>(&mut self, forward: impl for<'b> FnOnce(P::Args<'b>) -> (O, R)) -> (O, R) {
        forward(P::reborrow(&mut self.args))
    }

    /// The shadow of what is captured: nothing, unless its gradient is wanted.
    #[inline(always)]
    pub fn wanted<V: Copy>(&self, shadow: Shadow<V>) -> Shadow<V> {
        if self.captures { shadow } else { Shadow::default() }
    }

    /// The reverse pass.
    #[inline(always)]
    pub fn pullback<R>(
        self,
        residual: R,
        pullback: impl FnOnce(R, P::Args<'a>, P::Shadows<'a>, O::Cotangent<'s>) -> P::Gradients,
    ) -> P::Gradients {
        let shadows = P::align(&self.args, self.shadows);
        pullback(residual, self.args, shadows, self.seed)
    }

    /// Both passes of a function that has a rule.
    #[inline(always)]
    pub fn by_rule<F: Function<Parameters = P, Output = O>, R: Rule<Function = F>>(
        self,
        rule: &mut R,
    ) -> (O, P::Gradients) {
        rule.value_and_pullback(self.args, self.shadows, self.seed)
    }
}

/// The function that `rule` is the rule of.
#[inline(always)]
pub fn function_of<R: Rule>(_rule: &R) -> PhantomData<fn() -> R::Function> {
    PhantomData
}

/// Calls the function that `function` tells.
#[inline(always)]
pub fn call_of<F: Function>(
    _function: PhantomData<fn() -> F>,
    args: crate::function::Args<'_, F>,
) -> F::Output {
    F::primal(args)
}

/// What no function is that is passed to one with a hand-written rule.
#[diagnostic::on_unimplemented(
    message = "this is called in the reverse pass as well",
    label = "the statement does not say so",
    note = "write `#[pullback(recompute)]` in front of the statement"
)]
pub trait CalledInOnePass {}

/// The residual of a call that lacks the annotation.
pub struct Lacking<R>(PhantomData<fn() -> R>);

/// In the place of a call that lacks the annotation.
pub fn lacking<O, R>() -> (O, Lacking<R>) {
    unreachable!("not compiled")
}
