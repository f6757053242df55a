//! Rows of Jacobians in reverse mode: one forward, and a pullback of several seeds at once.

use std::cell::Cell;

use pullback_rules::__private::{
    DualNumber, HasDual, HasRule, Lanes, Lift, LiftParameters, Liftable, Numbers,
};
use pullback_rules::{Args, Buffers, Function, Gradients, Output, Parameters, Rule};

use crate::gradient::{Kept, Runner};
use crate::lifted::{Lifted, each};
use crate::pushforward::OutputTangent;

/// How many seeds are pulled back at once: as many as a register holds numbers in any 64-bit processor. With four, where there are registers
/// for that, values move through memory so much that one run takes longer than two runs with two.
pub(crate) const LANES: usize = 2;

/// What a reverse pass with several seeds is made of: values are the same in all lanes, gradients have a lane for each seed.
pub(crate) type Number = DualNumber<Lanes<LANES>, 0>;

/// The function of such numbers.
type Laned<F> = <F as HasDual<Lanes<LANES>, 0>>::Dual;

/// What that returns.
type Made<F> = <Laned<F> as Function>::Output;

/// Sets the gradients with respect to a value, and to what `&mut` arguments hold.
type Seeding<'s, F> = dyn FnMut(&mut <F as Function>::Output, &mut OutputTangent<F>, &mut Buffers<F>) + 's;

/// A rule behind a name, with seeds that depend on the value.
trait ErasedWithSeeds<F: Function>: Kept {
    /// Runs both passes, and `seed` in between.
    fn run(
        &mut self,
        args: Args<'_, F>,
        buffers: &mut Buffers<F>,
        of_value: &mut OutputTangent<F>,
        seed: &mut Seeding<'_, F>,
    ) -> (F::Output, Gradients<F>);
}

impl<F: Function, R: Rule<Function = F>> ErasedWithSeeds<F> for R {
    fn run(
        &mut self,
        mut args: Args<'_, F>,
        buffers: &mut Buffers<F>,
        of_value: &mut OutputTangent<F>,
        seed: &mut Seeding<'_, F>,
    ) -> (F::Output, Gradients<F>) {
        let (mut value, residual) = self.forward(F::Parameters::reborrow(&mut args));
        seed(&mut value, of_value, buffers);
        let (args, shadows) = (F::Parameters::receive(&mut args), F::Parameters::shadows(buffers));
        let gradients = self.pullback(residual, args, shadows, F::Output::lend(of_value));
        (value, gradients)
    }
}

/// What rows of Jacobians of `F` keep from call to call.
pub struct Rows<F: Liftable<0, Lanes<LANES>>> {
    lifted: Lifted<F, 0, Lanes<LANES>>,
    runner: Runner<Laned<F>, dyn ErasedWithSeeds<Laned<F>>>,
    of_value: OutputTangent<Laned<F>>,
}

impl<F: Liftable<0, Lanes<LANES>>> Default for Rows<F> {
    fn default() -> Self {
        Rows {
            lifted: Lifted::default(),
            runner: Runner::boxed(Box::new(<Laned<F> as HasRule>::make_rule())),
            of_value: Made::<F>::empty(),
        }
    }
}

/// A function whose Jacobian has rows. This is a trait, since with two kinds of dual numbers in the bounds of one function the compiler
/// takes one for the other.
pub trait HasRows: Function {
    /// What rows keep from call to call.
    type Rows: Default + Send;

    /// Takes over the values of the arguments, and tells how many coordinates the active ones have.
    fn load(rows: &mut Self::Rows, args: &Args<'_, Self>) -> usize;

    /// Multiplies rows by the Jacobian, from the left: `seed` tells what they hold for each coordinate of what the function makes, and
    /// `visitor` gets the products for those of the arguments, which were [loaded](Self::load) before.
    ///
    /// Returns the value, and how many coordinates the function makes; or nothing where some of these are missing, as in `None`, and have a
    /// gradient all the same.
    fn pull_rows(
        rows: &mut Self::Rows,
        args: Args<'_, Self>,
        seed: impl FnMut(usize) -> [f64; LANES],
        visitor: impl FnMut(&[Number]),
    ) -> Option<(Self::Output, usize)>;

    /// The bytes of the heap that are held.
    fn rows_memory(rows: &Self::Rows) -> usize;
}

impl<F: Liftable<0, Lanes<LANES>>> HasRows for F {
    type Rows = Rows<F>;

    #[inline]
    fn load(rows: &mut Rows<F>, args: &Args<'_, F>) -> usize {
        rows.lifted.load(args);
        rows.lifted.dimension()
    }

    #[inline]
    fn pull_rows(
        rows: &mut Rows<F>,
        mut args: Args<'_, F>,
        mut seed: impl FnMut(usize) -> [f64; LANES],
        mut visitor: impl FnMut(&[Number]),
    ) -> Option<(F::Output, usize)> {
        let Rows { lifted, runner, of_value } = rows;
        let (mut missing, outputs) = (0, Cell::new(0));
        let mut find = |value: &mut Made<F>, of_value: &mut OutputTangent<Laned<F>>, buffers: &mut _| {
            let mut set = |d: &mut Number| {
                *d = Number::variable(Lanes(seed(outputs.get())), []);
                outputs.set(outputs.get() + 1);
            };
            value.prepare(of_value);
            of_value.visit(&mut set);
            missing = outputs.get();
            value.visit(&mut |_| missing -= 1);
            F::Parameters::visit_dual_written(buffers, &mut each(set));
        };
        let args = lifted.lend(F::Parameters::reborrow(&mut args));
        let (value, mut gradients, buffers) =
            runner.run(args, |rule, args, buffers| rule.run(args, buffers, of_value, &mut find));
        F::Parameters::visit_dual_gradient(&mut gradients, buffers, &mut |run| visitor(run));
        (missing == 0).then(|| (F::Output::lower(&value), outputs.get()))
    }

    fn rows_memory(rows: &Rows<F>) -> usize {
        let of_value = Made::<F>::gradient_size(&rows.of_value);
        rows.lifted.memory() + rows.runner.memory() + of_value
    }
}
