//! Sorting of structs and pairs; vectors of structs that are copied and returned.

use pullback::prelude::*;
use pullback::testing::allocations_in;

use crate::differences::check;

#[derive(Differentiable, Clone, Copy, Debug, PartialEq)]
pub struct Body {
    x: f64,
    v: f64,
    kind: usize,
}

/// In place, through a reference, and used.
#[differentiable]
fn nearest_pairs(bodies: &mut [Body], k: f64) -> f64 {
    bodies.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut total = 0.0;
    for i in 1..bodies.len() {
        total += (bodies[i].x - bodies[i - 1].x).powi(2) * bodies[i].v * i as f64;
        bodies[i].x *= k;
    }
    total
}

/// A local copy, by a key and again by another, within a loop and a branch.
#[differentiable]
fn ranked(bodies: &[Body], w: f64) -> f64 {
    let mut sorted = bodies.to_vec();
    let mut total = 0.0;
    for round in 0..3 {
        if round != 1 {
            sorted.sort_by_key(|b| b.kind);
        } else {
            sorted.sort_by(|a, b| b.v.partial_cmp(&a.v).unwrap());
        }
        for (i, b) in sorted.iter_mut().enumerate() {
            total += b.x * b.v * w * (i + round) as f64;
            b.v *= w + b.x;
        }
    }
    total
}

/// Pairs of a number and an index.
#[differentiable]
fn weighted_median(x: &[f64], w: &[f64]) -> f64 {
    let mut pairs: Vec<(f64, f64)> = x.iter().zip(w).map(|(x, w)| (*x, w * w)).collect();
    pairs.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap());
    let mut total = 0.0;
    for (i, p) in pairs.iter().enumerate() {
        total += p.0 * p.1 * (i + 1) as f64;
    }
    total + pairs[x.len() / 2].0
}

#[test]
fn structs_and_pairs() {
    let make = |p: &[f64]| {
        vec![
            Body { x: p[0], v: p[1], kind: 2 },
            Body { x: p[2], v: p[3], kind: 0 },
            Body { x: p[4], v: p[5], kind: 2 },
        ]
    };
    let at = [0.9, 0.4, 0.3, 0.8, 0.5, 1.1, 0.7];
    let of = |p: [f64; 7]| nearest_pairs(&mut make(&p), p[6]);
    let mut g = nearest_pairs::gradient();
    let mut bodies = make(&at);
    for _ in 0..2 {
        let (value, d) = g.value_and_gradient(&mut bodies, 0.7);
        assert_eq!(value, of(at));
        let b = d.bodies;
        check(at, of, [b[0].x, b[0].v, b[1].x, b[1].v, b[2].x, b[2].v, d.k]);
        assert_eq!(bodies, make(&at));
    }
    assert_eq!(allocations_in(|| g.value_and_gradient(&mut bodies, 0.7).0), (of(at), 0));

    let of = |p: [f64; 7]| ranked(&make(&p), p[6]);
    let mut g = ranked::gradient();
    let (value, d) = g.value_and_gradient(&bodies, 0.7);
    assert_eq!(value, of(at));
    let b = d.bodies;
    check(at, of, [b[0].x, b[0].v, b[1].x, b[1].v, b[2].x, b[2].v, d.w]);

    let of = |p: [f64; 6]| weighted_median(&p[..3], &p[3..]);
    let at = [0.9, 0.4, 0.3, 0.8, 0.5, 1.1];
    let mut g = weighted_median::gradient();
    let (value, d) = g.value_and_gradient(&at[..3], &at[3..]);
    assert_eq!(value, of(at));
    check(at, of, [d.x[0], d.x[1], d.x[2], d.w[0], d.w[1], d.w[2]]);
}

/// Vectors of structs are copied and returned, too.
#[differentiable]
fn advanced(bodies: &[Body], dt: f64) -> Vec<Body> {
    let mut next = bodies.to_vec();
    for b in next.iter_mut() {
        b.x += dt * b.v;
        b.v -= dt * b.x;
    }
    next
}

#[differentiable]
fn advanced_by_map(bodies: &Vec<Body>, dt: f64) -> Vec<Body> {
    bodies.iter().map(|b| Body { x: b.x + dt * b.v, ..*b }).collect()
}

#[differentiable]
fn simulated(bodies: &[Body], dt: f64, steps: usize) -> f64 {
    let mut now = bodies.to_vec();
    for _ in 0..steps {
        let next = advanced(&now, dt);
        now = next;
    }
    let last = advanced_by_map(&now, dt);
    let copy = last.clone();
    last.iter().zip(&copy).map(|(b, c)| b.x * c.v * b.v).sum()
}

#[test]
fn vectors_of_structs() {
    let make = |p: &[f64]| vec![Body { x: p[0], v: p[1], kind: 2 }, Body { x: p[2], v: p[3], kind: 0 }];
    let at = [0.9, 0.4, 0.3, 0.8, 0.1];
    let of = |p: [f64; 5]| simulated(&make(&p), p[4], 3);
    let mut g = simulated::gradient();
    let (value, d) = g.value_and_gradient(&make(&at), 0.1, 3);
    assert_eq!(value, of(at));
    let b = d.bodies;
    check(at, of, [b[0].x, b[0].v, b[1].x, b[1].v, d.dt]);
}
