//! Jacobians: by columns in forward mode, or by rows in reverse mode, whichever takes fewer runs.

use ndarray::ArrayView2;
use pullback_rules::__private::{Lift, LiftParameters, Liftable, Numbers};
use pullback_rules::{Args, Output, Parameters};

use crate::extras::Extra;
use crate::gradient::Driver;
use crate::lifted::{Lifted, each};
use crate::matrix::Matrix;
use crate::pushforward::OutputTangent;

/// How many columns one run in forward mode computes.
pub(crate) const WIDTH: usize = 8;

/// What Jacobians of `F` keep from call to call.
pub struct Jacobian<F: Liftable<WIDTH>> {
    lifted: Lifted<F, WIDTH>,
    jacobian: Matrix,
    /// The gradient with respect to the output, for rows.
    seed: OutputTangent<F>,
}

impl<F: Liftable<WIDTH>> Default for Jacobian<F> {
    fn default() -> Self {
        Jacobian { lifted: Lifted::default(), jacobian: Matrix::default(), seed: F::Output::empty() }
    }
}

impl<F: Liftable<WIDTH>> Jacobian<F>
where
    OutputTangent<F>: Numbers<f64>,
{
    /// The value and the Jacobian. `driver` computes rows.
    pub fn run(&mut self, driver: &mut Driver<F>, mut args: Args<'_, F>) -> (F::Output, ArrayView2<'_, f64>) {
        let inputs = {
            self.lifted.load(&args);
            self.lifted.dimension()
        };
        let (value, outputs) = self.columns(0, inputs, F::Parameters::reborrow(&mut args));
        // A run in reverse mode costs about as much as one of so many columns.
        if outputs < (inputs.saturating_sub(WIDTH)).div_ceil(WIDTH) {
            for row in 0..outputs {
                self.row(row, &value, driver, F::Parameters::reborrow(&mut args));
            }
        } else {
            for first in (WIDTH..inputs).step_by(WIDTH) {
                self.columns(first, inputs, F::Parameters::reborrow(&mut args));
            }
        }
        (value, self.jacobian.view())
    }

    /// Some columns, from number `first` on. Returns the value, and how many rows there are.
    fn columns(&mut self, first: usize, inputs: usize, args: Args<'_, F>) -> (F::Output, usize) {
        let Jacobian { lifted, jacobian, .. } = self;
        lifted.load(&args);
        lifted.direct_along(first);
        let mut output = lifted.run(args);
        let mut outputs = 0;
        lifted.visit_made(&mut output, &mut |_| outputs += 1);
        jacobian.resize(outputs, inputs);
        let mut rows = 0..outputs;
        lifted.visit_made(&mut output, &mut |y| {
            let row = jacobian.row(rows.next().expect("as many as were counted"));
            for (entry, tangent) in row[first..].iter_mut().zip(y.tangent()) {
                *entry = tangent;
            }
        });
        (F::Output::lower(&output), outputs)
    }

    /// One row.
    fn row(&mut self, row: usize, value: &F::Output, driver: &mut Driver<F>, args: Args<'_, F>) {
        let Jacobian { jacobian, seed, .. } = self;
        value.prepare(seed);
        let mut index = 0;
        let mut unit = |d: &mut f64| {
            *d = if index == row { 1.0 } else { 0.0 };
            index += 1;
        };
        seed.visit(&mut unit);
        let (_, mut gradients, buffers) = driver.pullback(args, F::Output::lend(seed), |buffers| {
            F::Parameters::visit_written(buffers, &mut each(&mut unit))
        });
        let mut entries = jacobian.row(row).iter_mut();
        let put = |d: &mut f64| *entries.next().expect("as many as there are inputs") = *d;
        F::Parameters::visit_gradient(&mut gradients, buffers, &mut each(put));
    }
}

impl<F: Liftable<WIDTH>> Extra for Jacobian<F> {
    fn memory(&self) -> usize {
        self.lifted.memory() + self.jacobian.memory() + F::Output::gradient_size(&self.seed)
    }
}
