use pullback::prelude::*;

#[differentiable]
fn swapped_references(x: &[f64], y: &mut [f64], z: &mut [f64]) -> f64 {
    let (mut current, mut next) = (&mut y[..], &mut z[..]);
    for i in 0..x.len() {
        next[0] = current[0] * x[i];
        std::mem::swap(&mut current, &mut next);
    }
    current[0]
}

#[differentiable]
fn one_of_two(x: &[f64], y: &[f64]) -> f64 {
    let mut chosen = x;
    if x[0] > y[0] {
        chosen = y;
    }
    chosen[0]
}

#[differentiable]
fn moving_on(x: &mut [f64]) -> f64 {
    let mut rest = x;
    rest[0] = 1.0;
    rest[0]
}

#[differentiable]
fn kept_option(x: &[f64]) -> f64 {
    let mut first = x.first();
    if x.len() > 1 {
        first = x.get(1);
    }
    *first.unwrap()
}

#[differentiable]
fn two_at_once(x: &mut [f64]) -> f64 {
    let (left, right) = x.split_at_mut(1);
    if left[0] > 0.0 && std::mem::replace(&mut right[0], left[0]) > 0.0 { left[0] } else { 1.0 }
}

#[differentiable]
fn in_a_format_string(x: &[f64]) -> f64 {
    let mut rest = x;
    let mut total = 0.0;
    while let [first, tail @ ..] = rest {
        println!("{}", format!("{rest:?}"));
        total += first;
        rest = tail;
    }
    total
}

fn main() {}
