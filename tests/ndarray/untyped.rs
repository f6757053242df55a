//! Arrays whose type nothing declares: what functions of the user's return, and fields of structs.

use ndarray::{Array1, Array2, Axis, array};
use pullback::prelude::*;
use pullback::testing::check_rule;

use crate::networks::{matrix, vector};

#[differentiable]
fn slope(y: &Array1<f64>, rate: f64) -> Array1<f64> {
    array![y[1] * rate, -y[0] * rate * y[1]]
}

#[differentiable]
fn midpoint(y: &Array1<f64>, dt: f64) -> f64 {
    let k1 = slope(y, dt);
    let k2 = slope(&(y + &k1), dt);
    k2.sum()
}

/// Runge and Kutta's method.
#[differentiable]
fn step(y: &Array1<f64>, rate: f64, dt: f64) -> Array1<f64> {
    let k1 = slope(y, rate);
    let k2 = slope(&(y + &(&k1 * (dt / 2.0))), rate);
    let k3 = slope(&(y + &(&k2 * (dt / 2.0))), rate);
    let k4 = slope(&(y + &(&k3 * dt)), rate);
    y + &((k1 + 2.0 * k2 + 2.0 * k3 + k4) * (dt / 6.0))
}

#[differentiable]
fn trajectory(y0: &Array1<f64>, rate: f64, dt: f64, n: usize) -> f64 {
    let mut y = y0.clone();
    for _ in 0..n {
        let k1 = slope(&y, rate);
        let k2 = slope(&(&y + &(&k1 * (dt / 2.0))), rate);
        let k3 = slope(&(&y + &(&k2 * (dt / 2.0))), rate);
        let k4 = slope(&(&y + &(&k3 * dt)), rate);
        y = &y + &((k1 + 2.0 * k2 + 2.0 * k3 + k4) * (dt / 6.0));
    }
    y.dot(&y)
}

#[differentiable]
fn steps(y0: &Array1<f64>, rate: f64, dt: f64, n: usize) -> f64 {
    let mut y = y0.clone();
    for _ in 0..n {
        y = step(&y, rate, dt);
    }
    y.sum()
}

#[differentiable]
fn euler(y0: &Array1<f64>, rate: f64, dt: f64, n: usize) -> f64 {
    let mut y = y0.clone();
    for _ in 0..n {
        let k1 = slope(&y, rate);
        y = &y + &(k1 * dt);
    }
    y.sum()
}

#[differentiable]
fn scaled(x: &Array1<f64>) -> Array1<f64> {
    let y = x * 2.0;
    y / 3.0
}

#[differentiable]
fn square(x: &Array1<f64>) -> f64 {
    let y = scaled(x);
    y.dot(&y)
}

#[differentiable]
fn product(x: &Array1<f64>) -> f64 {
    scaled(x).dot(x)
}

#[differentiable]
fn mapped(x: &Array1<f64>) -> f64 {
    let y = scaled(x);
    y.mapv(f64::tanh).sum() * scaled(x).mapv(|t| t * t).sum()
}

#[differentiable]
fn summed(x: &Array1<f64>) -> f64 {
    let y = scaled(x);
    scaled(&y).sum() * y.sum()
}

#[differentiable]
fn dense(w: &Array2<f64>, b: &Array1<f64>, x: &Array2<f64>) -> Array2<f64> {
    x.dot(w) + b
}

#[differentiable]
fn relu(x: &Array2<f64>) -> Array2<f64> {
    x.mapv(|v| v.max(0.1 * v))
}

#[differentiable]
fn softmax(x: &Array2<f64>) -> Array2<f64> {
    let e = x.mapv(f64::exp);
    let s = e.sum_axis(Axis(1)).insert_axis(Axis(1));
    e / s
}

#[differentiable]
fn cross_entropy(w: &Array2<f64>, b: &Array1<f64>, v: &Array2<f64>, x: &Array2<f64>, t: &Array2<f64>) -> f64 {
    let h = relu(&dense(w, b, x));
    let p = softmax(&h.dot(v));
    -(t * &p.mapv(f64::ln)).sum() / x.nrows() as f64
}

