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
impl std::ops::Index<usize> for Polar {
    type Output = f64;
    fn index(&self, i: usize) -> &f64 {
        if i == 0 { &self.0 } else { &self.1 }
    }
}

#[differentiable]
impl std::ops::AddAssign for Polar {
    fn add_assign(&mut self, other: Polar) {
        self.0 += other.0;
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
impl std::iter::Sum for Plane {
    fn sum<I: Iterator<Item = Plane>>(iter: I) -> Plane {
        iter.fold(Plane(0.0, 0.0), |a, b| Plane(a.0 + b.0, a.1 - b.1))
    }
}

impl From<f64> for Plane {
    fn from(x: f64) -> Plane {
        Plane(x, x)
    }
}

#[differentiable]
fn unmarked(x: f64) -> f64 {
    let p = Plane::from(x);
    p.0 * p.1
}

#[differentiable]
fn unmarked_sum(planes: &[Plane]) -> f64 {
    let p: Plane = planes.iter().copied().sum();
    p.0 * p.1
}

fn main() {}
