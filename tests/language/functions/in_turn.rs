//! Functions that are parameters and called several times in one expression. The closures that are passed here have loops, whose
//! values of the forward pass wait for the reverse pass: the call that was last comes first.

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn product(c: &[f64], t: f64) -> f64 {
    let mut d = 1.0;
    for ck in c {
        d *= t + ck;
    }
    d
}

/// Everything that an expression is made of.
#[differentiable]
fn operands(f: impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    let sum = f(a) + f(b) - f(a * b);
    let [x, y] = [f(sum), f(f(a)) / f(b)];
    let (u, v) = (f(x), -f(y) * (f(a) as f64));
    let mut best = f(u).max(f(a)).min(f(v) + f(b));
    best += f(u) * f(v);
    best *= if b > 0.0 { f(b) } else { 1.0 }
        + f(a)
            * match a > 0.5 {
                true => f(a) - f(b),
                false => 0.5,
            };
    plus(f(x), &f(best)) * f(u)
}

#[differentiable]
fn plus(a: f64, b: &f64) -> f64 {
    a * b + a
}

#[differentiable]
fn in_expressions(c: &[f64], a: f64, b: f64) -> f64 {
    let of_closure = operands(
        |t| {
            let mut d = 0.3;
            for ck in c {
                d *= 0.2 * t + ck;
            }
            d
        },
        a,
        b,
    );
    of_closure * in_both(product, c, a, b)
}

/// A function with a rule keeps what its calls need in the same way.
#[differentiable]
fn in_both<F: Fn(&[f64], f64) -> f64>(f: F, c: &[f64], a: f64, b: f64) -> f64 {
    f(c, a) * f(c, b) + f(&c[1..], f(c, b))
}

/// Ways out, and what a loop does.
#[differentiable]
fn left(f: &dyn Fn(f64) -> f64, a: f64, b: f64) -> (f64, [f64; 2]) {
    if a > b {
        return (f(a), [f(b), f(a * b)]);
    }
    let mut k = 0;
    let v = loop {
        k += 1;
        if k > 2 {
            break f(a * k as f64) * f(b);
        }
    };
    let mut y = v * f(v);
    while f(y) * f(a) > 1.0 && k < 6 {
        k += 1;
        y *= 0.5 * (f(a) - f(b));
    }
    (y * f(a), [f(a), -f(b)])
}

