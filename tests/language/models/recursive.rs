//! Recursive programs, and programs for any float and any length.

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn integrand(x: f64, a: f64) -> f64 {
    1.0 / (1.0 + a * x * x)
}

#[differentiable]
fn panel(from: f64, to: f64, a: f64) -> f64 {
    (to - from) / 6.0 * (integrand(from, a) + 4.0 * integrand(0.5 * (from + to), a) + integrand(to, a))
}

/// Simpson's rule, halved where it is not good enough.
#[differentiable]
fn adaptive(from: f64, to: f64, a: f64, #[constant] tolerance: f64, depth: usize) -> f64 {
    let middle = 0.5 * (from + to);
    let whole = panel(from, to, a);
    let (left, right) = (panel(from, middle, a), panel(middle, to, a));
    let change = left + right - whole;
    if depth == 0 || change.abs() < 15.0 * tolerance {
        left + right + change / 15.0
    } else {
        adaptive(from, middle, a, 0.5 * tolerance, depth - 1)
            + adaptive(middle, to, a, 0.5 * tolerance, depth - 1)
    }
}

/// The recursion of Cox and de Boor.
#[differentiable]
fn b_spline(knots: &[f64], i: usize, degree: usize, x: f64) -> f64 {
    if degree == 0 {
        if knots[i] <= x && x < knots[i + 1] { 1.0 } else { 0.0 }
    } else {
        let rise = (x - knots[i]) / (knots[i + degree] - knots[i]);
        let fall = (knots[i + degree + 1] - x) / (knots[i + degree + 1] - knots[i + 1]);
        rise * b_spline(knots, i, degree - 1, x) + fall * b_spline(knots, i + 1, degree - 1, x)
    }
}

#[differentiable]
fn curve(knots: &[f64], weights: &[f64], x: f64) -> f64 {
    let degree = knots.len() - weights.len() - 1;
    let mut y = 0.0;
    for i in 0..weights.len() {
        y += weights[i] * b_spline(knots, i, degree, x);
    }
    y
}

/// What an option is worth, by asking both futures.
#[differentiable]
fn option_value(spot: f64, strike: f64, up: f64, growth: f64, steps: usize) -> f64 {
    let exercise = (strike - spot).max(0.0);
    if steps == 0 {
        exercise
    } else {
        let p = (growth - 1.0 / up) / (up - 1.0 / up);
        let hold = p * option_value(spot * up, strike, up, growth, steps - 1)
            + (1.0 - p) * option_value(spot / up, strike, up, growth, steps - 1);
        f64::max(hold / growth, exercise)
    }
}

/// Sums in pairs, so that rounding stays small.
#[differentiable]
fn pairwise(x: &[f64], power: f64) -> f64 {
    let n = x.len();
    if n <= 2 {
        let mut total = 0.0;
        for i in 0..n {
            total += x[i].abs().powf(power);
        }
        total
    } else {
        pairwise(&x[..n / 2], power) + pairwise(&x[n / 2..], power)
    }
}

/// Squared distance in the metric of A Aᵀ.
#[differentiable]
fn mahalanobis<const N: usize>(x: &[f64; N], mean: &[f64; N], a: &[[f64; N]; N]) -> f64 {
    let mut total = 0.0;
    for j in 0..N {
        let mut s = 0.0;
        for i in 0..N {
            s += a[i][j] * (x[i] - mean[i]);
        }
        total += s * s;
    }
    total
}

#[differentiable]
fn horner<T: Float>(c: &[T], x: T) -> T {
    let mut y = T::zero();
    for i in (0..c.len()).rev() {
        y = y * x + c[i];
    }
    y
}

/// Newton's iteration for any float.
#[differentiable]
fn cube_root<T: Float>(a: T, rounds: usize) -> T {
    let mut x = a;
    for _ in 0..rounds {
        x = x - (x * x * x - a) / (T::from_f64(3.0) * x * x);
    }
    x
}

/// An oscillator of any dimension by leapfrog.
#[differentiable]
fn oscillator<T: Float, const N: usize>(q: [T; N], p: [T; N], stiffness: &[T; N], dt: T, steps: usize) -> T {
    let mut q = q;
    let mut p = p;
    for _ in 0..steps {
        for i in 0..N {
            p[i] -= dt * stiffness[i] * q[i].sin();
        }
        for i in 0..N {
            q[i] += dt * p[i];
        }
    }
    let mut energy = T::zero();
    for i in 0..N {
        energy += p[i] * p[i] + stiffness[i] * q[i] * q[i];
    }
    energy
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect()
}

#[test]
fn recursive() {
    check_rule(adaptive::rule, [(0.1, 2.3, 3.0, 1e-5, 6), (-0.4, 0.5, 1.5, 1e-2, 0)]);
    let knots = vec![0.0, 0.4, 1.1, 1.5, 2.2, 2.6, 3.3];
    check_rule(curve::rule, [(knots.clone(), wave(3), 1.3), (knots[..4].to_vec(), wave(1), 0.9)]);
    check_rule(option_value::rule, [(1.0, 1.103, 1.1, 1.01, 4), (1.2, 1.5, 1.2, 1.02, 0)]);
    check_rule(pairwise::rule, [(wave(7), 1.5), (wave(2), 3.0), (vec![], 2.0)]);
}

#[test]
fn generic() {
    check_rule(
        mahalanobis::<2>::rule,
        [
            ([0.5, 0.3], [0.1, 0.7], [[1.0, 0.2], [0.3, 0.9]]),
            ([1.5, -0.3], [0.1, 0.2], [[0.4, 0.7], [-0.3, 1.9]]),
        ],
    );
    check_rule(mahalanobis::<1>::rule, [([0.5], [0.1], [[2.0]])]);
    check_rule(horner::<f64>::rule, [(wave(5), 0.7), (vec![], 0.7)]);
    check_rule(horner::<f32>::rule, [(vec![0.5, 0.3, -0.7], 0.7), (vec![], 0.7)]);
    check_rule(cube_root::<f64>::rule, [(2.0, 5), (0.7, 0)]);
    check_rule(
        oscillator::<f64, 2>::rule,
        [([0.5, 0.3], [0.1, -0.2], [1.2, 0.7], 0.2, 5), ([0.7, 0.2], [0.3, 0.4], [0.5, 1.1], 0.1, 0)],
    );
    check_rule(oscillator::<f32, 1>::rule, [([0.5], [0.1], [1.2], 0.2, 3)]);
}
