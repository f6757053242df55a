//! Loops that write elements and ask whether an iteration is the first or the last: on a ring, between walls, with other rules at the ends.
//! Some of them are of one iteration or of none.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

fn wave(n: usize, start: f64) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + start).sin() + 1.2).collect()
}

/// From one element on.
fn inputs() -> [Vec<f64>; 5] {
    [1, 2, 3, 9, 40].map(|n| wave(n, 0.3 + 0.1 * n as f64))
}

/// Not the sum of the elements, whose seeds are all the same.
#[differentiable]
fn weighted(y: &[f64]) -> f64 {
    let mut s = 0.0;
    for (i, y) in y.iter().enumerate() {
        s += (1.0 + 0.1 * i as f64) * y * y;
    }
    s
}

#[differentiable]
fn ring(x: &[f64]) -> f64 {
    let rate = 0.2 * x[0];
    let mut u = x.to_vec();
    let mut change = vec![0.0; x.len()];
    let n = u.len();
    for _ in 0..3 {
        for i in 0..n {
            let left = if i == 0 { n - 1 } else { i - 1 };
            let right = if i + 1 == n { 0 } else { i + 1 };
            change[i] = rate * (u[left] - 2.0 * u[i] + u[right]) - 0.1 * u[i] * u[i] * u[right];
        }
        for i in 0..n {
            u[i] += change[i];
        }
    }
    weighted(&u)
}

#[differentiable]
fn ring_by_remainders(x: &[f64], out: &mut [f64], rate: f64) {
    let n = x.len();
    for i in 0..n {
        out[i] = rate * x[(i + 1) % n] * x[i] - x[(i + n - 1) % n] + x[(n + i - 1) % n] * x[i];
    }
}

#[differentiable]
fn ring_of(x: &[f64]) -> f64 {
    let mut y = vec![0.0; x.len()];
    ring_by_remainders(x, &mut y, 0.3 * x[0]);
    weighted(&y)
}

#[differentiable]
fn between_walls(x: &[f64]) -> f64 {
    let mut y = vec![0.0; x.len()];
    let n = x.len();
    for i in 0..n {
        y[i] = x[i.saturating_sub(1)] * x[i] + (x[(i + 1).min(n - 1)] - x[i]).powi(2);
    }
    weighted(&y)
}

/// The ends by the length, in other words, and with what belongs to both.
#[differentiable]
fn by_length(x: &[f64]) -> f64 {
    let slope = 0.5 * x[0];
    let mut y = vec![0.0; x.len()];
    for i in 0..x.len() {
        if i > 0 && i < x.len() - 1 {
            y[i] = x[i - 1] * x[i + 1] * slope;
        } else if !(i != 0) {
            y[i] = 2.0 * x[i] * slope;
        } else {
            y[i] = x[i] * x[i - 1];
        }
        if 0 == i || x.len() == i + 1 {
            y[i] += x[i] * x[i];
        }
        if i + 1 < x.len() && x[i] > 1.0 {
            y[i] -= 0.5 * x[i + 1];
        }
        if x[i] > 1.5 || i < 1 {
            y[i] *= 1.5;
        }
        let inner = 2 <= i + 1 && i + 2 <= x.len();
        if inner {
            y[i] += x[i + 1] * x[i - 1];
        }
    }
    weighted(&y)
}

/// The iterations before hand on what they have written.
#[differentiable]
fn recurrence(x: &[f64]) -> f64 {
    let decay = 0.4 * x[0];
    let mut y = x.to_vec();
    for i in 0..y.len() {
        let before = if i > 0 { y[i - 1] } else { 1.0 };
        y[i] = decay * before * x[i] + y[i];
    }
    weighted(&y)
}

/// From the second element on.
#[differentiable]
fn differences(x: &[f64]) -> f64 {
    let n = x.len();
    let mut y = vec![0.0; n];
    for i in 1..n {
        y[i] = if i == 1 { x[0] * x[1] } else { (x[i] - x[i - 1]) * (x[i - 1] - x[i - 2]) };
        if i == n - 1 {
            y[i] *= x[0];
        }
    }
    weighted(&y)
}

/// With signs, -1 is a neighbour of 0.
#[differentiable]
fn signed(x: &[f64]) -> f64 {
    let n = x.len() as i32;
    let mut y = vec![0.0; x.len()];
    for i in 0..n {
        let before = i.saturating_sub(1);
        let factor = if i == 0 { 2.0 } else { 3.0 };
        y[i as usize] = factor * x[i as usize] * f64::from(before) + x[((i + 1) % n) as usize];
    }
    weighted(&y)
}

/// In the plane, with walls on all sides.
#[differentiable]
fn smoothed(x: &[f64]) -> f64 {
    let (width, share) = ((x.len() + 4) / 5, 0.1 * x[0]);
    let height = x.len() / width;
    let mut y = vec![0.0; x.len()];
    for r in 0..height {
        for c in 0..width {
            let at = r * width + c;
            let west = if c == 0 { x[at] } else { x[at - 1] };
            let east = if c + 1 < width { x[at + 1] } else { x[at] };
            let north = if r > 0 { x[at - width] } else { x[at] };
            let south = if r + 1 == height { x[at] } else { x[at + width] };
            y[at] = x[at] + share * (west + east + north + south - 4.0 * x[at]) * x[at];
        }
    }
    weighted(&y)
}

/// What the loop asks is about something else: the end changes, and a name is taken.
#[differentiable]
fn others(x: &[f64]) -> f64 {
    let mut y = vec![0.0; x.len()];
    let (mut n, k) = (x.len(), 2);
    for i in 0..n {
        n = x.len() / 2 + 1;
        y[i] = if i + 1 == n { x[i] } else { x[i] * x[i] };
    }
    for i in 0..x.len() {
        let first = i == 0;
        let i = i / k;
        y[i] += if i == 0 { x[i] } else { 2.0 * x[i] };
        if first {
            y[i] += x[i].sin();
        }
    }
    weighted(&y)
}

#[test]
fn gradients() {
    check_all!(inputs(); ring, ring_of, between_walls, by_length, recurrence, differences, signed, smoothed, others);
}

#[test]
fn seeds_for_each_element() {
    let inputs = [0, 1, 2, 3, 17].map(|n| (wave(n, 0.3), wave(n, 0.9), 0.7));
    check_rule(ring_by_remainders::rule, inputs);
}

/// The derived forward pass computes the function, bit for bit.
#[test]
fn values() {
    for x in inputs() {
        assert_eq!(ring::gradient().value_and_gradient(&x).0.to_bits(), ring(&x).to_bits());
        assert_eq!(by_length::gradient().value_and_gradient(&x).0.to_bits(), by_length(&x).to_bits());
    }
}

#[test]
fn without_iterations() {
    assert_eq!(between_walls::gradient().value_and_gradient(&[]).0, 0.0);
    assert_eq!(signed::gradient().value_and_gradient(&[]).0, 0.0);
    assert_eq!(differences::gradient().value_and_gradient(&[]).0, 0.0);
}
