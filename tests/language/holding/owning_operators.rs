//! Operators of types that own memory: of values, of references, and of both, as users write them.

use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub};

use pullback::prelude::*;
use pullback::testing::check_rule;

/// A matrix row by row.
#[derive(Clone, Debug, Differentiable)]
struct Matrix {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

#[derive(Clone, Debug, Differentiable)]
struct Vector {
    x: Vec<f64>,
}

#[differentiable]
impl Matrix {
    fn new(rows: usize, cols: usize, data: &[f64]) -> Self {
        Matrix { rows, cols, data: data.to_vec() }
    }
    fn transpose(&self) -> Matrix {
        let mut data = vec![0.0; self.data.len()];
        for i in 0..self.rows {
            for j in 0..self.cols {
                data[j * self.rows + i] = self.data[i * self.cols + j];
            }
        }
        Matrix { rows: self.cols, cols: self.rows, data }
    }
    fn trace(&self) -> f64 {
        (0..self.rows).map(|i| self.data[i * self.cols + i]).sum()
    }
}

#[differentiable]
impl Mul<&Matrix> for &Matrix {
    type Output = Matrix;
    fn mul(self, o: &Matrix) -> Matrix {
        let mut data = vec![0.0; self.rows * o.cols];
        for i in 0..self.rows {
            for j in 0..o.cols {
                for k in 0..self.cols {
                    data[i * o.cols + j] += self.data[i * self.cols + k] * o.data[k * o.cols + j];
                }
            }
        }
        Matrix { rows: self.rows, cols: o.cols, data }
    }
}

#[differentiable]
impl<'a> Mul<&'a Vector> for &'a Matrix {
    type Output = Vector;
    fn mul(self, v: &'a Vector) -> Self::Output {
        let x = (0..self.rows)
            .map(|i| (0..self.cols).map(|j| self.data[i * self.cols + j] * v.x[j]).sum())
            .collect();
        Vector { x }
    }
}

/// In the memory of the left operand.
#[differentiable]
impl Add for Matrix {
    type Output = Matrix;
    fn add(#[pullback(by_reference)] mut self, o: Matrix) -> Matrix {
        for (a, b) in self.data.iter_mut().zip(&o.data) {
            *a += b;
        }
        self
    }
}

#[differentiable]
impl Sub for &Vector {
    type Output = Vector;
    fn sub(self, o: &Vector) -> Vector {
        Vector { x: self.x.iter().zip(&o.x).map(|(a, b)| a - b).collect() }
    }
}

/// The inner product.
#[differentiable]
impl Mul for &Vector {
    type Output = f64;
    fn mul(self, o: &Vector) -> f64 {
        self.x.iter().zip(&o.x).map(|(a, b)| a * b).sum()
    }
}

#[differentiable]
impl Mul<f64> for &Vector {
    type Output = Vector;
    fn mul(self, k: f64) -> Vector {
        Vector { x: self.x.iter().map(|x| x * k).collect() }
    }
}

#[differentiable]
impl Mul<&Vector> for f64 {
    type Output = Vector;
    fn mul(self, v: &Vector) -> Vector {
        Vector { x: v.x.iter().map(|x| self * x).collect() }
    }
}

#[differentiable]
impl Neg for Vector {
    type Output = Vector;
    fn neg(self) -> Vector {
        Vector { x: self.x.iter().map(|x| -x).collect() }
    }
}

#[differentiable]
impl AddAssign<&Vector> for Vector {
    fn add_assign(&mut self, o: &Vector) {
        for (a, b) in self.x.iter_mut().zip(&o.x) {
            *a += b;
        }
    }
}

/// In place of `v = v * k`, as the marked field tells.
#[differentiable]
impl MulAssign<&Matrix> for Vector {
    fn mul_assign(&mut self, m: &Matrix) {
        self.x = (0..m.rows).map(|i| (0..m.cols).map(|j| m.data[i * m.cols + j] * self.x[j]).sum()).collect();
    }
}

