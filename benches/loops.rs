//! Loops over scalars: the primal, the derived gradient, and gradients by hand, plain and tuned.

mod support;

use std::hint::black_box;

use pullback::prelude::*;
use support::{Comparison, HAND_WRITTEN, PRIMAL, TUNED, assert_close, contender};

#[differentiable]
fn sum_of_squares(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i] * x[i];
    }
    total
}

#[differentiable]
fn sum_of_sines(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i].sin();
    }
    total
}

#[differentiable]
fn rosenbrock(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() - 1 {
        let across = x[i + 1] - x[i] * x[i];
        let along = 1.0 - x[i];
        total += 100.0 * across * across + along * along;
    }
    total
}

#[differentiable]
fn step(s: f64, p: f64) -> f64 {
    s + 0.01 * (p * s).sin()
}

#[differentiable]
fn recurrence(start: f64, p: f64, steps: usize) -> f64 {
    let mut s = start;
    for _ in 0..steps {
        s = step(s, p);
    }
    s
}

/// Reverse mode by the book: the function forward, then backward, into a gradient that starts at zero.
mod by_hand {
    pub(super) fn sum_of_squares(x: &[f64], dx: &mut [f64]) -> f64 {
        let mut total = 0.0;
        for x in x {
            total += x * x;
        }
        dx.fill(0.0);
        for (x, dx) in x.iter().zip(dx) {
            *dx += 2.0 * x;
        }
        total
    }

    pub(super) fn sum_of_sines(x: &[f64], dx: &mut [f64]) -> f64 {
        let mut total = 0.0;
        for x in x {
            total += x.sin();
        }
        dx.fill(0.0);
        for (x, dx) in x.iter().zip(dx) {
            *dx += x.cos();
        }
        total
    }

    pub(super) fn rosenbrock(x: &[f64], dx: &mut [f64]) -> f64 {
        let mut total = 0.0;
        for pair in x.windows(2) {
            let across = pair[1] - pair[0] * pair[0];
            let along = 1.0 - pair[0];
            total += 100.0 * across * across + along * along;
        }
        dx.fill(0.0);
        for i in 0..x.len() - 1 {
            let across = x[i + 1] - x[i] * x[i];
            let along = 1.0 - x[i];
            dx[i] += -400.0 * across * x[i] - 2.0 * along;
            dx[i + 1] += 200.0 * across;
        }
        total
    }

    /// The value, and the gradient with respect to `start` and `p`; `kept` has room for the steps.
    pub(super) fn recurrence(start: f64, p: f64, kept: &mut [f64]) -> (f64, f64, f64) {
        let mut s = start;
        for kept in &mut *kept {
            *kept = s;
            s += 0.01 * (p * s).sin();
        }
        let (mut ds, mut dp) = (1.0, 0.0);
        for &s in kept.iter().rev() {
            let d = 0.01 * (p * s).cos() * ds;
            dp += d * s;
            ds += d * p;
        }
        (s, ds, dp)
    }
}

/// As an expert would squeeze them: in one pass where that is enough, sine and cosine in one call, no zeros to start from,
/// and what the next element gets carried in a register.
mod tuned {
    pub(super) fn sum_of_squares(x: &[f64], dx: &mut [f64]) -> f64 {
        let mut total = 0.0;
        for (x, dx) in x.iter().zip(dx) {
            total += x * x;
            *dx = 2.0 * x;
        }
        total
    }

    pub(super) fn sum_of_sines(x: &[f64], dx: &mut [f64]) -> f64 {
        let mut total = 0.0;
        for (x, dx) in x.iter().zip(dx) {
            let (sin, cos) = x.sin_cos();
            total += sin;
            *dx = cos;
        }
        total
    }

    pub(super) fn rosenbrock(x: &[f64], dx: &mut [f64]) -> f64 {
        let mut total = 0.0;
        let mut carry = 0.0;
        for (pair, dx) in x.windows(2).zip(&mut *dx) {
            let across = pair[1] - pair[0] * pair[0];
            let along = 1.0 - pair[0];
            total += 100.0 * across * across + along * along;
            *dx = carry - 400.0 * across * pair[0] - 2.0 * along;
            carry = 200.0 * across;
        }
        dx[x.len() - 1] = carry;
        total
    }

    /// The value, and the gradient with respect to `start` and `p`; `kept` has room for one pair a step.
    pub(super) fn recurrence(start: f64, p: f64, kept: &mut [(f64, f64)]) -> (f64, f64, f64) {
        let mut s = start;
        for kept in &mut *kept {
            let (sin, cos) = (p * s).sin_cos();
            *kept = (s, 0.01 * cos);
            s += 0.01 * sin;
        }
        let (mut ds, mut dp) = (1.0, 0.0);
        for &(s, cos) in kept.iter().rev() {
            let d = cos * ds;
            dp += d * s;
            ds += d * p;
        }
        (s, ds, dp)
    }
}

/// A function of one slice.
macro_rules! slice_case {
    ($comparison:ident, $function:ident, $case:literal, $x:expr) => {
        let x: &[f64] = $x;
        let mut dx = vec![0.0; x.len()];
        let mut g = $function::gradient();
        by_hand::$function(x, &mut dx);
        let (value, d) = g.value_and_gradient(x);
        assert_eq!(value, $function(x));
        assert_close(d.x, &dx);
        tuned::$function(x, &mut dx);
        assert_close(d.x, &dx);
        let mut tuned_dx = dx.clone();
        $comparison.case(
            $case,
            vec![
                contender(PRIMAL, || $function(black_box(x))),
                contender("derived", || g.value_and_gradient(black_box(x)).0),
                contender(HAND_WRITTEN, || {
                    let value = by_hand::$function(black_box(x), &mut dx);
                    black_box(&mut dx);
                    value
                }),
                contender(TUNED, || {
                    let value = tuned::$function(black_box(x), &mut tuned_dx);
                    black_box(&mut tuned_dx);
                    value
                }),
            ],
        );
    };
}

fn main() {
    let mut comparison = Comparison::new();
    let x: Vec<f64> = (0..1000).map(|i| f64::from(i) * 0.01 - 4.0).collect();
    slice_case!(comparison, sum_of_squares, "Σ x², n = 1000", &x);
    slice_case!(comparison, sum_of_sines, "Σ sin x, n = 1000", &x);
    slice_case!(comparison, rosenbrock, "Rosenbrock, n = 100", &x[350..450]);

    const STEPS: usize = 1000;
    let mut kept = [0.0; STEPS];
    let mut pairs = [(0.0, 0.0); STEPS];
    let mut g = recurrence::gradient();
    let (value, ds, dp) = by_hand::recurrence(0.3, 1.1, &mut kept);
    let (derived, d) = g.value_and_gradient(0.3, 1.1, STEPS);
    assert_close(&[derived, d.start, d.p], &[value, ds, dp]);
    let (_, ds, dp) = tuned::recurrence(0.3, 1.1, &mut pairs);
    assert_close(&[d.start, d.p], &[ds, dp]);
    comparison.case(
        "recurrence, 1000 steps",
        vec![
            contender(PRIMAL, || recurrence(black_box(0.3), black_box(1.1), black_box(STEPS))),
            contender("derived", || {
                let (value, d) = g.value_and_gradient(black_box(0.3), black_box(1.1), black_box(STEPS));
                (value, d.start, d.p)
            }),
            contender(HAND_WRITTEN, || by_hand::recurrence(black_box(0.3), black_box(1.1), &mut kept)),
            contender(TUNED, || tuned::recurrence(black_box(0.3), black_box(1.1), &mut pairs)),
        ],
    );
    comparison.finish();
}
