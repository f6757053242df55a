//! Roots of systems of equations.

use super::dense::Dense;
use super::krylov::Krylov;
use super::{Map, fit, largest, norm, to_captures, transposed};
use crate::heap::heap_size;
use crate::{DualMut, Rule, Saved};

/// Solves *f(x) = 0*, as many equations as unknowns: `f(&x, &mut residual)` writes *f(x)*. Newton's method with Jacobians by differences
/// begins with what `x` holds, makes shorter steps where ‖f‖ would not fall, and ends after a step of at most
/// `tolerance·(1 + max |xᵢ|)`.
///
/// ```
/// use pullback_rules::solve::root;
///
/// let mut x = [1.0, 0.5];
/// root(|x, r| (r[0], r[1]) = (x[0] * x[0] + x[1] * x[1] - 4.0, x[0] - x[1]), &mut x, 1e-12, 50);
/// assert!(x.iter().all(|x| (x - 2_f64.sqrt()).abs() < 1e-15));
/// ```
///
/// # Gradient
/// With the Jacobian *J = ∂f/∂x* at the root, of which each row is a pullback, *Jᵀ·w = x̄* and *θ̄ −= (∂f/∂θ)ᵀ·w* (Griewank & Walther,
/// *Evaluating Derivatives*, 2008, chapter 15). The start has the gradient zero.
///
/// # Panics
/// If a Jacobian has no inverse, in the pullback as well; if ‖f‖ does not fall along a step; after `iterations` steps.
pub fn root(f: impl Fn(&[f64], &mut [f64]), x: &mut [f64], tolerance: f64, iterations: usize) {
    newton(f, x, tolerance, iterations, &mut Newton::default());
}

/// What Newton's method works in.
#[derive(Default)]
struct Newton {
    jacobian: Dense,
    value: Vec<f64>,
    moved: Vec<f64>,
    there: Vec<f64>,
    step: Vec<f64>,
}

fn newton(
    f: impl Fn(&[f64], &mut [f64]),
    x: &mut [f64],
    tolerance: f64,
    iterations: usize,
    room: &mut Newton,
) {
    let n = x.len();
    let Newton { jacobian, value, moved, there, step } = room;
    [&mut *value, &mut *moved, &mut *there, &mut *step].into_iter().for_each(|buffer| fit(buffer, n));
    jacobian.resize(n);
    f(x, value);
    for _ in 0..iterations {
        moved.copy_from_slice(x);
        for j in 0..n {
            moved[j] = x[j] + f64::EPSILON.sqrt() * x[j].abs().max(1.0);
            let h = moved[j] - x[j];
            f(moved, there);
            for i in 0..n {
                jacobian.set(i, j, (there[i] - value[i]) / h);
            }
            moved[j] = x[j];
        }
        assert!(jacobian.factor(), "root: the Jacobian at {x:?} has no inverse");
        jacobian.solve(value, step);
        if largest(step) <= tolerance * (1.0 + largest(x)) {
            x.iter_mut().zip(&*step).for_each(|(x, step)| *x -= step);
            return;
        }
        let size = norm(value);
        let mut length = 1.0;
        loop {
            for i in 0..n {
                moved[i] = x[i] - length * step[i];
            }
            f(moved, there);
            if norm(there) <= (1.0 - 1e-4 * length) * size {
                break;
            }
            length *= 0.5;
            assert!(length > 1e-10, "root: the residual {size:e} does not fall any more, near {x:?}");
        }
        x.copy_from_slice(moved);
        value.copy_from_slice(there);
    }
    panic!("root: no convergence in {iterations} steps, the residual is {:e}", norm(value));
}

#[derive(Default, Rule)]
#[rule(pub fn root(
    f: impl Fn(&[f64], &mut [f64]), x: &mut [f64], #[constant] tolerance: f64, iterations: usize
))]
struct Root {
    #[rule(restores = x)]
    old: Saved<f64>,
    newton: Newton,
    implicit: Implicit,
}

impl Root {
    fn forward(&mut self, f: impl Fn(&[f64], &mut [f64]), x: &mut [f64], tolerance: f64, iterations: usize) {
        self.old.save_to_restore(x);
        newton(f, x, tolerance, iterations, &mut self.newton);
    }

    fn pullback(&mut self, mut f: Map<'_>, x: DualMut<'_, [f64]>, _tolerance: f64, _iterations: usize) {
        if self.implicit.begin(&x) {
            self.implicit.dense("root", &mut f, x.value);
            to_captures(&mut f, x.value, &mut self.implicit.w, &mut self.implicit.room);
        }
        self.old.restore(x.value);
    }
}

