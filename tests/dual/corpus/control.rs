//! Loops, branches and exits.

use pullback::prelude::*;
use pullback::testing::{check_pushforward, check_second_order};

#[differentiable(dual)]
fn newton_root(a: f64, rounds: usize) -> f64 {
    let mut x = 0.5 * (1.0 + a);
    for _ in 0..rounds {
        x = 0.5 * (x + a / x);
    }
    x
}

/// Constants mixed with active values, in both orders and in every operator.
#[differentiable(dual)]
fn mixed(x: f64, y: f64, #[constant] h: f64) -> f64 {
    let k = 3.0 * h;
    let mut total = k;
    total += h - x;
    total *= 2.0 - y * h;
    total -= h / (x * x + 1.0);
    total /= 1.0 + k * k;
    total + (x * 7.5) % 2.0 + h * k - 5.0
}

#[differentiable(dual)]
fn until_small(x: f64, #[constant] tolerance: f64) -> f64 {
    let (mut term, mut sum, mut k) = (x, x, 1);
    while term.abs() > tolerance {
        term *= -x * x / ((2 * k) * (2 * k + 1)) as f64;
        sum += term;
        k += 1;
    }
    sum
}

#[differentiable(dual)]
fn huber(x: &[f64], delta: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += if x[i].abs() <= delta { 0.5 * x[i] * x[i] } else { delta * (x[i].abs() - 0.5 * delta) };
    }
    total
}

#[derive(Clone, Copy)]
enum Link {
    Identity,
    Log,
    Logit,
}

#[differentiable(dual)]
fn linked(eta: f64, y: f64, #[constant] link: Link) -> f64 {
    match link {
        Link::Identity => 0.5 * (y - eta).powi(2),
        Link::Log => eta.exp() - y * eta,
        Link::Logit => eta.exp().ln_1p() - y * eta,
    }
}

#[differentiable(dual)]
fn by_number(x: f64, kind: usize) -> f64 {
    let scale = match kind {
        0 => 1.0,
        1 | 2 => x,
        k if k % 2 == 0 => x * x,
        _ => 4.0,
    };
    scale * x.cos()
}

#[differentiable(dual)]
fn sinc(x: f64) -> f64 {
    if x.abs() < 1e-2 {
        let square = x * x;
        return 1.0 - square / 6.0 * (1.0 - square / 20.0);
    }
    x.sin() / x
}

/// Returns from within a loop, a number or a constant.
#[differentiable(dual)]
fn first_hit(heights: &[f64], start: f64, slope: f64) -> f64 {
    let mut before = start - heights[0];
    for i in 1..heights.len() {
        let after = start + slope * i as f64 - heights[i];
        if after > 100.0 {
            return 100.0;
        }
        if after < 0.0 {
            return i as f64 - 1.0 + before / (before - after);
        }
        before = after;
    }
    heights.len() as f64 + before * before
}

#[differentiable(dual)]
fn eccentric_anomaly(mean: f64, eccentricity: f64) -> f64 {
    let mut e = mean;
    loop {
        let f = e - eccentricity * e.sin() - mean;
        e -= f / (1.0 - eccentricity * e.cos());
        if f.abs() < 1e-8 {
            break e;
        }
    }
}

#[differentiable(dual)]
fn skipping(x: &[f64], limit: f64) -> f64 {
    let mut total = 1.0;
    for &v in x {
        if v < 0.0 {
            continue;
        }
        if v > limit {
            break;
        }
        total *= 1.0 + v * limit;
    }
    total
}

#[differentiable(dual)]
fn checked_ratio(a: f64, b: f64) -> f64 {
    let ratio = if b == 0.0 { None } else { Some(a / b) };
    match ratio {
        Some(r) if r > 1.0 => r.ln() * r,
        Some(r) => r * r * a,
        None => 0.0,
    }
}

/// The standard library's methods as functions, of differences and of calls.
#[differentiable(dual)]
fn as_functions(x: f64, y: f64, #[constant] h: f64) -> f64 {
    let a = f64::abs(x - y * 2.0) + f64::max(h - x, x * y - 1.0);
    let b = f64::hypot(newton_root(a, 2) - 1.0, h);
    f64::min(-x, b * b) + f64::atan2(b - x, 2.0) * f64::from(3_i32)
}

/// Integers made of active values carry no gradient; integers become numbers.
#[differentiable(dual)]
fn interpolated(table: &[f64], x: f64) -> f64 {
    let cell = (x.floor() as usize).min(table.len() - 2);
    let t = x - cell as f64;
    let t = t * t * (3.0 - 2.0 * t);
    let x = table[cell] + t * (table[cell + 1] - table[cell]);
    x * (1.0 + 0.5 * x)
}

#[differentiable(dual)]
fn pairwise(x: &[f64], power: f64) -> f64 {
    let n = x.len();
    if n <= 2 {
        let mut total = 0.0;
        for i in 0..n {
            total += x[i].powf(power);
        }
        total
    } else {
        pairwise(&x[..n / 2], power) + pairwise(&x[n / 2..], power)
    }
}

/// A recursion with constants beside what is active.
#[differentiable(dual)]
fn continued(x: f64, #[constant] step: f64, depth: usize) -> f64 {
    if depth == 0 { x + step } else { x + 1.0 / continued(x * step, 0.5 * step + 0.5, depth - 1) }
}

#[test]
fn loops() {
    check_second_order(newton_root::rule, [(2.0, 5), (0.7, 0)]);
    check_second_order(mixed::rule, [(0.3, 0.7, 1.5), (-1.2, 0.4, -0.2)]);
    check_second_order(until_small::rule, [(0.7, 1e-16), (2.5, 1e-16)]);
    check_second_order(eccentric_anomaly::rule, [(0.8, 0.3), (2.5, 0.7)]);
    check_second_order(skipping::rule, [(vec![0.5, -1.0, 0.7, 3.0, 0.2], 2.0), (vec![], 1.0)]);
}

#[test]
fn branches() {
    check_second_order(huber::rule, [(vec![0.3, -2.0, 1.7], 1.0), (vec![-0.5], 0.2)]);
    for link in [Link::Identity, Link::Log, Link::Logit] {
        check_second_order(linked::rule, [(0.4, 1.2, link)]);
    }
    check_second_order(by_number::rule, [(0.4, 0), (0.7, 1), (0.7, 2), (1.2, 4), (0.3, 5)]);
    check_second_order(checked_ratio::rule, [(3.0, 2.0), (1.0, 2.0)]);
    check_second_order(as_functions::rule, [(0.3, 0.7, 0.5), (-1.2, 1.4, 0.2)]);
    check_second_order(interpolated::rule, [(vec![0.5, 1.5, -0.3, 0.9], 1.3), (vec![0.2, 0.8], 0.6)]);
}

#[test]
fn exits() {
    check_second_order(sinc::rule, [(0.7,), (5e-3,)]);
    let heights = vec![0.0, 0.3, 1.2, 0.4];
    check_second_order(
        first_hit::rule,
        [(heights.clone(), 0.5, 0.1), (heights[..2].to_vec(), 2.0, -0.2), (heights, 2.0, 99.0)],
    );
}

#[test]
fn recursions() {
    check_second_order(pairwise::rule, [(vec![0.5, 1.2, 0.7, 2.1, 0.9], 1.5), (vec![0.7], 3.0)]);
    check_second_order(continued::rule, [(0.7, 0.8, 4), (1.2, 0.3, 0)]);
    check_pushforward(continued::rule, [(0.7, 0.8, 2)]);
}
