//! A rule under test, its type erased: the checks are compiled once, and for each rule only what stands here.

use super::allocator::allocations_in;
use super::coordinates::{Coordinate, Number, numbers, replace, replace_one};
use super::parameter::{Mode, TestFunction, TestParameters};
use crate::{Args, Cotangent, Function, Output, Parameters, Rule};

pub(super) type Owned<F> = <<F as Function>::Parameters as TestParameters>::Owned;

/// Numbers by parameter.
pub(super) type ByParameter<T> = Vec<Vec<T>>;

/// What to put in place of a number that has a derivative, given that of the parameter, its own and itself.
pub(super) type Change<'a> = &'a mut dyn FnMut(usize, usize, f64) -> f64;

/// What a primal or a forward did.
pub(super) struct Call {
    pub(super) output: Vec<Number>,
    /// What the arguments hold afterwards.
    pub(super) arguments: ByParameter<Number>,
    pub(super) allocations: usize,
}

/// What a pullback did.
pub(super) struct Pulled {
    pub(super) gradient: ByParameter<f64>,
    /// What the arguments hold afterwards.
    pub(super) arguments: ByParameter<Number>,
    pub(super) allocations: usize,
}

/// A set of parameters.
#[derive(Clone, Copy, Default)]
pub(super) struct Set(u32);

impl Set {
    pub(super) fn of(parameter: usize) -> Self {
        Set(1 << parameter)
    }
    /// All that there can be.
    pub(super) fn all() -> Self {
        Set(u32::MAX)
    }
    pub(super) fn contains(self, parameter: usize) -> bool {
        self.0 >> parameter & 1 == 1
    }
}

impl FromIterator<usize> for Set {
    fn from_iter<I: IntoIterator<Item = usize>>(parameters: I) -> Self {
        Set(parameters.into_iter().fold(0, |set, parameter| set | 1 << parameter))
    }
}

/// A rule, and the inputs to call it on, which go by their numbers.
pub(super) trait Specimen {
    fn function(&self) -> &'static str;
    fn modes(&self) -> &'static [Mode];

    /// What the arguments in `input` hold.
    fn arguments(&self, input: usize) -> ByParameter<Number>;
    /// Adds an input that is `input`, changed, and returns its number.
    fn vary(&mut self, input: usize, change: Change<'_>) -> usize;
    /// Calls the primal on `input`, changed.
    fn primal(&self, input: usize, change: Change<'_>) -> Call;

    /// Goes on with a new rule.
    fn renew(&mut self);
    fn forgo(&mut self, parameter: usize);
    fn reset(&mut self);
    fn release(&mut self);

    fn forward(&mut self, input: usize) -> Call;
    /// Runs the pullback of the latest forward that is pending. `seed` is the gradient with respect to the output, `fill`
    /// puts into the shadows what a caller has there, and those of `constant` parameters are shadows of constants.
    fn pullback(&mut self, seed: &[f64], fill: Change<'_>, constant: Set) -> Pulled;
    /// Whether the rule has a way of its own to do both in one call.
    fn is_at_once(&self) -> bool;
    /// Runs forward and pullback in one call.
    fn at_once(&mut self, input: usize, seed: &[f64], fill: Change<'_>) -> (Vec<Number>, Pulled);
}

type List<R> = <<R as Rule>::Function as Function>::Parameters;
/// The gradient with respect to the output.
type Seed<F> = <<F as Function>::Output as Output>::Gradient;

/// The [`Specimen`] of rules of type `R`.
pub(super) struct Typed<R: Rule<Function: TestFunction>, M> {
    make: M,
    rule: R,
    inputs: Vec<Owned<R::Function>>,
    pending: Vec<Pending<R>>,
}

/// A forward whose pullback has not run yet.
struct Pending<R: Rule<Function: TestFunction>> {
    input: usize,
    arguments: Owned<R::Function>,
    residual: R::Residual,
}

impl<R: Rule<Function: TestFunction>, M: Fn() -> R> Typed<R, M> {
    pub(super) fn new(make: M, inputs: Vec<Owned<R::Function>>) -> Self {
        let rule = make();
        Typed { make, rule, inputs, pending: Vec::new() }
    }

    fn changed(&self, input: usize, change: Change<'_>) -> Owned<R::Function> {
        let mut input = self.inputs[input].clone();
        List::<R>::visit(&mut input, &mut changing(change));
        input
    }

    /// `weights` in the shape of the output.
    fn seed(&self, input: usize, weights: &[f64]) -> Seed<R::Function> {
        let output = R::Function::primal(lend::<R>(&mut self.inputs[input].clone()));
        let mut seed = <R::Function as Function>::Output::empty();
        output.prepare(&mut seed);
        replace(&mut seed, &mut |i, _| weights[i]);
        seed
    }
}

fn lend<R: Rule<Function: TestFunction>>(owned: &mut Owned<R::Function>) -> Args<'_, R::Function> {
    List::<R>::lend(owned)
}

fn lend_seed<F: Function>(seed: &Seed<F>) -> Cotangent<'_, F> {
    F::Output::lend(seed)
}

/// A visitor that changes every number that has a derivative.
fn changing(change: Change<'_>) -> impl FnMut(usize, Coordinate<'_>) {
    let mut indices = Vec::new();
    move |parameter, coordinate| {
        if indices.len() <= parameter {
            indices.resize(parameter + 1, 0);
        }
        replace_one(coordinate, &mut indices[parameter], &mut |index, x| change(parameter, index, x));
    }
}

/// A visitor that lists numbers.
fn listing(all: &mut ByParameter<Number>) -> impl FnMut(usize, Coordinate<'_>) {
    |parameter, coordinate| all[parameter].push(coordinate.into())
}

/// A visitor that lists numbers which have a derivative.
fn listing_reals(all: &mut ByParameter<f64>) -> impl FnMut(usize, Coordinate<'_>) {
    |parameter, coordinate| all[parameter].extend(Number::from(coordinate).real())
}

fn read<R: Rule<Function: TestFunction>>(owned: &mut Owned<R::Function>) -> ByParameter<Number> {
    let mut all = vec![Vec::new(); List::<R>::MODES.len()];
    List::<R>::visit(owned, &mut listing(&mut all));
    all
}

/// The gradient out of shadows and returned gradients.
fn collect<R: Rule<Function: TestFunction>>(
    buffers: &mut <List<R> as Parameters>::Buffers,
    returned: &mut <List<R> as Parameters>::Gradients,
) -> ByParameter<f64> {
    let mut gradient = vec![Vec::new(); List::<R>::MODES.len()];
    let mut list = listing_reals(&mut gradient);
    List::<R>::visit_buffers(buffers, &mut list);
    List::<R>::visit_returned(returned, &mut list);
    drop(list);
    gradient
}

impl<R: Rule<Function: TestFunction>, M: Fn() -> R> Specimen for Typed<R, M> {
    fn function(&self) -> &'static str {
        R::Function::NAME
    }

    fn modes(&self) -> &'static [Mode] {
        List::<R>::MODES
    }

