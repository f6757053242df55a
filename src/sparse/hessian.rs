//! Sparse Hessians.

use ndarray::ArrayView1;
use pullback_rules::__private::Liftable;
use pullback_rules::linalg::Pattern;
use pullback_rules::{Args, Buffers, Function, HeapSize, Parameters};

use super::check::{Product, confirm};
use super::detect::detect;
use super::plan::HessianColouring;
use super::run::Run;
use crate::extras::Extra;
use crate::gradient::ScalarOutput;
use crate::hessian::{Second, Shown, WIDTH, fill};

/// What sparse Hessians of `F` keep from call to call.
pub struct SparseHessian<F: Liftable<WIDTH>> {
    second: Second<F, WIDTH>,
    gradient: Buffers<F>,
    values: Vec<f64>,
    /// Rows that seem to have entries outside of the pattern.
    suspects: Vec<usize>,
}

impl<F: Liftable<WIDTH>> Default for SparseHessian<F> {
    fn default() -> Self {
        SparseHessian {
            second: Second::default(),
            gradient: F::Parameters::buffers(),
            values: Vec::new(),
            suspects: Vec::new(),
        }
    }
}

impl<F: Liftable<WIDTH>> SparseHessian<F>
where
    <F::Dual as Function>::Output: ScalarOutput,
{
    /// The pattern of the Hessian.
    pub fn pattern(&mut self, mut args: Args<'_, F>) -> Pattern {
        let second = &mut self.second;
        second.lifted.load(&args);
        let found = detect::<WIDTH>(second.lifted.dimension(), &mut |seed, row| {
            second.lifted.direct_each(seed);
            second.run(F::Parameters::reborrow(&mut args));
            second.flat.iter().for_each(|d| row(d.tangent()));
        });
        found.union(&found.transposed())
    }

    /// The value, the gradient, and the entries of the Hessian.
    pub fn run<'s>(
        &'s mut self,
        mut args: Args<'_, F>,
        colouring: &HessianColouring,
    ) -> (F::Output, Shown<'s, F>, ArrayView1<'s, f64>) {
        let SparseHessian { second, values, suspects, .. } = self;
        suspects.clear();
        let (pattern, colours) = (colouring.pattern(), &colouring.columns);
        values.resize(pattern.entries(), 0.0);
        second.lifted.load(&args);
        let (inputs, columns) = (second.lifted.dimension(), pattern.columns());
        assert!(inputs == columns, "`{}`: a pattern of {columns} columns for {inputs} coordinates", F::NAME);
        let mut value = None;
        for run in Run::all(colours) {
            second.lifted.direct_each(|column| run.seed(column));
            value = Some(second.run(F::Parameters::reborrow(&mut args)));
            for (row, d) in second.flat.iter().enumerate() {
                let (derivatives, columns) = (d.tangent(), pattern.row(row));
                for (entry, &column) in (pattern.starts()[row]..).zip(columns) {
                    if let (Some(k), Some(mirror)) = (run.part(column), colouring.mirrors[entry]) {
                        values[entry] = derivatives[k];
                        values[mirror] = derivatives[k];
                    }
                }
                if run.strays(derivatives, columns) {
                    suspects.push(row);
                }
            }
            let Some(k) = run.product() else { continue };
            for (row, d) in second.flat.iter().enumerate() {
                if !Product::of(pattern.row(row), &values[pattern.starts()[row]..]).agrees(d.tangent()[k]) {
                    suspects.push(row);
                }
            }
        }
        if !self.suspects.is_empty() {
            let found = self.pattern(F::Parameters::reborrow(&mut args));
            confirm(F::NAME, "Hessian", &self.suspects, pattern, &found);
        }
        let SparseHessian { second, gradient, values, .. } = self;
        let gradient = fill::<F, _, WIDTH>(gradient, &args, &second.flat, |d| d.value());
        (value.expect("run at least once"), gradient, ArrayView1::from(&*values))
    }
}

impl<F: Liftable<WIDTH>> Extra for SparseHessian<F> {
    fn memory(&self) -> usize {
        self.second.memory()
            + F::Parameters::buffers_size(&self.gradient)
            + self.values.heap_size()
            + self.suspects.heap_size()
    }
}
