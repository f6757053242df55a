//! Fixed points, roots and linear systems.

use pullback::prelude::*;
use pullback::solve::{Adjoint, at_root, cg, fixed_point, gmres, root, zero};
use pullback::testing::{allocations_in, check_gradient, check_rule};

use super::{close, panic_of};

#[differentiable]
fn kepler(anomaly: f64, eccentricity: f64) -> f64 {
    #[pullback(recompute)]
    zero(|e| e - eccentricity * e.sin() - anomaly, -1.0, 8.0, 1e-15)
}

#[differentiable]
fn dottie(a: f64, x: &mut [f64]) -> f64 {
    #[pullback(recompute)]
    fixed_point(|x, y| y[0] = (a * x[0]).cos(), x, 1e-14, 1000);
    x[0]
}

/// A network whose state feeds itself.
#[differentiable]
fn equilibrium(w: &[f64], input: &[f64], iterations: usize) -> f64 {
    let n = input.len();
    let mut x = vec![0.0; n];
    #[pullback(recompute)]
    fixed_point(
        |x, y| {
            for i in 0..n {
                let mut sum = input[i];
                for j in 0..n {
                    sum += w[i * n + j] * x[j];
                }
                y[i] = sum.tanh();
            }
        },
        &mut x,
        1e-14,
        iterations,
    );
    let mut total = 0.0;
    for i in 0..n {
        total += x[i] * x[i] * input[i];
    }
    total
}

/// Where a circle and a cubic meet.
#[differentiable]
fn crossing(r: f64, c: &[f64], x: &mut [f64]) -> f64 {
    #[pullback(recompute)]
    root(
        |x, f| {
            f[0] = x[0] * x[0] + x[1] * x[1] - r * r;
            f[1] = x[1] - c[0] * x[0].powi(3) - c[1];
        },
        x,
        1e-12,
        50,
    );
    x[0] * x[1]
}

/// The same with a solution from elsewhere.
#[differentiable]
fn found(r: f64, c: &[f64], #[constant] solution: &[f64], iterations: usize) -> f64 {
    let mut x = [solution[0], solution[1]];
    if iterations == 0 {
        #[pullback(recompute)]
        at_root(
            |x, f| {
                f[0] = x[0] * x[0] + x[1] * x[1] - r * r;
                f[1] = x[1] - c[0] * x[0].powi(3) - c[1];
            },
            &mut x,
            1e-9,
            Adjoint::Dense,
        );
    } else {
        #[pullback(recompute)]
        at_root(
            |x, f| {
                f[0] = x[0] * x[0] + x[1] * x[1] - r * r;
                f[1] = x[1] - c[0] * x[0].powi(3) - c[1];
            },
            &mut x,
            1e-9,
            Adjoint::Gmres { tolerance: 1e-14, iterations },
        );
    }
    x[0] * x[1]
}

/// −u″ + c·u = b on a line, c from place to place.
#[differentiable]
fn diffusion(c: &[f64], b: &[f64], iterations: usize) -> f64 {
    let n = b.len();
    let mut u = vec![0.0; n];
    #[pullback(recompute)]
    cg(
        |v, out| {
            for i in 0..n {
                let mut sum = (2.0 + c[i]) * v[i];
                if i > 0 {
                    sum -= v[i - 1];
                }
                if i + 1 < n {
                    sum -= v[i + 1];
                }
                out[i] = sum;
            }
        },
        b,
        &mut u,
        1e-14,
        iterations,
    );
    let mut total = 0.0;
    for i in 0..n {
        total += u[i] * u[i] * (i + 1) as f64;
    }
    total
}

/// With a wind: not symmetric.
#[differentiable]
fn advection(wind: f64, c: &[f64], b: &[f64], u: &mut [f64]) -> f64 {
    let n = b.len();
    let upstream = -1.0 - wind;
    #[pullback(recompute)]
    gmres(
        |v, out| {
            for i in 0..n {
                let mut sum = (2.0 + c[i] + wind) * v[i];
                if i > 0 {
                    sum += upstream * v[i - 1];
                }
                if i + 1 < n {
                    sum -= v[i + 1] * c[i];
                }
                out[i] = sum;
            }
        },
        b,
        u,
        1e-14,
        500,
    );
    let mut total = 0.0;
    for i in 0..n {
        total += u[i] * u[i] * (i + 1) as f64;
    }
    total
}

