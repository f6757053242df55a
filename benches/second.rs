//! Second derivatives: a product of the Hessian with a direction is to cost no more than three gradients.

mod support;

use std::hint::black_box;

use pullback::prelude::*;
use support::{Comparison, PRIMAL, contender};

const GRADIENT: &str = "gradient";

#[differentiable(dual)]
fn rosenbrock(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() - 1 {
        let across = x[i + 1] - x[i] * x[i];
        let along = 1.0 - x[i];
        total += 100.0 * across * across + along * along;
    }
    total
}

#[differentiable(dual)]
fn sum_of_sines(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i].sin();
    }
    total
}

/// The energy of atoms under Lennard and Jones's potential.
#[differentiable(dual)]
fn lennard_jones(atoms: &[[f64; 3]], #[constant] sigma: f64, #[constant] depth: f64) -> f64 {
    let mut energy = 0.0;
    for i in 0..atoms.len() {
        for j in 0..i {
            let mut r2 = 0.0;
            for k in 0..3 {
                r2 += (atoms[i][k] - atoms[j][k]).powi(2);
            }
            let s6 = (sigma * sigma / r2).powi(3);
            energy += 4.0 * depth * (s6 * s6 - s6);
        }
    }
    energy
}

#[differentiable(dual)]
fn log_sum_exp(x: &[f64]) -> f64 {
    let mut largest = x[0];
    for i in 1..x.len() {
        largest = largest.max(x[i]);
    }
    let mut total = 0.0;
    for i in 0..x.len() {
        total += (x[i] - largest).exp();
    }
    largest + total.ln()
}

/// A pendulum with friction, by leapfrog.
#[differentiable(dual)]
fn pendulum(x: &[f64], steps: usize) -> f64 {
    let (mut angle, mut speed) = (x[0], x[1]);
    for _ in 0..steps {
        angle += 0.005 * speed;
        speed -= 0.01 * (x[2] * angle.sin() + x[3] * speed);
        angle += 0.005 * speed;
    }
    angle * angle + speed * speed
}

/// The primal and all derivatives of a function whose first argument is active.
macro_rules! case {
    ($comparison:ident, $f:ident($x:ident $(, $rest:expr)*)) => {{
        let v = $x.clone();
        let (mut forward, mut gradient) = ($f::pushforward(), $f::gradient());
        let (mut product, mut hessian) = ($f::hvp(), $f::hessian());
        $comparison.case(
            stringify!($f),
            vec![
                contender(PRIMAL, || $f(black_box(&$x) $(, $rest)*)),
                contender("pushforward", || forward.value_and_pushforward(black_box(&$x) $(, $rest)*, &v)),
                contender(GRADIENT, || gradient.value_and_gradient(black_box(&$x) $(, $rest)*).0),
                contender("product with the Hessian", || {
                    product.value_gradient_and_hvp(black_box(&$x) $(, $rest)*, &v).0
                }),
                contender("Hessian", || hessian.value_gradient_and_hessian(black_box(&$x) $(, $rest)*).0),
            ],
        );
    }};
}

fn main() {
    let mut comparison = Comparison::against(GRADIENT);
    let x: Vec<f64> = (0..100).map(|i| (0.7 * i as f64).sin()).collect();
    case!(comparison, rosenbrock(x));
    case!(comparison, sum_of_sines(x));
    case!(comparison, log_sum_exp(x));
    let atoms: Vec<[f64; 3]> = (0..20)
        .map(|i| [(i % 3) as f64 + 0.1 * (i as f64).sin(), (i / 3 % 3) as f64, (i / 9) as f64])
        .collect();
    case!(comparison, lennard_jones(atoms, 0.9, 1.2));
    let start = vec![1.0, 0.1, 9.81, 0.2];
    case!(comparison, pendulum(start, 200));
    comparison.finish();
}
