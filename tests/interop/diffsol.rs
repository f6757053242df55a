//! diffsol's sensitivities, forward and adjoint, of derived equations.

use diffsol::{
    AdjointOdeSolverMethod, ConstantOp, ConstantOpSens, ConstantOpSensAdjoint, DenseMatrix, MatrixCommon,
    NalgebraContext, NalgebraLU, NalgebraMat, NalgebraVec, NonLinearOp, NonLinearOpAdjoint,
    NonLinearOpJacobian, NonLinearOpSens, NonLinearOpSensAdjoint, OdeBuilder, OdeEquations, OdeSolverMethod,
    OdeSolverState, SensitivitiesOdeSolverMethod, Vector,
};
use pullback::interop::diffsol::DerivedEquations;
use pullback::prelude::*;
use pullback::solve::ode_adjoint;

use super::allocations_in;

type M = NalgebraMat<f64>;
type LS = NalgebraLU<f64>;

/// Predators and prey, which are hunted through the year.
#[differentiable(dual)]
fn hunting(x: &[f64], p: &[f64], t: f64, y: &mut [f64]) {
    let met = p[1] * x[0] * x[1];
    y[0] = p[0] * x[0] - met - 0.1 * t.sin() * x[0];
    y[1] = p[2] * met - p[3] * x[1];
}

/// How many there are at first.
#[differentiable(dual)]
fn first(p: &[f64], #[constant] _t: f64, y: &mut [f64]) {
    y[0] = p[4];
    y[1] = 0.5 * p[4] * p[0];
}

/// What is counted.
#[differentiable(dual)]
fn counted(x: &[f64], p: &[f64], #[constant] _t: f64, y: &mut [f64]) {
    y[0] = x[0].ln();
    y[1] = x[1] * p[4];
    y[2] = x[0] * x[1];
}

const P: [f64; 5] = [0.9, 0.4, 0.6, 0.5, 1.5];
const TIMES: [f64; 4] = [0.5, 1.5, 3.0, 4.0];
const DATA: [[f64; 3]; 4] = [[0.5, 1.5, 2.0], [0.25, 2.0, 1.0], [0.0, 2.5, 1.5], [-0.25, 1.0, 0.5]];

/// The whole of it, by this library's own adjoint.
#[differentiable]
fn misfit(p: &[f64]) -> f64 {
    let mut x = [0.0, 0.0];
    first(p, 0.0, &mut x);
    let mut total = 0.0;
    for i in 0..4 {
        let from = if i == 0 { 0.0 } else { TIMES[i - 1] };
        #[pullback(recompute)]
        ode_adjoint(|t, x, y| hunting(x, p, t, y), from, TIMES[i], &mut x, 1e-11, 1e-11);
        let mut seen = [0.0, 0.0, 0.0];
        counted(&x, p, TIMES[i], &mut seen);
        for j in 0..3 {
            total += (seen[j] - DATA[i][j]) * (seen[j] - DATA[i][j]);
        }
    }
    total
}

fn vector(numbers: &[f64]) -> NalgebraVec<f64> {
    NalgebraVec::from_vec(numbers.to_vec(), NalgebraContext::default())
}

/// The Jacobian of an equation with respect to the state or, with `offset` 2, the parameters.
fn jacobian(rows: usize, columns: usize, offset: usize, of: &ndarray::Array2<f64>) -> ndarray::Array2<f64> {
    of.slice(ndarray::s![..rows, offset..offset + columns]).to_owned()
}

#[track_caller]
fn assert_close(found: &NalgebraVec<f64>, expected: &ndarray::Array1<f64>) {
    assert_eq!(found.len(), expected.len());
    for (i, e) in expected.iter().enumerate() {
        let f = found.get_index(i);
        assert!((f - e).abs() < 1e-13 * (1.0 + e.abs()), "{f} and {e}");
    }
}

