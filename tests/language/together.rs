//! Features in each other's company: chains in loops that are left, methods in closures, vectors of structs in `match`es.

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[derive(Clone, Copy, Debug, Differentiable)]
struct Particle {
    x: f64,
    v: f64,
    mass: f64,
}

#[differentiable]
impl Particle {
    fn energy(&self, k: f64) -> f64 {
        0.5 * self.mass * self.v * self.v + 0.5 * k * self.x * self.x
    }

    fn kick(&mut self, force: f64, dt: f64) {
        self.v += force / self.mass * dt;
        self.x += self.v * dt;
    }
}

/// A loop over an iterator, left and cut short.
#[differentiable]
fn first_above(x: &[f64], limit: f64) -> f64 {
    let mut sum = 0.0;
    for (i, v) in x.iter().enumerate() {
        if *v < 0.0 {
            continue;
        }
        sum += v * v * limit;
        if sum > limit {
            return sum * i as f64 + v.sin();
        }
    }
    -sum
}

#[differentiable]
fn zipped_until(x: &[f64], y: &[f64], stop: f64) -> f64 {
    let mut state = 1.0;
    'outer: for (a, b) in x.iter().zip(y) {
        for k in 0..3 {
            state = (state * a + b).sin();
            if state > stop {
                break 'outer;
            }
            if k == 1 && state < 0.0 {
                continue 'outer;
            }
        }
        state *= 1.1;
    }
    state * state
}

#[differentiable]
fn closure_in_exits(x: &[f64], k: f64) -> Option<f64> {
    let scaled = |v: f64| (v * k).tanh();
    let mut total = 0.0;
    for v in x {
        let s = scaled(*v);
        if s > 0.95 {
            return None;
        }
        total += s * scaled(s);
    }
    let best = x.iter().map(|v| scaled(*v)).fold(f64::NEG_INFINITY, f64::max);
    Some(total + best * k)
}

#[differentiable]
fn tries(x: &[f64], k: f64) -> f64 {
    let Some(a) = closure_in_exits(x, k) else { return k * k };
    match closure_in_exits(&x[1..], a) {
        Some(b) if b > 0.0 => a * b,
        Some(b) => a - b * k,
        None => a,
    }
}

/// Structs in a slice, their methods in a loop.
#[differentiable]
fn swarm(all: &mut [Particle], k: f64, dt: f64, steps: usize) -> f64 {
    for _ in 0..steps {
        for i in 0..all.len() {
            let left = if i > 0 { all[i - 1].x } else { 0.0 };
            let force = -k * (all[i].x - left);
            all[i].kick(force, dt);
        }
    }
    let mut energy = 0.0;
    for i in 0..all.len() {
        energy += all[i].energy(k);
    }
    energy
}

#[differentiable]
fn in_place(all: &mut [Particle], k: f64) -> f64 {
    for i in 0..all.len() {
        let force = match i % 3 {
            0 => -k * all[i].x,
            1 => k.sin(),
            _ => continue,
        };
        all[i].kick(force, 0.1);
        if all[i].v > 2.0 {
            all[i].v = 2.0 - all[i].x;
            break;
        }
    }
    let mut total = 0.0;
    for p in all.iter() {
        total += p.x * p.v;
    }
    total
}

/// A generic function with a chain, an exit and a local array.
#[differentiable]
fn horner<T: Float, const N: usize>(c: &[T; N], x: T, limit: T) -> T {
    let mut powers = [T::one(); N];
    for i in 1..N {
        powers[i] = powers[i - 1] * x;
        if powers[i] > limit {
            return powers[i] * c[0];
        }
    }
    let mut value = T::zero();
    for (c, p) in c.iter().zip(&powers) {
        value += *c * *p;
    }
    value
}

#[differentiable]
fn polynomials(c: &[f64; 4], x: f64) -> f64 {
    let low = horner(c, x, 10.0);
    let single = horner(&[1.5_f32, 0.5], x as f32, 4.0);
    low * single as f64
}

/// Vectors that grow until enough, then are summed by a chain.
#[differentiable]
fn grown(x: f64, limit: f64) -> f64 {
    let mut terms = vec![1.0];
    loop {
        let last = terms[terms.len() - 1];
        let next = last * x / terms.len() as f64;
        if next < limit || terms.len() > 20 {
            break;
        }
        terms.push(next);
    }
    terms.iter().rev().map(|t| t * t).sum::<f64>() + terms[terms.len() - 1]
}

