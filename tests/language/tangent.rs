//! The small functions that tools for automatic differentiation are commonly tried on: overwriting, branching, looping,
//! and what they easily forget.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn overwrite_if(x: f64, y: f64) -> f64 {
    let mut z = x * y;
    if x > y {
        z = z * z;
    }
    z = z + x;
    z
}

#[differentiable]
fn nested_if(x: f64, y: f64) -> f64 {
    let mut a = x * y;
    if x > 0.0 {
        a *= 2.0;
        if y > 0.0 {
            a += x * x;
            if a > 1.0 {
                a = a.ln();
            }
        } else {
            a = a - y;
        }
    } else if y > 1.0 {
        a = -a * y;
    }
    a * x
}

#[differentiable]
fn multiarg_if(a: f64, b: f64, c: f64) -> f64 {
    if a > b {
        if b > c { a * b } else { a * c }
    } else if a * b > c {
        b / c
    } else {
        (a + b) * c
    }
}

/// The branch gives a constant, of which the gradient is zero.
#[differentiable]
fn constants_in_branches(x: f64, y: f64) -> f64 {
    let mut z = if x > 0.0 { 3.0 } else { y };
    let w = if y > 0.0 { x } else { 0.0 };
    if z > 2.0 {
        z = 1.5;
    }
    z * w + if x > y { 1.0 } else { x * y }
}

#[differentiable]
fn serial_for(x: f64, n1: usize, n2: usize) -> f64 {
    let mut y = x;
    for i in 0..n1 {
        y = (y + i as f64).sin();
    }
    let mut z = y;
    for _ in 0..n2 {
        z *= 0.5 + y * z;
    }
    z
}

#[differentiable]
fn iterpower(x: f64, n: usize) -> f64 {
    let mut y = x;
    for _ in 1..n {
        y *= x;
    }
    y
}

#[differentiable]
fn superfor_iterpower(x: f64, n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..n {
        let mut p = x;
        for _ in 0..i {
            p *= x;
            for _ in 0..2 {
                p = p.cos() * x;
            }
        }
        total += p;
    }
    total
}

#[differentiable]
fn saxpy_overwrite(a: f64, x: &[f64], y: &mut [f64]) {
    for i in 0..x.len() {
        y[i] = a * x[i] + y[i];
    }
}

#[differentiable]
fn saxpy_square(a: f64, x: &[f64], y: &mut [f64]) -> f64 {
    saxpy_overwrite(a, x, y);
    saxpy_overwrite(a * a, x, y);
    let mut total = 0.0;
    for i in 0..y.len() {
        total += y[i] * y[i];
    }
    total
}

#[differentiable]
fn cart2polar(x: f64, y: f64) -> (f64, f64) {
    let r = (x * x + y * y).sqrt();
    let theta = y.atan2(x);
    (r, theta)
}

#[differentiable]
fn polar_energy(x: f64, y: f64) -> f64 {
    let (r, theta) = cart2polar(x, y);
    r.powi(2) * (3.0 * theta).cos() - theta / r
}

#[differentiable]
fn while_big(x: f64) -> f64 {
    let mut y = x;
    while y > 10.0 {
        y = y / 2.0;
    }
    y * x
}

#[differentiable]
fn while_nested(x: f64, limit: f64) -> f64 {
    let mut y = x;
    let mut rounds = 0;
    while y < limit {
        let mut step = x;
        while step * step < y {
            step *= 1.5;
        }
        y += step;
        rounds += 1;
    }
    y / (1 + rounds) as f64
}

#[differentiable]
fn rnn_cell(x: &[f64], h: &[f64], w: &[f64], u: &[f64], b: &[f64], next: &mut [f64]) {
    let n = h.len();
    for i in 0..n {
        let mut s = b[i];
        for j in 0..x.len() {
            s += w[i * x.len() + j] * x[j];
        }
        for j in 0..n {
            s += u[i * n + j] * h[j];
        }
        next[i] = s.tanh();
    }
}

