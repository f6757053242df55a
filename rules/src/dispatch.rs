//! Methods of traits: whose rule it is depends on the type that the method is called on.

use std::any::Any;
use std::marker::PhantomData;

use crate::function::{Args, Cotangent, Function, Gradients, Shadows};
use crate::rule::Rule;
use crate::state::{State, state_within};

/// The rule that some type has for the method `F` of a trait: that of a function with the same parameters and output.
pub struct Dispatched<F, R> {
    rule: R,
    function: PhantomData<fn() -> F>,
}

impl<F: Function, R: Rule> Dispatched<F, R>
where
    R::Function: Function<Parameters = F::Parameters, Output = F::Output>,
{
    /// Of the rule that the type has.
    pub fn new(rule: R) -> Self {
        Dispatched { rule, function: PhantomData }
    }
}

state_within! { [F, R: State] Dispatched<F, R> { rule: R } }

impl<F: Function, R: Rule> Rule for Dispatched<F, R>
where
    R::Function: Function<Parameters = F::Parameters, Output = F::Output>,
{
    type Function = F;
    type Residual = R::Residual;
    const AT_ONCE: bool = R::AT_ONCE;

    #[inline(always)]
    fn forward(&mut self, args: Args<'_, F>) -> (F::Output, R::Residual) {
        self.rule.forward(args)
    }

    #[inline(always)]
    fn pullback<'a>(
        &mut self,
        residual: R::Residual,
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> Gradients<F> {
        self.rule.pullback(residual, args, shadows, seed)
    }

    #[inline(always)]
    fn value_and_pullback<'a>(
        &mut self,
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> (F::Output, Gradients<F>) {
        self.rule.value_and_pullback(args, shadows, seed)
    }

    #[inline(always)]
    fn value_and_pullback_afresh<'a>(
        &mut self,
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> (F::Output, Gradients<F>) {
        self.rule.value_and_pullback_afresh(args, shadows, seed)
    }

    #[inline(always)]
    fn reclaim(&mut self, output: F::Output) {
        self.rule.reclaim(output);
    }

    #[inline(always)]
    fn reclaim_argument(&mut self, parameter: usize, argument: &mut dyn Any) -> bool {
        self.rule.reclaim_argument(parameter, argument)
    }

    fn forgo(&mut self, parameter: usize) {
        self.rule.forgo(parameter);
    }

    fn overwrite(&mut self, parameter: usize) -> bool {
        self.rule.overwrite(parameter)
    }
}
