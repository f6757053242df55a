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

/// What a rule is told or asked. The answer is a number, where there is one.
#[derive(Clone, Copy)]
pub(super) enum Request {
    /// To make place for a new rule.
    Renew,
    Reset,
    Shrink,
    Forgo(usize),
    /// Whether it will.
    Overwrite(usize),
    /// What it holds.
    Memory,
    /// How much room shadows of vectors need.
    LeastRoom,
}

impl Request {
    /// Whether nothing is pending afterwards.
    fn abandons(self) -> bool {
        matches!(self, Request::Renew | Request::Reset | Request::Shrink)
    }
}

/// What is known of a rule without calling it.
#[derive(Clone, Copy)]
pub(super) struct About {
    pub(super) function: &'static str,
    pub(super) modes: &'static [Mode],
    /// Whether the rule has a way of its own to do forward and pullback in one call.
    pub(super) at_once: bool,
    /// What it may do to vectors behind references.
    pub(super) lengths: Lengths,
}

/// A rule, and the inputs to call it on, which go by their numbers. What is required here is compiled for each list of parameters.
pub(super) trait Specimen {
    fn about(&self) -> About;
    fn ask(&mut self, request: Request) -> usize;

    /// What the arguments in `input` hold.
    fn arguments(&self, input: usize) -> ByParameter<Number>;
    /// Adds an input that is `input`, changed, and returns its number.
    fn vary(&mut self, input: usize, change: Change<'_>) -> usize;
    /// Calls the primal on `input`, changed.
    fn primal(&self, input: usize, change: Change<'_>) -> Call;

    fn forward(&mut self, input: usize) -> Call;
    /// Runs the pullback of the latest forward that is pending. `seed` is the gradient with respect to the output, `fill`
    /// puts into the shadows what a caller has there, and those of `constant` parameters are shadows of constants.
    fn pullback(&mut self, seed: &[f64], fill: Change<'_>, constant: Set) -> Pulled;
    /// Runs forward and pullback in one call.
    fn at_once(&mut self, input: usize, seed: &[f64], fill: Change<'_>) -> (Vec<Number>, Pulled);
}

impl dyn Specimen + '_ {
    /// Goes on with a new rule.
    pub(super) fn renew(&mut self) {
        self.ask(Request::Renew);
    }
    pub(super) fn reset(&mut self) {
        self.ask(Request::Reset);
    }
    pub(super) fn shrink(&mut self) {
        self.ask(Request::Shrink);
    }
    pub(super) fn forgo(&mut self, parameter: usize) {
        self.ask(Request::Forgo(parameter));
    }
    pub(super) fn overwrite(&mut self, parameter: usize) -> bool {
        self.ask(Request::Overwrite(parameter)) != 0
    }
    pub(super) fn memory(&mut self) -> usize {
        self.ask(Request::Memory)
    }
}

/// A rule of any function with parameters `P` and output `O`, and the residuals of its forwards that are pending.
pub(super) trait Erased<P: Parameters, O: Output> {
    fn ask(&mut self, request: Request) -> usize;
    /// The forward within `pending` others.
    fn forward(&mut self, pending: usize, args: P::Args<'_>) -> O;
    /// The pullback of the forward within `pending` others, or both at once.
    fn pull<'a>(
        &mut self,
        pending: Option<usize>,
        args: P::Args<'a>,
        shadows: P::Shadows<'a>,
        seed: O::Cotangent<'_>,
    ) -> (Option<O>, P::Gradients);
}

/// As many forwards as the checks leave pending at a time.
const DEEPEST: usize = 3;

type List<R> = <<R as Rule>::Function as Function>::Parameters;
type Value<R> = <<R as Rule>::Function as Function>::Output;

/// A rule of type `R`, and what makes others. There are many such types, and everything here is compiled for each.
pub(super) struct Kept<R: Rule, M> {
    make: M,
    rule: R,
    /// A `Vec` would be compiled for each, too.
    residuals: [Option<R::Residual>; DEEPEST],
}

impl<R: Rule, M: Fn() -> R> Kept<R, M> {
    pub(super) fn new(make: M) -> Self {
        Kept { rule: make(), make, residuals: [const { None }; DEEPEST] }
    }
}

impl<R: Rule, M: Fn() -> R> Erased<List<R>, Value<R>> for Kept<R, M> {
    fn ask(&mut self, request: Request) -> usize {
        if request.abandons() {
            self.residuals = [const { None }; DEEPEST];
        }
        match request {
            Request::Renew => self.rule = (self.make)(),
            Request::Reset => self.rule.reset(),
            Request::Shrink => self.rule.shrink(),
            Request::Forgo(parameter) => self.rule.forgo(parameter),
            Request::Overwrite(parameter) => return usize::from(self.rule.overwrite(parameter)),
            Request::Memory => return self.rule.memory(),
            Request::LeastRoom => return self.rule.least_room(),
        }
        0
    }
    fn forward(&mut self, pending: usize, args: Args<'_, R::Function>) -> Value<R> {
        let (output, residual) = self.rule.forward(args);
        self.residuals[pending] = Some(residual);
        output
    }
    fn pull<'a>(
        &mut self,
        pending: Option<usize>,
        args: Args<'a, R::Function>,
        shadows: Shadows<'a, R::Function>,
        seed: Cotangent<'_, R::Function>,
    ) -> (Option<Value<R>>, Gradients<R::Function>) {
        match pending {
            Some(pending) => {
                let Some(residual) = self.residuals[pending].take() else {
                    unreachable!("its forward is pending")
                };
                (None, self.rule.pullback(residual, args, shadows, seed))
            }
            // Nothing is compiled of it where it is not called.
            None if R::AT_ONCE => {
                let (value, gradients) = self.rule.value_and_pullback(args, shadows, seed);
                (Some(value), gradients)
            }
            None => unreachable!("asked before"),
        }
    }
}

/// The [`Specimen`] of rules of functions with parameters `P` and output `O`.
pub(super) struct Typed<'r, P: TestParameters, O: Output> {
    about: About,
    primal: fn(P::Args<'_>) -> O,
    rule: &'r mut dyn Erased<P, O>,
    inputs: Vec<P::Owned>,
    /// The arguments of the forwards that are pending.
    pending: Vec<P::Owned>,
    /// And gradients of the shapes of their outputs.
    seeds: Vec<O::Gradient>,
}

impl<'r, P: TestParameters, O: Output<Gradient: Coordinates> + Coordinates> Typed<'r, P, O> {
    pub(super) fn new(
        about: About,
        primal: fn(P::Args<'_>) -> O,
        rule: &'r mut dyn Erased<P, O>,
        inputs: Vec<P::Owned>,
    ) -> Self {
        Typed { about, primal, rule, inputs, pending: Vec::new(), seeds: Vec::new() }
    }

    fn changed(&self, input: usize, change: Change<'_>) -> P::Owned {
        let mut input = self.inputs[input].clone();
        P::visit(&mut input, &mut changing(change));
        input
    }

    /// Calls the pullback of the forward within `pending` others, or both at once, with a seed of the shape of `cotangent`.
    fn pull(
        &mut self,
        pending: Option<usize>,
        mut arguments: P::Owned,
        mut cotangent: O::Gradient,
        seed: &[f64],
        fill: Change<'_>,
        constant: Set,
    ) -> (Option<O>, Pulled) {
        let lengths = self.about.lengths;
        let mut buffers = P::buffers();
        P::prepare(&mut buffers, &P::lend(&mut arguments));
        P::visit_buffers(&mut buffers, &mut changing(fill));
        if lengths.need_room() {
            let room = self.rule.ask(Request::LeastRoom);
            P::fit(&mut buffers, &P::lend(&mut arguments), Extent::Room(room));
        }
        // An `Option` has a gradient where it has no value.
        replace(&mut cotangent, &mut |i, _| seed.get(i).copied().unwrap_or(0.0));

        let before = CountingAllocator::so_far().allocations;
        let shadows = P::shadows_if(&|parameter| !constant.contains(parameter), &mut buffers);
        let (output, mut returned) =
            self.rule.pull(pending, P::lend(&mut arguments), shadows, O::lend(&cotangent));
        let allocations = CountingAllocator::so_far().allocations - before;
        if !lengths.are_kept() {
            P::fit(&mut buffers, &P::lend(&mut arguments), Extent::Length);
        }

        let mut gradient = vec![Vec::new(); P::MODES.len()];
        let mut list = listing_reals(&mut gradient);
        P::visit_buffers(&mut buffers, &mut list);
        P::visit_returned(&mut returned, &mut list);
        drop(list);
        (output, Pulled { gradient, arguments: read::<P>(&mut arguments), allocations })
    }
}

impl<P: TestParameters, O: Output<Gradient: Coordinates> + Coordinates> Specimen for Typed<'_, P, O> {
    fn about(&self) -> About {
        self.about
    }

    fn ask(&mut self, request: Request) -> usize {
        if request.abandons() {
            self.pending.clear();
            self.seeds.clear();
        }
        self.rule.ask(request)
    }

    fn arguments(&self, input: usize) -> ByParameter<Number> {
        read::<P>(&mut self.inputs[input].clone())
    }

    fn vary(&mut self, input: usize, change: Change<'_>) -> usize {
        self.inputs.push(self.changed(input, change));
        self.inputs.len() - 1
    }

    fn primal(&self, input: usize, change: Change<'_>) -> Call {
        observe::<P, O>(self.primal, None, &mut self.changed(input, change)).0
    }

    fn forward(&mut self, input: usize) -> Call {
        let mut arguments = self.inputs[input].clone();
        let rule: &mut dyn Erased<P, O> = self.rule;
        let (call, output) = observe::<P, O>(self.primal, Some((self.pending.len(), rule)), &mut arguments);
        self.pending.push(arguments);
        self.seeds.push(shape_of(&output));
        call
    }

    fn pullback(&mut self, seed: &[f64], fill: Change<'_>, constant: Set) -> Pulled {
        let (Some(arguments), Some(shape)) = (self.pending.pop(), self.seeds.pop()) else {
            unreachable!("a forward is pending")
        };
        self.pull(Some(self.pending.len()), arguments, shape, seed, fill, constant).1
    }

    fn at_once(&mut self, input: usize, seed: &[f64], fill: Change<'_>) -> (Vec<Number>, Pulled) {
        let arguments = self.inputs[input].clone();
        // The arguments may be changed by that, but it tells the shape of the output.
        let (_, output) = observe::<P, O>(self.primal, None, &mut arguments.clone());
        match self.pull(None, arguments, shape_of(&output), seed, fill, Set::default()) {
            (Some(mut output), pulled) => (numbers(&mut output), pulled),
            (None, _) => unreachable!("the forward is run, too"),
        }
    }
}

/// A gradient of the shape of `output`.
fn shape_of<O: Output>(output: &O) -> O::Gradient {
    let mut gradient = O::empty();
    output.prepare(&mut gradient);
    gradient
}

/// Calls the primal, or a forward within so many others, and says what that did.
fn observe<P: TestParameters, O: Output + Coordinates>(
    primal: fn(P::Args<'_>) -> O,
    forward: Option<(usize, &mut dyn Erased<P, O>)>,
    arguments: &mut P::Owned,
) -> (Call, O) {
    let before = CountingAllocator::so_far().allocations;
    let mut output = match forward {
        Some((pending, rule)) => rule.forward(pending, P::lend(arguments)),
        None => primal(P::lend(arguments)),
    };
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
