//! A rule under test, its type erased: the checks are compiled once, and for each rule only what stands here.

use super::allocator::CountingAllocator;
use super::coordinates::{Coordinate, Coordinates, Number, numbers, replace, replace_one};
use super::parameter::{Mode, TestFunction, TestParameters};
use crate::{Function, Output, Parameters, Rule};

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
    fn shrink(&mut self);
    /// What the rule holds.
    fn memory(&self) -> usize;

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
type Value<R> = <<R as Rule>::Function as Function>::Output;

/// The inputs of a function with parameters `P`. What can be said without its name is said here and in what follows, for all
/// functions with the same parameters and output, and not inlined: there are many such functions.
struct Inputs<P: TestParameters>(Vec<P::Owned>);

/// What takes shadows, too: a pullback, or forward and pullback at once.
type Pull<'c, P, O> = dyn for<'a, 'b> FnMut(
        <P as Parameters>::Args<'a>,
        <P as Parameters>::Shadows<'a>,
        <O as Output>::Cotangent<'b>,
    ) -> <P as Parameters>::Gradients
    + 'c;

/// A forward whose pullback has not run yet.
struct Pending<P: TestParameters, O: Output> {
    arguments: P::Owned,
    /// Of the shape of the output.
    seed: O::Gradient,
}

impl<P: TestParameters> Inputs<P> {
    fn changed(&self, input: usize, change: Change<'_>) -> P::Owned {
        let mut input = self.0[input].clone();
        P::visit(&mut input, &mut changing(change));
        input
    }

    fn vary(&mut self, input: usize, change: Change<'_>) -> usize {
        self.0.push(self.changed(input, change));
        self.0.len() - 1
    }

    #[inline(never)]
    fn forward<O: Output<Gradient: Coordinates> + Coordinates>(
        &self,
        input: usize,
        call: &mut dyn FnMut(P::Args<'_>) -> O,
    ) -> (Call, Pending<P, O>) {
        let mut arguments = self.0[input].clone();
        let (call, output) = observe::<P, O>(&mut arguments, call);
        let mut seed = O::empty();
        output.prepare(&mut seed);
        (call, Pending { arguments, seed })
    }
}

impl<P: TestParameters, O: Output<Gradient: Coordinates>> Pending<P, O> {
    #[inline(never)]
    fn pull<'c>(
        mut self,
        seed: &[f64],
        fill: Change<'_>,
        constant: Set,
        call: &'c mut Pull<'c, P, O>,
    ) -> Pulled
    where
        O: 'c,
    {
        let mut buffers = P::buffers();
        P::prepare(&mut buffers, &P::lend(&mut self.arguments));
        P::visit_buffers(&mut buffers, &mut changing(fill));
        replace(&mut self.seed, &mut |i, _| seed[i]);

        let before = CountingAllocator::so_far().allocations;
        let shadows = P::shadows_if(&|parameter| !constant.contains(parameter), &mut buffers);
        let mut returned = call(P::lend(&mut self.arguments), shadows, O::lend(&self.seed));
        let allocations = CountingAllocator::so_far().allocations - before;

        let mut gradient = vec![Vec::new(); P::MODES.len()];
        let mut list = listing_reals(&mut gradient);
        P::visit_buffers(&mut buffers, &mut list);
        P::visit_returned(&mut returned, &mut list);
        drop(list);
        Pulled { gradient, arguments: read::<P>(&mut self.arguments), allocations }
    }
}

/// Calls a function, and says what it did.
#[inline(never)]
fn observe<P: TestParameters, O: Coordinates>(
    arguments: &mut P::Owned,
    call: &mut dyn FnMut(P::Args<'_>) -> O,
) -> (Call, O) {
    let before = CountingAllocator::so_far().allocations;
    let mut output = call(P::lend(arguments));
    let allocations = CountingAllocator::so_far().allocations - before;
    (Call { output: numbers(&mut output), arguments: read::<P>(arguments), allocations }, output)
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

fn read<P: TestParameters>(owned: &mut P::Owned) -> ByParameter<Number> {
    let mut all = vec![Vec::new(); P::MODES.len()];
    P::visit(owned, &mut listing(&mut all));
    all
}

/// The [`Specimen`] of rules of type `R`. There are many such types, and everything here is compiled for each.
pub(super) struct Typed<R: Rule<Function: TestFunction>, M> {
    make: M,
    rule: R,
    inputs: Inputs<List<R>>,
    latest: Option<Box<Forward<R>>>,
}

/// What a forward keeps, and the forward before it that is pending, too: a list takes less code than a vector.
struct Forward<R: Rule<Function: TestFunction>> {
    pending: Pending<List<R>, Value<R>>,
    residual: R::Residual,
    before: Option<Box<Forward<R>>>,
}

impl<R: Rule<Function: TestFunction>, M: Fn() -> R> Typed<R, M> {
    pub(super) fn new(make: M, inputs: Vec<Owned<R::Function>>) -> Self {
        let rule = make();
        Typed { make, rule, inputs: Inputs(inputs), latest: None }
    }
}

impl<R: Rule<Function: TestFunction>, M: Fn() -> R> Specimen for Typed<R, M> {
    fn function(&self) -> &'static str {
        R::Function::NAME
    }

    fn modes(&self) -> &'static [Mode] {
        List::<R>::MODES
    }

    fn arguments(&self, input: usize) -> ByParameter<Number> {
        read::<List<R>>(&mut self.inputs.0[input].clone())
    }

    fn vary(&mut self, input: usize, change: Change<'_>) -> usize {
        self.inputs.vary(input, change)
    }

    fn primal(&self, input: usize, change: Change<'_>) -> Call {
        observe::<List<R>, Value<R>>(&mut self.inputs.changed(input, change), &mut R::Function::primal).0
    }

    fn renew(&mut self) {
        self.latest = None;
        self.rule = (self.make)();
    }

    fn forgo(&mut self, parameter: usize) {
        self.rule.forgo(parameter);
    }

    fn reset(&mut self) {
        self.latest = None;
        self.rule.reset();
    }

    fn shrink(&mut self) {
        self.latest = None;
        self.rule.shrink();
    }

    fn memory(&self) -> usize {
        self.rule.memory()
    }

    fn forward(&mut self, input: usize) -> Call {
        let mut residual = None;
        let (call, pending) = self.inputs.forward(input, &mut |args| {
            let (output, kept) = self.rule.forward(args);
            residual = Some(kept);
            output
        });
        let residual = residual.expect("it was called");
        self.latest = Some(Box::new(Forward { pending, residual, before: self.latest.take() }));
        call
    }

    fn pullback(&mut self, seed: &[f64], fill: Change<'_>, constant: Set) -> Pulled {
        let Forward { pending, residual, before } = *self.latest.take().expect("a forward is pending");
        self.latest = before;
        let mut residual = Some(residual);
        pending.pull(seed, fill, constant, &mut |args, shadows, seed| {
            self.rule.pullback(residual.take().expect("it is called once"), args, shadows, seed)
        })
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
        // For the shape of the output; its arguments may have changed.
        let (_, shape) = self.inputs.forward::<Value<R>>(input, &mut R::Function::primal);
        let pending = Pending { arguments: self.inputs.0[input].clone(), ..shape };
        let mut output = None;
        let pulled = pending.pull(seed, fill, Set::default(), &mut |args, shadows, seed| {
            let (value, gradients) = self.rule.value_and_pullback(args, shadows, seed);
            output = Some(value);
            gradients
        });
        (numbers(&mut output.expect("it was called")), pulled)
    }
}
