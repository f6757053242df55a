//! Calls of other differentiable functions.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn square(x: f64) -> f64 {
    x * x
}

#[differentiable]
fn logistic(s: f64, p: f64) -> f64 {
    p * s * (1.0 - s)
}

#[differentiable]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..a.len() {
        total += a[i] * b[i];
    }
    total
}

#[differentiable]
fn scale(x: &mut [f64], k: f64) {
    for i in 0..x.len() {
        x[i] *= k;
    }
}

/// Scales, and returns the sum.
#[differentiable]
fn scale_and_sum(x: &mut [f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        x[i] = x[i] * k;
        total += x[i] * x[i];
    }
    total
}

#[differentiable]
fn advance(x: &mut f64, v: f64) {
    *x += v * *x;
}

#[differentiable]
fn both(x: f64, y: f64) -> (f64, f64) {
    (x * y, x - y * y)
}

#[differentiable]
fn everywhere(x: f64, y: f64, n: usize) -> f64 {
    let a = square(x) * square(y) + square(square(x) * y);
    let mut s = a;
    for i in 0..n {
        s = logistic(s, square(y));
        if s > 0.1 {
            s += square(s) * i as f64;
        } else {
            let t = logistic(y, s);
            s = square(t) + x;
        }
    }
    let q = { square(s * x) };
    if n > 1 { logistic(q, s) } else { square(q) + square(y) }
}

#[differentiable]
fn in_a_while(x: f64, p: f64) -> f64 {
    let mut s = x;
    let mut steps = 0;
    while square(s) < 4.0 && steps < 20 {
        s = 0.5 * logistic(s, p) + s * 1.5;
        steps += 1;
    }
    s
}

#[differentiable]
fn of_tuples(x: f64, y: f64, n: usize) -> (f64, (f64, f64)) {
    let mut a = x;
    let mut b = y;
    for _ in 0..n {
        let (c, d) = both(a, b);
        a = 0.5 * d + x;
        b = c.sin();
    }
    let pair = both(a * b, x);
    let (_, last) = both(pair.1, pair.0);
    (square(last), both(last, pair.0))
}

#[differentiable]
fn aliased(x: &[f64], k: f64) -> f64 {
    let n = x.len();
    let c = [x[0] * k, x[1], 1.0];
    let mut e = [1.0, 2.0, 3.0];
    e[1] = dot(&c, &x[..3]);
    dot(x, x) * dot(&x[1..], &x[..n - 1]) + dot(&c, &c) * e[1] + dot(&e, &c) + dot(&e[1..], &e[..2])
}

#[differentiable]
fn aliased_and_written(x: &mut [f64], k: f64) -> f64 {
    let before = dot(x, x);
    scale(x, k);
    let n = x.len();
    let after = dot(&x[..n - 1], &x[1..]) * dot(&*x, &x[..]);
    x[0] = after;
    x[1] = scale_and_sum(&mut x[1..], before);
    scale(&mut x[..1], after);
    before * after + dot(&*x, &x[..])
}

#[differentiable]
fn used_before_and_after(x: &[f64], y: &mut [f64], k: f64) -> f64 {
    let a = y[0] * x[0];
    y[0] = a * k;
    let s = scale_and_sum(y, a);
    let b = y[0] * s;
    scale(y, b);
    scale(&mut y[..1], y_free(x) * b);
    let c = y[0] * a;
    scale_and_sum(y, c)
}

#[differentiable]
fn y_free(x: &[f64]) -> f64 {
    x[0].exp()
}

#[differentiable]
fn local_state(x: &[f64], n: usize) -> f64 {
    let mut h = [0.5, 1.0, 0.25];
    let mut position = x[0];
    let mut total = 0.0;
    for i in 0..n {
        scale(&mut h, x[i % x.len()]);
        total += h[0] * h[i % 3];
        if total > 0.2 {
            advance(&mut position, total);
        }
        advance(&mut h[1], position);
        let s = scale_and_sum(&mut h[..2], position);
        total += s * position;
        let mut fresh = [s, total];
        scale(&mut fresh, x[0]);
        h[2] += fresh[0] * fresh[1];
    }
    total * position + dot(&h, &h)
}

#[differentiable]
fn overwritten_before_use(x: &mut [f64], y: &[f64]) -> f64 {
    for i in 0..x.len() {
        x[i] = y[i];
    }
    scale(x, y[0]);
    let t = x[0];
    scale(x, t);
    x[0]
}

#[differentiable]
fn in_arms(x: &mut [f64], k: f64, n: usize) -> f64 {
    let s = if n > 2 {
        scale_and_sum(x, k)
    } else if n > 1 {
        scale(x, k);
        x[0] * k
    } else {
        k
    };
    if s > 0.1 {
        scale(x, s);
    }
    if s > 0.2 {
        scale(x, s)
    } else {
        scale(x, 2.0)
    }
    let count = if n > 0 {
        scale(x, s);
        1
    } else {
        2
    };
    x[0] * count as f64
}

#[differentiable]
fn tail(x: &mut [f64], k: f64) -> f64 {
    // The number is a copy.
    let mut x0 = x[0];
    advance(&mut x0, k);
    scale_and_sum(x, x0)
}

#[differentiable]
fn tail_with_shadowed_array(x: f64) -> f64 {
    let a = x * 2.0;
    let mut a = [a, x, 1.0];
    a[1] *= a[0];
    scale_and_sum(&mut a, x)
}

