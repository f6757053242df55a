//! Bodies, springs, pendulums and arms.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// Kepler's problem by leapfrog; returns how far the end is from `goal`, and the energy.
#[differentiable]
fn kepler_orbit(q: [f64; 2], p: [f64; 2], goal: &[f64; 2], dt: f64, steps: usize) -> (f64, f64) {
    let mut q = q;
    let mut p = p;
    for _ in 0..steps {
        for k in 0..2 {
            q[k] += 0.5 * dt * p[k];
        }
        let r3 = (q[0] * q[0] + q[1] * q[1]).powf(1.5);
        for k in 0..2 {
            p[k] -= dt * q[k] / r3;
        }
        for k in 0..2 {
            q[k] += 0.5 * dt * p[k];
        }
    }
    let miss = (q[0] - goal[0]).powi(2) + (q[1] - goal[1]).powi(2);
    let kinetic = 0.5 * (p[0] * p[0] + p[1] * p[1]);
    (miss, kinetic - 1.0 / q[0].hypot(q[1]))
}

/// Accelerations under softened gravity.
#[differentiable]
fn accelerations(positions: &[[f64; 3]], masses: &[f64], softening: f64, out: &mut [[f64; 3]]) {
    let n = positions.len();
    for i in 0..n {
        out[i] = [0.0; 3];
        for j in 0..n {
            if i == j {
                // No pull on itself.
            } else {
                let dx = positions[j][0] - positions[i][0];
                let dy = positions[j][1] - positions[i][1];
                let dz = positions[j][2] - positions[i][2];
                let r2 = dx * dx + dy * dy + dz * dz + softening * softening;
                let pull = masses[j] / (r2 * r2.sqrt());
                out[i][0] += pull * dx;
                out[i][1] += pull * dy;
                out[i][2] += pull * dz;
            }
        }
    }
}

