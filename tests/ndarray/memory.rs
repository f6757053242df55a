//! Nothing is allocated from the second call on, however many arrays the primal makes.

use ndarray::{Array1, Array2, Axis, array, concatenate, s};
use pullback::prelude::*;
use pullback::testing::{CountingAllocator, allocations_in};

use crate::networks::{matrix, vector};

/// ½‖tanh(A·x)‖², by rows.
#[differentiable]
fn recurrent(a: &Array2<f64>, x: &Array1<f64>, steps: usize) -> f64 {
    let mut h = x.clone();
    let mut total = 0.0;
    for _ in 0..steps {
        h = (a.dot(&h) + x).mapv(f64::tanh) * 0.5;
        let d = &h - x;
        total += d.dot(&d);
    }
    total
}

#[differentiable]
fn element_wise(a: &Array2<f64>, b: &Array1<f64>, s: f64) -> f64 {
    let x = (a + b) * s - a / (b * b + 1.0);
    let y = -&x + x.mapv(|v| v * v * s);
    let mut z = y.clone();
    z += b;
    z *= 2.0;
    z.mapv_inplace(|v| v.sin());
    (z * y).mean_axis(Axis(0)).unwrap().sum() + x.row(0).dot(b)
}

#[differentiable]
fn made(x: &Array1<f64>, s: f64) -> f64 {
    let mut h = Array2::zeros((2, x.len()));
    h.row_mut(0).assign(x);
    h.row_mut(1).fill(s);
    let both = concatenate![Axis(0), *x, array![s, s]];
    let flat = h.to_shape(2 * x.len()).unwrap().to_owned();
    both.sum() * flat.sum() + h.select(Axis(0), &[1, 0, 1]).sum()
}

#[differentiable]
fn product(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    a.dot(b).sum()
}

fn allocations(mut call: impl FnMut()) -> usize {
    call();
    allocations_in(call).1
}

#[test]
fn nothing_from_the_second_call_on() {
    let (a, x) = (matrix(4, 4, 0.1), vector(4, 0.3));
    let mut g = recurrent::gradient();
    assert_eq!(allocations(|| _ = g.value_and_gradient(&a, &x, 5)), 0);
    assert_eq!(allocations(|| _ = g.value_and_gradient(&a, &x, 3)), 0, "fewer steps");
    let mut g = element_wise::gradient();
    assert_eq!(allocations(|| _ = g.value_and_gradient(&a, &x, 0.7)), 0);
    let (small, y) = (matrix(2, 3, 0.1), vector(3, 0.3));
    assert_eq!(allocations(|| _ = g.value_and_gradient(&small, &y, 0.7)), 0, "smaller");
    let mut g = made::gradient();
    assert_eq!(allocations(|| _ = g.value_and_gradient(&x, 0.7)), 0);
    // Kernels that multiply two matrices pack them in memory of their own.
    let mut g = product::gradient();
    assert_eq!(allocations(|| _ = g.value_and_gradient(&a, &a)), 1);
}
