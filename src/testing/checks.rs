//! The checks that every rule must pass.

use super::allocator::CountingAllocator;
use super::differences::{self, Precision};
use super::parameter::Mode;
use super::random::Random;
use super::specimen::{ByParameter, Set, Specimen};
use super::trial::{Case, How, catch, unchanged};

/// A case, and the gradient that a fresh rule gives.
struct Subject {
    case: Case,
    gradient: ByParameter<f64>,
    /// The largest number in the gradient.
    scale: f64,
}

impl Subject {
    fn new(specimen: &mut dyn Specimen, name: String, input: usize, random: &mut Random) -> Self {
        let case = Case::new(specimen, name, input, random);
        specimen.renew();
        let gradient = case.reverse(specimen, How::default(), "first call").gradient;
        let scale = gradient.iter().flatten().fold(0.0, |scale: f64, g| scale.max(g.abs()));
        let scale = if scale.is_normal() { scale } else { 1.0 };
        Subject { case, gradient, scale }
    }

    fn precision(&self, tolerance: Option<f64>) -> Precision {
        Precision::new(self.case.is_single(), tolerance)
    }

    /// Fails with `complaint` unless `gradient` is that of a fresh rule but for rounding, those of parameters that are
    /// `excepted` left aside.
    fn expect_nearly(&self, gradient: &ByParameter<f64>, excepted: Set, when: &str, complaint: &str) {
        let tolerance = self.precision(None).rounding(self.scale);
        self.case.compare_gradients(&self.gradient, gradient, excepted, tolerance, when, complaint);
    }

    /// Fails unless `gradient` is bit for bit that of a fresh rule.
    fn expect(&self, gradient: &ByParameter<f64>, when: &str) {
        let complaint = "the gradient is not that of a fresh rule";
        self.case.compare_gradients(&self.gradient, gradient, Set::default(), 0.0, when, complaint);
    }

    fn expect_from(&self, specimen: &mut dyn Specimen, when: &str) {
        self.expect(&self.case.reverse(specimen, How::default(), when).gradient, when);
    }
}

/// The subjects up and down again: 0, 1, 2, 1, 0.
fn up_and_down(subjects: &[Subject]) -> impl Iterator<Item = &Subject> {
    subjects.iter().chain(subjects.iter().rev().skip(1))
}

pub(super) struct Checks<'a> {
    specimen: &'a mut dyn Specimen,
    subjects: Vec<Subject>,
    /// The numbers of the inputs that the primal panics on, in the order in which they were given.
    panicking: Vec<usize>,
    random: Random,
}

impl<'a> Checks<'a> {
    /// Checks on the first `inputs` of the specimen's, and panics on the `panicking` ones behind.
    pub(super) fn new(specimen: &'a mut dyn Specimen, inputs: usize, panicking: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let subjects =
            (0..inputs).map(|i| Subject::new(specimen, format!("input {i}"), i, &mut random)).collect();
        Checks { specimen, subjects, panicking: (inputs..inputs + panicking).collect(), random }
    }

    /// How often a call may allocate, if not as often as the primal does.
    pub(super) fn allocating(mut self, count: Option<usize>) -> Self {
        if let Some(count) = count {
            self.subjects.iter_mut().for_each(|subject| subject.case.allow(count));
        }
        self
    }

    pub(super) fn run(mut self, tolerance: Option<f64>, special_values: bool) {
        self.finite_differences(tolerance);
        self.increment();
        if special_values {
            self.special_values();
        }
        self.constants();
        self.forgone();
        self.overwriting();
        self.nesting();
        self.sizes();
        self.reset();
        self.panics();
        if CountingAllocator::is_installed() {
            self.allocations();
        }
        if self.specimen.about().at_once {
            self.at_once();
        }
    }

    /// The parameters that are passed in this way.
    fn passed(&self, wanted: Mode) -> Vec<usize> {
        let modes = self.specimen.about().modes.iter().enumerate();
        modes.filter(|(_, mode)| **mode == wanted).map(|(parameter, _)| parameter).collect()
    }

