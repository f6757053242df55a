//! Loops whose iterations run forward and backward at once, and elements next to each other.

use std::sync::atomic::{AtomicUsize, Ordering};

use pullback::prelude::*;
use pullback::testing::check_rule;
struct Lcg(u64);
impl Lcg {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}
#[differentiable]
fn random(x: &[f64], seed: u64) -> f64 {
    let mut rng = Lcg(seed);
    let mut t = 0.0;
    for i in 0..x.len() {
        let k = rng.below(x.len());
        t += x[k] * x[i] * x[rng.below(x.len())];
    }
    t
}
#[differentiable]
fn permuted(x: &[f64]) -> f64 {
    let mut idx = [0, 1, 2];
    let a = x[idx[0]];
    idx.swap(0, 1);
    let b = x[idx[0]];
    let mut c = [2, 0, 1];
    c.reverse();
    a * b * b * x[c[0]]
}
fn shuffle(idx: &mut [usize]) {
    idx.rotate_left(1);
}
#[differentiable]
fn shuffled(x: &[f64]) -> f64 {
    let mut idx = vec![0, 1, 2];
    let mut t = 1.0;
    for i in 0..3 {
        t = t * x[idx[i]] + x[idx[0]];
        shuffle(&mut idx);
    }
    t
}
#[differentiable]
fn inner(w: &[f64], x: &[f64], y: &[f64], b: f64) -> f64 {
    let scale = b.exp();
    let m = y.len();
    let mut loss = 0.0;
    for s in 0..m {
        let mut h = [0.0; 3];
        for i in 0..3 {
            let mut a = 0.0;
            for j in 0..2 {
                a += w[i * 2 + j] * x[s * 2 + j];
            }
            h[i] = a.tanh();
        }
        h[0] *= h[1];
        let mut z = scale;
        let mut k = 0;
        while z < 3.0 {
            z = z * 1.7 + h[2];
            k += 1;
            if z < 0.1 {
                z += 1.0;
            }
        }
        let e = h[0] * h[2] + z - y[s] * (k as f64);
        if e > 0.0 {
            loss += 0.5 * e * e;
        } else {
            loss -= e * b;
        }
    }
    0.5 * loss / m as f64
}
#[differentiable]
fn stencil(x: &[f64], c: f64) -> f64 {
    let mut t = 0.0;
    let n = x.len();
    for i in 2..n - 2 {
        let l = x[i - 2] - 2.0 * x[i] + x[i + 2];
        t += c * l * l * x[i + 1];
    }
    t
}
#[differentiable]
fn stencil_split(x: &[f64], c: f64) -> f64 {
    let mut t = 0.0;
    let n = x.len();
    for i in 1..=n - 2 {
        let l = x[i - 1] * x[i] * x[i + 1];
        t = t * c + l;
    }
    t * t
}
#[test]
fn independent_iterations() {
    check_rule(random::rule, [(vec![0.1, 0.4, 0.7, -0.3], 5_u64), (vec![0.1, 0.4, -0.3], 7)]);
    check_rule(permuted::rule, [(vec![0.1, 0.4, 0.7],)]);
    check_rule(shuffled::rule, [(vec![0.1, 0.4, 0.7],)]);
    check_rule(
        inner::rule,
        [(
            vec![0.1, 0.4, 0.7, -0.3, 0.2, 0.5],
            vec![0.3, 0.1, -0.4, 0.6, 0.9, 0.2],
            vec![0.4, 0.1, 0.2],
            0.3,
        )],
    );
    check_rule(
        stencil::rule,
        [
            (vec![0.1, 0.4, 0.7, -0.3, 0.2, 0.5], 0.3),
            (vec![0.1, 0.4, 0.7, -0.3], 0.3),
            (vec![0.1, 0.4, 0.7, -0.3, 1.0], 0.3),
        ],
    );
    check_rule(
        stencil_split::rule,
        [(vec![0.1, 0.4, 0.7, -0.3, 0.2, 0.5], 0.3), (vec![0.1, 0.4], 0.3), (vec![0.1, 0.4, 0.7], 0.3)],
    );
}

const WIDTH: usize = 2;

