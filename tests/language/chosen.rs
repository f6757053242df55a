//! References that a branch chooses, shared ones and such as are written through.

use ndarray::{Array2, array};
use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Copy, Debug, Differentiable)]
struct Pair {
    a: f64,
    b: f64,
}

#[differentiable]
fn sum(x: &[f64], k: f64) -> f64 {
    x.iter().map(|x| x * k).sum()
}

#[differentiable]
fn product(pair: &Pair) -> f64 {
    pair.a * pair.b
}

#[differentiable]
fn numbers(x: f64, y: f64, k: i32) -> f64 {
    let (mut a, mut b) = (x, y);
    let larger = if x > y { &mut a } else { &mut b };
    *larger *= 3.0;
    let one = match k {
        0 => &mut a,
        _ => &mut b,
    };
    *one += y * y;
    a * b
}

#[differentiable]
fn blocks(x: f64, y: f64) -> f64 {
    let mut v = vec![x, y];
    let r = { &mut v };
    let q = if x > y { &mut r[0] } else { return r[1] * x };
    *q += x;
    let mut pairs = [Pair { a: x, b: y }, Pair { a: y, b: y }];
    let pair = if v[0] > y { &mut pairs[0] } else { &mut pairs[1] };
    pair.a *= 2.0;
    let field = if y > 0.4 { &mut pair.a } else { &mut pair.b };
    *field *= x;
    pairs[0].a * pairs[1].b + product(if x > y { &pairs[0] } else { &pairs[1] })
}

#[differentiable]
fn parameters(x: &mut [f64], y: &mut [f64], k: bool) -> f64 {
    let r = if k { &mut *x } else { &mut *y };
    r[0] *= 3.0;
    r[1] += r[0];
    x[0] * y[1]
}

#[differentiable]
fn slices(x: &[f64], y: &[f64], k: usize) -> f64 {
    let part = if k == 0 { &x[1..] } else { &x[..2] };
    let whole = match k {
        1 => x,
        _ => y,
    };
    let (p, q) = if k == 0 { (x, y) } else { (y, x) };
    part.iter().sum::<f64>() * whole[0] + sum(p, q[1]) * sum(if k == 2 { x } else { y }, 0.5)
}

/// In a loop, with what leaves it; what is returned is a vector.
#[differentiable]
fn looped(x: &[f64], y: &[f64], k: f64) -> Vec<f64> {
    let mut out = vec![k; 2];
    for i in 0..4 {
        let (w, j) = if i % 2 == 0 { (x, 0) } else { (y, 1) };
        if w[j] > 1.0 {
            return out;
        }
        out[j] += w[i % 2] * w[1];
        let r = if i > 1 { &mut out } else { continue };
        r[0] *= 1.5 * k;
    }
    out
}

#[differentiable]
fn iterated(x: &[f64], k: f64) -> f64 {
    let mut v = x.to_vec();
    for (i, r) in v.iter_mut().enumerate() {
        let q = if i == 0 { r } else { continue };
        *q *= k;
    }
    let r = match v.len() {
        2 => &mut v[..1],
        _ => &mut v[1..],
    };
    r[0] *= k;
    v[0] * v[1]
}

#[differentiable]
fn rows(m: &Array2<f64>, k: f64) -> f64 {
    let mut m = m.clone();
    let mut row = if k > 0.0 { m.row_mut(0) } else { m.row_mut(1) };
    row[0] *= k;
    let column = if k > 0.5 { m.column(0) } else { m.column(1) };
    column[0] * column[1]
}

#[test]
fn written_through() {
    check_rule(numbers::rule, [(0.4, 0.7, 0), (0.7, 0.4, 1), (0.7, 0.4, 0)]);
    check_rule(blocks::rule, [(0.4, 0.7), (0.7, 0.3), (0.7, 0.5)]);
    let (x, y) = (vec![0.4, 0.7], vec![0.3, 0.6]);
    check_rule(parameters::rule, [(x.clone(), y.clone(), true), (x.clone(), y, false)]);
    check_rule(iterated::rule, [(x, 0.7), (vec![0.4, 0.7, -0.2], 1.3)]);
    let m = array![[0.4, 0.7], [-0.2, 0.3]];
    check_rule(rows::rule, [(m.clone(), 0.3), (m.clone(), 0.7), (m, -0.4)]);
}

