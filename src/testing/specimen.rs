//! A rule under test, its type erased: the checks are compiled once, what depends on the types of parameters and output once for all
//! functions with the same, and for each rule only [`Kept`].

use super::allocator::CountingAllocator;
use super::coordinates::{Coordinate, Coordinates, Number, numbers, replace, replace_one};
use super::parameter::{Mode, TestParameters};
use crate::{Args, Cotangent, Extent, Function, Gradients, Lengths, Output, Parameters, Rule, Shadows};

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
    fn overwrite(&mut self, parameter: usize) -> bool;
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

/// A rule of any function with parameters `P` and output `O`, and the residuals of its forwards that are pending.
pub(super) trait Erased<P: Parameters, O: Output> {
    /// Makes room for another residual, which is not the rule's to do.
    fn reserve(&mut self);
    fn forward(&mut self, args: P::Args<'_>) -> O;
    fn pullback<'a>(
        &mut self,
        args: P::Args<'a>,
        shadows: P::Shadows<'a>,
        seed: O::Cotangent<'_>,
    ) -> P::Gradients;
    fn at_once<'a>(
        &mut self,
        args: P::Args<'a>,
        shadows: P::Shadows<'a>,
        seed: O::Cotangent<'_>,
    ) -> (O, P::Gradients);
    fn forgo(&mut self, parameter: usize);
    fn overwrite(&mut self, parameter: usize) -> bool;
    fn reset(&mut self);
    fn shrink(&mut self);
    fn memory(&self) -> usize;
    fn least_room(&self) -> usize;
}

type List<R> = <<R as Rule>::Function as Function>::Parameters;
type Value<R> = <<R as Rule>::Function as Function>::Output;

/// A rule of type `R`. There are many such types, and everything here is compiled for each.
pub(super) struct Kept<R: Rule> {
    rule: R,
    residuals: Vec<R::Residual>,
}

impl<R: Rule> Kept<R> {
    pub(super) fn new(rule: R) -> Self {
        Kept { rule, residuals: Vec::new() }
    }
}

impl<R: Rule> Erased<List<R>, Value<R>> for Kept<R> {
    fn reserve(&mut self) {
        self.residuals.reserve(1);
    }
    fn forward(&mut self, args: Args<'_, R::Function>) -> Value<R> {
        let (output, residual) = self.rule.forward(args);
        self.residuals.push(residual);
        output
    }
    fn pullback<'a>(
        &mut self,
        args: Args<'a, R::Function>,
        shadows: Shadows<'a, R::Function>,
        seed: Cotangent<'_, R::Function>,
    ) -> Gradients<R::Function> {
        let residual = self.residuals.pop().expect("a forward is pending");
        self.rule.pullback(residual, args, shadows, seed)
    }
    fn at_once<'a>(
        &mut self,
        args: Args<'a, R::Function>,
        shadows: Shadows<'a, R::Function>,
        seed: Cotangent<'_, R::Function>,
    ) -> (Value<R>, Gradients<R::Function>) {
        // Nothing is compiled of it where it is not called.
        if R::AT_ONCE {
            self.rule.value_and_pullback(args, shadows, seed)
        } else {
            unreachable!("asked before")
        }
    }
    fn forgo(&mut self, parameter: usize) {
        self.rule.forgo(parameter);
    }
    fn overwrite(&mut self, parameter: usize) -> bool {
        self.rule.overwrite(parameter)
    }
    fn reset(&mut self) {
        self.residuals.clear();
        self.rule.reset();
    }
    fn shrink(&mut self) {
        self.residuals.clear();
        self.rule.shrink();
    }
    fn memory(&self) -> usize {
        self.rule.memory()
    }
    fn least_room(&self) -> usize {
        self.rule.least_room()
    }
}

/// What a test needs to know of the rules of a function.
pub(super) struct Tested<'r, P: Parameters, O: Output> {
    pub(super) name: &'static str,
    pub(super) primal: fn(P::Args<'_>) -> O,
    /// Whether the rules have a way of their own to run forward and pullback in one call.
    pub(super) at_once: bool,
    /// What they may do to vectors behind references.
    pub(super) lengths: Lengths,
    /// Makes a rule.
    pub(super) rule: &'r dyn Fn() -> Box<dyn Erased<P, O> + 'r>,
}

/// The [`Specimen`] of rules of functions with parameters `P` and output `O`.
pub(super) struct Typed<'r, P: TestParameters, O: Output> {
    tested: Tested<'r, P, O>,
    rule: Box<dyn Erased<P, O> + 'r>,
    inputs: Vec<P::Owned>,
    pending: Vec<Pending<P, O>>,
}

/// A forward whose pullback has not run yet.
struct Pending<P: TestParameters, O: Output> {
    arguments: P::Owned,
    /// Of the shape of the output.
    seed: O::Gradient,
}

/// What takes shadows, too: a pullback, or forward and pullback at once.
type Pull<'c, P, O> = dyn for<'a, 'b> FnMut(
        &mut dyn Erased<P, O>,
        <P as Parameters>::Args<'a>,
        <P as Parameters>::Shadows<'a>,
        <O as Output>::Cotangent<'b>,
    ) -> <P as Parameters>::Gradients
    + 'c;

