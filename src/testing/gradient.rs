//! The checks that every gradient must pass, however it is computed.

use std::fmt::Display;
use std::marker::PhantomData;

use super::allocator::{CountingAllocator, allocations_in};
use super::coordinates::{Coordinates, Number, numbers, reals, replace};
use super::differences::{self, Displacement, Objective, Precision};
use super::random::Random;
use super::trial::catch;

/// Checks that `gradient`, which returns the value and the gradient of `primal`, is right at each of `inputs` and stays
/// so from call to call. See [`CheckGradient`], which has options.
///
/// # Panics
/// If it is not, with a message that says where.
///
/// # Examples
/// ```
/// use pullback::testing::check_gradient;
///
/// fn energy(x: &[f64], stiffness: f64) -> f64 {
///     x.iter().map(|x| 0.5 * stiffness * x * x).sum()
/// }
///
/// check_gradient(
///     |(x, stiffness)| energy(x, *stiffness),
///     |(x, stiffness)| {
///         let for_x: Vec<_> = x.iter().map(|x| *stiffness * x).collect();
///         (energy(x, *stiffness), (for_x, energy(x, 1.0)))
///     },
///     [(vec![1.0, -2.0], 3.0), (vec![0.5], 2.0)],
/// );
/// ```
pub fn check_gradient<I, T, G>(
    primal: impl FnMut(&mut I) -> T,
    gradient: impl FnMut(&mut I) -> (T, G),
    inputs: impl IntoIterator<Item = I>,
) where
    I: Coordinates + Clone,
    T: Coordinates + Copy + Into<f64>,
    G: Coordinates + Clone,
{
    CheckGradient::new(inputs).run(primal, gradient);
}

/// A test of a gradient of a function that returns one number: of a gradient object that lasts from call to call, or of
/// anything else that computes one.
///
/// It needs two closures, one that calls the primal and one that returns value and gradient. An input holds all
/// arguments with respect to which there is a gradient, and the gradient lists as many numbers in the same order;
/// constants are what the closures capture.
///
/// ```
/// # use pullback::testing::CheckGradient;
/// # struct Gradient;
/// # impl Gradient {
/// #     fn value_and_gradient(&mut self, x: &[f64], n: i32) -> (f64, Vec<f64>) {
/// #         (power_sum(x, n), x.iter().map(|x| f64::from(n) * x.powi(n - 1)).collect())
/// #     }
/// # }
/// fn power_sum(x: &[f64], n: i32) -> f64 {
///     assert!(n >= 0);
///     x.iter().map(|x| x.powi(n)).sum()
/// }
/// # let mut g = Gradient; // let mut g = power_sum::gradient();
///
/// CheckGradient::new([vec![1.0, 2.0], vec![0.5]])
///     .tolerance(1e-8)
///     .run(|x| power_sum(x, 3), |x| g.value_and_gradient(x, 3));
/// ```
///
/// What is checked, for each input:
///
/// * The value equals the primal's bit for bit.
/// * The arguments are bit for bit what they were: `&mut` ones, too, which the primal may leave changed.
/// * The gradient agrees with [finite differences](super::CheckRule#finite-differences).
/// * Later calls give bit for bit the same gradient, when sizes go up and down, and after a panic.
/// * A second call allocates no more than the primal and cloning the gradient do. This is checked where the test binary
///   installs the [`CountingAllocator`].
///
/// [`CheckRule`](super::CheckRule) checks more; it takes the rule of a derived function like any other.
#[derive(Clone, Debug)]
pub struct CheckGradient<I> {
    inputs: Vec<I>,
    panicking: Vec<I>,
    tolerance: Option<f64>,
    seed: u64,
}

impl<I: Coordinates + Clone> CheckGradient<I> {
    /// A test on `inputs`, among which it alternates.
    pub fn new(inputs: impl IntoIterator<Item = I>) -> Self {
        let inputs = inputs.into_iter().collect();
        CheckGradient { inputs, panicking: Vec::new(), tolerance: None, seed: 0 }
    }