    fn arguments(&self, input: usize) -> ByParameter<Number> {
        read::<R>(&mut self.inputs[input].clone())
    }

    fn vary(&mut self, input: usize, change: Change<'_>) -> usize {
        self.inputs.push(self.changed(input, change));
        self.inputs.len() - 1
    }

    fn primal(&self, input: usize, change: Change<'_>) -> Call {
        let mut arguments = self.changed(input, change);
        let (mut output, allocations) = allocations_in(|| R::Function::primal(lend::<R>(&mut arguments)));
        Call { output: numbers(&mut output), arguments: read::<R>(&mut arguments), allocations }
    }

    fn renew(&mut self) {
        self.pending.clear();
        self.rule = (self.make)();
    }

    fn forgo(&mut self, parameter: usize) {
        self.rule.forgo(parameter);
    }

    fn reset(&mut self) {
        self.pending.clear();
        self.rule.reset();
    }

    fn release(&mut self) {
        self.pending.clear();
        self.rule.release();
    }

    fn forward(&mut self, input: usize) -> Call {
        let mut arguments = self.inputs[input].clone();
        let ((mut output, residual), allocations) =
            allocations_in(|| self.rule.forward(lend::<R>(&mut arguments)));
        let call = Call { output: numbers(&mut output), arguments: read::<R>(&mut arguments), allocations };
        self.pending.push(Pending { input, arguments, residual });
        call
    }

    fn pullback(&mut self, seed: &[f64], fill: Change<'_>, constant: Set) -> Pulled {
        let Pending { input, mut arguments, residual } = self.pending.pop().expect("a forward is pending");
        let mut buffers = List::<R>::buffers();
        List::<R>::prepare(&mut buffers, &lend::<R>(&mut arguments));
        List::<R>::visit_buffers(&mut buffers, &mut changing(fill));
        let seed = self.seed(input, seed);

        let (mut returned, allocations) = allocations_in(|| {
            let shadows = List::<R>::shadows_if(&|parameter| !constant.contains(parameter), &mut buffers);
            self.rule.pullback(residual, lend::<R>(&mut arguments), shadows, lend_seed::<R::Function>(&seed))
        });
        let gradient = collect::<R>(&mut buffers, &mut returned);
        Pulled { gradient, arguments: read::<R>(&mut arguments), allocations }
    }

    fn is_at_once(&self) -> bool {
        R::AT_ONCE
    }

    fn at_once(&mut self, input: usize, seed: &[f64], fill: Change<'_>) -> (Vec<Number>, Pulled) {
        // Nothing is compiled of it where it is not called.
        if R::AT_ONCE { self.run_at_once(input, seed, fill) } else { unreachable!("asked before") }
    }
}

impl<R: Rule<Function: TestFunction>, M: Fn() -> R> Typed<R, M> {
    fn run_at_once(&mut self, input: usize, seed: &[f64], fill: Change<'_>) -> (Vec<Number>, Pulled) {
        let mut arguments = self.inputs[input].clone();
        let mut buffers = List::<R>::buffers();
        List::<R>::prepare(&mut buffers, &lend::<R>(&mut arguments));
        List::<R>::visit_buffers(&mut buffers, &mut changing(fill));
        let seed = self.seed(input, seed);

        let ((mut output, mut returned), allocations) = allocations_in(|| {
            let seed = lend_seed::<R::Function>(&seed);
            self.rule.value_and_pullback(lend::<R>(&mut arguments), List::<R>::shadows(&mut buffers), seed)
        });
        let gradient = collect::<R>(&mut buffers, &mut returned);
        (numbers(&mut output), Pulled { gradient, arguments: read::<R>(&mut arguments), allocations })
    }
}
