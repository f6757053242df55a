//! The checks that every rule must pass.

use super::allocator::CountingAllocator;
use super::differences::{self, Precision};
use super::parameter::{Mode, TestFunction};
use super::random::Random;
use super::trial::{
    ByParameter, Case, How, Owned, Set, at_once, catch, compare_gradients, forward, lend, modes, pullback,
    replace_in, reverse,
};
use crate::{Function, Rule};

/// Checks that the rules that `rule` makes keep the [contract](Rule#contract) on each of `inputs`. See [`CheckRule`],
/// which has options.
///
/// # Panics
/// If they do not, with a message that says where.
pub fn check_rule<R: Rule<Function: TestFunction>>(
    rule: impl Fn() -> R,
    inputs: impl IntoIterator<Item = InputOf<R>>,
) {
    CheckRule::new(rule).inputs(inputs).run();
}

/// The arguments of one call, owned, as a tuple: see [`TestParameter::Owned`](super::TestParameter::Owned).
pub type InputOf<R> = Owned<<R as Rule>::Function>;

/// A test of a rule, built-in, hand-written or derived, against its [contract](Rule#contract).
///
/// Give it several inputs, of different sizes if the rule takes arrays: it alternates among them. What is checked, in
/// this order:
///
/// * The forward's value equals the primal's bit for bit, and so does what it leaves in `&mut` arguments. Nothing else
///   changes.
/// * The pullback restores `&mut` arguments bit for bit, also those that hold NaN, −0, infinities and subnormal numbers.
/// * The gradient of a random weighted sum of all results agrees with finite differences. Parameters of up to 64 numbers
///   are checked number by number; of larger ones a random sample is, and so are random directions.
/// * Gradients are added to what the shadows of `&` arguments hold.
/// * Restoring may be [forgone](Rule::forgo), and `&` arguments may be constant: other gradients stay the same. A `&mut`
///   argument may be constant, too.
/// * Activations nest, for arguments of the same and of other shapes; the gradients are bit for bit those of a fresh rule.
/// * A used rule gives bit for bit the gradients of a fresh one, also when sizes go up and down, after
///   [`reset`](crate::State::reset) with forwards pending, after [`release`](crate::State::release), and after a panic.
/// * From the second call on, forward and pullback together allocate no more than the primal does. This is checked where the
///   test binary installs the [`CountingAllocator`].
///
/// # Finite differences
/// They are five-point central ones. A derivative must agree to within the *tolerance* relative to the largest number in
/// the gradient, 10⁻⁷ by default and 2·10⁻³ where an `f32` takes part; rounding in the results is allowed for on top of
/// that. Choose inputs away from kinks and other points without a derivative. Where the value of a function is not finite,
/// differences say nothing, and the gradient is not compared with them.
pub struct CheckRule<R: Rule<Function: TestFunction>, M> {
    rule: M,
    inputs: Vec<InputOf<R>>,
    panicking: Vec<InputOf<R>>,
    tolerance: Option<f64>,
    seed: u64,
    finite: bool,
}

impl<R: Rule<Function: TestFunction>, M: Fn() -> R> CheckRule<R, M> {
    /// A test of the rules that `rule` makes, each of them fresh.
    pub fn new(rule: M) -> Self {
        CheckRule { rule, inputs: Vec::new(), panicking: Vec::new(), tolerance: None, seed: 0, finite: false }
    }

    /// Also test on `input`.
    pub fn input(mut self, input: InputOf<R>) -> Self {
        self.inputs.push(input);
        self
    }

    /// Also test on `inputs`.
    pub fn inputs(mut self, inputs: impl IntoIterator<Item = InputOf<R>>) -> Self {
        self.inputs.extend(inputs);
        self
    }

    /// Also test that `input`, on which the primal panics, makes the rule panic, too, and that the rule is of use again
    /// after a reset.
    pub fn panicking(mut self, input: InputOf<R>) -> Self {
        self.panicking.push(input);
        self
    }

    /// How well gradients must agree with finite differences, relative to the largest number in the gradient.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = Some(tolerance);
        self
    }

    /// Where random numbers start.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Do not put NaN and the like into `&mut` arguments: for a function that does not return on such.
    pub fn finite_only(mut self) -> Self {
        self.finite = true;
        self
    }

    /// Runs all checks.
    ///
    /// # Panics
    /// If one fails, with a message that says where.
    pub fn run(self) {
        assert!(!self.inputs.is_empty(), "`{}`: no input to test on", R::Function::NAME);
        let mut random = Random::new(self.seed);
        let subjects = (self.inputs.iter().enumerate())
            .map(|(i, input)| Subject::new(&self.rule, format!("input {i}"), input.clone(), &mut random))
            .collect();
        let mut checks = Checks { rule: &self.rule, subjects, random };
        checks.finite_differences(self.tolerance);
        checks.increment();
        if !self.finite {
            checks.special_values();
        }
        checks.constants();
        checks.forgone();
        checks.nesting();
        checks.sizes();
        checks.reset();
        checks.panics(&self.panicking);
        if CountingAllocator::is_installed() {
            checks.allocations();
        }
        checks.at_once();
    }
}

