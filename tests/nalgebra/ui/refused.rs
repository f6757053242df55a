use nalgebra::{DMatrix, DVector, Matrix3, Vector2, Vector3};
use pullback::prelude::*;

#[differentiable]
fn unknown_method(a: Matrix3<f64>) -> f64 {
    a.exp().norm()
}

#[differentiable]
fn mapped(v: &Vector3<f64>) -> f64 {
    v.map(|x| x.sin()).sum()
}

#[differentiable]
fn field_of_a_value(a: &Matrix3<f64>, v: Vector3<f64>) -> f64 {
    (a * v).x
}

#[differentiable]
fn cholesky(a: Matrix3<f64>) -> f64 {
    a.cholesky().unwrap().l().norm()
}

fn main() {}
