//! Orbits, filters and regulators: structs that are overwritten in loops that are left early, small matrices by value.

use std::f64::consts::PI;

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
pub struct Vec3 {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

#[differentiable]
impl Vec3 {
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }
    pub fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }
    pub fn cross(self, o: Self) -> Self {
        Self::new(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)
    }
    pub fn norm(self) -> f64 {
        self.dot(self).sqrt()
    }
    pub fn scaled(self, k: f64) -> Self {
        Self { x: k * self.x, y: k * self.y, z: k * self.z }
    }
}
#[differentiable]
impl std::ops::Add for Vec3 {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::new(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}
#[differentiable]
impl std::ops::Sub for Vec3 {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self::new(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}
#[differentiable]
impl std::ops::Mul<f64> for Vec3 {
    type Output = Self;
    fn mul(self, k: f64) -> Self {
        self.scaled(k)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
pub struct StateVector {
    pub r: Vec3,
    pub v: Vec3,
}

#[differentiable]
fn stumpff(psi: f64) -> (f64, f64) {
    if psi > 1e-6 {
        let s = psi.sqrt();
        ((1.0 - s.cos()) / psi, (s - s.sin()) / (psi * s))
    } else if psi < -1e-6 {
        let s = (-psi).sqrt();
        ((s.cosh() - 1.0) / -psi, (s.sinh() - s) / (-psi * s))
    } else {
        (0.5 - psi / 24.0, 1.0 / 6.0 - psi / 120.0)
    }
}

#[differentiable]
fn kepler_universal(state: &StateVector, mu: f64, dt: f64) -> StateVector {
    let StateVector { r: r0, v: v0 } = *state;
    let r0n = r0.norm();
    let vr0 = r0.dot(v0) / r0n;
    let alpha = 2.0 / r0n - v0.dot(v0) / mu;
    let sqrt_mu = mu.sqrt();
    let mut chi = sqrt_mu * alpha.abs() * dt;
    for _ in 0..50 {
        let psi = alpha * chi.powi(2);
        let (c2, c3) = stumpff(psi);
        let f = r0n * vr0 / sqrt_mu * chi.powi(2) * c2 + (1.0 - alpha * r0n) * chi.powi(3) * c3 + r0n * chi
            - sqrt_mu * dt;
        let df = r0n * vr0 / sqrt_mu * chi * (1.0 - psi * c3) + (1.0 - alpha * r0n) * chi.powi(2) * c2 + r0n;
        let step = f / df;
        chi -= step;
        if step.abs() < 1e-13 {
            break;
        }
    }
    let psi = alpha * chi * chi;
    let (c2, c3) = stumpff(psi);
    let f = 1.0 - chi * chi / r0n * c2;
    let g = dt - chi.powi(3) / sqrt_mu * c3;
    let r = r0 * f + v0 * g;
    let rn = r.norm();
    let fdot = sqrt_mu / (rn * r0n) * (alpha * chi.powi(3) * c3 - chi);
    let gdot = 1.0 - chi * chi / rn * c2;
    StateVector { r, v: r0 * fdot + v0 * gdot }
}

#[differentiable]
fn miss_distance(state: &StateVector, target: Vec3, mu: f64, burns: &[(f64, Vec3)]) -> f64 {
    let mut s = *state;
    let mut total_dv = 0.0;
    for &(dt, dv) in burns {
        s = kepler_universal(&s, mu, dt);
        s.v = s.v + dv;
        total_dv += dv.norm();
    }
    let end = kepler_universal(&s, mu, 0.7);
    (end.r - target).norm() + 0.1 * total_dv
}

/// The cost of a linear quadratic regulator, by Riccati's recursion.
#[differentiable]
fn mat_mul<const N: usize, const K: usize, const M: usize>(
    a: &[[f64; K]; N],
    b: &[[f64; M]; K],
) -> [[f64; M]; N] {
    let mut out = [[0.0; M]; N];
    for (row, a_row) in out.iter_mut().zip(a) {
        for (j, o) in row.iter_mut().enumerate() {
            *o = a_row.iter().zip(b).map(|(x, b_row)| x * b_row[j]).sum();
        }
    }
    out
}
#[differentiable]
fn transpose<const N: usize, const M: usize>(a: &[[f64; M]; N]) -> [[f64; N]; M] {
    let mut t = [[0.0; N]; M];
    for i in 0..N {
        for j in 0..M {
            t[j][i] = a[i][j];
        }
    }
    t
}
#[differentiable]
fn lqr_cost(a: [[f64; 2]; 2], b: [[f64; 1]; 2], q: [f64; 2], r: f64, x0: [f64; 2], horizon: usize) -> f64 {
    let qm = [[q[0], 0.0], [0.0, q[1]]];
    let mut p = qm;
    for _ in 0..horizon {
        let pb = mat_mul(&p, &b);
        let bt = transpose(&b);
        let s = r + mat_mul(&bt, &pb)[0][0];
        let pa = mat_mul(&p, &a);
        let [row] = mat_mul(&bt, &pa);
        let k: [f64; 2] = row.map(|v| v / s);
        let at = transpose(&a);
        let apa = mat_mul(&at, &pa);
        let apb = mat_mul(&at, &pb);
        for i in 0..2 {
            for j in 0..2 {
                p[i][j] = qm[i][j] + apa[i][j] - apb[i][0] * k[j];
            }
        }
    }
    let px = [p[0][0] * x0[0] + p[0][1] * x0[1], p[1][0] * x0[0] + p[1][1] * x0[1]];
    x0.iter().zip(px.iter()).map(|(a, b)| a * b).sum()
}

/// An unscented Kalman filter of a pendulum.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
pub struct Gaussian2 {
    mean: [f64; 2],
    cov: [[f64; 2]; 2],
}

#[differentiable]
fn chol2(p: &[[f64; 2]; 2]) -> Option<[[f64; 2]; 2]> {
    if p[0][0] <= 0.0 {
        return None;
    }
    let l00 = p[0][0].sqrt();
    let l10 = p[1][0] / l00;
    let rest = p[1][1] - l10 * l10;
    (rest > 0.0).then(|| [[l00, 0.0], [l10, rest.sqrt()]])
}
#[differentiable]
fn ukf_loglik(
    prior: Gaussian2,
    q: f64,
    r: f64,
    gravity: f64,
    #[constant] ys: &[f64],
    dt: f64,
) -> Option<f64> {
    const W0: f64 = 1.0 / 3.0;
    const W: f64 = (1.0 - W0) / 4.0;
    let mut state = prior;
    let mut ll = 0.0;
    for &y in ys {
        let l = chol2(&state.cov)?;
        let spread = (2.0 / (1.0 - W0)).sqrt();
        let mut points = [state.mean; 5];
        for k in 0..2 {
            for d in 0..2 {
                points[1 + k][d] += spread * l[d][k];
                points[3 + k][d] -= spread * l[d][k];
            }
        }
        for p in points.iter_mut() {
            let [theta, omega] = *p;
            *p = [theta + dt * omega, omega - dt * gravity * theta.sin()];
        }
        let weights = [W0, W, W, W, W];
        let mut mean = [0.0; 2];
        for (p, w) in points.iter().zip(weights) {
            mean[0] += w * p[0];
            mean[1] += w * p[1];
        }
        let mut cov = [[q * dt, 0.0], [0.0, q]];
        let (mut yh, mut syy) = (0.0, r);
        for (p, w) in points.iter().zip(&weights) {
            yh += w * p[0].sin();
        }
        let mut sxy = [0.0; 2];
        for (p, w) in points.iter().zip(&weights) {
            let e = [p[0] - mean[0], p[1] - mean[1]];
            let ey = p[0].sin() - yh;
            for i in 0..2 {
                for j in 0..2 {
                    cov[i][j] += w * e[i] * e[j];
                }
                sxy[i] += w * e[i] * ey;
            }
            syy += w * ey * ey;
        }
        let innovation = y - yh;
        ll -= 0.5 * ((2.0 * PI * syy).ln() + innovation.powi(2) / syy);
        let gain = sxy.map(|s| s / syy);
        state = Gaussian2 {
            mean: std::array::from_fn(|i| mean[i] + gain[i] * innovation),
            cov: [
                [cov[0][0] - gain[0] * gain[0] * syy, cov[0][1] - gain[0] * gain[1] * syy],
                [cov[1][0] - gain[1] * gain[0] * syy, cov[1][1] - gain[1] * gain[1] * syy],
            ],
        };
    }
    Some(ll)
}

#[differentiable]
fn de_casteljau(control: &[Vec3], t: f64) -> Vec3 {
    let mut points = control.to_vec();
    while points.len() > 1 {
        points = points.windows(2).map(|w| w[0] * (1.0 - t) + w[1] * t).collect();
    }
    points[0]
}
#[differentiable]
fn arc_length(control: &[Vec3], n: usize) -> f64 {
    let mut last = de_casteljau(control, 0.0);
    let mut length = 0.0;
    for i in 1..=n {
        let p = de_casteljau(control, i as f64 / n as f64);
        length += (p - last).norm();
        last = p;
    }
    length
}

fn v(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3 { x, y, z }
}

#[test]
fn orbits() {
    let s = StateVector { r: v(1.0, 0.2, -0.1), v: v(0.1, 0.9, 0.3) };
    let burns = vec![(0.4, v(0.1, 0.0, 0.1)), (0.3, v(0.0, -0.1, 0.05))];
    check_rule(miss_distance::rule, [(s, v(-0.5, 0.8, 0.2), 1.0, burns)]);
}

#[test]
fn regulators() {
    let (a, b) = ([[1.0, 0.1], [0.2, 0.9]], [[0.3], [0.5]]);
    check_rule(
        lqr_cost::rule,
        [(a, b, [1.0, 0.4], 0.7, [1.0, -0.5], 4), (a, b, [1.0, 0.4], 0.7, [1.0, -0.5], 0)],
    );
}

#[test]
fn filters() {
    let prior = Gaussian2 { mean: [0.3, -0.1], cov: [[0.2, 0.03], [0.03, 0.1]] };
    let lost = Gaussian2 { cov: [[-1.0, 0.0], [0.0, 1.0]], ..prior };
    check_rule(
        ukf_loglik::rule,
        [(prior, 0.01, 0.1, 9.8, vec![0.3, 0.25, 0.1], 0.05), (lost, 0.01, 0.1, 9.8, vec![0.3], 0.05)],
    );
}

#[test]
fn curves() {
    let control = vec![v(0.0, 0.1, 0.2), v(1.0, 0.5, 0.3), v(0.2, 1.0, 0.9), v(2.0, 0.0, 1.0)];
    check_rule(arc_length::rule, [(control, 4)]);
}