/// A case, and the gradient that a fresh rule gives.
struct Subject<F: TestFunction> {
    case: Case<F>,
    gradient: ByParameter<f64>,
    /// The largest number in the gradient.
    scale: f64,
}

impl<F: TestFunction> Subject<F> {
    fn new<R: Rule<Function = F>>(
        rule: impl Fn() -> R,
        name: String,
        input: Owned<F>,
        random: &mut Random,
    ) -> Self {
        let case = Case::new(name, input, random);
        let gradient = reverse(&mut rule(), &case, How::default(), "first call").gradient;
        let scale = gradient.iter().flatten().fold(0.0, |scale: f64, g| scale.max(g.abs()));
        let scale = if scale.is_normal() { scale } else { 1.0 };
        Subject { case, gradient, scale }
    }

    fn precision(&self, tolerance: Option<f64>) -> Precision {
        Precision::new(self.case.is_single(), tolerance)
    }

    /// Fails unless `gradient` is bit for bit that of a fresh rule.
    fn expect(&self, gradient: &ByParameter<f64>, when: &str) {
        let complaint = "the gradient is not that of a fresh rule";
        compare_gradients(&self.case, &self.gradient, gradient, Set::default(), |_| 0.0, when, complaint);
    }

    fn expect_from<R: Rule<Function = F>>(&self, rule: &mut R, when: &str) {
        self.expect(&reverse(rule, &self.case, How::default(), when).gradient, when);
    }
}

struct Checks<'a, R: Rule<Function: TestFunction>, M> {
    rule: &'a M,
    subjects: Vec<Subject<R::Function>>,
    random: Random,
}

