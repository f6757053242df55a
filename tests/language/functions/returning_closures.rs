//! Closures that return vectors and arrays, passed to functions: right-hand sides of differential equations as people write them.

use ndarray::{Array1, array};
use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn euler<F: Fn(f64, &[f64]) -> Vec<f64>>(f: F, start: &[f64], dt: f64, n: usize) -> Vec<f64> {
    let mut y = start.to_vec();
    let mut t = 0.0;
    for _ in 0..n {
        let k = f(t, &y);
        for i in 0..y.len() {
            y[i] += dt * k[i];
        }
        t += dt;
    }
    y
}

/// Several calls before any of them is undone.
#[differentiable]
fn runge_kutta(f: &dyn Fn(f64, &[f64]) -> Vec<f64>, start: &[f64], dt: f64, n: usize) -> Vec<f64> {
    let mut y = start.to_vec();
    for i in 0..n {
        let t = i as f64 * dt;
        let k1 = f(t, &y);
        let middle: Vec<f64> = y.iter().zip(&k1).map(|(y, k)| y + 0.5 * dt * k).collect();
        let k2 = f(t + 0.5 * dt, &middle);
        let middle: Vec<f64> = y.iter().zip(&k2).map(|(y, k)| y + 0.5 * dt * k).collect();
        let k3 = f(t + 0.5 * dt, &middle);
        let end: Vec<f64> = y.iter().zip(&k3).map(|(y, k)| y + dt * k).collect();
        let k4 = f(t + dt, &end);
        for j in 0..y.len() {
            y[j] += dt / 6.0 * (k1[j] + 2.0 * k2[j] + 2.0 * k3[j] + k4[j]);
        }
    }
    y
}

#[differentiable]
fn predators(p: &[f64], dt: f64, n: usize) -> f64 {
    let (a, b) = (p[0], p[1]);
    let start = [1.0 + b, 0.5];
    let y = euler(|t, y| vec![a * y[0] - y[0] * y[1] + t, -b * y[1] + y[0] * y[1]], &start, dt, n);
    let z = runge_kutta(&|_t, y| vec![a * y[0] - b, y[0] * y[1] * a], &y, dt, n);
    z[0] * z[1] + y[1]
}

#[differentiable]
fn rotation(t: f64, y: &[f64]) -> Vec<f64> {
    vec![y[1] * t, -y[0]]
}

#[differentiable]
fn field(y: &[f64], k: f64) -> Vec<f64> {
    y.iter().map(|y| (k * y).sin()).collect()
}

/// Functions by name, and closures that call them.
#[differentiable]
fn by_name(p: &[f64], dt: f64, n: usize) -> f64 {
    let y = euler(rotation, p, dt, n);
    let z = euler(|t, y| field(y, p[0] * t), &y, dt, n);
    y[0] * y[1] + z[0] * z[1]
}

/// What is returned is a local that changes, read again by the reverse pass, or the outcome of a branch.
#[differentiable]
fn locals(p: &[f64], dt: f64, n: usize) -> f64 {
    let k = p[0];
    let y = runge_kutta(
        &|t, y| {
            let mut d = vec![0.0; y.len()];
            for i in 0..y.len() {
                d[i] = k * y[i] * t;
                d[i] *= d[i] + 1.0;
            }
            d[0] *= d[1];
            d
        },
        p,
        dt,
        n,
    );
    let z = euler(
        |t, y| {
            if t > 0.15 {
                y.iter().map(|y| (k * y).exp()).collect()
            } else {
                let mut d = y.to_vec();
                d[1] = k * y[0] + t;
                d
            }
        },
        &y,
        dt,
        n,
    );
    let w = euler(|_, y| -> Vec<f64> { y.iter().rev().map(|y| (k * y).tanh()).collect() }, &z, dt, n);
    w[0] * w[1] + z[0]
}

#[differentiable]
fn heun(f: impl Fn(&Array1<f64>) -> Array1<f64>, start: &Array1<f64>, dt: f64, n: usize) -> Array1<f64> {
    let mut y = start.clone();
    for _ in 0..n {
        let first: Array1<f64> = f(&y);
        let end: Array1<f64> = &y + &(&first * dt);
        let second: Array1<f64> = f(&end);
        y = &y + &((&first + &second) * (0.5 * dt));
    }
    y
}

#[differentiable]
fn arrays(p: &Array1<f64>, dt: f64, n: usize) -> f64 {
    let (a, b) = (p[0], p[1]);
    let y: Array1<f64> = heun(|y| array![a * y[0] - y[0] * y[1], y[0] * y[1] - b * y[1]], p, dt, n);
    y[0] * y[1]
}

#[test]
fn vectors() {
    let inputs = [(vec![0.4, 0.3], 0.1, 3), (vec![0.4, -0.3], 0.2, 1), (vec![0.5, 0.3], 0.2, 0)];
    check_rule(predators::rule, inputs.clone());
    check_rule(by_name::rule, inputs.clone());
    check_rule(locals::rule, inputs);
}

#[test]
fn of_ndarray() {
    check_rule(arrays::rule, [(array![0.4, 0.3], 0.1, 3), (array![0.4, -0.3], 0.2, 1)]);
}
