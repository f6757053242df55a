//! Second derivatives: how long a product of the Hessian with a direction takes, over the gradient. It is to be no more than three.
//! With `--instructions` both are counted instead.

#[allow(dead_code, reason = "other programs print another table")]
mod support;

use std::f64::consts::{E, TAU};
use std::hint::black_box;

use pullback::prelude::*;
use support::instructions::{self, Counting};
use support::{Contender, PRIMAL, Times, contender};

/// Rosenbrock's function, chained.
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

/// Ackley's function
#[differentiable(dual)]
fn ackley(x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let (mut squares, mut cosines) = (0.0, 0.0);
    for i in 0..x.len() {
        squares += x[i] * x[i];
        cosines += (TAU * x[i]).cos();
    }
    -20.0 * (-0.2 * (squares / n).sqrt()).exp() - (cosines / n).exp() + 20.0 + E
}

/// Styblinski and Tang's function
#[differentiable(dual)]
fn styblinski_tang(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i].powi(4) - 16.0 * x[i].powi(2) + 5.0 * x[i];
    }
    0.5 * total
}

/// Himmelblau's function
#[differentiable(dual)]
fn himmelblau(x: &[f64]) -> f64 {
    (x[0] * x[0] + x[1] - 11.0).powi(2) + (x[0] + x[1] * x[1] - 7.0).powi(2)
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
fn lennard_jones(x: &[[f64; 3]], #[constant] sigma: f64, #[constant] depth: f64) -> f64 {
    let mut energy = 0.0;
    for i in 0..x.len() {
        for j in 0..i {
            let mut r2 = 0.0;
            for k in 0..3 {
                r2 += (x[i][k] - x[j][k]).powi(2);
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

/// Prints a row of the table: the primal, a pushforward, the gradient, a product of the Hessian, the Hessian.
fn row(name: &str, coordinates: usize, contenders: &mut [Contender<'_>]) {
    match Counting::given() {
        Some(Counting::Asked) => return,
        Some(Counting::Counted) => return instructions::count(name, contenders),
        None => {}
    }
    // Otherwise everything is called, to see that it works.
    let timed = std::env::args().any(|argument| argument == "--bench");
    let times = Times::of(contenders, if timed { 301 } else { 1 });
    let allocations: usize = contenders[1..].iter_mut().map(Contender::allocations).sum();
    println!(
        "| {name} | {coordinates} | {:.0} | {:.2} | {:.2} | {:.2} | {:.1} | {allocations} |",
        times.median(0),
        times.ratio(1, 0),
        times.ratio(2, 0),
        times.ratio(3, 2),
        times.ratio(4, 2),
    );
}

/// The primal and all derivatives of a function whose first argument is active.
macro_rules! case {
    ($coordinates:expr, $f:ident($x:ident $(, $rest:expr)*)) => {{
        let v = $x.clone();
        let (mut forward, mut gradient) = ($f::pushforward(), $f::gradient());
        let (mut product, mut hessian) = ($f::hvp(), $f::hessian());
        row(
            stringify!($f),
            $coordinates,
            &mut [
                contender(PRIMAL, || $f(black_box(&$x) $(, $rest)*)),
                contender("pushforward", || forward.value_and_pushforward(black_box(&$x) $(, $rest)*, &v).1),
                contender("gradient", || gradient.value_and_gradient(black_box(&$x) $(, $rest)*).0),
                contender("product", || {
                    product.value_gradient_and_hvp(black_box(&$x) $(, $rest)*, &v).0
                }),
                contender("Hessian", || {
                    hessian.value_gradient_and_hessian(black_box(&$x) $(, $rest)*).2[[0, 0]]
                }),
            ],
        );
    }};
}

fn main() {
    let counting = Counting::given();
    if counting.is_none() {
        println!(
            "| | coordinates | primal, ns | pushforward, × primal | gradient, × primal | product, × gradient | Hessian, × gradient | allocations \
             |\n|---|--:|--:|--:|--:|--:|--:|--:|"
        );
    }
    let x: Vec<f64> = (0..100).map(|i| (0.7 * i as f64).sin()).collect();
    case!(100, rosenbrock(x));
    case!(100, ackley(x));
    case!(100, styblinski_tang(x));
    case!(100, sum_of_sines(x));
    case!(100, log_sum_exp(x));
    let point = vec![0.5, -1.5];
    case!(2, himmelblau(point));
    let atoms: Vec<[f64; 3]> = (0..20)
        .map(|i| [(i % 3) as f64 + 0.1 * (i as f64).sin(), (i / 3 % 3) as f64, (i / 9) as f64])
        .collect();
    case!(60, lennard_jones(atoms, 0.9, 1.2));
    let start = vec![1.0, 0.1, 9.81, 0.2];
    case!(4, pendulum(start, 200));
    if let Some(Counting::Asked) = counting {
        instructions::report(None);
    }
}
