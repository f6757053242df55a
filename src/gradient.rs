//! The driver behind `f::gradient()`: a rule, the shadows of its arguments, and one call that runs both passes.

use std::any::Any;

use pullback_rules::{
    Args, Buffers, Cotangent, Extent, Function, Gradients, Output, Parameters, Rule, Scalar,
};

/// What is asked of any rule behind a name.
pub trait Kept: Send {
    /// The parameters, as bits, whose shadows the rule overwrites.
    fn overwrite(&mut self) -> u32;
    /// See [`Rule::reclaim_argument`].
    fn reclaim_argument(&mut self, parameter: usize, argument: &mut dyn Any) -> bool;
    fn reset(&mut self);
    fn shrink(&mut self);
    fn memory(&self) -> usize;
}

/// A rule behind a name: its residual stays inside, so that the type of a gradient object can be written down. This costs
/// one indirect call for a whole gradient.
pub trait Erased<F: Function>: Kept {
    /// Runs both passes from the seed of a gradient: where that is compiled for itself, multiplications by one vanish.
    fn run_scalar(&mut self, args: Args<'_, F>, buffers: &mut Buffers<F>) -> (F::Output, Gradients<F>);
}

/// The same for any seed, and for seeds that `seeds` gives to what `&mut` arguments hold at the end.
trait ErasedWithSeed<F: Function>: Erased<F> {
    fn run(
        &mut self,
        args: Args<'_, F>,
        buffers: &mut Buffers<F>,
        seed: Cotangent<'_, F>,
        seeds: &mut dyn FnMut(&mut Buffers<F>),
    ) -> (F::Output, Gradients<F>);
}

impl<F: Function, R: Rule<Function = F>> ErasedWithSeed<F> for R {
    fn run(
        &mut self,
        mut args: Args<'_, F>,
        buffers: &mut Buffers<F>,
        seed: Cotangent<'_, F>,
        seeds: &mut dyn FnMut(&mut Buffers<F>),
    ) -> (F::Output, Gradients<F>) {
        both(self, &mut args, buffers, seed, seeds)
    }
}

impl<F: Function, R: Rule<Function = F>> Erased<F> for R {
    #[inline]
    fn run_scalar(&mut self, mut args: Args<'_, F>, buffers: &mut Buffers<F>) -> (F::Output, Gradients<F>) {
        both(
            self,
            &mut args,
            buffers,
            F::Output::seed().expect("`gradient` asks for a scalar output"),
            |_| (),
        )
    }
}

impl<R: Rule> Kept for R {
    fn overwrite(&mut self) -> u32 {
        let parameters = <R::Function as Function>::Parameters::COUNT;
        (0..parameters).fold(0, |bits, p| bits | u32::from(Rule::overwrite(self, p)) << p)
    }
    fn reclaim_argument(&mut self, parameter: usize, argument: &mut dyn Any) -> bool {
        Rule::reclaim_argument(self, parameter, argument)
    }
    fn reset(&mut self) {
        pullback_rules::State::reset(self);
    }
    fn shrink(&mut self) {
        pullback_rules::State::shrink(self);
    }
    fn memory(&self) -> usize {
        size_of::<R>() + pullback_rules::State::memory(self)
    }
}

/// What both ways to run have in common; for long functions this is not inlined, and the arguments stay where they are.
#[inline]
fn both<F: Function, R: Rule<Function = F>>(
    rule: &mut R,
    args: &mut Args<'_, F>,
    buffers: &mut Buffers<F>,
    seed: Cotangent<'_, F>,
    seeds: impl FnOnce(&mut Buffers<F>),
) -> (F::Output, Gradients<F>) {
    if const { !R::LENGTHS.are_kept() } {
        let (value, residual) = rule.forward(F::Parameters::reborrow(args));
        F::Parameters::prepare(buffers, args);
        seeds(buffers);
        if const { R::LENGTHS.need_room() } {
            let room = rule.least_room().max(F::Parameters::least_room(args));
            F::Parameters::fit(buffers, args, Extent::Room(room));
        }
        let gradients = {
            let (args, shadows) = (F::Parameters::reborrow(args), F::Parameters::shadows(buffers));
            rule.pullback(residual, args, shadows, seed)
        };
        F::Parameters::fit(buffers, args, Extent::Length);
        return (value, gradients);
    }
    seeds(buffers);
    // Both borrows end here, so that they can have one lifetime.
    let (args, shadows) = (F::Parameters::receive(args), F::Parameters::shadows(buffers));
    rule.value_and_pullback_afresh(args, shadows, seed)
}

/// A rule, the shadows of its arguments, and what is known of them. With [`Erased`] for `R` it computes gradients and nothing
/// else: then both passes are compiled once, for their seed.
pub(crate) struct Runner<F: Function, R: ?Sized = dyn Erased<F>> {
    rule: Box<R>,
    buffers: Buffers<F>,
    /// The parameters, as bits, whose shadows the rule overwrites, or finds to be zero.
    overwritten: u32,
    /// An earlier run did not get to its end.
    interrupted: bool,
}

impl<F: Function> Runner<F> {
    /// Takes a rule that has not been called yet.
    pub(crate) fn new(rule: impl Rule<Function = F> + 'static) -> Self {
        Self::boxed(Box::new(rule))
    }
}

impl<F: Function, R: Erased<F> + ?Sized> Runner<F, R> {
    /// See [`Driver::gradient`].
    #[inline]
    pub(crate) fn gradient(&mut self, args: Args<'_, F>) -> (F::Output, Gradients<F>, &mut Buffers<F>)
    where
        F::Output: ScalarOutput,
    {
        self.run(args, |rule, args, buffers| rule.run_scalar(args, buffers))
    }
}

impl<F: Function, R: Kept + ?Sized> Runner<F, R> {
    pub(crate) fn boxed(mut rule: Box<R>) -> Self {
        let overwritten = rule.overwrite();
        Runner { rule, buffers: F::Parameters::buffers(), overwritten, interrupted: false }
    }

