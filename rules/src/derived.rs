//! The rule that `#[differentiable]` derives: two closures over a state that nobody can name.

use std::any::Any;
use std::marker::PhantomData;

use crate::function::{Args, Cotangent, Function, Gradients, Parameters, Shadows};
use crate::rule::Rule;
use crate::state::{State, state_within};

/// A rule for `F` out of its forward and its pullback. The closures capture nothing; what lasts is in `state`, and what
/// the forward returns beside the value is the residual. All three types are inferred.
pub struct Derived<F, S, A, B> {
    state: S,
    forward: A,
    pullback: B,
    function: PhantomData<fn() -> F>,
}

/// Makes a `Derived`; its bounds are what the closures' types are inferred from.
pub fn derived<F, S, R, A, B>(state: S, forward: A, pullback: B) -> Derived<F, S, A, B>
where
    F: Function,
    A: for<'a> Fn(&mut S, Args<'a, F>) -> (F::Output, R),
    B: for<'a, 'c> Fn(&mut S, R, Args<'a, F>, Shadows<'a, F>, Cotangent<'c, F>) -> Gradients<F>,
{
    Derived { state, forward, pullback, function: PhantomData }
}

/// In the place of the rule of a function that cannot be differentiated: the program does not compile, and what calls the function is
/// checked all the same.
pub fn refused<F: Function>() -> impl Rule<Function = F> + 'static {
    derived(
        (),
        |_, _| unreachable!("a program with a refused function does not compile"),
        |_, (), _, _, _| unreachable!("its forward comes first"),
    )
}