    fn finite_differences(&mut self, tolerance: Option<f64>) {
        for subject in &self.subjects {
            let Subject { case, gradient, .. } = subject;
            let mut objective = |moved, displacement: &dyn Fn(usize) -> f64| {
                let mut change =
                    |parameter, index, x| if parameter == moved { x + displacement(index) } else { x };
                case.objective(self.specimen, &mut change)
            };
            let precision = subject.precision(tolerance);
            let found =
                differences::compare(precision, &case.point(), gradient, &mut self.random, &mut objective);
            if let Some(found) = found {
                let place = |parameter: usize, place: &str| format!("parameter {parameter}, {place}");
                case.fail("first call", found.describe(&place));
            }
        }
    }

    fn increment(&mut self) {
        let when = "shadows of shared arguments not empty";
        let shared = self.passed(Mode::Shared);
        for Subject { case, gradient, scale } in &self.subjects {
            let mut prefill = gradient.clone();
            for x in prefill.iter_mut().flatten() {
                *x = self.random.weight() * scale;
            }
            self.specimen.renew();
            let how = How { prefill: Some(&prefill), ..How::default() };
            let got = case.reverse(self.specimen, how, when).gradient;
            let mut expected = gradient.clone();
            for &parameter in &shared {
                for (x, prefill) in expected[parameter].iter_mut().zip(&prefill[parameter]) {
                    *x += prefill;
                }
            }
            let tolerance = Precision::new(case.is_single(), None).rounding(*scale);
            let complaint = "the pullback does not add the gradient to the shadow";
            case.compare_gradients(&expected, &got, Set::default(), tolerance, when, complaint);
        }
    }

    /// Forward and pullback in one call, which a rule may do in an order of its own.
    fn at_once(&mut self) {
        let complaint = "the gradient is not that of forward and pullback";
        self.specimen.renew();
        for round in ["at once", "at once, again"] {
            for subject in &self.subjects {
                let got = subject.case.at_once(self.specimen, round);
                subject.expect_nearly(&got.gradient, Set::default(), round, complaint);
            }
        }
        let counted = CountingAllocator::is_installed();
        for Subject { case, .. } in &self.subjects {
            self.specimen.renew();
            case.at_once(self.specimen, "at once");
            let second = case.at_once(self.specimen, "at once, again");
            if counted {
                case.expect_allocations(1, second.allocations, "at once, again");
            }
        }
    }

    /// `&mut` arguments that hold numbers which arithmetic would not bring back.
    fn special_values(&mut self) {
        // Arithmetic makes a signalling NaN a quiet one.
        let signalling = f64::from_bits(0x7ff0_0000_0000_0001);
        let subnormal = f64::from(f32::from_bits(1));
        let special = [signalling, f64::INFINITY, subnormal, -0.0, f64::MAX, -f64::NAN];
        let mutable = self.passed(Mode::Mutable);
        for Subject { case, .. } in &self.subjects {
            for shift in 0..2 {
                let input = self.specimen.vary(case.input, &mut |parameter, i, x| {
                    if mutable.contains(&parameter) && i % 2 == shift {
                        special[(i / 2 + 3 * shift) % special.len()]
                    } else {
                        x
                    }
                });
                // Some functions refuse such numbers.
                let name = format!("{} with special values", case.name);
                if let Ok(case) = catch(|| Case::new(self.specimen, name, input, &mut self.random)) {
                    self.specimen.renew();
                    case.reverse(self.specimen, How::default(), "first call");
                }
            }
        }
    }

    fn constants(&mut self) {
        let one = |p: &usize| (Set::of(*p), format!("parameter {p} constant"));
        let shared = self.passed(Mode::Shared);
        let all = (shared.iter().copied().collect(), "all shared arguments constant".to_string());
        for (constant, when) in shared.iter().map(one).chain([all]) {
            for subject in &self.subjects {
                self.specimen.renew();
                let how = How { constant, ..How::default() };
                let got = subject.case.reverse(self.specimen, how, &when).gradient;
                subject.expect_nearly(&got, constant, &when, "another argument's gradient changes");
            }
        }
        // What passes through a constant `&mut` argument carries no gradient, so that others' gradients may change.
        let mutable = self.passed(Mode::Mutable);
        let all = (Set::all(), "all references constant".to_string());
        for (constant, when) in mutable.iter().map(one).chain([all]) {
            for Subject { case, .. } in &self.subjects {
                self.specimen.renew();
                case.reverse(self.specimen, How { constant, ..How::default() }, &when);
            }
        }
    }

