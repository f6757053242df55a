//! Operators that are marked twice.

use std::ops::Add;

use pullback::prelude::*;

#[derive(Differentiable, Clone, Copy)]
struct Complex {
    re: f64,
    im: f64,
}

#[differentiable]
impl Add for Complex {
    type Output = Complex;
    fn add(self, other: Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

#[differentiable]
impl Add<&Complex> for &Complex {
    type Output = Complex;
    fn add(self, other: &Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

fn main() {}