#[differentiable]
fn squared_error(w: &Array2<f64>, b: &Array1<f64>, x: &Array2<f64>, t: &Array2<f64>) -> f64 {
    let z = dense(w, b, x);
    let d = relu(&z) - t;
    d.mapv(|v| v * v).mean().unwrap()
}

#[differentiable]
fn by_rows(w: &Array2<f64>, b: &Array1<f64>, x: &Array2<f64>, t: &Array2<f64>) -> f64 {
    let z = dense(w, b, x);
    let mut loss = 0.0;
    for (row, target) in z.rows().into_iter().zip(t.rows()) {
        loss += (&row - &target).mapv(|v| v * v).sum();
    }
    for r in z.axis_iter(Axis(0)) {
        loss += r.dot(b) * r.sum();
    }
    for r in z.outer_iter() {
        loss *= r.sum();
    }
    for ((i, j), v) in z.indexed_iter() {
        loss += v * (i + j) as f64;
    }
    loss
}

#[derive(Clone, Differentiable)]
struct Layer {
    w: Array2<f64>,
    b: Array1<f64>,
}

#[differentiable]
impl Layer {
    fn forward(&self, x: &Array1<f64>) -> Array1<f64> {
        self.w.dot(x) + &self.b
    }

    fn activated(&self, x: &Array1<f64>) -> Array1<f64> {
        let z = self.forward(x);
        z.mapv(f64::tanh)
    }
}

#[differentiable]
fn network(layers: &[Layer], x: &Array1<f64>, t: &Array1<f64>) -> f64 {
    let mut h = x.clone();
    for layer in layers {
        h = layer.forward(&h).mapv(f64::tanh);
    }
    for layer in layers {
        h = layer.activated(&h);
    }
    for layer in layers {
        let z = layer.w.dot(&h) + &layer.b;
        h = z.mapv(f64::sin);
    }
    let d = &layers[0].forward(&h) - t;
    (&d * &d).sum()
}

#[differentiable]
fn residual(l: &Layer, x: &Array1<f64>) -> Array1<f64> {
    l.w.dot(x) - &l.b
}

#[differentiable]
fn squares(l: &Layer, x: &Array1<f64>) -> f64 {
    let r = residual(l, x);
    0.5 * r.dot(&r) + residual(l, x).mapv(|r| r * r).sum().sqrt()
}

/// What `dot` yields the types alone tell.
#[differentiable]
fn forms(l: &Layer, x: &Array1<f64>) -> f64 {
    let h = x.clone();
    let z = l.w.dot(&h) + &l.b;
    let v = l.w.t().dot(x) * 2.0;
    let u = l.w.dot(x);
    z.sum() * u.dot(&l.b) + (v - &l.b).dot(x).sin()
}

#[differentiable]
fn descent(l: &Layer, x0: &Array1<f64>, rate: f64, n: usize) -> f64 {
    let mut x = x0.clone();
    for _ in 0..n {
        let g = residual(l, &x);
        x = x - rate * g;
        let g = residual(l, &x);
        x -= &(rate * &g);
        x = &x - rate * residual(l, &x);
    }
    x.sum()
}

#[test]
fn methods_of_runge_and_kutta() {
    let starts = || [(array![1.0, 0.4], 0.7), (array![-0.3, 0.9], 0.2)];
    check_rule(midpoint::rule, starts());
    check_rule(step::rule, starts().map(|(y, rate)| (y, rate, 0.1)));
    for n in [0, 1, 4] {
        check_rule(trajectory::rule, starts().map(|(y, rate)| (y, rate, 0.1, n)));
        check_rule(steps::rule, starts().map(|(y, rate)| (y, rate, 0.1, n)));
        check_rule(euler::rule, starts().map(|(y, rate)| (y, rate, 0.1, n)));
    }
}

#[test]
fn results_of_functions() {
    let inputs = || [(vector(3, 0.2),), (vector(5, 0.7),)];
    check_rule(square::rule, inputs());
    check_rule(product::rule, inputs());
    check_rule(mapped::rule, inputs());
    check_rule(summed::rule, inputs());
}