#[differentiable]
fn rnn(inputs: &[f64], w: &[f64], u: &[f64], b: &[f64]) -> f64 {
    let n = b.len();
    let mut h = vec![0.0; n];
    let mut next = vec![0.0; n];
    for t in 0..inputs.len() / 2 {
        rnn_cell(&inputs[2 * t..2 * t + 2], &h, w, u, b, &mut next);
        for i in 0..n {
            h[i] = next[i];
        }
    }
    let mut total = 0.0;
    for i in 0..n {
        total += h[i] * (i + 1) as f64;
    }
    total
}

/// xᵀ A y
#[differentiable]
fn bilinear(x: &[f64], a: &[f64], y: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        for j in 0..y.len() {
            total += x[i] * a[i * y.len() + j] * y[j];
        }
    }
    total
}

#[differentiable]
fn logistic_regression(w: &[f64], b: f64, #[constant] x: &[[f64; 3]], #[constant] label: &[bool]) -> f64 {
    let mut loss = 0.0;
    for i in 0..x.len() {
        let mut z = b;
        for j in 0..3 {
            z += w[j] * x[i][j];
        }
        let p = 1.0 / (1.0 + (-z).exp());
        loss -= if label[i] { p.ln() } else { (1.0 - p).ln() };
    }
    loss / x.len() as f64
}