    /// Also test that `input`, on which the primal panics, makes the gradient panic, too, and does not spoil later ones.
    pub fn panicking(mut self, input: I) -> Self {
        self.panicking.push(input);
        self
    }

    /// How well the gradient must agree with finite differences, relative to the largest number in it.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = Some(tolerance);
        self
    }

    /// Where random numbers start.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Runs all checks on `gradient`, which returns the value and the gradient of `primal`.
    ///
    /// # Panics
    /// If one fails, with a message that says where.
    pub fn run<T, G>(self, primal: impl FnMut(&mut I) -> T, gradient: impl FnMut(&mut I) -> (T, G))
    where
        T: Coordinates + Copy + Into<f64>,
        G: Coordinates + Clone,
    {
        let CheckGradient { mut inputs, panicking, tolerance, seed } = self;
        let good = inputs.len();
        inputs.extend(panicking);
        check(&mut Typed { inputs, primal, gradient, results: PhantomData }, good, tolerance, seed);
    }
}

/// A primal and its gradient, their types erased. Inputs go by their numbers, and those on which the primal panics come last.
trait Pair {
    fn inputs(&self) -> usize;
    /// What an input holds.
    fn entry(&self, input: usize) -> Vec<Number>;
    /// Calls the primal.
    fn primal(&mut self, input: usize, displacement: Displacement<'_>) -> Value;
    /// Computes the gradient.
    fn gradient(&mut self, input: usize) -> Observed;
}

/// What came out of the primal, and how often it allocated.
struct Value {
    value: Number,
    allocations: usize,
}

/// What came out of the gradient.
struct Observed {
    /// What the argument holds afterwards.
    arguments: Vec<Number>,
    value: Value,
    gradient: Vec<f64>,
    /// How often cloning the gradient allocates.
    cloning: usize,
}

struct Typed<I, P, D, R> {
    inputs: Vec<I>,
    primal: P,
    gradient: D,
    results: PhantomData<R>,
}

impl<I, T, G, P, D> Pair for Typed<I, P, D, (T, G)>
where
    I: Coordinates + Clone,
    T: Coordinates,
    G: Coordinates + Clone,
    P: FnMut(&mut I) -> T,
    D: FnMut(&mut I) -> (T, G),
{
    fn inputs(&self) -> usize {
        self.inputs.len()
    }

    fn entry(&self, input: usize) -> Vec<Number> {
        numbers(&mut self.inputs[input].clone())
    }

    fn primal(&mut self, input: usize, displacement: Displacement<'_>) -> Value {
        let mut args = self.inputs[input].clone();
        replace(&mut args, &mut |i, x| x + displacement(i));
        let (mut value, allocations) = allocations_in(|| (self.primal)(&mut args));
        Value { value: number(&mut value), allocations }
    }

    fn gradient(&mut self, input: usize) -> Observed {
        let mut args = self.inputs[input].clone();
        let ((mut value, mut gradient), allocations) = allocations_in(|| (self.gradient)(&mut args));
        let value = Value { value: number(&mut value), allocations };
        let cloning = allocations_in(|| gradient.clone()).1;
        Observed { arguments: numbers(&mut args), value, gradient: reals(&numbers(&mut gradient)), cloning }
    }
}

fn check(pair: &mut dyn Pair, good: usize, tolerance: Option<f64>, seed: u64) {
    assert!(good > 0, "no input to test on");
    let mut random = Random::new(seed);
    let mut cases = Vec::new();
    for input in 0..good {
        let case = Case::new(input, pair);
        case.compare_with_differences(tolerance, &mut random, pair);
        cases.push(case);
    }
    let up_and_down = || cases.iter().chain(cases.iter().rev().skip(1));
    for case in up_and_down() {
        case.call(pair, "after other sizes");
    }
    for panicking in good..pair.inputs() {
        let i = panicking - good;
        assert!(
            catch(|| pair.primal(panicking, &unmoved)).is_err(),
            "panicking input {i}: the primal does not panic"
        );
        for case in up_and_down() {
            assert!(
                catch(|| pair.gradient(panicking)).is_err(),
                "panicking input {i}: the primal panics, but the gradient does not"
            );
            case.call(pair, &format!("after panicking input {i}"));
        }
    }
    if CountingAllocator::is_installed() {
        for case in up_and_down() {
            let when = "later call";
            let (got, allowed) = (case.call(pair, when), case.allocations);
            if got > allowed {
                let what = "the primal and cloning the gradient";
                case.fail(when, format!("the gradient allocates {got} times, {what} {allowed} times"));
            }
        }
    }
}

/// Adding it changes no number, not even −0.
fn unmoved(_coordinate: usize) -> f64 {
    -0.0
}

/// An input, and what came out in the first call.
struct Case {
    input: usize,
    entry: Vec<Number>,
    value: Number,
    gradient: Vec<f64>,
    /// How often the primal and cloning the gradient allocate.
    allocations: usize,
}

impl Case {
    fn new(input: usize, pair: &mut dyn Pair) -> Self {
        let entry = pair.entry(input);
        pair.primal(input, &unmoved);
        let Value { value, allocations } = pair.primal(input, &unmoved);
        let mut case = Case { input, entry, value, gradient: Vec::new(), allocations };

        let Observed { gradient, cloning, .. } = case.observe(pair, "first call");
        case.gradient = gradient;
        case.allocations += cloning;
        let (expected, got) = (reals(&case.entry).len(), case.gradient.len());
        if expected != got {
            case.fail("first call", format!("the input has {expected} coordinates, the gradient {got}"));
        }
        case.call(pair, "second call");
        case
    }

