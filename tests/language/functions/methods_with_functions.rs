//! Methods and associated functions that take functions.

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Stepper {
    h: f64,
    scale: f64,
}

#[differentiable]
impl Stepper {
    /// One step by the midpoint.
    fn step(&self, f: impl Fn(f64, f64) -> f64, t: f64, y: f64) -> f64 {
        let k = f(t, y);
        self.scale * (y + self.h * f(t + 0.5 * self.h, y + 0.5 * self.h * k))
    }

    /// Hands its function on.
    fn steps<F: Fn(f64, f64) -> f64>(&self, f: F, y: f64, n: usize) -> f64 {
        let mut y = y;
        for i in 0..n {
            y = self.step(&f, i as f64 * self.h, y);
        }
        y
    }

    fn system(self, f: impl Fn(&[f64; 2], &mut [f64; 2]), y: &mut [f64; 2]) {
        let mut dy = [0.0; 2];
        f(y, &mut dy);
        for i in 0..2 {
            y[i] += self.h * dy[i];
        }
    }

    fn change(&mut self, f: impl Fn(f64) -> f64) -> f64 {
        self.h = f(self.h);
        self.h * self.scale
    }

    /// Simpson's rule.
    fn simpson(f: impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
        (b - a) * (f(a) + 4.0 * f(0.5 * (a + b)) + f(b)) / 6.0
    }

    fn twice(&self, g: &dyn Fn(f64) -> f64) -> f64 {
        Self::simpson(|x| g(x) * self.scale, 0.0, self.h)
    }

    /// Calls itself with its function.
    fn halved<F: Fn(f64) -> f64>(&self, f: &F, x: f64, depth: usize) -> f64 {
        if depth == 0 { f(x) * self.scale } else { self.halved(f, 0.5 * x, depth - 1) + f(x) }
    }
}

#[differentiable]
fn square(x: f64) -> f64 {
    x * x
}

#[differentiable]
fn scalar(s: Stepper, k: &[f64], y: f64) -> f64 {
    let mut z = s.step(|t, y| -k[0] * y + t * k[1], 0.1, y);
    z += s.steps(|t, y| k[1] * y * y - t, z, 4);
    let mut w = [y, z];
    s.system(
        |y, dy| {
            dy[0] = k[0] * y[1];
            dy[1] = -k[1] * y[0];
        },
        &mut w,
    );
    let area = Stepper::simpson(|x| x * x * k[0], y, z) + Stepper::simpson(square, y, 1.0);
    z * w[0] * w[1] + area + s.twice(&|x| x.sin() * y) + s.halved(&|x| x * k[0], y, 2)
}

#[differentiable]
fn changed(h: f64, k: f64, n: usize) -> f64 {
    let mut s = Stepper { h, scale: k };
    let mut total = 0.0;
    for _ in 0..n {
        let a = s.change(|x| x * x * k);
        let b = s.change(square);
        total += a * b * s.h;
    }
    total
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Series<T> {
    terms: Vec<T>,
}

#[differentiable]
impl<T: Float> Series<T> {
    fn total<G>(&self, g: G) -> T
    where
        G: Fn(T) -> T,
    {
        let mut total = g(self.terms[0]);
        for i in 1..self.terms.len() {
            total = total + g(self.terms[i]);
        }
        total
    }
}

#[differentiable]
fn of_series(series: &Series<f64>, a: f64) -> f64 {
    series.total(|x| x * x * a) * series.total(square)
}

#[test]
fn closures_and_functions() {
    let s = Stepper { h: 0.3, scale: 0.9 };
    check_rule(scalar::rule, [(s, vec![0.7, 0.4], 1.1), (s, vec![-0.2, 0.9], 0.3)]);
    check_rule(changed::rule, [(0.7, 0.4, 1), (0.9, 0.8, 2), (0.9, 0.8, 0)]);
    check_rule(
        of_series::rule,
        [(Series { terms: vec![0.4, 0.9] }, 0.4), (Series { terms: vec![0.4, 0.9, 1.5] }, 0.2)],
    );
}

/// The gradient of a method for a given function.
#[test]
fn of_a_function() {
    let mut s = Stepper { h: 0.3, scale: 0.9 };
    let mut g = Stepper::change_gradient::<square>();
    let (value, d) = g.value_and_gradient(&mut s);
    assert_eq!(value, 0.3 * 0.3 * 0.9);
    assert!((d.self_.h - 2.0 * 0.3 * 0.9).abs() < 1e-15);
    let mut g = Stepper::simpson_gradient::<square>();
    let (value, d) = g.value_and_gradient(0.0, 1.0);
    assert!((value - 1.0 / 3.0).abs() < 1e-15 && (d.b - 1.0).abs() < 1e-15);
}
