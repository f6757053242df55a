//! Operators of users' types.

use std::ops::Add;

use pullback::prelude::*;

#[derive(Differentiable, Clone, Copy)]
struct Complex {
    re: f64,
    im: f64,
}

#[differentiable]
impl Add<f64> for Complex {
    type Output = Complex;
    fn add(self, x: f64) -> Complex {
        Complex { re: 2.0 * self.re + x, im: self.im }
    }
}

#[differentiable]
impl Add<&Complex> for &Complex {
    type Output = Complex;
    fn add(self, other: &Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

#[differentiable]
fn turned(z: Complex) -> Complex {
    Complex { re: z.im, im: z.re }
}

#[differentiable]
fn of_an_unknown_type(z: Complex) -> f64 {
    let w = turned(turned(z) + 1.0);
    w.re
}

fn main() {}
