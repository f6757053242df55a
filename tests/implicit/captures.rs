//! What the functions capture, in loops and branches, next to writes and other calls.

use ndarray::Array1;
use pullback::prelude::*;
use pullback::solve::{fixed_point, root, zero};
use pullback::testing::{allocations_in, check_rule};

#[derive(Clone, Copy, Differentiable)]
struct Law {
    strength: f64,
    power: [f64; 2],
}

/// A root within a loop, with a captured variable that the loop changes, an index, a struct and a part of a slice.
#[differentiable]
fn in_a_loop(law: Law, p: &[f64], start: f64, n: usize) -> f64 {
    let mut level = start;
    let mut total = 0.0;
    for i in 0..n {
        let rest = &p[i..];
        #[pullback(recompute)]
        let x = zero(|x| x.powi(3) + law.strength * x - level - rest[0] * law.power[i % 2], -9.0, 9.0, 1e-15);
        level = 0.5 * level + x;
        if x > 0.6 {
            #[pullback(recompute)]
            let y = zero(|y| y.exp() - 1.0 - x * law.power[1] * level, -9.0, 9.0, 1e-15);
            total += y * level;
        } else {
            total += x;
        }
    }
    total + level
}

/// Captured memory: an array and a vector that are written to before, in between and afterwards, and only read linearly.
#[differentiable]
fn of_memory(a: f64, b: &[f64], rounds: usize) -> f64 {
    let mut table = [a, 0.5, 0.25];
    let mut data = vec![0.0; 2];
    let mut total = 0.0;
    for i in 0..rounds {
        data[i % 2] = a * b[i % 2] + total * 0.125;
        #[pullback(recompute)]
        let x = zero(|x| x + 0.25 * x.sin() - table[i % 3] - data[0] - data[1], -50.0, 50.0, 1e-15);
        table[(i + 1) % 3] += 0.25 * x;
        data[(i + 1) % 2] *= 0.5;
        total += x;
    }
    table[0] = total;
    total * table[0] + data[0]
}

/// Vectors that a call returned, an array of ndarray, results of calls that the pullback does not read.
#[differentiable]
fn made(a: f64, n: usize) -> Vec<f64> {
    let mut v = vec![0.0; n];
    for i in 0..n {
        v[i] = a * (i + 1) as f64;
    }
    v
}

#[differentiable]
fn of_results(a: f64, w: &Array1<f64>) -> f64 {
    let v = made(a, 2);
    let u: Array1<f64> = w * a;
    let shift = product(a, w[0]);
    #[pullback(recompute)]
    let x = zero(|x| x + 0.5 * x.tanh() - shift - v[1] - u[1], -50.0, 50.0, 1e-15);
    x * v[0]
}

#[differentiable]
fn product(a: f64, b: f64) -> f64 {
    a * b
}

/// One within the other: the inner root depends on the outer unknown.
#[differentiable]
fn nested(a: f64, b: f64) -> f64 {
    #[pullback(recompute)]
    let x = zero(
        |x| {
            #[pullback(recompute)]
            let y = zero(|y| y.powi(3) + y - x * b, -9.0, 9.0, 1e-15);
            x + 0.5 * y - a
        },
        -9.0,
        9.0,
        1e-15,
    );
    x * x
}

/// In another function, which is called in a loop, and again by itself.
#[differentiable]
fn energy(level: f64, k: f64) -> f64 {
    #[pullback(recompute)]
    zero(|x| k * x + x.powi(5) - level, -9.0, 9.0, 1e-15)
}

#[differentiable]
fn called(k: f64, x: &mut [f64]) -> f64 {
    for i in 0..x.len() {
        x[i] = energy(x[i] * k, k + x[i]);
    }
    energy(x[0], energy(x[1], k) + 1.0)
}

#[differentiable]
fn rerun(k: f64, x: f64, n: usize) -> f64 {
    let mut level = x;
    #[pullback(checkpoint = 2)]
    for _ in 0..n {
        #[pullback(recompute)]
        let y = zero(|y| k * y + y.powi(3) - level, -9.0, 9.0, 1e-15);
        level = y + 0.5;
    }
    level
}