#[differentiable]
fn smoothed(x: &[f64], w: f64) -> Vec<f64> {
    let mut y = vec![0.0; x.len()];
    for i in 0..x.len() {
        let before = if i == 0 { x[i] } else { y[i - 1] };
        y[i] = w * before + (1.0 - w) * x[i];
    }
    y
}

#[differentiable]
fn twice_smoothed(x: &[f64], w: f64) -> f64 {
    let once = smoothed(x, w);
    let mut worst = 0.0;
    for (k, level) in [0.3, 0.6].iter().enumerate() {
        let y = smoothed(&once, w * level);
        if y[0] > 1.0 {
            return y[0] * w + k as f64;
        }
        worst += y.iter().zip(x).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    }
    worst
}

/// Buffers that change places in a loop that is left.
#[differentiable]
fn relaxed(u: &[f64], rate: f64, tolerance: f64) -> f64 {
    let mut current = u.to_vec();
    let mut next = vec![0.0; u.len()];
    let mut steps = 0;
    loop {
        let mut change = 0.0;
        for i in 0..u.len() {
            let left = if i == 0 { 0.0 } else { current[i - 1] };
            let right = if i + 1 == u.len() { 0.0 } else { current[i + 1] };
            next[i] = current[i] + rate * (left - 2.0 * current[i] + right);
            change += (next[i] - current[i]).abs();
        }
        std::mem::swap(&mut current, &mut next);
        steps += 1;
        if change < tolerance || steps == 7 {
            break;
        }
    }
    current.iter().map(|v| v * v).sum::<f64>() * rate
}

fn particles(n: usize) -> Vec<Particle> {
    (0..n)
        .map(|i| Particle { x: 0.3 + 0.2 * i as f64, v: 0.5 - 0.3 * i as f64, mass: 1.0 + 0.1 * i as f64 })
        .collect()
}

#[test]
fn loops_that_are_left() {
    check_rule(
        first_above::rule,
        [(vec![0.3, -0.4, 0.9, 1.2], 0.7), (vec![0.1, 0.2], 3.0), (vec![], 1.0), (vec![2.0], 0.5)],
    );
    check_rule(
        zipped_until::rule,
        [
            (vec![0.3, 0.8, 0.5], vec![0.2, -0.7, 0.4, 0.9], 0.95),
            (vec![0.3, 0.8], vec![0.2], 0.3),
            (vec![], vec![0.4], 0.5),
        ],
    );
}

#[test]
fn closures_and_options() {
    check_rule(tries::rule, [(vec![0.3, 0.7, -0.2], 0.8), (vec![0.3, 9.0], 1.1), (vec![-0.3, 0.2], 0.4)]);
}

#[test]
fn structs_and_methods() {
    check_rule(
        swarm::rule,
        [(particles(3), 0.7, 0.1, 4), (particles(1), 0.2, 0.3, 2), (particles(0), 0.2, 0.3, 2)],
    );
    check_rule(in_place::rule, [(particles(4), 0.7), (particles(1), 1.2), (particles(5), -0.4)]);
}

#[test]
fn generics() {
    CheckRule::new(horner::<f64, 3>::rule)
        .inputs([([0.3, 0.4, 0.5], 0.7, 5.0), ([0.3, 0.4, 0.5], 1.7, 2.0)])
        .run();
    CheckRule::new(polynomials::rule).inputs([([0.3, 0.4, 0.5, 0.2], 0.7)]).tolerance(1e-3).run();
}

#[test]
fn vectors() {
    check_rule(grown::rule, [(0.7, 1e-3), (1.3, 1e-2), (0.2, 0.5)]);
    check_rule(
        twice_smoothed::rule,
        [(vec![0.3, 0.7, -0.2, 0.4], 0.6), (vec![1.9], 0.4), (vec![0.4, 0.2], 0.1)],
    );
    check_rule(
        relaxed::rule,
        [(vec![0.3, 0.7, -0.2, 0.4], 0.2, 1e-9), (vec![0.9], 0.3, 0.4), (vec![0.4, 0.2], 0.1, 0.05)],
    );
}
