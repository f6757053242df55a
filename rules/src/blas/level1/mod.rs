//! Vectors.

pub(super) mod movement;
pub(super) mod reductions;
#[cfg(test)]
mod tests;
pub(super) mod updates;

use ndarray::ArrayRef1;

/// Panics unless two vectors are of one length.
#[inline]
#[track_caller]
fn assert_same_length<T>(function: &str, x: &ArrayRef1<T>, y: &ArrayRef1<T>) {
    if x.len() != y.len() {
        mismatch(function, x.len(), y.len());
    }
}

#[cold]
#[track_caller]
fn mismatch(function: &str, x: usize, y: usize) -> ! {
    panic!("{function}: x has length {x} but y has length {y}");
}
