//! Differential equations.

use pullback::prelude::*;
use pullback::solve::{ode, ode_adjoint};
use pullback::testing::{allocations_in, check_gradient, check_rule};

use super::{close, panic_of};

#[differentiable]
fn lotka_volterra(p: &[f64], y: &mut [f64], t1: f64, tolerance: f64) -> f64 {
    #[pullback(recompute)]
    ode(
        |_t, y, dy| {
            dy[0] = p[0] * y[0] - p[1] * y[0] * y[1];
            dy[1] = p[2] * y[0] * y[1] - p[3] * y[1];
        },
        0.0,
        t1,
        y,
        constant(tolerance),
        constant(tolerance),
    );
    y[0] * y[0] + y[1]
}

#[differentiable]
fn by_adjoint(p: &[f64], y: &mut [f64], t1: f64, tolerance: f64) -> f64 {
    #[pullback(recompute)]
    ode_adjoint(
        |_t, y, dy| {
            dy[0] = p[0] * y[0] - p[1] * y[0] * y[1];
            dy[1] = p[2] * y[0] * y[1] - p[3] * y[1];
        },
        0.0,
        t1,
        y,
        constant(tolerance),
        constant(tolerance),
    );
    y[0] * y[0] + y[1]
}

/// y′ = −k·(y − sin t), with both times.
#[differentiable]
fn relaxation(k: f64, t0: f64, t1: f64, y0: f64) -> f64 {
    let mut y = [y0 * k];
    #[pullback(recompute)]
    ode(|t, y, dy| dy[0] = -k * (y[0] - t.sin()), t0, t1, &mut y, 1e-12, 1e-12);
    y[0]
}

#[differentiable]
fn relaxation_by_adjoint(k: f64, t0: f64, t1: f64, y0: f64) -> f64 {
    let mut y = [y0 * k];
    #[pullback(recompute)]
    ode_adjoint(|t, y, dy| dy[0] = -k * (y[0] - t.sin()), t0, t1, &mut y, 1e-12, 1e-12);
    y[0]
}

/// Observed at several times, with a right-hand side that has a rule of its own.
#[differentiable]
fn pendulum(t: f64, y: &[f64], dy: &mut [f64], damping: f64, drive: &[f64]) {
    dy[0] = y[1];
    dy[1] = -y[0].sin() - damping * y[1] + drive[0] * (drive[1] * t).cos();
}

#[differentiable]
fn misfit(
    damping: f64,
    drive: &[f64],
    angle: f64,
    #[constant] times: &[f64],
    #[constant] seen: &[f64],
) -> f64 {
    let mut y = [angle, 0.0];
    let mut total = 0.0;
    for i in 0..seen.len() {
        #[pullback(recompute)]
        ode(|t, y, dy| pendulum(t, y, dy, damping, drive), times[i], times[i + 1], &mut y, 1e-10, 1e-10);
        let r = y[0] - seen[i];
        total += r * r;
        if y[0] > 0.2 {
            y[1] -= damping * 0.5;
        }
    }
    total
}

/// The classical equations with steps given: what the discrete adjoint has to be the gradient of.
#[test]
fn the_discrete_adjoint_is_the_derivative_of_what_was_computed() {
    check_rule(
        lotka_volterra::rule,
        [
            (vec![0.6, 0.4, 0.3, 0.5], vec![1.0, 0.5], 2.0, 1e-9),
            (vec![0.5, 0.3, 0.2, 0.4], vec![0.7, 1.5], 0.5, 1e-9),
        ],
    );
    // With a loose tolerance the steps are few, and stay as they are for small changes of what does not move them: with a
    // complex step's precision this is seen by Richardson's differences of a problem whose error estimate is scaled away.
    let p = [0.6, 0.4, 0.3, 0.5];
    let mut g = lotka_volterra::gradient();
    let (value, d) = g.value_and_gradient(&p, &mut [1.0, 0.5], 2.0, 1e-3);
    let d: Vec<f64> = d.p.iter().chain(d.y).copied().collect();
    let steps = steps_of(&p, [1.0, 0.5], 2.0, 1e-3);
    assert!(steps.len() > 1);
    let run = |x: &[f64]| {
        let y = with_steps(&x[..4], [x[4], x[5]], &steps);
        y[0] * y[0] + y[1]
    };
    let x = [0.6, 0.4, 0.3, 0.5, 1.0, 0.5];
    assert!((run(&x) - value).abs() < 1e-14);
    for i in 0..6 {
        let at = |h: f64| {
            let mut x = x;
            x[i] += h;
            run(&x)
        };
        let slope = |h: f64| (8.0 * (at(h) - at(-h)) - at(2.0 * h) + at(-2.0 * h)) / (12.0 * h);
        let extrapolated = (16.0 * slope(1e-3) - slope(2e-3)) / 15.0;
        close(d[i], extrapolated, 1e-10);
    }
}

