//! Hares and lynxes, by diffsol: `cargo run --release --features diffsol --example diffsol`.
//!
//! For two centuries the Hudson's Bay Company counted the pelts that trappers brought in. The equations of Lotka and Volterra are
//! fitted to those of 21 years: the rates at which hares multiply and lynxes starve, and how many there were at first. Gradients come from the
//! adjoint equations that diffsol solves backwards in time.

use std::error::Error;

use diffsol::{
    AdjointOdeSolverMethod, DenseMatrix, NalgebraContext, NalgebraLU, NalgebraMat, NalgebraVec, OdeBuilder,
    OdeEquations, OdeSolverMethod, OdeSolverState, Vector,
};
use pullback::interop::diffsol::DerivedEquations;
use pullback::prelude::*;

mod plot;

type M = NalgebraMat<f64>;
type LS = NalgebraLU<f64>;

/// Years, and thousands of pelts of hares and of lynxes: see `data/README.md`.
const COUNTED: &str = include_str!("data/lynx_hare.csv");

const NAMES: [&str; 6] = [
    "birth of hares",
    "death of hares by lynx",
    "death of lynxes",
    "birth of lynxes by hare",
    "hares in 1900",
    "lynxes in 1900",
];

/// Hares `x[0]` and lynxes `x[1]`.
#[differentiable(dual)]
fn hunting(x: &[f64], p: &[f64], #[constant] _t: f64, y: &mut [f64]) {
    y[0] = (p[0] - p[1] * x[1]) * x[0];
    y[1] = (p[3] * x[0] - p[2]) * x[1];
}

#[differentiable(dual)]
fn first(p: &[f64], #[constant] _t: f64, y: &mut [f64]) {
    y[0] = p[4];
    y[1] = p[5];
}

/// Errors are relative ones.
#[differentiable(dual)]
fn logarithms(x: &[f64], _p: &[f64], #[constant] _t: f64, y: &mut [f64]) {
    y[0] = x[0].ln();
    y[1] = x[1].ln();
}

