//! Programs that make, grow and exchange vectors as they go.

use std::mem;

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// The heat equation on a rod, two buffers in turn.
#[differentiable]
fn heat(start: &[f64], conductivity: f64, dt: f64, steps: usize) -> f64 {
    let n = start.len();
    let mut u = start.to_vec();
    let mut next = vec![0.0; n];
    for _ in 0..steps {
        for i in 0..n {
            let left = if i > 0 { u[i - 1] } else { u[i] };
            let right = if i + 1 < n { u[i + 1] } else { u[i] };
            next[i] = u[i] + dt * conductivity * (1.0 + u[i] * u[i]) * (left - 2.0 * u[i] + right);
        }
        mem::swap(&mut u, &mut next);
    }
    let mut energy = 0.0;
    for i in 0..n {
        energy += 0.5 * u[i] * u[i];
    }
    energy
}

/// The wave equation: three time levels that move round.
#[differentiable]
fn string(start: &[f64], pluck: f64, c: f64, steps: usize) -> f64 {
    let n = start.len();
    let mut old = start.to_vec();
    let mut now = old.clone();
    let mut next = vec![0.0; n];
    now[n / 2] += pluck;
    for _ in 0..steps {
        for i in 1..n - 1 {
            next[i] = 2.0 * now[i] - old[i] + c * c * (now[i - 1] - 2.0 * now[i] + now[i + 1]);
        }
        mem::swap(&mut old, &mut now);
        mem::swap(&mut now, &mut next);
    }
    let mut total = 0.0;
    for i in 0..n {
        total += now[i] * now[i] + (now[i] - old[i]).powi(2);
    }
    total
}

/// The product of linear factors, multiplied out, at `x`.
#[differentiable]
fn from_roots(roots: &[f64], x: f64) -> f64 {
    let mut c = vec![1.0];
    for k in 0..roots.len() {
        c.push(0.0);
        for i in (1..c.len()).rev() {
            c[i] -= roots[k] * c[i - 1];
        }
    }
    let mut y = 0.0;
    for i in 0..c.len() {
        y = y * x + c[i];
    }
    y
}

/// A binomial tree that loses its last node at each step.
#[differentiable]
fn option_tree(spot: f64, strike: f64, rate: f64, sigma: f64, steps: usize) -> f64 {
    let dt = 1.0 / steps as f64;
    let up = (sigma * dt.sqrt()).exp();
    let discount = (-rate * dt).exp();
    let p = (1.0 / discount - 1.0 / up) / (up - 1.0 / up);
    let mut values = Vec::with_capacity(steps + 1);
    let mut s = spot / up.powi(steps as i32);
    for _ in 0..=steps {
        values.push((s - strike).max(0.0));
        s *= up * up;
    }
    while values.len() > 1 {
        for i in 0..values.len() - 1 {
            values[i] = discount * (p * values[i + 1] + (1.0 - p) * values[i]);
        }
        values.pop();
    }
    values[0]
}

/// Conjugate gradients for a tridiagonal matrix.
#[differentiable]
fn tridiagonal_energy(diagonal: &[f64], beside: f64, b: &[f64], rounds: usize) -> f64 {
    let n = b.len();
    let mut x = vec![0.0; n];
    let mut r = b.to_vec();
    let mut p = r.clone();
    let mut ap = vec![0.0; n];
    let mut rr = 0.0;
    for i in 0..n {
        rr += r[i] * r[i];
    }
    for _ in 0..rounds {
        let mut pap = 0.0;
        for i in 0..n {
            ap[i] = diagonal[i] * p[i];
            if i > 0 {
                ap[i] += beside * p[i - 1];
            }
            if i + 1 < n {
                ap[i] += beside * p[i + 1];
            }
            pap += p[i] * ap[i];
        }
        let alpha = rr / pap;
        let before = rr;
        rr = 0.0;
        for i in 0..n {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
            rr += r[i] * r[i];
        }
        for i in 0..n {
            p[i] = r[i] + rr / before * p[i];
        }
    }
    let mut energy = 0.0;
    for i in 0..n {
        energy += b[i] * x[i];
    }
    energy
}

/// The forward algorithm of a hidden Markov model, normalised at each step.
#[differentiable]
fn hidden_markov(start: &[f64], transition: &[f64], emission: &[f64], seen: &[usize]) -> f64 {
    let n = start.len();
    let symbols = emission.len() / n;
    let mut now = start.to_vec();
    let mut next = vec![0.0; n];
    let mut log_likelihood = 0.0;
    for t in 0..seen.len() {
        let mut total = 0.0;
        for i in 0..n {
            now[i] *= emission[i * symbols + seen[t]];
            total += now[i];
        }
        log_likelihood += total.ln();
        next.fill(0.0);
        for i in 0..n {
            for j in 0..n {
                next[j] += now[i] / total * transition[i * n + j];
            }
        }
        mem::swap(&mut now, &mut next);
    }
    log_likelihood
}

/// A calculator: numbers are pushed, operators take two.
#[differentiable]
fn reverse_polish(numbers: &[f64], #[constant] program: &str) -> f64 {
    let mut stack = vec![0.0];
    let mut used = 0;
    for k in 0..program.len() {
        let symbol = program.as_bytes()[k];
        if symbol == b'n' {
            stack.push(numbers[used]);
            used += 1;
        } else {
            let n = stack.len();
            let (a, b) = (stack[n - 2], stack[n - 1]);
            stack.truncate(n - 2);
            if symbol == b'+' {
                stack.push(a + b);
            } else if symbol == b'*' {
                stack.push(a * b);
            } else {
                stack.push(a / b);
            }
        }
    }
    stack[stack.len() - 1]
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect()
}

#[test]
fn exchanged() {
    check_rule(heat::rule, [(wave(5), 0.4, 0.3, 4), (wave(5), 0.4, 0.3, 3), (wave(2), 0.5, 0.2, 0)]);
    check_rule(string::rule, [(wave(5), 0.4, 0.3, 4), (wave(4), 0.3, 0.5, 1), (wave(3), 0.3, 0.5, 0)]);
    let transition = vec![0.7, 0.3, 0.2, 0.8];
    let emission = vec![0.9, 0.1, 0.4, 0.6];
    check_rule(
        hidden_markov::rule,
        [
            (vec![0.4, 0.6], transition.clone(), emission.clone(), vec![1, 0, 0]),
            (vec![0.4, 0.6], transition, emission, vec![1]),
        ],
    );
}

#[test]
fn growing_and_shrinking() {
    check_rule(from_roots::rule, [(wave(4), 0.7), (wave(1), 0.3), (vec![], 0.3)]);
    check_rule(option_tree::rule, [(1.0, 1.103, 0.03, 0.25, 7), (1.2, 1.0, 0.01, 0.4, 1)]);
    check_rule(
        tridiagonal_energy::rule,
        [(vec![2.0, 2.5, 3.0, 2.2], 0.6, wave(4), 3), (vec![1.5], 0.3, wave(1), 1)],
    );
    check_rule(
        reverse_polish::rule,
        [
            (vec![0.5, 0.7, 1.3, 0.2], "nn*n+n/".into()),
            (vec![0.5, 2.0], "nn/".into()),
            (vec![0.5], "n".into()),
        ],
    );
}