#[test]
fn keplers_equation() {
    check_rule(kepler::rule, [(0.7, 0.3), (2.5, 0.9), (0.1, 0.0)]);
    let mut g = kepler::gradient();
    for (m, eccentricity) in [(0.3, 0.2), (1.2, 0.6), (3.0, 0.97), (6.0, 0.5)] {
        let (e, d) = g.value_and_gradient(m, eccentricity);
        let slope = 1.0 - eccentricity * e.cos();
        close(d.anomaly, 1.0 / slope, 1e-14);
        close(d.eccentricity, e.sin() / slope, 1e-14);
    }
}

#[test]
fn fixed_points() {
    check_rule(dottie::rule, [(0.9, vec![0.5]), (0.4, vec![-1.0])]);
    let mut g = dottie::gradient();
    let (x, d) = g.value_and_gradient(0.9, &mut [0.5]);
    let s = (0.9 * x).sin();
    close(d.a, -s * x / (1.0 + 0.9 * s), 1e-12);
    assert_eq!(d.x, [0.0]);
    check_rule(
        equilibrium::rule,
        [
            (vec![0.2, -0.4, 0.3, 0.1], vec![0.5, -0.7], 500),
            (vec![0.2, -0.1, 0.3, 0.1, 0.2, -0.3, 0.25, 0.0, 0.4], vec![0.5, -0.7, 0.2], 500),
            (vec![0.2], vec![0.5], 500),
        ],
    );
}

/// The pullback costs as much for a bad start as for a good one, and has the same result.
#[test]
fn the_start_does_not_matter() {
    let mut g = crossing::gradient();
    let mut solution = [1.5, 1.0];
    crossing(2.0, &[0.25, 0.5], &mut solution);
    let from_there = g.value_and_gradient(2.0, &[0.25, 0.5], &mut solution).1.r;
    let from_afar = g.value_and_gradient(2.0, &[0.25, 0.5], &mut [4.0, 3.0]).1.r;
    close(from_afar, from_there, 1e-12);
}

#[test]
fn roots() {
    check_rule(
        crossing::rule,
        [(2.0, vec![0.25, 0.5], vec![1.5, 1.0]), (1.5, vec![0.5, -0.25], vec![1.0, 0.5])],
    );
    let (r, c) = (2.0, [0.25, 0.5]);
    let mut solution = [1.5, 1.0];
    crossing(r, &c, &mut solution);
    let (mut reference, mut g) = (crossing::gradient(), found::gradient());
    for iterations in [0, 20] {
        let (value, d) = reference.value_and_gradient(r, &c, &mut [1.5, 1.0]);
        let (other, other_d) = g.value_and_gradient(r, &c, &solution, iterations);
        assert_eq!(value, other);
        close(other_d.r, d.r, 1e-12);
        close(other_d.c[0], d.c[0], 1e-12);
        close(other_d.c[1], d.c[1], 1e-12);
    }
}

#[test]
fn linear_systems() {
    let values = |n: usize, a: f64| (0..n).map(|i| 0.3 + (a * i as f64).sin().abs()).collect::<Vec<_>>();
    check_rule(
        diffusion::rule,
        [
            (values(5, 1.0), values(5, 2.0), 100),
            (values(2, 0.7), values(2, 0.3), 100),
            (values(8, 0.7), values(8, 0.3), 100),
        ],
    );
    check_rule(
        advection::rule,
        [
            (0.5, values(5, 1.0), values(5, 2.0), vec![0.0; 5]),
            (-0.4, values(3, 0.7), values(3, 0.3), vec![1.0; 3]),
        ],
    );
    // More unknowns than GMRES has room for at a time.
    let n = 120;
    let (c, b) = (values(n, 1.0), values(n, 2.0));
    let mut g = advection::gradient();
    let (value, d) = g.value_and_gradient(0.5, &c, &b, &mut vec![0.0; n]);
    let moved =
        advection(0.5 + 1e-6, &c, &b, &mut vec![0.0; n]) - advection(0.5 - 1e-6, &c, &b, &mut vec![0.0; n]);
    close(d.wind, moved / 2e-6, 1e-6);
}

