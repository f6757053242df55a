//! Loops that keep something, before statements which may as well come first: they then run forward and backward at once.

use std::cell::Cell;

use pullback::prelude::*;
use pullback::testing::CheckRule;

/// A likelihood, each term of which takes a recurrence, and a prior.
#[differentiable]
fn likelihood_and_prior(x: &[f64], #[constant] data: &[f64], k: f64) -> f64 {
    let scale = k.exp();
    let mut weights = [0.0; 3];
    for i in 0..3 {
        weights[i] = x[i] * scale;
    }
    let mut likelihood = 0.0;
    for p in 0..data.len() {
        let mut level = scale;
        for i in 0..x.len() {
            level = level * weights[i % 3] + (data[p] * x[i]).sin();
        }
        likelihood += level.ln_1p() * level;
    }
    let mut largest = weights[0];
    for i in 1..3 {
        if weights[i] > largest {
            largest = weights[i];
        }
    }
    let mut sum = 0.0;
    for i in 0..3 {
        sum += (weights[i] - largest).exp();
    }
    let prior = sum.ln() + largest;
    likelihood - data.len() as f64 * prior * scale
}

/// What follows has taken names that the loop uses.
#[differentiable]
fn names_taken(x: &[f64], k: f64) -> f64 {
    let weight = k.sin();
    let f = x.len();
    let mut total = 0.0;
    for i in 0..f {
        let mut y = weight;
        for _ in 0..2 {
            y = y * y + x[i];
        }
        total += y * weight;
    }
    let weight = x[0] * k;
    let f = weight * weight;
    total + f
}

/// What follows adds to the same sum, and looks at it.
#[differentiable]
fn one_sum(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut y = x[i];
        for _ in 0..2 {
            y = y * y + k;
        }
        total += y;
    }
    for i in 0..x.len() {
        total += x[i] * k;
    }
    let half = 0.5 * total;
    total + half
}

/// What follows writes to what the loop reads, and to what is read in the end.
#[differentiable]
fn written_afterwards(x: &[f64], k: f64) -> f64 {
    let mut weights = [0.3, k, 0.7];
    let mut factor = k;
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut y = x[i] * factor;
        for j in 0..3 {
            y = y * y * weights[j] + k;
        }
        total += y;
    }
    weights[1] = x[0] * k;
    factor *= weights[1];
    total + weights[0] * weights[1] * factor
}

/// What follows writes to an array of its own, which is read in the end.
#[differentiable]
fn array_of_its_own(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut y = x[i];
        for _ in 0..3 {
            y = y * y + k;
        }
        total += y;
    }
    let mut powers = [1.0; 3];
    for i in 1..3 {
        powers[i] = powers[i - 1] * k;
    }
    powers[2] = powers[2] * powers[2] + powers[1];
    total + powers[1] * powers[2]
}

/// Numbers drawn by both, in order.
#[differentiable]
fn drawn(x: &[f64], k: f64, #[constant] seed: u64) -> f64 {
    let state = Cell::new(seed);
    let draw = || {
        state.set(state.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(11));
        (state.get() >> 40) as f64 / 16_777_216.0
    };
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut y = x[i] * draw();
        for _ in 0..2 {
            y = y * y + k;
        }
        total += y;
    }
    let noise = draw();
    let mut other = 0.0;
    for i in 0..x.len() {
        other += x[i] * draw() * noise;
    }
    total + other
}

fn count_up(count: &mut usize) -> f64 {
    *count += 1;
    *count as f64
}

/// What follows reads what constant code in the loop has changed.
#[differentiable]
fn counted_by_others(x: &[f64], k: f64) -> f64 {
    let mut count = 0;
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut y = x[i] * count_up(&mut count);
        for _ in 0..2 {
            y = y * y + k;
        }
        total += y;
    }
    let calls = count as f64;
    let scaled = k * calls;
    total + scaled
}

/// Two such loops, of which one can be the last.
#[differentiable]
fn two_of_them(x: &[f64], k: f64) -> f64 {
    let (mut first, mut second) = (0.0, 0.0);
    for i in 0..x.len() {
        let mut y = k;
        for j in 0..=i {
            y = y * x[j] + y.sin();
        }
        first += y;
    }
    for i in 0..x.len() {
        let mut y = x[i];
        for _ in 0..3 {
            y = y.cos() * k;
        }
        second -= y;
    }
    let product = k * x[0];
    first - 2.0 * second + product
}

/// What follows carries a vector away.
#[differentiable]
fn carried_away(x: &[f64], k: f64) -> f64 {
    let weights = vec![k, 0.5, k * k];
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut y = x[i];
        for j in 0..weights.len() {
            y = y * y * weights[j] + k;
        }
        total += y;
    }
    let moved = weights;
    let mut sum = 0.0;
    for i in 0..moved.len() {
        sum += moved[i] * k;
    }
    total + sum
}

#[test]
fn behind_what_follows() {
    let x = |n: usize| [0.3, 0.9, -0.4, 0.6, -0.2][..n].to_vec();
    let data = [0.4, -0.3, 0.8, 0.1];
    CheckRule::new(likelihood_and_prior::rule)
        .input((x(3), data.to_vec(), 0.2))
        .input((x(4), data[..1].to_vec(), -0.3))
        .input((x(3), vec![], 0.2))
        .run();
    for (n, k) in [(5, 0.7), (2, -0.4)] {
        CheckRule::new(names_taken::rule).input((x(n), k)).input((x(1), 0.3)).run();
        CheckRule::new(one_sum::rule).input((x(n), k)).input((x(1), 0.3)).run();
        CheckRule::new(written_afterwards::rule).input((x(n), k)).input((x(1), 0.3)).run();
        CheckRule::new(array_of_its_own::rule).input((x(n), k)).input((x(1), 0.3)).run();
        CheckRule::new(drawn::rule).input((x(n), k, 7)).input((x(1), 0.3, 9)).run();
        CheckRule::new(counted_by_others::rule).input((x(n), k)).input((x(1), 0.3)).run();
        CheckRule::new(two_of_them::rule).input((x(n), k)).input((x(1), 0.3)).run();
        CheckRule::new(carried_away::rule).input((x(n), k)).input((x(1), 0.3)).run();
    }
}

/// The value is the function's to the last bit, in one pass as in two.
#[test]
fn values_in_one_pass() {
    let (x, data) = ([0.3, 0.9, -0.4, 0.6], [0.4, -0.3, 0.8]);
    let (value, _) = likelihood_and_prior::gradient().value_and_gradient(&x, &data, 0.2);
    assert_eq!(value, likelihood_and_prior(&x, &data, 0.2));
    assert_eq!(one_sum::gradient().value_and_gradient(&x, 0.7).0, one_sum(&x, 0.7));
    assert_eq!(drawn::gradient().value_and_gradient(&x, 0.7, 3).0, drawn(&x, 0.7, 3));
    assert_eq!(two_of_them::gradient().value_and_gradient(&x, 0.7).0, two_of_them(&x, 0.7));
}