type Tableau = ([f64; 6], [[f64; 5]; 5], [f64; 6]);

const TABLEAU: Tableau = (
    [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0],
    [
        [0.2, 0.0, 0.0, 0.0, 0.0],
        [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0],
        [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0],
        [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0],
        [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    ],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
);

fn field(p: &[f64], y: [f64; 2]) -> [f64; 2] {
    [p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]]
}

/// Dormand and Prince's formula with steps of the sizes `steps`.
fn with_steps(p: &[f64], mut y: [f64; 2], steps: &[f64]) -> [f64; 2] {
    let (_, a, b) = TABLEAU;
    for h in steps {
        let mut k = [[0.0; 2]; 6];
        for s in 0..6 {
            let mut z = y;
            for j in 0..s {
                z[0] += h * a[s - 1][j] * k[j][0];
                z[1] += h * a[s - 1][j] * k[j][1];
            }
            k[s] = field(p, z);
        }
        for s in 0..6 {
            y[0] += h * b[s] * k[s][0];
            y[1] += h * b[s] * k[s][1];
        }
    }
    y
}

/// The sizes of the steps that `ode` takes: seen by the times at which it asks for slopes. Six new ones make a step, the last of which
/// is the end of it; a step that was rejected is followed by earlier times.
fn steps_of(p: &[f64], y: [f64; 2], t1: f64, tolerance: f64) -> Vec<f64> {
    let times = std::cell::RefCell::new(Vec::new());
    ode(
        |t, y, dy| {
            times.borrow_mut().push(t);
            dy.copy_from_slice(&field(p, [y[0], y[1]]));
        },
        0.0,
        t1,
        &mut y.clone(),
        tolerance,
        tolerance,
    );
    let times = times.into_inner();
    // The first two are the slope at the start and the trial of the first step.
    let ends: Vec<f64> = times[2..].chunks(6).map(|chunk| chunk[5]).collect();
    let starts: Vec<f64> = times[2..].chunks(6).map(|chunk| chunk[0]).collect();
    let mut steps = Vec::new();
    let mut t = 0.0;
    for i in 0..ends.len() {
        let accepted = starts.get(i + 1).is_none_or(|next| *next > ends[i]);
        if accepted {
            steps.push(ends[i] - t);
            t = ends[i];
        }
    }
    assert!((t - t1).abs() < 1e-15);
    steps
}

#[test]
fn the_adjoint_equation_agrees_to_the_tolerance() {
    check_rule(by_adjoint::rule, [(vec![0.6, 0.4, 0.3, 0.5], vec![1.0, 0.5], 2.0, 1e-11)]);
    let p = [0.6, 0.4, 0.3, 0.5];
    let reference =
        lotka_volterra::gradient().value_and_gradient(&p, &mut [1.0, 0.5], 3.0, 1e-13).1.p.to_vec();
    for tolerance in [1e-5, 1e-7, 1e-9] {
        let mut g = by_adjoint::gradient();
        let (value, d) = g.value_and_gradient(&p, &mut [1.0, 0.5], 3.0, tolerance);
        assert_eq!(value, lotka_volterra(&p, &mut [1.0, 0.5], 3.0, tolerance));
        for i in 0..4 {
            close(d.p[i], reference[i], 100.0 * tolerance);
        }
    }
}

