//! What robots estimate: poses from a graph of factors, motion from an inertial unit, the alignment of points.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

#[derive(Debug, Clone, Copy, PartialEq, Default, Differentiable)]
struct V3 {
    x: f64,
    y: f64,
    z: f64,
}
#[derive(Debug, Clone, Copy, PartialEq, Differentiable)]
struct Quat {
    w: f64,
    v: V3,
}
#[derive(Debug, Clone, Copy, Differentiable)]
struct Pose {
    q: Quat,
    t: V3,
}

#[differentiable]
impl Add for V3 {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        V3 { x: self.x + rhs.x, y: self.y + rhs.y, z: self.z + rhs.z }
    }
}
#[differentiable]
impl Sub for V3 {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self::Output {
        Self::new(self.x - rhs.x, self.y - rhs.y, self.z - rhs.z)
    }
}
#[differentiable]
impl Neg for V3 {
    type Output = Self;
    fn neg(self) -> Self {
        V3::new(-self.x, -self.y, -self.z)
    }
}
#[differentiable]
impl Mul<f64> for V3 {
    type Output = V3;
    fn mul(self, s: f64) -> V3 {
        V3::new(self.x * s, self.y * s, self.z * s)
    }
}
#[differentiable]
impl Mul<V3> for f64 {
    type Output = V3;
    fn mul(self, v: V3) -> V3 {
        v * self
    }
}
#[differentiable]
impl Div<f64> for V3 {
    type Output = V3;
    fn div(self, s: f64) -> V3 {
        self * (1.0 / s)
    }
}
impl AddAssign for V3 {
    fn add_assign(&mut self, o: V3) {
        *self = *self + o;
    }
}

#[differentiable]
impl V3 {
    const ZERO: V3 = V3 { x: 0.0, y: 0.0, z: 0.0 };
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        V3 { x, y, z }
    }
    pub fn dot(self, o: Self) -> f64 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    pub fn cross(self, o: Self) -> Self {
        V3::new(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)
    }
    pub fn norm_squared(&self) -> f64 {
        self.dot(*self)
    }
    pub fn norm(&self) -> f64 {
        self.norm_squared().sqrt()
    }
    pub fn normalized(&self) -> Option<V3> {
        let n = self.norm();
        (n > 1e-12).then(|| *self / n)
    }
}
#[differentiable]
impl Mul for Quat {
    type Output = Quat;
    fn mul(self, o: Quat) -> Quat {
        Quat { w: self.w * o.w - self.v.dot(o.v), v: o.v * self.w + self.v * o.w + self.v.cross(o.v) }
    }
}
#[differentiable]
impl Quat {
    pub const IDENTITY: Quat = Quat { w: 1.0, v: V3::ZERO };
    fn conj(self) -> Self {
        Quat { v: -self.v, ..self }
    }
    fn rotate(self, p: V3) -> V3 {
        let t = 2.0 * self.v.cross(p);
        p + self.w * t + self.v.cross(t)
    }
    fn exp(w: V3) -> Quat {
        let theta2 = w.norm_squared();
        if theta2 < 1e-12 {
            return Quat { w: 1.0 - theta2 / 8.0, v: w * 0.5 };
        }
        let theta = theta2.sqrt();
        let (s, c) = (0.5 * theta).sin_cos();
        Quat { w: c, v: w * (s / theta) }
    }
    fn log(self) -> V3 {
        let n = self.v.norm();
        if n < 1e-10 { 2.0 * self.v } else { self.v * (2.0 * n.atan2(self.w) / n) }
    }
    fn normalize(&mut self) {
        let n = (self.w * self.w + self.v.norm_squared()).sqrt();
        self.w /= n;
        self.v = self.v / n;
    }
}
#[differentiable]
impl Mul for Pose {
    type Output = Pose;
    fn mul(self, o: Pose) -> Pose {
        Pose { q: self.q * o.q, t: self.t + self.q.rotate(o.t) }
    }
}
#[differentiable]
impl Pose {
    fn inverse(&self) -> Pose {
        let qi = self.q.conj();
        Pose { q: qi, t: -qi.rotate(self.t) }
    }
    fn transform(&self, p: V3) -> V3 {
        self.q.rotate(p) + self.t
    }
    fn retract(&self, xi: &[f64]) -> Pose {
        Pose { q: self.q * Quat::exp(V3::new(xi[0], xi[1], xi[2])), t: self.t + V3::new(xi[3], xi[4], xi[5]) }
    }
    fn local(&self) -> [f64; 6] {
        let w = self.q.log();
        [w.x, w.y, w.z, self.t.x, self.t.y, self.t.z]
    }
}

