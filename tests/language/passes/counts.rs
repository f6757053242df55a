//! Integers that count, `k += 1`, of which the reverse pass keeps nothing wherever it can count back.

use pullback::prelude::*;
use pullback::testing::CheckRule;

/// The lower triangle of a matrix in rows, one after the other.
#[differentiable]
fn triangle(l: &[f64], x: &[f64], y: &mut [f64]) -> f64 {
    let mut k = 0;
    for i in 0..x.len() {
        let mut sum = 0.0;
        for j in 0..i + 1 {
            sum += l[k] * x[j] * l[k];
            k += 1;
        }
        y[i] *= sum;
    }
    let mut energy = 0.0;
    for i in 0..x.len() {
        energy += y[i] * y[i] * l[k - 1];
    }
    energy
}

/// The upper one, by steps of its own, whose iterations follow those of another loop.
#[differentiable]
fn rest_of_triangle(l: &[f64], x: &[f64], #[constant] n: usize) -> f64 {
    let mut at = 1;
    let mut sum = 0.0;
    for i in 0..n {
        sum += l[at - 1] * x[i];
        for j in i + 1..n {
            at += 2;
            sum *= 0.5 + 0.1 * l[at] * x[j];
            at -= 1;
        }
        at += 1;
    }
    sum * l[at - 1]
}

#[differentiable]
fn while_up(x: &[f64], k: f64) -> f64 {
    let mut y = k;
    let mut i = 0;
    while i < x.len() {
        y = y.sin() + y * x[i];
        i += 1;
    }
    y
}

#[differentiable]
fn while_down(x: &[f64], k: f64) -> f64 {
    let mut y = k;
    let mut i = x.len();
    while i > 0 {
        i -= 1;
        y = y.sin() + y * x[i];
    }
    y * i as f64 + y
}

/// From both ends, with what is read before and after a step, and between two.
#[differentiable]
fn both_ends(x: &[f64]) -> f64 {
    let (mut i, mut j) = (0, x.len());
    let mut sum = 0.0;
    let mut last = 1.0;
    while i < j {
        let a = x[i] * last;
        i += 1;
        j -= 1;
        let b = x[j] * a;
        last = (a + x[i - 1]) * b + 0.3;
        i += 1;
        sum += last * x[i - 2];
        i -= 1;
    }
    sum * last
}

/// Steps that nothing is known of: in a branch, in a loop that is left, and of a range that counts itself.
#[differentiable]
fn unknown_steps(x: &[f64], k: f64) -> f64 {
    let mut y = k;
    let (mut positive, mut looked, mut triangular) = (0_usize, 0, 0);
    let mut rows = 0;
    for i in 0..x.len() {
        if x[i] > 0.0 {
            positive += 1;
        }
        for j in 0..x.len() {
            looked += 1;
            if x[j] * y > 0.4 {
                break;
            }
        }
        for _ in 0..rows {
            triangular += 1;
        }
        for _ in 0..triangular {
            rows += 1;
            rows %= 5;
        }
        rows += 1;
        y = y * x[(positive + looked + triangular + rows) % x.len()] + x[positive % x.len()] + 0.1 * y.cos();
    }
    y
}

/// What each step adds depends on what it has added before.
#[differentiable]
fn of_each_other(x: &[f64], k: f64) -> f64 {
    let (mut a, mut b) = (1, 1);
    let mut y = k;
    for i in 0..x.len() {
        for _ in 0..b % 3 {
            a += 1;
        }
        for _ in 0..a % 4 {
            b += 1;
        }
        y = y * x[(a * b) % x.len()] + (0.1 * y * x[i]).sin();
    }
    y
}

#[differentiable]
fn skipped(x: &[f64], k: f64) -> f64 {
    let mut y = k;
    let (mut i, mut skipped) = (0, 0);
    while i < x.len() {
        i += 1;
        if x[i - 1] < 0.0 {
            skipped += 1;
            continue;
        }
        y = y * x[i - 1] + x[skipped].cos() * y.sin();
        if y > 8.0 {
            break;
        }
    }
    y * (i + skipped) as f64
}

/// Small integers, and integers of several types.
#[differentiable]
fn of_other_types(x: &[f64], k: f64) -> f64 {
    let mut small = 250_u8;
    let mut signed = -3_i32;
    let mut wide = 7_i128;
    let mut y = k;
    for i in -2_i64..3 {
        y = y * x[(small as usize + (i + 2) as usize) % x.len()] + signed as f64 * 0.1 * y.sin();
        small += 1;
        signed += 2;
        wide -= 3;
        y *= 1.0 + 0.01 * wide as f64;
    }
    y
}

