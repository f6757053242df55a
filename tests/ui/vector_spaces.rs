//! Type parameters for numbers and plain data whose operators an unmarked trait names: these have no rules.

use std::ops::{Add, Mul};

use pullback::prelude::*;

trait Space: Copy + Add<Output = Self> + Mul<f64, Output = Self> {}
impl<T: Copy + Add<Output = T> + Mul<f64, Output = T>> Space for T {}

#[differentiable]
fn lerp<S: Space>(a: S, b: S, t: f64) -> S {
    a * (1.0 - t) + b * t
}

fn main() {}
