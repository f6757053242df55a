//! One call of a rule under observation.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::allocator::allocations_in;
use super::coordinates::{Coordinate, Number, numbers, reals, replace, replace_one};
use super::differences::Objective;
use super::parameter::{Mode, TestFunction, TestParameters};
use super::random::Random;
use crate::{Args, Cotangent, Function, Output, Parameters, Rule};

pub(super) type Owned<F> = <<F as Function>::Parameters as TestParameters>::Owned;

/// The gradient with respect to the output.
type Seed<F> = <<F as Function>::Output as Output>::Gradient;

fn lend_seed<F: Function>(seed: &Seed<F>) -> Cotangent<'_, F> {
    F::Output::lend(seed)
}

/// Numbers by parameter.
pub(super) type ByParameter<T> = Vec<Vec<T>>;

pub(super) fn modes<F: TestFunction>() -> &'static [Mode] {
    F::Parameters::MODES
}

/// The arguments.
pub(super) fn lend<F: TestFunction>(owned: &mut Owned<F>) -> Args<'_, F> {
    F::Parameters::lend(owned)
}

fn all_numbers<F: TestFunction>(owned: &mut Owned<F>) -> ByParameter<Number> {
    let mut all = vec![Vec::new(); modes::<F>().len()];
    F::Parameters::visit(owned, &mut |parameter, coordinate| all[parameter].push(coordinate.into()));
    all
}

/// Replaces each number of parameter `parameter` that has a derivative.
pub(super) fn replace_in<F: TestFunction>(
    owned: &mut Owned<F>,
    parameter: usize,
    mut f: impl FnMut(usize, f64) -> f64,
) {
    let mut index = 0;
    F::Parameters::visit(owned, &mut |p, coordinate| {
        if p == parameter {
            replace_one(coordinate, &mut index, &mut f);
        }
    });
}

/// Calls `f`; if it panics, returns the message.
pub(super) fn catch<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| {
        let message = payload.downcast_ref::<&str>().map(ToString::to_string);
        message.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "(no message)".into())
    })
}

/// An input, and what the primal makes of it.
pub(super) struct Case<F: TestFunction> {
    /// How messages call it.
    pub(super) name: String,
    pub(super) input: Owned<F>,
    entry: ByParameter<Number>,
    output: Vec<Number>,
    exit: ByParameter<Number>,
    /// How often a second call of the primal allocates.
    pub(super) allocations: usize,
    /// Weights of the numbers in the output: the gradient is that of the weighted sum.
    seed: Vec<f64>,
    /// Weights of the numbers left in each `&mut` argument.
    cotangents: ByParameter<f64>,
}

impl<F: TestFunction> Case<F> {
    pub(super) fn new(name: impl Into<String>, input: Owned<F>, random: &mut Random) -> Self {
        drop(F::primal(F::Parameters::lend(&mut input.clone())));
        let mut args = input.clone();
        let entry = all_numbers::<F>(&mut args);
        let (mut output, allocations) = allocations_in(|| F::primal(F::Parameters::lend(&mut args)));
        let output = numbers(&mut output);
        let exit = all_numbers::<F>(&mut args);
        let seed = random.weights(reals(&output).len());
        let cotangents = modes::<F>()
            .iter()
            .zip(&exit)
            .map(|(mode, exit)| match mode {
                Mode::Mutable => random.weights(reals(exit).len()),
                _ => Vec::new(),
            })
            .collect();
        Case { name: name.into(), input, entry, output, exit, allocations, seed, cotangents }
    }

    /// Whether an `f32` takes part.
    pub(super) fn is_single(&self) -> bool {
        self.entry.iter().flatten().chain(&self.output).any(|number| number.is_single())
    }

    /// Where the gradient is taken.
    pub(super) fn point(&self) -> ByParameter<f64> {
        self.entry.iter().map(|numbers| reals(numbers)).collect()
    }

    /// The weights of the output, in its shape.
    fn seed(&self) -> Seed<F> {
        let output = F::primal(F::Parameters::lend(&mut self.input.clone()));
        let mut seed = F::Output::empty();
        output.prepare(&mut seed);
        replace(&mut seed, |i, _| self.seed[i]);
        seed
    }

    /// The weighted sum of all results, at another point.
    pub(super) fn objective(&self, mut input: Owned<F>) -> Objective {
        let mut output = F::primal(F::Parameters::lend(&mut input));
        let output = reals(&numbers(&mut output));
        let exit = all_numbers::<F>(&mut input);
        let mut objective = Objective { value: 0.0, magnitude: 0.0 };
        let mut add = |weights: &[f64], results: &[f64]| {
            for (weight, result) in weights.iter().zip(results) {
                objective.value += weight * result;
                objective.magnitude += (weight * result).abs();
            }
        };
        add(&self.seed, &output);
        for (cotangents, exit) in self.cotangents.iter().zip(&exit) {
            add(cotangents, &reals(exit));
        }
        objective
    }

