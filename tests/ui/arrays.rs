//! What is not to be had of whole arrays.

use ndarray::{Array, Array1, Array2, Array3, ArrayD, ArrayView, ArrayView1, ArrayViewMut2, Axis, IxDyn, Zip, s};
use pullback::prelude::*;

#[differentiable]
fn product(w: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
    w.dot(x)
}

/// Nothing tells how many indices `h` has.
#[differentiable]
fn dimensions(w: &Array2<f64>, x: &Array1<f64>) -> f64 {
    let mut h = product(w, x);
    Zip::from(&mut h).for_each(|h| *h *= 2.0);
    x.dot(&h)
}

#[differentiable]
fn differences(x: &Array1<f64>) -> f64 {
    x.diff(1, Axis(0)).sum()
}

#[differentiable]
fn more_dimensions(x: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let mut z = y.clone();
    z.zip_mut_with(x, |z, x| *z += x);
    z.sum()
}

#[differentiable]
fn growing(x: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let mut z = x.clone();
    z.push_row(y.view()).unwrap();
    z.sum()
}

#[differentiable]
fn split(x: &Array2<f64>) -> f64 {
    let (a, b) = x.view().split_at(Axis(0), 1);
    a.sum() * b.sum()
}

#[differentiable]
fn several_slices(x: &mut Array2<f64>) -> f64 {
    let (mut a, b) = x.multi_slice_mut((s![0, ..], s![1, ..]));
    a *= &b;
    x.sum()
}

#[differentiable]
fn swapped_axes(x: &Array2<f64>) -> f64 {
    let mut y = x.clone();
    y.swap_axes(0, 1);
    y[[1, 0]]
}

#[differentiable]
fn as_memory(x: &Array1<f64>) -> f64 {
    let y = x.as_slice().unwrap();
    y[0] * y[1]
}

#[differentiable]
fn windows_of_cubes(x: &Array3<f64>) -> f64 {
    let mut total = 0.0;
    for lane in x.lanes(Axis(0)) {
        total += lane.sum();
    }
    total
}

#[differentiable]
fn view_of_any_dimension(x: ArrayView<f64, IxDyn>) -> f64 {
    x.sum()
}

#[differentiable]
fn view_to_write_to(x: &mut ArrayViewMut2<f64>) -> f64 {
    x.sum()
}

#[differentiable]
fn constant_view(#[constant] x: &ArrayView1<f64>, k: f64) -> f64 {
    x.sum() * k
}

#[differentiable]
fn any_dimensions(x: &ArrayD<f64>, _: &Array<f64, IxDyn>) -> f64 {
    x.sum()
}

fn main() {}
