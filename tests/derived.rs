//! Derived rules keep the contract of rules, and their gradient objects are right from call to call.

use ndarray::{Array2, array};
use pullback::prelude::*;
use pullback::testing::{CheckGradient, CheckRule, CountingAllocator};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[differentiable]
fn rosenbrock(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() - 1 {
        let a = x[i + 1] - x[i] * x[i];
        let b = 1.0 - x[i];
        total += 100.0 * a * a + b * b;
    }
    total
}

#[differentiable]
fn step(s: f64, p: f64) -> f64 {
    p * s * (1.5 - s)
}

#[differentiable]
fn simulate(start: f64, p: f64, steps: usize, trace: &mut [f64]) -> f64 {
    let mut s = start;
    for i in 0..steps {
        s = step(s, p);
        if s > 0.5 {
            s /= p;
        }
        trace[i] = s * s;
    }
    s + trace[0]
}

#[differentiable]
fn square_into(c: &mut Array2<f64>, a: &Array2<f64>, scale: f64) -> f64 {
    mul_into(c, a, a);
    scale * c[[0, 0]]
}

#[test]
fn a_loop_over_a_slice() {
    CheckRule::new(rosenbrock::rule)
        .inputs([vec![0.5, -0.25, 1.5], vec![1.0; 80], vec![0.1, 0.2]].map(|x| (x,)))
        .panicking((vec![],))
        .run();
}

#[test]
fn a_call_and_a_branch_in_a_loop() {
    CheckRule::new(simulate::rule)
        .input((0.3, 1.5, 4, vec![0.0; 4]))
        .input((0.2, 1.25, 20, vec![1.0; 30]))
        .input((0.4, 0.75, 1, vec![1.0; 3]))
        .panicking((0.3, 1.5, 4, vec![0.0; 2]))
        .run();
}

#[test]
fn a_rule_with_state() {
    CheckRule::new(square_into::rule)
        .input((array![[0.5, 1.5], [2.5, 3.5]], array![[1.0, -2.0], [0.5, 4.0]], 0.75))
        .input((
            Array2::zeros((9, 9)),
            Array2::from_shape_fn((9, 9), |(i, j)| (i as f64 - j as f64).sin()),
            1.0,
        ))
        .panicking((Array2::zeros((2, 2)), Array2::zeros((2, 3)), 1.0))
        .run();
}

#[test]
fn a_gradient_object() {
    let mut gradient = simulate::gradient();
    CheckGradient::new([
        (0.3, 1.5, 4, vec![0.0; 4]),
        (0.2, 1.25, 20, vec![1.0; 30]),
        (0.4, 0.75, 1, vec![1.0; 3]),
    ])
    .panicking((0.3, 1.5, 4, vec![0.0; 2]))
    .run(
        |(start, p, steps, trace)| simulate(*start, *p, *steps, trace),
        |(start, p, steps, trace)| {
            let (value, d) = gradient.value_and_gradient(*start, *p, *steps, trace);
            (value, (d.start, d.p, d.trace.to_vec()))
        },
    );
}
