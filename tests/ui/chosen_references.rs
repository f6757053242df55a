//! `&mut` references that are not bound to one place.

use pullback::prelude::*;

#[differentiable]
fn later(x: f64, y: f64) -> f64 {
    let mut a = x;
    let r;
    r = &mut a;
    *r *= 3.0;
    a * y
}

#[differentiable]
fn out_of_a_loop(x: f64, y: f64) -> f64 {
    let mut a = x;
    let r = loop {
        break &mut a;
    };
    *r *= 3.0;
    a * y
}

#[differentiable]
fn in_a_tuple(x: f64, y: f64) -> f64 {
    let mut a = x;
    let mut both = (&mut a, y);
    *both.0 *= 3.0;
    a * y
}

#[differentiable]
fn in_an_array(x: f64, y: f64) -> f64 {
    let mut a = x;
    let all = [&mut a];
    *all[0] *= 3.0;
    a * y
}

#[differentiable]
fn out_of_a_block(x: f64, y: f64) -> f64 {
    let mut a = x;
    let r = {
        let t = &mut a;
        t
    };
    *r *= y;
    a * y
}

#[differentiable]
fn moved_in_constant_code(x: &[f64]) -> f64 {
    let (mut left, mut right) = ([0.5, 0.2], [0.1, 0.3]);
    let mut p = &mut left;
    for i in 0..2 {
        if i == 1 {
            p = &mut right;
        }
    }
    p[0] = 0.7;
    x[0] * x[1] * p[0]
}

#[differentiable]
fn moved_beside_another_of_that_name(x: &[f64]) -> f64 {
    let (mut left, mut right) = ([0.5, 0.2], [0.1, 0.3]);
    let mut p = &mut left;
    for i in 0..2 {
        if i == 1 {
            p = &mut right;
        }
        let p = 3;
        assert!(p > i);
    }
    p[0] = 0.7;
    x[0] * x[1] * p[0]
}

#[differentiable]
fn moved_in_a_tuple(x: &[f64]) -> f64 {
    let (mut left, mut right) = ([0.5, 0.2], [0.1, 0.3]);
    let mut p = &mut left;
    let mut count = 0;
    while count < 2 {
        (count, p) = (count + 1, &mut right);
    }
    p[0] = 0.7;
    x[0] * x[1] * p[0]
}

fn main() {}
