//! The gradient of a differential equation: `cargo run --release --example pharmacology`.
//!
//! A drug is taken twice a day, absorbed, distributed and cleared; its concentration inhibits the production of a marker, which is what the
//! drug is for. Five constants of this model are fitted to noisy measurements of both, by the gradient through the solver: by the
//! adjoint of its steps, and compared with the adjoint equation and with differences.

use std::time::Instant;

use pullback::prelude::*;
use pullback::solve::{ode, ode_adjoint};
use pullback::testing::{CountingAllocator, allocations_in};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const NAMES: [&str; 5] = ["absorption 1/h", "clearance L/h", "volume L", "turnover 1/h", "half effect mg/L"];

/// Times in hours, and what was measured and taken at each.
struct Study {
    times: Vec<f64>,
    doses: Vec<f64>,
    concentrations: Vec<f64>,
    markers: Vec<f64>,
}

/// The drug in the gut and in the blood, and the marker, which is 1 without drug.
#[differentiable]
fn model(y: &[f64], dy: &mut [f64], p: &[f64; 5]) {
    let concentration = y[1] / p[2];
    dy[0] = -p[0] * y[0];
    dy[1] = p[0] * y[0] - p[1] * concentration;
    dy[2] = p[3] * (1.0 - concentration / (p[4] + concentration)) - p[3] * y[2];
}

/// The sum of squares for constants given by their logarithms.
#[differentiable]
fn misfit(logarithms: &[f64; 5], #[constant] study: &Study) -> f64 {
    let mut p = [0.0; 5];
    for i in 0..5 {
        p[i] = logarithms[i].exp();
    }
    let mut y = [0.0, 0.0, 1.0];
    let mut total = 0.0;
    for i in 1..study.times.len() {
        y[0] += study.doses[i - 1];
        let (from, to) = (study.times[i - 1], study.times[i]);
        #[pullback(recompute)]
        ode(|_, y, dy| model(y, dy, &p), from, to, &mut y, 1e-8, 1e-8);
        let r = (y[1] / p[2]).ln() - study.concentrations[i].ln();
        let s = y[2] - study.markers[i];
        total += r * r + 10.0 * s * s;
    }
    total
}

/// The same by the adjoint equation.
#[differentiable]
fn misfit_by_adjoint(logarithms: &[f64; 5], #[constant] study: &Study) -> f64 {
    let mut p = [0.0; 5];
    for i in 0..5 {
        p[i] = logarithms[i].exp();
    }
    let mut y = [0.0, 0.0, 1.0];
    let mut total = 0.0;
    for i in 1..study.times.len() {
        y[0] += study.doses[i - 1];
        let (from, to) = (study.times[i - 1], study.times[i]);
        #[pullback(recompute)]
        ode_adjoint(|_, y, dy| model(y, dy, &p), from, to, &mut y, 1e-8, 1e-8);
        let r = (y[1] / p[2]).ln() - study.concentrations[i].ln();
        let s = y[2] - study.markers[i];
        total += r * r + 10.0 * s * s;
    }
    total
}

/// Three days of measurements, with errors of some per cent.
fn measured(p: &[f64; 5]) -> Study {
    let times: Vec<f64> = (0..=36).map(|i| 2.0 * i as f64).collect();
    let doses: Vec<f64> = times.iter().map(|t| if t % 12.0 == 0.0 { 100.0 } else { 0.0 }).collect();
    let (mut concentrations, mut markers) = (vec![1.0], vec![1.0]);
    let mut y = [0.0, 0.0, 1.0];
    for i in 1..times.len() {
        y[0] += doses[i - 1];
        ode(|_, y, dy| model(y, dy, p), times[i - 1], times[i], &mut y, 1e-10, 1e-10);
        concentrations.push(y[1] / p[2] * (0.05 * (7.0 * i as f64).sin()).exp());
        markers.push(y[2] + 0.02 * (11.0 * i as f64).sin());
    }
    Study { times, doses, concentrations, markers }
}

fn main() {
    let truth = [1.2, 4.0, 30.0, 0.15, 2.0];
    let study = measured(&truth);
    let mut gradient = misfit::gradient();
    let mut x = [0.7_f64, 6.0, 20.0, 0.25, 1.0].map(f64::ln);

    let (value, d) = gradient.value_and_gradient(&x, &study);
    let d = d.logarithms;
    let mut by_adjoint = misfit_by_adjoint::gradient();
    let (_, other) = by_adjoint.value_and_gradient(&x, &study);
    println!("misfit at the start {value:.3}\n");
    println!("{:>18}  {:>15}  {:>15}  {:>15}", "", "steps, undone", "adjoint eq.", "differences");
    for (i, name) in NAMES.iter().enumerate() {
        let moved = |h: f64| {
            let mut x = x;
            x[i] += h;
            misfit(&x, &study)
        };
        let difference = (moved(1e-4) - moved(-1e-4)) / 2e-4;
        println!("{name:>18}  {:15.8}  {:15.8}  {difference:15.8}", d[i], other.logarithms[i]);
        assert!((d[i] - difference).abs() < 1e-4 * (1.0 + difference.abs()), "the gradient is wrong");
        assert!(
            (d[i] - other.logarithms[i]).abs() < 1e-5 * (1.0 + difference.abs()),
            "the adjoints disagree"
        );
    }

    let ((), allocations) = allocations_in(|| {
        gradient.value_and_gradient(&x, &study);
        by_adjoint.value_and_gradient(&x, &study);
    });
    assert_eq!(allocations, 0);
    let time = |f: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..20).for_each(|_| f());
        start.elapsed().as_secs_f64() / 20.0 * 1e3
    };
    let primal = time(&mut || {
        misfit(&x, &study);
    });
    let discrete = time(&mut || {
        gradient.value_and_gradient(&x, &study);
    });
    let adjoint = time(&mut || {
        by_adjoint.value_and_gradient(&x, &study);
    });
    println!(
        "\nmisfit {primal:.2} ms, gradient {discrete:.2} ms by steps, {adjoint:.2} ms by the adjoint equation, no allocation"
    );

    // Adam, with steps that get shorter.
    let (mut mean, mut square) = ([0.0; 5], [0.0; 5]);
    for round in 1..=600 {
        let (_, d) = gradient.value_and_gradient(&x, &study);
        let rate = 0.05 * (1.0 - round as f64 / 700.0);
        for i in 0..5 {
            mean[i] = 0.9 * mean[i] + 0.1 * d.logarithms[i];
            square[i] = 0.99 * square[i] + 0.01 * d.logarithms[i] * d.logarithms[i];
            let (m, s) = (mean[i] / (1.0 - 0.9_f64.powi(round)), square[i] / (1.0 - 0.99_f64.powi(round)));
            x[i] -= rate * m / (s.sqrt() + 1e-12);
        }
    }
    println!("\n{:>18}  {:>8}  {:>8}", "", "fitted", "put in");
    for i in 0..5 {
        println!("{:>18}  {:8.3}  {:8.3}", NAMES[i], x[i].exp(), truth[i]);
        assert!((x[i].exp() / truth[i] - 1.0).abs() < 0.1, "not fitted yet");
    }
}
