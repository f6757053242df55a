use pullback::prelude::*;

#[differentiable]
fn advance(x: &mut f64, v: f64) -> f64 {
    *x += v;
    *x * v
}

#[differentiable]
fn total(x: &mut [f64]) -> f64 {
    x[0] *= x[0];
    x[0]
}

#[differentiable]
fn in_an_expression(x: f64, v: f64) -> f64 {
    let mut y = x;
    let both = v > 0.0 && advance(&mut y, v) > 1.0;
    if both { y } else { v }
}

#[differentiable]
fn in_a_condition(x: f64, v: f64) -> f64 {
    let mut y = x;
    while advance(&mut y, v) < 1.0 {
        y += v;
    }
    y
}

#[differentiable]
fn in_a_condition_by_name(x: &mut [f64], v: f64) -> f64 {
    while total(x) > v {
        x[0] *= 0.5;
    }
    x[0]
}

#[differentiable]
fn in_an_inner_block(x: f64) -> f64 {
    let mut y = x;
    y * {
        y = x * x;
        y
    }
}

#[differentiable]
fn in_an_index(x: &mut [f64], v: f64) -> f64 {
    let mut i = 0;
    x[i] = {
        i += 1;
        v * v
    };
    x[0]
}

#[differentiable]
fn in_an_assertion(x: f64, v: f64) -> f64 {
    let mut y = x;
    assert!(advance(&mut y, v) > 0.0, "went back to {y}");
    y * v
}

#[differentiable]
fn by_an_assignment_in_a_condition(x: f64) -> f64 {
    let mut y = x;
    if {
        y *= 2.0;
        y > 1.0
    } {
        y
    } else {
        x
    }
}

#[differentiable]
fn by_a_name_for_it(x: f64) -> f64 {
    let mut y = [x, 1.0];
    let r = &mut y[0];
    assert!({
        *r += 1.0;
        *r > 0.0
    });
    y[0] * x
}

#[differentiable]
fn by_a_method(x: &mut [f64]) -> f64 {
    let small = matches!({ x.sort_by(f64::total_cmp); x.first() }, Some(first) if *first < 0.0);
    if small { x[0] } else { x[1] }
}

#[differentiable]
fn in_a_macro_within_a_condition(x: f64, v: f64) -> f64 {
    let mut y = x;
    if matches!(advance(&mut y, v) as i32, 1 | 2) { y } else { v }
}

fn main() {}
