//! Linear systems by products alone.

use super::krylov::Krylov;
use super::{Map, fit, largest, to_captures, transposed};
use crate::heap::heap_size;
use crate::{Dual, DualMut, Rule, Saved};

/// Solves *A·x = b* by conjugate gradients, for a symmetric and positive definite *A*: `a(&v, &mut product)` writes *A·v*. It begins
/// with what `x` holds, and ends with ‖b − A·x‖ ≤ `tolerance`·‖b‖.
///
/// ```
/// use pullback_rules::solve::cg;
///
/// let mut x = [0.0, 0.0];
/// cg(|v, product| (product[0], product[1]) = (2.0 * v[0] + v[1], v[0] + 2.0 * v[1]), &[3.0, 3.0], &mut x, 1e-14, 10);
/// assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-14));
/// ```
///
/// # Gradient
/// With *λ* from *A·λ = x̄*, *b̄ += λ*, and *θ̄ −= (∂(A·x)/∂θ)ᵀ·λ* (Giles, *Collected matrix derivative results*, 2008, 2.3.1). What `x`
/// holds at first has the gradient zero.
///
/// # Panics
/// If `b` and `x` differ in length, if *A* is found not to be positive definite, or if `iterations` are too few.
pub fn cg(a: impl Fn(&[f64], &mut [f64]), b: &[f64], x: &mut [f64], tolerance: f64, iterations: usize) {
    conjugate(a, b, x, tolerance, iterations, &mut Krylov::default());
}

fn conjugate(
    a: impl Fn(&[f64], &mut [f64]),
    b: &[f64],
    x: &mut [f64],
    tolerance: f64,
    iterations: usize,
    krylov: &mut Krylov,
) {
    assert_eq!(b.len(), x.len(), "cg: b and x differ in length");
    if let Err(failure) = krylov.conjugate_gradients(a, b, x, tolerance, iterations) {
        panic!("cg: no solution in {iterations} iterations: {failure}");
    }
}

/// Solves *A·x = b* by GMRES: `a(&v, &mut product)` writes *A·v*. It begins with what `x` holds, and ends with
/// ‖b − A·x‖ ≤ `tolerance`·‖b‖.
///
/// ```
/// use pullback_rules::solve::gmres;
///
/// let mut x = [0.0, 0.0];
/// gmres(|v, product| (product[0], product[1]) = (v[1], -2.0 * v[0]), &[3.0, 4.0], &mut x, 1e-14, 10);
/// assert!((x[0] + 2.0).abs() < 1e-14 && (x[1] - 3.0).abs() < 1e-14);
/// ```
///
/// # Gradient
/// That of [`cg`](cg()), with *Aᵀ·λ = x̄*, where the products with *Aᵀ* are pullbacks of `a`: nobody has to write the transpose.
///
/// # Panics
/// If `b` and `x` differ in length, or if `iterations` products are too few.
pub fn gmres(a: impl Fn(&[f64], &mut [f64]), b: &[f64], x: &mut [f64], tolerance: f64, iterations: usize) {
    minimal(a, b, x, tolerance, iterations, &mut Krylov::default());
}

fn minimal(
    a: impl Fn(&[f64], &mut [f64]),
    b: &[f64],
    x: &mut [f64],
    tolerance: f64,
    iterations: usize,
    krylov: &mut Krylov,
) {
    assert_eq!(b.len(), x.len(), "gmres: b and x differ in length");
    if let Err(failure) = krylov.minimal_residual(a, b, x, tolerance, iterations) {
        panic!("gmres: no solution in {iterations} iterations: {failure}");
    }
}

/// What both rules keep.
#[derive(Default)]
struct Adjoint {
    krylov: Krylov,
    seed: Vec<f64>,
    lambda: Vec<f64>,
    room: Vec<f64>,
    consumed: Vec<f64>,
}

impl Adjoint {
    /// Takes *x̄*; tells whether there is anything to do.
    fn begin(&mut self, x: &DualMut<'_, [f64]>) -> bool {
        let n = x.value.len();
        [&mut self.seed, &mut self.lambda, &mut self.room, &mut self.consumed]
            .into_iter()
            .for_each(|buffer| fit(buffer, n));
        for i in 0..n {
            self.seed[i] = x.shadow.take(|d| &d[i]);
        }
        self.lambda.fill(0.0);
        largest(&self.seed) != 0.0
    }

    fn finish(&mut self, a: &mut Map<'_>, b: &Dual<'_, [f64]>, x: &[f64]) {
        for (i, lambda) in self.lambda.iter_mut().enumerate() {
            b.shadow.accumulate(|d| &d[i], *lambda);
            *lambda = -*lambda;
        }
        to_captures(a, x, &mut self.lambda, &mut self.room);
    }
}

#[derive(Default, Rule)]
#[rule(pub fn cg(
    a: impl Fn(&[f64], &mut [f64]), b: &[f64], x: &mut [f64], #[constant] tolerance: f64, iterations: usize
))]
struct Cg {
    #[rule(restores = x)]
    old: Saved<f64>,
    adjoint: Adjoint,
}

impl Cg {
    fn forward(
        &mut self,
        a: impl Fn(&[f64], &mut [f64]),
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
        iterations: usize,
    ) {
        self.old.save_to_restore(x);
        conjugate(a, b, x, tolerance, iterations, &mut self.adjoint.krylov);
    }

    fn pullback(
        &mut self,
        mut a: Map<'_>,
        b: Dual<'_, [f64]>,
        x: DualMut<'_, [f64]>,
        tolerance: f64,
        iterations: usize,
    ) {
        if self.adjoint.begin(&x) {
            let Adjoint { krylov, seed, lambda, .. } = &mut self.adjoint;
            let product = |v: &[f64], product: &mut [f64]| a.call((v, product));
            if let Err(failure) = krylov.conjugate_gradients(product, seed, lambda, tolerance, iterations) {
                panic!("cg: no gradient in {iterations} iterations: {failure}");
            }
            self.adjoint.finish(&mut a, &b, x.value);
        }
        self.old.restore(x.value);
    }
}

#[derive(Default, Rule)]
#[rule(pub fn gmres(
    a: impl Fn(&[f64], &mut [f64]), b: &[f64], x: &mut [f64], #[constant] tolerance: f64, iterations: usize
))]
struct Gmres {
    #[rule(restores = x)]
    old: Saved<f64>,
    adjoint: Adjoint,
}

impl Gmres {
    fn forward(
        &mut self,
        a: impl Fn(&[f64], &mut [f64]),
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
        iterations: usize,
    ) {
        self.old.save_to_restore(x);
        minimal(a, b, x, tolerance, iterations, &mut self.adjoint.krylov);
    }

    fn pullback(
        &mut self,
        mut a: Map<'_>,
        b: Dual<'_, [f64]>,
        x: DualMut<'_, [f64]>,
        tolerance: f64,
        iterations: usize,
    ) {
        if self.adjoint.begin(&x) {
            let Adjoint { krylov, seed, lambda, room, consumed } = &mut self.adjoint;
            let product = |v: &[f64], product: &mut [f64]| {
                consumed.copy_from_slice(v);
                transposed(&mut a, x.value, consumed, room, product);
            };
            if let Err(failure) = krylov.minimal_residual(product, seed, lambda, tolerance, iterations) {
                panic!("gmres: no gradient in {iterations} iterations: {failure}");
            }
            self.adjoint.finish(&mut a, &b, x.value);
        }
        self.old.restore(x.value);
    }
}

heap_size! { [] Adjoint { krylov, seed, lambda, room, consumed } }