    fn forgone(&mut self) {
        for parameter in self.passed(Mode::Mutable) {
            let when = format!("restoring parameter {parameter} forgone");
            for subject in &self.subjects {
                let how = How { forgone: Set::of(parameter), ..How::default() };
                self.specimen.renew();
                self.specimen.forgo(parameter);
                for _ in 0..2 {
                    let got = subject.case.reverse(self.specimen, how, &when).gradient;
                    subject.expect_nearly(&got, Set::default(), &when, "the gradient changes");
                }
            }
        }
    }

    /// What a rule says that it overwrites may hold anything before.
    fn overwriting(&mut self) {
        let (shared, mutable) = (self.passed(Mode::Shared), self.passed(Mode::Mutable));
        for &parameter in shared.iter().chain(&mutable) {
            let when = format!("asked to overwrite parameter {parameter}");
            let is_mutable = mutable.contains(&parameter);
            for subject in &self.subjects {
                self.specimen.renew();
                if !self.specimen.overwrite(parameter) {
                    break;
                }
                let case = &subject.case;
                let mut prefill: ByParameter<f64> = case.point();
                prefill
                    .iter_mut()
                    .enumerate()
                    .for_each(|(p, of_p)| of_p.fill(if p == parameter { f64::NAN } else { 0.0 }));
                let (case, how) = if is_mutable {
                    let overwritten = |p, _, x| if p == parameter { f64::NAN } else { x };
                    let forgone = How { forgone: Set::of(parameter), ..How::default() };
                    (&case.on(self.specimen.vary(case.input, &mut { overwritten })), forgone)
                } else {
                    (case, How { prefill: Some(&prefill), ..How::default() })
                };
                let excepted = if is_mutable { Set::of(parameter) } else { Set::default() };
                for _ in 0..2 {
                    let got = case.reverse(self.specimen, how, &when).gradient;
                    subject.expect_nearly(&got, excepted, &when, "the gradient changes");
                }
            }
        }
    }

    /// Another subject with arguments of the same shapes.
    fn variant(&mut self, index: usize) -> Option<Subject> {
        let case = &self.subjects[index].case;
        let input = self.specimen.vary(case.input, &mut |_, _, x| x * (1.0 + self.random.weight() / 1024.0));
        let name = format!("{} slightly changed", case.name);
        // Where the primal does not take such arguments there is no variant.
        catch(|| self.specimen.primal(input, &mut unchanged)).ok()?;
        Some(Subject::new(self.specimen, name, input, &mut self.random))
    }

    fn nesting(&mut self) {
        for index in 0..self.subjects.len() {
            let variant = self.variant(index);
            let a = &self.subjects[index];
            let next = &self.subjects[(index + 1) % self.subjects.len()];
            for b in [variant.as_ref().unwrap_or(a), next] {
                self.specimen.renew();
                for when in NESTED {
                    nest(self.specimen, a, b, when);
                }
            }
        }
    }

    fn sizes(&mut self) {
        self.specimen.renew();
        for when in ["after other sizes", "after the same sizes before"] {
            for subject in up_and_down(&self.subjects) {
                subject.expect_from(self.specimen, when);
            }
        }
        // From the largest downwards, too.
        self.specimen.renew();
        for subject in self.subjects.iter().rev() {
            subject.expect_from(self.specimen, "after other sizes, in reverse order");
            subject.expect_from(self.specimen, "second call");
        }
    }

