//! Structs made of others by type parameters with a trait: kernels that are sums and products of kernels, and units.

use std::marker::PhantomData;

use pullback::Active;
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
trait Kernel {
    fn at(&self, x: f64, y: f64) -> f64;
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Gaussian {
    scale: f64,
}

#[differentiable]
impl Kernel for Gaussian {
    fn at(&self, x: f64, y: f64) -> f64 {
        (-(x - y) * (x - y) / self.scale).exp()
    }
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Linear {
    slope: f64,
}

#[differentiable]
impl Kernel for Linear {
    fn at(&self, x: f64, y: f64) -> f64 {
        self.slope * x * y
    }
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Sum<A, B> {
    a: A,
    b: B,
}

#[differentiable]
impl<A: Kernel, B: Kernel> Kernel for Sum<A, B> {
    fn at(&self, x: f64, y: f64) -> f64 {
        self.a.at(x, y) + self.b.at(x, y)
    }
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Scaled<K> {
    inner: K,
    factor: f64,
}

#[differentiable]
impl<K> Kernel for Scaled<K>
where
    K: Kernel,
{
    fn at(&self, x: f64, y: f64) -> f64 {
        self.factor * self.inner.at(x, y)
    }
}

#[differentiable]
impl<A: Kernel, B: Kernel + Copy> Sum<A, B> {
    fn product(&self, x: f64, y: f64) -> f64 {
        let b = self.b;
        self.a.at(x, y) * b.at(y, x)
    }
}

/// The `impl` for `Scaled` asks that of its part.
#[differentiable]
fn energy<K: Kernel + Active>(kernel: &Scaled<K>, x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        for j in 0..i {
            total += kernel.at(x[i], x[j]) + kernel.inner.at(x[j], 0.5);
        }
    }
    total
}

#[differentiable]
fn composed(scale: f64, slope: f64, x: &[f64]) -> f64 {
    let sum = Sum { a: Gaussian { scale }, b: Linear { slope } };
    let twice = Scaled {
        inner: Sum { a: sum, b: Scaled { inner: Linear { slope: scale }, factor: slope } },
        factor: scale,
    };
    energy(&twice, x) + sum.product(x[0], scale)
}

trait Unit {
    const METRES: f64;
}

#[derive(Clone, Copy, Debug)]
struct Feet;

impl Unit for Feet {
    const METRES: f64 = 0.3048;
}

/// What has constants alone needs no gradient.
#[derive(Clone, Copy, Debug, Differentiable)]
struct Length<U> {
    value: f64,
    unit: PhantomData<U>,
}

#[differentiable]
impl<U: Unit> Length<U> {
    fn metres(&self) -> f64 {
        self.value * U::METRES
    }
}

#[differentiable]
fn measured(x: f64) -> f64 {
    let length: Length<Feet> = Length { value: x * x, unit: PhantomData };
    length.metres() * x
}

#[test]
fn by_type_parameters() {
    check_rule(
        composed::rule,
        [(0.7, 1.2, vec![0.4, 0.9, -0.3]), (1.3, 0.2, vec![0.4]), (0.5, 0.8, vec![0.1, 0.6])],
    );
    check_rule(measured::rule, [(1.3,), (-0.4,)]);
}
