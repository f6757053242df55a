//! Combinations that have gone wrong, or easily could.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

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

#[differentiable]
fn advance(x: &mut f64, v: f64) {
    *x += v * *x;
}

#[differentiable]
fn turned(v: [f64; 3], t: f64) -> [f64; 3] {
    let (s, c) = t.sin_cos();
    [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]]
}

/// The largest, and where it is.
#[differentiable]
fn largest(x: &[f64]) -> (f64, usize) {
    let mut best = 0;
    for i in 1..x.len() {
        if x[i] > x[best] {
            best = i;
        }
    }
    (x[best], best)
}

/// Everything here has to be evaluated again, in the right order.
#[differentiable]
fn precedence(x: &[f64], k: f64, n: usize) -> f64 {
    let (mut a, mut b) = (1.5, 0.5);
    for i in 0..x.len() {
        let c = a - (b - x[i]) - (x[i] - (a - b));
        let d = a / (c / (2.0 + x[i] * x[i])) * (a / (b / 2.0));
        let e = -(c + d) * c;
        let f = ((e + d) as f64 * k) as f64 * (n as f64 - 1.0);
        let g = (-d * 0.1).exp() * (c + d).sin() - -e.powi(2) * 0.01;
        let h = 2.0 * (a + b) * -c;
        a = (c * d + e * f * 0.1 - g * h).sin() * 1.5;
        b = 0.75 + 0.25 * (h * g * f).cos();
        a -= c - d * 0.1 - x[i];
        a /= 1.0 + b * b;
        b *= 0.5 + a * a - x[i] * 0.1;
    }
    a * b
}

#[differentiable]
fn shadowed_indices(x: &[f64]) -> f64 {
    let mut s = 1.0;
    for i in 0..x.len() {
        for i in 0..i {
            let x = x[i] * s;
            s = x.sin() + s;
        }
        let n = x.len();
        let x = x[i];
        s *= x + n as f64;
    }
    let x = x.len() as f64 * s;
    x * s
}

#[differentiable]
fn integers_in_arrays(x: &[f64], to: &[usize], mut n: usize) -> f64 {
    let mut counts = [0; 3];
    let mut seen = [false; 3];
    let mut s = 1.0;
    for i in 0..x.len() {
        let k = to[i] % 3;
        counts[k] += 1;
        if !seen[k] {
            seen[k] = true;
            s = s * x[i];
        } else {
            s += x[i] * x[counts[k] - 1] * counts[k] as f64;
        }
        n += counts[(k + 1) % 3];
    }
    while n > 3 {
        n -= 2;
        s *= x[n % x.len()];
    }
    let (q, r) = (n / 2, n % 2);
    s * x[q % x.len()] + r as f64 * x[0]
}

#[differentiable]
fn bounds_that_move(x: &[f64], y: f64) -> f64 {
    let mut n = x.len();
    let mut s = y;
    for i in 0..n {
        n = i;
        s = s * x[n] + y;
    }
    let m = (y.abs() * 4.0) as usize;
    for i in 0..m.min(x.len()) {
        s += x[(i + 1).min(x.len() - 1)] * s;
    }
    s * x[n]
}

#[differentiable]
fn arrays_in_arms(x: &[f64]) -> f64 {
    let mut total = 1.0;
    for i in 0..x.len() {
        let h;
        if x[i] > 0.0 {
            h = [x[i], total];
        } else {
            let mut g = [total, x[0]];
            g[1] *= g[0];
            g[0] = g[1] * x[i];
            total *= g[0] + 1.5;
            scale(&mut g, x[i]);
            h = [g[1], g[0]];
        }
        total += h[0] * h[1];
    }
    total
}

#[differentiable]
fn arrays_through_calls(mut v: [f64; 3], angles: &[f64]) -> f64 {
    for i in 0..angles.len() {
        v = turned(v, angles[i]);
        v[2] += v[0] * angles[i];
        let w = turned(turned(v, 0.5), v[1]);
        v = [w[0], v[1] * w[2], w[1]];
    }
    v[0] * v[1] + v[2]
}

#[differentiable]
fn elements_and_parts(x: &mut [f64], y: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..y.len() {
        advance(&mut x[i], y[i]);
        let before = x[i];
        scale(&mut x[i..], y[i] * k);
        advance(&mut x[i], before);
        let row = &x[i..];
        total += dot(row, row) * row[0];
        let part = &mut x[..i + 1];
        scale(part, 0.5);
        part[0] += total * k;
    }
    total
}

