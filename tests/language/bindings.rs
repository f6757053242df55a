//! Names: `let`, shadowing, tuples, blocks, and names that generated code uses as well.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn shadowed(x: f64, y: f64) -> f64 {
    let a = x * y;
    let b = a.sin();
    let a = b * a + x;
    let a = a * a * b;
    let x = a - x;
    x * a
}

/// Names as those of later versions of others.
#[differentiable]
fn numbered(a: f64, a_1: f64) -> f64 {
    let a = a * a_1;
    let a_2 = a.exp() * a_1;
    let a = a * a_2;
    let a_1 = a + a_1 * a_2;
    let mut a = a_1.sin() * a;
    a = a * a_1;
    a *= a_2;
    a * a_1 * a_2
}

/// The names that generated code likes.
#[differentiable]
fn reserved(d: f64, d_d: f64, value: f64, stack: &[f64]) -> f64 {
    let t = d * d_d;
    let mut old = t * value;
    let mut pending = old;
    let y = pending.exp();
    for i in 0..stack.len() {
        let d_2 = stack[i] * d;
        let taken = d_2 > 0.0;
        if taken {
            old = old * d_2 + y;
        }
        pending += old * stack[i];
    }
    let d_old = pending * t;
    let rule = d_old + y;
    let residual = rule * old;
    let cells = residual - value;
    let count = 2.0 * cells;
    count * pending
}

#[differentiable]
fn pooled(n: usize, x: f64) -> f64 {
    let mut h = vec![1.0; n];
    let mut h_pool = [0.5, x];
    let d_h = x * x;
    for i in 0..n {
        h[i] = d_h * h[i] * x;
    }
    for i in 0..n {
        h_pool[i % 2] += h[i] * h_pool[(i + 1) % 2];
    }
    h_pool[0] * h_pool[1]
}

#[differentiable]
fn tuples(x: f64, y: f64) -> (f64, f64, (f64, f64)) {
    let (a, b) = (x * y, x + y);
    let (b, a) = (a.sin(), b * a);
    let (_, c): (f64, f64) = (a, b * b);
    let (s, c) = (c * a).sin_cos();
    let pair = (s, c * x);
    (a * s, pair.0 * pair.1, (c, pair.1))
}

/// Names for both parts of a value, for one of them, and for one that changes.
#[differentiable]
fn turned(x: f64, y: &[f64]) -> f64 {
    let (sin, mut cos) = x.sin_cos();
    let (s, _) = (y[0] * x).sin_cos();
    let mut total = 0.0;
    for i in 0..y.len() {
        let (u, v) = (y[i] * x).sin_cos();
        let p = [u * cos + v * sin, v * cos - u * sin];
        total += p[0] * p[1] + s * y[i];
        cos *= total;
    }
    total + cos * s
}

#[differentiable]
fn deferred(x: f64, n: usize) -> f64 {
    let late;
    let mut later;
    if n > 2 {
        late = x * x;
        later = 1.0;
    } else {
        late = x.exp();
        later = late * x;
    }
    later *= late;
    let much_later: f64;
    much_later = later * later;
    much_later * late
}

#[differentiable]
fn blocks(x: f64, y: f64) -> f64 {
    let q = {
        let q = x * y;
        q * q + { q.sin() * x }
    };
    let mut z = y;
    {
        let q = z * x;
        z = q * z;
    }
    q * {
        let q = z.cos();
        q * q * q
    } * z
}

#[differentiable]
fn self_referring(x: f64, y: f64) -> f64 {
    let mut a = x;
    a += a * y;
    a -= a * a * 0.1;
    a *= a + y;
    a = a * a - a / y;
    a /= a * y + 3.0;
    a += if y > 1.0 { a * a } else { a * y };
    a = 2.0 * a;
    a
}

#[differentiable]
fn self_referring_parameter(mut x: f64, mut y: f64) -> f64 {
    x += x * y;
    y -= x * y;
    x *= x;
    y += y;
    x - y * x
}

#[differentiable]
fn exchanged(x: f64, y: f64) -> f64 {
    let mut a = x;
    let mut b = y;
    let c = a;
    a = b * 2.0;
    b = c;
    let (a, b) = (b * b, a);
    a * b.sin() + c
}

#[differentiable]
fn items(x: f64) -> f64 {
    const SCALE: f64 = 1.5;
    static OFFSET: f64 = 0.25;
    #[differentiable]
    fn local(x: f64) -> f64 {
        x * x * SCALE
    }
    fn constant_function(n: usize) -> usize {
        n * 2
    }
    let n = constant_function(3) as f64;
    local(x) * n + OFFSET * local(local(x))
}

#[differentiable]
fn unused(x: f64, _y: f64, _: f64, z: &[f64], _w: [f64; 2]) -> f64 {
    let _dead = x * x;
    let _ = x.exp();
    x * 3.0
}

#[differentiable]
fn does_not_depend(_x: f64, n: usize) -> f64 {
    n as f64
}

