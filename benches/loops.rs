//! Loops over scalars: the primal, the derived gradient, and a gradient as an expert would write it.

mod support;

use std::hint::black_box;

use pullback::prelude::*;
use support::{Comparison, HAND_WRITTEN, PRIMAL, assert_close, contender};

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

/// Gradients in one pass where one pass is enough, into memory of the caller's.
mod by_hand {
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
    let mut kept = [(0.0, 0.0); STEPS];
    let mut g = recurrence::gradient();
    let (value, ds, dp) = by_hand::recurrence(0.3, 1.1, &mut kept);
    let (derived, d) = g.value_and_gradient(0.3, 1.1, STEPS);
    assert_close(&[derived, d.start, d.p], &[value, ds, dp]);
    comparison.case(
        "recurrence, 1000 steps",
        vec![
            contender(PRIMAL, || recurrence(black_box(0.3), black_box(1.1), black_box(STEPS))),
            contender("derived", || {
                let (value, d) = g.value_and_gradient(black_box(0.3), black_box(1.1), black_box(STEPS));
                (value, d.start, d.p)
            }),
            contender(HAND_WRITTEN, || by_hand::recurrence(black_box(0.3), black_box(1.1), &mut kept)),
        ],
    );
    comparison.finish();
}