#[differentiable]
fn vectors_and_aliases(x: &[f64], k: f64) -> f64 {
    let mut h = vec![0.5; x.len()];
    for i in 0..x.len() {
        h[i] = x[i] * k;
    }
    scale(&mut h, k);
    let all = &h;
    let mut s = dot(all, x) + dot(&h, &h);
    let mut local = [s, k, 1.0];
    let part = &mut local[1..];
    part[0] *= k;
    scale(part, k);
    part[1] += part[0];
    s *= local[2];
    s * local[1]
}

#[differentiable]
fn values_and_places(x: &[f64]) -> f64 {
    let (value, place) = largest(x);
    let mut total = value * place as f64 + x[place];
    let pair = largest(&x[..place + 1]);
    total *= pair.0;
    let next = (place + 1) % x.len();
    for i in 0..place {
        total += x[i] * x[next];
    }
    total
}

fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|i| 1.0 / (i + 1) as f64).collect()
}

fn half(i: usize) -> usize {
    i / 2
}

#[differentiable]
fn constant_data(x: &[f64], n: usize) -> f64 {
    if n == 0 {
        panic!("nothing to do");
    }
    let w = weights(n);
    let powers: Vec<f64> = (0..n).map(|i| 0.5_f64.powi(i as i32)).collect();
    let mut s = 1.0;
    for i in 0..n {
        let local = weights(i + 1);
        s = s * x[half(i) % x.len()] * w[i] + powers[i] * s * local[i];
    }
    s * w[n - 1]
}

/// Functions and parameters of the same and of odd names.
mod names {
    use super::*;

    #[differentiable]
    fn value(value: f64) -> f64 {
        value * value
    }

    #[differentiable]
    fn d(d: f64, x: f64) -> f64 {
        let value = super::names::value(d) * x;
        value * d
    }

    #[differentiable]
    fn stack(stack_rule: f64, n: usize) -> f64 {
        let mut stack = stack_rule;
        let residual = value(stack);
        for _ in 0..n {
            let stack_residual = d(stack, residual);
            stack = value(stack_residual) + d(value(stack), d(residual, stack));
        }
        stack
    }

    #[differentiable]
    fn raw(r#type: f64, r#match: &[f64], größe: f64) -> f64 {
        let mut r#loop = r#type * größe;
        let r#type = r#loop * r#match[0];
        for i in 0..r#match.len() {
            r#loop *= r#match[i] + r#type;
        }
        r#loop
    }

    #[test]
    fn are_kept_apart() {
        check_rule(stack::rule, [(0.5, 2), (0.7, 0)]);
        check_rule(raw::rule, [(0.5, vec![0.3, 0.7], 1.5), (0.5, vec![0.2], 0.5)]);
    }
}

/// Attributes and qualifiers stay.
#[differentiable]
#[inline]
#[must_use]
#[allow(clippy::let_and_return)]
pub(crate) fn decorated(/* a number */ x: f64, #[allow(unused)] y: f64) -> f64 {
    #[allow(unused_variables)]
    let unused = x * x;
    #[rustfmt::skip]
    let z = x*x + f64::EPSILON * std::f64::consts::PI;
    z
}

#[differentiable]
fn identities(x: &mut [f64], k: f64) -> f64 {
    let y = x.len();
    let mut s = k;
    for i in 0..y {
        x[i] = x[i];
        s = s;
        x[i] += 0.0 * x[i];
        let s2 = s;
        let s3 = s2;
        s = s3 * x[i];
        x[i] = s3;
    }
    s
}

#[differentiable]
fn slice_under_another_name(x: &[f64], z: &mut [f64], m: &[[f64; 2]]) -> f64 {
    let y = x;
    let w = z;
    let row = m[0];
    w[0] = y[0] * row[1] * w[0];
    w[0] * dot(y, x) + y[0]
}

#[differentiable]
fn cascade(x: &[f64], n: usize) -> f64 {
    let mut a = 0.1;
    let mut b = 1.0;
    let mut mode = 0;
    for i in 0..n {
        let v = x[i % x.len()];
        if mode == 0 {
            a += v * b;
            if a > 0.5 {
                mode = 1;
            }
        } else if mode == 1 {
            let mut j = 0;
            while j < 3 && b < 2.0 {
                b += v * v * a;
                j += 1;
            }
            mode = if j > 1 { 2 } else { 0 };
        } else {
            b = a * v;
            a = b - a;
            mode = 0;
        }
    }
    a * b + mode as f64
}

