use pullback::prelude::*;

#[differentiable]
fn apply(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    f(x)
}

#[differentiable]
fn add(y: &[f64], dy: &mut [f64]) {
    dy[0] += y[0];
}

#[differentiable]
fn right_hand_side(f: impl Fn(&[f64], &mut [f64]), y: &[f64], dy: &mut [f64]) {
    f(y, dy);
}

fn plain(x: f64) -> f64 {
    x * x
}

#[differentiable]
fn of_a_plain_function(x: f64) -> f64 {
    apply(plain, x)
}

#[differentiable]
fn written_to_without_a_type(y: &[f64], dy: &mut [f64]) {
    right_hand_side(
        |y, dy| {
            add(y, dy);
            add(y, dy);
        },
        y,
        dy,
    );
}

#[differentiable]
fn first_order(x: f64, #[constant] f: fn(f64) -> f64) -> f64 {
    x * f(1.0)
}

#[differentiable]
fn given_to_a_constant(x: f64) -> f64 {
    first_order(x, |t| t)
}

fn main() {
    let mut g = apply::<plain>::gradient();
}