#[differentiable]
fn head(x: &[f64], count: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..count {
        total += x[i] * x[i];
    }
    total
}

/// What is added by an assignment comes from a call with an argument that is evaluated once.
#[differentiable]
fn blocks(x: &[f64], k: f64) -> f64 {
    let mut total = k;
    for first in (0..x.len()).step_by(WIDTH) {
        total += k * head(&x[first..], WIDTH.min(x.len() - first));
    }
    for first in 0..x.len() {
        total -= head(x, WIDTH.min(first)) * head(&x[first..], WIDTH.min(x.len() - first));
    }
    total * total
}

/// The number closest to `y`; counts how often it is called.
fn closest(x: &[f64], y: f64, calls: &AtomicUsize) -> Option<usize> {
    calls.fetch_add(1, Ordering::Relaxed);
    (0..x.len()).min_by(|&i, &j| (x[i] - y).abs().total_cmp(&(x[j] - y).abs()))
}

/// The squared distances of `y` to the closest of `x`, those for whom that is number `named` counted twice.
#[differentiable]
fn distances(x: &[f64], y: &[f64], named: usize, #[constant] calls: &AtomicUsize) -> f64 {
    let mut total = 0.0;
    let twice = constant(Some(named));
    for v in y {
        let chosen = constant(closest(x, *v, calls));
        let Some(j) = chosen else { panic!("there is nothing to choose from") };
        let off = x[j] - v;
        if chosen == twice {
            total += off * off;
        }
        total += off * off;
    }
    total
}

/// Loops of functions whose values tell their derivatives.
#[differentiable]
fn exponentials(x: &[f64], p: f64) -> f64 {
    let mut sum = 0.0;
    for v in x {
        sum += (v - p).exp() * v.sin();
    }
    let mut product = 1.0;
    for i in 0..x.len() {
        if x[i] > 0.0 {
            for j in 0..i {
                product += x[i].powf(p) * (x[j] * p).tanh() - x[j].cbrt();
            }
        } else {
            product -= x[i].exp2();
        }
    }
    sum.ln_1p() * product
}

/// A name means another number within the loop.
#[differentiable]
fn taken_name(x: &[f64], k: f64) -> f64 {
    let s = k.sin();
    let mut total = 0.0;
    for i in 0..x.len() {
        let r = x[i] * s;
        let s = r * 2.0;
        total += s * s;
    }
    total
}

/// Likewise, in a loop within the loop.
#[differentiable]
fn taken_names(x: &[f64], k: f64) -> f64 {
    let s = k.sin();
    let mut total = 0.0;
    for i in 0..x.len() {
        let r = x[i] * s;
        for j in 0..i {
            let q = r * s + x[j];
            let (s, r) = (q * q, s * x[i]);
            total += s * r;
        }
    }
    total
}

#[test]
fn names_within_loops() {
    let inputs = || [(vec![0.3, 0.7, -0.4], 0.4), (vec![0.3, 0.7], 1.2)];
    check_rule(taken_name::rule, inputs());
    check_rule(taken_names::rule, inputs());
}

#[test]
fn additions() {
    check_rule(blocks::rule, [(vec![0.1, 0.4, 0.7, -0.3, 0.2], 0.5), (vec![0.1, 0.4], 0.3), (vec![], 0.3)]);
}

#[test]
fn values_that_tell_derivatives() {
    check_rule(
        exponentials::rule,
        [(vec![0.1, 0.4, 0.7, -0.3, 0.2], 0.5), (vec![0.3, -0.4, 0.2], 0.3), (vec![], 0.3)],
    );
}

#[test]
fn constants_at_hand() {
    let (x, y, calls) = ([0.0, 1.0, 3.0], [0.25, 0.5, 2.5, 1.25], AtomicUsize::new(0));
    let mut g = distances::gradient();
    let (value, d) = g.value_and_gradient(&x, &y, 2, &calls);
    assert_eq!(calls.load(Ordering::Relaxed), y.len());
    assert_eq!(value, distances(&x, &y, 2, &calls));
    assert_eq!(d.x, [-1.5, -0.5, 2.0]);
    assert_eq!(d.y, [0.5, 1.0, -2.0, 0.5]);
}
