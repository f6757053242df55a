//! Buffers: swapped, filled, copied, rotated.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// The heat equation with two buffers that change places.
#[differentiable]
fn heat(u: &[f64], rate: f64, steps: usize) -> f64 {
    let n = u.len();
    let mut current = vec![0.0; n];
    let mut next = vec![0.0; n];
    current.copy_from_slice(u);
    for _ in 0..steps {
        for i in 0..n {
            let left = if i > 0 { current[i - 1] } else { 0.0 };
            let right = if i + 1 < n { current[i + 1] } else { 0.0 };
            next[i] = current[i] + rate * (left - 2.0 * current[i] + right) * current[i];
        }
        std::mem::swap(&mut current, &mut next);
    }
    let mut total = 0.0;
    for i in 0..n {
        total += current[i] * current[i] + next[i];
    }
    total
}

/// Swapped in some steps only, and written to afterwards.
#[differentiable]
fn swapped_at_times(x: &[f64], k: f64) -> f64 {
    let mut a = vec![1.0; x.len()];
    let mut b = vec![2.0; x.len()];
    for i in 0..x.len() {
        a[i] = x[i] * k * b[0];
        if x[i] > 0.0 {
            std::mem::swap(&mut a, &mut b);
            b[0] *= x[i];
        }
        b[i] += a[i] * x[0];
    }
    let mut total = 0.0;
    for i in 0..x.len() {
        total += a[i] * b[i];
    }
    total
}

/// Scalars, elements and arrays.
#[differentiable]
fn swapped_numbers(x: f64, y: f64, v: &mut [f64]) -> f64 {
    let mut a = x * y;
    let mut b = y;
    let mut p = [x, y];
    let mut q = [y, 1.0];
    for i in 0..v.len() {
        std::mem::swap(&mut a, &mut b);
        std::mem::swap(&mut p, &mut q);
        std::mem::swap(&mut v[i], &mut a);
        a *= b * v[i];
        p[0] += a;
        std::mem::swap(&mut p[1], &mut q[0]);
    }
    a * b + p[0] * p[1] + q[0] * q[1]
}

#[differentiable]
fn swapped_elements(x: &mut [f64], k: f64) -> f64 {
    let n = x.len();
    let mut h = vec![k; n + 1];
    for i in 0..n {
        h[i] = x[i] * h[i + 1];
        x.swap(i, n - 1 - i);
        h.swap(0, i);
        x[i] *= h[0];
    }
    let mut total = 0.0;
    for i in 0..n {
        total += h[i] * x[i] * (i + 1) as f64;
    }
    total
}

#[differentiable]
fn filled(x: &[f64], k: f64, y: &mut [f64]) -> f64 {
    let mut h = vec![0.0; x.len()];
    let mut total = 0.0;
    for i in 0..x.len() {
        h[i] = x[i] * k;
        total += h[0] * h[i] * y[0];
        if i % 2 == 1 {
            h.fill(total * k);
        }
        y.fill(h[i] * y[0]);
        y[0] = x[i];
    }
    total + y[y.len() - 1] * h[0]
}

#[differentiable]
fn filled_parts(x: &[f64; 4], k: f64) -> f64 {
    let mut h = [0.0; 4];
    h.copy_from_slice(x);
    h[1..3].fill(k * k);
    h[..2].clone_from_slice(&x[2..]);
    let s = h[0] * h[1] * h[2];
    h.fill(0.0);
    h[2..].copy_from_slice(&x[1..3]);
    s * h[0] + h[2] * h[3] * s
}

#[differentiable]
fn permuted(x: &mut [f64], weights: &[f64], k: usize) -> f64 {
    let n = x.len();
    let mut h = vec![1.0; n];
    let mut total = 0.0;
    for i in 0..n {
        x.rotate_left(k % n);
        x[0] *= weights[i];
        h.copy_from_slice(x);
        h.reverse();
        h[i..].rotate_right((n - i) / 2);
        h[0] *= x[n - 1];
        x[..n - 1].reverse();
        total += h[i] * x[i];
    }
    total
}

#[differentiable]
fn copied_within(x: &mut [f64], k: f64) -> f64 {
    x.copy_within(0..3, 1);
    x[0] *= k;
    x.copy_within(1..4, 0);
    x[3] *= x[0];
    x.copy_within(2..3, 2);
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i] * (i + 1) as f64 * x[i];
    }
    total
}

#[differentiable]
fn replaced(x: f64, y: &mut f64, v: &mut [f64]) -> f64 {
    let mut a = x;
    let old = std::mem::replace(&mut a, x * *y);
    let before = std::mem::replace(y, old * a);
    let first = std::mem::take(&mut v[0]);
    v[1] = std::mem::replace(&mut v[2], first * before);
    let second = std::mem::take(&mut v[1]);
    a *= second;
    a * old + before * first * v[2] + v[1]
}

