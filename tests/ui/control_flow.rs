use pullback::prelude::*;

#[differentiable]
fn early_return(x: f64) -> f64 {
    if x > 1.0 {
        return x;
    }
    x * x
}

#[differentiable]
fn breaks(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        if x[i] > 1.0 {
            break;
        }
        if x[i] < 0.0 {
            continue;
        }
        total += x[i];
    }
    total
}

#[differentiable]
fn tries(x: f64) -> f64 {
    let y = Some(x)?;
    y * y
}

#[differentiable]
fn matches(x: f64, n: usize) -> f64 {
    match n {
        0 => x,
        _ => x * x,
    }
}

#[differentiable]
fn loops(x: f64) -> f64 {
    let mut y = x;
    loop {
        y *= x;
        if y > 9.0 {
            break;
        }
    }
    y
}

#[differentiable]
fn if_lets(x: f64, y: f64) -> f64 {
    if let 1 = 1 { x * y } else { y }
}

#[differentiable]
fn while_lets(x: f64) -> f64 {
    let mut y = x;
    let mut n = Some(3);
    while let Some(m) = n {
        y *= x;
        n = if m > 0 { Some(m - 1) } else { None };
    }
    y
}

#[differentiable]
fn let_elses(x: f64) -> f64 {
    let Some(n) = Some(1.0) else { panic!() };
    x * n
}

fn main() {}
