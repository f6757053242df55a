//! Sparse Jacobians.

use ndarray::ArrayView1;
use pullback_rules::__private::{Lift, Liftable};
use pullback_rules::linalg::Pattern;
use pullback_rules::{Args, Function, HeapSize, Parameters};

use super::check::{Product, confirm};
use super::colouring::{Colours, NONE};
use super::detect::detect;
use super::plan::{Groups, JacobianColouring};
use super::run::Run;
use crate::extras::Extra;
use crate::jacobian::WIDTH;
use crate::lifted::Lifted;
use crate::matrix::Matrix;
use crate::rows::{HasRows, LANES, PullRows, Wanted};

/// What sparse Jacobians of `F` keep from call to call.
pub struct SparseJacobian<F: Liftable<WIDTH> + HasRows> {
    lifted: Lifted<F, WIDTH>,
    rows: Box<dyn PullRows<F>>,
    /// Sums of the rows of some colours.
    sums: Matrix,
    values: Vec<f64>,
    /// The product with a full vector.
    whole: Vec<f64>,
    /// Rows that seem to have entries outside of the pattern.
    suspects: Vec<usize>,
}

impl<F: Liftable<WIDTH> + HasRows> Default for SparseJacobian<F> {
    fn default() -> Self {
        SparseJacobian {
            lifted: Lifted::default(),
            rows: F::make_rows(),
            sums: Matrix::default(),
            values: Vec::new(),
            whole: Vec::new(),
            suspects: Vec::new(),
        }
    }
}

impl<F: Liftable<WIDTH> + HasRows> SparseJacobian<F> {
    /// The pattern of the Jacobian.
    pub fn pattern(&mut self, mut args: Args<'_, F>) -> Pattern {
        let lifted = &mut self.lifted;
        lifted.load(&args);
        detect::<WIDTH>(lifted.dimension(), &mut |seed, row| {
            lifted.load(&args);
            lifted.direct_each(seed);
            let mut output = lifted.run(F::Parameters::reborrow(&mut args));
            lifted.visit_made(&mut output, &mut |y| row(y.tangent()));
        })
    }

    /// The value and the entries of the Jacobian.
    pub fn run<'s>(
        &'s mut self,
        mut args: Args<'_, F>,
        colouring: &JacobianColouring,
    ) -> (F::Output, ArrayView1<'s, f64>) {
        let pattern = colouring.pattern();
        self.values.resize(pattern.entries(), 0.0);
        self.lifted.load(&args);
        let inputs = self.lifted.dimension();
        let columns = pattern.columns();
        assert!(inputs == columns, "`{}`: a pattern of {columns} columns for {inputs} coordinates", F::NAME);
        self.suspects.clear();
        let value = self.by_columns(pattern, &colouring.columns, F::Parameters::reborrow(&mut args));
        if !colouring.is_by_columns() {
            self.by_rows(&colouring.rows, &mut args);
        }
        for (row, &whole) in self.whole.iter().enumerate() {
            if !Product::of(pattern.row(row), &self.values[pattern.starts()[row]..]).agrees(whole) {
                self.suspects.push(row);
            }
        }
        if !self.suspects.is_empty() {
            let found = self.pattern(args);
            confirm(F::NAME, "Jacobian", &self.suspects, pattern, &found);
        }
        (value, ArrayView1::from(&self.values))
    }

    /// The value, columns of some colours at a time, and the product of the Jacobian with weights.
    fn by_columns(&mut self, pattern: &Pattern, colours: &Colours, mut args: Args<'_, F>) -> F::Output {
        let SparseJacobian { lifted, values, whole, suspects, .. } = self;
        whole.clear();
        let mut value = None;
        for run in Run::all(colours) {
            lifted.load(&args);
            lifted.direct_each(|column| run.seed(column));
            let mut output = lifted.run(F::Parameters::reborrow(&mut args));
            let mut rows = 0;
            lifted.visit_made(&mut output, &mut |_| rows += 1);
            same_rows::<F>(pattern, rows);
            let mut row = 0;
            lifted.visit_made(&mut output, &mut |y| {
                let (derivatives, columns) = (y.tangent(), pattern.row(row));
                for (&column, entry) in columns.iter().zip(&mut values[pattern.starts()[row]..]) {
                    if let Some(k) = run.part(column) {
                        *entry = derivatives[k];
                    }
                }
                whole.extend(run.product().map(|k| derivatives[k]));
                if run.strays(derivatives, columns) {
                    suspects.push(row);
                }
                row += 1;
            });
            value = Some(F::Output::lower(&output));
        }
        value.expect("run at least once")
    }

    /// Rows of some colours at a time.
    fn by_rows(&mut self, groups: &Groups, args: &mut Args<'_, F>) {
        let SparseJacobian { rows, sums, values, suspects, .. } = self;
        let colours = &groups.rows;
        for first in (0..colours.count).step_by(LANES) {
            let last = colours.count.min(first + LANES);
            let wanted = Wanted { first, colours: Some(&colours.of), rows: LANES, inputs: None };
            rows.pull(args, wanted, sums).expect("any number of coordinates will do");
            let mut strays = [false; LANES];
            for (k, colour) in (first..last).enumerate() {
                let mut entries = groups.of_colour(colour).iter().peekable();
                for (column, &d) in sums.row(k).iter().enumerate() {
                    if let Some(&(_, entry)) = entries.next_if(|entry| entry.0 == column) {
                        if entry != NONE {
                            values[entry] = d;
                        }
                    } else if d.abs() > 0.0 {
                        // One of these rows.
                        strays[k] = true;
                    }
                }
            }
            let astray = |row: &usize| strays.get(colours.of[*row].wrapping_sub(first)).is_some_and(|&k| k);
            suspects.extend((0..colours.of.len()).filter(astray));
        }
    }
}

fn same_rows<F: Function>(pattern: &Pattern, outputs: usize) {
    let rows = pattern.rows();
    assert!(
        outputs == rows,
        "`{}`: a pattern of {rows} rows for {outputs} coordinates of what it makes",
        F::NAME
    );
}

impl<F: Liftable<WIDTH> + HasRows> Extra for SparseJacobian<F> {
    fn memory(&self) -> usize {
        let numbers = self.values.heap_size() + self.whole.heap_size() + self.suspects.heap_size();
        self.lifted.memory() + size_of_val(&*self.rows) + self.rows.memory() + self.sums.memory() + numbers
    }
}
