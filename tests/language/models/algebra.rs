//! Linear algebra as textbooks write it: factorisations, solvers, iterations; matrices are row-major slices.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// In place, the lower triangle.
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

/// L x = b, in place.
#[differentiable]
fn forward_substitution(l: &[f64], b: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            b[i] -= l[i * n + j] * b[j];
        }
        b[i] /= l[i * n + i];
    }
}

/// Lᵀ x = b, in place.
#[differentiable]
fn backward_substitution(l: &[f64], b: &mut [f64], n: usize) {
    for i in (0..n).rev() {
        for j in i + 1..n {
            b[i] -= l[j * n + i] * b[j];
        }
        b[i] /= l[i * n + i];
    }
}

/// bᵀ A⁻¹ b for a positive definite matrix that is left alone.
#[differentiable]
fn cholesky_solve(a: &[f64], b: &[f64], n: usize) -> f64 {
    let mut l = vec![0.0; n * n];
    let mut x = vec![0.0; n];
    for i in 0..n {
        x[i] = b[i];
        for j in 0..n {
            l[i * n + j] = a[i * n + j];
        }
    }
    cholesky(&mut l, n);
    forward_substitution(&l, &mut x, n);
    backward_substitution(&l, &mut x, n);
    let mut energy = 0.0;
    for i in 0..n {
        energy += b[i] * x[i];
    }
    energy
}

/// The sum of A⁻¹ b, and the determinant: LU with partial pivoting, in place; the order of the rows is kept aside.
#[differentiable]
fn lu_solve(a: &mut [f64], b: &[f64]) -> (f64, f64) {
    let n = b.len();
    let mut order = vec![0; n];
    for i in 0..n {
        order[i] = i;
    }
    let mut det = 1.0;
    for k in 0..n {
        let mut best = k;
        for i in k + 1..n {
            if a[order[i] * n + k].abs() > a[order[best] * n + k].abs() {
                best = i;
            }
        }
        if best != k {
            let t = order[k];
            order[k] = order[best];
            order[best] = t;
            det = -det;
        }
        let top = order[k];
        det *= a[top * n + k];
        for i in k + 1..n {
            let row = order[i];
            a[row * n + k] /= a[top * n + k];
            for j in k + 1..n {
                a[row * n + j] -= a[row * n + k] * a[top * n + j];
            }
        }
    }
    let mut x = vec![0.0; n];
    for i in 0..n {
        x[i] = b[order[i]];
        for j in 0..i {
            x[i] -= a[order[i] * n + j] * x[j];
        }
    }
    let mut sum = 0.0;
    for i in (0..n).rev() {
        for j in i + 1..n {
            x[i] -= a[order[i] * n + j] * x[j];
        }
        x[i] /= a[order[i] * n + i];
        sum += x[i];
    }
    (sum, det)
}

/// A x = b by elimination with rows exchanged, both in place; returns the logarithm of |det A|.
#[differentiable]
fn solve_in_place(a: &mut [f64], b: &mut [f64]) -> f64 {
    let n = b.len();
    let mut log_det = 0.0;
    for k in 0..n {
        let mut best = k;
        for i in k + 1..n {
            if a[i * n + k].abs() > a[best * n + k].abs() {
                best = i;
            }
        }
        if best != k {
            for j in k..n {
                let t = a[k * n + j];
                a[k * n + j] = a[best * n + j];
                a[best * n + j] = t;
            }
            let t = b[k];
            b[k] = b[best];
            b[best] = t;
        }
        let pivot = a[k * n + k];
        log_det += pivot.abs().ln();
        for i in k + 1..n {
            let factor = a[i * n + k] / pivot;
            for j in k..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
            b[i] -= factor * b[k];
        }
    }
    for i in (0..n).rev() {
        let mut x = b[i];
        for j in i + 1..n {
            x -= a[i * n + j] * b[j];
        }
        b[i] = x / a[i * n + i];
    }
    log_det
}

/// Tridiagonal systems: Thomas's algorithm, in place.
#[differentiable]
fn thomas(lower: &[f64], diagonal: &[f64], upper: &[f64], x: &mut [f64]) {
    let n = diagonal.len();
    let mut c = vec![0.0; n];
    c[0] = upper[0] / diagonal[0];
    x[0] = x[0] / diagonal[0];
    for i in 1..n {
        let m = 1.0 / (diagonal[i] - lower[i] * c[i - 1]);
        c[i] = upper[i] * m;
        x[i] = (x[i] - lower[i] * x[i - 1]) * m;
    }
    for i in (0..n - 1).rev() {
        x[i] -= c[i] * x[i + 1];
    }
}