#[differentiable]
fn moved_on(v: &mut Vector, by: &Vector, k: f64) {
    *v += by;
    *v += &(by * k);
}

#[derive(Clone, Debug, Differentiable)]
#[pullback(by_reference)]
struct Body {
    place: Vector,
    speed: Vector,
}

#[differentiable]
fn falling(x: &[f64], k: f64) -> f64 {
    let g = Vector { x: x.to_vec() };
    let mut body = Body { place: g.clone(), speed: Vector { x: vec![k; x.len()] } };
    for _ in 0..3 {
        body.place += &(&body.speed * k);
        body.speed += &g;
        moved_on(&mut body.speed, &g, k);
    }
    let mut v = body.speed.clone();
    v += &body.place;
    &v * &v
}

#[differentiable]
fn turned(a: &[f64], k: f64) -> f64 {
    let m = Matrix::new(2, 2, a);
    let mut v = Vector { x: vec![k, a[0]] };
    for _ in 0..2 {
        v *= &m;
    }
    v.x[0] * v.x[1]
}

#[differentiable]
fn square(a: &[f64]) -> f64 {
    let m = Matrix { rows: 2, cols: 2, data: a.to_vec() };
    let p = &m * &m;
    p.data[0] + p.data[3] * p.data[1]
}

#[differentiable]
fn nested(a: &[f64], k: f64) -> f64 {
    let m = Matrix::new(2, 2, a);
    let gram = &(&m * &m.transpose()) * &m;
    let v = Vector { x: vec![k, a[0]] };
    let w = &(&gram * &v) - &(&v * (2.0 * k));
    let u = -(k * &w);
    (&u * &w) * k + gram.trace()
}

#[differentiable]
fn by_value(a: &[f64], k: f64) -> f64 {
    #[pullback(by_reference)]
    let m: Matrix = Matrix::new(2, 2, a);
    let mut n = m.transpose();
    n.data[1] *= k;
    let sum = m + n;
    let twice = sum.clone() + sum;
    twice.data[1] * twice.data[2]
}

#[differentiable]
fn quadratic(m: &Matrix, x: &Vector, b: &Vector) -> f64 {
    let r = &(m * x) - b;
    0.5 * (&r * &r) + x * b
}

/// The power method.
#[differentiable]
fn dominant(m: &Matrix, start: &Vector) -> f64 {
    let mut v = start.clone();
    for _ in 0..3 {
        let w = m * &v;
        let norm = (&w * &w).sqrt();
        v = &w * (1.0 / norm);
    }
    &v * &(m * &v)
}

#[test]
fn operators() {
    check_rule(square::rule, [(vec![0.5, 0.7, 0.9, 1.1],), (vec![0.4, 0.2, 0.1, 0.3],)]);
    let inputs = || [(vec![0.5, 0.7, 0.9, 1.1], 0.4), (vec![0.4, 0.2, 0.1, 0.3], 0.7)];
    check_rule(nested::rule, inputs());
    check_rule(by_value::rule, inputs());
    check_rule(turned::rule, inputs());
    check_rule(falling::rule, [(vec![0.5, 0.7, 0.9], 0.4), (vec![0.3, 0.1], 0.2)]);
    let matrix = |data: &[f64], n| Matrix { rows: n, cols: n, data: data.to_vec() };
    let vector = |x: &[f64]| Vector { x: x.to_vec() };
    check_rule(
        quadratic::rule,
        [
            (matrix(&[0.5, 0.7, 0.9, 1.1], 2), vector(&[0.3, 0.4]), vector(&[0.2, 0.9])),
            (matrix(&[0.5], 1), vector(&[0.3]), vector(&[0.2])),
        ],
    );
    check_rule(
        dominant::rule,
        [
            (matrix(&[0.5, 0.7, 0.9, 1.1], 2), vector(&[0.3, 0.4])),
            (matrix(&[0.5, 0.1, 0.2, 0.1, 0.7, 0.3, 0.2, 0.3, 0.6], 3), vector(&[0.3, 0.5, 0.2])),
        ],
    );
}
