//! Calls whose function is known by its type alone: methods, which the compiler resolves, and recursion.

use std::any::Any;
use std::marker::PhantomData;

use crate::function::{Args, Cotangent, Function, Gradients, Parameters, Shadows};
use crate::lengths::Lengths;
use crate::reused::with_memory;
use crate::rule::Rule;
use crate::shadow::{Accumulate, Shadow};
use crate::state::State;
use crate::tangent::{Tangent, Value};

/// A function whose rule can be made from its type.
pub trait HasRule: Function {
    /// A rule that has not been called yet.
    fn make_rule() -> impl Rule<Function = Self> + 'static;
}

/// Makes the rule of a function that later calls tell.
pub fn rule_of<F: HasRule>() -> impl Rule<Function = F> {
    F::make_rule()
}

/// How a method takes its receiver.
#[diagnostic::on_unimplemented(
    message = "this method takes `&mut self`, which is not differentiable within an expression, nor on a `#[constant]` parameter",
    label = "bind the result with `let` first",
    note = "active values that it writes to a `#[constant]` parameter would lose their gradient"
)]
pub trait ReadsReceiver {}

/// The receiver of a method is read.
pub struct Reads;

impl ReadsReceiver for Reads {}

/// The receiver of a method is written to.
pub struct WritesToReceiver;

/// The arguments of one call of `F`. In contrast to [`Args`] the type tells the function; `M` is [`Reads`] or
/// [`WritesToReceiver`].
pub struct Call<'a, F: Function, M = Reads> {
    args: Args<'a, F>,
    receiver: PhantomData<M>,
}

impl<'a, F: Function, M> Call<'a, F, M> {
    /// Wraps `args`.
    #[inline(always)]
    pub fn new(args: Args<'a, F>) -> Self {
        Call { args, receiver: PhantomData }
    }
}

/// A [`Call`], in contrast to what stands beside a method that returns a reference.
#[diagnostic::on_unimplemented(
    message = "this method returns a reference to a part of its receiver, of which nothing here tells the type",
    label = "called here",
    note = "bind the part with its type before: `let r: &[f64] = m.row(i);`, and where it is written to `let r: &mut [f64] = m.row_mut(i);`"
)]
pub trait CallOf<'a> {
    /// What is called.
    type Function: Function;
    /// How it takes its receiver.
    type Receiver;
    /// The arguments.
    fn args(self) -> Args<'a, Self::Function>;
    /// The arguments for the pullback.
    #[inline(always)]
    fn args_again(self) -> Args<'a, Self::Function>
    where
        Self: Sized,
    {
        self.args()
    }
}

impl<'a, F: Function, M> CallOf<'a> for Call<'a, F, M> {
    type Function = F;
    type Receiver = M;
    #[inline(always)]
    fn args(self) -> Args<'a, F> {
        self.args
    }
}

/// The forward of a call which may write to its receiver.
#[inline(always)]
pub fn forward<'a, C: CallOf<'a>, R: Rule<Function = C::Function>>(
    rule: &mut R,
    call: C,
) -> (<C::Function as Function>::Output, R::Residual) {
    rule.forward(call.args())
}

/// The forward of a call which does not.
#[inline(always)]
pub fn forward_reading<'a, C: CallOf<'a, Receiver: ReadsReceiver>, R: Rule<Function = C::Function>>(
    rule: &mut R,
    call: C,
) -> (<C::Function as Function>::Output, R::Residual) {
    rule.forward(call.args())
}

/// The pullback of a call.
#[inline(always)]
pub fn pullback<'a, C: CallOf<'a>, R: Rule<Function = C::Function>>(
    rule: &mut R,
    residual: R::Residual,
    call: C,
    shadows: Shadows<'a, C::Function>,
    seed: Cotangent<'_, C::Function>,
) -> Gradients<C::Function> {
    rule.pullback(residual, call.args_again(), shadows, seed)
}

/// Both passes of a call.
#[inline(always)]
pub fn value_and_pullback<'a, C: CallOf<'a>, R: Rule<Function = C::Function>>(
    rule: &mut R,
    call: C,
    shadows: Shadows<'a, C::Function>,
    seed: Cotangent<'_, C::Function>,
) -> (<C::Function as Function>::Output, Gradients<C::Function>) {
    rule.value_and_pullback(call.args(), shadows, seed)
}

/// The gradient with respect to a receiver: returned, if the method takes it by value.
pub struct OfReceiver<G>(pub G);