#[differentiable]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..a.len() {
        total += a[i] * b[i];
    }
    total
}

#[differentiable]
fn mat_vec(a: &[f64], x: &[f64], y: &mut [f64]) {
    let n = x.len();
    for i in 0..y.len() {
        y[i] = dot(&a[i * n..(i + 1) * n], x);
    }
}

/// Some iterations of conjugate gradients; returns bᵀx.
#[differentiable]
fn conjugate_gradients(a: &[f64], b: &[f64], iterations: usize) -> f64 {
    let n = b.len();
    let mut x = vec![0.0; n];
    let mut r = vec![0.0; n];
    let mut p = vec![0.0; n];
    let mut ap = vec![0.0; n];
    for i in 0..n {
        r[i] = b[i];
        p[i] = b[i];
    }
    let mut rr = dot(&r, &r);
    for _ in 0..iterations {
        mat_vec(a, &p, &mut ap);
        let alpha = rr / dot(&p, &ap);
        for i in 0..n {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
        }
        let next = dot(&r, &r);
        let beta = next / rr;
        for i in 0..n {
            p[i] = r[i] + beta * p[i];
        }
        rr = next;
    }
    dot(b, &x)
}

/// The largest eigenvalue by power iteration, normalised at each step.
#[differentiable]
fn power_iteration(a: &[f64], start: &[f64], iterations: usize) -> f64 {
    let n = start.len();
    let mut v = vec![0.0; n];
    let mut w = vec![0.0; n];
    for i in 0..n {
        v[i] = start[i];
    }
    let mut value = 0.0;
    for _ in 0..iterations {
        mat_vec(a, &v, &mut w);
        value = dot(&v, &w) / dot(&v, &v);
        let norm = dot(&w, &w).sqrt();
        for i in 0..n {
            v[i] = w[i] / norm;
        }
    }
    value
}

/// Modified Gram and Schmidt on the rows, in place; returns the product of the norms.
#[differentiable]
fn gram_schmidt(a: &mut [f64], rows: usize, columns: usize) -> f64 {
    let mut volume = 1.0;
    for i in 0..rows {
        let mut norm = 0.0;
        for k in 0..columns {
            norm += a[i * columns + k] * a[i * columns + k];
        }
        let norm = norm.sqrt();
        volume *= norm;
        for k in 0..columns {
            a[i * columns + k] /= norm;
        }
        for j in i + 1..rows {
            let mut along = 0.0;
            for k in 0..columns {
                along += a[i * columns + k] * a[j * columns + k];
            }
            for k in 0..columns {
                a[j * columns + k] -= along * a[i * columns + k];
            }
        }
    }
    volume
}

/// Least squares by Givens rotations of an n × m system; returns the squared residual and the solution's sum.
#[differentiable]
fn givens_least_squares(a: &mut [f64], b: &mut [f64], m: usize) -> (f64, f64) {
    let n = b.len();
    for j in 0..m {
        for i in j + 1..n {
            let (f, g) = (a[j * m + j], a[i * m + j]);
            let r = f.hypot(g);
            if r > 0.0 {
                let (c, s) = (f / r, g / r);
                for k in j..m {
                    let upper = a[j * m + k];
                    let lower = a[i * m + k];
                    a[j * m + k] = c * upper + s * lower;
                    a[i * m + k] = c * lower - s * upper;
                }
                let upper = b[j];
                let lower = b[i];
                b[j] = c * upper + s * lower;
                b[i] = c * lower - s * upper;
            }
        }
    }
    let mut residual = 0.0;
    for i in m..n {
        residual += b[i] * b[i];
    }
    let mut sum = 0.0;
    for i in (0..m).rev() {
        let mut x = b[i];
        for k in i + 1..m {
            x -= a[i * m + k] * b[k];
        }
        b[i] = x / a[i * m + i];
        sum += b[i];
    }
    (residual, sum)
}

#[differentiable]
fn product(a: &[[f64; 3]; 3], b: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let mut c = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            let mut sum = 0.0;
            for k in 0..3 {
                sum += a[i][k] * b[k][j];
            }
            c[i][j] = sum;
        }
    }
    c
}

