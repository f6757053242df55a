//! The rule that `#[differentiable]` derives: closures over a state that nobody can name.

use std::any::Any;
use std::marker::PhantomData;

use crate::function::{Args, Cotangent, Function, Gradients, Parameters, Shadows};
use crate::rule::Rule;
use crate::state::{State, state_within};

/// A rule for `F` out of its forward and its pullback, and of what else there is: `C` runs both passes at once, `P` hands requests
/// on to calls. The closures capture nothing; what lasts is in `state`, and what the forward returns beside the value is the residual.
/// All types are inferred.
///
/// It is one type, not one around another, as each layer would have its methods compiled for each function.
pub struct Derived<F, S, A, B, C = Absent, P = Absent> {
    state: S,
    forward: A,
    pullback: B,
    both: C,
    passing: P,
    function: PhantomData<fn() -> F>,
}

/// In the place of a part that a rule lacks.
pub struct Absent;

/// Makes a `Derived`; its bounds are what the closures' types are inferred from.
pub fn derived<F, S, R, A, B>(state: S, forward: A, pullback: B) -> Derived<F, S, A, B>
where
    F: Function,
    A: for<'a> Fn(&mut S, Args<'a, F>) -> (F::Output, R),
    B: for<'a, 'c> Fn(&mut S, R, Args<'a, F>, Shadows<'a, F>, Cotangent<'c, F>) -> Gradients<F>,
{
    Derived { state, forward, pullback, both: Absent, passing: Absent, function: PhantomData }
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
    pub fn fused<C>(self, both: C) -> Derived<F, S, A, B, C>
    where
        C: for<'a, 'c> Fn(&mut S, Args<'a, F>, Shadows<'a, F>, Cotangent<'c, F>) -> (F::Output, Gradients<F>),
    {
        let Derived { state, forward, pullback, passing, function, .. } = self;
        Derived { state, forward, pullback, both, passing, function }
    }
}

impl<F, S, A, B, C> Derived<F, S, A, B, C> {
    /// Lets `ask` tell the rules in the state something.
    pub fn asking(mut self, ask: impl FnOnce(&mut S)) -> Self {
        ask(&mut self.state);
        self
    }

    /// Adds a closure that hands requests on.
    pub fn passing_on<P>(self, passing: P) -> Derived<F, S, A, B, C, P>
    where
        P: for<'a> Fn(&mut S, Request<'a>) -> bool,
    {
        let Derived { state, forward, pullback, both, function, .. } = self;
        Derived { state, forward, pullback, both, passing, function }
    }
}

/// A closure that runs both passes at once.
pub trait Both<F: Function, S>: Send {
    /// There is one.
    const IS: bool = true;

    /// Runs it.
    fn run<'a>(
        &self,
        _: &mut S,
        _: Args<'a, F>,
        _: Shadows<'a, F>,
        _: Cotangent<'_, F>,
    ) -> (F::Output, Gradients<F>) {
        unreachable!("nothing runs a closure that there is not")
    }
}

impl<F: Function, S> Both<F, S> for Absent {
    const IS: bool = false;
}

impl<F: Function, S, C> Both<F, S> for C
where
    C: for<'a, 'c> Fn(&mut S, Args<'a, F>, Shadows<'a, F>, Cotangent<'c, F>) -> (F::Output, Gradients<F>)
        + Send,
{
    #[inline(always)]
    fn run<'a>(
        &self,
        state: &mut S,
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> (F::Output, Gradients<F>) {
        self(state, args, shadows, seed)
    }
}

/// What a rule is asked about a parameter.
pub enum Request<'a> {
    /// [`Rule::overwrite`], for the calls that are alone in contributing to its shadow.
    Overwrite(usize),
    /// [`Rule::reclaim_argument`], for the copies and the calls that it may have gone to.
    Reclaim(usize, &'a mut dyn Any),
}

/// In the place of a parameter's number: all those whose shadows are set by loops.
pub const OF_LOOPS: usize = usize::MAX;

/// A closure that hands requests on to the calls of a function.
pub trait PassOn<S>: Send {
    /// There is one.
    const IS: bool = true;

    /// Tells whether there is a call that does what it is asked.
    fn pass_on(&self, state: &mut S, request: Request) -> bool;
}

impl<S> PassOn<S> for Absent {
    const IS: bool = false;

    #[inline(always)]
    fn pass_on(&self, _: &mut S, _: Request) -> bool {
        false
    }
}

impl<S, P> PassOn<S> for P
where
    P: for<'a> Fn(&mut S, Request<'a>) -> bool + Send,
{
    #[inline(always)]
    fn pass_on(&self, state: &mut S, request: Request) -> bool {
        self(state, request)
    }
}

state_within! { [F: Function, S: State, A: Send, B: Send, C: Send, P: Send] Derived<F, S, A, B, C, P> { state: S } {
    match F::LENDS && F::Parameters::RESIZES {
        true => F::LENGTHS.and(S::LENGTHS),
        false => F::LENGTHS,
    }
} }

impl<F, S, R, A, B, C, P> Rule for Derived<F, S, A, B, C, P>
where
    F: Function,
    S: State,
    R: Send,
    A: for<'a> Fn(&mut S, Args<'a, F>) -> (F::Output, R) + Send,
    B: for<'a, 'c> Fn(&mut S, R, Args<'a, F>, Shadows<'a, F>, Cotangent<'c, F>) -> Gradients<F> + Send,
    C: Both<F, S>,
    P: PassOn<S>,
{
    type Function = F;
    type Residual = R;
    const AT_ONCE: bool = if P::IS { <Self as State>::LENGTHS.are_kept() } else { C::IS };

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

    #[inline]
    fn value_and_pullback<'a>(
        &mut self,
        mut args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> (F::Output, Gradients<F>) {
        if const { C::IS } {
            let shadows = F::Parameters::align(&args, shadows);
            return self.both.run(&mut self.state, args, shadows, seed);
        }
        let (value, residual) = self.forward(F::Parameters::reborrow(&mut args));
        (value, self.pullback(residual, args, shadows, seed))
    }

    #[inline]
    fn value_and_pullback_afresh<'a>(
        &mut self,
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> (F::Output, Gradients<F>) {
        // The compiler sees it, and leaves out how loops would add.
        self.overwrite(OF_LOOPS);
        self.value_and_pullback(args, shadows, seed)
    }

    #[inline(always)]
    fn overwrite(&mut self, parameter: usize) -> bool {
        self.passing.pass_on(&mut self.state, Request::Overwrite(parameter))
    }

    #[inline(always)]
    fn reclaim_argument(&mut self, parameter: usize, argument: &mut dyn Any) -> bool {
        self.passing.pass_on(&mut self.state, Request::Reclaim(parameter, argument))
    }
}
