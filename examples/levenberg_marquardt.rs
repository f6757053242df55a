//! Nonlinear least squares by levenberg-marquardt: `cargo run --release --features levenberg-marquardt --example levenberg_marquardt`.
//!
//! How mobile electrons are in silicon, over the logarithm of their density: a quotient of cubic polynomials is fitted to measurements of R.
//! Thurber. The problem is one of those with which the National Institute of Standards and Technology tests programs, and counts as
//! a hard one; the results are certified to eleven digits.

use std::error::Error;

use levenberg_marquardt::LevenbergMarquardt;
use pullback::interop::Problem;
use pullback::prelude::*;

mod plot;

/// Mobility, and the logarithm of the density: see `data/README.md`.
const MEASURED: &str = include_str!("data/thurber.csv");

/// Where the search starts: the farther one of two that come with the problem.
const START: [f64; 7] = [1000.0, 1000.0, 400.0, 40.0, 0.7, 0.3, 0.03];

/// Certified values, and standard deviations.
const CERTIFIED: [(f64, f64); 7] = [
    (1.2881396800e+03, 4.6647963344),
    (1.4910792535e+03, 3.9571156086e+01),
    (5.8323836877e+02, 2.8698696102e+01),
    (7.5416644291e+01, 5.5675370270),
    (9.6629502864e-01, 3.1333340687e-02),
    (3.9797285797e-01, 1.4984928198e-02),
    (4.9727297349e-02, 6.5842344623e-03),
];
const CERTIFIED_SQUARES: f64 = 5.6427082397e+03;

/// (b₁ + b₂x + b₃x² + b₄x³)/(1 + b₅x + b₆x² + b₇x³)
#[differentiable(dual)]
fn mobility(b: &[f64; 7], #[constant] x: f64) -> f64 {
    (b[0] + x * (b[1] + x * (b[2] + x * b[3]))) / (1.0 + x * (b[4] + x * (b[5] + x * b[6])))
}

#[differentiable(dual)]
fn residuals(b: &[f64; 7], #[constant] measured: &[(f64, f64)]) -> Vec<f64> {
    let mut misses = Vec::new();
    for (y, x) in measured {
        misses.push(mobility(b, *x) - y);
    }
    misses
}

fn main() -> Result<(), Box<dyn Error>> {
    let measured = MEASURED
        .lines()
        .map(|line| {
            let (y, x) = line.split_once(',').ok_or("two columns are expected")?;
            Ok((y.parse()?, x.parse()?))
        })
        .collect::<Result<Vec<(f64, f64)>, Box<dyn Error>>>()?;

    let problem = Problem::<residuals>::new((&START, &measured));
    let (fitted, report) = LevenbergMarquardt::new().minimize(problem);
    let b: [f64; 7] = fitted.point().try_into()?;
    let squares = 2.0 * report.objective_function;

    // The covariance of the estimates is σ²·(JᵀJ)⁻¹.
    let variance = squares / (measured.len() - b.len()) as f64;
    let covariance = fitted
        .residuals_and_jacobian(&b, &mut Vec::new(), |j| {
            nalgebra_0_34::DMatrix::from_fn(7, 7, |r, c| j.column(r).dot(&j.column(c)))
        })
        .try_inverse()
        .ok_or("the Jacobian is singular")?
        * variance;

    println!("{:?} after {} evaluations", report.termination, report.number_of_evaluations);
    println!("\n{:>4}  {:>16}  {:>12}  {:>16}  {:>12}", "", "fitted", "±", "certified", "±");
    for (i, (value, deviation)) in CERTIFIED.into_iter().enumerate() {
        let found = covariance[(i, i)].sqrt();
        println!(
            "{:>4}  {:16.9e}  {found:12.5e}  {value:16.9e}  {deviation:12.5e}",
            format!("b{}", i + 1),
            b[i]
        );
        assert!((b[i] / value - 1.0).abs() < 1e-6 && (found / deviation - 1.0).abs() < 1e-4);
    }
    println!("sum of squares {squares:.6}, certified {CERTIFIED_SQUARES:.6}");
    assert!((squares / CERTIFIED_SQUARES - 1.0).abs() < 1e-9);

    let curve =
        |b: &[f64; 7]| (-310..=220).map(|i| 0.01 * f64::from(i)).map(|x| (x, mobility(b, x))).collect();
    let swapped = |points: &[(f64, f64)]| points.iter().map(|(y, x)| (*x, *y)).collect();
    let misses = measured.iter().map(|(y, x)| (*x, mobility(&b, *x) - y)).collect();
    plot::draw(
        "levenberg_marquardt",
        vec![
            plot::Diagram {
                title: "Mobility of electrons in silicon",
                axes: ["logarithm of the density", "mobility"],
                ranges: [-3.2..2.4, 0.0..1600.0],
                legend: plot::SeriesLabelPosition::LowerRight,
                bands: vec![],
                lines: vec![("fitted", curve(&b)), ("start", curve(&START))],
                dots: vec![("measured", swapped(&measured))],
            },
            plot::Diagram {
                title: "What the model misses",
                axes: ["logarithm of the density", "model − measurement"],
                ranges: [-3.2..2.4, -40.0..50.0],
                legend: plot::SeriesLabelPosition::UpperRight,
                bands: vec![],
                lines: vec![("", vec![(-3.2, 0.0), (2.4, 0.0)])],
                dots: vec![("residuals", misses)],
            },
        ],
    )
}
