//! Sparse Jacobians and Hessians: what they cost goes with the number of colours, and not with that of columns.

#[allow(dead_code, reason = "other programs print another table")]
mod support;

use std::hint::black_box;
use std::time::Instant;

use pullback::prelude::*;
use pullback::sparse::{HessianColouring, JacobianColouring};
use support::{Contender, PRIMAL, Times, contender};

/// What is left of −u″ = k·eᵘ between neighbours on a line.
#[differentiable(dual)]
fn line(u: &[f64], #[constant] k: f64, r: &mut [f64]) {
    let last = u.len() - 1;
    r[0] = 2.0 * u[0] - u[1] - k * u[0].exp();
    for i in 1..last {
        r[i] = 2.0 * u[i] - u[i - 1] - u[i + 1] - k * u[i].exp();
    }
    r[last] = 2.0 * u[last] - u[last - 1] - k * u[last].exp();
}

/// The same within a square that has a border of given numbers.
#[differentiable(dual)]
fn square(u: &[f64], #[constant] k: f64, width: usize, r: &mut [f64]) {
    for i in 0..u.len() {
        let mut sum = 4.0 * u[i] - k * u[i].exp();
        if i % width > 0 {
            sum -= u[i - 1];
        }
        if i % width + 1 < width {
            sum -= u[i + 1];
        }
        if i >= width {
            sum -= u[i - width];
        }
        if i + width < u.len() {
            sum -= u[i + width];
        }
        r[i] = sum;
    }
}

/// Forces between neighbours, up to `reach` of them on either side.
#[differentiable(dual)]
fn chain(u: &[f64], reach: usize, r: &mut [f64]) {
    for i in 0..u.len() {
        let mut sum = 0.0;
        for j in i.saturating_sub(reach)..(i + reach + 1).min(u.len()) {
            let d = u[i] - u[j];
            sum += d * d * d;
        }
        r[i] = sum;
    }
}

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

/// Larger dense matrices take too long, and too much memory.
const LARGEST_DENSE: usize = 1024;

/// The colouring that `find` finds, and how many milliseconds it takes.
fn found<C>(find: impl FnOnce() -> C) -> (C, f64) {
    let start = Instant::now();
    let colouring = find();
    (colouring, start.elapsed().as_secs_f64() * 1e3)
}

/// Prints a row of the table: the contenders are the primal, the sparse matrix, and perhaps the dense one.
fn row(
    name: &str,
    (n, colours, runs, structure): (usize, usize, usize, f64),
    contenders: &mut [Contender<'_>],
) {
    // Otherwise everything is called, to see that it works.
    let timed = std::env::args().any(|argument| argument == "--bench");
    let times = Times::of(contenders, if timed { 101 } else { 1 });
    let dense = if contenders.len() > 2 { format!("{:.0}", times.ratio(2, 0)) } else { String::new() };
    println!(
        "| {name} | {n} | {colours} | {runs} | {structure:.1} | {:.1} | {:.1} | {:.1} | {dense} |",
        times.median(0) / 1e3,
        times.median(1) / 1e3,
        times.ratio(1, 0),
    );
}

/// A Jacobian of a function that writes its result to its last argument.
macro_rules! jacobian {
    ($name:literal, $n:expr, $f:ident($u:ident $(, $rest:expr)*)) => {{
        let mut results = [(); 3].map(|()| vec![0.0; $n]);
        let [first, second, third] = &mut results;
        let (mut g, mut dense) = ($f::jacobian(), $f::jacobian());
        let (colouring, time) =
            found(|| JacobianColouring::new(g.jacobian_pattern(&$u $(, $rest)*, first)));
        let about = ($n, colouring.colours(), colouring.runs(), time);
        let mut contenders = vec![
            contender(PRIMAL, || $f(black_box(&$u) $(, $rest)*, first)),
            contender("sparse", || {
                g.value_and_sparse_jacobian(black_box(&$u) $(, $rest)*, second, &colouring).1[0]
            }),
        ];
        if $n <= LARGEST_DENSE {
            contenders.push(contender("dense", || {
                dense.value_and_jacobian(black_box(&$u) $(, $rest)*, third).1[[0, 0]]
            }));
        }
        row($name, about, &mut contenders);
    }};
}

fn main() {
    let timed = std::env::args().any(|argument| argument == "--bench");
    let widths: &[usize] = if timed { &[10, 32, 100] } else { &[4] };
    println!(
        "| | unknowns | colours | runs | pattern and colouring, ms | primal, µs | matrix, µs | × primal | dense, × primal |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|"
    );
    for &width in widths {
        let n = width * width;
        let u: Vec<f64> = (0..n).map(|i| (0.7 * i as f64).sin()).collect();
        jacobian!("Jacobian, three diagonals", n, line(u, 0.01));
        jacobian!("Jacobian, five-point stencil", n, square(u, 0.01, width));
        jacobian!("Jacobian, 17 diagonals", n, chain(u, 8));
        jacobian!("Jacobian, 33 diagonals", n, chain(u, 16));
        let (mut h, mut dense) = (rosenbrock::hessian(), rosenbrock::hessian());
        let (colouring, time) = found(|| HessianColouring::new(h.hessian_pattern(&u)));
        let about = (n, colouring.colours(), colouring.runs(), time);
        let mut contenders = vec![
            contender(PRIMAL, || rosenbrock(black_box(&u))),
            contender("sparse", || h.value_gradient_and_sparse_hessian(black_box(&u), &colouring).2[0]),
        ];
        if n <= LARGEST_DENSE {
            contenders.push(contender("dense", || dense.value_gradient_and_hessian(black_box(&u)).2[[0, 0]]));
        }
        row("Hessian, Rosenbrock's function", about, &mut contenders);
    }
}
