//! Functions that return vectors along with other things, out of loops and branches: `return (x, i);`

use pullback::prelude::*;
use pullback::testing::check_rule;

/// The solution, and how many iterations it took.
#[differentiable]
fn iterate(b: &[f64], limit: f64, iterations: usize) -> (Vec<f64>, usize) {
    let mut x = vec![0.5; b.len()];
    for i in 0..iterations {
        x[0] += b[0] * x[1];
        if x[0] > limit {
            return (x, i);
        }
    }
    (x, iterations)
}

#[differentiable]
fn with_a_count(b: &[f64], limit: f64) -> f64 {
    let (x, n) = iterate(b, limit, 5);
    x[0] * n as f64
}

/// Several vectors take the place of one, and the end is a choice.
#[differentiable]
fn residual(b: &[f64], limit: f64) -> (Vec<f64>, f64, bool) {
    if b.len() == 1 {
        return (vec![b[0] * b[0]], b[0], false);
    }
    let mut x = vec![0.5; b.len()];
    let mut r = b.to_vec();
    let mut e = 0.0;
    while e < limit {
        x[0] += b[0] * x[1] * 0.9 + 0.3;
        e += x[0] * r[1] * r[1] + 0.1;
        if x[0] > limit {
            r[0] *= x[1];
            return (r, e * x[1], true);
        }
        if e > 40.0 {
            let scaled = x[0] * e;
            return (x, scaled, false);
        }
    }
    if limit < 0.3 {
        (x, e, true)
    } else {
        let z: Vec<f64> = x.iter().map(|v| v * e).collect();
        (z, x[0], false)
    }
}

#[differentiable]
fn with_a_number(b: &[f64], limit: f64) -> f64 {
    let (x, e, converged) = residual(b, limit);
    if converged { x[0] * e } else { e * e + x[0] }
}

#[differentiable]
fn both(b: &[f64], k: f64) -> (Vec<f64>, Vec<f64>) {
    (b.to_vec(), vec![k; 3])
}

#[differentiable]
fn two_vectors(b: &[f64], limit: f64) -> (Vec<f64>, Vec<f64>) {
    let (mut u, mut v) = (b.to_vec(), b.to_vec());
    for i in 0..b.len() {
        u[i] *= v[0];
        if u[i] < limit {
            return (u, v);
        }
        v[i] += u[0];
    }
    if limit < 0.0 {
        return both(b, limit);
    }
    (u, v)
}

#[differentiable]
fn with_vectors(b: &[f64], limit: f64) -> f64 {
    let (u, v) = two_vectors(b, limit);
    u[0] * v[1] * v[0]
}

#[derive(Clone, Differentiable)]
struct Solver {
    start: Vec<f64>,
}

#[differentiable]
impl Solver {
    fn solve(&self, limit: f64) -> (Vec<f64>, usize) {
        let mut x = self.start.clone();
        for i in 0..20 {
            x[0] = x[0].cos() * self.start[1];
            if x[0] < limit {
                return (x, i);
            }
        }
        (x, 20)
    }
}

#[differentiable]
fn of_a_method(b: &[f64], limit: f64) -> f64 {
    let solver = Solver { start: b.to_vec() };
    let mut total = 0.0;
    for i in 0..2 {
        let (x, n) = solver.solve(limit + i as f64);
        total += x[0] * x[0] * n as f64;
    }
    total
}

#[test]
fn pairs() {
    for (b, limit) in [
        (vec![0.3, 0.4], 0.7),
        (vec![0.5, -0.6, 0.7], 100.0),
        (vec![0.7, 0.5, 0.9], 0.2),
        (vec![0.7, 0.5, 0.9], -0.2),
    ] {
        check_rule(with_a_count::rule, [(b.clone(), limit)]);
        check_rule(with_a_number::rule, [(b.clone(), limit), (vec![0.3], 0.3)]);
        check_rule(with_vectors::rule, [(b.clone(), limit)]);
        check_rule(of_a_method::rule, [(b, limit)]);
    }
}
