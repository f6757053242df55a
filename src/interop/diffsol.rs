//! The equations that diffsol solves, with what its implicit and its adjoint methods need of them.
//!
//! diffsol's builder takes an equation as several closures, of which the last are products with *minus* the transposed Jacobian. The
//! methods of [`DerivedEquations`] make all of them out of one derived function, which is what [the
//! guide](crate::guide::interoperability#diffsol) shows.

use std::sync::Arc;

use diffsol::op::closure_with_sens::ClosureWithSens;
use diffsol::op::constant_closure_with_sens::ConstantClosureWithSens;
use diffsol::{ClosureWithAdjoint, ConstantClosureWithAdjoint, Matrix, OdeBuilder};
use pullback_rules::__private::{HasRule, LiftParameter, LiftParameters, Liftable};
use pullback_rules::{Differentiable, Function, Held, Mut, Parameter, Ref, Val};

use super::pool::Pool;
use crate::gradient::Driver;
use crate::pushforward::Pushforward;

/// The methods that a builder has for derived functions. `M`, the matrices that it works with, are of `f64`.
///
/// A function of the state `x`, of parameters `p` and of the time writes its value to `y`, which it finds with any content:
///
/// ```
/// use pullback::prelude::*;
///
/// #[differentiable(dual)]
/// fn growth(x: &[f64], p: &[f64], t: f64, y: &mut [f64]) {
///     y[0] = p[0] * x[0] * (1.0 - x[0] / p[1]) - p[2] * t.sin();
/// }
///
/// /// The state at the start.
/// #[differentiable(dual)]
/// fn start(p: &[f64], _t: f64, y: &mut [f64]) {
///     y[0] = 0.1 * p[1];
/// }
/// ```
///
/// The time may be `#[constant]`. All closures of one function share a rule for each thread that is at work; from the second call on they
/// allocate nothing.
pub trait DerivedEquations<M: Matrix<T = f64>, Rhs, Init, Mass, Root, Out, Reset>: Sized {
    /// `rhs_adjoint_implicit`: *x′ = f(x, p, t)*, for any method of diffsol and for the adjoint equations.
    fn rhs_adjoint_of<F: StateEquation>(
        self,
    ) -> OdeBuilder<
        M,
        ClosureWithAdjoint<M, impl Value, impl Product, impl Product, impl Product>,
        Init,
        Mass,
        Root,
        Out,
        Reset,
    >;

    /// `init_adjoint`: the state at the start, of `states` numbers.
    fn init_adjoint_of<F: InitialState>(
        self,
        states: usize,
    ) -> OdeBuilder<
        M,
        Rhs,
        ConstantClosureWithAdjoint<M, impl InitialValue, impl InitialProduct>,
        Mass,
        Root,
        Out,
        Reset,
    >;

    /// `out_adjoint_implicit`: what is observed or integrated, of `outputs` numbers.
    fn out_adjoint_of<F: StateEquation>(
        self,
        outputs: usize,
    ) -> OdeBuilder<
        M,
        Rhs,
        Init,
        Mass,
        Root,
        ClosureWithAdjoint<M, impl Value, impl Product, impl Product, impl Product>,
        Reset,
    >;

    /// `rhs_sens_implicit`: *x′ = f(x, p, t)*, for forward sensitivities.
    fn rhs_sens_of<F: StateEquation>(
        self,
    ) -> OdeBuilder<M, ClosureWithSens<M, impl Value, impl Product, impl Product>, Init, Mass, Root, Out, Reset>;

    /// `init_sens`: the state at the start, of `states` numbers.
    fn init_sens_of<F: InitialState>(
        self,
        states: usize,
    ) -> OdeBuilder<
        M,
        Rhs,
        ConstantClosureWithSens<M, impl InitialValue, impl InitialProduct>,
        Mass,
        Root,
        Out,
        Reset,
    >;

