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

fn main() {}
