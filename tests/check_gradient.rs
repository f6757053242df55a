//! `check_gradient`: gradients that are right pass, and each kind of wrong one is caught.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;
use pullback::testing::{CheckGradient, CountingAllocator, check_gradient};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

type Input = (Vec<f64>, f64);

/// Scales `x` and returns the sum of squares.
fn energy(x: &mut [f64], scale: f64) -> f64 {
    assert!(!x.is_empty());
    x.iter_mut().for_each(|x| *x *= scale);
    x.iter().map(|x| x * x).sum()
}

/// A gradient object, with memory that it keeps.
#[derive(Default)]
struct Energy {
    old_x: Vec<f64>,
    for_x: Vec<f64>,
    busy: bool,
}

impl Energy {
    fn value_and_gradient(&mut self, x: &mut [f64], scale: f64) -> (f64, (&[f64], f64)) {
        self.old_x.clear();
        self.old_x.extend_from_slice(x);
        let value = energy(x, scale);
        x.copy_from_slice(&self.old_x);
        self.for_x.clear();
        self.for_x.extend(x.iter().map(|x| 2.0 * scale * scale * x));
        (value, (&self.for_x, 2.0 * scale * x.iter().map(|x| x * x).sum::<f64>()))
    }
}

fn inputs() -> [Input; 3] {
    [(vec![1.0, -2.0, 0.5], 3.0), (vec![0.25], -1.5), (vec![1.0; 100], 0.5)]
}

/// Checks a gradient that is right but for what `spoil` makes of it.
fn check(mut spoil: impl FnMut(&mut Energy, &mut Input, (f64, Input)) -> (f64, Input)) {
    let mut gradient = Energy::default();
    CheckGradient::new(inputs()).panicking((vec![], 1.0)).run(
        |(x, scale)| energy(x, *scale),
        |input| {
            let (x, scale) = input;
            let was_busy = std::mem::replace(&mut gradient.busy, true);
            let (value, (for_x, for_scale)) = gradient.value_and_gradient(x, *scale);
            let result = (value, (for_x.to_vec(), for_scale));
            gradient.busy = was_busy;
            spoil(&mut gradient, input, result)
        },
    );
}

#[track_caller]
fn assert_caught(spoil: impl FnMut(&mut Energy, &mut Input, (f64, Input)) -> (f64, Input), expected: &str) {
    let payload = catch_unwind(AssertUnwindSafe(|| check(spoil))).expect_err("the gradient is wrong");
    let message = payload.downcast_ref::<String>().expect("a formatted message");
    assert!(message.contains(expected), "{expected:?} is not in: {message}");
}

#[test]
fn a_right_gradient_passes() {
    check(|_, _, result| result);
}

#[test]
fn single_precision_passes() {
    check_gradient(
        |x: &mut [f32; 3]| x.iter().product::<f32>(),
        |&mut [x, y, z]| (x * y * z, [y * z, x * z, x * y]),
        [[1.0, 2.0, -3.0], [0.0, 0.1, 1e3]],
    );
}

#[test]
fn a_wrong_value_is_caught() {
    assert_caught(
        |_, _, (value, gradient)| (value.next_down(), gradient),
        "input 0, first call: the value differs from the primal's: expected 47.25, got 47.24",
    );
}

#[test]
fn a_wrong_derivative_is_caught() {
    let expected = "disagrees with finite differences: coordinate 3: expected 31.5";
    assert_caught(|_, _, (value, (x, scale))| (value, (x, scale + 1e-4)), expected);
}

#[test]
fn a_missing_derivative_is_caught() {
    let expected = "the input has 4 coordinates, the gradient 1";
    assert_caught(|_, _, (value, (_, scale))| (value, (vec![], scale)), expected);
}

#[test]
fn a_changed_argument_is_caught() {
    let spoil = |_: &mut Energy, input: &mut Input, result| {
        input.0[0] *= 1.0 + f64::EPSILON;
        result
    };
    assert_caught(
        spoil,
        "input 0, first call: an argument is not restored: coordinate 0: expected 1.0, got 1.0000",
    );
}

#[test]
fn a_gradient_that_drifts_is_caught() {
    let mut drift = 0.0;
    let spoil = |_: &mut Energy, _: &mut Input, (value, (x, scale)): (f64, Input)| {
        drift += 1e-12;
        (value, (x, scale + drift))
    };
    assert_caught(spoil, "second call: the gradient is not that of the first call: coordinate 3");
}

#[test]
fn a_gradient_spoilt_by_a_panic_is_caught() {
    let spoil = |gradient: &mut Energy, _: &mut Input, (value, (x, scale)): (f64, Input)| {
        (value, (x, if gradient.busy { 0.0 } else { scale }))
    };
    assert_caught(spoil, "after panicking input 0: the gradient is not that of the first call");
}

#[test]
fn allocating_in_every_call_is_caught() {
    // Once is what cloning the gradient takes.
    let spoil =
        |_: &mut Energy, _: &mut Input, (value, (x, scale)): (f64, Input)| (value, (x.clone(), scale));
    assert_caught(spoil, "later call: the gradient allocates 2 times");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn inputs_of_all_sizes(
        inputs in proptest::collection::vec((proptest::collection::vec(-5.0..5.0, 1..100), -3.0..3.0), 1..4),
    ) {
        let mut gradient = Energy::default();
        check_gradient(
            |(x, scale)| energy(x, *scale),
            |(x, scale)| {
                let (value, (for_x, for_scale)) = gradient.value_and_gradient(x, *scale);
                (value, (for_x.to_vec(), for_scale))
            },
            inputs,
        );
    }
}