impl<R: Rule<Function: TestFunction>, M: Fn() -> R> Checks<'_, R, M> {
    fn references() -> impl Iterator<Item = (usize, Mode)> {
        let modes = modes::<R::Function>().iter().copied().enumerate();
        modes.filter(|(_, mode)| matches!(mode, Mode::Shared | Mode::Mutable))
    }

    /// The subjects up and down again: 0, 1, 2, 1, 0.
    fn up_and_down(&self) -> impl Iterator<Item = &Subject<R::Function>> {
        self.subjects.iter().chain(self.subjects.iter().rev().skip(1))
    }

    fn finite_differences(&mut self, tolerance: Option<f64>) {
        for Subject { case, gradient, .. } in &self.subjects {
            let precision = Precision::new(case.is_single(), tolerance);
            let objective = |parameter, displacement: &dyn Fn(usize) -> f64| {
                let mut input = case.input.clone();
                replace_in::<R::Function>(&mut input, parameter, |i, x| x + displacement(i));
                case.objective(input)
            };
            let found = differences::compare(precision, &case.point(), gradient, &mut self.random, objective);
            if let Some(found) = found {
                case.fail(
                    "first call",
                    found.describe(|parameter, place| format!("parameter {parameter}, {place}")),
                );
            }
        }
    }

    fn increment(&mut self) {
        let when = "shadows of shared arguments not empty";
        for subject in &self.subjects {
            let mut prefill = subject.gradient.clone();
            for x in prefill.iter_mut().flatten() {
                *x = self.random.weight() * subject.scale;
            }
            let how = How { prefill: Some(&prefill), ..How::default() };
            let got = reverse(&mut (self.rule)(), &subject.case, how, when).gradient;
            let mut expected = subject.gradient.clone();
            for (parameter, _) in Self::references().filter(|(_, mode)| *mode == Mode::Shared) {
                for (x, prefill) in expected[parameter].iter_mut().zip(&prefill[parameter]) {
                    *x += prefill;
                }
            }
            let tolerance = subject.precision(None).rounding(subject.scale);
            compare_gradients(
                &subject.case,
                &expected,
                &got,
                Set::default(),
                |_| tolerance,
                when,
                "the pullback does not add the gradient to the shadow",
            );
        }
    }

    /// Forward and pullback in one call, which a rule may do in an order of its own.
    fn at_once(&mut self) {
        let mut rule = (self.rule)();
        for round in ["at once", "at once, again"] {
            for subject in &self.subjects {
                let got = at_once(&mut rule, &subject.case, How::default(), round);
                let tolerance = subject.precision(None).rounding(subject.scale);
                compare_gradients(
                    &subject.case,
                    &subject.gradient,
                    &got.gradient,
                    Set::default(),
                    |_| tolerance,
                    round,
                    "the gradient is not that of forward and pullback",
                );
            }
        }
        let counted = CountingAllocator::is_installed();
        for subject in &self.subjects {
            let mut rule = (self.rule)();
            at_once(&mut rule, &subject.case, How::default(), "at once");
            let second = at_once(&mut rule, &subject.case, How::default(), "at once, again");
            if counted {
                subject.case.expect_allocations(1, second.allocations, "at once, again");
            }
        }
    }

    /// `&mut` arguments that hold numbers which arithmetic would not bring back.
    fn special_values(&mut self) {
        // Arithmetic makes a signalling NaN a quiet one.
        let signalling = f64::from_bits(0x7ff0_0000_0000_0001);
        let subnormal = f64::from(f32::from_bits(1));
        let special = [signalling, f64::INFINITY, subnormal, -0.0, f64::MAX, -f64::NAN];
        for Subject { case, .. } in &self.subjects {
            for shift in 0..2 {
                let mut input = case.input.clone();
                for (parameter, _) in Self::references().filter(|(_, mode)| *mode == Mode::Mutable) {
                    replace_in::<R::Function>(&mut input, parameter, |i, x| {
                        if i % 2 == shift { special[(i / 2 + 3 * shift) % special.len()] } else { x }
                    });
                }
                // Some functions refuse such numbers.
                let name = format!("{} with special values", case.name);
                if let Ok(case) = catch(|| Case::new(name, input, &mut self.random)) {
                    reverse(&mut (self.rule)(), &case, How::default(), "first call");
                }
            }
        }
    }

    fn constants(&mut self) {
        let one = |p| (Set::of(p), format!("parameter {p} constant"));
        let shared = || Self::references().filter(|(_, mode)| *mode == Mode::Shared).map(|(p, _)| p);
        let all = (shared().collect(), "all shared arguments constant".to_string());
        for (constant, when) in shared().map(one).chain([all]) {
            for subject in &self.subjects {
                let how = How { constant, ..How::default() };
                let got = reverse(&mut (self.rule)(), &subject.case, how, &when).gradient;
                let tolerance = subject.precision(None).rounding(subject.scale);
                compare_gradients(
                    &subject.case,
                    &subject.gradient,
                    &got,
                    constant,
                    |_| tolerance,
                    &when,
                    "another argument's gradient changes",
                );
            }
        }
        // What passes through a constant `&mut` argument carries no gradient, so that others' gradients may change.
        let mutable = Self::references().filter(|(_, mode)| *mode == Mode::Mutable).map(|(p, _)| one(p));
        let all = (Set::all(), "all references constant".to_string());
        for (constant, when) in mutable.chain([all]) {
            for subject in &self.subjects {
                let how = How { constant, ..How::default() };
                reverse(&mut (self.rule)(), &subject.case, how, &when);
            }
        }
    }

    fn forgone(&mut self) {
        for (parameter, _) in Self::references().filter(|(_, mode)| *mode == Mode::Mutable) {
            let when = format!("restoring parameter {parameter} forgone");
            for subject in &self.subjects {
                let how = How { forgone: Set::of(parameter), ..How::default() };
                let mut rule = (self.rule)().forgoing(parameter);
                let tolerance = subject.precision(None).rounding(subject.scale);
                for _ in 0..2 {
                    let got = reverse(&mut rule, &subject.case, how, &when).gradient;
                    compare_gradients(
                        &subject.case,
                        &subject.gradient,
                        &got,
                        Set::default(),
                        |_| tolerance,
                        &when,
                        "the gradient changes",
                    );
                }
            }
        }
    }

    /// Another subject with arguments of the same shapes.
    fn variant(&mut self, index: usize) -> Option<Subject<R::Function>> {
        let case = &self.subjects[index].case;
        let mut input = case.input.clone();
        for parameter in 0..modes::<R::Function>().len() {
            replace_in::<R::Function>(&mut input, parameter, |_, x| {
                x * (1.0 + self.random.weight() / 1024.0)
            });
        }
        let name = format!("{} slightly changed", case.name);
        // Where the primal does not take such arguments there is no variant.
        catch(|| R::Function::primal(lend::<R::Function>(&mut input.clone()))).ok()?;
        Some(Subject::new(self.rule, name, input, &mut self.random))
    }

    fn nesting(&mut self) {
        for index in 0..self.subjects.len() {
            let variant = self.variant(index);
            let a = &self.subjects[index];
            let next = &self.subjects[(index + 1) % self.subjects.len()];
            for b in [variant.as_ref().unwrap_or(a), next] {
                let mut rule = (self.rule)();
                for when in NESTED {
                    nest(&mut rule, a, b, when);
                }
            }
        }
    }

    fn sizes(&mut self) {
        let mut rule = (self.rule)();
        for when in ["after other sizes", "after the same sizes before"] {
            for subject in self.up_and_down() {
                subject.expect_from(&mut rule, when);
            }
        }
        // From the largest downwards, too.
        let mut rule = (self.rule)();
        for subject in self.subjects.iter().rev() {
            subject.expect_from(&mut rule, "after other sizes, in reverse order");
            subject.expect_from(&mut rule, "second call");
        }
    }

    fn reset(&mut self) {
        for (pending, forwards) in [(1, "one forward"), (2, "two forwards")] {
            let mut rule = (self.rule)();
            for subject in self.up_and_down() {
                let when = format!("after {forwards} without pullback and a reset");
                for _ in 0..pending {
                    forward(&mut rule, &subject.case, "forward without pullback");
                }
                rule.reset();
                for subject in self.up_and_down() {
                    subject.expect_from(&mut rule, &when);
                }
            }
            // The inner one of two activations ended properly, the outer one did not.
            for subject in self.up_and_down() {
                forward(&mut rule, &subject.case, "forward without pullback");
                subject.expect_from(&mut rule, "within a pending forward");
                rule.reset();
                subject.expect_from(&mut rule, "after a reset");
            }
        }
        let mut rule = (self.rule)();
        for subject in self.up_and_down() {
            forward(&mut rule, &subject.case, "forward without pullback");
            rule.release();
            subject.expect_from(&mut rule, "after a release");
        }
    }

    fn panics(&mut self, panicking: &[InputOf<R>]) {
        for (i, input) in panicking.iter().enumerate() {
            let primal = |input: &mut _| {
                R::Function::primal(lend::<R::Function>(input));
            };
            assert!(
                catch(|| primal(&mut input.clone())).is_err(),
                "`{}`, panicking input {i}: the primal does not panic",
                R::Function::NAME
            );
            let mut rule = (self.rule)();
            let when = format!("after panicking input {i} and a reset");
            for pending in [false, true] {
                for subject in self.up_and_down() {
                    if pending {
                        forward(&mut rule, &subject.case, "forward without pullback");
                    }
                    let mut input = input.clone();
                    assert!(
                        catch(|| drop(rule.forward(lend::<R::Function>(&mut input)))).is_err(),
                        "`{}`, panicking input {i}: the primal panics, but the forward does not",
                        R::Function::NAME
                    );
                    rule.reset();
                    subject.expect_from(&mut rule, &when);
                }
            }
        }
    }

    fn allocations(&mut self) {
        // Each by itself …
        for subject in &self.subjects {
            let mut rule = (self.rule)();
            for round in 0..3 {
                let got = reverse(&mut rule, &subject.case, How::default(), "repeated").allocations;
                if round > 0 {
                    subject.case.expect_allocations(1, got, "second call");
                }
            }
        }
        // … then one rule for all: memory grows to the high-water mark and stays there …
        let mut rule = (self.rule)();
        for round in 0..2 {
            for subject in self.up_and_down() {
                let got = reverse(&mut rule, &subject.case, How::default(), "repeated").allocations;
                if round > 0 {
                    subject.case.expect_allocations(1, got, "second call, alternating with other sizes");
                }
            }
        }
        // … then nested, and with a pullback left out.
        for subject in &self.subjects {
            let mut rule = (self.rule)();
            for round in 0..3 {
                let got = nest(&mut rule, subject, subject, NESTED[0]);
                if round > 0 {
                    subject.case.expect_allocations(4, got, NESTED[0]);
                }
            }
            let mut rule = (self.rule)();
            for round in 0..3 {
                let got = forward(&mut rule, &subject.case, "forward without pullback").allocations;
                rule.reset();
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
fn nest<R: Rule<Function: TestFunction>>(
    rule: &mut R,
    a: &Subject<R::Function>,
    b: &Subject<R::Function>,
    when: &str,
) -> usize {
    let outer = forward(rule, &a.case, when);
    let inner = forward(rule, &b.case, when);
    let innermost = forward(rule, &a.case, when);
    let mut allocations = 0;
    for (subject, pending) in [(a, innermost), (b, inner)] {
        let got = pullback(rule, &subject.case, pending, How::default(), when);
        subject.expect(&got.gradient, when);
        allocations += got.allocations;
    }
    let got = reverse(rule, &b.case, How::default(), when);
    b.expect(&got.gradient, when);
    allocations += got.allocations;
    let got = pullback(rule, &a.case, outer, How::default(), when);
    a.expect(&got.gradient, when);
    allocations + got.allocations
}
