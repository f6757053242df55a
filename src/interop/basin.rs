//! What basin's solvers ask for.

use std::convert::Infallible;

use basin::{
    BoxBounds, ConstraintDescription, ConstraintSet, Constraints, CostFunction, DenseMatrix, Gradient,
    Hessian, HessianProduct, Jacobian, Residual,
};
use ndarray::ArrayView2;
use pullback_rules::Function;

use super::{HasHessian, HasHessianProduct, HasJacobian, Problem, Solvable};

impl<F: Solvable> Problem<'_, F> {
    /// The same problem with bounds for each coordinate, infinite ones where there are none, for the solvers of basin that mind
    /// them.
    ///
    /// # Panics
    /// If there are not as many as coordinates.
    pub fn within(mut self, lower: &[f64], upper: &[f64]) -> Self {
        for (bounds, given) in self.bounds.iter_mut().zip([lower, upper]) {
            assert!(
                given.len() == bounds.len(),
                "`{}`: there are {} bounds, and the active arguments have {} coordinates",
                F::NAME,
                given.len(),
                bounds.len()
            );
            bounds.copy_from_slice(given);
        }
        self
    }
}

impl<F: Solvable> Constraints for Problem<'_, F> {
    type Set = ConstraintSet<BoxBounds<Vec<f64>>>;

    fn constraints(&self) -> <Self::Set as ConstraintDescription>::Borrowed<'_> {
        let [lower, upper] = &self.bounds;
        ConstraintSet::new().with_bounds(BoxBounds::new(Some(lower), Some(upper)))
    }
}

impl<F: Solvable + Function<Output = f64>> CostFunction for Problem<'_, F> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Infallible;

    fn cost(&self, x: &Vec<f64>) -> Result<f64, Infallible> {
        Ok(self.value(x))
    }
}

impl<F: Solvable + Function<Output = f64>> Gradient for Problem<'_, F> {
    type Gradient = Vec<f64>;

    fn gradient(&self, x: &Vec<f64>) -> Result<Vec<f64>, Infallible> {
        Ok(self.cost_and_gradient(x)?.1)
    }
    fn gradient_into(&self, x: &Vec<f64>, gradient: &mut Vec<f64>) -> Result<(), Infallible> {
        self.cost_and_gradient_into(x, gradient).map(drop)
    }
    fn cost_and_gradient(&self, x: &Vec<f64>) -> Result<(f64, Vec<f64>), Infallible> {
        let mut gradient = Vec::new();
        Ok((self.cost_and_gradient_into(x, &mut gradient)?, gradient))
    }
    fn cost_and_gradient_into(&self, x: &Vec<f64>, gradient: &mut Vec<f64>) -> Result<f64, Infallible> {
        gradient.resize(x.len(), 0.0);
        Ok(self.value_and_gradient(x, gradient))
    }
}

impl<F: HasHessian> Hessian for Problem<'_, F> {
    type Hessian = DenseMatrix<f64>;

    fn hessian(&self, x: &Vec<f64>) -> Result<DenseMatrix<f64>, Infallible> {
        Ok(self.cost_and_gradient_and_hessian(x)?.2)
    }
    fn cost_and_gradient_and_hessian(
        &self,
        x: &Vec<f64>,
    ) -> Result<(f64, Vec<f64>, DenseMatrix<f64>), Infallible> {
        let mut gradient = vec![0.0; x.len()];
        let (value, hessian) = self.value_gradient_and_hessian(x, &mut gradient, matrix);
        Ok((value, gradient, hessian))
    }
}

impl<F: HasHessianProduct> HessianProduct for Problem<'_, F> {
    fn hessian_product(&self, x: &Vec<f64>, direction: &Vec<f64>) -> Result<Vec<f64>, Infallible> {
        let mut product = Vec::new();
        self.hessian_product_into(x, direction, &mut product)?;
        Ok(product)
    }
    fn hessian_product_into(
        &self,
        x: &Vec<f64>,
        direction: &Vec<f64>,
        product: &mut Vec<f64>,
    ) -> Result<(), Infallible> {
        product.resize(x.len(), 0.0);
        self.value_and_hvp(x, direction, product);
        Ok(())
    }
}

impl<F: Solvable> Residual for Problem<'_, F> {
    type Param = Vec<f64>;
    type Output = Vec<f64>;
    type Error = Infallible;

    fn residual(&self, x: &Vec<f64>) -> Result<Vec<f64>, Infallible> {
        let mut residuals = Vec::new();
        self.residuals(x, &mut residuals);
        Ok(residuals)
    }
    fn residual_into(&self, x: &Vec<f64>, residuals: &mut Vec<f64>) -> Result<(), Infallible> {
        self.residuals(x, residuals);
        Ok(())
    }
}

impl<F: HasJacobian> Jacobian for Problem<'_, F> {
    type Jacobian = DenseMatrix<f64>;

    fn jacobian(&self, x: &Vec<f64>) -> Result<DenseMatrix<f64>, Infallible> {
        Ok(self.residual_and_jacobian(x)?.1)
    }
    fn residual_and_jacobian(&self, x: &Vec<f64>) -> Result<(Vec<f64>, DenseMatrix<f64>), Infallible> {
        let mut residuals = Vec::new();
        let jacobian = self.residuals_and_jacobian(x, &mut residuals, matrix);
        Ok((residuals, jacobian))
    }
}

/// Jacobians and Hessians lie in memory row by row.
fn matrix(view: ArrayView2<'_, f64>) -> DenseMatrix<f64> {
    let (rows, columns) = view.dim();
    DenseMatrix::from_row_slice(rows, columns, view.as_slice().expect("in one piece"))
}
