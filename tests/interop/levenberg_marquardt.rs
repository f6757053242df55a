//! levenberg-marquardt gets residuals and Jacobians at the point that it has set.

use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra_0_34::DVector;
use pullback::interop::Problem;
use pullback::prelude::*;

use super::outputs;

/// Rosenbrock's function as a sum of squares, about another point.
#[differentiable(dual)]
fn rosenbrock(x: f64, y: f64, #[constant] centre: [f64; 2]) -> [f64; 2] {
    let (u, v) = (x - centre[0], y - centre[1]);
    [10.0 * (v - u * u), 1.0 - u]
}

#[test]
fn residuals_and_jacobian_are_those_of_the_problem() {
    let mut problem = Problem::<outputs>::new((&[1.0, 2.0, 3.0], 0.5));
    assert_eq!(problem.params().as_slice(), [1.0, 2.0, 3.0, 0.5]);
    let x = [1.5, -2.0, 0.25, 0.75];
    problem.set_params(&DVector::from_column_slice(&x));
    assert_eq!(problem.params().as_slice(), x);
    let residuals = LeastSquaresProblem::residuals(&problem).unwrap();
    assert_eq!(residuals.as_slice(), outputs(&x[..3], x[3]));
    let jacobian = problem.jacobian().unwrap();
    let mut j = outputs::jacobian();
    let (_, expected) = j.value_and_jacobian(&x[..3], x[3]);
    assert_eq!(jacobian.shape(), expected.dim());
    for ((i, j), entry) in expected.indexed_iter() {
        assert_eq!(jacobian[(i, j)], *entry);
    }
}

#[test]
fn the_minimum_is_found() {
    let problem = Problem::<rosenbrock>::new((-1.2, 1.0, [0.5, -0.5]));
    let (solved, report) = LevenbergMarquardt::new().minimize(problem);
    assert!(report.termination.was_successful() && report.objective_function < 1e-25);
    let [x, y] = *solved.point() else { panic!("two coordinates") };
    assert!((x - 1.5).abs() < 1e-12 && (y - 0.5).abs() < 1e-12);
}
