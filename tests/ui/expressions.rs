use pullback::prelude::*;

#[differentiable]
fn value_of_a_macro(x: f64) -> f64 {
    let y = dbg!(x);
    y * x
}

#[differentiable]
fn unsafe_block(x: &[f64]) -> f64 {
    let y = unsafe { *x.get_unchecked(0) };
    y * y
}

#[differentiable]
fn through_a_temporary(x: f64, y: f64) -> f64 {
    let (mut a, mut b) = (x, y);
    *[&mut a, &mut b][0] = x;
    a * b
}

fn main() {}
