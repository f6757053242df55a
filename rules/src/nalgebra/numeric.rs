//! Methods of matrices whose names are those of numbers: derived code calls `abs_pullback` and the like, as for numbers.

use nalgebra::SMatrix;

use super::Entry;

/// The pullbacks of methods of a matrix with entries of type `T`.
pub trait NumericRules<T>: Sized {
    /// *yᵢⱼ = |aᵢⱼ|*; zero for zero, as for numbers.
    fn abs_pullback(self, y: impl FnOnce() -> Self, d: Self) -> Self;
    /// The greatest entry, the first one of equals: that one alone has the gradient.
    fn max_pullback(self, y: impl FnOnce() -> T, d: T) -> Self;
    /// Likewise the least one.
    fn min_pullback(self, y: impl FnOnce() -> T, d: T) -> Self;
}

impl<T: Entry, const R: usize, const C: usize> NumericRules<T> for SMatrix<T, R, C> {
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
    #[inline]
    fn max_pullback(self, y: impl FnOnce() -> T, d: T) -> Self {
        at_first(&self, y(), d)
    }
    #[inline]
    fn min_pullback(self, y: impl FnOnce() -> T, d: T) -> Self {
        at_first(&self, y(), d)
    }
}

/// `d` where `a` is `y` first, and zeros.
fn at_first<T: Entry, const R: usize, const C: usize>(a: &SMatrix<T, R, C>, y: T, d: T) -> SMatrix<T, R, C> {
    let mut gradient = SMatrix::zeros();
    if let Some(k) = a.iter().position(|&a| a == y) {
        gradient[k] = d;
    }
    gradient
}