/// The receiver is a reference: its gradient has come to the shadow.
pub trait SettledReceiver {
    /// Adds the gradient to the shadow of the receiver.
    fn settle<V>(&self, shadow: Shadow<V>);
}

/// The receiver is a value.
pub trait UnsettledReceiver {
    /// The gradient.
    type Gradient: Tangent;
    /// Adds the gradient to the shadow of the receiver.
    fn settle<C: Accumulate<Tangent = Self::Gradient>>(&self, shadow: Shadow<&C>);
}

impl SettledReceiver for OfReceiver<()> {
    #[inline(always)]
    fn settle<V>(&self, _shadow: Shadow<V>) {}
}

impl<G: Tangent> UnsettledReceiver for &OfReceiver<G> {
    type Gradient = G;
    #[inline(always)]
    fn settle<C: Accumulate<Tangent = G>>(&self, shadow: Shadow<&C>) {
        shadow.accumulate(|cells| *cells, self.0);
    }
}

/// What a call is given a copy of.
pub struct Given<'a, T: ?Sized>(pub &'a T);

/// A plain value is copied.
pub trait GivenValue<T> {
    /// The argument of the rule.
    fn given(&self) -> T;
}

/// Numbers of a struct that is no more than `Clone` are copied as well.
pub trait GivenClone<T> {
    /// The argument of the rule.
    fn given(&self) -> T;
}

/// What owns memory is lent.
pub trait GivenReference<'a, T: ?Sized> {
    /// The argument of the rule.
    fn given(&self) -> &'a T;
}

impl<T: Copy> GivenValue<T> for &Given<'_, T> {
    #[inline(always)]
    fn given(&self) -> T {
        *self.0
    }
}

impl<T: Value + Clone> GivenClone<T> for &&Given<'_, T> {
    #[inline(always)]
    fn given(&self) -> T {
        self.0.clone()
    }
}

impl<'a, T: ?Sized> GivenReference<'a, T> for Given<'a, T> {
    #[inline(always)]
    fn given(&self) -> &'a T {
        self.0
    }
}

/// A copy of a struct that a function returns though its pullback needs it, too; what owns memory is lent, and none.
#[diagnostic::on_unimplemented(
    message = "`{T}` is returned here, and was changed before by a call that its pullback undoes",
    label = "it owns memory, or is not `Clone`",
    note = "say at the `let` that it owns memory, `#[pullback(by_reference)] let mut tree = Node {{ … }};`, or derive `Clone` for it"
)]
pub trait CopyOf<T> {
    /// It.
    fn whole(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<T> CopyOf<T> for T {
    #[inline(always)]
    fn whole(self) -> T {
        self
    }
}

/// What a function returns that its pullback needs, too.
#[inline(always)]
pub fn returned_copy<T>(_of: &T, copy: impl CopyOf<T>) -> T {
    copy.whole()
}

/// The first argument of an associated function. Where that is `self` by value the rule has it lent; the signature tells which it is.
pub trait Hand<A> {
    /// The argument of the rule.
    fn hand(self) -> A;
}

impl<T: Clone> Hand<T> for Given<'_, T> {
    #[inline(always)]
    fn hand(self) -> T {
        self.0.clone()
    }
}

impl<'a, T: ?Sized> Hand<&'a T> for Given<'a, T> {
    #[inline(always)]
    fn hand(self) -> &'a T {
        self.0
    }
}

/// A constant that a function takes by value: itself, or what lends it.
pub trait ConstantArgument<T> {
    /// The argument of the rule.
    fn owned(self) -> T;
}

impl<T> ConstantArgument<T> for T {
    #[inline(always)]
    fn owned(self) -> T {
        self
    }
}

impl<T: Clone> ConstantArgument<T> for &T {
    #[inline(always)]
    fn owned(self) -> T {
        self.clone()
    }
}

/// The rule of a function that calls itself, at the place of that call: made when it is first needed, since the type of a
/// rule cannot contain itself. One such rule serves all calls at the same depth, and keeps their residuals.
pub struct Recursive<F: Function>(Option<Box<dyn Erased<F>>>);