/// LU factorisation with partial pivoting; the determinant, and a solution.
#[differentiable]
fn determinant(m: &[f64], n: usize) -> f64 {
    let mut a = vec![0.0; n * n];
    a.copy_from_slice(m);
    let mut det = 1.0;
    for k in 0..n {
        let mut p = k;
        for i in k + 1..n {
            if a[i * n + k].abs() > a[p * n + k].abs() {
                p = i;
            }
        }
        if p != k {
            for j in 0..n {
                a.swap(p * n + j, k * n + j);
            }
            det = -det;
        }
        det *= a[k * n + k];
        for i in k + 1..n {
            let f = a[i * n + k] / a[k * n + k];
            for j in k..n {
                a[i * n + j] -= f * a[k * n + j];
            }
        }
    }
    det
}

/// Aliases that are written through.
#[differentiable]
fn rows(m: &mut [f64], n: usize, k: f64) -> f64 {
    let rows = m.len() / n;
    let mut work = vec![0.0; n];
    let mut total = 0.0;
    for i in 0..rows {
        let row = &mut m[i * n..(i + 1) * n];
        work.copy_from_slice(row);
        row.reverse();
        row.swap(0, n - 1);
        row[0] *= work[n - 1] * k;
        let part = &mut work[1..];
        part.fill(row[0]);
        total += work[n - 1] * work[0];
    }
    total + m[0]
}

/// Indices that change do not make the rest harder.
#[differentiable]
fn with_integers(x: &mut [f64], k: f64) -> f64 {
    let mut order = vec![0_usize; x.len()];
    for i in 0..x.len() {
        order[i] = x.len() - 1 - i;
    }
    let mut total = 0.0;
    for i in 0..x.len() {
        order.swap(0, i);
        x.swap(order[0], order[i]);
        x[order[i]] *= k;
        order.rotate_left(1);
        total += x[order[0]] * x[i];
    }
    total
}

#[test]
fn exchanged() {
    check_rule(
        heat::rule,
        [
            (vec![0.5, 0.1, 0.9, 0.3], 0.1, 3),
            (vec![0.5, 0.1], 0.1, 4),
            (vec![0.3, 0.7, 0.2], 0.2, 1),
            (vec![], 0.1, 2),
        ],
    );
    check_rule(
        swapped_at_times::rule,
        [(vec![0.5, -0.2, 0.3, 0.7], 0.7), (vec![-0.4], 1.2), (vec![0.4, 0.5], 1.2)],
    );
    check_rule(
        swapped_numbers::rule,
        [(0.5, 0.7, vec![0.3, 0.9]), (0.5, 0.2, vec![]), (1.5, 0.2, vec![0.1, 0.2, 0.3])],
    );
    check_rule(replaced::rule, [(0.5, 0.7, vec![0.3, 0.9, 0.2]), (1.5, 0.2, vec![0.1, 0.2, 0.3])]);
}

#[test]
fn elements() {
    check_rule(swapped_elements::rule, [(vec![0.5, 0.2, 0.3], 0.7), (vec![0.4], 1.2), (vec![0.4, 0.5], 1.2)]);
    check_rule(
        determinant::rule,
        [(vec![0.5, 0.2, 0.3, 0.9], 2), (vec![0.1, 0.7, 0.3, 0.9, 0.4, 0.1, 0.2, 0.5, -0.6], 3)],
    );
    check_rule(rows::rule, [(vec![0.5, 0.2, 0.3, 0.7, 0.1, 0.4], 3, 0.7), (vec![0.4, 0.2], 2, 1.2)]);
    check_rule(with_integers::rule, [(vec![0.5, 0.2, 0.3, 0.9], 0.7), (vec![0.4, 0.2], 1.2), (vec![], 1.0)]);
}

#[test]
fn whole_buffers() {
    check_rule(
        filled::rule,
        [(vec![0.5, 0.2, 0.3], 0.7, vec![0.3, 0.1]), (vec![0.4, 0.1, 0.2, 0.3], 1.2, vec![0.7])],
    );
    check_rule(filled_parts::rule, [([0.5, 0.2, 0.3, 0.4], 0.7), ([0.4, 0.1, 0.2, 0.3], 1.2)]);
    check_rule(
        permuted::rule,
        [
            (vec![0.5, 0.2, 0.3], vec![0.7, 0.3, 1.1], 2),
            (vec![0.4, 0.1, 0.2, 0.3], vec![1.2, 0.7, 0.9, 0.4], 5),
        ],
    );
    CheckRule::new(copied_within::rule)
        .inputs([(vec![0.5, 0.2, 0.3, 0.9], 0.7), (vec![0.4, 0.2, 0.1, 0.8, 0.6], 1.2)])
        .panicking((vec![0.5], 1.0))
        .run();
}
