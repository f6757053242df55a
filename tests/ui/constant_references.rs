use pullback::prelude::*;

#[differentiable]
fn kept(x: f64, #[constant] room: &mut [f64]) -> f64 {
    room[0] = x * x;
    room[0]
}

#[differentiable]
fn by_another_name(x: &[f64], #[constant] room: &mut [f64]) -> f64 {
    for (r, x) in room.iter_mut().zip(x) {
        *r += *x;
    }
    room[0]
}

fn main() {}
