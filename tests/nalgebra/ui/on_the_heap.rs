use nalgebra::{DMatrix, DVector, Vector3};
use pullback::prelude::*;

fn made(x: &DVector<f64>) -> DVector<f64> {
    x.clone()
}

#[differentiable]
fn greatest(x: &DVector<f64>) -> f64 {
    x.max()
}

#[differentiable]
fn by_value(x: DVector<f64>) -> f64 {
    x[0]
}

#[differentiable]
fn behind_a_reference(a: &DMatrix<f64>, x: &mut DVector<f64>) {
    *x = a * &*x;
}

#[differentiable]
fn view(a: &DMatrix<f64>) -> f64 {
    a.column(0).norm()
}

#[differentiable]
fn of_both_kinds(a: &DMatrix<f64>, x: Vector3<f64>) -> f64 {
    let y = a * &x;
    y.norm()
}

#[differentiable]
fn in_an_arm(a: &DMatrix<f64>, x: &DVector<f64>, wide: bool) -> f64 {
    let y = if wide { a * x + x } else { a * x };
    y.norm()
}

fn main() {}
