//! Programs whose matrices are vectors of vectors.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// Rows of a lower triangle, each as long as it has to be.
#[differentiable]
fn log_determinant(x: &[f64], length: f64, noise: f64) -> f64 {
    let n = x.len();
    let mut l = vec![vec![0.0; n]; n];
    let mut total = 0.0;
    for i in 0..n {
        for j in 0..=i {
            let d = (x[i] - x[j]) / length;
            let mut sum = (-0.5 * d * d).exp();
            if i == j {
                sum += noise;
            }
            for k in 0..j {
                sum -= l[i][k] * l[j][k];
            }
            l[i][j] = if i == j { sum.sqrt() } else { sum / l[j][j] };
        }
        total += 2.0 * l[i][i].ln();
    }
    total
}

/// Smooth dynamic time warping, the table as rows.
#[differentiable]
fn soft_dtw(a: &[f64], b: &[f64], #[constant] gamma: f64) -> f64 {
    let (n, m) = (a.len(), b.len());
    let mut r = vec![vec![f64::INFINITY; m + 1]; n + 1];
    r[0][0] = 0.0;
    for i in 1..=n {
        for j in 1..=m {
            let d = (a[i - 1] - b[j - 1]).powi(2);
            let (up, left, diagonal) = (r[i - 1][j], r[i][j - 1], r[i - 1][j - 1]);
            let least = up.min(left).min(diagonal);
            let sum = ((least - up) / gamma).exp()
                + ((least - left) / gamma).exp()
                + ((least - diagonal) / gamma).exp();
            r[i][j] = d + least - gamma * sum.ln();
        }
    }
    r[n][m]
}

/// The determinant by elimination; rows change places.
#[differentiable]
fn determinant(entries: &[f64], n: usize) -> f64 {
    let mut a = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..n {
            a[i][j] = entries[i * n + j];
        }
    }
    let mut det = 1.0;
    for k in 0..n {
        let mut best = k;
        for i in k + 1..n {
            if a[i][k].abs() > a[best][k].abs() {
                best = i;
            }
        }
        if best != k {
            for j in 0..n {
                let t = a[k][j];
                a[k][j] = a[best][j];
                a[best][j] = t;
            }
            det = -det;
        }
        det *= a[k][k];
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    det
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect()
}

/// A matrix that needs pivoting.
fn general(n: usize) -> Vec<f64> {
    (0..n * n)
        .map(|k| (1.3 * k as f64 + 0.2).sin() + if k / n + k % n + 1 == n { 2.0 } else { 0.0 })
        .collect()
}

#[test]
fn of_rows() {
    check_rule(log_determinant::rule, [(vec![0.0, 0.5, 1.2, 2.0], 0.8, 0.1), (vec![0.3], 0.8, 0.1)]);
    check_rule(soft_dtw::rule, [(wave(4), vec![0.4, 0.9, 0.2], 0.5), (wave(1), vec![0.4], 1.0)]);
    check_rule(determinant::rule, [(general(4), 4), (general(2), 2), (vec![], 0)]);
}
