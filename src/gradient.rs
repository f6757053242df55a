//! The driver behind `f::gradient()`: a rule, the shadows of its arguments, and one call that runs both passes.

use pullback_rules::{Args, Buffers, Cotangent, Function, Gradients, Parameters, Rule};

/// A rule behind a name: its residual stays inside, so that the type of a gradient object can be written down. This costs
/// one indirect call for a whole gradient.
trait Erased<F: Function>: Send {
    fn run(
        &mut self,
        args: Args<'_, F>,
        buffers: &mut Buffers<F>,
        seed: Cotangent<F>,
    ) -> (F::Output, Gradients<F>);
    fn reset(&mut self);
    fn release(&mut self);
}

impl<F: Function, R: Rule<Function = F>> Erased<F> for R {
    #[inline]
    fn run(
        &mut self,
        args: Args<'_, F>,
        buffers: &mut Buffers<F>,
        seed: Cotangent<F>,
    ) -> (F::Output, Gradients<F>) {
        self.value_and_pullback(args, buffers, seed)
    }
    fn reset(&mut self) {
        pullback_rules::State::reset(self);
    }
    fn release(&mut self) {
        pullback_rules::State::release(self);
    }
}

/// What a gradient object consists of.
pub struct Driver<F: Function> {
    rule: Box<dyn Erased<F>>,
    buffers: Buffers<F>,
    /// An earlier run did not get to its end.
    interrupted: bool,
}

impl<F: Function> Driver<F> {
    /// Takes a rule that has not been called yet.
    pub fn new(rule: impl Rule<Function = F> + 'static) -> Self {
        Driver { rule: Box::new(rule), buffers: F::Parameters::buffers(), interrupted: false }
    }

    /// Runs forward and pullback. `seeds` sets the cotangents of what `&mut` arguments hold at the end, which are zero
    /// otherwise. Returns the value, the gradients of by-value parameters, and the shadows of the others.
    #[inline]
    pub fn run(
        &mut self,
        args: Args<'_, F>,
        seed: Cotangent<F>,
        seeds: impl FnOnce(&mut Buffers<F>),
    ) -> (F::Output, Gradients<F>, &Buffers<F>) {
        if std::mem::replace(&mut self.interrupted, true) {
            self.rule.reset();
        }
        F::Parameters::prepare(&mut self.buffers, &args);
        seeds(&mut self.buffers);
        let (value, gradients) = self.rule.run(args, &mut self.buffers, seed);
        self.interrupted = false;
        (value, gradients, &self.buffers)
    }

    /// Gives back all memory.
    pub fn release(&mut self) {
        self.rule.release();
        self.buffers = F::Parameters::buffers();
    }
}

/// An output that has a gradient rather than a Jacobian.
#[diagnostic::on_unimplemented(
    message = "a gradient needs a scalar output, and `{Self}` is none",
    note = "give a seed: `f::pullback()` and `value_and_pullback(args…, seed)`"
)]
pub trait ScalarOutput: pullback_rules::Value {
    /// The seed of a gradient: one.
    fn one() -> Self::Tangent;
}

impl ScalarOutput for f32 {
    fn one() -> f32 {
        1.0
    }
}

impl ScalarOutput for f64 {
    fn one() -> f64 {
        1.0
    }
}

/// The seed of a gradient.
#[inline(always)]
pub fn one<T: ScalarOutput>() -> T::Tangent {
    T::one()
}
