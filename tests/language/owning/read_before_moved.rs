//! Numbers that come of a vector which is moved elsewhere before they are used.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, Differentiable)]
struct State {
    v: Vec<f64>,
    k: f64,
}

#[differentiable]
fn next(x: &[f64], k: f64) -> Vec<f64> {
    x.iter().map(|y| y * k + 0.1).collect()
}

#[differentiable]
fn to_another(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let w: Vec<f64> = v.iter().map(|y| y * x[0] + 0.1).collect();
    let e = w[0] * w[1];
    v = w;
    e * e * v[0]
}

/// A fixed point, as it is usually found.
#[differentiable]
fn fixed_point(x: &[f64], n: usize) -> f64 {
    let mut v = x.to_vec();
    let mut steps = 1.0;
    for i in 0..n {
        let w: Vec<f64> = v.iter().map(|y| y * x[i] + 0.1).collect();
        let change = (w[0] - v[0]) * (w[0] - v[0]) + (w[1] - v[1]) * w[1];
        v = w;
        if change < 1e-4 {
            return v[0] * change;
        }
        if change > 0.3 {
            continue;
        }
        steps += change * change;
    }
    v[0] * v[1] * steps
}

#[differentiable]
fn to_literal(x: &[f64]) -> f64 {
    let w = next(x, x[1]);
    let t = w[0] * w[1];
    let s = State { v: w, k: t };
    t * t * s.v[0] * s.k
}

#[differentiable]
fn to_rows(x: &[f64], n: usize) -> f64 {
    let mut rows = vec![x.to_vec()];
    let mut t = 1.0;
    for i in 0..n {
        let w: Vec<f64> = rows[i].iter().map(|y| y * x[0] + 0.1).collect();
        t += w[0] * w[1];
        rows.push(w);
        t *= rows[i][0];
    }
    t * t
}

#[differentiable]
fn behind_reference(x: &[f64], v: &mut Vec<f64>, s: &mut State) -> f64 {
    let w: Vec<f64> = x.iter().map(|y| y * x[0] + 0.1).collect();
    let t = w[0] * w[1];
    *v = w;
    let u: Vec<f64> = v.iter().map(|y| y * t).collect();
    let q = u[0] * t;
    s.v = u;
    s.k *= q * t;
    q * q * s.v[1]
}

#[differentiable]
fn in_a_tuple(x: &[f64]) -> (Vec<f64>, f64) {
    let w: Vec<f64> = next(x, 0.7);
    let q = w[0] * w[0];
    let (u, z) = (w, q * x[1]);
    let t = u[0] * q * z;
    (u, t * t)
}

#[differentiable]
fn whole_structs(x: &[f64], n: usize) -> f64 {
    let mut s = State { v: x.to_vec(), k: 0.8 };
    let mut t = 1.0;
    for i in 0..n {
        let new = State { v: s.v.iter().map(|y| y * x[0] + 0.1).collect(), k: s.k * x[i] };
        let e = new.v[0] * new.k;
        s = new;
        t *= 1.0 + e * e;
    }
    t * s.k
}

#[test]
fn numbers_of_what_is_moved() {
    let (x, y) = (vec![0.7131, 0.5337, 1.1339], vec![0.3317, 0.8229, 0.4471, 1.2093]);
    check_rule(to_another::rule, [(x.clone(),), (y.clone(),)]);
    check_rule(fixed_point::rule, [(x.clone(), 3), (y.clone(), 4), (vec![0.1, 0.1], 2)]);
    check_rule(to_literal::rule, [(x.clone(),), (y.clone(),)]);
    check_rule(to_rows::rule, [(x.clone(), 3), (y.clone(), 0)]);
    let state = |v: &[f64]| State { v: v.to_vec(), k: 1.1 };
    check_rule(
        behind_reference::rule,
        [(x.clone(), vec![0.1], state(&[0.4, 0.2])), (y.clone(), vec![], state(&[0.3]))],
    );
    check_rule(in_a_tuple::rule, [(x.clone(),), (y.clone(),)]);
    check_rule(whole_structs::rule, [(x, 3), (y, 4)]);
}
