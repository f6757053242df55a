//! One call of a rule under observation.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::coordinates::{MISSING, Number, reals};
use super::differences::Objective;
use super::parameter::Mode;
use super::random::Random;
use super::specimen::{About, ByParameter, Call, Change, Pulled, Set, Specimen};

/// Calls `f`; if it panics, returns the message.
pub(super) fn catch<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| {
        let message = payload.downcast_ref::<&str>().map(ToString::to_string);
        message.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "(no message)".into())
    })
}

/// A [`Change`] that is none.
pub(super) fn unchanged(_parameter: usize, _index: usize, x: f64) -> f64 {
    x
}

/// An input, and what the primal makes of it.
#[derive(Clone)]
pub(super) struct Case {
    function: &'static str,
    modes: &'static [Mode],
    /// How messages call it.
    pub(super) name: String,
    pub(super) input: usize,
    entry: ByParameter<Number>,
    output: Vec<Number>,
    exit: ByParameter<Number>,
    /// How often a call may allocate: as often as a second call of the primal, unless told otherwise.
    allocations: usize,
    /// Weights of the numbers in the output: the gradient is that of the weighted sum.
    seed: Vec<f64>,
    /// Weights of the numbers left in each `&mut` argument.
    cotangents: ByParameter<f64>,
}

impl Case {
    pub(super) fn new(specimen: &dyn Specimen, name: String, input: usize, random: &mut Random) -> Self {
        specimen.primal(input, &mut unchanged);
        let Call { output, arguments: exit, allocations } = specimen.primal(input, &mut unchanged);
        let About { function, modes, .. } = specimen.about();
        let entry = specimen.arguments(input);
        // What is not there has no weight.
        let mut weights = |numbers: &[Number]| -> Vec<f64> {
            let weights = numbers.iter().filter(|number| number.real().is_some());
            weights.map(|number| if number.is_absent() { 0.0 } else { random.weight() }).collect()
        };
        let seed = weights(&output);
        let cotangents = modes
            .iter()
            .zip(&exit)
            .map(|(mode, exit)| match mode {
                Mode::Mutable => weights(exit),
                _ => Vec::new(),
            })
            .collect();
        Case { function, modes, name, input, entry, output, exit, allocations, seed, cotangents }
    }

    /// The same of another input, which makes no difference to the results.
    pub(super) fn on(&self, input: usize) -> Case {
        Case { input, ..self.clone() }
    }

    /// Whether an `f32` takes part.
    pub(super) fn is_single(&self) -> bool {
        self.entry.iter().flatten().chain(&self.output).any(|number| number.is_single())
    }

    /// Where the gradient is taken.
    pub(super) fn point(&self) -> ByParameter<f64> {
        self.entry.iter().map(|numbers| reals(numbers)).collect()
    }

    /// The weighted sum of all results, at another point.
    pub(super) fn objective(&self, specimen: &dyn Specimen, change: Change<'_>) -> Objective {
        let Call { output, arguments, .. } = specimen.primal(self.input, change);
        let mut objective = Objective { value: 0.0, magnitude: 0.0 };
        let mut add = |weights: &[f64], results: &[f64]| {
            for (weight, result) in weights.iter().zip(results) {
                objective.value += weight * result;
                objective.magnitude += (weight * result).abs();
            }
        };
        add(&self.seed, &reals(&output));
        for (cotangents, exit) in self.cotangents.iter().zip(&arguments) {
            add(cotangents, &reals(exit));
        }
        objective
    }

    /// Runs the forward, checks all that it did, and says how often it allocated.
    pub(super) fn forward(&self, specimen: &mut dyn Specimen, when: &str) -> usize {
        let Call { output, arguments, allocations } = catch(|| specimen.forward(self.input))
            .unwrap_or_else(|message| self.fail(when, format!("the forward panics: {message}")));
        let complaint = "the value of the forward differs from the primal's";
        self.compare(when, complaint, "the output", &self.output, &output, Number::same);
        for (parameter, mode) in self.modes.iter().enumerate() {
            let (place, got) = (format!("parameter {parameter}"), &arguments[parameter]);
            if *mode == Mode::Mutable {
                self.compare(when, complaint, &place, &self.exit[parameter], got, Number::same);
            } else {
                let complaint = "the forward changes a shared argument";
                self.compare(when, complaint, &place, &self.entry[parameter], got, Number::identical);
            }
        }
        allocations
    }

    /// Runs the pullback, and checks all that it did except for the gradient.
    pub(super) fn pullback(&self, specimen: &mut dyn Specimen, how: How<'_>, when: &str) -> Reverse {
        let pulled = catch(|| {
            specimen.pullback(&self.seed, &mut |p, i, zero| self.shadow(how, p, i, zero), how.constant)
        })
        .unwrap_or_else(|message| self.fail(when, format!("the pullback panics: {message}")));
        self.expect_restored(&pulled, how, when);
        Reverse { gradient: self.shaped(pulled.gradient, when), allocations: pulled.allocations }
    }

    /// Runs both.
    pub(super) fn reverse(&self, specimen: &mut dyn Specimen, how: How<'_>, when: &str) -> Reverse {
        let before = self.forward(specimen, when);
        let got = self.pullback(specimen, how, when);
        Reverse { allocations: before + got.allocations, ..got }
    }