#[test]
fn second_calls_allocate_nothing() {
    let mut g = kepler::gradient();
    g.value_and_gradient(0.7, 0.3);
    assert_eq!(allocations_in(|| drop(g.value_and_gradient(0.9, 0.4))).1, 0);
    let mut g = crossing::gradient();
    g.value_and_gradient(2.0, &[0.25, 0.5], &mut [1.5, 1.0]);
    assert_eq!(allocations_in(|| drop(g.value_and_gradient(2.1, &[0.25, 0.5], &mut [1.5, 1.0]))).1, 0);
    let mut g = dottie::gradient();
    g.value_and_gradient(0.9, &mut [0.5]);
    assert_eq!(allocations_in(|| drop(g.value_and_gradient(0.8, &mut [0.4]))).1, 0);
    let mut g = advection::gradient();
    let (c, b) = ([0.4; 6], [0.3; 6]);
    g.value_and_gradient(0.5, &c, &b, &mut [0.0; 6]);
    assert_eq!(allocations_in(|| drop(g.value_and_gradient(0.6, &c, &b, &mut [0.0; 6]))).1, 0);
    let mut g = found::gradient();
    let mut solution = [1.5, 1.0];
    crossing(2.0, &[0.25, 0.5], &mut solution);
    for iterations in [0, 20] {
        g.value_and_gradient(2.0, &[0.25, 0.5], &solution, iterations);
        let call = || drop(g.value_and_gradient(2.0, &[0.25, 0.5], &solution, iterations));
        assert_eq!(allocations_in(call).1, 0);
    }
}

#[differentiable]
fn flat(k: f64) -> f64 {
    #[pullback(recompute)]
    zero(|x| k * x * x * x, -1.0, 1.0, 1e-15)
}

#[differentiable]
fn singular(k: f64, x: &mut [f64]) -> f64 {
    #[pullback(recompute)]
    at_root(
        |x, f| {
            f[0] = k * (x[0] + x[1]);
            f[1] = k * (x[0] + x[1]);
        },
        x,
        1e-9,
        Adjoint::Dense,
    );
    x[0]
}

#[test]
fn failures_name_the_function_and_leave_the_gradient_usable() {
    let message = panic_of(|| fixed_point(|x, y| y[0] = 2.0 * x[0], &mut [1.0], 1e-9, 20));
    assert!(message.starts_with("fixed_point: no convergence in 20 iterations"), "{message}");
    let message = panic_of(|| root(|x, f| f[0] = x[0] * x[0] + 1.0, &mut [0.5], 1e-9, 20));
    assert!(message.starts_with("root: "), "{message}");
    let message = panic_of(|| at_root(|x, f| f[0] = x[0] - 1.0, &mut [0.5], 1e-9, Adjoint::Dense));
    assert!(message.starts_with("at_root: this is no root, the residual is 5e-1"), "{message}");
    let message = panic_of(|| drop(zero(|x| x * x + 1.0, -1.0, 1.0, 1e-9)));
    assert!(message.starts_with("zero: the function has the values 2e0 and 2e0"), "{message}");
    let message = panic_of(|| cg(|v, out| out[0] = -v[0], &[1.0], &mut [0.0], 1e-9, 20));
    assert!(message.contains("cg: no solution in 20 iterations: the matrix is not symmetric"), "{message}");
    let message = panic_of(|| gmres(|v, out| out[0] = 0.0 * v[0], &[1.0], &mut [0.0], 1e-9, 20));
    assert!(message.contains("gmres: no solution in 20 iterations"), "{message}");
    let message = panic_of(|| drop(flat::gradient().value_and_gradient(1.0)));
    assert!(message.starts_with("zero: the function has no slope"), "{message}");
    let message = panic_of(|| drop(singular::gradient().value_and_gradient(1.0, &mut [1.0, -1.0])));
    assert!(message.starts_with("at_root: the Jacobian at the root has no inverse"), "{message}");

    let mut g = equilibrium::gradient();
    let (w, input) = ([0.2, -0.4, 0.3, 0.1], [0.5, -0.7]);
    let first = g.value_and_gradient(&w, &input, 500).1.w.to_vec();
    assert!(
        panic_of(|| drop(g.value_and_gradient(&w, &input, 3))).starts_with("fixed_point: no convergence")
    );
    assert_eq!(g.value_and_gradient(&w, &input, 500).1.w, first);
    let mut g = kepler::gradient();
    assert!(panic_of(|| drop(g.value_and_gradient(20.0, 0.1))).starts_with("zero: "));
    close(g.value_and_gradient(0.3, 0.0).1.anomaly, 1.0, 1e-15);
}

/// Nothing of the iterations is kept, however many.
#[test]
fn memory_does_not_grow_with_the_iterations() {
    use pullback::State;
    let mut rule = dottie::rule();
    let mut pending = |tolerance_start: f64| {
        let mut x = [tolerance_start];
        rule.forward(dottie::args(0.95, &mut x));
        let bytes = rule.pending();
        rule.reset();
        bytes
    };
    assert_eq!(pending(0.7), pending(-40.0));
}