trait Erased<F: Function>: Send {
    /// See [`State::reset`].
    fn least_room(&self) -> usize;
    fn reset(&mut self);
    /// See [`State::pending`].
    fn pending(&self) -> usize;
    /// See [`State::memory`].
    fn memory(&self) -> usize;
    fn forward(&mut self, args: Args<'_, F>) -> F::Output;
    fn pullback<'a>(
        &mut self,
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> Gradients<F>;
    fn value_and_pullback<'a>(
        &mut self,
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> (F::Output, Gradients<F>);
    fn reclaim_argument(&mut self, parameter: usize, argument: &mut dyn Any) -> bool;
}

struct Stacked<R: Rule> {
    rule: R,
    residuals: Vec<R::Residual>,
}

impl<F: Function, R: Rule<Function = F>> Erased<F> for Stacked<R> {
    fn least_room(&self) -> usize {
        self.rule.least_room()
    }
    fn reset(&mut self) {
        self.residuals.clear();
        self.rule.reset();
    }
    fn pending(&self) -> usize {
        size_of_val(&self.residuals[..]) + self.rule.pending()
    }
    fn memory(&self) -> usize {
        self.residuals.capacity() * size_of::<R::Residual>() + self.rule.memory()
    }
    fn forward(&mut self, args: Args<'_, F>) -> F::Output {
        let (value, residual) = self.rule.forward(args);
        self.residuals.push(residual);
        value
    }
    fn pullback<'a>(
        &mut self,
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> Gradients<F> {
        let residual = self.residuals.pop().expect("a pullback follows its forward");
        self.rule.pullback(residual, args, shadows, seed)
    }
    fn value_and_pullback<'a>(
        &mut self,
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> (F::Output, Gradients<F>) {
        self.rule.value_and_pullback(args, shadows, seed)
    }
    fn reclaim_argument(&mut self, parameter: usize, argument: &mut dyn Any) -> bool {
        self.rule.reclaim_argument(parameter, argument)
    }
}

impl<F: HasRule> Recursive<F> {
    fn made(&mut self) -> &mut dyn Erased<F> {
        let make = || Box::new(Stacked { rule: F::make_rule(), residuals: Vec::new() }) as Box<dyn Erased<F>>;
        &mut **self.0.get_or_insert_with(make)
    }
}

impl<F: Function> Recursive<F> {
    /// Nothing made yet.
    pub const fn new() -> Self {
        Recursive(None)
    }
}

impl<F: Function> Default for Recursive<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: Function> State for Recursive<F> {
    // Whom it calls is not known here.
    const LENGTHS: Lengths = if F::LENDS && F::Parameters::RESIZES { Lengths::Change } else { F::LENGTHS };

    fn least_room(&self) -> usize {
        match &self.0 {
            // Otherwise it does not matter, and is asked for at every depth.
            Some(rule) if const { Self::LENGTHS.need_room() } => rule.least_room(),
            _ => 0,
        }
    }
    fn reset(&mut self) {
        if let Some(rule) = &mut self.0 {
            rule.reset();
        }
    }
    fn shrink(&mut self) {
        self.0 = None;
    }
    fn pending(&self) -> usize {
        self.0.as_ref().map_or(0, |rule| rule.pending())
    }
    fn memory(&self) -> usize {
        self.0.as_ref().map_or(0, |rule| size_of_val(&**rule) + rule.memory())
    }
}

impl<F: HasRule> Rule for Recursive<F> {
    type Function = F;
    type Residual = ();
    const AT_ONCE: bool = <Self as State>::LENGTHS.are_kept();

    fn forward(&mut self, args: Args<'_, F>) -> (F::Output, ()) {
        (self.made().forward(args), ())
    }

    fn pullback<'a>(
        &mut self,
        (): (),
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> Gradients<F> {
        self.0.as_mut().expect("a pullback follows its forward").pullback(args, shadows, seed)
    }

    #[inline]
    fn value_and_pullback<'a>(
        &mut self,
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> (F::Output, Gradients<F>) {
        self.made().value_and_pullback(args, shadows, seed)
    }

    fn reclaim_argument(&mut self, parameter: usize, argument: &mut dyn Any) -> bool {
        self.0.as_mut().is_some_and(|rule| rule.reclaim_argument(parameter, argument))
    }
}

/// The pullback of a function of values by itself, for the methods of numbers and operators: the forward runs once more. A rule that keeps
/// something on the heap serves all such calls of its thread.
#[inline(always)]
pub fn pull_at_once<F: HasRule>(mut args: Args<'_, F>, seed: Cotangent<'_, F>) -> Gradients<F> {
    let mut buffers = F::Parameters::buffers();
    let (args, shadows) = (F::Parameters::reborrow(&mut args), F::Parameters::shadows(&mut buffers));
    with_memory(F::make_rule, |rule| rule.value_and_pullback(args, shadows, seed).1)
}