#[differentiable]
fn with_exits(k: f64, x: f64) -> Option<f64> {
    if x < 0.0 {
        return None;
    }
    #[pullback(recompute)]
    let y = zero(
        |y| {
            if y < 0.1 {
                return y - k * 0.5 * x;
            }
            let mut z = y;
            for i in 0..3 {
                z = z * 1.1;
                if z > 5.0 {
                    return z - k * x;
                }
            }
            z + y * y - k * x - 0.05 * x
        },
        -9.0,
        9.0,
        1e-15,
    );
    Some(y * k)
}

#[differentiable]
fn with_fallback(k: f64, x: f64) -> f64 {
    match with_exits(k, x) {
        Some(y) => y,
        None => k * x,
    }
}

/// A loop that sums up, whose passes become one.
#[differentiable]
fn in_a_sum(p: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..p.len() {
        let rest = &p[i..];
        let shift = k * p[0];
        #[pullback(recompute)]
        let x = zero(|x| x + 0.3 * x.sin() - rest[0] * k - shift, -50.0, 50.0, 1e-15);
        total += x * p[i];
    }
    total
}

/// Chains and loops over elements, closures that are inlined, `+=`, and ways out.
#[differentiable]
fn chained(p: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for v in p.iter() {
        #[pullback(recompute)]
        let x = zero(|x| x + 0.3 * x.sin() - v * k, -50.0, 50.0, 1e-15);
        total += x * v;
    }
    let twice = |level: f64| {
        #[pullback(recompute)]
        let x = zero(|x| x + x.powi(3) * k - level, -50.0, 50.0, 1e-15);
        2.0 * x
    };
    total += twice(k) * twice(p[0]);
    let roots: f64 = p
        .iter()
        .enumerate()
        .map(|(i, v)| {
            #[pullback(recompute)]
            let x = zero(|x| x + x.powi(3) * k - v * (i + 1) as f64, -50.0, 50.0, 1e-15);
            x * x
        })
        .sum();
    #[pullback(recompute)]
    total += 2.0 * zero(|x| x * k - roots, -90.0, 90.0, 1e-15) - total * 0.5;
    if total > 3.0 {
        #[pullback(recompute)]
        return k * zero(|x| x * k - total * total, -900.0, 900.0, 1e-15);
    }
    total
}

/// A `&mut` parameter, constant arrays and counters that change, a `while` loop, a tuple.
#[differentiable]
fn written(k: f64, y: &mut [f64], rounds: usize) -> f64 {
    let mut weights = [1.0, 2.0, 3.0];
    let mut count = 0;
    let mut total = 0.0;
    while count < rounds {
        #[pullback(recompute)]
        let x = zero(|x| x + 0.25 * x.sin() - y[count % 2] - weights[count % 3] - k, -50.0, 50.0, 1e-15);
        y[count % 2] = x * 0.5;
        y[1] += k;
        weights[count % 3] = (count * count) as f64;
        count += 2;
        #[pullback(recompute)]
        let (a, b) = (zero(|x| x * k + count as f64 - y[0], -50.0, 50.0, 1e-15), y[1]);
        total += a * b;
    }
    total + y[0] * weights[0]
}

/// Within a closure that is called again itself: its parameters are captured.
#[differentiable]
fn of_parameters(k: f64, w: &[f64], x: &mut [f64]) -> f64 {
    #[pullback(recompute)]
    fixed_point(
        |x, y| {
            for i in 0..y.len() {
                let v = x[i];
                #[pullback(recompute)]
                let r = zero(
                    |r| r + 0.5 * r.tanh() - 0.3 * x[(i + 1) % 2] * k - w[i] - 0.1 * v,
                    -50.0,
                    50.0,
                    1e-15,
                );
                y[i] = 0.5 * r.sin();
            }
        },
        x,
        1e-14,
        500,
    );
    x[0] * x[1]
}

struct Spring {
    stiffness: f64,
    rest: [f64; 2],
}

#[differentiable]
impl Spring {
    fn force(#[constant] &self, x: f64) -> f64 {
        self.stiffness * (x - self.rest[0]) + x * x * x
    }

    fn extension(#[constant] &self, load: f64) -> f64 {
        #[pullback(recompute)]
        zero(|x| self.force(x) - load + self.rest[1], -50.0, 50.0, 1e-15)
    }
}