impl<'r, P: TestParameters, O: Output<Gradient: Coordinates> + Coordinates> Typed<'r, P, O> {
    pub(super) fn new(tested: Tested<'r, P, O>, inputs: Vec<P::Owned>) -> Self {
        Typed { rule: (tested.rule)(), tested, inputs, pending: Vec::new() }
    }

    fn changed(&self, input: usize, change: Change<'_>) -> P::Owned {
        let mut input = self.inputs[input].clone();
        P::visit(&mut input, &mut changing(change));
        input
    }

    /// Calls a pullback, with a seed of the shape of `pending`'s.
    fn pull(
        &mut self,
        pending: Pending<P, O>,
        seed: &[f64],
        fill: Change<'_>,
        constant: Set,
        call: &mut Pull<'_, P, O>,
    ) -> Pulled {
        let Pending { mut arguments, seed: mut cotangent } = pending;
        let mut buffers = P::buffers();
        P::prepare(&mut buffers, &P::lend(&mut arguments));
        P::visit_buffers(&mut buffers, &mut changing(fill));
        if self.tested.lengths.need_room() {
            P::fit(&mut buffers, &P::lend(&mut arguments), Extent::Room(self.rule.least_room()));
        }
        // An `Option` has a gradient where it has no value.
        replace(&mut cotangent, &mut |i, _| seed.get(i).copied().unwrap_or(0.0));

        let before = CountingAllocator::so_far().allocations;
        let shadows = P::shadows_if(&|parameter| !constant.contains(parameter), &mut buffers);
        let mut returned = call(&mut *self.rule, P::lend(&mut arguments), shadows, O::lend(&cotangent));
        let allocations = CountingAllocator::so_far().allocations - before;
        if !self.tested.lengths.are_kept() {
            P::fit(&mut buffers, &P::lend(&mut arguments), Extent::Length);
        }

        let mut gradient = vec![Vec::new(); P::MODES.len()];
        let mut list = listing_reals(&mut gradient);
        P::visit_buffers(&mut buffers, &mut list);
        P::visit_returned(&mut returned, &mut list);
        drop(list);
        Pulled { gradient, arguments: read::<P>(&mut arguments), allocations }
    }
}

impl<P: TestParameters, O: Output<Gradient: Coordinates> + Coordinates> Specimen for Typed<'_, P, O> {
    fn function(&self) -> &'static str {
        self.tested.name
    }

    fn modes(&self) -> &'static [Mode] {
        P::MODES
    }

    fn arguments(&self, input: usize) -> ByParameter<Number> {
        read::<P>(&mut self.inputs[input].clone())
    }

    fn vary(&mut self, input: usize, change: Change<'_>) -> usize {
        self.inputs.push(self.changed(input, change));
        self.inputs.len() - 1
    }

    fn primal(&self, input: usize, change: Change<'_>) -> Call {
        let primal = self.tested.primal;
        observe::<P, O>(&mut self.changed(input, change), &mut |args| primal(args)).0
    }

    fn renew(&mut self) {
        self.pending.clear();
        self.rule = (self.tested.rule)();
    }

    fn forgo(&mut self, parameter: usize) {
        self.rule.forgo(parameter);
    }

    fn overwrite(&mut self, parameter: usize) -> bool {
        self.rule.overwrite(parameter)
    }

    fn reset(&mut self) {
        self.pending.clear();
        self.rule.reset();
    }

    fn shrink(&mut self) {
        self.pending.clear();
        self.rule.shrink();
    }

    fn memory(&self) -> usize {
        self.rule.memory()
    }

    fn forward(&mut self, input: usize) -> Call {
        self.rule.reserve();
        let mut arguments = self.inputs[input].clone();
        let (call, output) = observe::<P, O>(&mut arguments, &mut |args| self.rule.forward(args));
        self.pending.push(Pending::new(arguments, &output));
        call
    }

    fn pullback(&mut self, seed: &[f64], fill: Change<'_>, constant: Set) -> Pulled {
        let pending = self.pending.pop().expect("a forward is pending");
        self.pull(pending, seed, fill, constant, &mut |rule, args, shadows, seed| {
            rule.pullback(args, shadows, seed)
        })
    }

    fn is_at_once(&self) -> bool {
        self.tested.at_once
    }

    fn at_once(&mut self, input: usize, seed: &[f64], fill: Change<'_>) -> (Vec<Number>, Pulled) {
        let primal = self.tested.primal;
        // The arguments may be changed by that, but it tells the shape of the output.
        let (_, shape) = observe::<P, O>(&mut self.inputs[input].clone(), &mut |args| primal(args));
        let pending = Pending::new(self.inputs[input].clone(), &shape);
        let mut output = None;
        let pulled = self.pull(pending, seed, fill, Set::default(), &mut |rule, args, shadows, seed| {
            let (value, gradients) = rule.at_once(args, shadows, seed);
            output = Some(value);
            gradients
        });
        (numbers(&mut output.expect("it was called")), pulled)
    }
}

impl<P: TestParameters, O: Output> Pending<P, O> {
    fn new(arguments: P::Owned, output: &O) -> Self {
        let mut seed = O::empty();
        output.prepare(&mut seed);
        Pending { arguments, seed }
    }
}

/// Calls a function, and says what it did.
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
