//! Vectors and matrices of nalgebra, number by number.

use nalgebra::{Const, Dim, Dyn, Matrix, RawStorageMut, SMatrix};

use super::coordinates::{Coordinate, Coordinates};

impl<T: Coordinates, const R: usize, const C: usize> Coordinates for SMatrix<T, R, C> {
    fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        self.data.0.visit(visitor);
    }
}