/// By elimination without pivoting, in place.
#[differentiable]
fn determinant(a: &mut [f64], n: usize) -> f64 {
    let mut det = 1.0;
    for k in 0..n {
        let pivot = a[k * n + k];
        det *= pivot;
        for i in k + 1..n {
            let factor = a[i * n + k] / pivot;
            for j in k..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
    det
}

#[differentiable]
fn augmented(x: f64, y: &mut [f64], k: &mut f64) -> f64 {
    let mut z = x;
    z += y[0];
    z -= x * y[1];
    z *= y[0] - 1.5;
    z /= 1.0 + x * x;
    z %= 1.7;
    y[0] += z;
    y[1] -= z * *k;
    y[0] *= y[1];
    y[1] /= 2.0 + z;
    y[0] %= 3.0;
    *k += y[0];
    *k *= *k;
    *k -= z / 2.0;
    *k /= y[1] - 4.0;
    z + *k
}

#[differentiable]
fn unused_arguments(x: f64, never: f64, nor: &[f64], neither: &mut [f64]) -> f64 {
    let _ignored = never * 2.0;
    x * x
}

#[differentiable]
fn only_constants(x: f64, y: &[f64]) -> f64 {
    let n = y.len();
    n as f64 * 0.5
}

/// Σ over four nested loops, of which the inner ones have bounds of the outer.
#[differentiable]
fn four_deep(x: &[f64], k: f64) -> f64 {
    let n = x.len();
    let mut total = k;
    for a in 0..n {
        let mut sa = x[a];
        for b in a..n {
            let mut sb = sa * x[b];
            for c in (0..=b).rev() {
                let mut sc = sb + x[c] * k;
                for d in 0..c.min(2) {
                    sc = (sc * x[d]).sin() + sc;
                    if sc > 1.0 {
                        sc -= k * sb;
                    }
                }
                sb += 0.25 * sc;
            }
            sa = sa * 0.5 + sb;
        }
        total += sa * total * 0.125;
    }
    total
}

#[differentiable]
fn shadowed_names(x: f64, y: f64) -> f64 {
    let x = x * y;
    let y = x + y;
    let x = {
        let x = x.sin();
        let y = y * x;
        x * y + y
    };
    let y = if x > y {
        let x = x * 2.0;
        x - y
    } else {
        let y = y * y;
        y * x
    };
    x * y
}

/// Loops that do not run, before, in and after those that do.
#[differentiable]
fn zero_times(x: &[f64], n: usize) -> f64 {
    let mut total = 1.0;
    for i in 0..n {
        total *= x[i];
        for j in 1..i {
            total += x[j] * total;
        }
    }
    for i in n..x.len().min(n) {
        total *= x[i] * x[i];
    }
    while total < 0.0 {
        total = -total;
    }
    total.sqrt()
}

#[differentiable]
fn returns_its_argument(x: f64) -> f64 {
    x
}

#[differentiable]
fn passes_arrays_through(x: [f64; 3], y: f64) -> ([f64; 3], f64) {
    let z = x;
    (z, y)
}

#[differentiable]
fn same_argument_twice(x: f64) -> f64 {
    let (r, theta) = cart2polar(x, x);
    bilinear(&[x, r], &[x, theta, r, 1.0], &[r, x])
}

#[differentiable]
fn overwritten_argument(mut x: f64, mut y: f64) -> f64 {
    y = x * y;
    x = y.sin() * x;
    y = x;
    x = 2.0;
    x * y
}

#[differentiable]
fn clamped_ramp(x: &[f64], lo: f64, hi: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += if x[i] < lo {
            lo
        } else if x[i] > hi {
            hi
        } else {
            x[i]
        };
        total += 0.5 * x[i].clamp(lo, hi).powi(2);
    }
    total
}

/// A function of forty times the same five statements.
macro_rules! two_hundred_statements {
    (fn $name:ident($($parameters:tt)*) { $($first:tt)* } [$($body:tt)*] $last:expr) => {
        #[differentiable]
        fn $name($($parameters)*) -> f64 {
            $($first)*
            $($body)* $($body)* $($body)* $($body)* $($body)* $($body)* $($body)* $($body)*
            $($body)* $($body)* $($body)* $($body)* $($body)* $($body)* $($body)* $($body)*
            $($body)* $($body)* $($body)* $($body)* $($body)* $($body)* $($body)* $($body)*
            $($body)* $($body)* $($body)* $($body)* $($body)* $($body)* $($body)* $($body)*
            $($body)* $($body)* $($body)* $($body)* $($body)* $($body)* $($body)* $($body)*
            $last
        }
    };
}

two_hundred_statements! {
    fn mutated(x: f64, y: f64) { let mut a = x; let mut b = y; let mut c = 0.3; }
    [
        c = 0.9 * c + a * b;
        a = (b + c).sin() - 0.5 * a;
        b += 0.1 * a * c;
        c -= a / (2.0 + b * b);
        b = b.cos() + 0.2 * x * y;
    ]
    a * b + c
}

two_hundred_statements! {
    fn bound(x: f64, y: f64) { let a = x; let b = y; }
    [
        let c = a * b - y;
        let d = (b + c).sin();
        let a = c * x + d.cos();
        let b = d * a + y / (2.0 + c * c);
        let a = 0.5 * a - 0.1 * b;
    ]
    a * b
}

#[test]
fn branches() {
    check_rule(overwrite_if::rule, [(0.5, 0.3), (0.3, 0.5)]);
    check_rule(nested_if::rule, [(0.5, 0.3), (1.5, 2.3), (0.3, -0.5), (-0.4, 1.5), (-0.4, 0.5)]);
    check_rule(multiarg_if::rule, [(3.0, 2.0, 1.0), (3.0, 1.0, 2.0), (2.0, 3.0, 1.0), (0.2, 0.3, 1.0)]);
    check_rule(constants_in_branches::rule, [(0.5, 0.3), (-0.5, 2.3), (-0.5, -0.3), (0.2, 0.4)]);
    check_rule(shadowed_names::rule, [(0.5, 0.3), (1.2, -0.7)]);
    check_rule(clamped_ramp::rule, [(vec![0.5, -2.0, 3.0, 0.1], -1.0, 1.0), (vec![0.2], -0.5, 0.7)]);
}

#[test]
fn loops() {
    check_rule(serial_for::rule, [(0.5, 4, 3), (0.8, 0, 2), (0.8, 1, 0)]);
    check_rule(iterpower::rule, [(0.9, 5), (1.1, 1), (1.1, 0)]);
    check_rule(superfor_iterpower::rule, [(0.9, 5), (1.1, 2), (1.1, 0)]);
    check_rule(while_big::rule, [(75.0,), (7.0,), (11.0,)]);
    check_rule(while_nested::rule, [(1.3, 20.0), (2.0, 1.0)]);
    check_rule(four_deep::rule, [(vec![0.5, -0.3, 0.8, 0.4], 0.6), (vec![0.5], 0.3), (vec![], 0.3)]);
    check_rule(zero_times::rule, [(vec![0.5, 0.7, 0.9], 0), (vec![0.5, 0.7, 0.9], 3), (vec![], 0)]);
}

#[test]
fn arrays() {
    check_rule(saxpy_overwrite::rule, [(0.5, vec![1.0, 2.0], vec![0.3, 0.4]), (2.0, vec![0.1], vec![0.2])]);
    check_rule(saxpy_square::rule, [(0.5, vec![1.0, 2.0], vec![0.3, 0.4]), (2.0, vec![0.1], vec![0.2])]);
    check_rule(cart2polar::rule, [(0.5, 0.3), (-1.5, 2.3)]);
    check_rule(polar_energy::rule, [(0.5, 0.3), (-1.5, 2.3)]);
    check_rule(
        bilinear::rule,
        [
            (vec![0.5, 0.3], vec![1.0, 2.0, 3.0, -1.0, 0.5, 0.7], vec![0.2, 0.9, -0.4]),
            (vec![0.5], vec![1.0], vec![0.2]),
        ],
    );
    check_rule(
        determinant::rule,
        [(vec![4.0, 1.0, 0.5, 1.0, 3.0, -0.7, 0.2, 0.4, 2.0], 3), (vec![2.0, 1.0, 0.5, 3.0], 2)],
    );
    let w = vec![0.3, -0.2, 0.5, 0.1, 0.4, -0.6];
    let u = vec![0.2, -0.1, 0.3, 0.6, -0.5, 0.4, 0.1, 0.2, -0.3];
    let b = vec![0.1, -0.2, 0.3];
    check_rule(
        rnn::rule,
        [
            (vec![0.5, -0.3, 0.9, 0.2, -0.7, 0.4], w.clone(), u.clone(), b.clone()),
            (vec![0.5, -0.3], w.clone(), u.clone(), b.clone()),
        ],
    );
    let h = vec![0.3, 0.1, -0.4];
    check_rule(rnn_cell::rule, [(vec![0.5, -0.3], h.clone(), w, u, b, h)]);
    let x = vec![[0.5, 1.0, -0.3], [0.2, -0.7, 0.9], [1.5, 0.4, 0.6]];
    check_rule(
        logistic_regression::rule,
        [
            (vec![0.3, -0.6, 0.8], 0.1, x.clone(), vec![true, false, true]),
            (vec![0.2, 0.5, -0.1], -0.3, x[..1].to_vec(), vec![false]),
        ],
    );
}

#[test]
fn arguments() {
    check_rule(augmented::rule, [(0.5, vec![0.3, 0.7], 0.4), (1.2, vec![0.9, -0.7], 1.4)]);
    check_rule(unused_arguments::rule, [(0.5, 0.3, vec![0.7], vec![0.2, 0.5]), (0.5, 0.3, vec![], vec![])]);
    check_rule(only_constants::rule, [(0.5, vec![0.7]), (0.5, vec![])]);
    check_rule(returns_its_argument::rule, [(0.5,), (-2.0,)]);
    check_rule(passes_arrays_through::rule, [([0.5, 0.3, 0.2], 0.7), ([1.0, 2.0, 3.0], -0.7)]);
    check_rule(same_argument_twice::rule, [(0.5,), (1.2,)]);
    check_rule(overwritten_argument::rule, [(0.5, 0.3), (1.2, -0.7)]);
}

#[test]
fn long_straight_line_code() {
    check_rule(mutated::rule, [(0.5, 0.3), (1.2, -0.7)]);
    check_rule(bound::rule, [(0.5, 0.3), (1.2, -0.7)]);
}
