//! Exponentials of rows of numbers, in vectors.

use super::dispatch::{self, Task};
use super::math::Real;

/// How many numbers are taken at a time, for their maxima and sums not to wait for each other.
const LANES: usize = 16;

/// What softmax does to a row.
pub trait Exponentials: Sized {
    /// The largest number in `row`, or `start`, if that is larger.
    fn largest(row: &[Self], start: Self) -> Self;
    /// *xⱼ ← exp(xⱼ − a)*. Returns their sum.
    fn exponentials(row: &mut [Self], a: Self) -> Self;
}

impl<T: Real> Exponentials for T {
    fn largest(row: &[T], start: T) -> T {
        let mut largest = start;
        dispatch::run::<T>(Largest { row, largest: &mut largest });
        largest
    }

    fn exponentials(row: &mut [T], a: T) -> T {
        let mut sum = T::of(0.0);
        dispatch::run::<T>(Shifted { row, a, sum: &mut sum });
        sum
    }
}

struct Largest<'a, T> {
    row: &'a [T],
    largest: &'a mut T,
}

impl<T: Real> Task for Largest<'_, T> {
    #[inline(always)]
    fn run(self) {
        let mut lanes = [*self.largest; LANES];
        let (chunks, rest) = self.row.as_chunks::<LANES>();
        for chunk in chunks {
            for (lane, &x) in lanes.iter_mut().zip(chunk) {
                *lane = Real::max(*lane, x);
            }
        }
        for (lane, &x) in lanes.iter_mut().zip(rest) {
            *lane = Real::max(*lane, x);
        }
        *self.largest = lanes.into_iter().fold(*self.largest, Real::max);
    }
}

struct Shifted<'a, T> {
    row: &'a mut [T],
    a: T,
    sum: &'a mut T,
}

impl<T: Real> Task for Shifted<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Shifted { row, a, sum } = self;
        let mut lanes = [T::of(0.0); LANES];
        let (chunks, rest) = row.as_chunks_mut::<LANES>();
        for chunk in chunks {
            for (lane, x) in lanes.iter_mut().zip(chunk) {
                *x = Real::exp(*x - a);
                *lane += *x;
            }
        }
        for (lane, x) in lanes.iter_mut().zip(rest) {
            *x = Real::exp(*x - a);
            *lane += *x;
        }
        *sum = lanes.into_iter().fold(T::of(0.0), |sum, lane| sum + lane);
    }
}
