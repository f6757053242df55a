//! Methods of matrices whose names are those of numbers: derived code calls `abs_pullback`, as for numbers.

use nalgebra::SMatrix;

use super::Entry;

/// The pullbacks of methods of a matrix.
pub trait NumericRules: Sized {
    /// *yᵢⱼ = |aᵢⱼ|*; zero for zero, as for numbers.
    fn abs_pullback(self, y: impl FnOnce() -> Self, d: Self) -> Self;
}

impl<T: Entry, const R: usize, const C: usize> NumericRules for SMatrix<T, R, C> {
    #[inline]
    fn abs_pullback(self, _: impl FnOnce() -> Self, d: Self) -> Self {
        let zero = nalgebra::zero::<T>();
        self.zip_map(&d, |a, d| {
            if a > zero {
                d
            } else if a < zero {
                -d
            } else {
                zero * d
            }
        })
    }
}
