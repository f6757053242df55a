//! Nonlinear least squares: `cargo run --release --example fit`.
//!
//! How fast an enzyme works, fitted to measurements by the Gauss-Newton method, with standard errors from the Jacobian and, by
//! Newton's method on the likelihood, from the Hessian.
//!
//! The data are velocities of a reaction with an enzyme treated with puromycin (M. A. Treloar, *Effects of Puromycin on
//! Galactosyltransferase in Golgi Membranes*, 1974; in D. M. Bates & D. G. Watts, *Nonlinear Regression Analysis and Its Applications*,
//! Wiley 1988, table A1.3).

use pullback::prelude::*;

/// Concentration of the substrate in parts per million, and the velocity in counts per minute and minute.
const MEASURED: [(f64, f64); 12] = [
    (0.02, 76.0),
    (0.02, 47.0),
    (0.06, 97.0),
    (0.06, 107.0),
    (0.11, 123.0),
    (0.11, 139.0),
    (0.22, 159.0),
    (0.22, 152.0),
    (0.56, 191.0),
    (0.56, 201.0),
    (1.10, 207.0),
    (1.10, 200.0),
];

/// The model of Michaelis and Menten, *v = v_max·c/(k + c)*, minus what was measured.
#[differentiable(dual)]
fn residuals(v_max: f64, k: f64, #[constant] measured: &[(f64, f64)]) -> Vec<f64> {
    measured.iter().map(|(c, v)| v_max * c / (k + c) - v).collect::<Vec<_>>()
}

/// The negative logarithm of the likelihood for normal errors with standard deviation *eˢ*, but for a constant.
#[differentiable(dual)]
fn surprise(v_max: f64, k: f64, s: f64, #[constant] measured: &[(f64, f64)]) -> f64 {
    let mut total = measured.len() as f64 * s;
    for (c, v) in measured {
        let miss = (v_max * c / (k + c) - v) / s.exp();
        total += 0.5 * miss * miss;
    }
    total
}

/// The inverse of a symmetric 2×2 or 3×3 matrix, by cofactors.
fn inverse(m: &ndarray::Array2<f64>) -> ndarray::Array2<f64> {
    let n = m.nrows();
    let mut work = ndarray::concatenate![ndarray::Axis(1), *m, ndarray::Array2::eye(n)];
    for column in 0..n {
        let pivot = work[[column, column]];
        work.row_mut(column).mapv_inplace(|x| x / pivot);
        for row in (0..n).filter(|row| *row != column) {
            let factor = work[[row, column]];
            let scaled = work.row(column).mapv(|x| x * factor);
            let mut target = work.row_mut(row);
            target -= &scaled;
        }
    }
    work.slice(ndarray::s![.., n..]).to_owned()
}

fn main() {
    let (mut v_max, mut k) = (150.0, 0.1);
    let mut fit = residuals::jacobian();
    let (mut deviation, mut errors) = (0.0, [0.0; 2]);
    println!("Gauss-Newton:");
    for step in 0..8 {
        let (r, j) = fit.value_and_jacobian(v_max, k, &MEASURED);
        let r = ndarray::Array1::from(r);
        let covariance = inverse(&j.t().dot(&j));
        let change = covariance.dot(&j.t().dot(&r));
        deviation = (r.dot(&r) / (MEASURED.len() - 2) as f64).sqrt();
        errors = [0, 1].map(|i| deviation * covariance[[i, i]].sqrt());
        println!("  {step}: v_max = {v_max:8.4}, k = {k:.6}, |r|² = {:10.4}", r.dot(&r));
        v_max -= change[0];
        k -= change[1];
    }
    println!(
        "v_max = {v_max:.1} ± {:.2}, k = {k:.5} ± {:.5}, residual deviation {deviation:.2}",
        errors[0], errors[1]
    );

    let mut s = deviation.ln();
    let mut likelihood = surprise::hessian();
    let mut errors = [0.0; 3];
    for _ in 0..4 {
        let (_, d, h) = likelihood.value_gradient_and_hessian(v_max, k, s, &MEASURED);
        let covariance = inverse(&h.to_owned());
        let change = covariance.dot(&ndarray::array![d.v_max, d.k, d.s]);
        errors = [0, 1, 2].map(|i| covariance[[i, i]].sqrt());
        (v_max, k, s) = (v_max - change[0], k - change[1], s - change[2]);
    }
    println!("Newton's method on the likelihood:");
    println!(
        "v_max = {v_max:.1} ± {:.2}, k = {k:.5} ± {:.5}, deviation {:.2}",
        errors[0],
        errors[1],
        s.exp()
    );

    // What other programs find.
    assert!((v_max - 212.7).abs() < 0.05 && (k - 0.06412).abs() < 5e-6 && (deviation - 10.93).abs() < 0.005);
}
