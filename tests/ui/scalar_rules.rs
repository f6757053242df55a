use pullback::Float;
use pullback::prelude::*;

fn power(x: f64, y: f64) -> f64 {
    x.powf(y)
}
scalar_rule!(fn power(x: f64, y: f64) -> f64 = p => y * p / x);

fn norm(x: &[f64]) -> f64 {
    x[0].abs()
}
scalar_rule!(fn norm(x: &[f64]) -> f64 => 1.0);

fn clear(x: &mut [f64]) {
    x.fill(0.0);
}
non_differentiable!(fn clear(x: &mut [f64]));

fn mixed<T: Float, U: Float>(x: T, y: U) -> T {
    x * T::from_f64(y.to_f64())
}
scalar_rule!(fn mixed<T: Float, U: Float>(x: T, y: U) -> T => y, x);

fn wrapped<T: Clone>(x: f64, _y: T) -> f64 {
    x
}
scalar_rule!(fn wrapped<T: Clone>(x: f64, #[constant] _y: T) -> f64 => 1.0);

fn largest<T: Float>(_x: T) -> usize {
    0
}
non_differentiable!(fn largest<T: Float>(x: T) -> usize);

fn main() {}
