//! A rule of a user's, with functions as arguments.

use pullback::prelude::*;
use pullback::testing::{allocations_in, check_rule};
use pullback::{DualFn, DualMut, Mut, Ref, Saved, Val};

/// x = f(x), by iteration from `x`.
pub fn settle(f: impl Fn(&[f64], &mut [f64]), x: &mut [f64], rounds: usize) {
    let mut next = x.to_vec();
    for _ in 0..rounds {
        f(x, &mut next);
        x.copy_from_slice(&next);
    }
}

/// With w = x̄ + Jᵀw at the solution, θ̄ += (∂f/∂θ)ᵀ·w.
#[derive(Rule, Default)]
#[rule(pub fn settle(f: impl Fn(&[f64], &mut [f64]), x: &mut [f64], rounds: usize))]
struct Settle {
    old: Saved<f64>,
    next: Vec<f64>,
    w: Vec<f64>,
    seed: Vec<f64>,
    product: Vec<f64>,
}

impl Settle {
    fn forward(&mut self, f: impl Fn(&[f64], &mut [f64]), x: &mut [f64], rounds: usize) {
        self.old.save(x);
        self.next.clear();
        self.next.extend_from_slice(x);
        for _ in 0..rounds {
            f(x, &mut self.next);
            x.copy_from_slice(&self.next);
        }
    }

    fn pullback(
        &mut self,
        mut f: DualFn<'_, (Ref<[f64]>, Mut<[f64]>)>,
        x: DualMut<'_, [f64]>,
        rounds: usize,
    ) {
        let n = x.value.len();
        for buffer in [&mut self.w, &mut self.seed, &mut self.product] {
            buffer.resize(n, 0.0);
        }
        let bar: Vec<f64> = Vec::new();
        let _ = bar;
        for i in 0..n {
            self.product[i] = x.shadow.take(|d| &d[i]);
            self.w[i] = self.product[i];
        }
        let seeds = self.product.clone();
        for _ in 0..rounds {
            self.seed.copy_from_slice(&self.w);
            self.product.fill(0.0);
            f.pullback_of_arguments(
                (x.value, &mut self.next),
                (self.product[..].as_mut().into(), self.seed[..].as_mut().into()),
                (),
            );
            for i in 0..n {
                self.w[i] = seeds[i] + self.product[i];
            }
        }
        f.pullback((x.value, &mut self.next), (pullback::none(), self.w[..].as_mut().into()), ());
        self.old.restore(x.value);
    }
}

/// The captured `k`, `weights` (a slice), a local and an array that is written to.
#[differentiable]
fn captured(k: f64, weights: &[f64], x: &mut [f64]) -> f64 {
    let scale = (k * weights[0]).sin();
    let mut table = [0.1, 0.2];
    table[1] = scale * 0.5;
    #[pullback(recompute)]
    settle(
        |x, y| {
            y[0] = 0.3 * (x[1] * k).cos() + scale;
            y[1] = 0.2 * (x[0] * weights[1]).sin() + table[1] * 0.5;
        },
        x,
        60,
    );
    table[0] = k;
    x[0] * x[1] + scale * table[0]
}

#[test]
fn captures() {
    check_rule(captured::rule, [(0.7, vec![0.4, 0.9], vec![0.1, 0.2])]);
    let mut g = captured::gradient();
    let mut x = [0.1, 0.2];
    let first = g.value_and_gradient(0.7, &[0.4, 0.9], &mut x).1.k;
    assert_eq!(x, [0.1, 0.2]);
    assert_eq!(g.value_and_gradient(0.7, &[0.4, 0.9], &mut x).1.k, first);
}
