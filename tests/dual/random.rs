//! Random vectors and matrices, always the same.

use ndarray::{Array1, Array2, ShapeBuilder};

pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number between -1 and 1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f64 / (1u64 << 23) as f64 - 1.0
    }

    pub(crate) fn vector(&mut self, len: usize) -> Array1<f64> {
        Array1::from_shape_simple_fn(len, || self.next())
    }

    pub(crate) fn matrix(&mut self, shape: (usize, usize), by_columns: bool) -> Array2<f64> {
        Array2::from_shape_simple_fn(shape.set_f(by_columns), || self.next())
    }
}