#[test]
fn layers() {
    check_rule(
        cross_entropy::rule,
        [
            (matrix(3, 4, 0.1), vector(4, 0.2), matrix(4, 2, -0.3), matrix(5, 3, 0.4), matrix(5, 2, 0.9)),
            (matrix(2, 3, 0.1), vector(3, 0.2), matrix(3, 2, -0.3), matrix(1, 2, 0.4), matrix(1, 2, 0.9)),
        ],
    );
    let inputs = || {
        [
            (matrix(3, 4, 0.1), vector(4, 0.2), matrix(5, 3, 0.4), matrix(5, 4, 0.9)),
            (matrix(2, 3, 0.1), vector(3, 0.2), matrix(1, 2, 0.4), matrix(1, 3, 0.9)),
        ]
    };
    check_rule(squared_error::rule, inputs());
    check_rule(by_rows::rule, inputs());
}

fn layer(n: usize, start: f64) -> Layer {
    Layer { w: matrix(n, n, start), b: vector(n, start) }
}

/// The derivative along the direction in which all that `f` takes grows by one.
fn difference(l: &Layer, x: &Array1<f64>, f: impl Fn(&Layer, &Array1<f64>) -> f64) -> f64 {
    let moved = |by: f64| f(&Layer { w: &l.w + by, b: &l.b + by }, &(x + by));
    (moved(1e-6) - moved(-1e-6)) / 2e-6
}

#[test]
fn fields_of_structs() {
    for n in [2, 3] {
        let (l, x) = (layer(n, 0.1), vector(n, 0.3));
        let mut g = squares::gradient();
        let (value, d) = g.value_and_gradient(&l, &x);
        assert_eq!(value.to_bits(), squares(&l, &x).to_bits());
        assert!((d.l.w.sum() + d.l.b.sum() + d.x.sum() - difference(&l, &x, squares)).abs() < 1e-7);
        let mut g = forms::gradient();
        let (value, d) = g.value_and_gradient(&l, &x);
        assert_eq!(value.to_bits(), forms(&l, &x).to_bits());
        assert!((d.l.w.sum() + d.l.b.sum() + d.x.sum() - difference(&l, &x, forms)).abs() < 1e-7);
        let mut g = descent::gradient();
        let (value, d) = g.value_and_gradient(&l, &x, 0.1, 3);
        assert_eq!(value.to_bits(), descent(&l, &x, 0.1, 3).to_bits());
        let by_differences = difference(&l, &x, |l, x| descent(l, x, 0.1, 3));
        assert!((d.l.w.sum() + d.l.b.sum() + d.x0.sum() - by_differences).abs() < 1e-7);
    }
}

#[test]
fn layers_in_structs() {
    for n in [2, 3] {
        let layers = [layer(n, 0.1), layer(n, 0.5)];
        let (x, t) = (vector(n, 0.3), vector(n, 0.9));
        let mut g = network::gradient();
        let (value, d) = g.value_and_gradient(&layers, &x, &t);
        assert_eq!(value.to_bits(), network(&layers, &x, &t).to_bits());
        let moved = |by: f64| {
            let mut layers = layers.clone();
            layers[0].w[[1, 0]] += by;
            layers[1].b[1] += by;
            network(&layers, &(&x + by), &t)
        };
        let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        let derivative = d.layers[0].w[[1, 0]] + d.layers[1].b[1] + d.x.sum();
        assert!((derivative - difference).abs() < 1e-7, "{derivative} {difference}");
    }
}

#[differentiable]
fn squashed(x: &Array1<f64>) -> Array1<f64> {
    x.mapv(|x| x.tanh())
}

#[differentiable]
fn energy(x: &Array1<f64>) -> f64 {
    x.dot(x)
}

/// Only the calls tell that these are arrays.
#[differentiable]
fn next_to_numbers(x: &Array1<f64>, k: f64) -> f64 {
    let a = squashed(x);
    let b = &a * 2.0;
    let c = 1.0 - &a;
    let d = k * &b;
    let e = squashed(&d);
    let f = e / 2.0;
    energy(&b) + energy(&c) + energy(&d) + f.sum()
}

#[differentiable]
fn summed_multiple(x: &Array1<f64>) -> f64 {
    let a = squashed(x);
    let b = a * 3.0;
    b.sum()
}

#[test]
fn calls_next_to_numbers() {
    check_rule(next_to_numbers::rule, [(array![0.3, -0.7], 0.6), (array![0.4], 1.6)]);
    check_rule(summed_multiple::rule, [(array![0.3, -0.7],), (array![0.4],)]);
}
