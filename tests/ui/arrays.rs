//! What is not to be had of whole arrays.

use ndarray::{Array1, Array2, Array3, Axis};
use pullback::prelude::*;

#[differentiable]
fn product(w: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
    w.dot(x)
}

/// What `dot` yields depends on the dimensions of `h`.
#[differentiable]
fn dimensions(w: &Array2<f64>, x: &Array1<f64>) -> f64 {
    let h = product(w, x);
    x.dot(&h)
}

#[differentiable]
fn replaced(x: &mut Array1<f64>) -> f64 {
    *x = &*x * 2.0;
    x.sum()
}

#[differentiable]
fn differences(x: &Array1<f64>) -> f64 {
    x.diff(1, Axis(0)).sum()
}

/// In which layout the results are depends on the array.
#[differentiable]
fn lanes(x: &Array3<f64>) -> f64 {
    x.map_axis(Axis(0), |lane| lane.sum()).sum()
}

#[differentiable]
fn more_dimensions(x: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let mut z = y.clone();
    z.zip_mut_with(x, |z, x| *z += x);
    z.sum()
}

fn main() {}
