//! The driver behind `f::gradient()`: a rule, the shadows of its arguments, and one call that runs both passes.

use pullback_rules::{Args, Buffers, Cotangent, Function, Gradients, Output, Parameters, Rule, Scalar};

/// A rule behind a name: its residual stays inside, so that the type of a gradient object can be written down. This costs
/// one indirect call for a whole gradient.
trait Erased<F: Function>: Send {
    fn run(
        &mut self,
        args: Args<'_, F>,
        buffers: &mut Buffers<F>,
        seed: Cotangent<'_, F>,
    ) -> (F::Output, Gradients<F>);
    /// The same with the seed of a gradient: where it is compiled for itself, multiplications by one vanish.
    fn run_scalar(&mut self, args: Args<'_, F>, buffers: &mut Buffers<F>) -> (F::Output, Gradients<F>);
    /// The parameters, as bits, whose shadows the rule overwrites.
    fn overwrite(&mut self) -> u32;
    fn reset(&mut self);
    fn shrink(&mut self);
    fn memory(&self) -> usize;
}

impl<F: Function, R: Rule<Function = F>> Erased<F> for R {
    fn run(
        &mut self,
        mut args: Args<'_, F>,
        buffers: &mut Buffers<F>,
        seed: Cotangent<'_, F>,
    ) -> (F::Output, Gradients<F>) {
        both(self, &mut args, buffers, seed)
    }
    fn run_scalar(&mut self, mut args: Args<'_, F>, buffers: &mut Buffers<F>) -> (F::Output, Gradients<F>) {
        both(self, &mut args, buffers, F::Output::seed().expect("`gradient` asks for a scalar output"))
    }
    fn overwrite(&mut self) -> u32 {
        (0..F::Parameters::COUNT).fold(0, |bits, p| bits | u32::from(Rule::overwrite(self, p)) << p)
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
) -> (F::Output, Gradients<F>) {
    // Both borrows end here, so that they can have one lifetime.
    let (args, shadows) = (F::Parameters::receive(args), F::Parameters::shadows(buffers));
    rule.value_and_pullback(args, shadows, seed)
}

/// What a gradient object consists of.
pub struct Driver<F: Function> {
    rule: Box<dyn Erased<F>>,
    buffers: Buffers<F>,
    /// The parameters, as bits, whose shadows the rule overwrites.
    overwritten: u32,
    /// An earlier run did not get to its end.
    interrupted: bool,
}

impl<F: Function> Driver<F> {
    /// Takes a rule that has not been called yet.
    pub fn new(rule: impl Rule<Function = F> + 'static) -> Self {
        let mut rule = Box::new(rule);
        let overwritten = Erased::overwrite(&mut *rule);
        Driver { rule, buffers: F::Parameters::buffers(), overwritten, interrupted: false }
    }

    /// Runs forward and pullback for a scalar output. Returns the value, the gradients of by-value parameters, and the
    /// shadows of the others.
    #[inline]
    pub fn gradient(&mut self, args: Args<'_, F>) -> (F::Output, Gradients<F>, &mut Buffers<F>)
    where
        F::Output: ScalarOutput,
    {
        self.prepare(&args);
        let (value, gradients) = self.rule.run_scalar(args, &mut self.buffers);
        self.interrupted = false;
        (value, gradients, &mut self.buffers)
    }

    /// The same, for good.
    pub(crate) fn gradient_once(mut self, args: Args<'_, F>) -> (F::Output, Gradients<F>, Buffers<F>)
    where
        F::Output: ScalarOutput,
    {
        let (value, gradients, _) = self.gradient(args);
        (value, gradients, self.buffers)
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
        self.prepare(&args);
        seeds(&mut self.buffers);
        let (value, gradients) = self.rule.run(args, &mut self.buffers, seed);
        self.interrupted = false;
        (value, gradients, &mut self.buffers)
    }

    fn prepare(&mut self, args: &Args<'_, F>) {
        if std::mem::replace(&mut self.interrupted, true) {
            self.rule.reset();
        }
        F::Parameters::prepare_to_overwrite(&mut self.buffers, args, self.overwritten);
    }

    /// Gives back all memory.
    pub fn shrink(&mut self) {
        self.rule.shrink();
        self.buffers = F::Parameters::buffers();
    }

    /// The bytes of the heap that are held.
    pub fn memory(&self) -> usize {
        self.rule.memory() + F::Parameters::buffers_size(&self.buffers)
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
