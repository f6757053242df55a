//! Methods of traits that have a body, that are generic, and the types beside a trait.

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::allocations_in;

use crate::differences::check;

#[differentiable]
pub trait Model {
    /// How many terms there are.
    const TERMS: usize;

    fn energy(&self, x: &[f64]) -> f64;

    fn twice(&self, x: &[f64]) -> f64 {
        2.0 * self.energy(x)
    }

    /// By way of another default, and of an associated function with a body.
    fn penalised(&self, x: &[f64], weight: f64) -> f64 {
        let mut total = 0.0;
        for i in 0..Self::TERMS {
            total += Self::penalty(x[i], weight);
        }
        self.twice(x) + total
    }

    fn penalty(x: f64, weight: f64) -> f64 {
        weight * x * x
    }

    /// Writes to its receiver, and to an argument.
    fn relaxed(&mut self, x: &mut [f64], by: f64) -> f64 {
        let mut total = 0.0;
        for i in 0..x.len() {
            x[i] *= 1.0 - by * x[i];
            total += x[i];
        }
        let e = self.decay(by);
        total * e
    }

    fn decay(&mut self, by: f64) -> f64;

    /// Calls itself.
    fn tower(&self, x: f64, n: usize) -> f64 {
        if n == 0 { x } else { self.energy(&[x, x]) * self.tower(x.sin(), n - 1) }
    }

    #[constant]
    fn name(&self) -> String {
        format!("a model of {} terms", Self::TERMS)
    }
}

#[derive(Differentiable, Clone, Copy, Debug, PartialEq)]
pub struct Linear {
    slope: f64,
}

#[derive(Differentiable, Clone, Copy, Debug, PartialEq)]
pub struct Quadratic {
    a: f64,
    b: f64,
}

#[differentiable]
impl Model for Linear {
    const TERMS: usize = 1;

    fn energy(&self, x: &[f64]) -> f64 {
        self.slope * x[0] * x[1]
    }
    fn decay(&mut self, by: f64) -> f64 {
        self.slope *= by;
        self.slope * self.slope
    }
}

#[differentiable]
impl Model for Quadratic {
    const TERMS: usize = 2;

    fn energy(&self, x: &[f64]) -> f64 {
        let mut total = 0.0;
        for i in 0..x.len() {
            total += self.a * x[i] * x[i] + self.b * x[i].cos();
        }
        total
    }
    /// In the place of the default.
    fn twice(&self, x: &[f64]) -> f64 {
        3.0 * self.energy(x) * self.a
    }
    fn decay(&mut self, by: f64) -> f64 {
        self.a *= by * self.b;
        by
    }
    #[constant]
    fn name(&self) -> String {
        "quadratic".into()
    }
}

#[differentiable]
fn total<M: Model>(m: &M, x: &[f64], w: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..2 {
        total += m.penalised(x, w) * m.twice(x) + total.sin() + m.tower(w, 2);
    }
    total
}

#[differentiable]
fn relaxation(m: &mut Quadratic, x: &mut [f64], by: f64) -> f64 {
    let first = m.relaxed(x, by);
    let second = m.relaxed(x, 0.5 * by);
    first * second + m.energy(&*x)
}

#[test]
fn defaults() {
    let mut g = total::<Linear>::gradient();
    let at = [0.7, 0.4, 1.3, 0.6];
    let of = |p: [f64; 4]| total(&Linear { slope: p[0] }, &p[1..3], p[3]);
    let (value, d) = g.value_and_gradient(&Linear { slope: 0.7 }, &at[1..3], 0.6);
    assert_eq!(value, of(at));
    check(at, of, [d.m.slope, d.x[0], d.x[1], d.w]);
    let model = Linear { slope: 0.7 };
    assert_eq!(allocations_in(|| g.value_and_gradient(&model, &at[1..3], 0.6).0), (value, 0));

    let mut g = total::<Quadratic>::gradient();
    let at = [0.7, 0.9, 0.4, 1.3, 0.6];
    let of = |p: [f64; 5]| total(&Quadratic { a: p[0], b: p[1] }, &p[2..4], p[4]);
    let (value, d) = g.value_and_gradient(&Quadratic { a: 0.7, b: 0.9 }, &at[2..4], 0.6);
    assert_eq!(value, of(at));
    check(at, of, [d.m.a, d.m.b, d.x[0], d.x[1], d.w]);

    let mut g = relaxation::gradient();
    let of = |p: [f64; 5]| relaxation(&mut Quadratic { a: p[0], b: p[1] }, &mut [p[2], p[3]], p[4]);
    let (mut m, mut x) = (Quadratic { a: 0.7, b: 0.9 }, [0.4, 1.3]);
    let (value, d) = g.value_and_gradient(&mut m, &mut x, 0.6);
    assert_eq!(value, of(at));
    check(at, of, [d.m.a, d.m.b, d.x[0], d.x[1], d.by]);
    assert_eq!((m, x), (Quadratic { a: 0.7, b: 0.9 }, [0.4, 1.3]));
}

#[test]
fn gradients_of_methods_of_traits() {
    let mut g = Model_twice::<Linear>::gradient();
    let (value, d) = g.value_and_gradient(&Linear { slope: 3.0 }, &[2.0, 5.0]);
    assert_eq!((value, d.self_.slope, d.x), (60.0, 20.0, &[30.0, 12.0][..]));
    let mut g = Model_energy::<Linear>::gradient();
    assert_eq!(g.value_and_gradient(&Linear { slope: 3.0 }, &[2.0, 5.0]).1.x, [15.0, 6.0]);
    let mut g = Quadratic_twice::gradient();
    let (value, _) = g.value_and_gradient(&Quadratic { a: 2.0, b: 0.0 }, &[1.0]);
    assert_eq!(value, 12.0);
    assert_eq!(Linear { slope: 1.0 }.name(), "a model of 1 terms");
}

