//! What those of argmin's solvers ask for that invert matrices.

use argmin::core::{CostFunction, Error, Gradient, Hessian, Jacobian, Operator};
use nalgebra_0_34::{DMatrix, DVector};
use pullback_rules::Function;

use super::nalgebra::matrix;
use super::{HasHessian, HasJacobian, Problem, Solvable};

/// A [`Problem`] for argmin's solvers, with vectors and matrices of nalgebra 0.34: also for those which invert matrices, such as Newton's
/// method and that of Gauss and Newton.
///
/// ```
/// use argmin::core::{Executor, State};
/// use argmin::solver::gaussnewton::GaussNewton;
/// # use nalgebra_0_34 as nalgebra;
/// use nalgebra::DVector;
/// use pullback::interop::{Problem, WithNalgebra};
/// use pullback::prelude::*;
///
/// /// What a line misses three points by.
/// #[differentiable(dual)]
/// fn misses(slope: f64, offset: f64) -> [f64; 3] {
///     [offset - 1.0, offset + slope - 3.0, offset + 2.0 * slope - 5.0]
/// }
///
/// let problem = WithNalgebra(Problem::<misses>::new((0.0, 0.0)));
/// let start = DVector::from_column_slice(problem.0.point());
/// let run = Executor::new(problem, GaussNewton::<f64>::new()).configure(|s| s.param(start).max_iters(5)).run().unwrap();
/// let best = run.state().get_best_param().unwrap();
/// assert!((best[0] - 2.0).abs() < 1e-12 && (best[1] - 1.0).abs() < 1e-12);
/// ```
pub struct WithNalgebra<P>(pub P);

impl<F: Solvable + Function<Output = f64>> CostFunction for WithNalgebra<Problem<'_, F>> {
    type Param = DVector<f64>;
    type Output = f64;

    fn cost(&self, x: &DVector<f64>) -> Result<f64, Error> {
        Ok(self.0.value(x.as_slice()))
    }
}

impl<F: Solvable + Function<Output = f64>> Gradient for WithNalgebra<Problem<'_, F>> {
    type Param = DVector<f64>;
    type Gradient = DVector<f64>;

    fn gradient(&self, x: &DVector<f64>) -> Result<DVector<f64>, Error> {
        let mut gradient = DVector::zeros(x.len());
        self.0.value_and_gradient(x.as_slice(), gradient.as_mut_slice());
        Ok(gradient)
    }
}

impl<F: HasHessian> Hessian for WithNalgebra<Problem<'_, F>> {
    type Param = DVector<f64>;
    type Hessian = DMatrix<f64>;

    fn hessian(&self, x: &DVector<f64>) -> Result<DMatrix<f64>, Error> {
        Ok(self.0.value_gradient_and_hessian(x.as_slice(), &mut vec![0.0; x.len()], matrix).1)
    }
}

impl<F: Solvable> Operator for WithNalgebra<Problem<'_, F>> {
    type Param = DVector<f64>;
    type Output = DVector<f64>;

    fn apply(&self, x: &DVector<f64>) -> Result<DVector<f64>, Error> {
        let mut residuals = Vec::new();
        self.0.residuals(x.as_slice(), &mut residuals);
        Ok(DVector::from_vec(residuals))
    }
}

impl<F: HasJacobian> Jacobian for WithNalgebra<Problem<'_, F>> {
    type Param = DVector<f64>;
    type Jacobian = DMatrix<f64>;

    fn jacobian(&self, x: &DVector<f64>) -> Result<DMatrix<f64>, Error> {
        Ok(self.0.residuals_and_jacobian(x.as_slice(), &mut Vec::new(), matrix))
    }
}
