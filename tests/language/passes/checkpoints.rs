//! Calls of which nothing is kept: `checkpoint(f(x))`.

use pullback::State;
use pullback::prelude::*;
use pullback::testing::check_rule;

/// Keeps two numbers for each iteration.
#[differentiable]
fn day(size: f64, rate: f64, season: &[f64]) -> f64 {
    let mut size = size;
    for i in 0..season.len() {
        size += rate * season[i] * size * (1.0 - size) * (0.1 * size).exp();
    }
    size
}

#[differentiable]
fn year(size: &mut [f64], rate: f64, season: &[f64], days: usize) -> f64 {
    let mut total = 0.0;
    for t in 0..days {
        for i in 0..size.len() {
            if t % 2 == i % 2 {
                size[i] = checkpoint(day(size[i], rate, season));
            } else {
                total += size[i] * checkpoint(day(0.5 * size[i], rate * rate, &season[1..]));
            }
        }
    }
    total
}

#[differentiable]
fn year_kept(size: &mut [f64], rate: f64, season: &[f64], days: usize) -> f64 {
    let mut total = 0.0;
    for t in 0..days {
        for i in 0..size.len() {
            if t % 2 == i % 2 {
                size[i] = day(size[i], rate, season);
            } else {
                total += size[i] * day(0.5 * size[i], rate * rate, &season[1..]);
            }
        }
    }
    total
}

fn season(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.3 + (i as f64 * 0.7).sin() / 4.0).collect()
}

#[test]
fn calls_that_are_made_again() {
    check_rule(
        year::rule,
        [(season(2), 0.3, season(4), 3), (season(3), 0.2, season(2), 1), (season(1), 0.4, season(3), 4)],
    );
    let (mut with, mut without) = (year::gradient(), year_kept::gradient());
    let (mut size, season) = (season(3), season(5));
    let (value, d) = with.value_and_gradient(&mut size, 0.3, &season, 4);
    let (expected_value, expected) = without.value_and_gradient(&mut size, 0.3, &season, 4);
    assert_eq!(
        (value, d.size, d.rate, d.season),
        (expected_value, expected.size, expected.rate, expected.season)
    );
}

#[differentiable]
fn days(x: f64, season: &[f64], count: usize) -> f64 {
    let mut x = x;
    for _ in 0..count {
        x = checkpoint(day(x, 0.2, season));
    }
    x
}

#[differentiable]
fn months(x: f64, season: &[f64], count: usize) -> f64 {
    let mut x = x;
    for _ in 0..count {
        x = checkpoint(days(x, season, 30));
    }
    x
}

#[test]
fn what_is_kept() {
    let season = season(24);
    let mut rule = days::rule();
    pullback::Rule::forward(&mut rule, days::args(0.1, &season, 50));
    // The argument of each call; a call alone would keep two numbers for each of 24 iterations.
    assert_eq!(rule.pending(), 50 * 8);
    check_rule(months::rule, [(0.1, season[..3].to_vec(), 3), (0.2, season[..2].to_vec(), 2)]);
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Growth {
    rate: f64,
}

#[differentiable]
impl Growth {
    fn after(&self, size: f64, steps: usize) -> f64 {
        let mut size = size;
        for _ in 0..steps {
            size *= 1.0 + self.rate * (1.0 - size);
        }
        size
    }
}

#[differentiable]
fn methods(growth: &Growth, x: f64) -> f64 {
    let first = checkpoint(growth.after(x, 3));
    first * checkpoint(Growth::after(growth, first * x, 2))
}

#[test]
fn methods_that_are_called_again() {
    check_rule(methods::rule, [(Growth { rate: 0.3 }, 0.2), (Growth { rate: -0.1 }, 0.4)]);
}

/// A vector is allocated by each call, as it is in the primal.
#[differentiable]
fn layer(w: &[f64], x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; x.len()];
    for i in 0..x.len() {
        for j in 0..x.len() {
            y[i] += w[i * x.len() + j] * x[j];
        }
        y[i] = y[i].tanh();
    }
    y
}

#[differentiable]
fn network(w: &[f64], x: &[f64]) -> f64 {
    let hidden = checkpoint(layer(w, x));
    let out = checkpoint(layer(w, &hidden));
    let mut sum = 0.0;
    for i in 0..out.len() {
        sum += out[i] * out[i] + hidden[i];
    }
    sum
}

#[test]
fn vectors_that_are_made_again() {
    let mut g = network::gradient();
    let (w, x) = (season(9), season(3));
    let (value, d) = g.value_and_gradient(&w, &x);
    assert_eq!(value, network(&w, &x));
    let h = 1e-6;
    for i in 0..9 {
        let (mut up, mut down) = (w.clone(), w.clone());
        up[i] += h;
        down[i] -= h;
        let difference = (network(&up, &x) - network(&down, &x)) / (2.0 * h);
        assert!((d.w[i] - difference).abs() < 1e-8, "{} {difference}", d.w[i]);
    }
}
