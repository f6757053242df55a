//! Second derivatives: the gradient, run on dual numbers.

use ndarray::ArrayView2;
use pullback_rules::__private::{Direction, DualNumber, HasDual, HasRule, Lift, LiftParameters, Liftable};
use pullback_rules::{Args, Buffers, Function, Gradients, HeapSize, Parameters, Rule};

use crate::extras::Extra;
use crate::gradient::{Erased, Kept, Runner, ScalarOutput};
use crate::lifted::Lifted;
use crate::matrix::Matrix;

/// How many columns of a Hessian one run computes.
pub(crate) const WIDTH: usize = 4;

/// The rule of `F` in dual numbers with `N` directions, and what it has computed last.
pub(crate) struct Second<F: Liftable<N>, const N: usize, R: ?Sized = dyn Erased<<F as HasDual<f64, N>>::Dual>>
{
    pub(crate) lifted: Lifted<F, N>,
    runner: Runner<F::Dual, R>,
    /// The gradient, where it was asked for as a whole.
    pub(crate) flat: Vec<DualNumber<f64, N>>,
}

impl<F: Liftable<N>, const N: usize> Default for Second<F, N> {
    fn default() -> Self {
        Second::of(Runner::new(<F::Dual as HasRule>::make_rule()))
    }
}