/// How [`at_root`](at_root()) solves for its gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Adjoint {
    /// The Jacobian row by row, as many pullbacks as there are unknowns, and a decomposition of it.
    Dense,
    /// GMRES, with one pullback for each of at most so many iterations, to this tolerance relative to *x̄*: for many unknowns.
    Gmres {
        /// What may be left of *x̄*, relatively.
        tolerance: f64,
        /// How many products there may be.
        iterations: usize,
    },
}

/// Says that `x` solves *f(x) = 0*, by whatever means it was found, and gives it the gradient that follows from this. The forward leaves
/// `x` as it is.
///
/// ```
/// use pullback_rules::solve::{Adjoint, at_root};
///
/// let mut x = [3.0];
/// at_root(|x, r| r[0] = x[0] * x[0] - 9.0, &mut x, 1e-12, Adjoint::Dense);
/// assert_eq!(x, [3.0]);
/// ```
///
/// # Gradient
/// That of [`root`](root()), where *Jᵀ·w = x̄* is solved as `adjoint` says. What `x` holds before has the gradient zero.
///
/// # Panics
/// If some *|f(x)ᵢ|* exceeds `tolerance`; in the pullback if the Jacobian has no inverse, or GMRES does not converge.
pub fn at_root(f: impl Fn(&[f64], &mut [f64]), x: &mut [f64], tolerance: f64, adjoint: Adjoint) {
    let _ = adjoint;
    check(f, x, tolerance, &mut Vec::new());
}

fn check(f: impl Fn(&[f64], &mut [f64]), x: &[f64], tolerance: f64, residual: &mut Vec<f64>) {
    fit(residual, x.len());
    f(x, residual);
    let residual = largest(residual);
    assert!(residual <= tolerance, "at_root: this is no root, the residual is {residual:e}");
}

#[derive(Default, Rule)]
#[rule(pub fn at_root(
    f: impl Fn(&[f64], &mut [f64]), x: &mut [f64], #[constant] tolerance: f64, #[constant] adjoint: Adjoint
))]
struct AtRoot {
    implicit: Implicit,
}

impl AtRoot {
    fn forward(&mut self, f: impl Fn(&[f64], &mut [f64]), x: &mut [f64], tolerance: f64, _adjoint: Adjoint) {
        check(f, x, tolerance, &mut self.implicit.room);
    }

    fn pullback(&mut self, mut f: Map<'_>, x: DualMut<'_, [f64]>, _tolerance: f64, adjoint: Adjoint) {
        if self.implicit.begin(&x) {
            match adjoint {
                Adjoint::Dense => self.implicit.dense("at_root", &mut f, x.value),
                Adjoint::Gmres { tolerance, iterations } => {
                    self.implicit.gmres(&mut f, x.value, tolerance, iterations)
                }
            }
            to_captures(&mut f, x.value, &mut self.implicit.w, &mut self.implicit.room);
        }
    }
}

/// Solves for what comes to the equations.
#[derive(Default)]
struct Implicit {
    jacobian: Dense,
    krylov: Krylov,
    seed: Vec<f64>,
    /// *−J⁻ᵀ·x̄*
    w: Vec<f64>,
    room: Vec<f64>,
    consumed: Vec<f64>,
}

impl Implicit {
    /// Takes *x̄*; tells whether there is anything to do.
    fn begin(&mut self, x: &DualMut<'_, [f64]>) -> bool {
        let n = x.value.len();
        [&mut self.seed, &mut self.w, &mut self.room, &mut self.consumed]
            .into_iter()
            .for_each(|buffer| fit(buffer, n));
        for i in 0..n {
            self.seed[i] = -x.shadow.take(|d| &d[i]);
        }
        largest(&self.seed) != 0.0
    }

    fn dense(&mut self, name: &str, f: &mut Map<'_>, x: &[f64]) {
        let n = x.len();
        self.jacobian.resize(n);
        for i in 0..n {
            self.consumed.fill(0.0);
            self.consumed[i] = 1.0;
            transposed(f, x, &mut self.consumed, &mut self.room, self.jacobian.row_mut(i));
        }
        assert!(
            self.jacobian.factor(),
            "{name}: the Jacobian at the root has no inverse: there is no gradient"
        );
        self.jacobian.solve_transposed(&self.seed, &mut self.consumed, &mut self.w);
    }

    fn gmres(&mut self, f: &mut Map<'_>, x: &[f64], tolerance: f64, iterations: usize) {
        let Implicit { krylov, seed, w, room, consumed, .. } = self;
        w.fill(0.0);
        let product = |v: &[f64], product: &mut [f64]| {
            consumed.copy_from_slice(v);
            transposed(f, x, consumed, room, product);
        };
        if let Err(failure) = krylov.minimal_residual(product, seed, w, tolerance, iterations) {
            panic!("at_root: no gradient in {iterations} iterations: {failure}");
        }
    }
}

heap_size! {
    [] Newton { jacobian, value, moved, there, step }
    [] Implicit { jacobian, krylov, seed, w, room, consumed }
}
