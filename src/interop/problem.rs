//! A function of a point, for solvers.

use ndarray::ArrayView2;
use pullback_rules::__private::{HasRule, Numbers};
use pullback_rules::{Args, Function, HeapSize};

use super::point::PointParameters;
use super::pool::Pool;
use super::second_order::{HasHessian, HasHessianProduct, HasJacobian};
use crate::extras::Extras;
use crate::gradient::Driver;

/// A derived function that can be handed to a solver: `#[differentiable]`, of `f64` throughout, with arguments by value and by `&`.
pub trait Solvable: Function<Parameters: PointParameters, Output: Numbers<f64>> + HasRule {}

impl<F: Function<Parameters: PointParameters, Output: Numbers<f64>> + HasRule> Solvable for F {}

/// What one thread works with.
struct Worker<F: Solvable> {
    /// Copies of the active arguments.
    owned: <F::Parameters as PointParameters>::Owned,
    driver: Driver<F>,
    extras: Extras,
}

/// A function of a point, with derivatives, that is called by `&self`, from any thread: what solvers ask for.
///
/// `Problem::<f>::new((a, &b, …))` takes the arguments of a call of `f`. The active ones are where a search starts, and tell the number
/// of coordinates; [`constant`](crate::guide::language) ones are data, and stay what they are. A *point* is the [coordinates](crate::guide::second_order#directions-and-coordinates)
/// of the active arguments, one behind the other.
///
/// ```
/// use pullback::interop::Problem;
/// use pullback::prelude::*;
///
/// /// Σ (a·e^(−k·t) − y)²
/// #[differentiable(dual)]
/// fn misfit(a: f64, k: f64, #[constant] measured: &[(f64, f64)]) -> f64 {
///     let mut total = 0.0;
///     for (t, y) in measured {
///         let miss = a * (-k * t).exp() - y;
///         total += miss * miss;
///     }
///     total
/// }
///
/// let measured = [(0.0, 2.0), (1.0, 1.0), (2.0, 0.5)];
/// let problem = Problem::<misfit>::new((1.0, 0.0, &measured));
/// assert_eq!(problem.point(), [1.0, 0.0]);
///
/// let mut gradient = [0.0; 2];
/// let value = problem.value_and_gradient(&[2.0, 1.0], &mut gradient);
/// assert_eq!(value, misfit(2.0, 1.0, &measured));
/// assert!(gradient[1] > 0.0);
/// ```
///
/// Each thread that is at work has a rule of its own. These are kept, so that from its second call on a thread allocates nothing but
/// what a solver wants to own. Values are the function's, bit for bit.
///
/// # Panics
/// All methods do if the function does, and if a point has another number of coordinates than the start.
pub struct Problem<'d, F: Solvable> {
    given: Args<'d, F>,
    point: Vec<f64>,
    /// The least and the largest coordinates.
    #[cfg(feature = "basin")]
    pub(super) bounds: [Vec<f64>; 2],
    pool: Pool<Worker<F>>,
}

impl<'d, F: Solvable> Problem<'d, F> {
    /// The function at the arguments of a call, as a tuple.
    pub fn new(arguments: Args<'d, F>) -> Self {
        let mut point = Vec::new();
        let mut owned = F::Parameters::own(&arguments);
        F::Parameters::visit(&mut owned, &mut |x| point.push(*x));
        Problem {
            given: arguments,
            #[cfg(feature = "basin")]
            bounds: [f64::NEG_INFINITY, f64::INFINITY].map(|bound| vec![bound; point.len()]),
            point,
            pool: Pool::new(),
        }
    }

    /// Where a search is: at first the coordinates of the active arguments.
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    /// Puts the search elsewhere.
    pub fn move_to(&mut self, x: &[f64]) {
        self.check(x);
        self.point.copy_from_slice(x);
    }

    /// The bytes of the heap that the problem holds: points, and for as many threads as have been at work at the same time a rule, copies of the
    /// active arguments, and what derivatives are made of. Threads that are at work are not counted.
    ///
    /// ```
    /// use pullback::interop::Problem;
    /// use pullback::prelude::*;
    ///
    /// #[differentiable]
    /// fn norm(x: &[f64]) -> f64 {
    ///     x.iter().map(|x| x * x).sum::<f64>().sqrt()
    /// }
    ///
    /// let mut problem = Problem::<norm>::new((&[0.0; 100],));
    /// let fresh = problem.memory();
    /// problem.value_and_gradient(&[1.0; 100], &mut [0.0; 100]);
    /// assert!(problem.memory() >= fresh + 2 * 800);
    /// problem.shrink();
    /// assert_eq!(problem.memory(), fresh);
    /// ```
    pub fn memory(&self) -> usize {
        let of_worker = |Worker { owned, driver, extras }: &Worker<F>| {
            F::Parameters::owned_size(owned) + driver.memory() + extras.memory()
        };
        #[cfg(feature = "basin")]
        let bounds: usize = self.bounds.iter().map(HeapSize::heap_size).sum();
        #[cfg(not(feature = "basin"))]
        let bounds = 0;
        self.point.heap_size() + bounds + self.pool.memory(of_worker)
    }