    /// Computes the gradient.
    fn observe(&self, pair: &mut dyn Pair, when: &str) -> Observed {
        let observed = pair.gradient(self.input);
        for (i, (expected, &got)) in self.entry.iter().zip(&observed.arguments).enumerate() {
            if !expected.identical(got) {
                let place = format!("coordinate {i}: expected {expected}, got {got}");
                self.fail(when, format!("an argument is not restored: {place}"));
            }
        }
        let value = observed.value.value;
        if !self.value.same(value) {
            let place = format!("expected {}, got {value}", self.value);
            self.fail(when, format!("the value differs from the primal's: {place}"));
        }
        observed
    }

    /// Computes the gradient, expects it to be as the first time, and says how often that allocated.
    fn call(&self, pair: &mut dyn Pair, when: &str) -> usize {
        let Observed { gradient: got, value, .. } = self.observe(pair, when);
        if got.len() != self.gradient.len() {
            let (expected, got) = (self.gradient.len(), got.len());
            self.fail(when, format!("the gradient has {got} numbers, in the first call {expected}"));
        }
        for (i, (&expected, &got)) in self.gradient.iter().zip(&got).enumerate() {
            if !Number::F64(expected).same(Number::F64(got)) {
                let place = format!("coordinate {i}: expected {expected:?}, got {got:?}");
                self.fail(when, format!("the gradient is not that of the first call: {place}"));
            }
        }
        value.allocations
    }

    fn compare_with_differences(&self, tolerance: Option<f64>, random: &mut Random, pair: &mut dyn Pair) {
        let single = self.entry.iter().any(|x| x.is_single()) || self.value.is_single();
        let mut objective = |_, displacement: Displacement<'_>| {
            let value =
                pair.primal(self.input, displacement).value.real().expect("a primal returns a number");
            Objective { value, magnitude: value.abs() }
        };
        let precision = Precision::new(single, tolerance);
        let (point, gradient) = ([reals(&self.entry)], std::slice::from_ref(&self.gradient));
        if let Some(found) = differences::compare(precision, &point, gradient, random, &mut objective) {
            self.fail("first call", found.describe(&|_, place| place.to_string()));
        }
    }

    fn fail(&self, when: &str, what: impl Display) -> ! {
        panic!("input {}, {when}: {what}", self.input)
    }
}

fn number(value: &mut dyn Coordinates) -> Number {
    match numbers(value)[..] {
        [number] => number,
        _ => panic!("the value is not one number"),
    }
}
