//! Fixed points.

use super::{Map, fit, largest, to_captures, transposed};
use crate::{DualMut, Rule, Saved};

/// Solves *x = f(x)* by iteration: `f(&x, &mut next)` writes *f(x)* to `next`. The iteration begins with what `x` holds, and ends after a
/// step of at most `tolerance·(1 + max |xᵢ|)`.
///
/// ```
/// use pullback_rules::solve::fixed_point;
///
/// let mut x = [1.0];
/// fixed_point(|x, next| next[0] = x[0].cos(), &mut x, 1e-14, 1000);
/// assert!((x[0] - x[0].cos()).abs() < 1e-14);
/// ```
///
/// # Gradient
/// With *J = ∂f/∂x* at the solution, *w = x̄ + Jᵀ·w* is solved by iteration as well, which converges as that of *x* does, since the
/// eigenvalues are the same, and to a step of at most `tolerance·max |wᵢ|`; then *θ̄ += (∂f/∂θ)ᵀ·w* (Christianson, *Reverse
/// accumulation and attractive fixed points*, 1994). The start has the gradient zero.
///
/// # Panics
/// If either iteration takes more than `iterations` steps.
pub fn fixed_point(f: impl Fn(&[f64], &mut [f64]), x: &mut [f64], tolerance: f64, iterations: usize) {
    iterate(f, x, &mut Vec::new(), tolerance, iterations);
}

fn iterate(
    f: impl Fn(&[f64], &mut [f64]),
    x: &mut [f64],
    next: &mut Vec<f64>,
    tolerance: f64,
    iterations: usize,
) {
    fit(next, x.len());
    let mut step = f64::NAN;
    for _ in 0..iterations {
        f(x, next);
        step = 0.0;
        for (x, next) in x.iter_mut().zip(&*next) {
            let change = (next - *x).abs();
            step = if change <= step { step } else { change };
            *x = *next;
        }
        if step <= tolerance * (1.0 + largest(x)) {
            return;
        }
    }
    panic!("fixed_point: no convergence in {iterations} iterations, the last step is {step:e}");
}

#[derive(Default, Rule)]
#[rule(pub fn fixed_point(
    f: impl Fn(&[f64], &mut [f64]), x: &mut [f64], #[constant] tolerance: f64, iterations: usize
))]
struct FixedPoint {
    #[rule(restores = x)]
    old: Saved<f64>,
    room: Vec<f64>,
    seed: Vec<f64>,
    w: Vec<f64>,
    product: Vec<f64>,
    consumed: Vec<f64>,
}

impl FixedPoint {
    fn forward(&mut self, f: impl Fn(&[f64], &mut [f64]), x: &mut [f64], tolerance: f64, iterations: usize) {
        self.old.save_to_restore(x);
        iterate(f, x, &mut self.room, tolerance, iterations);
    }

    fn pullback(&mut self, mut f: Map<'_>, x: DualMut<'_, [f64]>, tolerance: f64, iterations: usize) {
        let n = x.value.len();
        for buffer in [&mut self.room, &mut self.seed, &mut self.w, &mut self.product, &mut self.consumed] {
            fit(buffer, n);
        }
        for i in 0..n {
            self.seed[i] = x.shadow.take(|d| &d[i]);
        }
        self.w.copy_from_slice(&self.seed);
        self.solve(&mut f, x.value, tolerance, iterations);
        to_captures(&mut f, x.value, &mut self.w, &mut self.room);
        self.old.restore(x.value);
    }

    /// *w = x̄ + Jᵀ·w*
    fn solve(&mut self, f: &mut Map<'_>, x: &[f64], tolerance: f64, iterations: usize) {
        if largest(&self.seed) == 0.0 {
            return;
        }
        let mut step = f64::NAN;
        for _ in 0..iterations {
            self.consumed.copy_from_slice(&self.w);
            transposed(f, x, &mut self.consumed, &mut self.room, &mut self.product);
            step = 0.0;
            for i in 0..x.len() {
                let next = self.seed[i] + self.product[i];
                let change = (next - self.w[i]).abs();
                step = if change <= step { step } else { change };
                self.w[i] = next;
            }
            if step <= tolerance * largest(&self.w) {
                return;
            }
        }
        panic!(
            "fixed_point: no convergence of the gradient in {iterations} iterations, the last step is {step:e}"
        );
    }
}
