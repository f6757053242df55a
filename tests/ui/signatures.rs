use std::collections::HashMap;

use pullback::prelude::*;

#[differentiable]
async fn asynchronous(x: f64) -> f64 {
    x
}

#[differentiable]
unsafe fn not_safe(x: f64) -> f64 {
    x
}

#[differentiable]
fn impl_trait(x: f64, f: impl Iterator<Item = usize>) -> f64 {
    x
}

#[differentiable]
fn references((x, y): (&[f64], &[f64])) -> f64 {
    x[0] * y[0]
}

#[differentiable]
fn returns_a_reference(x: &[f64]) -> &f64 {
    &x[0]
}

#[differentiable(fast)]
fn arguments(x: f64) -> f64 {
    x
}

#[differentiable]
struct NotAFunction;

trait Potential {
    fn energy(&self, r: f64) -> f64;
}

#[differentiable]
fn elements_of_any_type<P: Potential>(potentials: &[P], r: f64) -> f64 {
    potentials.iter().map(|p| p.energy(r)).sum()
}

struct Model(f64);

impl Model {
    #[differentiable]
    fn method(&self, x: f64) -> f64 {
        self.0 * x
    }
}

#[differentiable]
fn optional_slice(w: &[f64], bias: Option<&mut [f64]>) -> f64 {
    w[0] + bias.map_or(0.0, |bias| bias[0])
}

#[differentiable]
fn chosen_option(w: &[f64], bias: Option<&[f64]>) -> f64 {
    let chosen = if w[0] > 0.0 { bias } else { None };
    chosen.map_or(0.0, |bias| bias[0])
}

fn main() {
    let _ = HashMap::<u8, u8>::new();
}
