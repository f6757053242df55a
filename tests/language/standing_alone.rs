//! Calls that write within expressions, parts of what operators return, and folds by the operators of users' types.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone)]
struct Generator(u64);

impl Generator {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[differentiable]
fn draw(x: f64, #[constant] generator: &mut Generator) -> f64 {
    x * generator.uniform()
}

#[differentiable]
fn draws(x: &[f64], #[constant] generator: &mut Generator) -> Vec<f64> {
    x.iter().map(|x| x * generator.uniform()).collect()
}

#[differentiable]
fn twice(x: f64, #[constant] generator: &mut Generator) -> f64 {
    draw(x, generator) + draw(x * x, generator)
}

/// A local that goes on to hold constants.
#[differentiable]
fn simulated(x: &[f64], n: usize) -> f64 {
    let mut generator = constant(Generator(42));
    let mut total = 0.0;
    for _ in 0..n {
        total += draw(x[0], &mut generator) - draw(x[1] * x[0], &mut generator);
    }
    let all = draws(x, &mut generator);
    total * all[0] + twice(x[1], &mut generator)
}

#[differentiable]
fn raise(x: &mut f64) -> f64 {
    *x *= 1.5;
    *x + 1.0
}

/// What stands before a call reads what that changes, and what stands behind it reads it, too.
#[differentiable]
fn in_order(x: f64) -> f64 {
    let mut y = x * x;
    y * raise(&mut y) + y.sin() - 2.0 * raise(&mut y) * y
}

#[differentiable]
fn within(x: f64) -> f64 {
    let mut y = x * x;
    let z = (y, raise(&mut y), y).0 * (raise(&mut y) + (y, raise(&mut y)).1).sin();
    if z > 0.3 { y * raise(&mut y) } else { (raise(&mut y) * y).max(-z * raise(&mut y)) }
}

#[differentiable]
fn conditions(x: f64) -> f64 {
    let mut y = x;
    if raise(&mut y) > 1.5 {
        y *= x;
    }
    let z = if raise(&mut y) * y > 2.0 { y } else { x };
    match raise(&mut y) as i32 {
        1 => y * z,
        n => z * n as f64 + y,
    }
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Complex {
    re: f64,
    im: f64,
}

#[differentiable]
impl std::ops::Add for Complex {
    type Output = Complex;
    fn add(self, other: Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

#[differentiable]
impl std::ops::Mul for Complex {
    type Output = Complex;
    fn mul(self, other: Complex) -> Complex {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

#[differentiable]
impl Complex {
    fn new(re: f64, im: f64) -> Complex {
        Complex { re, im }
    }
}

#[differentiable]
fn parts(x: f64) -> f64 {
    let a = Complex { re: x, im: x.sin() };
    let cubed = (a * a * a).im;
    cubed * (a * a).re + (a + a).im.cos()
}

/// Of types that have operators, and none that assign.
#[differentiable]
fn folds(x: &[f64]) -> f64 {
    let product = x.iter().fold(Complex::new(1.0, x[0]), |t, &q| t * Complex { re: q, im: q * q });
    let (sum, other) = x.iter().fold((Complex::new(x[1], 0.0), Complex::new(x[0], 1.0)), |(s, p), &q| {
        (s + Complex::new(q, 1.0), p * Complex::new(q, 0.5))
    });
    let all = x.iter().map(|q| Complex::new(*q, q.cos())).reduce(|a, b| a * b).unwrap();
    let some = [sum, other, all];
    product.re + some.iter().copied().reduce(|a, b| a + b).unwrap().im * all.re
}

#[test]
fn writes() {
    check_rule(simulated::rule, [(vec![0.4, 0.3], 3), (vec![0.4, 0.3, 0.9], 0)]);
    check_rule(in_order::rule, [(0.4,), (-1.2,)]);
    check_rule(within::rule, [(0.4,), (-1.2,), (1.7,)]);
    check_rule(conditions::rule, [(0.2,), (-1.2,), (1.1,)]);
}

#[test]
fn operators() {
    check_rule(parts::rule, [(0.4,), (-1.2,)]);
    check_rule(folds::rule, [(vec![0.4, 0.3],), (vec![0.4, 0.3, -0.9],)]);
}
