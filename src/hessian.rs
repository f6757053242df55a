//! Second derivatives: the gradient, run on dual numbers.

use ndarray::ArrayView2;
use pullback_rules::__private::{DualNumber, HasDual, HasRule, Lift, LiftParameters, Liftable};
use pullback_rules::{Args, Buffers, Function, Gradients, HeapSize, Parameters};

use crate::extras::Extra;
use crate::gradient::{Runner, ScalarOutput};
use crate::lifted::Lifted;
use crate::matrix::Matrix;

/// How many columns of a Hessian one run computes.
pub(crate) const WIDTH: usize = 4;

/// The rule of `F` in dual numbers with `N` directions, and what it has computed last.
pub(crate) struct Second<F: Liftable<N>, const N: usize> {
    pub(crate) lifted: Lifted<F, N>,
    runner: Runner<F::Dual>,
    /// The gradient, where it was asked for as a whole.
    pub(crate) flat: Vec<DualNumber<f64, N>>,
}

impl<F: Liftable<N>, const N: usize> Default for Second<F, N> {
    fn default() -> Self {
        let runner = Runner::new(<<F as HasDual<f64, N>>::Dual as HasRule>::make_rule());
        Second { lifted: Lifted::default(), runner, flat: Vec::new() }
    }
}

impl<F: Liftable<N>, const N: usize> Second<F, N> {
    /// The bytes of the heap that it owns.
    pub(crate) fn memory(&self) -> usize {
        self.lifted.memory() + self.runner.memory() + self.flat.heap_size()
    }
}

impl<F: Liftable<N>, const N: usize> Second<F, N>
where
    <F::Dual as Function>::Output: ScalarOutput,
{
    /// The value; the gradient goes to `flat`.
    pub(crate) fn run(&mut self, args: Args<'_, F>) -> F::Output {
        let mut flat = std::mem::take(&mut self.flat);
        flat.clear();
        let value = self.run_with(args, |run| flat.extend_from_slice(run));
        self.flat = flat;
        value
    }

    /// The value; `visitor` gets the gradient.
    #[inline]
    fn run_with(
        &mut self,
        mut args: Args<'_, F>,
        mut visitor: impl FnMut(&mut [DualNumber<f64, N>]),
    ) -> F::Output {
        let args = self.lifted.lend(F::Parameters::reborrow(&mut args));
        let (value, mut gradients, buffers) = self.runner.gradient(args);
        F::Parameters::visit_dual_gradient(&mut gradients, buffers, &mut visitor);
        F::Output::lower(&value)
    }
}

/// Where a gradient, or a product of the Hessian with a direction, is shown from: what comes by value, and the buffers of the rest.
pub type Shown<'b, F> = (Gradients<F>, &'b mut Buffers<F>);

/// Gives `buffers` the shapes of `args`, and to each coordinate what `part` makes of its entry in `gradient`.
#[inline]
pub(crate) fn fill<'b, F: Liftable<N>, D, const N: usize>(
    buffers: &'b mut Buffers<F>,
    args: &Args<'_, F>,
    mut gradient: &[D],
    part: impl Fn(&D) -> f64,
) -> Shown<'b, F> {
    let mut gradients = F::Parameters::zeros();
    F::Parameters::prepare_to_overwrite(buffers, args, u32::MAX);
    F::Parameters::visit_gradient(&mut gradients, buffers, &mut |run| {
        let (own, rest) = gradient.split_at(run.len());
        for (d, entry) in run.iter_mut().zip(own) {
            *d = part(entry);
        }
        gradient = rest;
    });
    (gradients, buffers)
}

/// What products of the Hessian of `F` with directions keep from call to call.
pub struct Products<F: Liftable<1>> {
    second: Second<F, 1>,
    /// Values and derivatives of the gradient, one after the other.
    flat: [Vec<f64>; 2],
    gradient: Buffers<F>,
    product: Buffers<F>,
}

impl<F: Liftable<1>> Default for Products<F> {
    fn default() -> Self {
        let buffers = F::Parameters::buffers;
        Products {
            second: Second::default(),
            flat: Default::default(),
            gradient: buffers(),
            product: buffers(),
        }
    }
}

impl<F: Liftable<1>> Products<F>
where
    <F::Dual as Function>::Output: ScalarOutput,
{
    /// The value, the gradient, and the product of the Hessian with the direction that `direct` appends to a list.
    pub fn run(
        &mut self,
        args: Args<'_, F>,
        direct: impl FnOnce(&mut Vec<f64>),
    ) -> (F::Output, Shown<'_, F>, Shown<'_, F>) {
        self.run_scaled(args, 1.0, direct)
    }

    /// The same, with `factor` times both derivatives.
    pub(crate) fn run_scaled(
        &mut self,
        mut args: Args<'_, F>,
        factor: f64,
        direct: impl FnOnce(&mut Vec<f64>),
    ) -> (F::Output, Shown<'_, F>, Shown<'_, F>) {
        let Products { second, flat, gradient, product } = self;
        second.lifted.load(&args);
        second.lifted.direct(direct);
        flat.iter_mut().for_each(Vec::clear);
        let [values, tangents] = flat;
        let value = second.run_with(F::Parameters::reborrow(&mut args), |run| {
            values.extend(run.iter().map(|d| factor * d.value()));
            tangents.extend(run.iter().map(|d| factor * d.tangent()[0]));
        });
        let gradient = fill::<F, _, 1>(gradient, &args, values, |d| *d);
        let product = fill::<F, _, 1>(product, &args, tangents, |d| *d);
        (value, gradient, product)
    }
}

/// What Hessians of `F` keep from call to call.
pub struct Hessian<F: Liftable<WIDTH>> {
    second: Second<F, WIDTH>,
    gradient: Buffers<F>,
    hessian: Matrix,
}

impl<F: Liftable<WIDTH>> Default for Hessian<F> {
    fn default() -> Self {
        Hessian { second: Second::default(), gradient: F::Parameters::buffers(), hessian: Matrix::default() }
    }
}

impl<F: Liftable<WIDTH>> Hessian<F>
where
    <F::Dual as Function>::Output: ScalarOutput,
{
    /// The value, the gradient and the Hessian.
    pub fn run(&mut self, mut args: Args<'_, F>) -> (F::Output, Shown<'_, F>, ArrayView2<'_, f64>) {
        let Hessian { second, gradient, hessian } = self;
        second.lifted.load(&args);
        let n = second.lifted.dimension();
        hessian.resize(n, n);
        let mut value = None;
        for first in (0..n.max(1)).step_by(WIDTH) {
            second.lifted.direct_along(first);
            value = Some(second.run(F::Parameters::reborrow(&mut args)));
            for (i, d) in second.flat.iter().enumerate() {
                for (entry, second) in hessian.row(i)[first..].iter_mut().zip(d.tangent()) {
                    *entry = second;
                }
            }
        }
        let gradient = fill::<F, _, WIDTH>(gradient, &args, &second.flat, |d| d.value());
        (value.expect("run at least once"), gradient, hessian.view())
    }
}

impl<F: Liftable<WIDTH>> Extra for Hessian<F> {
    fn memory(&self) -> usize {
        self.second.memory() + F::Parameters::buffers_size(&self.gradient) + self.hessian.memory()
    }
}

impl<F: Liftable<1>> Extra for Products<F> {
    fn memory(&self) -> usize {
        let buffers = [&self.gradient, &self.product].map(F::Parameters::buffers_size);
        let flat = self.flat.iter().map(HeapSize::heap_size);
        self.second.memory() + buffers.into_iter().chain(flat).sum::<usize>()
    }
}