    /// Gives back what calls have left for the next.
    pub fn shrink(&mut self) {
        self.pool.shrink();
    }

    fn check(&self, x: &[f64]) {
        assert!(
            x.len() == self.point.len(),
            "`{}`: the point has {} coordinates, and the active arguments have {}",
            F::NAME,
            x.len(),
            self.point.len()
        );
    }

    /// Memory for a gradient.
    fn write<'s>(&self, slots: &'s mut [f64]) -> Written<'s> {
        assert!(
            slots.len() == self.point.len(),
            "`{}`: there is memory for {} coordinates, and the active arguments have {}",
            F::NAME,
            slots.len(),
            self.point.len()
        );
        Written(slots.iter_mut())
    }

    /// Does some work with the arguments at `x`.
    fn at<R>(&self, x: &[f64], work: impl FnOnce(Args<'_, F>, &mut Driver<F>, &mut Extras) -> R) -> R {
        self.check(x);
        let make = || Worker {
            owned: F::Parameters::own(&self.given),
            driver: Driver::new(F::make_rule()),
            extras: Extras::new(),
        };
        self.pool.with(make, |Worker { owned, driver, extras }| {
            let mut coordinates = x.iter();
            F::Parameters::visit(owned, &mut |slot| {
                *slot = *coordinates.next().expect("as many as there are")
            });
            work(F::Parameters::lend(owned, &self.given), driver, extras)
        })
    }

    /// The value at `x`.
    pub fn value(&self, x: &[f64]) -> F::Output {
        self.at(x, |args, _, _| F::primal(args))
    }

    /// The numbers that the value at `x` consists of, which replace what is in `residuals`.
    pub fn residuals(&self, x: &[f64], residuals: &mut Vec<f64>) {
        list(&mut self.value(x), residuals);
    }

    /// The same, and what `show` makes of their Jacobian.
    pub fn residuals_and_jacobian<R>(
        &self,
        x: &[f64],
        residuals: &mut Vec<f64>,
        show: impl FnOnce(ArrayView2<'_, f64>) -> R,
    ) -> R
    where
        F: HasJacobian,
    {
        self.at(x, |args, _, extras| {
            let (mut value, jacobian) = F::jacobian(extras.get(), args);
            list(&mut value, residuals);
            show(jacobian)
        })
    }

    /// The value at `x`. The gradient goes to `gradient`.
    ///
    /// # Panics
    /// If `gradient` has another length than `x`.
    pub fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64
    where
        F: Function<Output = f64>,
    {
        let mut written = self.write(gradient);
        self.at(x, |args, driver, _| {
            let (value, mut gradients, buffers) = driver.gradient(args);
            F::Parameters::visit_gradient(&mut gradients, buffers, &mut |d| written.put(d));
            written.finish();
            value
        })
    }

    /// The value at `x`. The product of the Hessian with `direction` goes to `product`.
    ///
    /// # Panics
    /// If `direction` or `product` has another length than `x`.
    pub fn value_and_hvp(&self, x: &[f64], direction: &[f64], product: &mut [f64]) -> f64
    where
        F: HasHessianProduct,
    {
        let mut written = self.write(product);
        self.at(x, |args, _, extras| {
            let value = F::product(extras.get(), args, direction, &mut |d| written.put(d));
            written.finish();
            value
        })
    }

    /// The value at `x`, and what `show` makes of the Hessian there. The gradient goes to `gradient`.
    ///
    /// # Panics
    /// If `gradient` has another length than `x`.
    pub fn value_gradient_and_hessian<R>(
        &self,
        x: &[f64],
        gradient: &mut [f64],
        show: impl FnOnce(ArrayView2<'_, f64>) -> R,
    ) -> (f64, R)
    where
        F: HasHessian,
    {
        let mut written = self.write(gradient);
        self.at(x, |args, _, extras| {
            let (value, hessian) = F::hessian(extras.get(), args, &mut |d| written.put(d));
            written.finish();
            (value, show(hessian))
        })
    }
}

/// Puts the numbers that `value` consists of into `list`.
fn list(value: &mut impl Numbers<f64>, list: &mut Vec<f64>) {
    list.clear();
    value.visit(&mut |x| list.push(*x));
}

/// Numbers on their way to memory of the caller's.
struct Written<'s>(std::slice::IterMut<'s, f64>);

impl Written<'_> {
    fn put(&mut self, x: &f64) {
        *self.0.next().expect("as many as the point has coordinates") = *x;
    }

    /// Nothing is left as it was.
    fn finish(mut self) {
        assert!(self.0.next().is_none(), "a gradient has as many coordinates as its point");
    }
}