#[differentiable]
fn nothing_at_all() -> f64 {
    1.5
}

#[differentiable]
fn references(x: &f64, y: &mut f64, z: &[f64]) -> f64 {
    let first = &z[0];
    let s = x * 2.0 + *y;
    let alias = &s;
    *y = alias * first.sin() + first * *x;
    *y * x.exp() + *first + *alias * alias.cos()
}

#[differentiable]
fn parenthesised(x: f64, y: f64) -> f64 {
    let mut a = (x) * (y);
    (a) = (a * (x));
    let b = (if (x > 0.0) { (a) } else { (-a) });
    ((a) * (b))
}

macro_rules! by_macro {
    ($name:ident, $x:ident, $value:expr, $place:expr) => {
        #[differentiable]
        fn $name($x: f64, data: &mut [f64]) -> f64 {
            let x = $value;
            data[0] = x * $place;
            $value * x + data[0] * $place
        }
    };
}
by_macro!(written_by_a_macro, y, y * y + 1.0, y);

#[test]
fn names() {
    check_rule(shadowed::rule, [(0.3, 0.7), (-1.2, 0.4)]);
    check_rule(numbered::rule, [(0.3, 0.7), (-1.2, 0.4)]);
    check_rule(reserved::rule, [(0.3, 0.7, 0.2, vec![0.4, -0.5, 1.0]), (1.0, -0.5, 2.0, vec![])]);
    check_rule(pooled::rule, [(3, 0.7), (0, 0.4), (5, 1.2)]);
}

#[test]
fn patterns_and_blocks() {
    check_rule(tuples::rule, [(0.3, 0.7), (-1.2, 0.4)]);
    check_rule(turned::rule, [(0.3, vec![0.7, -0.2]), (-1.2, vec![0.4])]);
    check_rule(deferred::rule, [(0.3, 1), (0.7, 3)]);
    check_rule(blocks::rule, [(0.3, 0.7), (-1.2, 0.4)]);
    check_rule(parenthesised::rule, [(0.3, 0.7), (-1.2, 0.4)]);
    check_rule(written_by_a_macro::rule, [(0.3, vec![1.0]), (0.4, vec![2.0, 3.0])]);
}

#[test]
fn assignments() {
    check_rule(self_referring::rule, [(0.3, 0.7), (-1.2, 1.4)]);
    check_rule(self_referring_parameter::rule, [(0.3, 0.7), (-1.2, 1.4)]);
    check_rule(exchanged::rule, [(0.3, 0.7), (-1.2, 1.4)]);
}

#[test]
fn surroundings() {
    check_rule(items::rule, [(0.3,), (1.5,)]);
    check_rule(unused::rule, [(0.3, 1.0, 2.0, vec![1.0], [1.0, 2.0]), (1.3, 1.0, 2.0, vec![], [1.0, 2.0])]);
    check_rule(does_not_depend::rule, [(0.3, 1), (0.4, 2)]);
    check_rule(nothing_at_all::rule, [()]);
    check_rule(references::rule, [(0.3, 0.7, vec![1.5]), (1.3, -0.7, vec![0.5, 2.0])]);
}

/// Parts of a constant, and of an active pair, by names for references.
#[differentiable]
fn parts_of_pairs(x: f64, #[constant] measured: &[(f64, f64)], pairs: &[(f64, f64)]) -> f64 {
    let mut total = 0.0;
    for (c, v) in measured {
        total += x * c / (x + c) - v;
    }
    for (i, (a, b)) in pairs.iter().enumerate() {
        let (_, v) = &measured[(i * 3 + a.abs() as usize) % measured.len()];
        total += a * b.sin() - b * v;
    }
    for &(c, _) in measured {
        total *= x + c;
    }
    total
}

#[test]
fn parts() {
    let measured = vec![(0.5, 1.0), (0.25, 2.0), (1.5, 0.75)];
    check_rule(parts_of_pairs::rule, [(0.5, measured, vec![(0.5, 1.5), (-0.75, 0.25)])]);
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct State {
    a: f64,
    b: f64,
}

/// What is put together anew in each round, and taken apart in the next.
#[differentiable]
fn put_together(x: &[f64], k: f64) -> f64 {
    let (mut pair, mut state, mut nested) = ((0.3, 1, 1.0), State { a: 0.3, b: k }, (0.2, (k, [1.0, k])));
    let mut total = 0.0;
    for v in x {
        let (a, n, b) = pair;
        pair = (a * k + v, n + 1, b * a);
        let State { a: c, b: d } = state;
        state = State { a: c * k + v, b: d * c };
        let (e, (f, [g, h])) = nested;
        nested = (e * k + v, (f * e, [h, g * v]));
        total += a * b * n as f64 + c * d + e * f * h;
    }
    total
}

#[test]
fn values_that_are_put_together() {
    check_rule(put_together::rule, [(vec![0.1, 0.4, -0.3], 0.8), (vec![0.6], 0.4)]);
}