#[test]
fn times_have_gradients() {
    // y = (y0 + k/(1+k²))·e^(−kt) + (k² sin t − k cos t)/(1+k²), for t0 = 0
    let exact = |k: f64, t: f64, y0: f64| {
        let q = 1.0 + k * k;
        (y0 * k + k / q) * (-k * t).exp() + (k * k * t.sin() - k * t.cos()) / q
    };
    let (k, t1, y0) = (0.8, 1.7, 0.4);
    let mut discrete = relaxation::gradient();
    let mut adjoint = relaxation_by_adjoint::gradient();
    let h = 1e-5;
    let by_k = (exact(k + h, t1, y0) - exact(k - h, t1, y0)) / (2.0 * h);
    let (y, d) = discrete.value_and_gradient(k, 0.0, t1, y0);
    let (d_k, d_t0, d_t1, d_y0) = (d.k, d.t0, d.t1, d.y0);
    close(y, exact(k, t1, y0), 1e-10);
    close(d_k, by_k, 1e-8);
    close(d_t1, -k * (y - t1.sin()), 1e-9);
    close(d_t0, k * (y0 * k) * (-k * t1).exp(), 1e-9);
    close(d_y0, k * (-k * t1).exp(), 1e-9);
    let (y, d) = adjoint.value_and_gradient(k, 0.0, t1, y0);
    close(d.k, d_k, 1e-9);
    close(d.t1, d_t1, 1e-9);
    close(d.t0, d_t0, 1e-9);
    close(d.y0, d_y0, 1e-9);
    // Backwards, and not at all.
    let (y, d) = discrete.value_and_gradient(k, t1, 0.0, y0);
    let (d_t0, d_t1) = (d.t0, d.t1);
    let (other, d) = adjoint.value_and_gradient(k, t1, 0.0, y0);
    assert_eq!(y, other);
    close(d.t0, d_t0, 1e-9);
    close(d.t1, d_t1, 1e-9);
    close(d_t1, -k * y, 1e-9);
    for gradient in
        [discrete.value_and_gradient(k, 0.5, 0.5, y0).1.t1, adjoint.value_and_gradient(k, 0.5, 0.5, y0).1.t1]
    {
        close(gradient, -k * (y0 * k - 0.5_f64.sin()), 1e-14);
    }
}

#[test]
fn several_intervals() {
    check_rule(
        misfit::rule,
        [
            (0.3, vec![0.4, 1.2], 0.5, vec![0.0, 0.5, 0.9, 2.0], vec![0.4, 0.2, -0.1]),
            (0.1, vec![0.2, 0.7], -0.3, vec![0.0, 1.5], vec![0.3]),
        ],
    );
}

#[test]
fn second_calls_allocate_nothing() {
    let p = [0.6, 0.4, 0.3, 0.5];
    let mut y = [1.0, 0.5];
    let mut g = lotka_volterra::gradient();
    g.value_and_gradient(&p, &mut y, 2.0, 1e-9);
    assert_eq!(allocations_in(|| drop(g.value_and_gradient(&p, &mut y, 2.0, 1e-9))).1, 0);
    let mut g = by_adjoint::gradient();
    g.value_and_gradient(&p, &mut y, 2.0, 1e-9);
    assert_eq!(allocations_in(|| drop(g.value_and_gradient(&p, &mut y, 2.0, 1e-9))).1, 0);
}

#[differentiable]
fn explosion(k: f64, t1: f64) -> f64 {
    let mut y = [1.0];
    #[pullback(recompute)]
    ode(|_, y, dy| dy[0] = k * y[0] * y[0], 0.0, t1, &mut y, 1e-8, 1e-8);
    y[0]
}

#[test]
fn failures_name_the_function_and_leave_the_gradient_usable() {
    let mut g = explosion::gradient();
    let first = g.value_and_gradient(1.0, 0.5).1.k;
    let message = panic_of(|| drop(g.value_and_gradient(1.0, 1.5)));
    assert!(message.starts_with("ode: no step of size "), "{message}");
    assert_eq!(g.value_and_gradient(1.0, 0.5).1.k, first);
    let message = panic_of(|| ode_adjoint(|_, y, dy| dy[0] = y[0] * y[0], 0.0, 2.0, &mut [1.0], 1e-8, 1e-8));
    assert!(message.starts_with("ode_adjoint: no step of size "), "{message}");
    let message = panic_of(|| ode(|_, _, dy| dy[0] = f64::NAN, 0.0, 2.0, &mut [1.0], 1e-8, 1e-8));
    assert!(message.starts_with("ode: no step of size "), "{message}");
}