#[differentiable]
fn of_methods(#[constant] spring: &Spring, load: f64) -> f64 {
    #[pullback(recompute)]
    let direct = zero(|x| spring.force(x) - load * load, -50.0, 50.0, 1e-15);
    spring.extension(load) * direct
}

/// The names that generated code uses itself.
#[differentiable]
fn named_alike(value: f64, residual: &[f64], n: usize) -> f64 {
    let again = value * residual[0];
    let pending = [again, residual[0]];
    let d = vec![value, again];
    let seed = d[0] * pending[0];
    #[pullback(recompute)]
    let target = zero(
        |x| {
            let mut args = x * value;
            for i in 0..n {
                args += 0.1 * (pending[i % 2] * args).sin() + 0.01 * d[i % 2];
            }
            args - again - seed - residual[0]
        },
        -50.0,
        50.0,
        1e-15,
    );
    target * target
}

/// Names for parts of slices that are taken twice.
#[differentiable]
fn named_twice(p: &[f64], k: f64) -> f64 {
    let row = &p[..2];
    #[pullback(recompute)]
    let x = zero(|x| x + 0.5 * x.sin() - row[0] * row[1], -50.0, 50.0, 1e-15);
    let row = &p[1..];
    #[pullback(recompute)]
    let y = zero(|y| y * k + 0.5 * y.sin() - row[0] * row[1], -50.0, 50.0, 1e-15);
    let mut total = x * y;
    for i in 0..2 {
        let row = &p[i..];
        #[pullback(recompute)]
        let z = zero(|z| z * k + 0.5 * z.sin() - row[0] - row[1] * x, -50.0, 50.0, 1e-15);
        total *= z;
    }
    total
}

#[test]
fn other_statements() {
    check_rule(in_a_sum::rule, [(vec![0.5, 0.9, 0.3], 1.2), (vec![0.4], 0.3)]);
    check_rule(chained::rule, [(vec![0.5, 0.9, 0.3], 1.2), (vec![0.4], 0.6), (vec![1.4, 2.0], 0.6)]);
    check_rule(written::rule, [(0.7, vec![0.5, 0.9], 5), (0.4, vec![0.2, 0.1], 1)]);
    check_rule(
        of_parameters::rule,
        [(0.7, vec![0.5, 0.9], vec![0.1, 0.2]), (1.4, vec![0.2, 0.1], vec![0.0, 0.4])],
    );
    check_rule(named_twice::rule, [(vec![0.5, 0.9, 1.3], 1.2)]);
    check_rule(named_alike::rule, [(0.7, vec![0.5], 3), (1.4, vec![0.2], 1)]);
}

#[test]
fn methods() {
    let spring = Spring { stiffness: 0.7, rest: [0.2, 0.3] };
    pullback::testing::check_gradient(
        |load: &mut f64| of_methods(&spring, *load),
        {
            let mut g = of_methods::gradient();
            let spring = Spring { stiffness: 0.7, rest: [0.2, 0.3] };
            move |load: &mut f64| {
                let (value, d) = g.value_and_gradient(&spring, *load);
                (value, d.load)
            }
        },
        [0.5, 1.7],
    );
}

#[test]
fn in_loops_and_branches() {
    let law = Law { strength: 0.8, power: [0.7, 0.3] };
    check_rule(in_a_loop::rule, [(law, vec![0.4, 0.2, 0.9], 0.3, 3), (law, vec![0.1], 1.3, 1)]);
    check_rule(of_memory::rule, [(0.4, vec![0.6, 0.2], 5), (0.9, vec![0.1, 0.7], 1)]);
    check_rule(called::rule, [(0.8, vec![0.4, 0.9, 0.2]), (1.3, vec![0.7, 0.1])]);
    check_rule(rerun::rule, [(0.8, 0.4, 5), (1.3, 0.7, 2)]);
    check_rule(with_fallback::rule, [(0.8, 0.9), (0.5, -1.0), (2.0, 4.0)]);
}

#[test]
fn of_what_calls_return() {
    check_rule(of_results::rule, [(0.4, Array1::from(vec![0.6, 0.2])), (0.9, Array1::from(vec![0.1, 0.7]))]);
    check_rule(nested::rule, [(0.4, 0.6), (1.2, 0.3)]);
}
