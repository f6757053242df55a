use pullback::prelude::*;

#[differentiable]
fn behind_a_reference(x: &mut Vec<Vec<f64>>, y: f64) -> f64 {
    let row = x.pop().unwrap();
    row[0] * y
}

#[differentiable]
fn within_an_expression(x: f64) -> f64 {
    vec![x, 1.0][0]
}

#[differentiable]
fn moved_into_a_tuple(x: f64) -> f64 {
    let a = vec![x, 1.0];
    let pair = (a, x);
    pair.1
}

#[differentiable]
fn pop_in_a_condition(x: f64) -> f64 {
    let mut stack = vec![x, x];
    while stack.len() > 1 && stack.pop().unwrap() > 1.0 {}
    stack[0]
}

#[differentiable]
fn open_range(x: &mut [f64]) -> f64 {
    x.copy_within(1.., 0);
    x[0]
}

#[differentiable]
fn resized_rows(x: f64) -> f64 {
    let mut rows = vec![vec![x], vec![x * x]];
    rows.resize(4, vec![x]);
    rows[3][0]
}

#[differentiable]
fn by_closure(x: &[f64], k: f64) -> f64 {
    let mut v = vec![k];
    v.extend(x.iter().map(|a| a * k).peekable());
    v[1]
}

#[differentiable]
fn drains_rows(x: &[f64]) -> f64 {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    rows.push(x.to_vec());
    let mut total = 0.0;
    for row in rows.drain(..) {
        total += row[0];
    }
    total
}

#[differentiable]
fn drains_and_goes_elsewhere(x: &[f64]) -> f64 {
    let mut total = 0.0;
    let mut v = x.to_vec();
    'outer: for i in 0..3 {
        for a in v.drain(..) {
            if a > 1.0 {
                continue 'outer;
            }
            total += a * i as f64;
        }
    }
    total
}

#[differentiable]
fn retains_by_count(x: &[f64]) -> f64 {
    let (mut v, mut i) = (x.to_vec(), 0);
    v.retain(|_| {
        i += 1;
        i % 2 == 0
    });
    v[0]
}

#[differentiable]
fn renames_an_option(x: &[f64]) -> Option<Vec<f64>> {
    let mut best: Option<Vec<f64>> = None;
    if x[0] > 0.0 {
        best = Some(x.to_vec());
    }
    let other = best;
    other
}

#[derive(Differentiable)]
struct Correction {
    step: Vec<f64>,
    weight: f64,
}

#[differentiable]
fn looks_at_a_struct_that_it_takes_out(x: &[f64]) -> f64 {
    let mut history: Vec<Correction> = Vec::new();
    history.push(Correction { step: x.to_vec(), weight: x[0] });
    let oldest = history.remove(0);
    oldest.weight
}

fn main() {}
