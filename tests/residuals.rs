//! What the iterations of a loop keep for the reverse pass, in bytes: nothing that can be had otherwise.

#![allow(clippy::all, reason = "functions as users write them")]

use pullback::State as _;
use pullback::prelude::*;

#[differentiable]
fn sum_of_squares(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i] * x[i];
    }
    total
}

#[differentiable]
fn long_body(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let a = (x[i] * k).sin();
        let b = a.exp() / (1.0 + a * a);
        let c = if b > 1.0 { b.ln() } else { a * b };
        total += c * b - a;
    }
    total
}

#[differentiable]
fn sum_of_sines(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += (x[i] * k).sin() / (1.0 + x[i].sqrt());
    }
    total
}

/// As many exponentials as pairs are more than there are elements.
#[differentiable]
fn all_pairs(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        for j in 0..i {
            let r = x[i] - x[j];
            total += (-k * r * r).exp();
        }
    }
    total * total
}

#[differentiable]
fn product(x: &[f64]) -> f64 {
    let mut p = 1.0;
    for i in 0..x.len() {
        p *= x[i];
    }
    p
}

#[differentiable]
fn linear_recurrence(x: &[f64], a: f64) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        s = 0.5 * s + x[i] * a;
    }
    s
}

#[differentiable]
fn logistic(s: f64, p: f64) -> f64 {
    p * s * (1.0 - s)
}

#[differentiable]
fn recurrence(x: &[f64], p: f64) -> f64 {
    let mut s = p;
    for i in 0..x.len() {
        s = logistic(s, x[i]);
    }
    s
}

#[differentiable]
fn branching_recurrence(x: &[f64], p: f64) -> f64 {
    let mut s = p;
    for i in 0..x.len() {
        if s > 0.3 {
            s = s * s * x[i];
        } else {
            s += x[i];
        }
    }
    s
}

#[differentiable]
fn in_place(x: &mut [f64], k: f64) -> f64 {
    for i in 0..x.len() {
        x[i] = (x[i] * k).sin();
    }
    x[0]
}

/// The condition is evaluated again.
#[differentiable]
fn clip(x: &mut [f64]) {
    for i in 0..x.len() {
        if x[i] < 0.5 {
            x[i] = 0.5;
        }
    }
}

/// Each element is overwritten again and again, and kept once.
#[differentiable]
fn add_outer_product(x: &mut [f64], y: &[f64], rounds: usize) {
    for r in 0..rounds {
        for i in 0..x.len() {
            x[i] += y[i] * y[r];
        }
    }
}

/// Of each column two copies and two numbers, however often an element of it is overwritten.
#[differentiable]
fn cholesky(a: &mut [f64], n: usize) {
    for j in 0..n {
        for k in 0..j {
            for i in j..n {
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
            }
        }
        let pivot = a[j * n + j].sqrt();
        for i in j..n {
            a[i * n + j] /= pivot;
        }
    }
}

#[differentiable]
fn local_buffer(x: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    for i in 0..x.len() {
        sums[i % 4] += x[i] * x[i];
    }
    sums[0] * sums[1] + sums[2] * sums[3]
}

#[differentiable]
fn integers(x: &[f64], lookup: &[usize]) -> f64 {
    let mut total = 0.0;
    let mut at = 0;
    for i in 0..lookup.len() {
        at = (at + lookup[i] * 7 + i) % x.len();
        total += x[at] * x[i];
    }
    total
}

#[differentiable]
fn runge_kutta(x: &[f64], k: f64) -> f64 {
    let (mut q, mut p) = (1.0, 0.0);
    for i in 0..x.len() {
        let h = x[i];
        let (q1, p1) = (p, -k * q);
        let (q2, p2) = (p + 0.5 * h * p1, -k * (q + 0.5 * h * q1));
        q += h * q2;
        p += h * p2;
    }
    q * p
}

#[differentiable]
fn search(x: &[f64], k: f64) -> f64 {
    let mut y = k;
    let mut i = 0;
    while i < x.len() {
        y -= (y * y - k) / (2.0 * y) * x[i];
        i += 1;
    }
    y
}

#[differentiable]
fn nested(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut inner = x[i];
        for j in 0..4 {
            inner = inner * x[(i + j) % x.len()];
        }
        total += inner;
    }
    total
}

#[differentiable]
fn stored(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    #[pullback(store)]
    for i in 0..x.len() {
        let a = (x[i] * k).sin();
        total += a * a;
    }
    total
}

/// A long body, of which each iteration keeps but what it starts from.
#[differentiable]
fn recomputed(x: &[f64], k: f64) -> f64 {
    let mut y = k;
    #[pullback(recompute)]
    for i in 0..x.len() {
        let mut z = logistic(y, x[i]);
        for _ in 0..10 {
            z = z * z + 0.1 * y;
        }
        y = z;
    }
    y
}

#[differentiable]
fn from_checkpoints(x: &mut [f64], k: f64) -> f64 {
    let mut weights = [k; 4];
    let mut y = k;
    #[pullback(checkpoint = 8)]
    for i in 0..x.len() {
        y = logistic(y, x[i]);
        weights[i % 4] *= y;
    }
    weights[0] * weights[3]
}

