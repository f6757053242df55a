//! Calls, within a method, of methods with its own name: `part.area()` in `area`.
//!
//! Such a call is recursion where the receiver is of the same type, as in a tree, and otherwise that of another function, as in a `match` over the
//! shapes that an enum holds. The compiler tells which it is from the type of the call, which is known where the rule is first called.

use std::any::Any;
use std::marker::PhantomData;

use crate::call::{Call, CallOf, HasRule, Recursive};
use crate::function::{Args, Cotangent, Function, Gradients, Shadows};
use crate::lengths::Lengths;
use crate::rule::Rule;
use crate::state::State;

/// The rule of such a call, made before it is first called.
pub struct ByReceiver<R>(Option<R>);

impl<R> ByReceiver<R> {
    /// Nothing made yet.
    pub const fn new() -> Self {
        ByReceiver(None)
    }
}

impl<R> Default for ByReceiver<R> {
    fn default() -> Self {
        Self::new()
    }
}

/// A call within the function `Own`.
pub struct Within<'c, Own, C>(PhantomData<&'c C>, PhantomData<fn() -> Own>);

impl<'c, Own, C> Within<'c, Own, C> {
    /// Of `call`.
    #[inline(always)]
    pub fn new(_call: &'c C) -> Self {
        Within(PhantomData, PhantomData)
    }
}

/// The call is one of the function itself, if by way of a trait: what has its name takes the same receiver, and all else that it takes.
pub trait CallsItself<F: HasRule> {
    /// Makes the rule, if there is none.
    #[inline(always)]
    fn make<R>(&self, rule: &mut ByReceiver<Recursive<F>>, _of_another: impl FnOnce(PhantomData<F>) -> R) {
        rule.0.get_or_insert_with(Recursive::new);
    }
}

impl<Own, F, M> CallsItself<F> for Within<'_, Own, Call<'_, F, M>>
where
    Own: Function,
    F: HasRule + Function<Parameters = Own::Parameters>,
{
}

/// The call is one of another function.
pub trait CallsAnother<F: Function> {
    /// Makes the rule by `of_another`, if there is none.
    #[inline(always)]
    fn make<R: Rule<Function = F>>(
        &self,
        rule: &mut ByReceiver<R>,
        of_another: impl FnOnce(PhantomData<F>) -> R,
    ) {
        rule.0.get_or_insert_with(|| of_another(PhantomData));
    }
}

impl<'a, Own, C: CallOf<'a>> CallsAnother<C::Function> for &Within<'_, Own, C> {}

/// The rule of what is called.
pub fn rule_of_called<F: HasRule>(_called: PhantomData<F>) -> impl Rule<Function = F> + use<F> {
    F::make_rule()
}

const MADE: &str = "a rule is made before it is called";

impl<R: State> State for ByReceiver<R> {
    const LENGTHS: Lengths = R::LENGTHS;

    fn least_room(&self) -> usize {
        self.0.as_ref().map_or(0, R::least_room)
    }
    fn reset(&mut self) {
        if let Some(rule) = &mut self.0 {
            rule.reset();
        }
    }
    fn shrink(&mut self) {
        if let Some(rule) = &mut self.0 {
            rule.shrink();
        }
    }
    fn pending(&self) -> usize {
        self.0.as_ref().map_or(0, R::pending)
    }
    fn memory(&self) -> usize {
        self.0.as_ref().map_or(0, R::memory)
    }
}

impl<R: Rule> Rule for ByReceiver<R> {
    type Function = R::Function;
    type Residual = R::Residual;
    const AT_ONCE: bool = R::AT_ONCE;

    #[inline(always)]
    fn forward(&mut self, args: Args<'_, R::Function>) -> (<R::Function as Function>::Output, R::Residual) {
        self.0.as_mut().expect(MADE).forward(args)
    }

    #[inline(always)]
    fn pullback<'a>(
        &mut self,
        residual: R::Residual,
        args: Args<'a, R::Function>,
        shadows: Shadows<'a, R::Function>,
        seed: Cotangent<'_, R::Function>,
    ) -> Gradients<R::Function> {
        self.0.as_mut().expect(MADE).pullback(residual, args, shadows, seed)
    }

    #[inline(always)]
    fn value_and_pullback<'a>(
        &mut self,
        args: Args<'a, R::Function>,
        shadows: Shadows<'a, R::Function>,
        seed: Cotangent<'_, R::Function>,
    ) -> (<R::Function as Function>::Output, Gradients<R::Function>) {
        self.0.as_mut().expect(MADE).value_and_pullback(args, shadows, seed)
    }

    fn reclaim(&mut self, output: <R::Function as Function>::Output) {
        if let Some(rule) = &mut self.0 {
            rule.reclaim(output);
        }
    }

    fn reclaim_argument(&mut self, parameter: usize, argument: &mut dyn Any) -> bool {
        self.0.as_mut().is_some_and(|rule| rule.reclaim_argument(parameter, argument))
    }
}