#[test]
fn products_have_the_signs_that_diffsol_wants() {
    let (x, t) = ([1.2, 0.7], 0.3);
    let (dx, dp, seed) = ([0.5, -1.0], [1.0, -2.0, 0.5, 0.25, 3.0], [1.5, -0.5, 2.0]);
    let view = ndarray::aview1;
    let problem = OdeBuilder::<M>::new()
        .p(P)
        .rhs_adjoint_of::<hunting>()
        .init_adjoint_of::<first>(2)
        .out_adjoint_of::<counted>(3)
        .build()
        .unwrap();
    let (rhs, init, out) = (problem.eqn().rhs(), problem.eqn().init(), problem.eqn().out().unwrap());

    let mut y = [0.0; 2];
    hunting(&x, &P, t, &mut y);
    assert_close(&rhs.call(&vector(&x), t), &view(&y).to_owned());
    let mut g = hunting::jacobian();
    let all = g.value_and_jacobian(&x, &P, t, &mut y).1.to_owned();
    let (by_x, by_p) = (jacobian(2, 2, 0, &all), jacobian(2, 5, 2, &all));
    let mut product = vector(&[f64::NAN; 2]);
    rhs.jac_mul_inplace(&vector(&x), t, &vector(&dx), &mut product);
    assert_close(&product, &by_x.dot(&view(&dx)));
    rhs.jac_transpose_mul_inplace(&vector(&x), t, &vector(&seed[..2]), &mut product);
    assert_close(&product, &-by_x.t().dot(&view(&seed[..2])));
    let mut product = vector(&[f64::NAN; 5]);
    rhs.sens_transpose_mul_inplace(&vector(&x), t, &vector(&seed[..2]), &mut product);
    assert_close(&product, &-by_p.t().dot(&view(&seed[..2])));

    let mut y = [0.0; 3];
    counted(&x, &P, t, &mut y);
    assert_close(&out.call(&vector(&x), t), &view(&y).to_owned());
    let mut g = counted::jacobian();
    let all = g.value_and_jacobian(&x, &P, t, &mut y).1.to_owned();
    let (by_x, by_p) = (jacobian(3, 2, 0, &all), jacobian(3, 5, 2, &all));
    let mut product = vector(&[f64::NAN; 2]);
    out.jac_transpose_mul_inplace(&vector(&x), t, &vector(&seed), &mut product);
    assert_close(&product, &-by_x.t().dot(&view(&seed)));
    let mut product = vector(&[f64::NAN; 5]);
    out.sens_transpose_mul_inplace(&vector(&x), t, &vector(&seed), &mut product);
    assert_close(&product, &-by_p.t().dot(&view(&seed)));

    let mut y = [0.0; 2];
    first(&P, 0.0, &mut y);
    assert_close(&init.call(0.0), &view(&y).to_owned());
    let mut g = first::jacobian();
    let by_p = g.value_and_jacobian(&P, 0.0, &mut y).1.to_owned();
    let by_p = jacobian(2, 5, 0, &by_p);
    let mut product = vector(&[f64::NAN; 5]);
    init.sens_transpose_mul_inplace(0.0, &vector(&seed[..2]), &mut product);
    assert_close(&product, &-by_p.t().dot(&view(&seed[..2])));

    // Forward, nothing is negated.
    let problem = OdeBuilder::<M>::new()
        .p(P)
        .rhs_sens_of::<hunting>()
        .init_sens_of::<first>(2)
        .out_sens_of::<counted>(3)
        .build()
        .unwrap();
    let mut product = vector(&[f64::NAN; 2]);
    problem.eqn().init().sens_mul_inplace(0.0, &vector(&dp), &mut product);
    assert_close(&product, &by_p.dot(&view(&dp)));
    let mut g = hunting::jacobian();
    let all = g.value_and_jacobian(&x, &P, t, &mut [0.0; 2]).1.to_owned();
    problem.eqn().rhs().sens_mul_inplace(&vector(&x), t, &vector(&dp), &mut product);
    assert_close(&product, &jacobian(2, 5, 2, &all).dot(&view(&dp)));
}

