//! What is not there has the coordinates that its derivative has, all zero.

use pullback::prelude::*;
use pullback::testing::{check_pushforward, check_rule, check_second_order};

#[derive(Clone, Copy, Debug, Differentiable)]
struct Fit<T> {
    slope: Option<T>,
    offset: T,
    ends: [T; 2],
}

/// Newton's method for the square root of `x`, which counts what it has done in `steps`.
#[differentiable(dual)]
fn root(x: f64, steps: &mut [f64]) -> Option<f64> {
    steps[0] += x;
    let mut y = x;
    while (y * y - x).abs() > 1e-12 {
        if y < 0.1 || x < 0.0 {
            return None;
        }
        y = 0.5 * (y + x / y);
        steps[1] += 0.5 * y;
    }
    Some(y)
}

#[differentiable(dual)]
fn fit(x: &[f64], y: &mut [f64]) -> Option<Fit<f64>> {
    y[0] *= x[0];
    if x.len() < 2 {
        return None;
    }
    let slope = if x[1] == x[0] { None } else { Some((y[1] - y[0]) / (x[1] - x[0])) };
    Some(Fit { slope, offset: y[0] * x[0], ends: [x[0], x[1] * y[1]] })
}

#[differentiable(dual)]
fn quotient(x: f64, y: f64) -> Result<(f64, f64), u32> {
    if y == 0.0 { Err(1) } else { Ok((x / y, x * x)) }
}

/// The first is missing, and the second is not.
#[differentiable(dual)]
fn both(x: f64, y: f64) -> (Option<f64>, f64) {
    (if x > 0.0 { Some(x.ln() * y) } else { None }, x * y)
}

#[differentiable(dual)]
fn predicted(fit: &Fit<f64>, x: f64) -> f64 {
    let slope = fit.slope.unwrap_or(0.5);
    fit.offset * slope + slope * slope * x * fit.ends[1] * fit.ends[0]
}

#[test]
fn results_that_are_missing() {
    let inputs = || [(2.0, vec![0.5, 0.25]), (-1.0, vec![0.5, 0.25])];
    check_rule(root::rule, inputs());
    check_pushforward(root::rule, inputs());
    let inputs = || {
        let lists = [vec![0.5], vec![0.5, 0.5], vec![0.5, 1.5]];
        lists.map(|x| (x, vec![0.3, 0.7]))
    };
    check_rule(fit::rule, inputs());
    check_pushforward(fit::rule, inputs());
    let inputs = || [(0.5, 0.0), (0.5, 2.0)];
    check_rule(quotient::rule, inputs());
    check_pushforward(quotient::rule, inputs());
    let inputs = || [(-0.5, 0.7), (0.5, 2.0)];
    check_rule(both::rule, inputs());
    check_pushforward(both::rule, inputs());
    let (value, d) = both::pushforward().value_and_pushforward(-0.5, 0.7, 1.0, 0.0);
    assert_eq!((value, d), ((None, -0.35), (0.0, 0.7)));
    let mut jacobian = root::jacobian();
    let (value, rows) = jacobian.value_and_jacobian(-1.0, &mut [0.5, 0.25]);
    assert_eq!((value, rows.dim()), (None, (3, 3)));
    assert_eq!(rows.row(0).to_vec(), [0.0; 3]);
    assert_eq!(rows.row(1).to_vec(), [1.0, 1.0, 0.0]);
}

#[test]
fn fields_that_are_missing() {
    let inputs = || {
        let slopes = [None, Some(1.3)];
        slopes.map(|slope| (Fit { slope, offset: 0.3, ends: [0.4, 0.7] }, 0.8))
    };
    check_rule(predicted::rule, inputs());
    check_pushforward(predicted::rule, inputs());
    check_second_order(predicted::rule, inputs());
}