#[test]
fn read() {
    let (x, y) = (vec![0.4, 0.7], vec![0.3, 0.6, 0.1]);
    check_rule(
        slices::rule,
        [(x.clone(), y.clone(), 0), (x.clone(), y.clone(), 1), (x.clone(), y.clone(), 2)],
    );
    check_rule(looped::rule, [(x.clone(), y.clone(), 0.5), (x, vec![0.3, 1.6], 0.7)]);
}

#[differentiable]
fn greatest(signal: &[f64]) -> Option<(usize, f64)> {
    let (mut best, rest) = match signal {
        [] => return None,
        [x, rest @ ..] => ((0, *x), rest),
    };
    for (i, &x) in rest.iter().enumerate() {
        if x > best.1 {
            best = (i + 1, x);
        }
    }
    Some(best)
}

#[differentiable]
fn either_end(signal: &[f64], t: f64) -> f64 {
    let mut product = t;
    let part = match signal {
        [] => return product,
        [_, tail @ ..] if t > 0.5 => tail,
        [head @ .., _] => head,
    };
    for x in part {
        product += x * product;
    }
    product * part.len() as f64
}

/// Parts that the patterns of a `match` leave.
#[test]
fn parts_of_patterns() {
    check_rule(greatest::rule, [(vec![0.4, 0.9, 0.2],), (vec![0.7, 0.3],)]);
    check_rule(either_end::rule, [(vec![0.4, 0.9, 0.2], 0.3), (vec![0.7, 0.3], 0.8)]);
}

/// References to numbers, alone and in pairs, some beside what is no reference.
#[differentiable]
fn of_numbers(x: &[f64], n: usize) -> f64 {
    let (a, b) = (2.0 * x[0], x[1]);
    let (low, high) = if a < b { (&a, &b) } else { (&b, &a) };
    let one = match n {
        0 => &x[0],
        k if k > 4 => &a,
        _ => &x[1],
    };
    let other: &f64 = if n == 0 { one } else { high };
    let (k, v) = match n {
        0 => (1, &x[0]),
        _ => (2, low),
    };
    let mut total = low.sin() * high + one * other.cos();
    for i in 0..x.len() {
        let r = {
            let j = (i + n) % x.len();
            &x[j]
        };
        total += *r * r.sin() * v;
    }
    total * k as f64
}

#[test]
fn numbers_that_are_referred_to() {
    let inputs = [(vec![0.3, 0.5], 0), (vec![0.7, 0.75, 0.2], 2), (vec![0.7, 1.75, 0.2], 5)];
    check_rule(of_numbers::rule, inputs);
}

#[derive(Clone, Debug, Differentiable)]
struct Body {
    mass: f64,
    place: [f64; 2],
}

/// Elements that patterns refer to.
#[differentiable]
fn bodies(x: &[f64], bodies: &[Body]) -> f64 {
    let Body { mass, place: [a, b] } = match bodies {
        [first, ..] => first,
        [] => return 0.0,
    };
    let second = if let Some(second) = bodies.get(1) { second } else { &bodies[0] };
    let (p, q) = match x {
        [p, q] => (p, q),
        [p, .., q] => (q, p),
        _ => return mass * a,
    };
    second.mass * second.place[0] * p + b * q.sin() * mass
}

#[test]
fn elements_of_patterns() {
    let body = |mass: f64| Body { mass, place: [mass.sin(), 0.3 * mass] };
    let inputs = [
        (vec![0.3, 0.5], vec![body(0.4), body(0.9), body(0.6)]),
        (vec![0.7, 0.2, 0.9], vec![body(0.4)]),
        (vec![0.7], vec![body(0.3)]),
        (vec![0.7], vec![]),
    ];
    check_rule(bodies::rule, inputs);
}
