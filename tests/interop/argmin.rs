//! argmin asks for what there is, and its solvers find what is known.

use argmin::core::{CostFunction, Executor, Gradient, Hessian, Jacobian, Operator, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use argmin::solver::trustregion::{Steihaug, TrustRegion};
use pullback::interop::Problem;

use super::outputs;
use super::valley::{CENTRE, valley};

fn assert_found(best: Option<&Vec<f64>>) {
    for (x, c) in best.expect("a best point").iter().zip(CENTRE) {
        assert!((x - c).abs() < 1e-6, "{x} and {c}");
    }
}

#[test]
fn traits_give_what_the_problem_does() {
    let problem = Problem::<valley>::new((&[0.0; 4], &CENTRE));
    let x = vec![0.5, 1.5, -0.25, 0.75];
    let mut g = valley::hessian();
    let (value, d, h) = g.value_gradient_and_hessian(&x, &CENTRE);
    assert_eq!(problem.cost(&x).unwrap(), value);
    assert_eq!(problem.gradient(&x).unwrap(), d.x);
    let hessian = problem.hessian(&x).unwrap();
    for (row, expected) in hessian.iter().zip(h.outer_iter()) {
        assert_eq!(row[..], expected.to_vec());
    }

    let problem = Problem::<outputs>::new((&[1.0, 2.0, 3.0], 0.5));
    let x = vec![1.5, -2.0, 0.25, 0.75];
    assert_eq!(problem.apply(&x).unwrap(), outputs(&x[..3], x[3]));
    let mut j = outputs::jacobian();
    let (_, expected) = j.value_and_jacobian(&x[..3], x[3]);
    let jacobian = problem.jacobian(&x).unwrap();
    assert_eq!(jacobian.len(), 5);
    for (row, expected) in jacobian.iter().zip(expected.outer_iter()) {
        assert_eq!(row[..], expected.to_vec());
    }
}

#[test]
fn several_points_at_a_time() {
    let problem = Problem::<valley>::new((&[0.0; 4], &CENTRE));
    let points = [vec![0.5; 4], vec![1.0; 4]];
    let gradients = problem.bulk_gradient(&points).unwrap();
    assert_eq!(gradients[1], problem.gradient(&points[1]).unwrap());
}

#[test]
fn by_gradients() {
    let problem = Problem::<valley>::new((&[0.0; 4], &CENTRE));
    let start = problem.point().to_vec();
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 5);
    let result = Executor::new(problem, solver).configure(|s| s.param(start).max_iters(100)).run().unwrap();
    assert_found(result.state().get_best_param());
}

#[test]
fn by_hessians() {
    let problem = Problem::<valley>::new((&[0.0; 4], &CENTRE));
    let start = problem.point().to_vec();
    let solver = TrustRegion::new(Steihaug::new());
    let result = Executor::new(problem, solver).configure(|s| s.param(start).max_iters(100)).run().unwrap();
    assert_found(result.state().get_best_param());
}