/// The sum of squares and its gradient, from what is observed at each time and the derivative of that sum.
fn squares(seen: &M) -> (f64, Vec<f64>) {
    let mut total = 0.0;
    let mut seed = Vec::new();
    for (i, row) in DATA.iter().enumerate() {
        for (j, d) in row.iter().enumerate() {
            let miss = seen.get_index(j, i) - d;
            total += miss * miss;
            seed.push(2.0 * miss);
        }
    }
    (total, seed)
}

#[test]
fn sensitivities_agree_with_differences_and_with_our_adjoint() {
    let mut g = misfit::gradient();
    let (value, expected) = g.value_and_gradient(&P);
    for i in 0..5 {
        let moved = |h: f64| {
            let mut p = P;
            p[i] += h;
            misfit(&p)
        };
        let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert!((expected.p[i] - difference).abs() < 1e-6 * (1.0 + difference.abs()));
    }

    let problem = OdeBuilder::<M>::new()
        .p(P)
        .rtol(1e-10)
        .atol([1e-10])
        .rhs_adjoint_of::<hunting>()
        .init_adjoint_of::<first>(2)
        .out_adjoint_of::<counted>(3)
        .build()
        .unwrap();
    let mut solver = problem.bdf::<LS>().unwrap();
    let (way, seen, _) = solver.solve_dense_with_checkpointing(&TIMES, None).unwrap();
    let (total, seed) = squares(&seen);
    assert!((total - value).abs() < 1e-6 * value, "{total} and {value}");
    let seed = M::from_vec(3, 4, seed, NalgebraContext::default());
    let backward = problem.bdf_solver_adjoint::<LS, _>(way, Some(solver), Some(1)).unwrap();
    let (state, _) = backward.solve_adjoint_backwards_pass(&TIMES, &[&seed]).unwrap();
    let gradient = state.into_common().sg;
    for i in 0..5 {
        let (found, expected) = (gradient.get_index(i), expected.p[i]);
        assert!((found - expected).abs() < 1e-5 * (1.0 + expected.abs()), "adjoint: {found} and {expected}");
    }

    let problem = OdeBuilder::<M>::new()
        .p(P)
        .rtol(1e-9)
        .atol([1e-9])
        .sens_rtol(1e-9)
        .sens_atol([1e-9])
        .rhs_sens_of::<hunting>()
        .init_sens_of::<first>(2)
        .out_sens_of::<counted>(3)
        .build()
        .unwrap();
    let mut solver = problem.bdf_sens::<LS>().unwrap();
    let (seen, by_parameter, _) = solver.solve_dense_sensitivities(&TIMES).unwrap();
    let (_, seed) = squares(&seen);
    for i in 0..5 {
        let at = &by_parameter[i];
        assert_eq!((at.nrows(), at.ncols()), (3, 4));
        let found: f64 = (0..12).map(|k| seed[k] * at.get_index(k % 3, k / 3)).sum();
        let expected = expected.p[i];
        assert!((found - expected).abs() < 1e-5 * (1.0 + expected.abs()), "forward: {found} and {expected}");
    }
}

#[test]
fn only_first_calls_allocate() {
    let problem = OdeBuilder::<M>::new()
        .p(P)
        .rhs_adjoint_of::<hunting>()
        .init_adjoint_of::<first>(2)
        .out_adjoint_of::<counted>(3)
        .build()
        .unwrap();
    let rhs = problem.eqn().rhs();
    let (x, v) = (vector(&[1.2, 0.7]), vector(&[0.5, -1.0]));
    let (mut y, mut by_p) = (vector(&[0.0; 2]), vector(&[0.0; 5]));
    let mut all = || {
        rhs.call_inplace(&x, 0.3, &mut y);
        rhs.jac_mul_inplace(&x, 0.3, &v, &mut y);
        rhs.jac_transpose_mul_inplace(&x, 0.3, &v, &mut y);
        rhs.sens_transpose_mul_inplace(&x, 0.3, &v, &mut by_p);
    };
    all();
    assert_eq!(allocations_in(all).1, 0);
}
