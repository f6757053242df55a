use pullback::prelude::*;

#[differentiable]
fn leaves_an_index(x: &mut [f64], i: Option<usize>) -> Option<f64> {
    x[i?] = 1.0;
    Some(x[0])
}

#[differentiable]
fn leaves_nothing(x: f64) -> f64 {
    'a: {
        break 'b;
    }
    x
}

#[differentiable]
fn errors(x: f64) -> Result<f64, f64> {
    if x > 1.0 {
        return Err(x);
    }
    Ok(x * x)
}

type Triple = (f64, f64, f64);

#[differentiable]
fn behind_a_gap(x: Triple) -> f64 {
    let (.., last) = x;
    last * last
}

#[differentiable]
fn in_a_guard(x: f64, n: Option<f64>) -> f64 {
    match x {
        y if let Some(z) = n => y * z,
        y => y,
    }
}

#[differentiable]
fn vector_of_a_branch(x: f64) -> f64 {
    let v = if x > 1.0 { vec![x] } else { return x };
    v[0] * x
}

#[differentiable]
fn made_on_the_way(x: &[f64], k: f64) -> f64 {
    let mut first: Option<f64> = None;
    let mut sum = 0.0;
    for v in x {
        sum += *first.get_or_insert(*v * k);
    }
    sum
}

fn main() {}