/// Generic methods, and a trait with a parameter.
#[differentiable]
pub trait Kernel<T: Float> {
    fn weigh<const N: usize>(&self, x: &[T; N], scale: T) -> T {
        let mut total = T::zero();
        for i in 0..N {
            total += self.at(x[i]) * scale;
        }
        total
    }

    fn at(&self, x: T) -> T;

    fn mixed<U: Float, const N: usize>(&self, x: [U; N], by: U) -> U;
}

#[derive(Differentiable, Clone, Copy, Debug)]
pub struct Gauss<T: Float> {
    width: T,
}

#[differentiable]
impl<T: Float> Kernel<T> for Gauss<T> {
    fn at(&self, x: T) -> T {
        (-(x / self.width) * (x / self.width)).exp()
    }

    fn mixed<U: Float, const N: usize>(&self, x: [U; N], by: U) -> U {
        let mut total = by;
        for i in 0..N {
            total = total * x[i] + by;
        }
        total
    }
}

#[differentiable]
fn weighed(k: &Gauss<f64>, x: &[f64; 3], by: f32) -> f64 {
    let y = k.weigh(x, x[0]);
    y + y * k.mixed([by, by * by], by) as f64
}

#[test]
fn generic_methods() {
    let mut g = weighed::gradient();
    let at = [0.8, 0.3, 0.9, 0.2];
    let of = |p: [f64; 4]| weighed(&Gauss { width: p[0] }, &[p[1], p[2], p[3]], 0.5);
    let (value, d) = g.value_and_gradient(&Gauss { width: 0.8 }, &[0.3, 0.9, 0.2], 0.5);
    assert_eq!(value, of(at));
    check(at, of, [d.k.width, d.x[0], d.x[1], d.x[2]]);
    let y = Gauss { width: 0.8 }.weigh(&[0.3, 0.9, 0.2], 0.3);
    // ((b·b + b)·b² + b) = b⁴ + b³ + b
    assert!((d.by as f64 - y * (4.0 * 0.125 + 3.0 * 0.25 + 1.0)).abs() < 1e-5);
}

/// A system of differential equations, and an integrator that goes with each.
#[differentiable]
pub trait System {
    fn slope(&self, t: f64, y: &[f64], dy: &mut [f64]);

    fn invariant(&self, y: &[f64]) -> f64 {
        y.iter().map(|v| v * v).sum::<f64>()
    }

    fn integrate(&self, y: &mut [f64], h: f64, steps: usize) -> f64 {
        let n = y.len();
        let (mut k1, mut k2) = (vec![0.0; n], vec![0.0; n]);
        let mut middle = vec![0.0; n];
        for step in 0..steps {
            let t = h * step as f64;
            self.slope(t, &*y, &mut k1);
            for i in 0..n {
                middle[i] = y[i] + 0.5 * h * k1[i];
            }
            self.slope(t + 0.5 * h, &middle, &mut k2);
            for i in 0..n {
                y[i] += h * k2[i];
            }
        }
        self.invariant(&*y)
    }
}

#[derive(Differentiable, Clone, Debug)]
pub struct Lotka {
    rates: Vec<f64>,
    layers: Vec<Vec<f64>>,
}

#[differentiable]
impl System for Lotka {
    fn slope(&self, t: f64, y: &[f64], dy: &mut [f64]) {
        dy[0] = self.rates[0] * y[0] - self.layers[0][1] * y[0] * y[1];
        dy[1] = self.rates[1] * y[0] * y[1] - y[1] * (1.0 + 0.1 * t);
    }
}

#[differentiable]
fn fit<S: System>(system: &S, data: &[f64], h: f64) -> f64 {
    let mut y = [1.0, data[0]];
    let first = system.integrate(&mut y, h, 3);
    let mut scratch = vec![0.0; 2];
    system.slope(h, &y, &mut scratch);
    first + scratch[0] * scratch[1] + (y[0] - data[1]).powi(2)
}

#[test]
fn integrators_as_defaults() {
    let make = |p: [f64; 6]| {
        let system = Lotka { rates: vec![p[0], p[1]], layers: vec![vec![0.3, p[2]]] };
        (system, [p[3], p[4]], p[5])
    };
    let of = |p| {
        let (system, data, h) = make(p);
        fit(&system, &data, h)
    };
    let at = [0.6, 0.4, 0.7, 0.9, 1.3, 0.2];
    let (system, data, h) = make(at);
    let mut g = fit::<Lotka>::gradient();
    let (value, d) = g.value_and_gradient(&system, &data, h);
    assert_eq!(value, of(at));
    let rates = &d.system.rates;
    check(at, of, [rates[0], rates[1], d.system.layers[0][1], d.data[0], d.data[1], d.h]);
}

/// A marked trait can be that of an object as before.
#[test]
fn objects() {
    let systems: [&dyn System; 1] = [&Lotka { rates: vec![1.0, 1.0], layers: vec![vec![0.0, 1.0]] }];
    assert_eq!(systems[0].invariant(&[3.0, 4.0]), 25.0);
}