    /// Prepares shadows for `args`, and lets `passes` run both passes.
    #[inline]
    pub(crate) fn run<'a>(
        &mut self,
        args: Args<'a, F>,
        passes: impl FnOnce(&mut R, Args<'a, F>, &mut Buffers<F>) -> (F::Output, Gradients<F>),
    ) -> (F::Output, Gradients<F>, &mut Buffers<F>) {
        self.start();
        F::Parameters::prepare_to_overwrite(&mut self.buffers, &args, self.overwritten);
        let (value, gradients) = passes(&mut self.rule, args, &mut self.buffers);
        self.interrupted = false;
        (value, gradients, &mut self.buffers)
    }

    /// The same for `passes` that also read what comes to the shadows.
    #[inline]
    pub(crate) fn run_within<'a, T>(
        &mut self,
        args: Args<'a, F>,
        passes: impl FnOnce(&mut R, Args<'a, F>, &mut Buffers<F>) -> T,
    ) -> T {
        self.start();
        F::Parameters::prepare_to_overwrite(&mut self.buffers, &args, self.overwritten);
        let result = passes(&mut self.rule, args, &mut self.buffers);
        self.interrupted = false;
        result
    }

    /// The same where shadows are a few numbers, as many as their types tell: made anew, they need not be in memory at all.
    #[inline]
    pub(crate) fn run_afresh<'a, T>(
        &mut self,
        args: Args<'a, F>,
        passes: impl FnOnce(&mut R, Args<'a, F>, &mut Buffers<F>) -> T,
    ) -> T {
        self.start();
        let result = passes(&mut self.rule, args, &mut F::Parameters::buffers());
        self.interrupted = false;
        result
    }

    #[inline]
    fn start(&mut self) {
        if std::mem::replace(&mut self.interrupted, true) {
            self.recover();
        }
    }

    /// For somebody who leaves zeros in the shadows whenever he has read them, so that the next run need not set them to zero. What is added
    /// where a shape changes are zeros.
    pub(crate) fn leaving_zeros(self) -> Self {
        Runner { overwritten: u32::MAX, ..self }
    }

    /// After a run that did not get to its end: neither rule nor shadows are what they should be.
    #[cold]
    #[inline(never)]
    fn recover(&mut self) {
        self.rule.reset();
        if self.overwritten == u32::MAX {
            self.buffers = F::Parameters::buffers();
        }
    }

    /// The bytes of the heap that are held.
    pub(crate) fn memory(&self) -> usize {
        self.rule.memory() + F::Parameters::buffers_size(&self.buffers)
    }
}

/// What a gradient object consists of.
pub struct Driver<F: Function>(Runner<F, dyn ErasedWithSeed<F>>);

impl<F: Function> Driver<F> {
    /// Takes a rule that has not been called yet.
    pub fn new(rule: impl Rule<Function = F> + 'static) -> Self {
        Driver(Runner::boxed(Box::new(rule)))
    }

    /// Runs forward and pullback for a scalar output. Returns the value, the gradients of by-value parameters, and the
    /// shadows of the others.
    #[inline]
    pub fn gradient(&mut self, args: Args<'_, F>) -> (F::Output, Gradients<F>, &mut Buffers<F>)
    where
        F::Output: ScalarOutput,
    {
        self.0.gradient(args)
    }

    /// The same, for good.
    pub(crate) fn gradient_once(mut self, args: Args<'_, F>) -> (F::Output, Gradients<F>, Buffers<F>)
    where
        F::Output: ScalarOutput,
    {
        let (value, gradients, _) = self.gradient(args);
        (value, gradients, self.0.buffers)
    }

    /// The same from a given seed. `seeds` sets the cotangents of what `&mut` arguments hold at the end, which are zero
    /// otherwise.
    #[inline]
    pub fn pullback(
        &mut self,
        args: Args<'_, F>,
        seed: Cotangent<'_, F>,
        seeds: impl FnOnce(&mut Buffers<F>),
    ) -> (F::Output, Gradients<F>, &mut Buffers<F>) {
        let mut seeds = Some(seeds);
        self.0.run(args, |rule, args, buffers| {
            rule.run(args, buffers, seed, &mut |buffers| seeds.take().expect("they are set once")(buffers))
        })
    }

    /// Lets the rule have an argument that the caller has passed by value. Returns the shadows.
    pub fn reclaim<T: 'static>(&mut self, parameter: usize, argument: T) -> &mut Buffers<F> {
        self.0.rule.reclaim_argument(parameter, &mut Some(argument));
        &mut self.0.buffers
    }

    /// Gives back all memory.
    pub fn shrink(&mut self) {
        self.0.rule.shrink();
        self.0.buffers = F::Parameters::buffers();
    }

    /// The bytes of the heap that are held.
    pub fn memory(&self) -> usize {
        self.0.memory()
    }
}

/// An output that has a gradient rather than a Jacobian.
#[diagnostic::on_unimplemented(
    message = "a gradient needs a scalar output, and `{Self}` is none",
    note = "give a seed: `f::pullback()` and `value_and_pullback(args…, seed)`"
)]
// `Value` is no supertrait: as a bound on a type parameter it would hide what its tangent is.
pub trait ScalarOutput {}

impl<T: Scalar> ScalarOutput for T {}
