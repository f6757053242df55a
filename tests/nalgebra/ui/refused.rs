use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use pullback::prelude::*;

#[differentiable]
fn field_of_a_value(a: &Matrix3<f64>, v: Vector3<f64>) -> f64 {
    (a * v).x
}

#[differentiable]
fn greatest(x: &DVector<f64>) -> f64 {
    x.max()
}

#[differentiable]
fn behind_a_reference(a: &DMatrix<f64>, x: &mut DVector<f64>) {
    *x = a * &*x;
}

#[differentiable]
fn next_to_a_write(a: &DMatrix<f64>, x: &mut DVector<f64>) -> f64 {
    changed(x) * (a * &*x).norm()
}

#[differentiable]
fn changed(x: &mut DVector<f64>) -> f64 {
    x[0] *= 2.0;
    x[0]
}

#[differentiable]
fn next_to_a_borrow(a: &DMatrix<f64>, mut s: f64, x: &DVector<f64>) -> f64 {
    std::mem::replace(&mut s, 1.0) * (a * x).norm() + s
}

fn main() {}
