//! Forward mode: the function run on dual numbers.

use std::array::from_fn;

use pullback_rules::__private::{Lift, LiftParameters, Liftable, Numbers};
use pullback_rules::{Args, Buffers, Function, HeapSize, Output, Parameters};

use crate::extras::Extra;
use crate::lifted::{Lifted, each};

/// What pushforwards of `F` in `N` directions at once keep from call to call.
pub struct Pushforward<F: Liftable<N>, const N: usize = 1> {
    lifted: Lifted<F, N>,
    /// The derivatives of what the function leaves in its `&mut` arguments.
    buffers: [Buffers<F>; N],
    /// The derivatives of what the function makes, one after the other.
    flat: Vec<[f64; N]>,
}

impl<F: Liftable<N>, const N: usize> Default for Pushforward<F, N> {
    fn default() -> Self {
        Pushforward {
            lifted: Lifted::default(),
            buffers: from_fn(|_| F::Parameters::buffers()),
            flat: Vec::new(),
        }
    }
}

/// The derivative of an output.
pub type OutputTangent<F> = <<F as Function>::Output as Output>::Gradient;

impl<F: Liftable<N>, const N: usize> Pushforward<F, N>
where
    OutputTangent<F>: Numbers<f64>,
{
    /// The value, its derivatives in the directions that `direct` sets, and those of what `&mut` arguments hold at the end, where the
    /// function leaves them.
    pub fn run(
        &mut self,
        mut args: Args<'_, F>,
        direct: impl FnOnce(&mut Lifted<F, N>),
    ) -> (F::Output, [OutputTangent<F>; N], &mut [Buffers<F>; N]) {
        let Pushforward { lifted, buffers, flat } = self;
        lifted.load(&args);
        direct(lifted);
        let mut output = <F::Dual as Function>::primal(lifted.lend(F::Parameters::reborrow(&mut args)));
        lifted.unload(&mut args);

        let value = F::Output::lower(&output);
        flat.clear();
        output.visit(&mut |y| flat.push(y.tangent()));
        let tangents = from_fn(|k| {
            let mut tangent = F::Output::empty();
            value.prepare(&mut tangent);
            tangent.visit(&mut next(flat, k));
            tangent
        });

        flat.clear();
        lifted.visit_outputs(&mut |y| flat.push(y.tangent()));
        for (k, buffers) in buffers.iter_mut().enumerate() {
            F::Parameters::prepare_written(buffers, &args);
            F::Parameters::visit_written(buffers, &mut each(next(flat, k)));
        }
        (value, tangents, buffers)
    }
}

/// A visitor that sets coordinates to their derivatives in the direction number `k`.
fn next<const N: usize>(derivatives: &[[f64; N]], k: usize) -> impl FnMut(&mut f64) {
    let mut derivatives = derivatives.iter();
    move |t| *t = derivatives.next().expect("as many as there are coordinates")[k]
}

impl<F: Liftable<N>, const N: usize> Extra for Pushforward<F, N> {
    fn memory(&self) -> usize {
        let buffers: usize = self.buffers.iter().map(F::Parameters::buffers_size).sum();
        self.lifted.memory() + buffers + self.flat.heap_size()
    }
}
