//! Iterations for linear systems of which only products are known.

use super::{dot, fit, norm};
use crate::heap::heap_size;

/// The room that these iterations work in.
#[derive(Default)]
pub(super) struct Krylov {
    residual: Vec<f64>,
    direction: Vec<f64>,
    product: Vec<f64>,
    /// Orthonormal vectors, one after the other.
    basis: Vec<f64>,
    /// The upper triangle *R*, by columns.
    triangle: Vec<f64>,
    rotations: Vec<(f64, f64)>,
    right: Vec<f64>,
}

/// Why there is no solution.
#[derive(Debug)]
pub(super) enum Failure {
    /// What is left of the right-hand side, relatively.
    Residual(f64),
    /// The matrix is not positive definite.
    NotPositive,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Residual(residual) => write!(f, "the relative residual is {residual:e}"),
            Failure::NotPositive => write!(f, "the matrix is not symmetric and positive definite"),
        }
    }
}

/// GMRES begins anew after so many vectors.
const RESTART: usize = 50;

impl Krylov {
    /// *A·x = b* for a symmetric and positive definite *A*, from what `x` holds, until ‖b − A·x‖ ≤ tolerance·‖b‖ (Hestenes & Stiefel,
    /// *Methods of conjugate gradients for solving linear systems*, 1952).
    pub(super) fn conjugate_gradients(
        &mut self,
        mut a: impl FnMut(&[f64], &mut [f64]),
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
        iterations: usize,
    ) -> Result<(), Failure> {
        let n = b.len();
        let size = norm(b);
        if size == 0.0 {
            x.fill(0.0);
            return Ok(());
        }
        let Krylov { residual, direction, product, .. } = self;
        [&mut *residual, &mut *direction, &mut *product].into_iter().for_each(|buffer| fit(buffer, n));
        a(x, product);
        for i in 0..n {
            residual[i] = b[i] - product[i];
        }
        direction.copy_from_slice(residual);
        let mut square = dot(residual, residual);
        for _ in 0..iterations {
            if square.sqrt() <= tolerance * size {
                return Ok(());
            }
            a(direction, product);
            let curvature = dot(direction, product);
            if curvature <= 0.0 {
                return Err(Failure::NotPositive);
            }
            let step = square / curvature;
            for i in 0..n {
                x[i] += step * direction[i];
                residual[i] -= step * product[i];
            }
            let next = dot(residual, residual);
            let ratio = next / square;
            for i in 0..n {
                direction[i] = residual[i] + ratio * direction[i];
            }
            square = next;
        }
        match square.sqrt() <= tolerance * size {
            true => Ok(()),
            false => Err(Failure::Residual(square.sqrt() / size)),
        }
    }

    /// *A·x = b*, from what `x` holds, until ‖b − A·x‖ ≤ tolerance·‖b‖ (Saad & Schultz, *GMRES*, 1986), restarted.
    pub(super) fn minimal_residual(
        &mut self,
        mut a: impl FnMut(&[f64], &mut [f64]),
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
        iterations: usize,
    ) -> Result<(), Failure> {
        let n = b.len();
        let size = norm(b);
        if size == 0.0 {
            x.fill(0.0);
            return Ok(());
        }
        let most = RESTART.min(n).min(iterations).max(1);
        fit(&mut self.product, n);
        fit(&mut self.basis, (most + 1) * n);
        fit(&mut self.triangle, most * (most + 1) / 2);
        fit(&mut self.right, most + 1);
        let mut left = iterations;
        loop {
            a(x, &mut self.product);
            for i in 0..n {
                self.basis[i] = b[i] - self.product[i];
            }
            let residual = norm(&self.basis[..n]);
            if residual <= tolerance * size {
                return Ok(());
            }
            if left == 0 || residual.is_nan() {
                return Err(Failure::Residual(residual / size));
            }
            self.basis[..n].iter_mut().for_each(|v| *v /= residual);
            self.right[0] = residual;
            self.rotations.clear();
            let mut columns = 0;
            while columns < most && left > 0 && self.right[columns].abs() > 0.5 * tolerance * size {
                left -= 1;
                self.column(&mut a, columns, n);
                columns += 1;
            }
            self.add_to(x, columns, n);
        }
    }

    /// One more basis vector, and its column of *R*.
    fn column(&mut self, a: &mut impl FnMut(&[f64], &mut [f64]), k: usize, n: usize) {
        let (known, rest) = self.basis.split_at_mut((k + 1) * n);
        let next = &mut rest[..n];
        a(&known[k * n..], next);
        let column = &mut self.triangle[k * (k + 1) / 2..][..k + 1];
        for (vector, h) in known.chunks_exact(n).zip(&mut *column) {
            *h = dot(vector, next);
            next.iter_mut().zip(vector).for_each(|(next, v)| *next -= *h * v);
        }
        let length = norm(next);
        if length > 0.0 {
            next.iter_mut().for_each(|v| *v /= length);
        }
        for (i, (c, s)) in self.rotations.iter().enumerate() {
            (column[i], column[i + 1]) =
                (c * column[i] + s * column[i + 1], c * column[i + 1] - s * column[i]);
        }
        let size = column[k].hypot(length);
        let (c, s) = if size > 0.0 { (column[k] / size, length / size) } else { (1.0, 0.0) };
        column[k] = size;
        self.rotations.push((c, s));
        (self.right[k], self.right[k + 1]) = (c * self.right[k], -s * self.right[k]);
    }

    /// *x += V·R⁻¹·g*
    fn add_to(&mut self, x: &mut [f64], columns: usize, n: usize) {
        let r = |i: usize, j: usize| self.triangle[j * (j + 1) / 2 + i];
        for i in (0..columns).rev() {
            let known: f64 = (i + 1..columns).map(|j| r(i, j) * self.right[j]).sum();
            let pivot = r(i, i);
            self.right[i] = if pivot == 0.0 { 0.0 } else { (self.right[i] - known) / pivot };
        }
        for (vector, y) in self.basis.chunks_exact(n).zip(&self.right[..columns]) {
            x.iter_mut().zip(vector).for_each(|(x, v)| *x += y * v);
        }
    }
}

heap_size! { [] Krylov { residual, direction, product, basis, triangle, rotations, right } }
