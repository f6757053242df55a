//! Programs whose control flow, indices and buffers depend on data.

use pullback::prelude::*;
use pullback::testing::CheckRule;

/// ẋ = -k x² from 0 to 1 by Heun's method: a step whose error is too large is done again with half the size.
#[differentiable]
fn adaptive_steps(k: f64, x0: f64, #[constant] tolerance: f64) -> f64 {
    let (mut t, mut h, mut x) = (0.0, 0.3, x0);
    while t < 1.0 {
        if t + h > 1.0 {
            h = 1.0 - t;
        }
        let slope = -k * x * x;
        let coarse = x + h * slope;
        let fine = x + 0.5 * h * (slope - k * coarse * coarse);
        let error = (fine - coarse).abs();
        if error > tolerance && h > 1e-3 {
            h *= 0.5;
            continue;
        }
        t += h;
        x = fine;
        if error < 0.1 * tolerance {
            h *= 2.0;
        }
    }
    x
}

/// The power of an autoregressive process, whose past lies in a ring.
#[differentiable]
fn autoregression(phi: &[f64], noise: &[f64]) -> f64 {
    let p = phi.len();
    let mut past = vec![0.0; p];
    let mut power = 0.0;
    let mut head = 0;
    for &e in noise {
        let mut y = e;
        for (j, c) in phi.iter().enumerate() {
            y += c * past[(head + p - 1 - j) % p];
        }
        past[head] = y;
        head = (head + 1) % p;
        power += y * y;
    }
    power
}

/// A stack machine: 0 pushes the next value, 1 adds, 2 multiplies, 3 takes the sine.
#[differentiable]
fn postfix(code: &[i32], values: &[f64]) -> f64 {
    let mut stack: Vec<f64> = Vec::new();
    let mut next = 0;
    for &operation in code {
        match operation {
            0 => {
                stack.push(values[next]);
                next += 1;
            }
            1 => {
                let b = stack.pop().unwrap();
                let a = stack.pop().unwrap();
                stack.push(a + b);
            }
            2 => {
                let b = stack.pop().unwrap();
                let a = stack.pop().unwrap();
                stack.push(a * b);
            }
            3 => {
                let a = stack.pop().unwrap();
                stack.push(a.sin());
            }
            _ => {}
        }
    }
    stack.pop().unwrap()
}

/// The log probability of the likeliest path through a hidden Markov model of `n` states and three symbols (Viterbi).
#[differentiable]
fn likeliest_path(transition: &[f64], emission: &[f64], observed: &[usize], n: usize) -> f64 {
    let mut best = vec![0.0; n];
    for s in 0..n {
        best[s] = emission[s * 3 + observed[0]];
    }
    for &symbol in &observed[1..] {
        let mut next = vec![f64::NEG_INFINITY; n];
        for s in 0..n {
            for r in 0..n {
                let candidate = best[r] + transition[r * n + s];
                if candidate > next[s] {
                    next[s] = candidate;
                }
            }
            next[s] += emission[s * 3 + symbol];
        }
        best = next;
    }
    best.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Each pair of springs pulls in turn, on what those before have left.
#[differentiable]
fn pulled_in_turn(x: &mut [f64], k: f64) -> f64 {
    for i in 0..x.len() {
        let (left, right) = x.split_at_mut(i + 1);
        let this = &mut left[i];
        for other in right.iter_mut() {
            let force = k * (*other - *this);
            *this += 0.1 * force;
            *other -= 0.1 * force;
        }
    }
    x.iter().enumerate().map(|(i, v)| v * (i as f64 + 1.0)).sum()
}

/// A delay line with feedback.
#[differentiable]
fn echo(x: &[f64], gain: f64) -> f64 {
    let mut line = vec![0.0; 3];
    let mut heard = 0.0;
    for &v in x {
        let old = line.remove(0);
        line.push(v + gain * old);
        heard += old * old * v;
    }
    heard + line[1]
}

/// A histogram whose counts are shared between two neighbours.
#[differentiable]
fn soft_histogram(x: &[f64], bins: usize) -> f64 {
    let mut counts = vec![0.0; bins];
    for &v in x {
        let position = v.clamp(0.0, 0.999) * (bins - 1) as f64;
        let bin = position.floor() as usize;
        let part = position - position.floor();
        counts[bin] += 1.0 - part;
        counts[bin + 1] += part;
    }
    counts.iter().map(|c| c * c * c).sum()
}

#[test]
fn steps_that_are_done_again() {
    CheckRule::new(adaptive_steps::rule).input((1.5, 0.8, 1e-3)).input((0.7, 2.0, 1e-2)).run();
}

#[test]
fn indices_that_wrap_around() {
    let several = (vec![0.5, -0.3, 0.2], vec![1.0, 0.3, -0.7, 0.2, 0.9, 1.1]);
    CheckRule::new(autoregression::rule).input(several).input((vec![0.4], vec![0.3, 0.2])).run();
}

#[test]
fn a_stack_machine() {
    let longer = (vec![0, 0, 2, 3, 0, 1], vec![0.3, 1.2, 0.7]);
    CheckRule::new(postfix::rule).input(longer).input((vec![0, 3], vec![0.3])).run();
}

#[test]
fn maxima_over_maxima() {
    let emission = vec![-0.2, -1.7, -2.0, -1.0, -0.6, -1.2];
    let two = (vec![-0.3, -1.3, -0.9, -0.52], emission.clone(), vec![0, 1, 2, 1], 2);
    CheckRule::new(likeliest_path::rule).input(two).input((vec![-0.3], emission, vec![1, 2], 1)).run();
}

#[test]
fn pairs_by_split_at_mut() {
    let five = (vec![0.1, 0.3, 1.2, 0.4, 1.0], 0.2);
    CheckRule::new(pulled_in_turn::rule).input((vec![0.7, 0.3, 0.2], 0.4)).input(five).run();
}

#[test]
fn a_queue() {
    let five = (vec![0.7, 0.3, 2.2, 0.4, 0.9], 0.2);
    CheckRule::new(echo::rule).input(five).input((vec![0.7, 0.3], 0.3)).run();
}

#[test]
fn bins_that_share() {
    let five = (vec![0.71, 0.33, 0.22, 0.41, 0.93], 4);
    CheckRule::new(soft_histogram::rule).input(five).input((vec![0.7, 0.33], 3)).run();
}