/// Ranges that are not `a..b`, empty ones, and ones that end before they start.
#[differentiable]
fn of_other_ranges(x: &[f64], k: f64, #[constant] from: usize) -> f64 {
    let mut y = k;
    let mut n = 0;
    for i in (0..x.len()).rev() {
        y = y * x[n] + x[i].sin() * y;
        n += 1;
    }
    for i in (0..x.len()).step_by(2) {
        y = y * x[n - 1 - i] + 0.5 * y.cos();
        n += 1;
    }
    for i in 0..=x.len() {
        for _ in from..i {
            n += 1;
        }
        for _ in (0..i).rev() {
            n -= 1;
        }
        n += i;
        y = 0.5 * y * x[n % x.len()] + y.sin();
    }
    for i in from..2 {
        n += 1;
        y = y * x[(n + i) % x.len()] + y.sin();
    }
    y * n as f64
}

/// The same name again and again: in an inner scope, counted by several loops, set anew.
#[differentiable]
fn set_anew(x: &[f64], k: f64) -> f64 {
    let mut n = 0;
    let mut y = k;
    for _ in 0..2 {
        let mut n = n + 1;
        for i in 0..x.len() {
            y = y * x[(n + i) % x.len()] + y.sin();
            n += 1;
        }
        y *= x[n % x.len()];
    }
    for i in 0..x.len() {
        y = y * x[(n + i) % x.len()] + y.cos();
        n += 1;
    }
    for i in 0..x.len() {
        if i % 3 == 2 {
            n = 0;
        }
        y = y * x[n % x.len()] + y.cos();
        n += 1;
    }
    y
}

#[differentiable]
fn advance(at: &mut usize, x: &[f64]) -> f64 {
    *at += 1;
    x[*at - 1]
}

/// Somebody else has a hand in it.
#[differentiable]
fn lent(x: &[f64], k: f64) -> f64 {
    let (mut at, mut calls) = (0, 0);
    let mut y = k;
    while at < x.len() {
        let next = advance(&mut at, x);
        y = y * next + (y * x[calls % x.len()]).sin();
        calls += 1;
    }
    y
}

/// Elements at the count are overwritten.
#[differentiable]
fn overwritten(x: &mut [f64], w: &[f64]) -> f64 {
    let mut at = 0;
    let mut carry = 1.0;
    for i in 0..w.len() {
        for j in 0..2 {
            x[at] = x[at] * x[at] * w[(i + j) % w.len()] + carry;
            carry *= x[at] * 0.3;
            at += 1;
        }
    }
    for i in 0..w.len() {
        at -= 1;
        x[at] *= w[i];
        carry += x[at] * x[i];
        at -= 1;
    }
    carry
}

/// Lengths of rows in one flat slice.
#[differentiable]
fn ragged(x: &[f64], #[constant] lengths: &[usize], k: f64) -> f64 {
    let mut y = k;
    let mut at = 0;
    for row in 0..lengths.len() {
        let mut sum = 0.0;
        for _ in 0..lengths[row] {
            sum += x[at] * x[at];
            at += 1;
        }
        y = (y + sum).ln() * y;
    }
    y * at as f64
}

/// Lengths that the function changes.
#[differentiable]
fn growing_rows(x: &[f64], k: f64) -> f64 {
    let mut lengths = vec![1; 3];
    let mut y = k;
    let mut at = 0;
    for row in 0..6 {
        for _ in 0..lengths[row % 3] {
            y = 0.5 * y * x[at % x.len()] + y.sin();
            at += 1;
        }
        lengths[(row * 2) % 3] += 1;
    }
    y
}

#[differentiable]
fn three_deep(x: &[f64], #[constant] n: usize) -> f64 {
    let mut at = 0;
    let mut product = 1.0;
    for i in 0..n {
        for j in 0..n {
            for k in j..n {
                product *= 1.0 + 0.1 * x[at % x.len()] * x[(i + k) % x.len()];
                at += 1;
            }
        }
    }
    product
}

#[differentiable]
fn annotated(x: &[f64], k: f64) -> f64 {
    let mut y = k;
    let mut i = 0;
    #[pullback(checkpoint = 2)]
    while i < x.len() {
        y = y * x[i] + y.sin();
        i += 1;
    }
    #[pullback(store)]
    for j in 0..x.len() {
        i -= 1;
        y = y * x[i] + (y * x[j]).sin();
    }
    y
}

/// By a closure, and in a function that calls itself.
#[differentiable]
fn halves(x: &[f64], k: f64) -> f64 {
    let mut i = 0;
    let mut y = k;
    while i < x.len() {
        y = y * x[i] + y.cos();
        i += 1;
    }
    if x.len() < 2 {
        return y;
    }
    let half = |z: f64| {
        let mut n = x.len();
        let mut z = z;
        for _ in 0..x.len() / 2 {
            n -= 1;
            z = z * x[n] + z.sin();
        }
        z
    };
    half(y) + halves(&x[..x.len() / 2], y)
}

/// Rows of a part that has a name and of a local vector, by an index of another type; behind the last element there is an empty one.
#[differentiable]
fn packed(x: &[f64], #[constant] n: usize) -> f64 {
    let (head, tail) = x.split_at(n);
    let mut scaled = vec![0.0; tail.len()];
    for (s, t) in scaled.iter_mut().zip(tail) {
        *s = t * head[0];
    }
    let mut k = 0;
    let mut total = 0.0;
    for i in 0..n {
        for j in i as i32 + 1..n as i32 {
            total += tail[k] * head[j as usize] * scaled[k] * head[i];
            k += 1;
        }
    }
    total * total
}

