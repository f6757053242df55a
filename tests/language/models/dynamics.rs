//! Populations, epidemics, reactions and drugs: ordinary differential equations.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// Susceptible, infected, recovered; returns the peak and the sum of squares of what is reported.
#[differentiable]
fn epidemic(beta: f64, gamma: f64, infected: f64, #[constant] reported: &[f64]) -> (f64, f64) {
    let mut s = 1.0 - infected;
    let mut i = infected;
    let mut r = 0.0;
    let mut peak = i;
    let mut misfit = 0.0;
    for day in 0..reported.len() {
        let before = s;
        for _ in 0..4 {
            let new = 0.25 * beta * s * i;
            let gone = 0.25 * gamma * i;
            s -= new;
            i += new - gone;
            r += gone;
        }
        peak = i.max(peak);
        misfit += (before - s - reported[day]).powi(2);
    }
    (peak, misfit + 1e-3 * r)
}

/// One compartment with absorption: the closed form, summed over all doses given so far.
#[differentiable]
fn one_compartment(
    ka: f64,
    clearance: f64,
    volume: f64,
    #[constant] doses: &[(f64, f64)],
    #[constant] times: &[f64],
    #[constant] measured: &[f64],
) -> f64 {
    let ke = clearance / volume;
    let mut loss = 0.0;
    for i in 0..times.len() {
        let mut concentration = 0.0;
        for j in 0..doses.len() {
            let (given, amount) = doses[j];
            let t = times[i] - given;
            if t > 0.0 {
                concentration += amount * ka / (volume * (ka - ke)) * ((-ke * t).exp() - (-ka * t).exp());
            }
        }
        let residual = (concentration + 1e-2).ln() - (measured[i] + 1e-2).ln();
        loss += residual * residual;
    }
    loss
}

/// Two compartments and a gut, in small steps of Heun's method; a dose goes into the gut when its time has come.
#[differentiable]
fn two_compartments(k: &[f64], doses: &[f64], #[constant] times: &[f64], dt: f64, steps: usize) -> f64 {
    let (absorb, eliminate) = (k[0], k[1]);
    let (there, back) = (k[2], k[3]);
    let mut gut = 0.0;
    let mut blood = 0.0;
    let mut tissue = 0.0;
    let mut area = 0.0;
    let mut next = 0;
    for step in 0..steps {
        let now = step as f64 * dt;
        while next < times.len() && times[next] <= now {
            gut += doses[next];
            next += 1;
        }
        let g1 = -absorb * gut;
        let b1 = absorb * gut - (eliminate + there) * blood + back * tissue;
        let t1 = there * blood - back * tissue;
        let (g, b, t) = (gut + dt * g1, blood + dt * b1, tissue + dt * t1);
        let g2 = -absorb * g;
        let b2 = absorb * g - (eliminate + there) * b + back * t;
        let t2 = there * b - back * t;
        let before = blood;
        gut += 0.5 * dt * (g1 + g2);
        blood += 0.5 * dt * (b1 + b2);
        tissue += 0.5 * dt * (t1 + t2);
        area += 0.5 * dt * (before + blood);
    }
    area + tissue * 0.1
}

/// Michaelis and Menten's kinetics by implicit Euler: each step solves a quadratic equation.
#[differentiable]
fn enzyme(vmax: f64, km: f64, start: f64, dt: f64, #[constant] observed: &[f64]) -> f64 {
    let mut s = start;
    let mut loss = 0.0;
    for k in 0..observed.len() {
        let b = km + dt * vmax - s;
        s = 0.5 * (-b + (b * b + 4.0 * s * km).sqrt());
        loss += (s - observed[k]).abs().powf(1.5);
    }
    loss
}

/// Robertson's stiff reactions by implicit Euler, Newton's method with the Jacobian by hand within.
#[differentiable]
fn robertson(k1: f64, k2: f64, k3: f64, dt: f64, steps: usize) -> [f64; 3] {
    let mut y = [1.0, 0.0, 0.0];
    for _ in 0..steps {
        let old = y;
        for _ in 0..4 {
            let r1 = k1 * y[0];
            let r2 = k2 * y[1] * y[1];
            let r3 = k3 * y[1] * y[2];
            let f = [
                y[0] - old[0] + dt * (r1 - r3),
                y[1] - old[1] - dt * (r1 - r2 - r3),
                y[2] - old[2] - dt * r2,
            ];
            let a = 1.0 + dt * k1;
            let b = -dt * k3 * y[2];
            let c = -dt * k3 * y[1];
            let e = 1.0 + dt * (2.0 * k2 * y[1] + k3 * y[2]);
            let g = -2.0 * dt * k2 * y[1];
            // [a b c; -dt·k1 e -c; 0 g 1] δ = f
            let low = -dt * k1;
            let det = a * (e + c * g) - low * (b - c * g);
            let d0 = (f[0] * (e + c * g) - b * (f[1] + c * f[2]) + c * (f[1] * g - e * f[2])) / det;
            let d1 = (a * (f[1] + c * f[2]) - low * (f[0] - c * f[2])) / det;
            y[0] -= d0;
            y[1] -= d1;
            y[2] -= f[2] - g * d1;
        }
    }
    y
}

/// A spiking neuron by FitzHugh and Nagumo, driven by a current; smooth count of its spikes.
#[differentiable]
fn neuron(current: &[f64], a: f64, b: f64, tau: f64) -> f64 {
    let (mut v, mut w) = (-1.0, -0.5);
    let mut spikes = 0.0;
    for t in 0..current.len() {
        let dv = v - v * v * v / 3.0 - w + current[t];
        let dw = (v + a - b * w) / tau;
        v += 0.2 * dv;
        w += 0.2 * dw;
        spikes += 1.0 / (1.0 + (-4.0 * (v - 1.0)).exp());
    }
    spikes
}

#[test]
fn epidemics() {
    check_rule(
        epidemic::rule,
        [
            (0.9, 0.3, 0.01, vec![0.01, 0.03, 0.05, 0.02]),
            (1.8, 0.5, 0.2, vec![0.1]),
            (0.3, 0.5, 0.1, vec![0.1; 3]),
        ],
    );
}

#[test]
fn drugs() {
    let doses = vec![(0.0, 100.0), (4.0, 50.0)];
    check_rule(
        one_compartment::rule,
        [
            (1.2, 3.0, 20.0, doses.clone(), vec![0.5, 1.0, 3.0, 5.0, 8.0], vec![1.5, 2.5, 2.6, 3.5, 2.0]),
            (0.8, 2.0, 15.0, doses, vec![2.0], vec![3.5]),
        ],
    );
    check_rule(
        two_compartments::rule,
        [
            (vec![1.2, 0.3, 0.2, 0.4], vec![10.0, 5.0, 8.0], vec![0.0, 0.55, 0.55], 0.1, 12),
            (vec![0.6, 0.1, 0.5, 0.2], vec![3.0], vec![0.0], 0.1, 1),
        ],
    );
}

#[test]
fn reactions() {
    check_rule(
        enzyme::rule,
        [(1.0, 0.5, 2.0, 0.3, vec![1.6, 1.2, 1.2, 0.3]), (0.7, 1.5, 1.0, 0.1, vec![1.2])],
    );
    check_rule(robertson::rule, [(0.04, 3.0, 10.0, 0.1, 5), (0.5, 2.0, 4.0, 0.2, 1)]);
    check_rule(neuron::rule, [(vec![0.5; 30], 0.7, 0.8, 12.5), (vec![0.1, 0.9, 0.3], 0.5, 0.6, 8.0)]);
}
