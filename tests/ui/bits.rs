use pullback::prelude::*;

#[differentiable]
fn halved(x: f64) -> f64 {
    f64::from_bits(x.to_bits() - (1 << 52)) * x
}

#[differentiable]
fn under_a_name(x: f64) -> f64 {
    let twice = 2.0 * x;
    let bits = twice.to_bits();
    f64::from_bits(bits | 1) * x
}

#[differentiable]
fn of_a_seed(x: f64, seed: u64) -> f64 {
    (f64::from_bits(0x3ff0_0000_0000_0000 | seed >> 12) - 1.0) * x
}

fn main() {}
