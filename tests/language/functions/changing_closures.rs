//! Closures that change what they capture, passed on to functions that take `impl FnMut`.

use pullback::prelude::*;
use pullback::testing::check_rule;

use super::callables::square;

#[differentiable]
fn visit(x: &[f64], mut f: impl FnMut(usize, f64)) {
    for (i, x) in x.iter().enumerate() {
        f(i, *x);
    }
}

#[differentiable]
fn sum_of_squares(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    visit(x, |_, x| total += k * x * x);
    total * k
}

/// Numbers, integers and elements change, and what they were matters.
#[differentiable]
fn of_all_kinds(x: &[f64], k: f64) -> f64 {
    let (mut product, mut last, mut count) = (k, 1.0, 0);
    let mut history = vec![0.0; x.len()];
    let mut positive = Vec::new();
    visit(x, |i, x| {
        product *= x * last;
        if x > 0.0 {
            count += 1;
            last = product.sin() + x;
            positive.push(x * last);
        }
        history[i] = product * count as f64 + history[i / 2];
    });
    visit(&history, |_, h| last *= 1.0 + h * k);
    product + last * history[0] * positive[positive.len() - 1] + count as f64 * k
}

/// What is called within expressions and conditions is called in their order.
#[differentiable]
fn integrate(mut f: impl FnMut(f64) -> f64, a: f64, b: f64, tolerance: f64) -> f64 {
    let mut n = 1;
    let mut old = 0.5 * (b - a) * (f(a) + f(b));
    loop {
        let h = (b - a) / n as f64;
        let mut new = 0.5 * old;
        new += 0.5 * h * (0..n).map(|i| f(a + (i as f64 + 0.5) * h)).sum::<f64>();
        n *= 2;
        if n > 16 || n > 2 && (new - old).abs() < tolerance && f(b).abs() > f(a).abs() {
            return new;
        }
        old = new;
    }
}

#[differentiable]
fn work(k: f64, b: f64, tolerance: f64) -> f64 {
    let (mut evaluations, mut weight) = (0, 1.0);
    let first = integrate(
        |t| {
            evaluations += 1;
            weight *= 1.0 + 0.1 * t;
            k * t * weight
        },
        0.1,
        b,
        tolerance,
    );
    let second = integrate(square, 0.0, b, tolerance) * integrate(|t| weight * t, 0.0, 1.0, tolerance);
    first * second + evaluations as f64 * k
}

/// Functions hand on what they are given, by other names and within closures that change something by way of it.
#[differentiable]
fn weighted(x: &[f64], f: &mut dyn FnMut(f64) -> f64) -> f64 {
    let mut sum = 0.0;
    for x in x {
        sum += f(*x) * x;
    }
    sum
}

#[differentiable]
fn twice(x: &[f64], mut f: impl FnMut(f64) -> f64) -> f64 {
    let first = weighted(x, &mut f);
    let g = &mut f;
    first + weighted(&x[1..], &mut |x| 2.0 * g(x * x))
}

#[differentiable]
fn filtered(x: &[f64], k: f64) -> f64 {
    let mut state = k;
    let mut filter = |x: f64| {
        let y = state * x;
        state = 0.5 * state + x.sin();
        y
    };
    let first = twice(x, &mut filter);
    let second = filter(first);
    first * second + state
}

#[differentiable(recursive)]
fn walk(depth: usize, x: f64, f: &mut dyn FnMut(usize, f64)) {
    f(depth, x);
    if depth > 0 {
        walk(depth - 1, 0.5 * x, f);
        walk(depth - 1, x * x, f);
    }
}

#[differentiable]
fn on_a_tree(x: f64, k: f64, depth: usize) -> f64 {
    let mut sums = vec![0.0; depth + 1];
    let mut product = 1.0;
    walk(depth, x, &mut |depth, x| {
        sums[depth] += x * k;
        product *= 1.0 + 0.1 * x;
    });
    sums.iter().map(|s| s * s).sum::<f64>() * product
}