#[differentiable]
fn orbit(x: f64) -> f64 {
    let mut y = x;
    for _ in 0..50 {
        y = logistic(y, 0.4);
    }
    y
}

/// Behind the loop that keeps most is one that keeps its exponentials.
#[differentiable]
fn orbits(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += orbit(x[i]);
    }
    let mut weights = 0.0;
    for i in 0..x.len() {
        weights += x[i].exp();
    }
    total - weights.ln()
}

/// What one more iteration adds to what is kept.
macro_rules! per_iteration {
    ($function:ident: |$x:ident| $args:expr) => {{
        let kept = |n: usize| {
            let mut data: Vec<f64> = (0..n).map(|i| 0.2 + 0.6 * (i as f64).sin().abs()).collect();
            let $x = &mut data[..];
            let mut rule = $function::rule();
            let (_, residual) = rule.forward($args);
            rule.pending() + size_of_val(&residual)
        };
        (kept(48) - kept(16)) as f64 / 32.0
    }};
}

/// The quotient is where it was assigned to, so that nobody needs the sum.
#[differentiable]
fn forward_substitution(x: &[f64], k: f64) -> f64 {
    let mut z = vec![0.0; x.len()];
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut s = 1.0;
        for j in 0..i {
            s -= k * z[j];
        }
        z[i] = s / x[i];
        total += z[i];
    }
    total
}

#[test]
fn of_sums() {
    assert_eq!(per_iteration!(sum_of_squares: |x| sum_of_squares::args(x)), 0.0);
    assert_eq!(per_iteration!(sum_of_sines: |x| sum_of_sines::args(x, 0.7)), 0.0);
    assert_eq!(per_iteration!(all_pairs: |x| all_pairs::args(x, 0.7)), 0.0);
    // The exponential, which is its own derivative; what is made of it is made again.
    assert_eq!(per_iteration!(long_body: |x| long_body::args(x, 0.7)), 8.0);
    assert_eq!(per_iteration!(local_buffer: |x| local_buffer::args(x)), 0.0);
}

#[test]
fn of_recurrences() {
    assert_eq!(per_iteration!(product: |x| product::args(x)), 8.0);
    assert_eq!(per_iteration!(linear_recurrence: |x| linear_recurrence::args(x, 0.7)), 0.0);
    assert_eq!(per_iteration!(recurrence: |x| recurrence::args(x, 0.7)), 8.0);
    // The value, and which way it went.
    assert_eq!(per_iteration!(branching_recurrence: |x| branching_recurrence::args(x, 0.7)), 16.0);
    assert_eq!(per_iteration!(runge_kutta: |x| runge_kutta::args(x, 0.7)), 16.0);
    assert_eq!(per_iteration!(search: |x| search::args(x, 0.7)), 8.0);
    // Of each of four.
    assert_eq!(per_iteration!(nested: |x| nested::args(x)), 32.0);
}

#[test]
fn of_annotated_loops() {
    // The sine and its derivative; without the annotation they are computed again.
    assert_eq!(per_iteration!(stored: |x| stored::args(x, 0.7)), 16.0);
    assert_eq!(per_iteration!(recomputed: |x| recomputed::args(x, 0.7)), 8.0);
    // One number and an array of four for every eight iterations.
    assert_eq!(per_iteration!(from_checkpoints: |x| from_checkpoints::args(x, 0.7)), 5.0);
}

#[test]
fn of_writes() {
    // The overwritten element, which the caller wants back. As something is kept, so is the derivative of the sine, which
    // takes longer to compute once more.
    assert_eq!(per_iteration!(in_place: |x| in_place::args(x, 0.7)), 16.0);
    assert_eq!(per_iteration!(clip: |x| clip::args(x)), 8.0);
    // Again the overwritten element alone.
    assert_eq!(per_iteration!(forward_substitution: |x| forward_substitution::args(x, 0.7)), 8.0);
    let y = [0.3; 48];
    assert_eq!(per_iteration!(add_outer_product: |x| add_outer_product::args(x, &y, 9)), 8.0);
    let mut a: Vec<f64> = (0..64).map(|e| if e % 9 == 0 { 2.0 } else { 0.1 }).collect();
    let mut rule = cholesky::rule();
    rule.forward(cholesky::args(&mut a, 8));
    // The first column is divided only.
    assert_eq!(rule.pending(), 8 * ((8 + 2 * (7 * 8 / 2)) + 2 * 8));
}

#[test]
fn of_integers() {
    let lookup: Vec<usize> = (0..48).map(|i| i * i % 13).collect();
    assert_eq!(per_iteration!(integers: |x| integers::args(x, &lookup[..x.len()])), 8.0);
}

/// An orbit is through before the next one begins: of its fifty numbers nothing is there any more.
#[test]
fn of_both_passes_at_once() {
    let held = |n: usize| {
        let mut g = orbits::gradient();
        g.value_and_gradient(&vec![0.3; n]);
        g.memory()
    };
    // The gradient, and an exponential at most.
    assert!(held(48) - held(16) <= 32 * 16, "{} {}", held(48), held(16));
}
