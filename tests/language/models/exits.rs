//! Programs with early returns, `match`, `loop` and the like.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// Kepler's equation by Newton's method, until it has converged.
#[differentiable]
fn eccentric_anomaly(mean: f64, eccentricity: f64) -> f64 {
    let mut e = mean;
    loop {
        let f = e - eccentricity * e.sin() - mean;
        e -= f / (1.0 - eccentricity * e.cos());
        if f.abs() < 1e-13 {
            break e;
        }
    }
}

#[differentiable]
fn sinc(x: f64) -> f64 {
    if x.abs() < 1e-4 {
        return 1.0 - x * x / 6.0;
    }
    x.sin() / x
}

/// A bisection that leaves as soon as it is close, polished by one step of Newton's.
#[differentiable]
fn root(p: f64, q: f64, #[constant] tolerance: f64) -> f64 {
    let (mut low, mut high) = (-10.0, 10.0);
    for _ in 0..100 {
        let x = 0.5 * (low + high);
        let f = x * x * x + p * x - q;
        if f.abs() < tolerance {
            return x - f / (3.0 * x * x + p);
        }
        if f < 0.0 {
            low = x;
        } else {
            high = x;
        }
    }
    f64::NAN
}

/// Elastic up to the yield stress, then hardening, then broken.
#[differentiable]
fn stress(strain: &[f64], modulus: f64, yield_at: f64) -> f64 {
    let mut work = 0.0;
    for i in 0..strain.len() {
        let e = strain[i];
        if e < 0.0 {
            continue;
        }
        if e > 5.0 * yield_at {
            break;
        }
        work += match e {
            e if e < yield_at => 0.5 * modulus * e * e,
            _ => modulus * yield_at * (e - 0.5 * yield_at) + 0.05 * (e - yield_at).powi(2),
        };
    }
    work
}

#[derive(Clone, Copy, PartialEq)]
enum Link {
    Identity,
    Log,
    Logit,
}

#[differentiable]
fn generalised_linear(w: &[f64], x: &[f64], y: &[f64], #[constant] link: Link) -> f64 {
    let d = w.len();
    let mut loss = 0.0;
    for i in 0..y.len() {
        let mut eta = 0.0;
        for j in 0..d {
            eta += w[j] * x[i * d + j];
        }
        loss += match link {
            Link::Identity => 0.5 * (y[i] - eta).powi(2),
            Link::Log => eta.exp() - y[i] * eta,
            Link::Logit => eta.exp().ln_1p() - y[i] * eta,
        };
    }
    loss
}

/// A ray through a height field: where it first goes below.
#[differentiable]
fn first_hit(heights: &[f64], start: f64, slope: f64) -> f64 {
    let mut before = start - heights[0];
    for i in 1..heights.len() {
        let after = start + slope * i as f64 - heights[i];
        if after < 0.0 {
            return i as f64 - 1.0 + before / (before - after);
        }
        before = after;
    }
    heights.len() as f64 + before
}

/// The last branch of a search for a step that is short enough.
#[differentiable]
fn line_search(x: f64, slope: f64, #[constant] shrink: f64) -> f64 {
    let f = x.powi(4) - 2.0 * x;
    let mut step = 1.0;
    let (value, tries) = 'search: loop {
        for tries in 0..20 {
            let there = x - step * slope;
            let value = there.powi(4) - 2.0 * there;
            if value < f {
                break 'search (value, tries);
            }
            step *= shrink;
        }
        break (f, 20);
    };
    value + 0.01 * tries as f64
}

#[differentiable]
fn checked_ratio(a: f64, b: f64) -> f64 {
    let ratio = if b == 0.0 { None } else { Some(a / b) };
    match ratio {
        Some(r) if r > 1.0 => r.ln(),
        Some(r) => r * r,
        None => 0.0,
    }
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect()
}

#[test]
fn iterations() {
    check_rule(eccentric_anomaly::rule, [(0.8, 0.3), (2.5, 0.7)]);
    check_rule(root::rule, [(1.0, 2.0, 1e-10), (3.0, -5.0, 1e-11)]);
    check_rule(line_search::rule, [(2.0, 30.0, 0.3), (0.5, -1.0, 0.5)]);
}

#[test]
fn pieces() {
    check_rule(sinc::rule, [(0.7,), (1e-5,)]);
    check_rule(stress::rule, [(vec![0.1, -0.3, 0.7, 1.6, 3.0, 0.2], 2.0, 0.5), (vec![], 1.0, 0.3)]);
    check_rule(checked_ratio::rule, [(3.0, 2.0), (1.0, 2.0)]);
    check_rule(first_hit::rule, [(vec![0.0, 0.3, 1.2, 0.4], 0.5, 0.1), (vec![0.0, 0.1], 2.0, -0.2)]);
    for link in [Link::Identity, Link::Log, Link::Logit] {
        check_rule(
            generalised_linear::rule,
            [(wave(2), wave(6), vec![0.3, 0.8, 1.2], link), (wave(1), wave(1), vec![0.4], link)],
        );
    }
}