    /// `out_sens_implicit`: what is observed or integrated, of `outputs` numbers.
    fn out_sens_of<F: StateEquation>(
        self,
        outputs: usize,
    ) -> OdeBuilder<M, Rhs, Init, Mass, Root, ClosureWithSens<M, impl Value, impl Product, impl Product>, Reset>;
}

impl<M: Matrix<T = f64>, Rhs, Init, Mass, Root, Out, Reset>
    DerivedEquations<M, Rhs, Init, Mass, Root, Out, Reset>
    for OdeBuilder<M, Rhs, Init, Mass, Root, Out, Reset>
{
    fn rhs_adjoint_of<F: StateEquation>(
        self,
    ) -> OdeBuilder<
        M,
        ClosureWithAdjoint<M, impl Value, impl Product, impl Product, impl Product>,
        Init,
        Mass,
        Root,
        Out,
        Reset,
    > {
        let f = Equation::<F>::new();
        self.rhs_adjoint_implicit(f.value(), f.along_state(), f.transposed(0), f.transposed(1))
    }

    fn init_adjoint_of<F: InitialState>(
        self,
        states: usize,
    ) -> OdeBuilder<
        M,
        Rhs,
        ConstantClosureWithAdjoint<M, impl InitialValue, impl InitialProduct>,
        Mass,
        Root,
        Out,
        Reset,
    > {
        let f = Equation::<F>::new();
        let (value, product) = (f.value(), f.transposed(1));
        self.init_adjoint(
            move |p, t, y| value(&[], p, t, y),
            move |p, t, v, y| product(&[], p, t, v, y),
            states,
        )
    }

    fn out_adjoint_of<F: StateEquation>(
        self,
        outputs: usize,
    ) -> OdeBuilder<
        M,
        Rhs,
        Init,
        Mass,
        Root,
        ClosureWithAdjoint<M, impl Value, impl Product, impl Product, impl Product>,
        Reset,
    > {
        let f = Equation::<F>::new();
        self.out_adjoint_implicit(f.value(), f.along_state(), f.transposed(0), f.transposed(1), outputs)
    }

    fn rhs_sens_of<F: StateEquation>(
        self,
    ) -> OdeBuilder<M, ClosureWithSens<M, impl Value, impl Product, impl Product>, Init, Mass, Root, Out, Reset>
    {
        let f = Equation::<F>::new();
        self.rhs_sens_implicit(f.value(), f.along_state(), f.along_parameters())
    }

    fn init_sens_of<F: InitialState>(
        self,
        states: usize,
    ) -> OdeBuilder<
        M,
        Rhs,
        ConstantClosureWithSens<M, impl InitialValue, impl InitialProduct>,
        Mass,
        Root,
        Out,
        Reset,
    > {
        let f = Equation::<F>::new();
        let (value, product) = (f.value(), f.along_parameters());
        self.init_sens(move |p, t, y| value(&[], p, t, y), move |p, t, v, y| product(&[], p, t, v, y), states)
    }

    fn out_sens_of<F: StateEquation>(
        self,
        outputs: usize,
    ) -> OdeBuilder<M, Rhs, Init, Mass, Root, ClosureWithSens<M, impl Value, impl Product, impl Product>, Reset>
    {
        let f = Equation::<F>::new();
        self.out_sens_implicit(f.value(), f.along_state(), f.along_parameters(), outputs)
    }
}

/// *y ← f(x, p, t)*
pub trait Value: Fn(&[f64], &[f64], f64, &mut [f64]) {}
impl<C: Fn(&[f64], &[f64], f64, &mut [f64])> Value for C {}

/// *y ← A(x, p, t)·v*
pub trait Product: Fn(&[f64], &[f64], f64, &[f64], &mut [f64]) {}
impl<C: Fn(&[f64], &[f64], f64, &[f64], &mut [f64])> Product for C {}

/// *y ← f(p, t)*
pub trait InitialValue: Fn(&[f64], f64, &mut [f64]) {}
impl<C: Fn(&[f64], f64, &mut [f64])> InitialValue for C {}

