//! Elements of the vectors that calls return, without a name for the whole.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn cumulative(x: &[f64]) -> Vec<f64> {
    let mut total = 0.0;
    let mut add = |v: f64| {
        total += v * v;
        total
    };
    x.iter().map(|v| add(*v)).collect()
}

#[differentiable]
fn squared(x: &f64) -> f64 {
    x * x
}

#[differentiable]
fn as_values(x: &[f64]) -> f64 {
    let last = *cumulative(x).last().unwrap();
    let second = cumulative(x).get(1).copied().unwrap_or(0.5);
    last * cumulative(x).first().unwrap().sin() + 2.0 * cumulative(x).last().unwrap() + second
}

#[differentiable]
fn as_options(x: &[f64]) -> f64 {
    let mut t = cumulative(x).get(2).map_or(x[0], |v| v * x[1]);
    if let Some(v) = cumulative(x).last() {
        t += v * v;
    }
    t + match cumulative(x).first() {
        Some(v) if *v > 0.05 => v.sin(),
        Some(v) => v * t,
        None => 0.0,
    }
}

#[differentiable]
fn as_arguments(x: &[f64]) -> f64 {
    squared(&cumulative(x)[1]) + squared(cumulative(x).last().unwrap()) * x[0]
}

#[differentiable]
fn left_where_missing(x: &[f64]) -> Option<f64> {
    let third = *cumulative(x).get(2)?;
    Some(third * cumulative(x).last()?.sin() + *cumulative(x).first()?)
}

#[differentiable]
fn failing_where_missing(x: &[f64]) -> Result<f64, String> {
    let last = cumulative(x).last().copied().ok_or("empty")?;
    let third = *cumulative(x).get(2).ok_or_else(|| "short".to_string())?;
    let Some(first) = cumulative(x).first().copied() else { return Err("empty".into()) };
    Ok(last * third / first)
}

#[derive(Clone, Differentiable)]
struct Walk {
    pace: f64,
}

#[differentiable]
impl Walk {
    fn path(&self, x: &[f64]) -> Vec<f64> {
        x.iter().map(|v| (v * self.pace).exp()).collect()
    }

    fn end(&self, x: &[f64]) -> f64 {
        self.path(x).last().copied().unwrap_or_default()
    }
}

#[differentiable]
fn of_methods(pace: f64, x: &[f64]) -> f64 {
    let walk = Walk { pace };
    let second = if let Some(v) = walk.path(x).get(1) { v * pace } else { pace };
    walk.end(x) * second
}

#[test]
fn elements() {
    let inputs = [(vec![0.3, 0.7],), (vec![0.1, 0.2, 0.3],)];
    check_rule(as_values::rule, inputs.clone());
    check_rule(as_options::rule, inputs.clone());
    check_rule(as_arguments::rule, inputs.clone());
    check_rule(left_where_missing::rule, inputs.clone());
    check_rule(failing_where_missing::rule, inputs.clone());
    check_rule(of_methods::rule, [(0.4, vec![0.3]), (0.7, vec![0.1, 0.2])]);
}

#[differentiable]
fn powers(x: f64, n: usize) -> Vec<f64> {
    (1..=n).map(|i| x.powi(i as i32)).collect()
}

#[differentiable]
fn by_patterns_of_slices(x: f64, n: usize) -> f64 {
    let [a, b] = powers(x, n)[..] else {
        return x.sin();
    };
    let ends = if let [first, .., last] = powers(x * b, n + 1).as_slice() { first * last } else { x };
    let &[u, v, ..] = &powers(ends, 4)[1..] else { unreachable!() };
    a * u + b * v
}

#[differentiable]
fn by_matches_of_slices(walk: &Walk, x: &[f64]) -> f64 {
    let first = if let [a, ..] | [a] = &walk.path(x)[..] { *a } else { walk.pace };
    first
        * match walk.path(x).as_slice() {
            [] => 1.0,
            [only] => only.sin(),
            [first, rest @ ..] => first * rest.iter().sum::<f64>(),
        }
}

#[test]
fn slices() {
    check_rule(by_patterns_of_slices::rule, [(0.7, 1), (0.7, 2), (0.4, 3)]);
    let walk = || Walk { pace: 0.4 };
    check_rule(
        by_matches_of_slices::rule,
        [(walk(), vec![]), (walk(), vec![0.3]), (walk(), vec![0.1, 0.2, 0.3])],
    );
}
