//! The functions that Mooncake.jl is benchmarked with: what a gradient costs in terms of the function itself, beside the ratios that
//! Mooncake publishes for itself and for others.

use std::hint::black_box;

use ndarray::{Array1, Array2, s};
use pullback::linalg::{self, Uplo};
use pullback::prelude::*;

use crate::cases::normal;
use crate::models;
use crate::rounds::{PRIMAL, Times, contender};

#[differentiable]
fn sum(x: &[f64]) -> f64 {
    x.iter().sum()
}

#[differentiable]
fn sum_by_loop(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i];
    }
    total
}

#[differentiable]
fn sum_of_sines(x: &[f64]) -> f64 {
    x.iter().map(|x| x.sin()).sum()
}

#[differentiable]
fn sum_of_sines_by_loop(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i].sin();
    }
    total
}

#[differentiable]
fn nested_maps(x: &[f64]) -> f64 {
    x.iter().map(|x| x.exp()).map(|x| x.cos()).map(|x| x.sin()).sum()
}

/// Of a part of *A* with the upper triangle of *B*.
#[differentiable]
fn kron_of_parts(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let n = b.nrows();
    let mut upper = Array2::<f64>::zeros((n, n));
    for i in 0..n {
        for j in i..n {
            upper[[i, j]] = b[[i, j]];
        }
    }
    let mut y = Array2::<f64>::zeros((20 * n, 20 * n));
    linalg::kron_into(&mut y, &a.slice(s![..20, ..20]), &upper);
    y.sum()
}

/// The logarithm of the marginal likelihood of a Gaussian process.
#[differentiable]
fn gaussian_process(x: &[f64], y: &Array1<f64>, noise: f64) -> f64 {
    let n = x.len();
    let mut k = Array2::<f64>::zeros((n, n));
    for i in 0..n {
        for j in 0..=i {
            let d = x[i] - x[j];
            k[[i, j]] = (-0.5 * d * d).exp();
        }
        k[[i, i]] += noise;
    }
    let l = linalg::cholesky(&k);
    let z = linalg::solve_triangular(Uplo::Lower, Trans::No, &l, y);
    let mut total = -0.5 * n as f64 * std::f64::consts::TAU.ln();
    for i in 0..n {
        total -= 0.5 * z[i] * z[i] + l[[i, i]].ln();
    }
    total
}

/// A function whose body has the statement 400 times.
macro_rules! unrolled {
    ($name:ident($x:ident) $y:ident; $($s:tt)*) => {
        unrolled!(@twenty $name($x) $y; $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)*);
    };
    (@twenty $name:ident($x:ident) $y:ident; $($s:tt)*) => {
        unrolled!(@whole $name($x) $y;
            $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)*
            $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)*
            $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)*
            $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)* $($s)*);
    };
    (@whole $name:ident($x:ident) $y:ident; $($s:tt)*) => {
        #[differentiable]
        fn $name($x: &[f64; 2]) -> f64 {
            let mut $y = $x[0];
            $($s)*
            $y
        }
    };
}
unrolled!(large_block(x) y; y *= x[1];);

pub(crate) fn all(measured: bool, filter: Option<&str>) {
    if measured && filter.is_none_or(|filter| filter == "ratios") {
        println!(
            "\nGradient and function in ratio to the function alone; those of others as Mooncake publishes them.\n\n\
             | {:28} | {:>11} | {:>8} | {:>8} | {:>6} | {:>11} | {:>6} |\n|{:-<30}|{:->13}|{:->10}|{:->10}|{:->8}|{:->13}|{:->8}|",
            "function",
            "function, ns",
            "pullback",
            "Mooncake",
            "Zygote",
            "ReverseDiff",
            "Enzyme",
            "",
            ":",
            ":",
            ":",
            ":",
            ":",
            ":"
        );
    }
    let row =
        |name: &str, published: &str, primal: &mut dyn FnMut() -> f64, gradient: &mut dyn FnMut() -> f64| {
            if filter.is_some_and(|filter| filter != "ratios") {
                return;
            }
            let mut contenders = [contender(PRIMAL, primal), contender("derived", gradient)];
            if !measured {
                contenders.iter_mut().for_each(|contender| _ = contender.allocations());
                return;
            }
            let times = Times::of(&mut contenders, 101);
            println!("| {name:28} | {:11.0} | {:8.2} | {published} |", times.median(0), times.ratio(1, 0));
        };
    let x = normal(1000, 1).to_vec();
    let mut g = sum::gradient();
    row("sum", "     1.6 |    1.5 |         7.4 |    7.0", &mut || sum(black_box(&x)), &mut || {
        g.value_and_gradient(black_box(&x)).0
    });
    let mut g = sum_by_loop::gradient();
    row(
        "sum by a loop",
        "     6.7 |   1180 |          37 |    1.2",
        &mut || sum_by_loop(black_box(&x)),
        &mut || g.value_and_gradient(black_box(&x)).0,
    );
    let mut g = sum_of_sines::gradient();
    row(
        "sum of sines",
        "     3.6 |    1.9 |          12 |    2.3",
        &mut || sum_of_sines(black_box(&x)),
        &mut || g.value_and_gradient(black_box(&x)).0,
    );
    let mut g = sum_of_sines_by_loop::gradient();
    row(
        "sum of sines by a loop",
        "     3.8 |    212 |          15 |    2.5",
        &mut || sum_of_sines_by_loop(black_box(&x)),
        &mut || g.value_and_gradient(black_box(&x)).0,
    );
    let (a, b) = (normal((20, 20), 1), normal((40, 40), 2));
    let mut g = models::kron::gradient();
    row(
        "kron",
        "     3.7 |    6.2 |         362 |    9.7",
        &mut || models::kron(black_box(&a), &b),
        &mut || g.value_and_gradient(black_box(&a), &b).0,
    );
    let a = normal((40, 30), 1);
    let mut g = kron_of_parts::gradient();
    row(
        "kron of parts",
        "       – |      – |           – |      –",
        &mut || kron_of_parts(black_box(&a), &b),
        &mut || g.value_and_gradient(black_box(&a), &b).0,
    );
    let few = normal(100, 1).to_vec();
    let mut g = nested_maps::gradient();
    row(
        "maps of sin, cos, exp",
        "     2.7 |      – |           – |      –",
        &mut || nested_maps(black_box(&few)),
        &mut || g.value_and_gradient(black_box(&few)).0,
    );
    let (w2, w1, x, y) =
        (normal((128, 256), 1), normal((256, 128), 2), normal((128, 70), 3), normal((128, 70), 4));
    let mut g = models::network::gradient();
    row(
        "simple MLP",
        "       – |      – |           – |      –",
        &mut || models::network(black_box(&w2), &w1, &x, &y),
        &mut || g.value_and_gradient(black_box(&w2), &w1, &x, &y).0,
    );
    let (x, y) = (normal(128, 1).to_vec(), normal(128, 2));
    let mut g = gaussian_process::gradient();
    row(
        "Gaussian process, 128 points",
        "       – |      – |           – |      –",
        &mut || gaussian_process(black_box(&x), &y, 1.0),
        &mut || g.value_and_gradient(black_box(&x), &y, 1.0).0,
    );
    let x = [0.9, 0.99];
    let mut g = large_block::gradient();
    row(
        "x₁·x₂⁴⁰⁰, unrolled",
        "       – |      – |           – |      –",
        &mut || large_block(black_box(&x)),
        &mut || g.value_and_gradient(black_box(&x)).0,
    );
}
