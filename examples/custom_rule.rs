//! Rules by hand, for functions that the attribute cannot look into or that a formula serves better:
//! `cargo run --release --example custom_rule`.
//!
//! Fits the width of a smoothing kernel to a noisy signal by a robust, *sorted* loss (the largest deviations are left
//! out as outliers). Three functions have a rule by hand: a sort, which remembers its permutation; the error function,
//! which is a series; and the number of deviations that count, which has no derivative.

use std::f64::consts::PI;

use pullback::prelude::*;
use pullback::testing::{CheckRule, CountingAllocator, allocations_in};
use pullback::{DualMut, Saved};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Sorts in ascending order, in place.
pub fn sort(x: &mut [f64]) {
    x.sort_unstable_by(f64::total_cmp);
}

/// What one call of `sort` keeps: which element came from where, and what was overwritten. The engine makes one of these
/// for each call that waits for its pullback, and reuses it, so that the vectors are allocated once.
#[derive(Default, Rule)]
#[rule(pub fn sort(x: &mut [f64]))]
struct Sort {
    old: Saved<f64>,
    order: Vec<usize>,
    gradient: Vec<f64>,
}

impl Sort {
    fn forward(&mut self, x: &mut [f64]) {
        self.old.save(x);
        self.order.clear();
        self.order.extend(0..x.len());
        let old = self.old.get().unwrap_or_default();
        self.order.sort_unstable_by(|&i, &j| old[i].total_cmp(&old[j]));
        sort(x);
    }

    /// A permutation: each gradient goes back to where its element came from.
    fn pullback(&mut self, x: DualMut<'_, [f64]>) {
        self.old.restore(x.value);
        self.gradient.clear();
        self.gradient.extend((0..x.value.len()).map(|i| x.shadow.take(|d| &d[i])));
        for (&from, &d) in self.order.iter().zip(&self.gradient) {
            x.shadow.accumulate(|dx| &dx[from], d);
        }
    }
}

/// The error function, 2/√π ∫₀ˣ exp(−t²) dt, by its Taylor series (small arguments) or as a tail (large ones).
pub fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    // Σ 2ⁿ x²ⁿ⁺¹ / (2n+1)!!, all terms of one sign (Abramowitz & Stegun 7.1.6)
    let (mut term, mut sum, mut n) = (x, x, 0.0);
    while term.abs() > f64::EPSILON * 1e-3 * sum.abs() {
        n += 1.0;
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
    }
    2.0 / PI.sqrt() * (-x * x).exp() * sum
}
scalar_rule!(pub fn erf(x: f64) -> f64 => 2.0 / PI.sqrt() * (-x * x).exp());

/// How many of `x` are no outliers: a number without derivative.
pub fn inliers(x: &[f64]) -> usize {
    let median = x[x.len() / 2];
    x.iter().filter(|x| **x <= 6.0 * median).count()
}
non_differentiable!(pub fn inliers(x: &[f64]) -> usize);

/// The loss of a step of height `height` at `position`, blurred by `width`; the deviations end up in `scratch`.
#[differentiable]
fn loss(height: f64, position: f64, width: f64, #[constant] signal: &[f64], scratch: &mut [f64]) -> f64 {
    for i in 0..signal.len() {
        let model = 0.5 * height * (1.0 + erf((i as f64 - position) / width));
        scratch[i] = (model - signal[i]).abs();
    }
    sort(scratch);
    let count = inliers(scratch);
    let mut total = 0.0;
    for i in 0..count {
        total += scratch[i] * scratch[i];
    }
    total / count as f64
}

fn main() {
    // A blurred step, two wild values and a ripple.
    let signal: Vec<f64> = (0..40)
        .map(|i| {
            let outlier = if i % 17 == 5 { 9.0 } else { 0.0 };
            1.5 * (1.0 + erf((i as f64 - 18.25) / 4.0)) + 0.05 * (2.0 * i as f64).sin() + outlier
        })
        .collect();
    let mut scratch = vec![0.0; signal.len()];

    // Each of them keeps the contract of rules, and so does the function made of them.
    CheckRule::new(sort::rule).input((vec![0.5, -1.0, 2.0, 0.25],)).input((vec![],)).run();
    CheckRule::new(erf::rule).inputs([0.1, -0.9, 2.5].map(|x| (x,))).run();
    CheckRule::new(inliers::rule).inputs([vec![0.5, 1.0, 9.0], vec![1.0]].map(|x| (x,))).run();
    CheckRule::new(loss::rule).input((2.5, 16.0, 3.0, signal.clone(), scratch.clone())).run();

    let mut gradient = loss::gradient();
    let at = [2.5, 16.0, 3.0];
    let value = |p: [f64; 3]| loss(p[0], p[1], p[2], &signal, &mut vec![0.0; signal.len()]);
    let (_, d) = gradient.value_and_gradient(at[0], at[1], at[2], &signal, &mut scratch);
    println!("{:>10}  {:>12}  {:>18}", "", "derived", "finite differences");
    for (i, (name, derived)) in
        [("height", d.height), ("position", d.position), ("width", d.width)].iter().enumerate()
    {
        let moved = |h: f64| {
            let mut p = at;
            p[i] += h;
            value(p)
        };
        let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        println!("{name:>10}  {derived:12.9}  {difference:18.9}");
        assert!((derived - difference).abs() < 1e-7, "the gradient is wrong");
    }
    let ((), allocations) = allocations_in(|| {
        gradient.value_and_gradient(at[0], at[1], at[2], &signal, &mut scratch);
    });
    println!("\nallocations in the second call: {allocations}");
    assert_eq!(allocations, 0);

    let mut p = at;
    for _ in 0..4000 {
        let (_, d) = gradient.value_and_gradient(p[0], p[1], p[2], &signal, &mut scratch);
        p[0] -= 0.2 * d.height;
        p[1] -= 5.0 * d.position;
        p[2] -= 5.0 * d.width;
    }
    println!(
        "fitted: height {:.3}, position {:.3}, width {:.3} (3, 18.25 and 4 were put in)",
        p[0], p[1], p[2]
    );
    assert!(
        (p[0] - 3.0).abs() < 0.1 && (p[1] - 18.25).abs() < 0.1 && (p[2] - 4.0).abs() < 0.3,
        "not fitted yet"
    );
}