/// *y ← A(p, t)·v*
pub trait InitialProduct: Fn(&[f64], f64, &[f64], &mut [f64]) {}
impl<C: Fn(&[f64], f64, &[f64], &mut [f64])> InitialProduct for C {}

/// A function of a state, of parameters and of the time: `#[differentiable(dual)] fn(x: &[f64], p: &[f64], t: f64, y: &mut [f64])`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no equation that diffsol can solve",
    note = "that is a function `#[differentiable(dual)] fn(x: &[f64], p: &[f64], t: f64, y: &mut [f64])`"
)]
pub trait StateEquation: Derived<Parameters: OfState> {}
impl<F: Derived<Parameters: OfState>> StateEquation for F {}

/// A function of parameters and of the time: `#[differentiable(dual)] fn(p: &[f64], t: f64, y: &mut [f64])`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not tell where diffsol starts",
    note = "that is a function `#[differentiable(dual)] fn(p: &[f64], t: f64, y: &mut [f64])`"
)]
pub trait InitialState: Derived<Parameters: OfParameters> {}
impl<F: Derived<Parameters: OfParameters>> InitialState for F {}

/// A derived function of either kind.
pub trait Derived: Function<Parameters: EquationParameters, Output = ()> + HasRule + Liftable<1> {}
impl<F: Function<Parameters: EquationParameters, Output = ()> + HasRule + Liftable<1>> Derived for F {}

/// The time: a value, or a constant one.
pub trait Time: for<'a> Parameter<Arg<'a> = f64> + LiftParameter<1> {
    /// How many coordinates it has.
    #[doc(hidden)]
    const COORDINATES: usize;
}
impl Time for Val<f64> {
    const COORDINATES: usize = 1;
}
impl Time for Held<f64> {
    const COORDINATES: usize = 0;
}

/// The gradient with respect to a slice, as a gradient object holds it.
type Shadow = <[f64] as Differentiable>::Gradient;

/// How an equation takes its arguments.
pub trait EquationParameters: LiftParameters<1> {
    #[doc(hidden)]
    fn args<'a>(x: &'a [f64], p: &'a [f64], t: f64, y: &'a mut [f64]) -> Self::Args<'a>;
    /// Appends directions, those of the state and of the parameters, and zeros for `outputs` numbers.
    #[doc(hidden)]
    fn direct(
        flat: &mut Vec<f64>,
        x: impl Iterator<Item = f64>,
        p: impl Iterator<Item = f64>,
        outputs: usize,
    );
    /// The gradients with respect to the state and to the parameters.
    #[doc(hidden)]
    fn gradients(buffers: &Self::Buffers) -> [&[f64]; 2];
    /// The seed or the derivative of the output.
    #[doc(hidden)]
    fn output(buffers: &mut Self::Buffers) -> &mut Shadow;
}

/// With a state.
pub trait OfState: EquationParameters {}

/// Without.
pub trait OfParameters: EquationParameters {}

impl<T: Time> OfState for (Ref<[f64]>, Ref<[f64]>, T, Mut<[f64]>) {}

impl<T: Time> EquationParameters for (Ref<[f64]>, Ref<[f64]>, T, Mut<[f64]>) {
    fn args<'a>(x: &'a [f64], p: &'a [f64], t: f64, y: &'a mut [f64]) -> Self::Args<'a> {
        (x, p, t, y)
    }
    fn direct(
        flat: &mut Vec<f64>,
        x: impl Iterator<Item = f64>,
        p: impl Iterator<Item = f64>,
        outputs: usize,
    ) {
        flat.extend(x);
        flat.extend(p);
        flat.resize(flat.len() + T::COORDINATES + outputs, 0.0);
    }
    fn gradients((x, p, ..): &Self::Buffers) -> [&[f64]; 2] {
        [x, p].map(<[f64]>::view)
    }
    fn output(buffers: &mut Self::Buffers) -> &mut Shadow {
        &mut buffers.3
    }
}