    fn reset(&mut self) {
        let abandoned = "forward without pullback";
        for (pending, forwards) in [(1, "one forward"), (2, "two forwards")] {
            self.specimen.renew();
            for subject in up_and_down(&self.subjects) {
                let when = format!("after {forwards} without pullback and a reset");
                for _ in 0..pending {
                    subject.case.forward(self.specimen, abandoned);
                }
                self.specimen.reset();
                for subject in up_and_down(&self.subjects) {
                    subject.expect_from(self.specimen, &when);
                }
            }
            // The inner one of two activations ended properly, the outer one did not.
            for subject in up_and_down(&self.subjects) {
                subject.case.forward(self.specimen, abandoned);
                subject.expect_from(self.specimen, "within a pending forward");
                self.specimen.reset();
                subject.expect_from(self.specimen, "after a reset");
            }
        }
        self.specimen.renew();
        let fresh = self.specimen.memory();
        for subject in up_and_down(&self.subjects) {
            subject.case.forward(self.specimen, abandoned);
            self.specimen.shrink();
            let held = self.specimen.memory();
            if held != fresh {
                subject.case.fail("after `shrink`", format!("it holds {held} bytes, a fresh one {fresh}"));
            }
            subject.expect_from(self.specimen, "after `shrink`");
        }
    }

    fn panics(&mut self) {
        for (i, &input) in self.panicking.iter().enumerate() {
            let name = format!("`{}`, panicking input {i}", self.specimen.about().function);
            let primal = catch(|| self.specimen.primal(input, &mut unchanged));
            assert!(primal.is_err(), "{name}: the primal does not panic");
            self.specimen.renew();
            let when = format!("after panicking input {i} and a reset");
            for pending in [false, true] {
                for subject in up_and_down(&self.subjects) {
                    if pending {
                        subject.case.forward(self.specimen, "forward without pullback");
                    }
                    let forward = catch(|| self.specimen.forward(input));
                    assert!(forward.is_err(), "{name}: the primal panics, but the forward does not");
                    self.specimen.reset();
                    subject.expect_from(self.specimen, &when);
                }
            }
        }
    }

    fn allocations(&mut self) {
        // Each by itself …
        for Subject { case, .. } in &self.subjects {
            self.specimen.renew();
            for round in 0..3 {
                let got = case.reverse(self.specimen, How::default(), "repeated").allocations;
                if round > 0 {
                    case.expect_allocations(1, got, "second call");
                }
            }
        }
        // … then one rule for all: memory grows to the high-water mark and stays there …
        self.specimen.renew();
        for round in 0..2 {
            for Subject { case, .. } in up_and_down(&self.subjects) {
                let got = case.reverse(self.specimen, How::default(), "repeated").allocations;
                if round > 0 {
                    case.expect_allocations(1, got, "second call, alternating with other sizes");
                }
            }
        }
        // … then nested, and with a pullback left out.
        for subject in &self.subjects {
            self.specimen.renew();
            for round in 0..3 {
                let got = nest(self.specimen, subject, subject, NESTED[0]);
                if round > 0 {
                    subject.case.expect_allocations(4, got, NESTED[0]);
                }
            }
            self.specimen.renew();
            for round in 0..3 {
                let got = subject.case.forward(self.specimen, "forward without pullback");
                self.specimen.reset();
                if round > 0 {
                    let when = "after one forward without pullback and a reset";
                    subject.case.expect_allocations(1, got, when);
                }
            }
        }
    }
}

const NESTED: [&str; 2] =
    ["forward, forward, pullback, pullback", "forward, forward, pullback, pullback a second time"];

/// Nests activations of `b` in one of `a`, two deep and one after the other; returns the number of allocations.
fn nest(specimen: &mut dyn Specimen, a: &Subject, b: &Subject, when: &str) -> usize {
    let mut allocations = 0;
    for subject in [a, b, a] {
        allocations += subject.case.forward(specimen, when);
    }
    for subject in [a, b] {
        let got = subject.case.pullback(specimen, How::default(), when);
        subject.expect(&got.gradient, when);
        allocations += got.allocations;
    }
    let got = b.case.reverse(specimen, How::default(), when);
    b.expect(&got.gradient, when);
    allocations += got.allocations;
    let got = a.case.pullback(specimen, How::default(), when);
    a.expect(&got.gradient, when);
    allocations + got.allocations
}