#[differentiable]
fn unit_tail(x: &mut [f64], k: f64) {
    scale(x, k);
    scale(x, k)
}

/// It changes what it is given, and nobody asks for the vector.
#[differentiable]
fn scaled_with_history(x: &mut [f64], k: f64, n: usize) -> Vec<f64> {
    if n == 0 {
        return vec![k, x[0]];
    }
    if x[0] > 0.1 {
        let scale = k * x[0];
        let _ignored = scaled_with_history(&mut x[..], scale, n - 1);
        x[0] *= k;
    }
    vec![x[0] * k]
}

#[differentiable]
fn vectors_unused(x: &mut [f64], k: f64, n: usize) -> f64 {
    let _ = scaled_with_history(x, k, n);
    let mut total = k;
    if n > 1 {
        let _kept = scaled_with_history(&mut x[1..], k, n);
        total *= x[1];
    }
    let (_, _y): (f64, f64) = (total, k);
    total * x[0]
}

#[differentiable]
fn value_unused(x: &mut [f64], k: f64) -> f64 {
    scale_and_sum(x, k);
    let _ = scale_and_sum(x, k);
    square(k);
    let _unused = square(x[0]);
    x[0] * k
}

#[differentiable]
fn in_compound_assignments(x: &mut [f64], k: f64) -> f64 {
    x[0] *= square(k);
    x[1] += dot(&*x, &*x) * k;
    let mut s = k;
    s -= square(s);
    s *= logistic(s, x[0]);
    s /= 1.0 + square(s);
    s
}

#[differentiable]
fn nested_arguments(x: f64, y: &[f64], i: usize) -> f64 {
    logistic(square(y[i] * x), logistic(x, square(-y[0])) + if x > 0.0 { square(x) } else { x })
}

#[differentiable]
fn with_integers(x: f64, n: usize, flag: bool) -> f64 {
    everywhere(x, 0.5, n * 2 + 1) + if flag { everywhere(0.3, x, 1) } else { 0.0 }
}

#[differentiable]
fn constant_calls(x: f64, n: usize) -> f64 {
    let h = square(n as f64);
    let unknown = triple(n as f64);
    x * h * unknown
}

fn triple(x: f64) -> f64 {
    3.0 * x
}

#[differentiable]
fn references(x: &mut f64, y: &f64, z: f64) -> f64 {
    advance(x, *y);
    advance(x, z);
    let mut local = z;
    advance(&mut local, *x);
    advance(x, local);
    local * *x
}

#[test]
fn by_value() {
    check_rule(everywhere::rule, [(0.3, 0.7, 0), (0.4, 0.9, 1), (0.5, 1.1, 3), (0.5, 0.2, 4)]);
    check_rule(in_a_while::rule, [(0.3, 1.7), (2.3, 1.0), (0.8, 0.5)]);
    check_rule(of_tuples::rule, [(0.3, 0.7, 0), (0.4, 0.9, 2)]);
    check_rule(nested_arguments::rule, [(0.3, vec![0.7, 0.2], 1), (-0.4, vec![0.9], 0)]);
    check_rule(with_integers::rule, [(0.3, 0, true), (0.4, 1, false)]);
    check_rule(constant_calls::rule, [(0.3, 1), (0.4, 2)]);
}

#[test]
fn by_reference() {
    check_rule(aliased::rule, [(vec![0.5, 0.2, 0.3, 0.7], 0.7), (vec![0.4, 0.2, 0.9], 1.2)]);
    check_rule(aliased_and_written::rule, [(vec![0.5, 0.2, 0.3, 0.7], 0.7), (vec![0.4, 0.2], 1.2)]);
    check_rule(
        used_before_and_after::rule,
        [(vec![0.5], vec![0.3, 0.7], 0.7), (vec![0.4, 0.2], vec![0.4], 1.2)],
    );
    check_rule(local_state::rule, [(vec![0.5, 0.2, 0.3], 3), (vec![0.4, 0.2], 0), (vec![0.9], 1)]);
    check_rule(overwritten_before_use::rule, [(vec![0.5, 0.2], vec![0.3, 0.7]), (vec![0.4], vec![0.4])]);
    check_rule(references::rule, [(0.4, 0.7, 0.3), (-0.4, 1.7, 0.2)]);
}

#[test]
fn in_odd_places() {
    check_rule(
        in_arms::rule,
        [
            (vec![0.5, 0.2], 0.7, 3),
            (vec![0.5, 0.2], 0.7, 2),
            (vec![0.5, 0.2, 0.1], 0.3, 1),
            (vec![0.5], 0.05, 0),
        ],
    );
    check_rule(tail::rule, [(vec![0.5, 0.2], 0.7), (vec![0.5], 0.1)]);
    check_rule(tail_with_shadowed_array::rule, [(0.7,), (0.1,)]);
    check_rule(unit_tail::rule, [(vec![0.5, 0.2], 0.7), (vec![], 0.1)]);
    check_rule(value_unused::rule, [(vec![0.5, 0.2], 0.7), (vec![0.4], 0.1)]);
    check_rule(
        vectors_unused::rule,
        [(vec![0.5, 0.8, 0.3], 0.7, 2), (vec![0.9, 0.6], 1.1, 3), (vec![0.4], 0.6, 1)],
    );
    check_rule(in_compound_assignments::rule, [(vec![0.5, 0.2], 0.7), (vec![0.4, 0.1, 0.3], 0.1)]);
}
