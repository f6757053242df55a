//! Jacobians: by columns in forward mode, or by rows in reverse mode, whichever costs less.

use ndarray::ArrayView2;
use pullback_rules::__private::{Lift, Liftable};
use pullback_rules::{Args, Parameters};

use crate::extras::Extra;
use crate::lifted::Lifted;
use crate::matrix::Matrix;
use crate::rows::{Found, HasRows, LANES, PullRows, Wanted};

/// How many columns one run in forward mode computes.
pub(crate) const WIDTH: usize = 8;

/// Whether so many rows cost less than so many columns: a run in reverse mode takes half to three quarters of the instructions of one in
/// forward mode.
pub(crate) fn rows_cost_less(rows: usize, columns: usize) -> bool {
    rows.div_ceil(LANES) <= columns.div_ceil(WIDTH)
}

/// What Jacobians of `F` keep from call to call.
pub struct Jacobian<F: Liftable<WIDTH> + HasRows> {
    lifted: Lifted<F, WIDTH>,
    rows: Box<dyn PullRows<F>>,
    jacobian: Matrix,
    /// The size of the Jacobian for which the last call has found that rows cost less. Arguments with other numbers of coordinates may have
    /// been seen before, by columns, and memory for their rows would have to be made.
    rows_for: Option<Size>,
}

#[derive(Clone, Copy)]
struct Size {
    outputs: usize,
    inputs: usize,
}

impl<F: Liftable<WIDTH> + HasRows> Default for Jacobian<F> {
    fn default() -> Self {
        Jacobian {
            lifted: Lifted::default(),
            rows: F::make_rows(),
            jacobian: Matrix::default(),
            rows_for: None,
        }
    }
}

impl<F: Liftable<WIDTH> + HasRows> Jacobian<F> {
    /// The value and the Jacobian.
    #[inline]
    pub fn run(&mut self, mut args: Args<'_, F>) -> (F::Output, ArrayView2<'_, f64>) {
        let again =
            self.rows_for.and_then(|size| self.loaded_rows(&mut args, size.outputs, Some(size.inputs)));
        let value = match again {
            Some(value) => value,
            None => self.by_columns(args),
        };
        (value, self.view())
    }

    /// The Jacobian that was computed last.
    #[inline]
    pub(crate) fn view(&self) -> ArrayView2<'_, f64> {
        self.jacobian.view()
    }

    /// Computes all rows, and returns the value.
    pub(crate) fn by_rows(&mut self, args: &mut Args<'_, F>) -> F::Output {
        self.loaded_rows(args, LANES, None).expect("any number of coordinates will do")
    }

    /// Computes all rows, of which there will be about as many as `outputs` says, unless the arguments have another number of coordinates
    /// than `inputs`. How many rows there are shows afterwards.
    #[inline]
    fn loaded_rows(
        &mut self,
        args: &mut Args<'_, F>,
        outputs: usize,
        inputs: Option<usize>,
    ) -> Option<F::Output> {
        self.rows_for = None;
        let mut wanted = Wanted { first: 0, colours: None, rows: outputs, inputs };
        loop {
            let Found { value, outputs, inputs } = self.rows.pull(args, wanted, &mut self.jacobian)?;
            wanted.first = wanted.rows.min(wanted.first + LANES);
            wanted.rows = outputs;
            if wanted.first >= outputs {
                self.jacobian.resize(outputs, inputs);
                self.rows_for = rows_cost_less(outputs, inputs).then_some(Size { outputs, inputs });
                return Some(value);
            }
        }
    }

    /// Computes all columns, or all rows if these cost less, and returns the value.
    #[inline(never)]
    fn by_columns(&mut self, mut args: Args<'_, F>) -> F::Output {
        self.lifted.load(&args);
        let inputs = self.lifted.dimension();
        let (value, outputs) = self.columns(0, inputs, F::Parameters::reborrow(&mut args));
        if rows_cost_less(outputs, inputs) {
            return self.by_rows(&mut args);
        }
        for first in (WIDTH..inputs).step_by(WIDTH) {
            self.columns(first, inputs, F::Parameters::reborrow(&mut args));
        }
        value
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
        let mut row = 0;
        lifted.visit_made(&mut output, &mut |y| {
            jacobian.put(row, first, y.tangent());
            row += 1;
        });
        (F::Output::lower(&output), outputs)
    }
}

impl<F: Liftable<WIDTH> + HasRows> Extra for Jacobian<F> {
    fn memory(&self) -> usize {
        self.lifted.memory() + size_of_val(&*self.rows) + self.rows.memory() + self.jacobian.memory()
    }
}
