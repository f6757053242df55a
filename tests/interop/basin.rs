//! basin asks for what there is, and its solvers find what is known.

use basin::{
    BoundedLevenbergMarquardt, CostFunction, Executor, Gradient, Hessian, HessianProduct, Jacobian, Lbfgs,
    Lbfgsb, LevenbergMarquardt, Residual, TrustRegion,
};
use pullback::interop::Problem;
use pullback::prelude::*;

use super::valley::{CENTRE, valley};
use super::{allocations_in, outputs};

/// Rosenbrock's function as a sum of squares, about another point.
#[differentiable(dual)]
fn rosenbrock(x: f64, y: f64, #[constant] centre: [f64; 2]) -> [f64; 2] {
    let (u, v) = (x - centre[0], y - centre[1]);
    [10.0 * (v - u * u), 1.0 - u]
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], precision: f64) {
    for (x, c) in found.iter().zip(expected) {
        assert!((x - c).abs() < precision, "{x} and {c}");
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
    assert_eq!(problem.cost_and_gradient(&x).unwrap(), (value, d.x.to_vec()));
    let (same, gradient, hessian) = problem.cost_and_gradient_and_hessian(&x).unwrap();
    assert_eq!((same, &gradient[..]), (value, d.x));
    assert_eq!(problem.hessian(&x).unwrap(), hessian);
    for ((i, j), entry) in h.indexed_iter() {
        assert_eq!(hessian.get(i, j), *entry);
    }
    let product = problem.hessian_product(&x, &vec![0.0, 1.0, 0.0, 0.0]).unwrap();
    assert_close(&product, &h.column(1).to_vec(), 1e-13);

    let problem = Problem::<outputs>::new((&[1.0, 2.0, 3.0], 0.5));
    let x = vec![1.5, -2.0, 0.25, 0.75];
    let mut j = outputs::jacobian();
    let (expected, matrix) = j.value_and_jacobian(&x[..3], x[3]);
    assert_eq!(problem.residual(&x).unwrap(), expected);
    let (residual, jacobian) = problem.residual_and_jacobian(&x).unwrap();
    assert_eq!(residual, expected);
    assert_eq!(problem.jacobian(&x).unwrap(), jacobian);
    assert_eq!((jacobian.nrows(), jacobian.ncols()), matrix.dim());
    for ((i, j), entry) in matrix.indexed_iter() {
        assert_eq!(jacobian.get(i, j), *entry);
    }
}

#[test]
fn what_goes_to_memory_of_the_solver_allocates_nothing() {
    let problem = Problem::<valley>::new((&[0.0; 4], &CENTRE));
    let x = vec![0.5, 1.5, -0.25, 0.75];
    let (mut gradient, mut product) = (Vec::new(), vec![1.0; 7]);
    let mut all = || {
        problem.cost_and_gradient_into(&x, &mut gradient).unwrap();
        problem.gradient_into(&x, &mut gradient).unwrap();
        problem.hessian_product_into(&x, &x, &mut product).unwrap();
    };
    all();
    assert_eq!(allocations_in(all).1, 0);
    assert_eq!(gradient, problem.gradient(&x).unwrap());
    assert_eq!(product, problem.hessian_product(&x, &x).unwrap());
}

#[test]
fn by_gradients() {
    let problem = Problem::<valley>::new((&[0.0; 4], &CENTRE));
    let start = problem.point().to_vec();
    let result = Executor::from_start(problem, Lbfgs::new(), start).max_iter(200).run().unwrap();
    assert_close(result.param(), &CENTRE, 1e-4);
}

#[test]
fn by_hessians_and_by_products() {
    for matrix_free in [false, true] {
        let problem = Problem::<valley>::new((&[0.0; 4], &CENTRE));
        let start = problem.point().to_vec();
        let found = if matrix_free {
            Executor::from_start(problem, TrustRegion::matrix_free(), start)
                .max_iter(50)
                .run()
                .unwrap()
                .param()
                .clone()
        } else {
            Executor::from_start(problem, TrustRegion::new(), start)
                .max_iter(50)
                .run()
                .unwrap()
                .param()
                .clone()
        };
        assert_close(&found, &CENTRE, 1e-6);
    }
}

#[test]
fn by_residuals() {
    let problem = Problem::<rosenbrock>::new((-1.2, 1.0, [0.5, -0.5]));
    let start = problem.point().to_vec();
    let result = Executor::from_start(problem, LevenbergMarquardt::new(), start).max_iter(50).run().unwrap();
    assert_close(result.param(), &[1.5, 0.5], 1e-7);
}

#[test]
fn within_bounds() {
    // Where the valley would go on, it stops.
    let infinite = f64::INFINITY;
    let problem = Problem::<valley>::new((&[0.0; 4], &CENTRE))
        .within(&[-infinite; 4], &[0.5, infinite, infinite, infinite]);
    let start = problem.point().to_vec();
    let result = Executor::from_start(problem, Lbfgsb::new(), start).max_iter(200).run().unwrap();
    let x = result.param().clone();
    let mut g = valley::gradient();
    let (_, d) = g.value_and_gradient(&x, &CENTRE);
    assert!(x[0] == 0.5 && d.x[0] < -0.1, "at the bound, and drawn across it: {x:?}, {:?}", d.x);
    assert_close(&d.x[1..], &[0.0; 3], 1e-3);

    let problem = Problem::<rosenbrock>::new((0.0, 0.0, [0.5, -0.5])).within(&[-2.0, -2.0], &[1.0, infinite]);
    let start = problem.point().to_vec();
    let result =
        Executor::from_start(problem, BoundedLevenbergMarquardt::new(), start).max_iter(500).run().unwrap();
    // At x = 1, u = ½: the best v is u².
    assert_close(result.param(), &[1.0, -0.25], 1e-2);
}

#[test]
#[should_panic(expected = "`rosenbrock`: there are 1 bounds, and the active arguments have 2 coordinates")]
fn bounds_are_for_every_coordinate() {
    let _ = Problem::<rosenbrock>::new((0.0, 0.0, [0.5, -0.5])).within(&[-2.0, -2.0], &[1.0]);
}