#[differentiable]
fn of_ways_out(c: &[f64], a: f64, b: f64) -> f64 {
    let (x, y) = left(&|t: f64| product(c, 0.2 * t) + c.iter().fold(1.0, |p, ck| p * t + ck), a, b);
    x * y[0] * y[1]
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Grid {
    weights: [f64; 2],
}

#[differentiable]
impl Grid {
    fn mean(&self, f: impl Fn(f64) -> f64, a: f64) -> f64 {
        self.weights[0] * f(a) + self.weights[1] * f(-a)
    }
}

/// Passed on to others, by name and in closures.
#[differentiable]
fn passed_on<F: Fn(f64) -> f64>(f: F, grid: &Grid, a: f64, b: f64) -> f64 {
    let h = |t: f64| f(t) * f(2.0 * t);
    let shared = both(&f, &f, a) / both(|t| f(t) + f(-t), &f, b);
    let inlined = h(a) * h(b) - once(h, a) * once(&h, b);
    let methods = grid.mean(&f, a) * grid.mean(|t| f(t) * t, b);
    once(&f, a) * once(&f, b) + shared + inlined * methods
}

#[differentiable]
fn once<F: Fn(f64) -> f64>(f: F, a: f64) -> f64 {
    f(a) * a
}

#[differentiable]
fn both<F: Fn(f64) -> f64, G: Fn(f64) -> f64>(f: F, g: G, a: f64) -> f64 {
    f(a) * a + g(a * a) * f(g(a))
}

#[differentiable]
fn of_passed_on(c: &[f64], grid: &Grid, a: f64, b: f64) -> f64 {
    passed_on(
        |t: f64| {
            let mut d = 1.0;
            for ck in c {
                d *= 0.3 * t + ck;
            }
            d
        },
        grid,
        a,
        b,
    )
}

/// In chains, and in what options are made into.
#[differentiable]
fn items(f: impl Fn(f64) -> Option<f64>, x: &[f64], a: f64) -> Option<f64> {
    let sums = x.iter().map(|v| f(*v).unwrap_or(0.1) * f(2.0 * v).unwrap_or(a)).sum::<f64>()
        + x.iter().filter_map(|v| f(a - v)).sum::<f64>();
    let mapped = f(a).map(|v| v * a).unwrap_or(0.3) * f(sums).map_or(1.0, |v| v + a);
    let chained = Some(a).and_then(&f).unwrap_or(1.0) - Some(sums).and_then(&f).unwrap_or(2.0);
    let inside = if let Some(v) = f(a * mapped) { v * f(v)? } else { 0.0 };
    Some(f(a)? * f(sums)? + mapped * inside * chained + f(a + sums).unwrap_or(0.5))
}

#[differentiable]
fn of_items(c: &[f64], x: &[f64], a: f64) -> f64 {
    let f = |t: f64| {
        let mut d = 1.0;
        for ck in c {
            d *= 0.3 * t + ck;
        }
        if d > 0.2 { Some(d) } else { None }
    };
    items(f, x, a).unwrap_or(0.7)
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Pair {
    x: f64,
    y: f64,
}

#[differentiable]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// What owns memory.
#[differentiable]
fn vectors(f: impl Fn(f64) -> Vec<f64>, a: f64, b: f64) -> f64 {
    let pair = Pair { x: f(a)[0], y: f(b)[1] * f(a)[1] };
    let listed = vec![f(a)[0], f(b)[0]];
    let mut grown = Vec::new();
    grown.push(f(a * b)[0] * f(b)[1]);
    grown.extend(f(a).iter().zip(&f(b)).map(|(x, y)| x * y));
    let sums = f(a).iter().sum::<f64>() * f(b).iter().sum::<f64>();
    dot(&f(a), &f(b)) + pair.x * pair.y * listed[0] * listed[1] + dot(&grown[1..], &f(1.0 + a)) + sums
}

#[differentiable]
fn of_vectors(c: &[f64], a: f64, b: f64) -> f64 {
    let f = |t: f64| {
        let mut d = 1.0;
        for ck in c {
            d *= t + ck;
        }
        vec![d, d * d, t]
    };
    vectors(f, a, b)
}

/// What changes, changes in the order of the source.
#[differentiable]
fn changing(f: &mut dyn FnMut(f64) -> f64, a: f64, b: f64) -> f64 {
    f(a) * f(b) + f(a * b)
}

#[differentiable]
fn of_changing(c: &[f64], a: f64, b: f64) -> f64 {
    let mut total = 0.0;
    let value = changing(
        &mut |t: f64| {
            let mut d = 1.0;
            for ck in c {
                d *= t + ck;
            }
            total += d;
            d * total
        },
        a,
        b,
    );
    value * total
}

#[differentiable]
fn generic<T: Float, F: Fn(T) -> T>(f: F, a: T, b: T) -> T {
    (f(a) * f(b) + f(a * b)).max(f(b))
}

#[differentiable]
fn of_generic<T: Float>(c: &[T], a: T, b: T) -> T {
    generic(
        |t: T| {
            let mut d = T::one();
            for ck in c {
                d *= t + *ck;
            }
            d
        },
        a,
        b,
    )
}

#[test]
fn calls_in_all_expressions() {
    check_rule(in_expressions::rule, [(vec![0.3, 1.0, -0.4, 0.8], 0.1, 1.3), (vec![0.3, 0.7], 0.6, -1.3)]);
}

#[test]
fn calls_that_a_function_ends_with() {
    check_rule(of_ways_out::rule, [(vec![0.3, 1.0, -0.4, 0.8], 0.1, 1.3), (vec![0.3, 1.0], 1.1, 0.3)]);
}

#[test]
fn functions_that_are_passed_on_twice() {
    check_rule(
        of_passed_on::rule,
        [
            (vec![0.3, 1.0, -0.4, 0.8], Grid { weights: [0.3, 0.8] }, 0.1, 1.3),
            (vec![0.9, 1.2], Grid { weights: [0.4, 0.5] }, 0.7, -0.4),
        ],
    );
}

#[test]
fn calls_in_chains() {
    check_rule(
        of_items::rule,
        [(vec![0.8, 1.0, 0.9], vec![0.4, -0.5, 0.7], 0.6), (vec![1.3, 1.1], vec![0.2, 0.3], 0.9)],
    );
}

#[test]
fn calls_that_return_vectors() {
    check_rule(of_vectors::rule, [(vec![0.3, 1.0, -0.4, 0.8], 0.1, 1.3), (vec![0.3, 0.5], 0.7, -0.2)]);
}

#[test]
fn calls_that_change_what_is_captured() {
    check_rule(of_changing::rule, [(vec![0.3, 1.0, -0.4, 0.8], 0.1, 1.3), (vec![0.3, 0.5], 0.7, -0.2)]);
}

#[test]
fn calls_of_generic_functions() {
    check_rule(of_generic::<f64>::rule, [(vec![0.3, 1.0, -0.4, 0.8], 0.1, 1.3), (vec![0.3, 0.5], 0.7, -0.2)]);
}
