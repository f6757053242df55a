use pullback::prelude::*;

#[differentiable]
fn apply(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    f(x)
}

#[differentiable]
fn right_hand_side(f: impl Fn(&[f64], &mut [f64]), y: &[f64], dy: &mut [f64]) {
    f(y, dy);
}

#[differentiable]
fn takes_a_pointer(f: fn(f64) -> f64, x: f64) -> f64 {
    f(x)
}

#[differentiable]
fn takes_a_box(f: Box<dyn Fn(f64) -> f64>, x: f64) -> f64 {
    f(x)
}

#[differentiable]
fn of_one_type<F: Fn(f64) -> f64>(f: F, g: F, x: f64) -> f64 {
    f(g(x))
}

#[differentiable]
fn returns_a_closure(k: f64) -> impl Fn(f64) -> f64 {
    move |x| k * x
}

#[differentiable]
fn returns_a_reference(f: impl Fn(&[f64]) -> &[f64], x: &[f64]) -> f64 {
    f(x)[0]
}

#[differentiable]
fn changes_what_it_captures(x: f64) -> f64 {
    let mut count = x;
    let y = apply(
        |t| {
            count += t;
            count
        },
        x,
    );
    y * count
}

#[differentiable]
fn passes_a_vector_out(x: f64) -> f64 {
    total(|t| vec![t, x], x)
}

#[differentiable]
fn total(f: impl Fn(f64) -> Vec<f64>, x: f64) -> f64 {
    f(x)[0]
}

#[differentiable]
fn from_checkpoints(f: impl Fn(f64) -> f64, x: f64, n: usize) -> f64 {
    let mut x = x;
    #[pullback(checkpoint = 10)]
    for _ in 0..n {
        x = f(x) * x;
    }
    x
}

scalar_rule!(fn one_line(f: impl Fn(f64) -> f64, x: f64) -> f64 => 1.0);

fn main() {}
