//! `From`, `Sum` and `Product` of users' types.

use std::iter::{Product, Sum};
use std::ops::{Add, Mul};

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Copy, Debug, PartialEq, Default, Differentiable)]
struct Vec3 {
    x: f64,
    y: f64,
    z: f64,
}

#[differentiable]
impl Add for Vec3 {
    type Output = Vec3;
    fn add(self, o: Vec3) -> Vec3 {
        Vec3 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

#[differentiable]
impl Mul for Vec3 {
    type Output = Vec3;
    fn mul(self, o: Vec3) -> Vec3 {
        Vec3 { x: self.x * o.x, y: self.y * o.y, z: self.z * o.z }
    }
}

#[differentiable]
impl Sum for Vec3 {
    fn sum<I: Iterator<Item = Vec3>>(iter: I) -> Vec3 {
        iter.fold(Vec3::default(), |a, b| a + b)
    }
}

/// Taken to be that of the values.
impl<'a> Sum<&'a Vec3> for Vec3 {
    fn sum<I: Iterator<Item = &'a Vec3>>(iter: I) -> Vec3 {
        iter.copied().sum()
    }
}

#[differentiable]
impl Product for Vec3 {
    fn product<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self { x: 1.0, y: 1.0, z: 1.0 }, Mul::mul)
    }
}

#[differentiable]
impl From<[f64; 3]> for Vec3 {
    fn from([x, y, z]: [f64; 3]) -> Self {
        Self { x, y, z }
    }
}

#[differentiable]
impl From<(f64, f64, f64)> for Vec3 {
    fn from(t: (f64, f64, f64)) -> Vec3 {
        Vec3 { x: t.0, y: t.1 * t.1, z: t.2 }
    }
}

#[differentiable]
impl From<Vec3> for [f64; 3] {
    fn from(v: Vec3) -> Self {
        [v.x, v.y, v.z]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Pair<T> {
    a: T,
    b: T,
}

#[differentiable]
impl<T: Float> From<[T; 2]> for Pair<T> {
    fn from(x: [T; 2]) -> Self {
        Pair { a: x[0] * x[1], b: x[1] }
    }
}

#[differentiable]
fn sums(v: &[Vec3]) -> f64 {
    let twice = v.iter().map(|a| *a + *a).sum::<Vec3>();
    let once: Vec3 = v.iter().copied().sum();
    let referred: Vec3 = v.iter().sum();
    let product = v.iter().copied().product::<Vec3>();
    twice.x * once.y + referred.z * product.x + product.y
}

#[differentiable]
fn squares(v: &[Vec3]) -> Vec3 {
    v.iter().map(|p| *p * *p).sum()
}

#[differentiable]
fn converted(x: f64, y: f64) -> f64 {
    let v = Vec3::from([x, y, x * y]);
    let w: Vec3 = (x, y, x).into();
    let a: [f64; 3] = (v * w).into();
    let p: Pair<f64> = [x, a[0]].into();
    a[0] * a[1] + a[2] + p.a * p.b
}

#[differentiable]
fn returned(x: f64, y: f64) -> Vec3 {
    [x, y, x * y].into()
}

#[differentiable]
fn to_array(v: Vec3) -> [f64; 3] {
    v.into()
}

#[test]
fn of_types() {
    let v = |x, y, z| Vec3 { x, y, z };
    let vectors = vec![v(0.2, 0.5, 0.9), v(1.2, -0.5, 0.3), v(0.7, 1.1, -0.2)];
    for n in [0, 1, 3] {
        check_rule(sums::rule, [(vectors[..n].to_vec(),)]);
        check_rule(squares::rule, [(vectors[..n].to_vec(),)]);
    }
    check_rule(converted::rule, [(0.7, 0.4)]);
    check_rule(returned::rule, [(0.7, 0.4)]);
    check_rule(to_array::rule, [(vectors[0],)]);
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Celsius(f64);

#[differentiable]
impl From<Celsius> for f64 {
    fn from(t: Celsius) -> f64 {
        t.0 + 273.15 / (1.0 + t.0 * t.0)
    }
}

#[differentiable]
impl Mul<f64> for Celsius {
    type Output = Celsius;
    fn mul(self, k: f64) -> Celsius {
        Celsius(self.0 * k)
    }
}

#[differentiable]
fn kelvins(t: Celsius, k: f64) -> f64 {
    let whole: f64 = t.into();
    let part = t * k;
    whole * f64::from(part) * f64::from(t * 2.0)
}

#[differentiable]
fn all_kelvins(ts: &[Celsius], k: f64) -> f64 {
    let one = |t: &Celsius| {
        let t: Celsius = *t;
        f64::from(t) * k
    };
    ts.iter().map(one).sum()
}

type Metres = f64;
type Count = u32;
type Single = f32;

/// Another name for a number is one of a user's type, as far as syntax tells.
#[differentiable]
fn other_names(x: Metres, n: Count, k: Single) -> f64 {
    let y: f64 = x.into();
    let wide: f64 = k.into();
    f64::from(n) * y * f64::from(x) + wide * f64::from(k)
}

#[test]
fn numbers_of_users_types() {
    check_rule(kelvins::rule, [(Celsius(0.4), 0.7), (Celsius(-1.2), 1.3)]);
    check_rule(all_kelvins::rule, [(vec![Celsius(0.4), Celsius(0.9)], 0.7), (Vec::new(), 0.2)]);
    check_rule(other_names::rule, [(0.4, 3, 0.5), (1.3, 0, -0.25)]);
}
