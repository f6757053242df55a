//! Second derivatives: the gradient, run on dual numbers.

use ndarray::ArrayView2;
use pullback_rules::__private::{DualNumber, HasDual, HasRule, Lift, LiftParameters, Liftable};
use pullback_rules::{Args, Buffers, Function, Gradients, HeapSize, Parameters};

use crate::extras::Extra;
use crate::gradient::{Driver, ScalarOutput};
use crate::lifted::Lifted;
use crate::matrix::Matrix;

/// How many columns of a Hessian one run computes.
pub(crate) const WIDTH: usize = 4;

/// The rule of `F` in dual numbers with `N` directions, and what it has computed last.
pub(crate) struct Second<F: Liftable<N>, const N: usize> {
    pub(crate) lifted: Lifted<F, N>,
    driver: Driver<F::Dual>,
    /// The gradient.
    pub(crate) flat: Vec<DualNumber<f64, N>>,
}

impl<F: Liftable<N>, const N: usize> Default for Second<F, N> {
    fn default() -> Self {
        let driver = Driver::new(<<F as HasDual<f64, N>>::Dual as HasRule>::make_rule());
        Second { lifted: Lifted::default(), driver, flat: Vec::new() }
    }
}

impl<F: Liftable<N>, const N: usize> Second<F, N> {
    /// The bytes of the heap that it owns.
    pub(crate) fn memory(&self) -> usize {
        self.lifted.memory() + self.driver.memory() + self.flat.heap_size()
    }
}

impl<F: Liftable<N>, const N: usize> Second<F, N>
where
    <F::Dual as Function>::Output: ScalarOutput,
{
    /// The value; the gradient goes to `flat`.
    pub(crate) fn run(&mut self, mut args: Args<'_, F>) -> F::Output {
        let args = self.lifted.lend(F::Parameters::reborrow(&mut args));
        let (value, mut gradients, buffers) = self.driver.gradient(args);
        let flat = &mut self.flat;
        flat.clear();
        F::Parameters::visit_dual_gradient(&mut gradients, buffers, &mut |d| flat.push(*d));
        F::Output::lower(&value)
    }
}

/// Where a gradient, or a product of the Hessian with a direction, is shown from: what comes by value, and the buffers of the rest.
pub type Shown<'b, F> = (Gradients<F>, &'b mut Buffers<F>);

/// Gives `buffers` the shapes of `args` and the numbers of `coordinates`.
pub(crate) fn fill<'b, F: Liftable<N>, const N: usize>(
    buffers: &'b mut Buffers<F>,
    args: &Args<'_, F>,
    mut coordinates: impl Iterator<Item = f64>,
) -> Shown<'b, F> {
    let mut gradients = F::Parameters::zeros();
    F::Parameters::prepare(buffers, args);
    F::Parameters::visit_gradient(&mut gradients, buffers, &mut |d| {
        *d = coordinates.next().expect("as many as the argument has");
    });
    (gradients, buffers)
}

/// What products of the Hessian of `F` with directions keep from call to call.
pub struct Products<F: Liftable<1>> {
    second: Second<F, 1>,
    gradient: Buffers<F>,
    product: Buffers<F>,
}

impl<F: Liftable<1>> Default for Products<F> {
    fn default() -> Self {
        let buffers = F::Parameters::buffers;
        Products { second: Second::default(), gradient: buffers(), product: buffers() }
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
        let Products { second, gradient, product } = self;
        second.lifted.load(&args);
        second.lifted.direct(direct);
        let value = second.run(F::Parameters::reborrow(&mut args));
        let gradient = fill::<F, 1>(gradient, &args, second.flat.iter().map(|d| factor * d.value()));
        let product = fill::<F, 1>(product, &args, second.flat.iter().map(|d| factor * d.tangent()[0]));
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
        let gradient = fill::<F, WIDTH>(gradient, &args, second.flat.iter().map(|d| d.value()));
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
        self.second.memory() + buffers.iter().sum::<usize>()
    }
}
