//! argmin's solvers that invert matrices, with those of nalgebra.

use argmin::core::{CostFunction, Executor, Gradient, Hessian, Jacobian, Operator, State};
use argmin::solver::gaussnewton::GaussNewton;
use argmin::solver::newton::Newton;
use nalgebra_0_34::DVector;
use pullback::interop::{Problem, WithNalgebra};
use pullback::prelude::*;

use super::outputs;
use super::valley::{CENTRE, valley};

#[test]
fn traits_give_what_the_problem_does() {
    let problem = WithNalgebra(Problem::<valley>::new((&[0.0; 4], &CENTRE)));
    let x = DVector::from_vec(vec![0.5, 1.5, -0.25, 0.75]);
    let mut g = valley::hessian();
    let (value, d, h) = g.value_gradient_and_hessian(x.as_slice(), &CENTRE);
    assert_eq!(problem.cost(&x).unwrap(), value);
    assert_eq!(problem.gradient(&x).unwrap().as_slice(), d.x);
    let hessian = problem.hessian(&x).unwrap();
    assert_eq!(hessian.shape(), (4, 4));
    assert!(h.indexed_iter().all(|(at, entry)| hessian[at] == *entry));

    let problem = WithNalgebra(Problem::<outputs>::new((&[1.0, 2.0, 3.0], 0.5)));
    let x = DVector::from_vec(vec![1.5, -2.0, 0.25, 0.75]);
    assert_eq!(problem.apply(&x).unwrap().as_slice(), outputs(&x.as_slice()[..3], x[3]));
    let mut j = outputs::jacobian();
    let (_, expected) = j.value_and_jacobian(&x.as_slice()[..3], x[3]);
    let jacobian = problem.jacobian(&x).unwrap();
    assert_eq!(jacobian.shape(), (5, 4));
    assert!(expected.indexed_iter().all(|(at, entry)| jacobian[at] == *entry));
}

#[test]
fn newtons_method() {
    let near = CENTRE.map(|c| c + 0.1);
    let problem = WithNalgebra(Problem::<valley>::new((&near, &CENTRE)));
    let start = DVector::from_column_slice(problem.0.point());
    let result = Executor::new(problem, Newton::<f64>::new())
        .configure(|s| s.param(start).max_iters(30))
        .run()
        .unwrap();
    let best = result.state().get_best_param().unwrap();
    for (x, c) in best.iter().zip(CENTRE) {
        assert!((x - c).abs() < 1e-10, "{x} and {c}");
    }
}

/// What a decay with the rate `k` from `a` misses its values for 2 and 0.5 by.
#[differentiable(dual)]
fn misses(a: f64, k: f64) -> Vec<f64> {
    (0..6).map(|t| a * (-k * t as f64).exp() - 2.0 * (-0.5 * t as f64).exp()).collect()
}

#[test]
fn the_method_of_gauss_and_newton() {
    let problem = WithNalgebra(Problem::<misses>::new((1.0, 1.0)));
    let start = DVector::from_column_slice(problem.0.point());
    let result = Executor::new(problem, GaussNewton::<f64>::new())
        .configure(|s| s.param(start).max_iters(20))
        .run()
        .unwrap();
    let best = result.state().get_best_param().unwrap();
    assert!((best[0] - 2.0).abs() < 1e-10 && (best[1] - 0.5).abs() < 1e-10, "{best}");
}
