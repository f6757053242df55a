//! What a call has returned goes into structs in several branches, and nothing tells that it owns memory.

use pullback::prelude::*;

#[derive(Clone, Differentiable)]
struct Item {
    mass: f64,
    v: Vec<f64>,
}

#[differentiable]
fn ramp(n: usize, slope: f64) -> Vec<f64> {
    (0..n).map(|i| slope * i as f64).collect()
}

#[differentiable]
fn item(n: usize, mass: f64) -> Item {
    let v = ramp(n, mass);
    if n > 2 { Item { mass: 2.0 * mass, v } } else { Item { mass, v } }
}

fn main() {}
