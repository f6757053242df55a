//! `for` over ranges and `while`.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn ranges(x: &[f64], k: f64) -> f64 {
    let n = x.len();
    let mut s = k;
    for i in (0..n).rev() {
        s = s * 0.5 + x[i];
    }
    for i in (0..n).step_by(2) {
        s = s.sin() * x[i] + s;
    }
    for i in (1..n).rev().step_by(2) {
        s += s * x[i] * x[i - 1];
    }
    for i in 1..=3 {
        s *= 1.0 + k / i as f64;
    }
    for i in (0..=n).rev() {
        s += k * s * i as f64 * 0.1;
    }
    for i in (0..n).step_by(3).rev() {
        s = s * k + x[i] * s;
    }
    s
}

#[differentiable]
fn inclusive_steps(x: &[f64], k: f64) -> f64 {
    let mut s = k;
    for i in (1..=x.len()).step_by(2) {
        s = s * x[i - 1] + k;
    }
    for i in (1..=x.len()).rev().step_by(3) {
        s = s * x[i - 1] + s * k;
    }
    s
}

#[differentiable]
fn signed(x: &[f64], n: i64) -> f64 {
    let mut s = 1.0;
    for i in -n..n {
        s = s * 0.9 + x[i.unsigned_abs() as usize % x.len()] * i as f64;
    }
    for i in (-n..=n).step_by(2) {
        s = s * s * 0.1 + i as f64 * x[0];
    }
    s
}

#[differentiable]
fn triangle(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut product = 1.0;
        for j in 0..i {
            product *= x[j] * x[i];
            for k in j..i {
                total += product * x[k];
            }
        }
        total = total * 0.5 + product;
    }
    total
}

/// The inner bound is an integer that the loop changes.
#[differentiable]
fn changing_bounds(x: &[f64]) -> f64 {
    let mut from = 0;
    let mut to = 1;
    let mut s = 1.0;
    for i in 0..x.len() {
        for j in from..to {
            s = s * 0.7 + x[j] * s * x[i];
        }
        if x[i] > 0.0 {
            from = i / 2;
        }
        to = i + 1;
    }
    s * x[from]
}

#[differentiable]
fn counters(x: &[f64], n: usize) -> f64 {
    let mut l = 0;
    let mut s = 0.5;
    for i in 0..n {
        for _ in 0..i % 3 {
            s += x[l % x.len()] * s;
            l += 1;
        }
        s *= x[l % x.len()];
        l += 2;
    }
    s + x[l % x.len()]
}

#[differentiable]
fn newton(a: f64, #[constant] tolerance: f64) -> f64 {
    let mut x = a;
    while (x * x - a).abs() > tolerance {
        x = 0.5 * (x + a / x);
    }
    x
}

#[differentiable]
fn nested_while(x: &[f64], k: f64) -> f64 {
    let mut i = 0;
    let mut total = k;
    while i < x.len() {
        let mut y = x[i];
        let mut steps = 0;
        while y > 0.1 && steps < 5 {
            y *= k;
            total += y * total;
            steps += 1;
        }
        if steps > 2 {
            total *= 0.5;
        }
        i += 1;
    }
    total
}

#[differentiable]
fn carried(x: &[f64], n: usize) -> f64 {
    let mut a = 1.0;
    let mut b = 0.5;
    let mut c = 0.0;
    for i in 0..n {
        let old = a;
        a = b * x[i % x.len()];
        b = old + c;
        c = c + a * b;
        let old = a * c;
        a += old;
    }
    a + b * c
}

#[differentiable]
fn powers(x: f64, n: usize) -> f64 {
    let mut p = 1.0;
    let mut total = 0.0;
    for k in 1..n {
        p *= x;
        total += p / k as f64;
        p = p * (1.0 - 0.1 * total);
    }
    total * p
}

#[differentiable]
fn in_blocks(x: &[f64], k: f64) -> f64 {
    let total = {
        let mut s = 0.0;
        for i in 0..x.len() {
            s += {
                let q = x[i] * k;
                q * q * s + q
            };
        }
        s
    };
    if k > 0.0 {
        let mut s = total;
        let mut i = 0;
        while i + 1 < x.len() {
            s = s * x[i + 1];
            i += 1;
        }
        s
    } else {
        total * k
    }
}

/// All of these are fresh in each iteration.
#[differentiable]
fn fresh(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut s = x[i];
        s *= s;
        let s2 = s * x[0];
        s += s2;
        let late;
        if s > 1.0 {
            late = s * s2;
        } else {
            late = s;
        }
        total += late * s;
    }
    total
}

#[differentiable]
fn dead_loops(x: &[f64], k: f64) -> f64 {
    let mut unread = 0.0;
    for i in 0..x.len() {
        unread += x[i] * k;
    }
    let mut n = 0;
    for _ in 0..3 {
        n += x.len();
    }
    while n > 10 {
        n -= 1;
    }
    k * n as f64
}

#[differentiable]
fn alias_of_a_window(x: &[f64], width: usize) -> f64 {
    let mut k = 0;
    let mut total = 0.0;
    while k + width <= x.len() {
        let row = &x[k..k + width];
        k += 1;
        for i in 0..row.len() {
            total += row[i] * row[0] * k as f64;
        }
    }
    total
}

