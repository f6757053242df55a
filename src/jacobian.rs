//! Jacobians: by columns in forward mode, or by rows in reverse mode, whichever costs less.

use ndarray::ArrayView2;
use pullback_rules::__private::{Lift, Liftable};
use pullback_rules::{Args, Parameters};

use crate::extras::Extra;
use crate::lifted::Lifted;
use crate::matrix::Matrix;
use crate::rows::{HasRows, LANES, Number};

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
    rows: F::Rows,
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
            rows: F::Rows::default(),
            jacobian: Matrix::default(),
            rows_for: None,
        }
    }
}

impl<F: Liftable<WIDTH> + HasRows> Jacobian<F> {
    /// The value and the Jacobian.
    pub fn run(&mut self, mut args: Args<'_, F>) -> (F::Output, ArrayView2<'_, f64>) {
        let again = self.by_rows_again(F::Parameters::reborrow(&mut args));
        let value = again.unwrap_or_else(|| self.by_columns(args));
        (value, self.view())
    }

    /// The Jacobian that was computed last.
    #[inline]
    pub(crate) fn view(&self) -> ArrayView2<'_, f64> {
        self.jacobian.view()
    }

    /// Computes all rows, and returns the value, unless a part of that is missing which has a gradient.
    #[inline]
    pub(crate) fn by_rows(&mut self, args: Args<'_, F>) -> Option<F::Output> {
        let inputs = F::load(&mut self.rows, &args);
        self.loaded_rows(args, Size { outputs: LANES, inputs })
    }

    /// The same where the last call has found that rows cost less, and not with other arguments than such.
    #[inline]
    fn by_rows_again(&mut self, args: Args<'_, F>) -> Option<F::Output> {
        let size = self.rows_for?;
        let inputs = F::load(&mut self.rows, &args);
        (inputs == size.inputs).then(|| self.loaded_rows(args, size))?
    }

    /// Computes all rows, of which there will be about as many as `outputs` says. How many there are shows afterwards.
    #[inline]
    fn loaded_rows(
        &mut self,
        mut args: Args<'_, F>,
        Size { mut outputs, inputs }: Size,
    ) -> Option<F::Output> {
        let Jacobian { rows, jacobian, rows_for, .. } = self;
        *rows_for = None;
        let mut first = 0;
        loop {
            jacobian.resize(outputs, inputs);
            let mut block = jacobian.rows_from::<LANES>(first);
            let unit = |output| std::array::from_fn(|k| if output == first + k { 1.0 } else { 0.0 });
            let mut column = 0;
            let put = |gradients: &[Number]| {
                let columns = column..column + gradients.len();
                for (k, row) in block.iter_mut().enumerate() {
                    let entries = row.get_mut(columns.clone()).unwrap_or_default();
                    for (entry, d) in entries.iter_mut().zip(gradients) {
                        *entry = d.lane(k);
                    }
                }
                column = columns.end;
            };
            let (value, found) = F::pull_rows(rows, F::Parameters::reborrow(&mut args), unit, put)?;
            first = outputs.min(first + LANES);
            outputs = found;
            if first >= outputs {
                jacobian.resize(outputs, inputs);
                *rows_for = rows_cost_less(outputs, inputs).then_some(Size { outputs, inputs });
                return Some(value);
            }
        }
    }

    /// Computes all columns, or all rows if these cost less, and returns the value.
    fn by_columns(&mut self, mut args: Args<'_, F>) -> F::Output {
        self.lifted.load(&args);
        let inputs = self.lifted.dimension();
        let (value, outputs) = self.columns(0, inputs, F::Parameters::reborrow(&mut args));
        let mut computed = WIDTH;
        if rows_cost_less(outputs, inputs) {
            if let Some(value) = self.by_rows(F::Parameters::reborrow(&mut args)) {
                return value;
            }
            computed = 0;
        }
        for first in (computed..inputs).step_by(WIDTH) {
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
        let mut rows = 0..outputs;
        lifted.visit_made(&mut output, &mut |y| {
            let row = jacobian.row(rows.next().expect("as many as were counted"));
            for (entry, tangent) in row[first..].iter_mut().zip(y.tangent()) {
                *entry = tangent;
            }
        });
        (F::Output::lower(&output), outputs)
    }
}

impl<F: Liftable<WIDTH> + HasRows> Extra for Jacobian<F> {
    fn memory(&self) -> usize {
        self.lifted.memory() + F::rows_memory(&self.rows) + self.jacobian.memory()
    }
}