impl<T: Time> OfParameters for (Ref<[f64]>, T, Mut<[f64]>) {}

impl<T: Time> EquationParameters for (Ref<[f64]>, T, Mut<[f64]>) {
    fn args<'a>(_x: &'a [f64], p: &'a [f64], t: f64, y: &'a mut [f64]) -> Self::Args<'a> {
        (p, t, y)
    }
    fn direct(
        flat: &mut Vec<f64>,
        _x: impl Iterator<Item = f64>,
        p: impl Iterator<Item = f64>,
        outputs: usize,
    ) {
        flat.extend(p);
        flat.resize(flat.len() + T::COORDINATES + outputs, 0.0);
    }
    fn gradients((p, ..): &Self::Buffers) -> [&[f64]; 2] {
        [&[], <[f64]>::view(p)]
    }
    fn output(buffers: &mut Self::Buffers) -> &mut Shadow {
        &mut buffers.2
    }
}

/// What one thread works with.
struct Worker<F: Derived> {
    driver: Driver<F>,
    pushforward: Pushforward<F>,
    /// Where the reverse pass lets the function write.
    output: Vec<f64>,
}

impl<F: Derived> Worker<F> {
    fn new() -> Self {
        Worker {
            driver: Driver::new(F::make_rule()),
            pushforward: Pushforward::default(),
            output: Vec::new(),
        }
    }

    /// The derivative in a direction, given by its components for the state and for the parameters.
    fn push(
        &mut self,
        x: &[f64],
        p: &[f64],
        t: f64,
        y: &mut [f64],
        dx: impl Iterator<Item = f64>,
        dp: impl Iterator<Item = f64>,
    ) {
        let outputs = y.len();
        let args = F::Parameters::args(x, p, t, y);
        let (_, _, [buffers]) = self.pushforward.run(args, |lifted| {
            lifted
                .direct_flat(0, |flat| <F::Parameters as EquationParameters>::direct(flat, dx, dp, outputs));
        });
        y.copy_from_slice(<[f64]>::view(F::Parameters::output(buffers)));
    }
}

/// A derived function, shared by the closures that stand for it.
struct Equation<F: Derived>(Arc<Pool<Worker<F>>>);

impl<F: Derived> Equation<F> {
    fn new() -> Self {
        Equation(Arc::new(Pool::new()))
    }

    fn value(&self) -> impl Value + use<F> {
        |x, p, t, y| F::primal(F::Parameters::args(x, p, t, y))
    }

    /// *∂f/∂x·v*
    fn along_state(&self) -> impl Product + use<F> {
        let pool = self.0.clone();
        move |x, p, t, v, y| {
            pool.with(Worker::new, |worker| {
                worker.push(x, p, t, y, v.iter().copied(), p.iter().map(|_| 0.0));
            });
        }
    }

    /// *∂f/∂p·v*
    fn along_parameters(&self) -> impl Product + use<F> {
        let pool = self.0.clone();
        move |x, p, t, v, y| {
            pool.with(Worker::new, |worker| {
                worker.push(x, p, t, y, x.iter().map(|_| 0.0), v.iter().copied());
            });
        }
    }

    /// *−(∂f/∂x)ᵀ·v*, or with *p* for *x* if `which` is 1.
    fn transposed(&self, which: usize) -> impl Product + use<F> {
        let pool = self.0.clone();
        move |x, p, t, v, y| {
            pool.with(Worker::new, |Worker { driver, output, .. }| {
                output.resize(v.len(), 0.0);
                let args = F::Parameters::args(x, p, t, output);
                let (_, _, buffers) =
                    driver.pullback(args, (), |buffers| <[f64]>::seed(F::Parameters::output(buffers), v));
                let gradient = F::Parameters::gradients(buffers)[which];
                assert_eq!(y.len(), gradient.len(), "as many as there are numbers to differentiate by");
                y.iter_mut().zip(gradient).for_each(|(y, d)| *y = -d);
            });
        }
    }
}
