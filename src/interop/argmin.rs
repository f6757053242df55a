//! What argmin's solvers ask for.

use argmin::core::{CostFunction, Error, Gradient, Hessian, Jacobian, Operator};
use ndarray::ArrayView2;
use pullback_rules::Function;

use super::{HasHessian, HasJacobian, Problem, Solvable};

impl<F: Solvable + Function<Output = f64>> CostFunction for Problem<'_, F> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, x: &Vec<f64>) -> Result<f64, Error> {
        Ok(self.value(x))
    }
}

impl<F: Solvable + Function<Output = f64>> Gradient for Problem<'_, F> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, x: &Vec<f64>) -> Result<Vec<f64>, Error> {
        let mut gradient = vec![0.0; x.len()];
        self.value_and_gradient(x, &mut gradient);
        Ok(gradient)
    }
}

impl<F: HasHessian> Hessian for Problem<'_, F> {
    type Param = Vec<f64>;
    /// A list of rows.
    type Hessian = Vec<Vec<f64>>;

    fn hessian(&self, x: &Vec<f64>) -> Result<Vec<Vec<f64>>, Error> {
        Ok(self.value_gradient_and_hessian(x, &mut vec![0.0; x.len()], rows).1)
    }
}

impl<F: Solvable> Operator for Problem<'_, F> {
    type Param = Vec<f64>;
    type Output = Vec<f64>;

    fn apply(&self, x: &Vec<f64>) -> Result<Vec<f64>, Error> {
        let mut residuals = Vec::new();
        self.residuals(x, &mut residuals);
        Ok(residuals)
    }
}

impl<F: HasJacobian> Jacobian for Problem<'_, F> {
    type Param = Vec<f64>;
    /// A list of rows.
    type Jacobian = Vec<Vec<f64>>;

    fn jacobian(&self, x: &Vec<f64>) -> Result<Vec<Vec<f64>>, Error> {
        Ok(self.residuals_and_jacobian(x, &mut Vec::new(), rows))
    }
}

/// A matrix as argmin has them without a library of matrices.
fn rows(matrix: ArrayView2<'_, f64>) -> Vec<Vec<f64>> {
    matrix.outer_iter().map(|row| row.to_vec()).collect()
}
