//! Tests of rules, as their authors write them.

use super::checks::Checks;
use super::coordinates::Coordinates;
use super::parameter::{TestFunction, TestParameters};
use super::specimen::{About, Erased, Kept, Owned, Typed};
use crate::{Function, Output, Rule};

/// Checks that the rules that `rule` makes keep the [contract](Rule#contract) on each of `inputs`. See [`CheckRule`],
/// which has options.
///
/// # Panics
/// If they do not, with a message that says where.
pub fn check_rule<R: Rule<Function: TestFunction>>(
    rule: impl Fn() -> R,
    inputs: impl IntoIterator<Item = InputOf<R>>,
) {
    check(rule, gather(inputs), Vec::new(), Options::default());
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
/// * What the rule says that it [overwrites](Rule::overwrite) may hold anything.
/// * Activations nest, for arguments of the same and of other shapes; the gradients are bit for bit those of a fresh rule.
/// * A used rule gives bit for bit the gradients of a fresh one, also when sizes go up and down, after
///   [`reset`](crate::State::reset) with forwards pending, after [`shrink`](crate::State::shrink), and after a panic.
/// * From the second call on, forward and pullback together allocate no more than the primal does. This is checked where the
///   test binary installs the [`CountingAllocator`](super::CountingAllocator).
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
    options: Options,
}

#[derive(Default)]
struct Options {
    tolerance: Option<f64>,
    seed: u64,
    finite: bool,
    allocations: Option<usize>,
}

impl<R: Rule<Function: TestFunction>, M: Fn() -> R> CheckRule<R, M> {
    /// A test of the rules that `rule` makes, each of them fresh.
    pub fn new(rule: M) -> Self {
        CheckRule { rule, inputs: Vec::new(), panicking: Vec::new(), options: Options::default() }
    }

    /// Also test on `input`.
    pub fn input(mut self, input: InputOf<R>) -> Self {
        self.inputs.push(input);
        self
    }

    /// Also test on `inputs`.
    pub fn inputs(mut self, inputs: impl IntoIterator<Item = InputOf<R>>) -> Self {
        self.inputs.append(&mut gather(inputs));
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
        self.options.tolerance = Some(tolerance);
        self
    }

    /// Where random numbers start.
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// Do not put NaN and the like into `&mut` arguments: for a function that does not return on such.
    pub fn finite_only(mut self) -> Self {
        self.options.finite = true;
        self
    }

    /// From the second call on, forward and pullback together allocate at most `count` times, whatever the primal does.
    pub fn allocating(mut self, count: usize) -> Self {
        self.options.allocations = Some(count);
        self
    }

    /// Runs all checks.
    ///
    /// # Panics
    /// If one fails, with a message that says where.
    pub fn run(self) {
        check(self.rule, self.inputs, self.panicking, self.options);
    }
}

/// The inputs as a list. There are many types of rules, and few of lists.
#[inline(never)]
fn gather<T>(inputs: impl IntoIterator<Item = T>) -> Vec<T> {
    inputs.into_iter().collect()
}

/// Runs all checks: what is compiled for each type of rules.
fn check<R: Rule<Function: TestFunction>>(
    rule: impl Fn() -> R,
    inputs: Vec<InputOf<R>>,
    panicking: Vec<InputOf<R>>,
    options: Options,
) {
    let about = About {
        function: R::Function::NAME,
        modes: <<R::Function as Function>::Parameters as TestParameters>::MODES,
        at_once: R::AT_ONCE,
        lengths: R::LENGTHS,
    };
    check_typed(about, R::Function::primal, &mut Kept::new(rule), inputs, panicking, options);
}

/// Runs all checks: what is compiled for each list of parameters and output.
fn check_typed<P: TestParameters, O: Output<Gradient: Coordinates> + Coordinates>(
    about: About,
    primal: fn(P::Args<'_>) -> O,
    rule: &mut dyn Erased<P, O>,
    mut inputs: Vec<P::Owned>,
    mut panicking: Vec<P::Owned>,
    options: Options,
) {
    let counts = (inputs.len(), panicking.len());
    assert!(counts.0 > 0, "`{}`: no input to test on", about.function);
    inputs.append(&mut panicking);
    Checks::new(&mut Typed::new(about, primal, rule, inputs), counts.0, counts.1, options.seed)
        .allocating(options.allocations)
        .run(options.tolerance, !options.finite);
}