    /// Fails if `calls` calls of the rule allocated more often than as many of the primal.
    pub(super) fn expect_allocations(&self, calls: usize, got: usize, when: &str) {
        let allowed = calls * self.allocations;
        if got > allowed {
            self.fail(when, format!("the rule allocates {got} times, the primal {allowed} times"));
        }
    }

    pub(super) fn fail(&self, when: &str, what: impl Display) -> ! {
        panic!("`{}`, {}, {when}: {what}", F::NAME, self.name)
    }
}

impl FromIterator<usize> for Set {
    fn from_iter<I: IntoIterator<Item = usize>>(parameters: I) -> Self {
        Set(parameters.into_iter().fold(0, |set, parameter| set | 1 << parameter))
    }
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

/// How to call a pullback; by default as a driver does it, with shadows that hold zeros.
#[derive(Clone, Copy, Default)]
pub(super) struct How<'a> {
    /// What the shadows of shared arguments hold already.
    pub(super) prefill: Option<&'a ByParameter<f64>>,
    /// Which parameters get the shadow of a constant.
    pub(super) constant: Set,
    /// Which parameters the rule need not restore.
    pub(super) forgone: Set,
}

/// A forward whose pullback has not run yet.
pub(super) struct Pending<F: TestFunction, R> {
    args: Owned<F>,
    residual: R,
    pub(super) allocations: usize,
}

/// What a forward and its pullback gave.
pub(super) struct Reverse {
    pub(super) gradient: ByParameter<f64>,
    pub(super) allocations: usize,
}

/// Runs the forward, and checks all that it did.
pub(super) fn forward<R: Rule<Function: TestFunction>>(
    rule: &mut R,
    case: &Case<R::Function>,
    when: &str,
) -> Pending<R::Function, R::Residual> {
    let mut args = case.input.clone();
    let call = || rule.forward(<R::Function as Function>::Parameters::lend(&mut args));
    let ((mut output, residual), allocations) = catch(|| allocations_in(call))
        .unwrap_or_else(|message| case.fail(when, format!("the forward panics: {message}")));

    compare("the output", &case.output, &numbers(&mut output), Number::same, |what| {
        case.fail(when, format!("the value of the forward differs from the primal's: {what}"))
    });
    let exit = all_numbers::<R::Function>(&mut args);
    for (parameter, mode) in modes::<R::Function>().iter().enumerate() {
        let place = format!("parameter {parameter}");
        if *mode == Mode::Mutable {
            compare(&place, &case.exit[parameter], &exit[parameter], Number::same, |what| {
                case.fail(when, format!("the value of the forward differs from the primal's: {what}"))
            });
        } else {
            compare(&place, &case.entry[parameter], &exit[parameter], Number::identical, |what| {
                case.fail(when, format!("the forward changes a shared argument: {what}"))
            });
        }
    }
    Pending { args, residual, allocations }
}

/// Runs the pullback, and checks all that it did except for the gradient.
pub(super) fn pullback<R: Rule<Function: TestFunction>>(
    rule: &mut R,
    case: &Case<R::Function>,
    pending: Pending<R::Function, R::Residual>,
    how: How<'_>,
    when: &str,
) -> Reverse {
    type P<R> = <<R as Rule>::Function as Function>::Parameters;

    let Pending { mut args, residual, allocations: before } = pending;
    let mut buffers = P::<R>::buffers();
    P::<R>::prepare(&mut buffers, &P::<R>::lend(&mut args));
    fill::<R::Function>(&mut buffers, case, how);
    let seed = case.seed();

    let call = || {
        let shadows = P::<R>::shadows_if(|parameter| !how.constant.contains(parameter), &mut buffers);
        rule.pullback(residual, P::<R>::lend(&mut args), shadows, lend_seed::<R::Function>(&seed))
    };
    let (mut returned, allocations) = catch(|| allocations_in(call))
        .unwrap_or_else(|message| case.fail(when, format!("the pullback panics: {message}")));

    expect_restored::<R::Function>(case, &mut args, how, when);
    let gradient = collect::<R::Function>(case, &mut buffers, &mut returned, when);
    Reverse { gradient, allocations: before + allocations }
}

/// Fails unless all arguments hold what they held before the forward.
fn expect_restored<F: TestFunction>(case: &Case<F>, args: &mut Owned<F>, how: How<'_>, when: &str) {
    let left = all_numbers::<F>(args);
    for (parameter, mode) in modes::<F>().iter().enumerate() {
        if how.forgone.contains(parameter) {
            continue;
        }
        compare(
            &format!("parameter {parameter}"),
            &case.entry[parameter],
            &left[parameter],
            Number::identical,
            |what| match mode {
                Mode::Mutable => {
                    case.fail(when, format!("the pullback does not restore a `&mut` argument: {what}"))
                }
                _ => case.fail(when, format!("the pullback changes a shared argument: {what}")),
            },
        );
    }
}

