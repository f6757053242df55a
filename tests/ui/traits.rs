//! What a marked trait and its `impl`s have to agree on.

use pullback::prelude::*;

#[differentiable]
trait Model {
    fn energy(&self, x: f64) -> f64 {
        x * x
    }

    #[constant]
    fn name(&self) -> String;

    fn apply(&self, f: impl Fn(f64) -> f64) -> f64;
}

#[differentiable]
trait Shape {
    fn area(&self, x: f64) -> f64 {
        x * x
    }
}

struct Unmarked;

impl Shape for Unmarked {
    fn area(&self, x: f64) -> f64 {
        x
    }
}

#[derive(Differentiable)]
struct Disc {
    radius: f64,
}

#[differentiable]
impl Shape for Disc {
    // The rule of the default is not that of this.
    #[constant]
    fn area(&self, x: f64) -> f64 {
        self.radius * x
    }
}

struct Polar(f64, f64);

#[differentiable]
impl From<&Polar> for f64 {
    fn from(p: &Polar) -> f64 {
        p.0 * p.1.cos()
    }
}

#[differentiable]
impl std::ops::Deref for Polar {
    type Target = f64;
    fn deref(&self) -> &f64 {
        &self.0
    }
}

#[differentiable]
impl std::ops::AddAssign for Polar {
    fn add_assign(&mut self, other: Polar) {
        self.0 += 2.0 * other.0;
    }
}

#[derive(Differentiable)]
struct Data<'a> {
    x: &'a [f64],
}

#[differentiable]
trait Summed {
    fn sum(&self) -> f64;
}

#[differentiable]
impl<'a> Summed for Data<'a> {
    fn sum(&self) -> f64 {
        self.x.iter().sum()
    }
}

#[derive(Clone, Copy, Differentiable)]
struct Plane(f64, f64);

#[differentiable]
impl std::ops::Add for Plane {
    type Output = Plane;
    fn add(self, other: Plane) -> Plane {
        Plane(self.0 + other.0, self.1 - other.1)
    }
}

#[differentiable]
impl std::iter::Sum for Plane {
    fn sum<I: Iterator<Item = Plane>>(iter: I) -> Plane {
        iter.fold(Plane(0.0, 0.0), |a, b| b + a)
    }
}

impl From<f64> for Plane {
    fn from(x: f64) -> Plane {
        Plane(x, x)
    }
}

impl From<Plane> for f64 {
    fn from(p: Plane) -> f64 {
        p.0
    }
}

#[differentiable]
fn unmarked_number(p: Plane, x: f64) -> f64 {
    let y: f64 = p.into();
    x * y
}

#[differentiable]
fn unmarked(x: f64) -> f64 {
    let p = Plane::from(x);
    p.0 * p.1
}

#[differentiable]
impl std::iter::Sum<f64> for Plane {
    fn sum<I: Iterator<Item = f64>>(iter: I) -> Plane {
        iter.fold(Plane(0.0, 0.0), |a, b| a + b)
    }
}

#[differentiable]
fn unmarked_product(planes: &[Plane], others: &[Other]) -> f64 {
    let p: Plane = planes.iter().copied().sum();
    p.0 * others.iter().copied().product::<Other>().0
}

#[derive(Clone, Copy, Differentiable)]
struct Other(f64);

#[differentiable]
impl std::ops::Mul for Other {
    type Output = Other;
    fn mul(self, other: Other) -> Other {
        Other(self.0 * other.0)
    }
}

impl std::iter::Product for Other {
    fn product<I: Iterator<Item = Other>>(iter: I) -> Other {
        iter.fold(Other(1.0), |a, b| a * b)
    }
}

#[differentiable]
trait Area {
    fn area(&self) -> f64;
}

#[differentiable]
impl<T: Area> Area for &T {
    fn area(&self) -> f64 {
        (**self).area()
    }
}

#[derive(Differentiable)]
struct Part<'a> {
    x: &'a [f64],
}

#[differentiable]
impl Summed for Part<'_> {
    fn sum(&self) -> f64 {
        self.x.iter().sum()
    }
}

fn main() {}