#[derive(Clone, Debug)]
enum Factor {
    Prior { node: usize, measured: Pose, weight: f64 },
    Between { from: usize, to: usize, measured: Pose, info: [f64; 6] },
    Landmark { node: usize, landmark: V3, bearing: V3 },
}

#[differentiable]
fn factor_error(poses: &[Pose], #[constant] factor: &Factor) -> f64 {
    match factor {
        Factor::Prior { node, measured, weight } => {
            let e = (measured.inverse() * poses[*node]).local();
            weight * e.iter().map(|e| e * e).sum::<f64>()
        }
        Factor::Between { from, to, measured, info } => {
            let predicted = poses[*from].inverse() * poses[*to];
            let e = (measured.inverse() * predicted).local();
            e.iter().zip(info.iter()).fold(0.0, |acc, (e, w)| acc + w * e * e)
        }
        &Factor::Landmark { node, landmark, bearing } => {
            let local = poses[node].inverse().transform(landmark);
            match local.normalized() {
                Some(d) => 1.0 - d.dot(bearing),
                None => 0.0,
            }
        }
    }
}
fn id() -> Pose {
    Pose { q: Quat::IDENTITY, t: V3::ZERO }
}
fn graph() -> Vec<Factor> {
    let m = id().retract(&[0.1, 0.0, 0.2, 1.0, 0.1, 0.0]);
    vec![
        Factor::Prior { node: 0, measured: id(), weight: 10.0 },
        Factor::Between { from: 0, to: 1, measured: m, info: [1.0, 2.0, 1.0, 3.0, 1.0, 1.0] },
        Factor::Landmark { node: 1, landmark: V3::new(2.0, 1.0, 0.5), bearing: V3::new(0.0, 1.0, 0.0) },
    ]
}
#[differentiable]
fn pose_graph_cost(poses: &[Pose], #[constant] factors: &[Factor], huber: f64) -> f64 {
    factors
        .iter()
        .map(|f| {
            let e2 = factor_error(poses, f);
            if e2 <= huber * huber { e2 } else { 2.0 * huber * e2.sqrt() - huber * huber }
        })
        .sum()
}
#[differentiable]
fn pose_graph(x: &[f64], #[constant] factors: &[Factor]) -> f64 {
    let start = constant(id());
    let poses: Vec<Pose> = x
        .chunks_exact(6)
        .take(1)
        .map(|xi| start.retract(xi))
        .chain(std::iter::once(start.retract(&x[2..8])))
        .collect();
    pose_graph_cost(&poses, factors, 1.5)
}

/// A sample of an inertial unit.
#[derive(Clone, Copy, Differentiable)]
struct Imu {
    gyro: V3,
    accel: V3,
    dt: f64,
}
#[derive(Clone, Copy, Differentiable)]
struct Preintegrated {
    dq: Quat,
    dv: V3,
    dp: V3,
    dt: f64,
}
impl Default for Preintegrated {
    fn default() -> Self {
        Self { dq: Quat::IDENTITY, dv: V3::ZERO, dp: V3::ZERO, dt: 0.0 }
    }
}

