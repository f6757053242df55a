//! Operators by reference, and operators of a user's type and a number.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::allocations_in;

use crate::differences::check;

#[derive(Differentiable, Clone, Copy, Debug, PartialEq)]
pub struct V {
    x: f64,
    y: f64,
}

#[differentiable]
impl Add for V {
    type Output = V;
    fn add(self, o: V) -> V {
        V { x: self.x + o.x, y: self.y + o.y * o.x }
    }
}

/// By reference, as by value.
impl<'a> Add<&'a V> for &'a V {
    type Output = V;
    fn add(self, o: &V) -> V {
        *self + *o
    }
}
impl Add<&V> for V {
    type Output = V;
    fn add(self, o: &V) -> V {
        self + *o
    }
}
impl Add<V> for &V {
    type Output = V;
    fn add(self, o: V) -> V {
        *self + o
    }
}

#[differentiable]
impl Sub for V {
    type Output = V;
    fn sub(self, o: V) -> V {
        V { x: self.x - o.x, y: self.y * o.y }
    }
}
impl Sub<&V> for &V {
    type Output = V;
    fn sub(self, o: &V) -> V {
        *self - *o
    }
}

#[differentiable]
impl Neg for V {
    type Output = V;
    fn neg(self) -> V {
        V { x: -self.x * self.y, y: -self.y }
    }
}
impl Neg for &V {
    type Output = V;
    fn neg(self) -> V {
        -*self
    }
}

/// A sum with a number whose derivative is not the identity.
#[differentiable]
impl Add<f64> for V {
    type Output = V;
    fn add(self, s: f64) -> V {
        V { x: self.x * 3.0 + s, y: self.y * s * self.x }
    }
}

#[differentiable]
impl Sub<V> for f64 {
    type Output = V;
    fn sub(self, v: V) -> V {
        V { x: self - 2.0 * v.x, y: self * v.y * v.y }
    }
}

#[differentiable]
impl Mul<V> for f64 {
    type Output = V;
    fn mul(self, v: V) -> V {
        V { x: self * v.x, y: self * v.y * v.y }
    }
}
impl Mul<&V> for f64 {
    type Output = V;
    fn mul(self, v: &V) -> V {
        self * *v
    }
}

#[differentiable]
fn with_numbers(v: V, s: f64) -> f64 {
    let a = v + 1.5;
    let b = 2.0 - a;
    let c = 2.0 * b + 0.5;
    let d = v + s;
    let e = s - d;
    c.x * c.y + e.x * e.y
}

#[differentiable]
fn of_results(v: V, s: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..3 {
        let w = (v + v) + 1.0;
        total += w.x * w.y * i as f64;
    }
    total
}

#[differentiable]
fn by_reference(a: &V, b: &V, points: &[V], s: f64) -> f64 {
    let sum = a + b;
    let mut total = V { x: 0.0, y: s };
    for p in points {
        total = &total + p;
        let scaled = s * p;
        total = &scaled - &total;
    }
    for i in 0..points.len() {
        let p = &points[i];
        total = total + p;
        total = a + total;
        let q = &points[i] - &total;
        total = -&q + 0.1 * p;
    }
    let last = &sum - &total;
    last.x * last.y
}

#[test]
fn numbers() {
    let mut g = with_numbers::gradient();
    let at = [0.7, 0.4, 0.3];
    let of = |p: [f64; 3]| with_numbers(V { x: p[0], y: p[1] }, p[2]);
    let (value, d) = g.value_and_gradient(V { x: 0.7, y: 0.4 }, 0.3);
    assert_eq!(value, of(at));
    check(at, of, [d.v.x, d.v.y, d.s]);
    let mut g = of_results::gradient();
    let of = |p: [f64; 3]| of_results(V { x: p[0], y: p[1] }, p[2]);
    let (value, d) = g.value_and_gradient(V { x: 0.7, y: 0.4 }, 0.3);
    assert_eq!(value, of(at));
    check(at, of, [d.v.x, d.v.y, d.s]);
}

#[test]
fn references() {
    let mut g = by_reference::gradient();
    let at = [0.7, 0.4, 0.3, 0.2, 0.9, 0.5, 0.8, 0.1, 0.6];
    let v = |p: &[f64]| V { x: p[0], y: p[1] };
    let of = |p: [f64; 9]| by_reference(&v(&p), &v(&p[2..]), &[v(&p[4..]), v(&p[6..])], p[8]);
    let points = [v(&at[4..]), v(&at[6..])];
    let (a, b) = (v(&at), v(&at[2..]));
    let (value, d) = g.value_and_gradient(&a, &b, &points, 0.6);
    assert_eq!(value, of(at));
    let e = d.points;
    check(at, of, [d.a.x, d.a.y, d.b.x, d.b.y, e[0].x, e[0].y, e[1].x, e[1].y, d.s]);
    assert_eq!(allocations_in(|| g.value_and_gradient(&a, &b, &points, 0.6).0), (value, 0));
}