impl<F: Function, S, A, B> Derived<F, S, A, B> {
    /// Adds a closure that runs both passes at once.
    pub fn fused<C>(self, both: C) -> Fused<Self, C>
    where
        C: for<'a, 'c> Fn(&mut S, Args<'a, F>, Shadows<'a, F>, Cotangent<'c, F>) -> (F::Output, Gradients<F>),
    {
        Fused { derived: self, both }
    }
}

state_within! { [F: Function, S: State, A: Send, B: Send] Derived<F, S, A, B> { state: S } {
    match F::LENDS && F::Parameters::RESIZES {
        true => F::LENGTHS.and(S::LENGTHS),
        false => F::LENGTHS,
    }
} }

impl<F, S, R, A, B> Rule for Derived<F, S, A, B>
where
    F: Function,
    S: State,
    R: Send,
    A: for<'a> Fn(&mut S, Args<'a, F>) -> (F::Output, R) + Send,
    B: for<'a, 'c> Fn(&mut S, R, Args<'a, F>, Shadows<'a, F>, Cotangent<'c, F>) -> Gradients<F> + Send,
{
    type Function = F;
    type Residual = R;
    const AT_ONCE: bool = false;

    #[inline(always)]
    fn forward(&mut self, args: Args<'_, F>) -> (F::Output, R) {
        (self.forward)(&mut self.state, args)
    }

    #[inline(always)]
    fn pullback<'a>(
        &mut self,
        residual: R,
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> Gradients<F> {
        // What comes back into vectors needs more room than they have elements now.
        let shadows = match const { <Self as State>::LENGTHS.need_room() } {
            true => shadows,
            false => F::Parameters::align(&args, shadows),
        };
        (self.pullback)(&mut self.state, residual, args, shadows, seed)
    }
}

/// A [`Derived`] with a closure that runs both passes at once.
pub struct Fused<R, C> {
    derived: R,
    both: C,
}

state_within! { [R: State, C: Send] Fused<R, C> { derived: R } }

impl<F, S, A, B, C> Rule for Fused<Derived<F, S, A, B>, C>
where
    F: Function,
    Derived<F, S, A, B>: Rule<Function = F>,
    C: for<'a, 'c> Fn(&mut S, Args<'a, F>, Shadows<'a, F>, Cotangent<'c, F>) -> (F::Output, Gradients<F>)
        + Send,
{
    type Function = F;
    type Residual = <Derived<F, S, A, B> as Rule>::Residual;

    #[inline(always)]
    fn forward(&mut self, args: Args<'_, F>) -> (F::Output, Self::Residual) {
        self.derived.forward(args)
    }

    #[inline(always)]
    fn pullback<'a>(
        &mut self,
        residual: Self::Residual,
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> Gradients<F> {
        self.derived.pullback(residual, args, shadows, seed)
    }

    #[inline]
    fn value_and_pullback<'a>(
        &mut self,
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> (F::Output, Gradients<F>) {
        let shadows = F::Parameters::align(&args, shadows);
        (self.both)(&mut self.derived.state, args, shadows, seed)
    }
}

/// What has the state of a `Derived`.
pub trait Stateful {
    /// That of its closures.
    type State;
    /// The state.
    fn state(&mut self) -> &mut Self::State;

    /// Lets `ask` tell the rules in the state something.
    fn asking(mut self, ask: impl FnOnce(&mut Self::State)) -> Self
    where
        Self: Sized,
    {
        ask(self.state());
        self
    }

    /// Adds closures that hand [`Rule::overwrite`] on to the calls that are alone in contributing to a parameter's shadow, and
    /// [`Rule::reclaim_argument`] to the copies and the calls that a parameter may have gone to.
    fn passing_on<W, A>(self, overwrite: W, reclaim: A) -> PassingOn<Self, W, A>
    where
        W: Fn(&mut Self::State, usize) -> bool,
        A: Fn(&mut Self::State, usize, &mut dyn Any) -> bool,
        Self: Sized,
    {
        PassingOn { rule: self, overwrite, reclaim }
    }
}

impl<F, S, A, B> Stateful for Derived<F, S, A, B> {
    type State = S;
    fn state(&mut self) -> &mut S {
        &mut self.state
    }
}

impl<R: Stateful, C> Stateful for Fused<R, C> {
    type State = R::State;
    fn state(&mut self) -> &mut R::State {
        self.derived.state()
    }
}

/// In the place of a parameter's number: all those whose shadows are set by loops.
pub const OF_LOOPS: usize = usize::MAX;

/// A [`Derived`] that can overwrite shadows, and takes back arguments which the function owns.
pub struct PassingOn<R, W, A> {
    rule: R,
    overwrite: W,
    reclaim: A,
}

state_within! { [R: State, W: Send, A: Send] PassingOn<R, W, A> { rule: R } }

impl<R, W, A> Rule for PassingOn<R, W, A>
where
    R: Rule + Stateful,
    W: Fn(&mut R::State, usize) -> bool + Send,
    A: Fn(&mut R::State, usize, &mut dyn Any) -> bool + Send,
{
    type Function = R::Function;
    type Residual = R::Residual;
    const AT_ONCE: bool = <Self as State>::LENGTHS.are_kept();

    #[inline(always)]
    fn forward(&mut self, args: Args<'_, R::Function>) -> (<R::Function as Function>::Output, R::Residual) {
        self.rule.forward(args)
    }

    #[inline(always)]
    fn pullback<'a>(
        &mut self,
        residual: R::Residual,
        args: Args<'a, R::Function>,
        shadows: Shadows<'a, R::Function>,
        seed: Cotangent<'_, R::Function>,
    ) -> Gradients<R::Function> {
        self.rule.pullback(residual, args, shadows, seed)
    }

    #[inline]
    fn value_and_pullback<'a>(
        &mut self,
        args: Args<'a, R::Function>,
        shadows: Shadows<'a, R::Function>,
        seed: Cotangent<'_, R::Function>,
    ) -> (<R::Function as Function>::Output, Gradients<R::Function>) {
        self.rule.value_and_pullback(args, shadows, seed)
    }

    #[inline]
    fn value_and_pullback_afresh<'a>(
        &mut self,
        args: Args<'a, R::Function>,
        shadows: Shadows<'a, R::Function>,
        seed: Cotangent<'_, R::Function>,
    ) -> (<R::Function as Function>::Output, Gradients<R::Function>) {
        // The compiler sees it, and leaves out how loops would add.
        (self.overwrite)(self.rule.state(), OF_LOOPS);
        self.value_and_pullback(args, shadows, seed)
    }

    fn overwrite(&mut self, parameter: usize) -> bool {
        (self.overwrite)(self.rule.state(), parameter)
    }

    fn reclaim_argument(&mut self, parameter: usize, argument: &mut dyn Any) -> bool {
        (self.reclaim)(self.rule.state(), parameter, argument)
    }
}
