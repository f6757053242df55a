//! Vectors and matrices of nalgebra, number by number.

use nalgebra::{Dim, IsContiguous, Matrix, RawStorageMut, SMatrix, VecStorage};

use super::coordinates::{Coordinate, Coordinates};

impl<T: Coordinates, const R: usize, const C: usize> Coordinates for SMatrix<T, R, C> {
    fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        self.data.0.visit(visitor);
    }
}

impl<T: Coordinates, R: Dim, C: Dim> Coordinates for Matrix<T, R, C, VecStorage<T, R, C>>
where
    VecStorage<T, R, C>: RawStorageMut<T, R, C> + IsContiguous,
{
    fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        self.as_mut_slice().visit(visitor);
        visitor(Coordinate::Discrete(self.nrows() as u128));
        visitor(Coordinate::Discrete(self.ncols() as u128));
    }
}
