//! Forward mode: the function run on dual numbers.

use pullback_rules::__private::{Lift, LiftParameters, Liftable, Numbers};
use pullback_rules::{Args, Buffers, Function, HeapSize, Output, Parameters};

use crate::extras::Extra;
use crate::lifted::{Lifted, each};

/// What pushforwards of `F` keep from call to call.
pub struct Pushforward<F: Liftable<1>> {
    lifted: Lifted<F, 1>,
    /// The derivatives of what the function leaves in its `&mut` arguments.
    buffers: Buffers<F>,
    /// The derivatives of what the function makes, one after the other.
    flat: Vec<f64>,
}

impl<F: Liftable<1>> Default for Pushforward<F> {
    fn default() -> Self {
        Pushforward { lifted: Lifted::default(), buffers: F::Parameters::buffers(), flat: Vec::new() }
    }
}

/// The derivative of an output.
pub type OutputTangent<F> = <<F as Function>::Output as Output>::Gradient;

impl<F: Liftable<1>> Pushforward<F>
where
    OutputTangent<F>: Numbers<f64>,
{
    /// The value, its derivative in the direction that `direct` appends to a list, and the derivatives of what `&mut` arguments
    /// hold at the end, where the function leaves them.
    pub fn run(
        &mut self,
        mut args: Args<'_, F>,
        direct: impl FnOnce(&mut Vec<f64>),
    ) -> (F::Output, OutputTangent<F>, &mut Buffers<F>) {
        let Pushforward { lifted, buffers, flat } = self;
        lifted.load(&args);
        lifted.direct(direct);
        let mut output = <F::Dual as Function>::primal(lifted.lend(F::Parameters::reborrow(&mut args)));
        lifted.unload(&mut args);

        let value = F::Output::lower(&output);
        let mut tangent = F::Output::empty();
        value.prepare(&mut tangent);
        flat.clear();
        output.visit(&mut |y| flat.push(y.tangent()[0]));
        let mut derivatives = flat.iter();
        tangent.visit(&mut |t| *t = *derivatives.next().expect("as many as the value has coordinates"));

        F::Parameters::prepare(buffers, &args);
        flat.clear();
        lifted.visit_outputs(&mut |y| flat.push(y.tangent()[0]));
        let mut derivatives = flat.iter();
        let take = |t: &mut f64| *t = *derivatives.next().expect("as many as the arguments have coordinates");
        F::Parameters::visit_written(buffers, &mut each(take));
        (value, tangent, buffers)
    }
}

impl<F: Liftable<1>> Extra for Pushforward<F> {
    fn memory(&self) -> usize {
        self.lifted.memory() + F::Parameters::buffers_size(&self.buffers) + self.flat.heap_size()
    }
}