/// Velocity Verlet, in place; returns the kinetic energy at the end.
#[differentiable]
fn n_body(
    positions: &mut [[f64; 3]],
    velocities: &mut [[f64; 3]],
    masses: &[f64],
    dt: f64,
    steps: usize,
) -> f64 {
    let n = masses.len();
    let mut a = vec![[0.0; 3]; n];
    accelerations(positions, masses, 0.1, &mut a);
    for _ in 0..steps {
        for i in 0..n {
            for k in 0..3 {
                velocities[i][k] += 0.5 * dt * a[i][k];
                positions[i][k] += dt * velocities[i][k];
            }
        }
        accelerations(positions, masses, 0.1, &mut a);
        for i in 0..n {
            for k in 0..3 {
                velocities[i][k] += 0.5 * dt * a[i][k];
            }
        }
    }
    let mut kinetic = 0.0;
    for i in 0..n {
        let v = velocities[i];
        kinetic += 0.5 * masses[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    kinetic
}

const G: f64 = 9.81;

/// The angular velocities and accelerations of two rods of length one.
#[differentiable]
fn double_pendulum_rhs(s: [f64; 4], m1: f64, m2: f64) -> [f64; 4] {
    let (t1, t2) = (s[0], s[1]);
    let (w1, w2) = (s[2], s[3]);
    let delta = t1 - t2;
    let (sin, cos) = delta.sin_cos();
    let denominator = 2.0 * m1 + m2 - m2 * (2.0 * delta).cos();
    let a1 = (-G * (2.0 * m1 + m2) * t1.sin()
        - m2 * G * (t1 - 2.0 * t2).sin()
        - 2.0 * sin * m2 * (w2 * w2 + w1 * w1 * cos))
        / denominator;
    let a2 = 2.0 * sin * (w1 * w1 * (m1 + m2) + G * (m1 + m2) * t1.cos() + w2 * w2 * m2 * cos) / denominator;
    [w1, w2, a1, a2]
}

/// The midpoint rule; returns where the tip is.
#[differentiable]
fn double_pendulum(start: &[f64; 4], m1: f64, m2: f64, dt: f64, steps: usize) -> (f64, f64) {
    let mut s = *start;
    for _ in 0..steps {
        let slope = double_pendulum_rhs(s, m1, m2);
        let mut middle = [0.0; 4];
        for k in 0..4 {
            middle[k] = s[k] + 0.5 * dt * slope[k];
        }
        let slope = double_pendulum_rhs(middle, m1, m2);
        for k in 0..4 {
            s[k] += dt * slope[k];
        }
    }
    (s[0].sin() + s[1].sin(), -s[0].cos() - s[1].cos())
}

#[differentiable]
fn multiply(a: &[[f64; 4]; 4], b: &[[f64; 4]; 4]) -> [[f64; 4]; 4] {
    let mut c = [[0.0; 4]; 4];
    for i in 0..4 {
        for j in 0..4 {
            for k in 0..4 {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    c
}

/// One link by Denavit and Hartenberg.
#[differentiable]
fn link(theta: f64, d: f64, a: f64, alpha: f64) -> [[f64; 4]; 4] {
    let (st, ct) = theta.sin_cos();
    let (sa, ca) = alpha.sin_cos();
    [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0.0, sa, ca, d], [0.0, 0.0, 0.0, 1.0]]
}

/// Where the tool of an arm with any number of joints is.
#[differentiable]
fn forward_kinematics(joints: &[f64], #[constant] links: &[[f64; 3]]) -> [f64; 3] {
    let mut pose = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
    for i in 0..joints.len() {
        pose = multiply(&pose, &link(joints[i], links[i][0], links[i][1], links[i][2]));
    }
    [pose[0][3], pose[1][3], pose[2][3]]
}

/// A chain of masses between springs with damping, by symplectic Euler; the springs do not push.
#[differentiable]
fn hanging_chain(x: &mut [f64], v: &mut [f64], stiffness: f64, damping: f64, dt: f64, steps: usize) -> f64 {
    let n = x.len();
    for _ in 0..steps {
        for i in 1..n {
            let stretch = x[i] - x[i - 1] - 1.0;
            let relative = v[i] - v[i - 1];
            let mut force = stiffness * stretch + damping * relative;
            if stretch < 0.0 {
                force = damping * relative;
            }
            v[i] += dt * (G - force);
            if i > 1 {
                v[i - 1] += dt * force;
            }
        }
        for i in 1..n {
            x[i] += dt * v[i];
        }
    }
    x[n - 1]
}

#[test]
fn orbits() {
    check_rule(
        kepler_orbit::rule,
        [([1.0, 0.1], [0.1, 0.9], [0.3, 0.8], 0.05, 20), ([0.8, -0.2], [0.3, 1.1], [0.0, 1.0], 0.1, 0)],
    );
    let positions = vec![[0.0, 0.1, 0.2], [1.0, 0.3, -0.2], [-0.4, 1.2, 0.5], [0.7, -0.9, 1.1]];
    let velocities = vec![[0.1, 0.0, 0.2], [-0.1, 0.3, 0.0], [0.0, 0.2, -0.3], [0.2, 0.1, 0.0]];
    let masses = vec![1.0, 0.5, 2.0, 0.7];
    check_rule(
        n_body::rule,
        [
            (positions.clone(), velocities.clone(), masses.clone(), 0.05, 5),
            (positions[..2].to_vec(), velocities[..2].to_vec(), masses[..2].to_vec(), 0.1, 3),
            (positions[..1].to_vec(), velocities[..1].to_vec(), masses[..1].to_vec(), 0.1, 0),
        ],
    );
}

#[test]
fn pendulums_and_arms() {
    check_rule(
        double_pendulum::rule,
        [([0.5, -0.3, 0.1, 0.2], 1.0, 0.7, 0.01, 12), ([1.5, 0.8, -0.4, 0.0], 0.6, 1.4, 0.02, 1)],
    );
    let links = vec![[0.3, 0.0, 1.2], [0.0, 0.9, 0.1], [0.1, 0.4, -1.5]];
    check_rule(
        forward_kinematics::rule,
        [(vec![0.3, -0.5, 0.9], links.clone()), (vec![0.7], links[..1].to_vec()), (vec![], vec![])],
    );
    CheckRule::new(hanging_chain::rule)
        .inputs([
            (vec![0.0, 1.05, 2.1, 2.9], vec![0.0, 0.1, -0.2, 0.0], 50.0, 0.5, 0.01, 20),
            (vec![0.0, 1.2], vec![0.0, 0.1], 30.0, 0.3, 0.02, 3),
        ])
        .run();
}
