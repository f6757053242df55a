//! Partial differential equations, and energies on grids and graphs.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// Explicit heat equation on a rod whose ends are held; conductivity varies.
#[differentiable]
fn heat_explicit(u: &mut [f64], conductivity: &[f64], dt: f64, steps: usize) -> f64 {
    let n = u.len();
    let mut next = vec![0.0; n];
    for _ in 0..steps {
        for i in 1..n - 1 {
            let left = conductivity[i - 1] * (u[i - 1] - u[i]);
            let right = conductivity[i] * (u[i + 1] - u[i]);
            next[i] = u[i] + dt * (left + right);
        }
        for i in 1..n - 1 {
            u[i] = next[i];
        }
    }
    let mut energy = 0.0;
    for i in 0..n {
        energy += 0.5 * u[i] * u[i];
    }
    energy
}

/// The wave equation by leapfrog, three time levels in turn in one array.
#[differentiable]
fn wave_equation(start: &[f64], speed: f64, dt: f64, steps: usize) -> f64 {
    let n = start.len();
    let mut u = vec![0.0; 3 * n];
    for i in 0..n {
        u[i] = start[i];
        u[n + i] = start[i];
    }
    let c = (speed * dt).powi(2);
    for step in 2..steps + 2 {
        let new = step % 3 * n;
        let now = (step - 1) % 3 * n;
        let old = (step - 2) % 3 * n;
        for i in 1..n - 1 {
            let curvature = u[now + i - 1] - 2.0 * u[now + i] + u[now + i + 1];
            u[new + i] = 2.0 * u[now + i] - u[old + i] + c * curvature;
        }
        u[new] = 0.0;
        u[new + n - 1] = 0.0;
    }
    let last = (steps + 1) % 3 * n;
    let mut total = 0.0;
    for i in 0..n {
        total += u[last + i] * u[last + i] * (i + 1) as f64;
    }
    total
}

/// Burgers's equation, upwind, on a ring.
#[differentiable]
fn burgers(u: &[f64], viscosity: f64, dt: f64, steps: usize) -> f64 {
    let n = u.len();
    let mut now = vec![0.0; n];
    let mut next = vec![0.0; n];
    for i in 0..n {
        now[i] = u[i];
    }
    for _ in 0..steps {
        for i in 0..n {
            let left = now[(i + n - 1) % n];
            let right = now[(i + 1) % n];
            let here = now[i];
            let slope = if here > 0.0 { here - left } else { right - here };
            next[i] = here - dt * here * slope + viscosity * dt * (left - 2.0 * here + right);
        }
        for i in 0..n {
            now[i] = next[i];
        }
    }
    let mut total = 0.0;
    for i in 0..n {
        total += now[i] * now[i];
    }
    total
}

/// Poisson's equation on a square by Gauss and Seidel, in place.
#[differentiable]
fn gauss_seidel(u: &mut [f64], source: &[f64], n: usize, omega: f64, sweeps: usize) -> f64 {
    for _ in 0..sweeps {
        for i in 1..n - 1 {
            for j in 1..n - 1 {
                let at = i * n + j;
                let around = u[at - 1] + u[at + 1] + u[at - n] + u[at + n];
                u[at] = (1.0 - omega) * u[at] + 0.25 * omega * (around + source[at]);
            }
        }
    }
    u[(n / 2) * n + n / 2]
}

/// An Ising-like energy: spins are integers, couplings and field are not.
#[differentiable]
fn ising(spins: &[i8], horizontal: f64, vertical: f64, field: &[f64], width: usize) -> f64 {
    let height = spins.len() / width;
    let mut energy = 0.0;
    for y in 0..height {
        for x in 0..width {
            let here = spins[y * width + x];
            let right = spins[y * width + (x + 1) % width];
            let below = spins[(y + 1) % height * width + x];
            energy -= horizontal * (here * right) as f64;
            energy -= vertical * (here * below) as f64;
            energy -= field[y * width + x] * here as f64;
        }
    }
    (-energy / spins.len() as f64).exp()
}

/// Page rank with given weights of the edges, by iteration.
#[differentiable]
fn page_rank(
    weights: &[f64],
    #[constant] edges: &[(usize, usize)],
    damping: f64,
    n: usize,
    rounds: usize,
) -> f64 {
    let mut out = vec![0.0; n];
    for e in 0..edges.len() {
        out[edges[e].0] += weights[e];
    }
    let mut rank = vec![1.0 / n as f64; n];
    let mut next = vec![0.0; n];
    for _ in 0..rounds {
        for i in 0..n {
            next[i] = (1.0 - damping) / n as f64;
        }
        for e in 0..edges.len() {
            let (from, to) = edges[e];
            next[to] += damping * rank[from] * weights[e] / out[from];
        }
        for i in 0..n {
            rank[i] = next[i];
        }
    }
    rank[0] - 0.5 * rank[n - 1]
}

/// Water finds its way over ground: explicit flow between neighbours, limited by what is there.
#[differentiable]
fn flow_downhill(water: &mut [f64], ground: &[f64], rate: f64, steps: usize) -> f64 {
    let n = water.len();
    for _ in 0..steps {
        for i in 0..n - 1 {
            let here = ground[i] + water[i];
            let there = ground[i + 1] + water[i + 1];
            let wish = rate * (here - there);
            let flow = if wish > 0.0 { wish.min(water[i]) } else { wish.max(-water[i + 1]) };
            water[i] -= flow;
            water[i + 1] += flow;
        }
    }
    let mut potential = 0.0;
    for i in 0..n {
        potential += water[i] * (ground[i] + 0.5 * water[i]);
    }
    potential
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect()
}

#[test]
fn equations() {
    let conductivity = vec![0.5, 0.8, 0.3, 0.6, 0.9];
    check_rule(
        heat_explicit::rule,
        [(wave(6), conductivity.clone(), 0.2, 7), (wave(3), conductivity[..2].to_vec(), 0.3, 2)],
    );
    check_rule(wave_equation::rule, [(wave(6), 0.8, 0.5, 5), (wave(3), 1.1, 0.3, 1), (wave(4), 1.0, 0.3, 0)]);
    check_rule(burgers::rule, [(wave(6), 0.1, 0.1, 4), (wave(3), 0.2, 0.1, 1)]);
    check_rule(gauss_seidel::rule, [(wave(16), wave(16), 4, 1.3, 3), (wave(9), wave(9), 3, 1.0, 1)]);
    check_rule(
        flow_downhill::rule,
        [
            (vec![0.5, 0.1, 0.3, 0.7], vec![1.0, 0.4, 0.9, 0.1], 0.3, 4),
            (vec![0.5, 0.6], vec![1.0, 1.7], 0.9, 2),
        ],
    );
}

#[test]
fn energies() {
    check_rule(
        ising::rule,
        [(vec![1, -1, 1, 1, -1, -1], 0.5, 0.3, wave(6), 3), (vec![1, 1, -1, 1], -0.2, 0.6, wave(4), 2)],
    );
    check_rule(
        page_rank::rule,
        [
            (vec![0.5, 1.2, 0.7, 0.3, 0.9], vec![(0, 1), (1, 2), (2, 0), (1, 0), (0, 2)], 0.85, 3, 4),
            (vec![0.5, 1.2, 0.4], vec![(0, 1), (1, 0), (1, 1)], 0.7, 2, 1),
        ],
    );
}
