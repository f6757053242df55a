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
        let Second { lifted, runner, flat } = self;
        flat.clear();
        run::<F, N>(lifted, runner, args, |run| flat.extend_from_slice(run))
    }
}

/// The value; `visitor` gets the gradient.
#[inline]
fn run<F: Liftable<N>, const N: usize>(
    lifted: &mut Lifted<F, N>,
    runner: &mut Runner<F::Dual>,
    mut args: Args<'_, F>,
    mut visitor: impl FnMut(&mut [DualNumber<f64, N>]),
) -> F::Output
where
    <F::Dual as Function>::Output: ScalarOutput,
{
    let (value, mut gradients, buffers) = runner.gradient(lifted.lend(F::Parameters::reborrow(&mut args)));
    F::Parameters::visit_dual_gradient(&mut gradients, buffers, &mut visitor);
    F::Output::lower(&value)
}

/// Where a gradient, or a product of the Hessian with a direction, is shown from: what comes by value, and the buffers of the rest.
pub type Shown<'b, F> = (Gradients<F>, &'b mut Buffers<F>);

/// Gives `buffers` the shapes of `args`, and to each coordinate what `part` makes of its entry in `gradient`.
#[inline]
pub(crate) fn fill<'b, F: Liftable<N>, D, const N: usize>(
    buffers: &'b mut Buffers<F>,
    args: &Args<'_, F>,
    gradient: &[D],
    part: impl Fn(&D) -> f64,
) -> Shown<'b, F> {
    let mut shown = zeros::<F, N>(buffers, args);
    put::<F, D, N>(&mut shown, gradient, part);
    shown
}

/// Gives `buffers` the shapes of `args`; what is in them does not matter.
#[inline]
fn zeros<'b, F: Liftable<N>, const N: usize>(
    buffers: &'b mut Buffers<F>,
    args: &Args<'_, F>,
) -> Shown<'b, F> {
    F::Parameters::prepare_to_overwrite(buffers, args, u32::MAX);
    (F::Parameters::zeros(), buffers)
}

/// Sets each coordinate to what `part` makes of its entry in `gradient`.
#[inline]
fn put<F: Liftable<N>, D, const N: usize>(
    (gradients, buffers): &mut Shown<'_, F>,
    mut gradient: &[D],
    part: impl Fn(&D) -> f64,
) {
    F::Parameters::visit_gradient(gradients, buffers, &mut |run| {
        let (own, rest) = gradient.split_at(run.len());
        for (d, entry) in run.iter_mut().zip(own) {
            *d = part(entry);
        }
        gradient = rest;
    });
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
    /// The value, the gradient, and the product of the Hessian with the direction that `direct` sets.
    pub fn run(
        &mut self,
        args: Args<'_, F>,
        direct: impl FnOnce(&mut Lifted<F, 1>),
    ) -> (F::Output, Shown<'_, F>, Shown<'_, F>) {
        self.run_scaled(args, |d| d, direct)
    }

    /// The same, with what `scale` makes of both derivatives.
    #[inline]
    pub(crate) fn run_scaled(
        &mut self,
        mut args: Args<'_, F>,
        scale: impl Fn(f64) -> f64,
        direct: impl FnOnce(&mut Lifted<F, 1>),
    ) -> (F::Output, Shown<'_, F>, Shown<'_, F>) {
        let Products { second: Second { lifted, runner, flat }, gradient, product } = self;
        lifted.load(&args);
        direct(lifted);
        let mut gradient = zeros::<F, 1>(gradient, &args);
        let mut product = zeros::<F, 1>(product, &args);
        let dimension = lifted.dimension();
        flat.clear();
        let mut found = dimension == 0;
        let value = run::<F, 1>(lifted, runner, F::Parameters::reborrow(&mut args), |run| {
            // What lies in one piece is not copied.
            let whole = if run.len() == dimension {
                run
            } else {
                flat.extend_from_slice(run);
                &flat[..]
            };
            if whole.len() == dimension {
                put::<F, _, 1>(&mut gradient, whole, |d| scale(d.value()));
                put::<F, _, 1>(&mut product, whole, |d| scale(d.tangent()[0]));
                found = true;
            }
        });
        assert!(found, "a gradient has the coordinates of its arguments");
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
        self.second.memory() + buffers.into_iter().sum::<usize>()
    }
}