fn main() -> Result<(), Box<dyn Error>> {
    let counted = COUNTED
        .lines()
        .map(|line| line.split(',').map(|number| Ok(number.parse()?)).collect())
        .collect::<Result<Vec<Vec<f64>>, Box<dyn Error>>>()?;
    let times: Vec<f64> = counted.iter().map(|row| row[0] - 1900.0).collect();

    let context = NalgebraContext::default();
    let mut p = [0.7, 0.02, 0.6, 0.03, 30.0, 4.0];
    let mut problem = OdeBuilder::<M>::new()
        .p(p)
        .rtol(1e-7)
        .atol([1e-7])
        .rhs_adjoint_of::<hunting>()
        .init_adjoint_of::<first>(2)
        .out_adjoint_of::<logarithms>(2)
        .build()?;

    // The sum of squared errors, and its gradient with respect to the logarithms of the parameters.
    let mut misfit = |p: &[f64; 6]| -> Result<(f64, [f64; 6]), Box<dyn Error>> {
        problem.eqn_mut().set_params(&NalgebraVec::from_vec(p.to_vec(), context));
        let mut forward = problem.bdf::<LS>()?;
        let (way, seen, _) = forward.solve_dense_with_checkpointing(&times, None)?;
        let miss = |year: usize, kind: usize| seen.get_index(kind, year) - counted[year][1 + kind].ln();
        let misses: Vec<f64> = (0..times.len()).flat_map(|year| [miss(year, 0), miss(year, 1)]).collect();
        let seed = M::from_vec(2, times.len(), misses.iter().map(|miss| 2.0 * miss).collect(), context);
        let backward = problem.bdf_solver_adjoint::<LS, _>(way, Some(forward), Some(1))?;
        let (state, _) = backward.solve_adjoint_backwards_pass(&times, &[&seed])?;
        let gradient = state.into_common().sg;
        let value = misses.iter().map(|miss| miss * miss).sum();
        Ok((value, std::array::from_fn(|i| p[i] * gradient.get_index(i))))
    };

    let (value, gradient) = misfit(&p)?;
    println!("misfit at the start {value:.4}\n{:>24}  {:>12}  {:>12}", "", "adjoint", "differences");
    for (i, name) in NAMES.iter().enumerate() {
        let mut moved = |h: f64| {
            let mut p = p;
            p[i] *= f64::exp(h);
            misfit(&p).map(|(value, _)| value)
        };
        let difference = (moved(1e-4)? - moved(-1e-4)?) / 2e-4;
        println!("{name:>24}  {:12.5}  {difference:12.5}", gradient[i]);
        assert!((gradient[i] - difference).abs() < 1e-2 + 1e-3 * difference.abs(), "the gradient is wrong");
    }

    // The method of Broyden, Fletcher, Goldfarb and Shanno, with steps that are halved until they help.
    let dot = |a: &[f64; 6], b: &[f64; 6]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut inverse: [[f64; 6]; 6] =
        std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 1e-3 } else { 0.0 }));
    let (mut value, mut gradient) = (value, gradient);
    let mut evaluations = 0;
    while gradient.iter().any(|d| d.abs() > 0.01) {
        assert!(evaluations < 200, "no minimum found");
        let mut step: [f64; 6] = std::array::from_fn(|i| -dot(&inverse[i], &gradient));
        let (next, slopes) = loop {
            evaluations += 1;
            let moved = std::array::from_fn(|i| p[i] * step[i].exp());
            match misfit(&moved) {
                Ok((next, slopes)) if next < value + 1e-4 * dot(&step, &gradient) => break (next, slopes),
                _ => step = step.map(|s| 0.5 * s),
            }
            assert!(evaluations < 200, "no minimum found");
        };
        let change = std::array::from_fn(|i| slopes[i] - gradient[i]);
        let along = dot(&step, &change);
        if along > 0.0 {
            let turned: [f64; 6] = std::array::from_fn(|i| dot(&inverse[i], &change));
            let stretch = (1.0 + dot(&change, &turned) / along) / along;
            for i in 0..6 {
                for j in 0..6 {
                    inverse[i][j] +=
                        stretch * step[i] * step[j] - (turned[i] * step[j] + step[i] * turned[j]) / along;
                }
            }
        }
        p = std::array::from_fn(|i| p[i] * step[i].exp());
        (value, gradient) = (next, slopes);
    }
    println!(
        "\nmisfit {value:.4} after {evaluations} adjoint solutions, errors of {:.0} per cent\n",
        100.0 * (value / 42.0).sqrt()
    );
    for (name, value) in NAMES.iter().zip(p) {
        println!("{name:>24}  {value:12.4}");
    }
    // What others find, from prior knowledge as well (B. Carpenter, *Predator-Prey Population Dynamics: the Lotka-Volterra model in Stan*, 2018).
    for (value, expected) in p.into_iter().zip([0.55, 0.028, 0.80, 0.024, 33.96, 5.95]) {
        assert!((value / expected - 1.0).abs() < 0.06, "{value} and {expected}");
    }

    problem.eqn_mut().set_params(&NalgebraVec::from_vec(p.to_vec(), context));
    let fine: Vec<f64> = (0..=400).map(|i| 0.05 * f64::from(i)).collect();
    let curve = problem.bdf::<LS>()?.solve_dense(&fine)?.0;
    let line = |kind: usize| {
        fine.iter().enumerate().map(|(i, t)| (1900.0 + t, curve.get_index(kind, i).exp())).collect()
    };
    let dots = |kind: usize| counted.iter().map(|row| (row[0], row[1 + kind])).collect();
    plot::draw(
        "diffsol",
        vec![plot::Diagram {
            title: "Pelts of the Hudson's Bay Company",
            axes: ["year", "thousands"],
            ranges: [1899.5..1920.5, 0.0..90.0],
            legend: plot::SeriesLabelPosition::UpperRight,
            bands: vec![],
            lines: vec![("hares, model", line(0)), ("lynxes, model", line(1))],
            dots: vec![("hares", dots(0)), ("lynxes", dots(1))],
        }],
    )
}
