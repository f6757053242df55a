//! What people compute with Rust: orbits, options, batteries, circuits, filters, with the constructs that come to mind.

use std::ops::{Add, Mul, Neg, Sub};

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

#[derive(Clone, Copy, Differentiable)]
struct Vec3 {
    x: f64,
    y: f64,
    z: f64,
}

#[differentiable]
impl Add for Vec3 {
    type Output = Vec3;
    fn add(self, o: Vec3) -> Vec3 {
        Vec3 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

#[differentiable]
impl Sub for Vec3 {
    type Output = Vec3;
    fn sub(self, o: Vec3) -> Vec3 {
        Vec3 { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

#[differentiable]
impl Mul<f64> for Vec3 {
    type Output = Vec3;
    fn mul(self, k: f64) -> Vec3 {
        Vec3 { x: self.x * k, y: self.y * k, z: self.z * k }
    }
}

#[differentiable]
impl Neg for Vec3 {
    type Output = Vec3;
    fn neg(self) -> Vec3 {
        Vec3 { x: -self.x, y: -self.y, z: -self.z }
    }
}

#[differentiable]
impl Vec3 {
    fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }
    fn dot(self, o: Vec3) -> f64 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    fn norm(&self) -> f64 {
        self.dot(*self).sqrt()
    }
    fn cross(&self, o: &Vec3) -> Vec3 {
        Vec3::new(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)
    }
}

#[derive(Clone, Copy, Differentiable)]
struct State {
    r: Vec3,
    v: Vec3,
}

#[differentiable]
fn acceleration(r: Vec3, mu: f64) -> Vec3 {
    let d = r.norm();
    -r * (mu / d.powi(3))
}

#[differentiable]
fn propagate(mut s: State, mu: f64, dt: f64, n: usize) -> State {
    let mut a = acceleration(s.r, mu);
    for _ in 0..n {
        let half = s.v + a * (0.5 * dt);
        s.r = s.r + half * dt;
        a = acceleration(s.r, mu);
        s = State { v: half + a * (0.5 * dt), ..s };
    }
    s
}
/// What a leapfrog conserves on a Kepler orbit: angular momentum, energy, eccentricity.
#[differentiable]
fn orbit(x: &[f64]) -> f64 {
    let state = State { r: Vec3::new(1.0 + x[0], x[1], 0.1), v: Vec3::new(0.0, 0.9, x[2]) };
    let State { r, v } = propagate(state, 1.0, 0.05, 7);
    let h = r.cross(&v);
    let energy = 0.5 * v.dot(v) - 1.0 / r.norm();
    let e = v.cross(&h) - r * (1.0 / r.norm());
    h.norm() + energy * e.norm()
}

#[derive(Clone, Copy, PartialEq)]
enum OptionKind {
    Call,
    Put,
}
/// An option that may be exercised at any time, on a binomial tree.
#[differentiable]
fn american(
    spot: f64,
    strike: f64,
    rate: f64,
    vol: f64,
    t: f64,
    #[constant] kind: OptionKind,
    n: usize,
) -> f64 {
    let dt = t / n as f64;
    let u = (vol * dt.sqrt()).exp();
    let d = 1.0 / u;
    let disc = (-rate * dt).exp();
    let p = ((rate * dt).exp() - d) / (u - d);
    let payoff = |s: f64| match kind {
        OptionKind::Call => (s - strike).max(0.0),
        OptionKind::Put => (strike - s).max(0.0),
    };
    let mut values: Vec<f64> =
        (0..=n).map(|i| payoff(spot * u.powi(i as i32) * d.powi((n - i) as i32))).collect();
    for step in (0..n).rev() {
        for i in 0..=step {
            let hold = disc * (p * values[i + 1] + (1.0 - p) * values[i]);
            let s = spot * u.powi(i as i32) * d.powi((step - i) as i32);
            values[i] = hold.max(payoff(s));
        }
        values.truncate(step + 1);
    }
    values[0]
}

#[differentiable]
fn options(x: &[f64]) -> f64 {
    american(1.0 + x[0], 1.05, 0.03, 0.2 + 0.1 * x[1], x[2], OptionKind::Put, 6)
        + american(1.0 + x[0], 1.0, 0.03, 0.3, x[2], OptionKind::Call, 5)
}

/// An objective with constraints that have names.
#[differentiable]
fn penalised(x: &[f64]) -> f64 {
    let constraints: [(&str, f64); 2] = [("sum", x.iter().sum::<f64>() - 1.0), ("first", x[0] - 0.5)];
    let mut cost = x.iter().map(|v| v.powi(2)).sum::<f64>();
    for (_, c) in constraints.iter() {
        if *c > 0.0 {
            cost += 10.0 * c * c;
        }
    }
    cost
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Charging { steps: usize },
    Done,
}
/// Heat and charge of a battery, by its phases.
#[differentiable]
fn battery(x: &[f64]) -> f64 {
    let mut phase = Phase::Idle;
    let mut charge = 0.1 * x[0];
    let mut heat = 0.0;
    for t in 0..20 {
        phase = match phase {
            Phase::Idle if t > 2 => Phase::Charging { steps: 0 },
            Phase::Charging { steps } if steps >= 8 => Phase::Done,
            Phase::Charging { steps } => {
                let current = x[1] * (1.0 - charge);
                charge += 0.3 * current;
                heat += current * current * x[2];
                Phase::Charging { steps: steps + 1 }
            }
            other => other,
        };
        if phase == Phase::Done {
            break;
        }
        heat *= 0.95;
    }
    charge + heat
}

#[derive(Clone, Copy, Differentiable)]
enum Element {
    Resistor { ohms: f64 },
    Source(f64),
    Diode { is: f64, vt: f64 },
}

#[differentiable]
fn current(e: Element, v: f64) -> f64 {
    match e {
        Element::Resistor { ohms } => v / ohms,
        Element::Source(i) => -i,
        Element::Diode { is, vt } => is * ((v / vt).exp() - 1.0),
    }
}
/// Newton's iteration for the voltage at a node, as many steps as it takes.
#[differentiable]
fn node_voltage(x: &[f64]) -> f64 {
    let elements = [
        Element::Source(1.0 + x[0]),
        Element::Resistor { ohms: 1.0 + x[1] },
        Element::Diode { is: 0.01 * x[2], vt: 0.3 },
    ];
    let mut v = 0.5;
    for iteration in 0.. {
        let f: f64 = elements.iter().map(|&e| current(e, v)).sum();
        let h = 1e-6;
        let df = elements
            .iter()
            .map(|&e| match e {
                Element::Resistor { ohms } => 1.0 / ohms,
                Element::Source(_) => 0.0,
                Element::Diode { is, vt } => is / vt * (v / vt).exp(),
            })
            .sum::<f64>();
        let step = f / df;
        v -= step;
        if step.abs() < 1e-13 || iteration > 60 {
            break;
        }
    }
    v
}

#[differentiable]
fn log_sum_exp(v: &[f64]) -> f64 {
    let max = v.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
    if max.is_infinite() {
        return max;
    }
    max + v.iter().map(|x| (x - max).exp()).sum::<f64>().ln()
}
/// The likelihood of what a hidden Markov chain has shown.
#[differentiable]
fn hmm(x: &[f64]) -> f64 {
    let obs = [0usize, 1, 1, 0, 1];
    let trans = [[x[0].ln(), (1.0 - x[0]).ln()], [(1.0 - x[1]).ln(), x[1].ln()]];
    let emit = |s: usize, o: usize| if s == o { x[2].ln() } else { (1.0 - x[2]).ln() };
    let mut alpha: Vec<f64> = (0..2).map(|s| 0.5_f64.ln() + emit(s, obs[0])).collect();
    for &o in obs.iter().skip(1) {
        let mut next = vec![0.0; 2];
        for (s, slot) in next.iter_mut().enumerate() {
            let terms: Vec<f64> = alpha.iter().enumerate().map(|(r, a)| a + trans[r][s]).collect();
            *slot = log_sum_exp(&terms) + emit(s, o);
        }
        alpha = next;
    }
    log_sum_exp(&alpha)
}

#[derive(Clone, Debug, Differentiable)]
struct Kalman {
    x: [f64; 2],
    p: [[f64; 2]; 2],
}

#[differentiable]
impl Kalman {
    fn predict(&mut self, dt: f64, q: f64) {
        self.x[0] += dt * self.x[1];
        let p = self.p;
        self.p[0][0] = p[0][0] + dt * (p[1][0] + p[0][1]) + dt * dt * p[1][1] + q;
        self.p[0][1] = p[0][1] + dt * p[1][1];
        self.p[1][0] = p[1][0] + dt * p[1][1];
        self.p[1][1] += q;
    }
    fn update(&mut self, z: f64, r: f64) -> f64 {
        let innovation = z - self.x[0];
        let s = self.p[0][0] + r;
        let k = [self.p[0][0] / s, self.p[1][0] / s];
        for (x, k) in self.x.iter_mut().zip(&k) {
            *x += k * innovation;
        }
        let row = self.p[0];
        for i in 0..2 {
            for j in 0..2 {
                self.p[i][j] -= k[i] * row[j];
            }
        }
        0.5 * (innovation * innovation / s + s.ln())
    }
}

#[differentiable]
fn likelihood(x: &[f64]) -> f64 {
    let mut filter = Kalman { x: [0.0; 2], p: [[1.0, 0.0], [0.0, 1.0]] };
    let mut nll = 0.0;
    for &z in x {
        filter.predict(0.1, 0.01);
        nll += filter.update(z, 0.1 + x[0] * x[0]);
    }
    nll
}

#[differentiable]
fn horner(c: &[f64], t: f64) -> (f64, f64) {
    c.iter().rev().fold((0.0, 0.0), |(p, d), &a| (p * t + a, d * t + p))
}
/// A root of a polynomial, if there is one nearby.
#[differentiable]
fn newton_root(c: &[f64], mut t: f64) -> Option<f64> {
    for _ in 0..100 {
        let (p, d) = horner(c, t);
        if d.abs() < 1e-12 {
            return None;
        }
        let dt = p / d;
        t -= dt;
        if dt.abs() < 1e-14 * (1.0 + t.abs()) {
            return Some(t);
        }
    }
    None
}

#[differentiable]
fn rootsum(x: &[f64]) -> f64 {
    let c = [-1.0 - x[0], x[1], 0.3, 1.0 + x[2]];
    let Some(r) = newton_root(&c, 1.0) else { return -1.0 };
    if let Some(s) = newton_root(&c[1..], 0.3)
        && s > 0.0
    {
        r + s
    } else {
        r * r
    }
}

fn inputs() -> [Vec<f64>; 2] {
    [vec![0.3, 0.8, 0.45], vec![0.7, 0.2, 0.9, 0.55, 0.6]]
}

#[test]
fn in_science() {
    check_all!(inputs(); orbit, hmm, likelihood);
}

#[test]
fn in_engineering() {
    check_all!(inputs(); penalised, battery, node_voltage, rootsum);
}

#[test]
fn in_finance() {
    check_all!(inputs(); options);
}
