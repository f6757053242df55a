//! Minima of strongly convex functions.

use super::krylov::{Failure, Krylov};
use super::{Map, fit, largest, norm, to_captures, transposed};
use crate::heap::heap_size;
use crate::{DualMut, Rule, Saved};

/// Minimises a strongly convex function, given its gradient: `gradient(&x, &mut g)` writes *∇φ(x)* to `g`. Newton's method with products of
/// the Hessian by differences, and conjugate gradients for its steps, begins with what `x` holds, makes shorter steps where ‖∇φ‖ would
/// not fall, and ends after a step of at most `tolerance·(1 + max |xᵢ|)`.
///
/// In a derived function the gradient may be `phi::grad(…)` of a function marked `#[differentiable(dual)]`; its pullback is a product
/// of the Hessian.
///
/// ```
/// use pullback_rules::solve::argmin;
///
/// // ½·Σ (xᵢ − i)² + ¼·x₀⁴
/// let mut x = [0.0, 0.0];
/// argmin(|x, g| (g[0], g[1]) = (x[0] + x[0].powi(3), x[1] - 1.0), &mut x, 1e-12, 50);
/// assert!(x[0].abs() < 1e-12 && (x[1] - 1.0).abs() < 1e-12);
/// ```
///
/// # Gradient
/// With the Hessian *H = ∂²φ/∂x²* at the minimum, *H·w = x̄* by conjugate gradients, to a residual of `tolerance` relative to *x̄*, and
/// *θ̄ −= (∂∇φ/∂θ)ᵀ·w* (Gould et al., *On differentiating parameterized argmin and argmax problems*, 2016). The start has the gradient zero.
///
/// # Panics
/// If the Hessian is found not to be positive definite; if ‖∇φ‖ does not fall along a step; after `iterations` steps; in the
/// pullback if conjugate gradients do not converge.
pub fn argmin(gradient: impl Fn(&[f64], &mut [f64]), x: &mut [f64], tolerance: f64, iterations: usize) {
    minimise(gradient, x, tolerance, iterations, &mut Room::default());
}

#[derive(Default)]
struct Room {
    krylov: Krylov,
    value: Vec<f64>,
    moved: Vec<f64>,
    there: Vec<f64>,
    step: Vec<f64>,
}

fn minimise(
    gradient: impl Fn(&[f64], &mut [f64]),
    x: &mut [f64],
    tolerance: f64,
    iterations: usize,
    room: &mut Room,
) {
    let n = x.len();
    let Room { krylov, value, moved, there, step } = room;
    [&mut *value, &mut *moved, &mut *there, &mut *step].into_iter().for_each(|buffer| fit(buffer, n));
    gradient(x, value);
    let first = norm(value);
    for _ in 0..iterations {
        let size = norm(value);
        if size == 0.0 {
            return;
        }
        step.fill(0.0);
        let hessian = |v: &[f64], product: &mut [f64]| {
            let length = norm(v);
            if length == 0.0 {
                return product.fill(0.0);
            }
            let h = f64::EPSILON.sqrt() * (1.0 + norm(x)) / length;
            for i in 0..n {
                moved[i] = x[i] + h * v[i];
            }
            gradient(moved, product);
            product.iter_mut().zip(&*value).for_each(|(product, value)| *product = (*product - value) / h);
        };
        // Far from the minimum a rough step will do; differences are no better than the least of these.
        let enough = (size / first).clamp(1e-6, 0.1);
        match krylov.conjugate_gradients(hessian, value, step, enough, 2 * n) {
            Err(Failure::NotPositive) if norm(step) == 0.0 => {
                panic!("argmin: the Hessian at {x:?} is not positive definite")
            }
            // What has come of it is a direction of descent.
            _ => {}
        }
        if largest(step) <= tolerance * (1.0 + largest(x)) {
            x.iter_mut().zip(&*step).for_each(|(x, step)| *x -= step);
            return;
        }
        let mut length = 1.0;
        loop {
            for i in 0..n {
                moved[i] = x[i] - length * step[i];
            }
            gradient(moved, there);
            if norm(there) <= (1.0 - 1e-4 * length) * size {
                break;
            }
            length *= 0.5;
            assert!(length > 1e-10, "argmin: the gradient {size:e} does not fall any more, near {x:?}");
        }
        x.copy_from_slice(moved);
        value.copy_from_slice(there);
    }
    panic!("argmin: no convergence in {iterations} steps, the gradient is {:e}", norm(value));
}

#[derive(Default, Rule)]
#[rule(pub fn argmin(
    gradient: impl Fn(&[f64], &mut [f64]), x: &mut [f64], #[constant] tolerance: f64, iterations: usize
))]
struct Argmin {
    #[rule(restores = x)]
    old: Saved<f64>,
    room: Room,
    seed: Vec<f64>,
    consumed: Vec<f64>,
}

impl Argmin {
    fn forward(
        &mut self,
        gradient: impl Fn(&[f64], &mut [f64]),
        x: &mut [f64],
        tolerance: f64,
        iterations: usize,
    ) {
        self.old.save_to_restore(x);
        minimise(gradient, x, tolerance, iterations, &mut self.room);
    }

    fn pullback(&mut self, mut gradient: Map<'_>, x: DualMut<'_, [f64]>, tolerance: f64, _iterations: usize) {
        let n = x.value.len();
        [&mut self.seed, &mut self.consumed].into_iter().for_each(|buffer| fit(buffer, n));
        for i in 0..n {
            self.seed[i] = -x.shadow.take(|d| &d[i]);
        }
        if largest(&self.seed) != 0.0 {
            let Argmin { room: Room { krylov, there, step, .. }, seed, consumed, .. } = self;
            step.fill(0.0);
            let hessian = |v: &[f64], product: &mut [f64]| {
                consumed.copy_from_slice(v);
                transposed(&mut gradient, x.value, consumed, there, product);
            };
            let most = 10 * n + 20;
            if let Err(failure) = krylov.conjugate_gradients(hessian, seed, step, tolerance, most) {
                panic!("argmin: no gradient in {most} iterations: {failure}");
            }
            to_captures(&mut gradient, x.value, step, there);
        }
        self.old.restore(x.value);
    }
}

heap_size! { [] Room { krylov, value, moved, there, step } }