/// The gradient out of shadows and returned gradients.
fn collect<F: TestFunction>(
    case: &Case<F>,
    buffers: &mut <F::Parameters as Parameters>::Buffers,
    returned: &mut <F::Parameters as Parameters>::Gradients,
    when: &str,
) -> ByParameter<f64> {
    let mut gradient = vec![Vec::new(); modes::<F>().len()];
    let mut collect = |parameter: usize, coordinate: Coordinate<'_>| {
        gradient[parameter].extend(Number::from(coordinate).real());
    };
    F::Parameters::visit_buffers(buffers, &mut collect);
    F::Parameters::visit_returned(returned, &mut collect);
    for (parameter, (gradient, point)) in gradient.iter().zip(case.point()).enumerate() {
        if gradient.len() != point.len() {
            let (got, expected) = (gradient.len(), point.len());
            let what = "coordinates in the gradient than in the value";
            case.fail(when, format!("parameter {parameter} has other {what}: {got} instead of {expected}"));
        }
    }
    gradient
}

/// Puts into the shadows what a caller could have there before the pullback.
fn fill<F: TestFunction>(buffers: &mut <F::Parameters as Parameters>::Buffers, case: &Case<F>, how: How<'_>) {
    let mut indices = vec![0; modes::<F>().len()];
    F::Parameters::visit_buffers(buffers, &mut |parameter, coordinate: Coordinate<'_>| {
        replace_one(coordinate, &mut indices[parameter], &mut |i, zero| match modes::<F>()[parameter] {
            Mode::Mutable => case.cotangents[parameter][i],
            Mode::Shared => how.prefill.map_or(zero, |prefill| prefill[parameter][i]),
            _ => zero,
        });
    });
}

/// Runs both.
pub(super) fn reverse<R: Rule<Function: TestFunction>>(
    rule: &mut R,
    case: &Case<R::Function>,
    how: How<'_>,
    when: &str,
) -> Reverse {
    let pending = forward(rule, case, when);
    pullback(rule, case, pending, how, when)
}

/// Runs both at once, and checks all that this did except for the gradient.
pub(super) fn at_once<R: Rule<Function: TestFunction>>(
    rule: &mut R,
    case: &Case<R::Function>,
    how: How<'_>,
    when: &str,
) -> Reverse {
    type P<R> = <<R as Rule>::Function as Function>::Parameters;

    let mut args = case.input.clone();
    let mut buffers = P::<R>::buffers();
    P::<R>::prepare(&mut buffers, &P::<R>::lend(&mut args));
    fill::<R::Function>(&mut buffers, case, how);
    let seed = case.seed();

    let call =
        || rule.value_and_pullback(P::<R>::lend(&mut args), &mut buffers, lend_seed::<R::Function>(&seed));
    let ((mut output, mut returned), allocations) = catch(|| allocations_in(call))
        .unwrap_or_else(|message| case.fail(when, format!("`value_and_pullback` panics: {message}")));

    compare("the output", &case.output, &numbers(&mut output), Number::same, |what| {
        case.fail(when, format!("the value differs from the primal's: {what}"))
    });
    expect_restored::<R::Function>(case, &mut args, how, when);
    let gradient = collect::<R::Function>(case, &mut buffers, &mut returned, when);
    Reverse { gradient, allocations }
}

/// Compares number by number.
fn compare(
    place: &str,
    expected: &[Number],
    got: &[Number],
    equal: impl Fn(Number, Number) -> bool,
    fail: impl Fn(String),
) {
    for (i, (&expected, &got)) in expected.iter().zip(got).enumerate() {
        if !equal(expected, got) {
            fail(format!("{place}, coordinate {i}: expected {expected}, got {got}"));
        }
    }
    if expected.len() != got.len() {
        fail(format!("{place}: expected {} numbers, got {}", expected.len(), got.len()));
    }
}

/// Compares gradients: those parameters that are not `excepted`, up to `tolerance` for each.
pub(super) fn compare_gradients<F: TestFunction>(
    case: &Case<F>,
    expected: &ByParameter<f64>,
    got: &ByParameter<f64>,
    excepted: Set,
    tolerance: impl Fn(usize) -> f64,
    when: &str,
    complaint: &str,
) {
    for (parameter, (expected, got)) in expected.iter().zip(got).enumerate() {
        if excepted.contains(parameter) {
            continue;
        }
        let tolerance = tolerance(parameter);
        for (i, (&expected, &got)) in expected.iter().zip(got).enumerate() {
            let same = expected.to_bits() == got.to_bits() || expected.is_nan() && got.is_nan();
            if !(same || (expected - got).abs() <= tolerance && tolerance > 0.0) {
                let place = format!("parameter {parameter}, coordinate {i}");
                case.fail(when, format!("{complaint}: {place}: expected {expected:?}, got {got:?}"));
            }
        }
    }
}
