//! What does not run on dual numbers.

#![allow(dead_code)]

use ndarray::Array2;
use pullback::Float;
use pullback::prelude::*;

#[differentiable]
fn unmarked(x: f64) -> f64 {
    x * x
}

#[differentiable(dual)]
fn calls_what_is_not_marked(x: f64) -> f64 {
    unmarked(x) * x
}

#[differentiable(dual)]
fn takes_a_function(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    f(x) * x
}

#[differentiable(dual)]
fn of_two_floats<S: Float, T: Float>(_x: S, y: T) -> T {
    y * y
}

#[differentiable(dual)]
fn of_another_type<T: Float, A>(x: T, #[constant] _a: &[A]) -> T {
    x * x
}

#[differentiable(dual)]
fn with_a_generic_constant<T: Float>(x: &[T], #[constant] k: T, #[constant] table: &[T]) -> T {
    x[0] * k * table[0]
}

#[differentiable(dual)]
fn passes_a_closure(x: f64) -> f64 {
    pullback::solve::zero(|y| y * y - x, 0.0, 1.0, 1e-12)
}

#[differentiable(dual)]
fn potential(x: f64) -> f64 {
    x * x * x
}

#[differentiable(dual)]
fn takes_a_derivative(x: f64) -> f64 {
    potential::grad(x) * x
}

#[differentiable(dual)]
fn maps_by_a_name(a: &Array2<f64>) -> f64 {
    a.mapv(potential).sum()
}

#[differentiable(dual)]
fn takes_a_softmax<T: Float>(y: &mut Array2<T>, x: &Array2<T>) {
    pullback::nn::softmax(y, x, ndarray::Axis(1));
}

#[differentiable(dual)]
fn takes_a_softmax_of_constants(y: &mut Array2<f64>, #[constant] x: &Array2<f64>, k: f64) {
    y.fill(k);
    pullback::nn::generic::softmax(y, x, ndarray::Axis(1));
}

#[derive(Clone, Copy, Differentiable)]
struct OfFloats {
    mass: f64,
    speed: f64,
}

#[differentiable(dual)]
fn takes_a_struct_of_floats(body: &OfFloats) -> f64 {
    0.5 * body.mass * body.speed * body.speed
}

struct Model;

#[differentiable(dual)]
impl Model {
    fn energy(x: f64, #[constant] k: f64) -> f64 {
        k * x * x
    }
}

#[differentiable(dual)]
fn of_singles(x: &[f32], #[constant] k: f32) -> f32 {
    k * x[0]
}

#[differentiable(forward)]
fn with_another_option(x: f64) -> f64 {
    x * x
}

fn main() {
    unmarked::gradient().value_and_jacobian(1.0);
    unmarked::hessian();
}