    /// Runs both at once, and checks all that this did except for the gradient.
    pub(super) fn at_once(&self, specimen: &mut dyn Specimen, when: &str) -> Reverse {
        let how = How::default();
        let mut fill = |p, i, zero| self.shadow(how, p, i, zero);
        let (output, pulled) = catch(|| specimen.at_once(self.input, &self.seed, &mut fill))
            .unwrap_or_else(|message| self.fail(when, format!("`value_and_pullback` panics: {message}")));
        let complaint = "the value differs from the primal's";
        self.compare(when, complaint, "the output", &self.output, &output, Number::same);
        self.expect_restored(&pulled, how, when);
        Reverse { gradient: self.shaped(pulled.gradient, when), allocations: pulled.allocations }
    }

    /// What a caller has in a shadow before the pullback, instead of `zero`.
    fn shadow(&self, how: How<'_>, parameter: usize, index: usize, zero: f64) -> f64 {
        match self.modes[parameter] {
            Mode::Mutable => self.cotangents[parameter][index],
            Mode::Shared => {
                how.prefill.and_then(|prefill| prefill[parameter].get(index)).map_or(zero, |held| *held)
            }
            _ => zero,
        }
    }

    /// Fails unless all arguments hold what they held before the forward.
    fn expect_restored(&self, pulled: &Pulled, how: How<'_>, when: &str) {
        for (parameter, mode) in self.modes.iter().enumerate() {
            if how.forgone.contains(parameter) {
                continue;
            }
            let complaint = match mode {
                Mode::Mutable => "the pullback does not restore a `&mut` argument",
                _ => "the pullback changes a shared argument",
            };
            let (expected, got) = (&self.entry[parameter], &pulled.arguments[parameter]);
            self.compare(
                when,
                complaint,
                &format!("parameter {parameter}"),
                expected,
                got,
                Number::identical,
            );
        }
    }

    /// The gradient, which fails unless it has the coordinates of the value. With respect to an `Option` without a value it is zero.
    fn shaped(&self, mut gradient: ByParameter<f64>, when: &str) -> ByParameter<f64> {
        for (parameter, (gradient, point)) in gradient.iter_mut().zip(self.point()).enumerate() {
            let missing = matches!(self.entry[parameter][..], [Number::Discrete(MISSING)]);
            if missing && gradient.iter().all(|g| *g == 0.0) {
                gradient.clear();
            }
            if gradient.len() != point.len() {
                let (got, expected) = (gradient.len(), point.len());
                let what = "coordinates in the gradient than in the value";
                self.fail(
                    when,
                    format!("parameter {parameter} has other {what}: {got} instead of {expected}"),
                );
            }
        }
        gradient
    }

    pub(super) fn allow(&mut self, allocations: usize) {
        self.allocations = allocations;
    }

    /// Fails if `calls` calls of the rule allocated more often than they may.
    pub(super) fn expect_allocations(&self, calls: usize, got: usize, when: &str) {
        let allowed = calls * self.allocations;
        if got > allowed {
            self.fail(when, format!("the rule allocates {got} times instead of {allowed} times"));
        }
    }

    /// Fails with `complaint` unless gradients agree: those of parameters that are not `excepted`, up to `tolerance`.
    pub(super) fn compare_gradients(
        &self,
        expected: &ByParameter<f64>,
        got: &ByParameter<f64>,
        excepted: Set,
        tolerance: f64,
        when: &str,
        complaint: &str,
    ) {
        for (parameter, (expected, got)) in expected.iter().zip(got).enumerate() {
            if excepted.contains(parameter) {
                continue;
            }
            for (i, (&expected, &got)) in expected.iter().zip(got).enumerate() {
                let same = expected.to_bits() == got.to_bits() || expected.is_nan() && got.is_nan();
                if !(same || (expected - got).abs() <= tolerance && tolerance > 0.0) {
                    let place = format!("parameter {parameter}, coordinate {i}");
                    self.fail(when, format!("{complaint}: {place}: expected {expected:?}, got {got:?}"));
                }
            }
        }
    }

    /// Compares number by number.
    fn compare(
        &self,
        when: &str,
        complaint: &str,
        place: &str,
        expected: &[Number],
        got: &[Number],
        equal: fn(Number, Number) -> bool,
    ) {
        for (i, (&expected, &got)) in expected.iter().zip(got).enumerate() {
            if !equal(expected, got) {
                self.fail(
                    when,
                    format!("{complaint}: {place}, coordinate {i}: expected {expected}, got {got}"),
                );
            }
        }
        if expected.len() != got.len() {
            let (expected, got) = (expected.len(), got.len());
            self.fail(when, format!("{complaint}: {place}: expected {expected} numbers, got {got}"));
        }
    }

    pub(super) fn fail(&self, when: &str, what: impl Display) -> ! {
        panic!("`{}`, {}, {when}: {what}", self.function, self.name)
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

/// What a forward and its pullback gave.
pub(super) struct Reverse {
    pub(super) gradient: ByParameter<f64>,
    pub(super) allocations: usize,
}