/// Scaling, Taylor's series, squaring.
#[differentiable]
fn matrix_exponential(a: &[[f64; 3]; 3], squarings: usize) -> [[f64; 3]; 3] {
    let mut scaled = *a;
    let scale = 0.5_f64.powi(squarings as i32);
    for i in 0..3 {
        for j in 0..3 {
            scaled[i][j] *= scale;
        }
    }
    let mut term = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut sum = term;
    for k in 1..10 {
        term = product(&term, &scaled);
        for i in 0..3 {
            for j in 0..3 {
                term[i][j] /= k as f64;
                sum[i][j] += term[i][j];
            }
        }
    }
    for _ in 0..squarings {
        sum = product(&sum, &sum);
    }
    sum
}

/// One sweep of Jacobi rotations; returns the diagonal's spread.
#[differentiable]
fn jacobi_eigenvalues(a: &mut [[f64; 3]; 3], sweeps: usize) -> f64 {
    for _ in 0..sweeps {
        for p in 0..2 {
            for q in p + 1..3 {
                let theta = 0.5 * (2.0 * a[p][q]).atan2(a[q][q] - a[p][p]);
                let (s, c) = theta.sin_cos();
                for k in 0..3 {
                    let (kp, kq) = (a[k][p], a[k][q]);
                    a[k][p] = c * kp - s * kq;
                    a[k][q] = s * kp + c * kq;
                }
                for k in 0..3 {
                    let (pk, qk) = (a[p][k], a[q][k]);
                    a[p][k] = c * pk - s * qk;
                    a[q][k] = s * pk + c * qk;
                }
            }
        }
    }
    a[0][0].max(a[1][1]).max(a[2][2]) - a[0][0].min(a[1][1]).min(a[2][2])
}

/// A symmetric positive definite matrix.
fn definite(n: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| 1.0 / (1 + i + j) as f64 + if i == j { 1.5 + i as f64 } else { 0.0 };
    (0..n * n).map(|k| entry(k / n, k % n)).collect()
}

/// A matrix that needs pivoting.
fn general(n: usize) -> Vec<f64> {
    (0..n * n)
        .map(|k| (1.3 * k as f64 + 0.2).sin() + if k / n + k % n + 1 == n { 2.0 } else { 0.0 })
        .collect()
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect()
}

#[test]
fn factorisations() {
    check_rule(cholesky::rule, [(definite(4), 4), (definite(1), 1)]);
    check_rule(cholesky_solve::rule, [(definite(4), wave(4), 4), (definite(2), wave(2), 2)]);
    check_rule(lu_solve::rule, [(general(4), wave(4)), (general(3), wave(3)), (general(1), wave(1))]);
    check_rule(solve_in_place::rule, [(general(4), wave(4)), (general(3), wave(3)), (general(1), wave(1))]);
    check_rule(gram_schmidt::rule, [(general(3), 3, 3), (wave(8), 2, 4), (vec![], 0, 3)]);
    check_rule(
        givens_least_squares::rule,
        [(wave(8), vec![0.5, 0.9, -0.3, 0.2], 2), (general(2), wave(2), 2)],
    );
}

#[test]
fn solvers() {
    check_rule(
        thomas::rule,
        [
            (vec![0.0, 0.3, -0.4, 0.2], vec![2.0, 1.5, 2.5, 1.8], vec![0.5, -0.3, 0.6, 0.0], wave(4)),
            (vec![0.0], vec![2.0], vec![0.0], wave(1)),
        ],
    );
    check_rule(
        conjugate_gradients::rule,
        [(definite(4), wave(4), 3), (definite(2), wave(2), 1), (definite(2), wave(2), 0)],
    );
    check_rule(power_iteration::rule, [(definite(3), wave(3), 6), (definite(2), wave(2), 1)]);
}

#[test]
fn matrix_functions() {
    let a = [[0.1, 0.5, -0.3], [0.7, -0.2, 0.4], [-0.6, 0.3, 0.2]];
    check_rule(matrix_exponential::rule, [(a, 2), ([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.5]], 0)]);
    check_rule(
        jacobi_eigenvalues::rule,
        [
            ([[2.0, 0.3, -0.1], [0.3, 1.0, 0.4], [-0.1, 0.4, 3.0]], 3),
            ([[1.0, 0.5, 0.2], [0.5, 2.0, 0.1], [0.2, 0.1, 0.5]], 1),
        ],
    );
}
