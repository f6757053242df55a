//! Logistic regression by argmin: `cargo run --release --features argmin --example argmin`.
//!
//! On the night before the space shuttle Challenger was launched, engineers argued whether the rings that seal its boosters would hold
//! at the temperature that was forecast, 31 °F. What they had was how the rings of 23 earlier launches had fared. The likelihood of a
//! logistic model is maximised here by a trust region method with exact Hessians; the Hessian at the maximum also tells how
//! far the estimates are to be trusted.

use std::error::Error;

use argmin::core::{Executor, State};
use argmin::solver::trustregion::{Steihaug, TrustRegion};
use pullback::interop::Problem;
use pullback::prelude::*;

mod plot;

/// Temperature at launch in °F, and whether one of six rings had been damaged (S. R. Dalal, E. B. Fowlkes & B. Hoadley, *Risk Analysis of the
/// Space Shuttle: Pre-Challenger Prediction of Failure*, Journal of the American Statistical Association 84, 1989; after the
/// *Report of the Presidential Commission on the Space Shuttle Challenger Accident*, 1986).
const LAUNCHES: [(f64, bool); 23] = [
    (66.0, false),
    (70.0, true),
    (69.0, false),
    (68.0, false),
    (67.0, false),
    (72.0, false),
    (73.0, false),
    (70.0, false),
    (57.0, true),
    (63.0, true),
    (70.0, true),
    (78.0, false),
    (67.0, false),
    (53.0, true),
    (67.0, false),
    (75.0, false),
    (70.0, false),
    (81.0, false),
    (76.0, false),
    (79.0, false),
    (75.0, true),
    (76.0, false),
    (58.0, true),
];

/// The negative logarithm of the likelihood, if damage has the probability 1/(1 + e^−z) with *z = level + slope·(t − 70)/10*.
#[differentiable(dual)]
fn surprise(level: f64, slope: f64, #[constant] launches: &[(f64, bool)]) -> f64 {
    let mut total = 0.0;
    for (t, damaged) in launches {
        let z = level + slope * (t - 70.0) / 10.0;
        total += if *damaged { (-z).exp().ln_1p() } else { z.exp().ln_1p() };
    }
    total
}

fn probability(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

fn main() -> Result<(), Box<dyn Error>> {
    let problem = Problem::<surprise>::new((0.0, 0.0, &LAUNCHES));
    let start = problem.point().to_vec();
    let solver = TrustRegion::new(Steihaug::new());
    let run = Executor::new(problem, solver).configure(|state| state.param(start).max_iters(20)).run()?;
    let best = run.state().get_best_param().ok_or("nothing found")?;
    let (level, slope) = (best[0], best[1]);

    // The covariance of the estimates is the inverse of the Hessian.
    let problem = run.problem().problem.as_ref().ok_or("the problem is gone")?;
    let mut gradient = [0.0; 2];
    let (value, covariance) = problem.value_gradient_and_hessian(best, &mut gradient, |h| {
        let determinant = h[[0, 0]] * h[[1, 1]] - h[[0, 1]] * h[[1, 0]];
        [h[[1, 1]], -h[[0, 1]], h[[0, 0]]].map(|entry| entry / determinant)
    });
    let per_degree = (slope / 10.0, covariance[2].sqrt() / 10.0);
    let intercept = level - 7.0 * slope;
    let of_intercept = (covariance[0] - 14.0 * covariance[1] + 49.0 * covariance[2]).sqrt();
    println!("after {} steps: −log likelihood {value:.5}, gradient {gradient:?}", run.state().get_iter());
    println!("intercept {intercept:.4} ± {of_intercept:.4}");
    println!("slope     {:.4} ± {:.4} per °F", per_degree.0, per_degree.1);

    let at = |t: f64| {
        let d = (t - 70.0) / 10.0;
        let variance = covariance[0] + 2.0 * d * covariance[1] + d * d * covariance[2];
        let z = level + slope * d;
        [z - 1.96 * variance.sqrt(), z, z + 1.96 * variance.sqrt()].map(probability)
    };
    let [low, expected, high] = at(31.0);
    println!(
        "damage at 31 °F: {expected:.4}, and with 95 per cent confidence between {low:.2} and {high:.4}"
    );

    // What other programs find.
    assert!((intercept - 15.0429).abs() < 1e-4 && (per_degree.0 + 0.2322).abs() < 1e-4);
    assert!((of_intercept - 7.3786).abs() < 1e-3 && (per_degree.1 - 0.1082).abs() < 1e-4);

    let line = |which: usize| (60..=170).map(|t| 0.5 * f64::from(t)).map(|t| (t, at(t)[which])).collect();
    let launches = |fate: bool| {
        let those = LAUNCHES.iter().filter(move |(_, damaged)| *damaged == fate);
        those.map(|(t, damaged)| (*t, f64::from(u8::from(*damaged)))).collect()
    };
    plot::draw(
        "argmin",
        vec![plot::Diagram {
            title: "Damage to the seals of 23 space shuttles",
            axes: ["temperature at launch, °F", "probability of damage"],
            ranges: [30.0..85.0, -0.05..1.05],
            legend: plot::SeriesLabelPosition::LowerLeft,
            bands: vec![("95 per cent confidence", line(0), line(2))],
            lines: vec![("logistic model", line(1))],
            dots: vec![("intact", launches(false)), ("damaged", launches(true))],
        }],
    )
}