#[differentiable]
fn blocks_with_effects(x: &mut [f64], k: f64) -> f64 {
    let a = {
        x[0] *= k;
        x[0] * x[1]
    };
    let b = if a > 0.0 {
        x[1] += a;
        let t = x[1] * x[1];
        x[0] = t;
        t * k
    } else {
        x[1] = k;
        a
    };
    let c;
    {
        let x = b * x[0];
        c = x * a;
    }
    let d = {
        let t = x[1] * c;
        x[1] = t;
        t * x[0]
    };
    x[0] = d;
    x[0] * x[1]
}

#[test]
fn of_scalars() {
    check_rule(precedence::rule, [(vec![0.3, -0.4], 0.75, 3), (vec![], 0.5, 1), (vec![0.2], 0.5, 2)]);
    check_rule(cascade::rule, [(vec![0.3, 0.4, -0.2], 9), (vec![0.5], 0), (vec![0.9, 0.2], 14)]);
    check_rule(decorated::rule, [(0.3, 0.4), (1.5, 0.2)]);
}

#[test]
fn of_indices() {
    check_rule(shadowed_indices::rule, [vec![0.3, -0.4, 0.2], vec![], vec![0.4]].map(|x| (x,)));
    check_rule(
        integers_in_arrays::rule,
        [(vec![0.3, -0.4, 0.2, 0.7, 0.9], vec![0, 1, 0, 2, 0], 2), (vec![0.3], vec![5], 9)],
    );
    check_rule(
        bounds_that_move::rule,
        [(vec![0.3, -0.4, 0.2], 0.6), (vec![0.4], -0.1), (vec![0.4, 0.3], 2.1)],
    );
    check_rule(values_and_places::rule, [vec![0.3, -0.4, 1.2, 0.5], vec![0.4], vec![0.4, 0.1]].map(|x| (x,)));
}

#[test]
fn of_arrays() {
    check_rule(arrays_in_arms::rule, [vec![0.3, -0.4, 0.2, -0.9], vec![], vec![-0.4]].map(|x| (x,)));
    check_rule(arrays_through_calls::rule, [([0.3, 0.4, 0.5], vec![0.3, -0.4]), ([0.3, 0.4, 0.5], vec![])]);
    check_rule(
        elements_and_parts::rule,
        [
            (vec![0.3, 0.5, 0.2], vec![0.7, -0.4], 0.8),
            (vec![0.3], vec![], 0.8),
            (vec![0.3, 1.2], vec![0.7, 0.4], 1.2),
        ],
    );
    check_rule(vectors_and_aliases::rule, [(vec![0.3, -0.4, 0.2], 0.6), (vec![], 0.7), (vec![0.4], 0.7)]);
    CheckRule::new(constant_data::rule)
        .inputs([(vec![0.3, -0.4, 0.2], 4), (vec![0.4], 1)])
        .panicking((vec![0.5], 0))
        .run();
}

/// Conditions and assertions that write to what is constant.
#[differentiable]
fn counting_conditions(x: &[f64], n: usize) -> f64 {
    let (mut k, mut tries) = (n, vec![0_usize; 3]);
    let mut total = 0.0;
    for i in 0..x.len() {
        assert!({
            k += 1;
            k > 0
        });
        debug_assert!(tries.pop().is_none_or(|t| t == 0), "popped {}", tries.len());
        total += x[i] * x[i] * k as f64;
        if {
            k += 2;
            k % 3 == 0
        } {
            total += x[i].sin() * (k * tries.len()) as f64;
        }
        let last = &mut k;
        if matches!(
            {
                *last += 1;
                *last
            },
            3..9
        ) {
            total *= x[i] + k as f64;
        }
    }
    total * k as f64
}

#[test]
fn of_writes() {
    check_rule(
        counting_conditions::rule,
        [(vec![0.3, 0.4, -0.2, 0.9], 1), (vec![0.7, -0.5], 2), (vec![], 0)],
    );
    check_rule(identities::rule, [(vec![0.3, -0.4, 0.2], 0.6), (vec![], 0.7)]);
    check_rule(blocks_with_effects::rule, [(vec![0.3, 0.4], 0.6), (vec![0.7, -0.5], 1.1)]);
    check_rule(
        slice_under_another_name::rule,
        [
            (vec![0.3, 0.4], vec![0.6], vec![[0.5, 0.7]]),
            (vec![0.7], vec![0.2, 1.1], vec![[0.3, 0.4], [0.1, 0.2]]),
        ],
    );
}
