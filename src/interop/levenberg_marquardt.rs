//! What levenberg-marquardt asks for.

use levenberg_marquardt::LeastSquaresProblem;
use nalgebra_0_34::{DMatrix, DVector, Dyn, VecStorage};

use super::nalgebra::matrix;
use super::{HasJacobian, Problem};

impl<F: HasJacobian> LeastSquaresProblem<f64, Dyn, Dyn> for Problem<'_, F> {
    type ResidualStorage = VecStorage<f64, Dyn, nalgebra_0_34::U1>;
    type JacobianStorage = VecStorage<f64, Dyn, Dyn>;
    type ParameterStorage = VecStorage<f64, Dyn, nalgebra_0_34::U1>;

    fn set_params(&mut self, x: &DVector<f64>) {
        self.move_to(x.as_slice());
    }

    fn params(&self) -> DVector<f64> {
        DVector::from_column_slice(self.point())
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        let mut residuals = Vec::new();
        Problem::residuals(self, self.point(), &mut residuals);
        Some(DVector::from_vec(residuals))
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        Some(self.residuals_and_jacobian(self.point(), &mut Vec::new(), matrix))
    }
}
