//! The checks that every gradient must pass, however it is computed.

use std::fmt::Display;

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
    pub fn run<T, G>(self, mut primal: impl FnMut(&mut I) -> T, mut gradient: impl FnMut(&mut I) -> (T, G))
    where
        T: Coordinates + Copy + Into<f64>,
        G: Coordinates + Clone,
    {
        assert!(!self.inputs.is_empty(), "no input to test on");
        let mut random = Random::new(self.seed);
        let mut cases = Vec::new();
        for (i, input) in self.inputs.iter().enumerate() {
            let case = Case::new(i, input, &mut primal, &mut gradient);
            case.compare_with_differences(self.tolerance, &mut random, &mut primal);
            cases.push(case);
        }
        let up_and_down = || cases.iter().chain(cases.iter().rev().skip(1));
        for case in up_and_down() {
            case.call(&mut gradient, "after other sizes");
        }
        for (i, panicking) in self.panicking.iter().enumerate() {
            assert!(
                catch(|| primal(&mut panicking.clone())).is_err(),
                "panicking input {i}: the primal does not panic"
            );
            for case in up_and_down() {
                assert!(
                    catch(|| gradient(&mut panicking.clone())).is_err(),
                    "panicking input {i}: the primal panics, but the gradient does not"
                );
                case.call(&mut gradient, &format!("after panicking input {i}"));
            }
        }
        if CountingAllocator::is_installed() {
            for case in up_and_down() {
                let when = "later call";
                let (got, allowed) = (case.call(&mut gradient, when), case.allocations);
                if got > allowed {
                    let what = "the primal and cloning the gradient";
                    case.fail(when, format!("the gradient allocates {got} times, {what} {allowed} times"));
                }
            }
        }
    }
}

/// An input, and what came out in the first call.
struct Case<I> {
    index: usize,
    input: I,
    entry: Vec<Number>,
    value: Number,
    gradient: Vec<f64>,
    /// How often the primal and cloning the gradient allocate.
    allocations: usize,
}

impl<I: Coordinates + Clone> Case<I> {
    fn new<T: Coordinates, G: Coordinates + Clone>(
        index: usize,
        input: &I,
        primal: &mut impl FnMut(&mut I) -> T,
        gradient: &mut impl FnMut(&mut I) -> (T, G),
    ) -> Self {
        let entry = numbers(&mut input.clone());
        primal(&mut input.clone());
        let mut args = input.clone();
        let (mut value, for_primal) = allocations_in(|| primal(&mut args));
        let value = number(&mut value);
        let mut case =
            Case { index, input: input.clone(), entry, value, gradient: Vec::new(), allocations: for_primal };

        let (mut got, _) = case.observe(gradient, "first call");
        case.gradient = reals(&numbers(&mut got));
        case.allocations += allocations_in(|| got.clone()).1;
        let (expected, got) = (reals(&case.entry).len(), case.gradient.len());
        if expected != got {
            case.fail("first call", format!("the input has {expected} coordinates, the gradient {got}"));
        }
        case.call(gradient, "second call");
        case
    }

    /// Computes the gradient, and says how often that allocated.
    fn observe<T: Coordinates, G>(
        &self,
        gradient: &mut impl FnMut(&mut I) -> (T, G),
        when: &str,
    ) -> (G, usize) {
        let mut args = self.input.clone();
        let ((mut value, gradient), allocations) = allocations_in(|| gradient(&mut args));
        for (i, (expected, got)) in self.entry.iter().zip(numbers(&mut args)).enumerate() {
            if !expected.identical(got) {
                let place = format!("coordinate {i}: expected {expected}, got {got}");
                self.fail(when, format!("an argument is not restored: {place}"));
            }
        }
        let value = number(&mut value);
        if !self.value.same(value) {
            let place = format!("expected {}, got {value}", self.value);
            self.fail(when, format!("the value differs from the primal's: {place}"));
        }
        (gradient, allocations)
    }

    /// Computes the gradient, expects it to be as the first time, and says how often that allocated.
    fn call<T: Coordinates, G: Coordinates>(
        &self,
        gradient: &mut impl FnMut(&mut I) -> (T, G),
        when: &str,
    ) -> usize {
        let (mut got, allocations) = self.observe(gradient, when);
        let got = reals(&numbers(&mut got));
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
        allocations
    }

    fn compare_with_differences<T: Into<f64>>(
        &self,
        tolerance: Option<f64>,
        random: &mut Random,
        primal: &mut impl FnMut(&mut I) -> T,
    ) {
        let single = self.entry.iter().any(|x| x.is_single()) || self.value.is_single();
        let mut objective = |_, displacement: Displacement<'_>| {
            let mut args = self.input.clone();
            replace(&mut args, &mut |i, x| x + displacement(i));
            let value = primal(&mut args).into();
            Objective { value, magnitude: value.abs() }
        };
        let precision = Precision::new(single, tolerance);
        let (point, gradient) = ([reals(&self.entry)], std::slice::from_ref(&self.gradient));
        if let Some(found) = differences::compare(precision, &point, gradient, random, &mut objective) {
            self.fail("first call", found.describe(&|_, place| place.to_string()));
        }
    }

    fn fail(&self, when: &str, what: impl Display) -> ! {
        panic!("input {}, {when}: {what}", self.index)
    }
}

fn number(value: &mut dyn Coordinates) -> Number {
    match numbers(value)[..] {
        [number] => number,
        _ => panic!("the value is not one number"),
    }
}
