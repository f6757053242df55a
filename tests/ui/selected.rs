//! Parts that functions of users' types select.

use std::ops::{Index, IndexMut};

use pullback::prelude::*;

#[derive(Differentiable)]
struct Unmarked {
    data: Vec<f64>,
}

impl Index<(usize, usize)> for Unmarked {
    type Output = f64;
    fn index(&self, at: (usize, usize)) -> &f64 {
        &self.data[at.0 + at.1]
    }
}

#[differentiable]
fn of_unmarked(m: &Unmarked) -> f64 {
    m[(0, 1)] * 2.0
}

#[derive(Differentiable)]
struct Half {
    data: Vec<f64>,
    changes: usize,
}

#[differentiable]
impl Index<usize> for Half {
    type Output = f64;
    fn index(&self, i: usize) -> &f64 {
        &self.data[i]
    }
}

impl IndexMut<usize> for Half {
    fn index_mut(&mut self, i: usize) -> &mut f64 {
        &mut self.data[i]
    }
}

#[differentiable]
fn writes_to_half(m: &mut Half, x: f64) -> f64 {
    m[0] = x;
    m[0] * x
}

#[derive(Differentiable)]
struct Refused {
    data: Vec<f64>,
    changes: usize,
}

#[differentiable]
impl Index<usize> for Refused {
    type Output = f64;
    fn index(&self, i: usize) -> &f64 {
        self.data.iter().skip(i).next().unwrap()
    }
}

#[differentiable]
impl IndexMut<usize> for Refused {
    fn index_mut(&mut self, i: usize) -> &mut f64 {
        self.changes += 1;
        &mut self.data[i]
    }
}

#[derive(Differentiable)]
struct Rows {
    data: Vec<f64>,
    cols: usize,
}

#[differentiable]
impl Rows {
    fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }
}

#[differentiable]
fn of_rows(m: &Rows) -> f64 {
    let r = m.row(1);
    r[0]
}

#[derive(Clone, Copy, Differentiable)]
struct Complex {
    re: f64,
    im: f64,
}

impl std::ops::Mul for Complex {
    type Output = Complex;
    fn mul(self, other: Complex) -> Complex {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

#[derive(Differentiable)]
struct Phases {
    entries: Vec<Complex>,
}

#[differentiable]
impl Index<(usize, usize)> for Phases {
    type Output = Complex;
    fn index(&self, at: (usize, usize)) -> &Complex {
        &self.entries[at.0 + at.1]
    }
}

#[differentiable]
fn of_phases(p: &Phases) -> f64 {
    let product = p[(0, 0)] * p[(0, 1)];
    product.re
}

fn main() {}