/// Parameters and fields change, within loops and other closures.
#[derive(Differentiable)]
struct Particle {
    x: Vec<f64>,
    dt: f64,
}

#[differentiable]
impl Particle {
    fn run(&mut self, steps: usize, mut observe: impl FnMut(usize, &[f64])) {
        for step in 0..steps {
            for i in 0..self.x.len() {
                self.x[i] += self.dt * self.x[i].sin();
            }
            observe(step, &self.x);
        }
    }
}

#[differentiable]
fn observed(x: &mut [f64], dt: f64, steps: usize) -> f64 {
    let mut particle = Particle { x: x.to_vec(), dt };
    let mut energies = Vec::new();
    for round in 0..2 {
        particle.run(steps, |step, state: &[f64]| {
            energies.push(state.iter().map(|x| x * x).sum::<f64>());
            visit(state, |i, s| x[i] = 0.5 * x[i] + s * (step + round) as f64);
        });
    }
    energies.iter().sum::<f64>() * x[0]
}

/// The sum of each row runs both passes at once, and loops are run again from checkpoints.
#[differentiable]
fn in_loops(rows: &[Vec<f64>], k: f64) -> f64 {
    let mut state = k;
    #[pullback(checkpoint = 2)]
    for row in rows {
        visit(row, |i, x| state = 0.5 * state + x * k * i as f64);
        state *= state;
    }
    let mut total = state;
    for row in rows {
        visit(row, |_, x| total += state * x * x);
    }
    total
}

#[differentiable]
fn each(x: &[f64], mut f: impl FnMut(f64) -> Option<f64>) -> Option<f64> {
    let mut last = 0.0;
    for x in x {
        last += f(*x)?;
    }
    Some(last)
}

/// What has changed by the time that a function is left early has changed.
#[differentiable]
fn spent(x: &[f64], limit: f64) -> f64 {
    let mut used = 0.0;
    let result = each(x, |x| {
        used += x * x;
        if used > limit {
            return None;
        }
        Some(x * used)
    });
    match result {
        Some(y) => y + used,
        None => 2.0 * used,
    }
}

#[differentiable]
fn tabulated(mut f: impl FnMut(f64) -> f64, n: usize) -> Vec<f64> {
    let mut table = Vec::new();
    for i in 0..n {
        table.push(f(i as f64));
    }
    table
}

#[differentiable]
fn decayed(k: f64, n: usize) -> f64 {
    let mut weight = k;
    let table: Vec<f64> = tabulated(
        |t| {
            weight *= 0.9;
            weight * t + k
        },
        n,
    );
    table.iter().product::<f64>() * weight
}

#[test]
fn changed() {
    let inputs = || [(vec![0.5, 1.2, -0.3], 0.7), (vec![0.3, 0.4], 1.1)];
    check_rule(sum_of_squares::rule, inputs());
    check_rule(of_all_kinds::rule, inputs());
    check_rule(filtered::rule, inputs());
    check_rule(decayed::rule, [(0.4, 3), (1.5, 2)]);
    check_rule(spent::rule, [(vec![0.5, 1.2, -0.3], 1.4), (vec![0.3, 0.4, 0.9, 0.3], 8.8)]);
    check_rule(observed::rule, [(vec![0.5, 1.2, -0.3], 0.2, 2), (vec![0.3, 0.4], 0.1, 3)]);
}

#[test]
fn in_order() {
    check_rule(work::rule, [(0.5, 1.2, 0.1), (0.3, 0.4, 1e-3)]);
    check_rule(on_a_tree::rule, [(0.5, 1.2, 2), (0.3, 0.4, 1)]);
    let rows = vec![vec![0.5, 1.2, -0.3], vec![0.4, 0.2], vec![0.7]];
    check_rule(in_loops::rule, [(rows, 0.4), (vec![vec![0.3, 0.4]], 0.8)]);
}
