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

fn main() {}