impl<F: Liftable<N>, const N: usize, R: Kept + ?Sized> Second<F, N, R> {
    fn of(runner: Runner<F::Dual, R>) -> Self {
        Second { lifted: Lifted::default(), runner, flat: Vec::new() }
    }

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
    pub(crate) fn run(&mut self, mut args: Args<'_, F>) -> F::Output {
        let Second { lifted, runner, flat } = self;
        let args = lifted.lend(F::Parameters::reborrow(&mut args));
        let (value, mut gradients, buffers) = runner.gradient(args);
        flat.clear();
        F::Parameters::visit_dual_gradient(&mut gradients, buffers, &mut |run| flat.extend_from_slice(run));
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
pub struct Products<F: Liftable<1>, R: ?Sized = dyn Erased<<F as HasDual<f64, 1>>::Dual>> {
    second: Second<F, 1, R>,
    gradient: Buffers<F>,
    product: Buffers<F>,
}

impl<F: Liftable<1>> Default for Products<F> {
    fn default() -> Self {
        Products::of(Runner::new(<F::Dual as HasRule>::make_rule()))
    }
}

impl<F: Liftable<1>, R: Kept + ?Sized> Products<F, R> {
    fn of(runner: Runner<F::Dual, R>) -> Self {
        let buffers = F::Parameters::buffers;
        Products { second: Second::of(runner.leaving_zeros()), gradient: buffers(), product: buffers() }
    }
}

impl<F: Liftable<1>, R: Erased<F::Dual> + ?Sized> Products<F, R>
where
    <F::Dual as Function>::Output: ScalarOutput,
{
    /// The value, the gradient, and the product of the Hessian with the direction whose coordinates `append` appends to a list.
    pub(crate) fn run_flat(
        &mut self,
        args: Args<'_, F>,
        append: impl FnOnce(&mut Vec<f64>),
    ) -> (F::Output, Shown<'_, F>, Shown<'_, F>) {
        self.run_scaled_flat(args, |d| d, append)
    }

    /// The same, with what `scale` makes of both derivatives.
    pub(crate) fn run_scaled_flat(
        &mut self,
        args: Args<'_, F>,
        scale: impl Fn(f64) -> f64,
        append: impl FnOnce(&mut Vec<f64>),
    ) -> (F::Output, Shown<'_, F>, Shown<'_, F>) {
        self.second.lifted.load(&args);
        self.second.lifted.direct_flat(0, append);
        self.loaded(args, scale)
    }

    /// Runs from arguments that have been loaded, with what `scale` makes of both derivatives.
    #[inline]
    fn loaded(
        &mut self,
        mut args: Args<'_, F>,
        scale: impl Fn(f64) -> f64,
    ) -> (F::Output, Shown<'_, F>, Shown<'_, F>) {
        let Products { second: Second { lifted, runner, flat }, gradient, product } = self;
        let dimension = lifted.dimension();
        let mut missing = dimension;
        let (value, mut gradients, buffers) =
            runner.gradient(lifted.lend(F::Parameters::reborrow(&mut args)));
        let mut gradient = zeros::<F, 1>(gradient, &args);
        let mut product = zeros::<F, 1>(product, &args);
        F::Parameters::visit_dual_gradient(&mut gradients, buffers, &mut |run| {
            if run.is_empty() {
                return;
            }
            // What lies in one piece is not copied.
            if run.len() == dimension && both::<F>(&mut gradient, &mut product, run, &scale) {
                missing = 0;
                return;
            }
            if missing == dimension {
                flat.clear();
            }
            flat.extend_from_slice(run);
            run.fill(DualNumber::default());
            missing = missing.wrapping_sub(run.len());
            if missing == 0 {
                put::<F, _, 1>(&mut gradient, flat, |d| scale(d.value()));
                put::<F, _, 1>(&mut product, flat, |d| scale(d.tangent()[0]));
            }
        });
        assert!(missing == 0, "a gradient has the coordinates of its arguments");
        (F::Output::lower(&value), gradient, product)
    }
}

/// Takes gradient and product out of `run` if they lie in one piece, too, and says whether they do.
#[inline]
fn both<F: Liftable<1>>(
    gradient: &mut Shown<'_, F>,
    product: &mut Shown<'_, F>,
    run: &mut [DualNumber<f64, 1>],
    scale: impl Fn(f64) -> f64,
) -> bool {
    let mut taken = false;
    F::Parameters::visit_gradient(&mut gradient.0, gradient.1, &mut |first| {
        F::Parameters::visit_gradient(&mut product.0, product.1, &mut |second| {
            if first.len() == run.len() && second.len() == run.len() {
                for ((d, first), second) in run.iter_mut().zip(&mut *first).zip(second) {
                    let d = std::mem::take(d);
                    (*first, *second) = (scale(d.value()), scale(d.tangent()[0]));
                }
                taken = true;
            }
        });
    });
    taken
}

/// Products behind a name that does not tell the type of the rule: all of a call is compiled as one.
trait ErasedProducts<F: Function>: Extra {
    fn run(
        &mut self,
        args: Args<'_, F>,
        directions: &[&dyn Direction],
    ) -> (F::Output, Shown<'_, F>, Shown<'_, F>);
}

impl<F: Liftable<1>, R: Rule<Function = F::Dual> + 'static> ErasedProducts<F> for Products<F, R>
where
    <F::Dual as Function>::Output: ScalarOutput,
{
    fn run(
        &mut self,
        args: Args<'_, F>,
        directions: &[&dyn Direction],
    ) -> (F::Output, Shown<'_, F>, Shown<'_, F>) {
        self.second.lifted.load_along(&args, directions);
        self.loaded(args, |d| d)
    }
}

/// The products of a gradient object, made on their first use.
pub struct KeptProducts<F: Function>(Option<Box<dyn ErasedProducts<F>>>);

impl<F: Function> KeptProducts<F> {
    /// Nothing yet.
    pub const fn new() -> Self {
        KeptProducts(None)
    }

    /// Gives back all memory.
    pub fn shrink(&mut self) {
        self.0 = None;
    }

    /// The bytes of the heap that are held.
    pub fn memory(&self) -> usize {
        self.0.as_ref().map_or(0, |products| size_of_val(&**products) + products.memory())
    }
}

impl<F: Function> Default for KeptProducts<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: Liftable<1>> KeptProducts<F>
where
    <F::Dual as Function>::Output: ScalarOutput,
{
    /// The value, the gradient, and the product of the Hessian with a direction, which consists of one for each argument.
    ///
    /// # Panics
    /// If one has another size than its argument.
    #[inline]
    pub fn run(
        &mut self,
        args: Args<'_, F>,
        directions: &[&dyn Direction],
    ) -> (F::Output, Shown<'_, F>, Shown<'_, F>) {
        self.0.get_or_insert_with(make).run(args, directions)
    }
}

#[cold]
fn make<F: Liftable<1>>() -> Box<dyn ErasedProducts<F>>
where
    <F::Dual as Function>::Output: ScalarOutput,
{
    Box::new(Products::of(Runner::boxed(Box::new(<F::Dual as HasRule>::make_rule()))))
}

/// What Hessians of `F` keep from call to call.
pub struct Hessian<F: Liftable<WIDTH>> {
    second: Second<F, WIDTH>,
    gradient: Buffers<F>,
    hessian: Matrix,
    /// The diagonal alone, where it was asked for: its entries, and in the form of a gradient.
    entries: Vec<f64>,
    diagonal: Buffers<F>,
}

impl<F: Liftable<WIDTH>> Default for Hessian<F> {
    fn default() -> Self {
        let buffers = F::Parameters::buffers;
        Hessian {
            second: Second::default(),
            gradient: buffers(),
            hessian: Matrix::default(),
            entries: Vec::new(),
            diagonal: buffers(),
        }
    }
}

impl<F: Liftable<WIDTH>> Hessian<F>
where
    <F::Dual as Function>::Output: ScalarOutput,
{
    /// The value, the gradient and the Hessian.
    pub fn run(&mut self, mut args: Args<'_, F>) -> (F::Output, Shown<'_, F>, ArrayView2<'_, f64>) {
        let Hessian { second, gradient, hessian, .. } = self;
        second.lifted.load(&args);
        let n = second.lifted.dimension();
        hessian.resize(n, n);
        let value = by_columns(second, &mut args, n, |first, gradient| {
            for (i, d) in gradient.iter().enumerate() {
                for (entry, second) in hessian.row(i)[first..].iter_mut().zip(d.tangent()) {
                    *entry = second;
                }
            }
        });
        let gradient = fill::<F, _, WIDTH>(gradient, &args, &second.flat, |d| d.value());
        (value, gradient, hessian.view())
    }

    /// The value, the gradient and the diagonal of the Hessian, which has the form of a gradient.
    pub fn diagonal(&mut self, mut args: Args<'_, F>) -> (F::Output, Shown<'_, F>, Shown<'_, F>) {
        let Hessian { second, gradient, entries, diagonal, .. } = self;
        second.lifted.load(&args);
        let n = second.lifted.dimension();
        entries.clear();
        let value = by_columns(second, &mut args, n, |first, gradient| {
            let own = gradient[first..].iter().take(WIDTH).enumerate();
            entries.extend(own.map(|(k, d)| d.tangent()[k]));
        });
        let gradient = fill::<F, _, WIDTH>(gradient, &args, &second.flat, |d| d.value());
        (value, gradient, fill::<F, _, WIDTH>(diagonal, &args, entries, |d| *d))
    }
}

/// The value; `visit` gets the gradient for the columns from a number on, [`WIDTH`] of them each time, out of `n`.
fn by_columns<F: Liftable<WIDTH>>(
    second: &mut Second<F, WIDTH>,
    args: &mut Args<'_, F>,
    n: usize,
    mut visit: impl FnMut(usize, &[DualNumber<f64, WIDTH>]),
) -> F::Output
where
    <F::Dual as Function>::Output: ScalarOutput,
{
    let mut value = None;
    for first in (0..n.max(1)).step_by(WIDTH) {
        second.lifted.direct_along(first);
        value = Some(second.run(F::Parameters::reborrow(args)));
        visit(first, &second.flat);
    }
    value.expect("run at least once")
}

impl<F: Liftable<WIDTH>> Extra for Hessian<F> {
    fn memory(&self) -> usize {
        let buffers = [&self.gradient, &self.diagonal].map(F::Parameters::buffers_size);
        self.second.memory()
            + buffers.into_iter().sum::<usize>()
            + self.hessian.memory()
            + self.entries.heap_size()
    }
}

impl<F: Liftable<1>, R: Kept + ?Sized + 'static> Extra for Products<F, R> {
    fn memory(&self) -> usize {
        let buffers = [&self.gradient, &self.product].map(F::Parameters::buffers_size);
        self.second.memory() + buffers.into_iter().sum::<usize>()
    }
}
