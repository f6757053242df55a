//! A rule of a user's, with functions as arguments.

use pullback::prelude::*;
use pullback::testing::{allocations_in, check_rule};
use pullback::{ConstVal, DualFn, DualMut, Mut, Ref, Saved, Val};

/// x ← f(f(… f(x))), so often that it is a fixed point.
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
    seed: Vec<f64>,
    w: Vec<f64>,
    consumed: Vec<f64>,
    product: Vec<f64>,
}

impl Settle {
    fn forward(&mut self, f: impl Fn(&[f64], &mut [f64]), x: &mut [f64], rounds: usize) {
        self.old.save(x);
        self.next.resize(x.len(), 0.0);
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
        for buffer in [&mut self.seed, &mut self.w, &mut self.consumed, &mut self.product] {
            buffer.resize(n, 0.0);
        }
        for i in 0..n {
            self.seed[i] = x.shadow.take(|d| &d[i]);
        }
        self.w.copy_from_slice(&self.seed);
        for _ in 0..rounds {
            self.consumed.copy_from_slice(&self.w);
            self.product.fill(0.0);
            self.next.fill(0.5);
            f.pullback_of_arguments(
                (x.value, &mut self.next),
                ((&mut self.product[..]).into(), (&mut self.consumed[..]).into()),
                (),
            );
            // What is given by `&mut` comes back, and its gradient is that of a mere output.
            assert!(self.next.iter().all(|x| *x == 0.5));
            assert!(self.consumed.iter().all(|d| *d == 0.0));
            for i in 0..n {
                self.w[i] = self.seed[i] + self.product[i];
            }
        }
        f.pullback((x.value, &mut self.next), (pullback::none(), (&mut self.w[..]).into()), ());
        self.old.restore(x.value);
    }
}

/// Captured: a parameter, a slice, a local, and an array that is written to before and afterwards.
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

/// Two functions, one of a number, one with an index and a reference: a·g(b)·h(1, w) + slope of g at b
pub fn mixed(
    g: impl Fn(f64) -> f64,
    a: f64,
    h: &impl Fn(usize, &[f64; 2]) -> f64,
    b: f64,
    w: &[f64; 2],
) -> f64 {
    let slope = (g(b + 1.0) - g(b - 1.0)) / 2.0;
    a * g(b) * h(1, w) + 0.0 * slope
}

#[derive(Rule, Default)]
#[rule(pub fn mixed(
    g: impl Fn(f64) -> f64, a: f64, h: &impl Fn(usize, &[f64; 2]) -> f64, b: f64, w: &[f64; 2]
) -> f64)]
struct Mixed;

impl Mixed {
    fn forward(
        &mut self,
        g: impl Fn(f64) -> f64,
        a: f64,
        h: &impl Fn(usize, &[f64; 2]) -> f64,
        b: f64,
        w: &[f64; 2],
    ) -> f64 {
        mixed(g, a, h, b, w)
    }

    fn pullback(
        &mut self,
        mut g: DualFn<'_, (Val<f64>,), f64>,
        a: f64,
        mut h: DualFn<'_, (ConstVal<usize>, Ref<[f64; 2]>), f64>,
        b: f64,
        w: pullback::Dual<'_, [f64; 2]>,
        d: f64,
    ) -> (f64, f64) {
        let (of_g, of_h) = (g.call((b,)), h.call((1, w.value)));
        // Of no consequence to anybody.
        g.pullback_of_arguments((7.0,), (pullback::Ignored,), 3.0);
        let (value, (d_b,)) = g.pullback((b,), (pullback::Ignored,), d * a * of_h);
        assert_eq!(value, of_g);
        h.pullback((1, w.value), (pullback::Ignored, w.shadow), d * a * of_g);
        (d * of_g * of_h, d_b)
    }
}

#[differentiable]
fn inner(x: f64, k: f64) -> f64 {
    (x * k).sin() + x
}

#[differentiable]
fn square(x: f64) -> f64 {
    x * x
}

struct Model;

#[differentiable]
impl Model {
    fn cubic(x: f64) -> f64 {
        x * x * x
    }
}

/// Closures with calls of rules and a loop in them, functions by their path, and both kinds of calls.
#[differentiable]
fn kinds(k: f64, b: f64, w: &[f64; 2], n: usize) -> f64 {
    let scaled = |i: usize, v: &[f64; 2]| {
        let mut total = v[0] * v[i];
        for j in 0..n {
            total = inner(total, k) * 0.7;
            if total > 0.6 {
                total -= 0.25 * v[j % 2];
            }
        }
        total
    };
    #[pullback(recompute)]
    let first = mixed(|x| inner(x, k) * w[1], b, &scaled, k, w);
    let mut total = first;
    #[pullback(recompute)]
    let second = mixed(square, b, &|i, v| v[i] * k, k * b, w);
    #[pullback(recompute)]
    let third = mixed(Model::cubic, 2.0, &|i, v| v[i] * v[0], b, w) + mixed(f64::exp, b, &|_, v| v[0], k, w);
    total += second;
    total * third
}

#[test]
fn captures() {
    check_rule(captured::rule, [(0.7, vec![0.4, 0.9], vec![0.1, 0.2])]);
}

#[test]
fn functions_of_every_kind() {
    check_rule(
        kinds::rule,
        [(0.7, 0.4, [0.8, 0.3], 3), (0.3, 1.2, [0.5, 0.9], 1), (1.1, -0.4, [0.5, 0.2], 0)],
    );
}