/// No rows: by twos, downwards, of what is written to meanwhile, and where not every iteration reads.
#[differentiable]
fn no_rows(x: &[f64], #[constant] n: usize) -> f64 {
    let mut y = x.to_vec();
    let (mut two, mut down, mut k, mut own) = (0, n, 0, 0);
    let mut total = 0.0;
    for i in 0..n {
        total += x[two] * x[i];
        two += 2;
        down -= 1;
        total *= 0.5 + 0.1 * x[down];
    }
    for i in 0..x.len() {
        y[own] = y[own] * x[i] * y[(i + 1) % n];
        own += 1;
    }
    for i in 0..2 * n {
        if i < n {
            total += x[k] * y[i];
        }
        k += 1;
    }
    total * y[0]
}

#[test]
fn of_rows() {
    let x = |n: usize| (0..n).map(|i| 0.9 - 0.17 * i as f64).collect::<Vec<_>>();
    CheckRule::new(packed::rule).input((x(10), 4)).input((x(3), 2)).input((x(1), 1)).run();
    CheckRule::new(no_rows::rule).input((x(6), 3)).input((x(4), 2)).run();
}

#[test]
fn of_triangles() {
    let l = |n: usize| (0..n).map(|i| 0.9 - 0.17 * i as f64).collect::<Vec<_>>();
    CheckRule::new(triangle::rule)
        .input((l(6), vec![0.3, 0.9, -0.4], vec![1.2, 0.4, -0.7]))
        .input((l(10), vec![0.3, 0.9, -0.4, 0.6], vec![1.2, 0.4, -0.7, 0.5]))
        .run();
    CheckRule::new(rest_of_triangle::rule)
        .input((l(9), vec![0.3, 0.9, -0.4], 3))
        .input((l(14), vec![0.3, 0.9, -0.4, 0.6], 4))
        .input((l(2), vec![], 0))
        .run();
    CheckRule::new(three_deep::rule).input((l(7), 3)).input((l(4), 2)).run();
}

#[test]
fn of_while_loops() {
    let x = |n| [0.3, 0.9, -0.4, 0.6, -0.2][..n].to_vec();
    CheckRule::new(while_up::rule).input((x(5), 0.7)).input((x(0), 0.7)).run();
    CheckRule::new(while_down::rule).input((x(5), 0.7)).input((x(2), 0.4)).run();
    CheckRule::new(both_ends::rule).input((x(5),)).input((x(4),)).run();
    CheckRule::new(skipped::rule).input((x(5), 0.7)).input((x(3), 0.4)).run();
    CheckRule::new(lent::rule).input((x(5), 0.7)).input((x(3), 0.4)).run();
    CheckRule::new(annotated::rule).input((x(5), 0.7)).input((x(3), 0.4)).run();
    CheckRule::new(halves::rule).input((x(5), 0.7)).input((x(3), 0.4)).run();
    CheckRule::new(skipped::rule).input((vec![3.0, 2.5, 0.1], 2.0)).input((vec![-0.1, 0.5], 0.4)).run();
}

#[test]
fn of_steps() {
    let x = [0.3, 0.9, -0.4, 0.6, -0.2];
    for n in [3, 5] {
        CheckRule::new(unknown_steps::rule).input((x[..n].to_vec(), 0.7)).input((x[..2].to_vec(), 0.3)).run();
        CheckRule::new(of_each_other::rule).input((x[..n].to_vec(), 0.7)).input((x[..2].to_vec(), 0.3)).run();
        CheckRule::new(of_other_types::rule)
            .input((x[..n].to_vec(), 0.7))
            .input((x[..2].to_vec(), 0.3))
            .run();
        CheckRule::new(set_anew::rule).input((x[..n].to_vec(), 0.7)).input((x[..2].to_vec(), 0.3)).run();
        CheckRule::new(of_other_ranges::rule)
            .input((x[..n].to_vec(), 0.7, 0))
            .input((x[..n].to_vec(), 0.3, 2))
            .input((x[..n].to_vec(), 0.3, 1))
            .run();
    }
}

#[test]
fn of_elements() {
    let w = [0.3, 0.9, -0.4];
    CheckRule::new(overwritten::rule)
        .input((vec![0.3, 0.9, -0.4, 0.6, -0.2, 0.8], w.to_vec()))
        .input((vec![0.3, 0.9, -0.4, 0.6], w[..2].to_vec()))
        .run();
    CheckRule::new(ragged::rule)
        .input((vec![0.3, 0.9, -0.4, 0.6, -0.2, 0.8], vec![2, 0, 3, 1], 1.5))
        .input((vec![0.3, 0.9], vec![1, 1], 1.2))
        .run();
    CheckRule::new(growing_rows::rule).input((w.to_vec(), 0.7)).input((w[..2].to_vec(), 0.4)).run();
}