#[differentiable]
impl Preintegrated {
    fn integrate(&mut self, m: &Imu, bg: V3, ba: V3) {
        let a = self.dq.rotate(m.accel - ba);
        self.dp = self.dp + self.dv * m.dt + a * (0.5 * m.dt * m.dt);
        self.dv += a * m.dt;
        self.dq = self.dq * Quat::exp((m.gyro - bg) * m.dt);
        self.dq.normalize();
        self.dt += m.dt;
    }
}
#[differentiable]
fn preintegrate(imu: &[Imu], bg: V3, ba: V3) -> Preintegrated {
    let mut acc = Preintegrated::default();
    for m in imu {
        acc.integrate(m, bg, ba);
    }
    acc
}
#[differentiable]
fn imu_cost(x: &[f64]) -> f64 {
    let bg = V3::new(0.01 * x[0], 0.02 * x[1], 0.0);
    let ba = V3 { z: x[2], ..V3::default() };
    let samples: Vec<Imu> = x
        .windows(3)
        .map(|w| Imu { gyro: V3::new(w[0], w[1], w[2]), accel: V3::new(w[2], 9.8, w[0]), dt: 0.1 })
        .collect();
    let p = preintegrate(&samples, bg, ba);
    p.dp.norm() + p.dv.norm_squared() + p.dq.log().norm()
}

#[differentiable]
fn rodrigues(w: [f64; 3]) -> [[f64; 3]; 3] {
    let theta = w.iter().map(|x| x.powi(2)).sum::<f64>().sqrt();
    let mut r = [[0.0; 3]; 3];
    for i in 0..3 {
        r[i][i] = 1.0;
    }
    if theta < 1e-9 {
        return r;
    }
    let [kx, ky, kz] = w.map(|x| x / theta);
    let k = [[0.0, -kz, ky], [kz, 0.0, -kx], [-ky, kx, 0.0]];
    let (s, c) = theta.sin_cos();
    for i in 0..3 {
        for j in 0..3 {
            let kk: f64 = (0..3).map(|m| k[i][m] * k[m][j]).sum();
            r[i][j] += s * k[i][j] + (1.0 - c) * kk;
        }
    }
    r
}
#[differentiable]
fn icp(x: &[f64]) -> f64 {
    let r = rodrigues([x[0], x[1], x[2]]);
    let t = &x[3..6];
    let source = [[0.1, 0.2, 0.3], [1.0, 0.5, -0.2], [0.4, -0.6, 0.9]];
    let target = [[0.2, 0.1, 0.4], [0.8, 0.9, 0.1], [0.5, -0.3, 1.1]];
    let mut cost = 0.0;
    for (p, q) in source.iter().zip(&target) {
        let moved: Vec<f64> =
            r.iter().zip(t).map(|(row, t)| row.iter().zip(p).map(|(a, b)| a * b).sum::<f64>() + t).collect();
        let best = moved.iter().zip(q.iter()).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        cost += best / (0.1 + best);
    }
    cost
}
#[differentiable]
fn default_acc(x: &[f64]) -> f64 {
    let mut total = V3::default();
    for w in x.windows(2) {
        total += V3::new(w[0], w[1], w[0] * w[1]);
    }
    total.norm()
}

fn inputs() -> [Vec<f64>; 2] {
    [
        vec![0.3, 0.8, 0.45, 0.62, 0.17, 0.95, 0.51, 0.36],
        vec![0.7, 0.2, 0.9, 0.55, 0.6, 0.41, 0.33, 0.74, 0.28, 0.66],
    ]
}

#[test]
fn graphs() {
    let factors = graph();
    let mut g = pose_graph::gradient();
    check_gradient(
        |x: &mut Vec<f64>| pose_graph(x, &factors),
        |x| {
            let (value, d) = g.value_and_gradient(x, &factors);
            (value, d.x.to_vec())
        },
        inputs(),
    );
}

#[test]
fn motion() {
    check_all!(inputs(); imu_cost, icp, default_acc);
}