#[test]
fn over_ranges() {
    check_rule(
        ranges::rule,
        [(vec![0.5, -0.4, 1.0, 0.3, 0.8], 0.7), (vec![], 0.5), (vec![0.5], 0.5), (vec![0.5, 0.1], 0.5)],
    );
    check_rule(
        inclusive_steps::rule,
        [(vec![0.5, -0.4, 1.0, 0.3, 0.8, 0.6], 0.7), (vec![], 0.5), (vec![0.5], 0.5)],
    );
    check_rule(signed::rule, [(vec![0.5, -0.4, 1.0], 4), (vec![0.3], 0), (vec![0.2, 0.4], 1)]);
    check_rule(triangle::rule, [vec![0.5, -0.4, 1.0, 0.3], vec![0.2], vec![]].map(|x| (x,)));
    check_rule(
        changing_bounds::rule,
        [vec![0.5, -0.4, 1.0, 0.3, 0.7], vec![0.2], vec![0.3, 0.4]].map(|x| (x,)),
    );
    check_rule(counters::rule, [(vec![0.5, -0.4, 1.0, 0.3], 7), (vec![0.2], 0), (vec![0.2, 0.3], 3)]);
}

#[test]
fn that_end_when_they_like() {
    CheckRule::new(newton::rule).inputs([(2.0, 1e-9), (9.0, 1e-12), (1.0, 0.5)]).tolerance(1e-4).run();
    check_rule(nested_while::rule, [(vec![0.5, -0.4, 1.0], 0.7), (vec![], 0.5), (vec![0.9], 0.3)]);
}

#[test]
fn with_carried_variables() {
    check_rule(carried::rule, [(vec![0.5, -0.4, 1.0], 4), (vec![0.3], 0), (vec![0.2, 0.4], 1)]);
    check_rule(powers::rule, [(0.5, 6), (0.3, 0), (0.3, 2)]);
    check_rule(in_blocks::rule, [(vec![0.5, -0.4, 1.0], 0.7), (vec![], 0.5), (vec![0.9], -0.3)]);
    check_rule(fresh::rule, [vec![0.5, -0.4, 1.4], vec![]].map(|x| (x,)));
    check_rule(dead_loops::rule, [(vec![0.5, -0.4, 1.0, 2.0], 0.7), (vec![], 0.5)]);
    check_rule(alias_of_a_window::rule, [(vec![0.5, -0.4, 1.0, 2.0], 2), (vec![], 1), (vec![0.9], 1)]);
}

/// Rows of flat matrices in loops that have no iterations for some of them, where the row would start below zero.
#[differentiable]
fn rows_of_flat_matrices(w: &[f64], v: &Vec<f64>, u: &[f64; 12], x: &[f64], width: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let n = if i == 0 { 0 } else { width };
        let mut s = 1.0;
        for j in 0..n {
            s *= w[(i - 1) * n + j] + u[j + 2 * i];
            // Not in every iteration.
            if j + 1 < n && i + 1 < x.len() {
                s += v[i * n + j + 1] * x[j % 2];
            }
            let next = if i + 1 < x.len() { w[i * n + j] } else { x[i] };
            s -= next * next;
        }
        for j in 0..i {
            s += v[i + j] * s * w[j + i];
        }
        total += s * x[i];
    }
    total
}

#[test]
fn rows() {
    let wave = |n: usize| -> Vec<f64> { (0..n).map(|i| 0.7 + 0.3 * (0.9 * i as f64).sin()).collect() };
    let u: [f64; 12] = std::array::from_fn(|i| 0.1 * i as f64 - 0.5);
    check_rule(
        rows_of_flat_matrices::rule,
        [(3, 3), (1, 0), (3, 2), (0, 1)].map(|(len, width)| (wave(12), wave(12), u, wave(len), width)),
    );
}

/// Without an end of its own.
#[differentiable]
fn counted_upwards(x: &[f64], k: f64) -> f64 {
    let mut total = k;
    'terms: for i in 0.. {
        for j in i.. {
            if j >= x.len() {
                break;
            }
            total += x[i] * x[j] * k;
            if total > 3.0 {
                break 'terms;
            }
        }
        if i % 2 == 1 {
            total *= x[i];
            continue;
        }
        if i + 1 >= x.len() {
            break;
        }
        total *= 1.0 - 0.1 * x[i];
    }
    total
}

/// What a table calls its rows carries no gradient.
#[differentiable]
fn with_labels(x: &[f64], k: f64) -> f64 {
    let limits: [(&str, f64); 2] = [("first", x[0] - k), ("last", x[x.len() - 1] * k)];
    let mut total = 0.0;
    for (name, limit) in limits.iter() {
        if *limit > 0.0 && !name.is_empty() {
            total += limit * limit;
        }
    }
    total
}

#[test]
fn without_an_end() {
    check_rule(
        counted_upwards::rule,
        [(vec![0.5, 0.7, 0.4], 0.6), (vec![0.9, 1.4, 1.2, 0.3, 0.5], 0.8), (vec![0.2], 0.3)],
    );
    check_rule(with_labels::rule, [(vec![0.5, 0.7, 0.4], 0.4), (vec![0.9, 0.8], 0.3)]);
}
