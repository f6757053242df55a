//! The rule that `#[differentiable]` derives: two closures over a state that nobody can name.

use std::marker::PhantomData;

use crate::function::{Args, Buffers, Cotangent, Function, Gradients, Parameters, Shadows};
use crate::rule::Rule;
use crate::state::State;

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

impl<F: Function, S, A, B> Derived<F, S, A, B> {
    /// Adds a closure that runs both passes at once.
    pub fn fused<C>(self, both: C) -> Fused<Self, C>
    where
        C: for<'a, 'c> Fn(&mut S, Args<'a, F>, Shadows<'a, F>, Cotangent<'c, F>) -> (F::Output, Gradients<F>),
    {
        Fused { derived: self, both }
    }
}

impl<F, S: State, A: Send, B: Send> State for Derived<F, S, A, B> {
    fn reset(&mut self) {
        self.state.reset();
    }
    fn release(&mut self) {
        self.state.release();
    }
    fn pending(&self) -> usize {
        self.state.pending()
    }
}

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
        let shadows = F::Parameters::align(&args, shadows);
        (self.pullback)(&mut self.state, residual, args, shadows, seed)
    }
}

/// A [`Derived`] with a closure that runs both passes at once.
pub struct Fused<R, C> {
    derived: R,
    both: C,
}

impl<R: State, C: Send> State for Fused<R, C> {
    fn reset(&mut self) {
        self.derived.reset();
    }
    fn release(&mut self) {
        self.derived.release();
    }
    fn pending(&self) -> usize {
        self.derived.pending()
    }
}

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
    fn value_and_pullback(
        &mut self,
        mut args: Args<'_, F>,
        buffers: &mut Buffers<F>,
        seed: Cotangent<'_, F>,
    ) -> (F::Output, Gradients<F>) {
        let (args, shadows) = (F::Parameters::reborrow(&mut args), F::Parameters::shadows(buffers));
        let shadows = F::Parameters::align(&args, shadows);
        (self.both)(&mut self.derived.state, args, shadows, seed)
    }
}
