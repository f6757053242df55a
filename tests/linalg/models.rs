//! Linear algebra in functions as users write them.

use ndarray::{Array1, Array2};
use pullback::linalg::{self, Uplo};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

use crate::inputs::noise;

/// The negative log marginal likelihood of a Gaussian process.
#[differentiable]
fn gaussian_process(#[constant] x: &[f64], #[constant] y: &Array1<f64>, length: f64, noise: f64) -> f64 {
    let n = x.len();
    let mut k = Array2::<f64>::zeros((n, n));
    for i in 0..n {
        for j in 0..n {
            let d = (x[i] - x[j]) / length;
            k[[i, j]] = (-0.5 * d * d).exp();
        }
        k[[i, i]] += noise;
    }
    let l = linalg::cholesky(&k);
    let z = linalg::solve_triangular(Uplo::Lower, Trans::No, &l, y);
    let mut total = 0.0;
    for i in 0..n {
        total += 0.5 * z[i] * z[i] + l[[i, i]].ln();
    }
    total
}

/// The same without the factor.
#[differentiable]
fn gaussian_process_without_factor(
    #[constant] x: &[f64],
    #[constant] y: &Array1<f64>,
    length: f64,
    noise: f64,
) -> f64 {
    let n = x.len();
    let mut k = Array2::<f64>::zeros((n, n));
    for i in 0..n {
        for j in 0..n {
            let d = (x[i] - x[j]) / length;
            k[[i, j]] = (-0.5 * d * d).exp();
        }
        k[[i, i]] += noise;
    }
    let alpha = linalg::solve_spd(&k, y);
    let mut total = 0.5 * linalg::logdet_spd(&k);
    for i in 0..n {
        total += 0.5 * y[i] * alpha[i];
    }
    total
}

#[test]
fn gaussian_processes() {
    let inputs = [5, 128, 1].map(|n| {
        let x: Vec<f64> = (0..n).map(|i| i as f64 * 0.37).collect();
        let y: Array1<f64> = x.iter().map(|x| x.sin()).collect();
        (x, y, 0.8, 0.3)
    });
    check_rule(gaussian_process::rule, inputs.clone());
    let fewer = inputs.clone().map(|(x, y, length, noise)| {
        let n = x.len().min(24);
        (x[..n].to_vec(), y.slice(ndarray::s![..n]).to_owned(), length, noise)
    });
    check_rule(gaussian_process_without_factor::rule, fewer);
    let [_, (x, y, length, noise), _] = inputs;
    let (one, two) =
        (gaussian_process(&x, &y, length, noise), gaussian_process_without_factor(&x, &y, length, noise));
    assert!((one - two).abs() < 1e-10 * one.abs());
}

/// The negative log likelihood of observations of a linear system with noise, by Kalman's filter.
#[differentiable]
fn kalman(
    f: &Array2<f64>,
    q: f64,
    r: f64,
    #[constant] h: &Array2<f64>,
    #[constant] observations: &[f64],
) -> f64 {
    let (n, m) = (f.nrows(), h.nrows());
    let steps = observations.len() / m;
    let mut x = Array2::<f64>::zeros((n, 1));
    let mut p = Array2::<f64>::zeros((n, n));
    for i in 0..n {
        p[[i, i]] = 1.0;
    }
    let mut total = 0.0;
    for t in 0..steps {
        let mut predicted = Array2::<f64>::zeros((n, 1));
        mul_into(&mut predicted, f, &x);
        let mut fp = Array2::<f64>::zeros((n, n));
        mul_into(&mut fp, f, &p);
        gemm(Trans::No, Trans::Yes, 1.0, &fp, f, 0.0, &mut p);
        for i in 0..n {
            p[[i, i]] += q;
        }
        // The covariance of the innovation, and Kalman's gain, S⁻¹·H·P
        let mut hp = Array2::<f64>::zeros((m, n));
        mul_into(&mut hp, h, &p);
        let mut s = Array2::<f64>::zeros((m, m));
        gemm(Trans::No, Trans::Yes, 1.0, &hp, h, 0.0, &mut s);
        let mut v = Array2::<f64>::zeros((m, 1));
        mul_into(&mut v, h, &predicted);
        for i in 0..m {
            s[[i, i]] += r;
            v[[i, 0]] = observations[t * m + i] - v[[i, 0]];
        }
        let l = linalg::cholesky(&s);
        let w = linalg::cholesky_solve(&l, &v);
        let gain = linalg::cholesky_solve(&l, &hp);
        for i in 0..m {
            total += 0.5 * v[[i, 0]] * w[[i, 0]] + l[[i, i]].ln();
        }
        gemm(Trans::Yes, Trans::No, 1.0, &hp, &w, 1.0, &mut predicted);
        gemm(Trans::Yes, Trans::No, -1.0, &hp, &gain, 1.0, &mut p);
        x.assign(&predicted);
    }
    total
}

#[test]
fn kalman_filter() {
    let inputs = [(3, 2, 6), (2, 1, 25), (1, 1, 0)].map(|(n, m, steps)| {
        let f = Array2::from_shape_fn((n, n), |(i, j)| 0.2 * noise(1, i, j) + if i == j { 0.8 } else { 0.0 });
        let h = Array2::from_shape_fn((m, n), |(i, j)| if i == j { 1.0 } else { 0.3 });
        (f, 0.1, 0.4, h, (0..steps * m).map(|i| (0.3 * i as f64).sin()).collect::<Vec<_>>())
    });
    check_rule(kalman::rule, inputs);
}

/// Generalised least squares: the weighted residual after the fit, with errors that are correlated.
#[differentiable]
fn generalised_least_squares(design: &Array2<f64>, y: &Array1<f64>, correlation: f64) -> f64 {
    let (n, k) = (design.nrows(), design.ncols());
    let mut covariance = Array2::<f64>::zeros((n, n));
    for i in 0..n {
        for j in 0..n {
            covariance[[i, j]] = correlation.powi(i.abs_diff(j) as i32);
        }
    }
    let l = linalg::cholesky(&covariance);
    let white = linalg::solve_triangular(Uplo::Lower, Trans::No, &l, design);
    let z = linalg::solve_triangular(Uplo::Lower, Trans::No, &l, y);
    let beta = linalg::lstsq(&white, &z);
    let mut total = 0.0;
    for i in 0..n {
        let mut residual = z[i];
        for j in 0..k {
            residual -= white[[i, j]] * beta[j];
        }
        total += residual * residual;
    }
    total
}

#[test]
fn generalised_least_squares_fit() {
    let inputs = [(12, 3), (4, 1), (40, 5)].map(|(n, k)| {
        let design = Array2::from_shape_fn((n, k), |(i, j)| (0.2 * (i * (j + 1)) as f64).cos());
        (design, (0..n).map(|i| noise(3, i, 0)).collect::<Array1<f64>>(), 0.6)
    });
    check_rule(generalised_least_squares::rule, inputs);
}

/// The log likelihood of the states of a Markov process with these rates, observed at these times.
#[differentiable]
fn markov(rates: &[f64], #[constant] times: &[f64], #[constant] states: &[usize], n: usize) -> f64 {
    let mut total = 0.0;
    for k in 1..states.len() {
        let elapsed = times[k] - times[k - 1];
        let mut generator = Array2::<f64>::zeros((n, n));
        for i in 0..n {
            for j in 0..n {
                if i != j {
                    let rate = rates[i * n + j].exp() * elapsed;
                    generator[[i, j]] = rate;
                    generator[[i, i]] -= rate;
                }
            }
        }
        let transition = linalg::expm(&generator);
        total += transition[[states[k - 1], states[k]]].ln();
    }
    total
}

#[test]
fn markov_process() {
    let rates: Vec<f64> = (0..16).map(|i| noise(4, i, 1)).collect();
    let times: Vec<f64> = [0.0, 0.001, 0.5, 1.0, 4.0, 14.0].to_vec();
    CheckRule::new(markov::rule)
        .input((rates.clone(), times.clone(), vec![0, 0, 3, 1, 2, 2], 4))
        .input((rates[..4].to_vec(), times[1..4].to_vec(), vec![1, 1, 0], 2))
        .tolerance(1e-9)
        .run();
}

/// A penalty on all eigenvalues of WᵀW above one.
#[differentiable]
fn spectral_penalty(w: &Array2<f64>) -> f64 {
    let n = w.ncols();
    let mut gram = Array2::<f64>::zeros((n, n));
    gemm(Trans::Yes, Trans::No, 1.0, w, w, 0.0, &mut gram);
    let values = linalg::eigvalsh(&gram);
    let mut total = 0.0;
    for i in 0..n {
        if values[i] > 1.0 {
            let excess = values[i].sqrt() - 1.0;
            total += excess * excess;
        }
    }
    total
}

/// The share of the leading principal component, and its first entry.
#[differentiable]
fn principal(w: &Array2<f64>) -> f64 {
    let n = w.ncols();
    let mut gram = Array2::<f64>::zeros((n, n));
    gemm(Trans::Yes, Trans::No, 1.0, w, w, 0.0, &mut gram);
    let mut values = Array1::<f64>::zeros(n);
    let mut vectors = Array2::<f64>::zeros((n, n));
    linalg::eigh_into(&mut values, &mut vectors, &gram);
    let mut trace = 0.0;
    for i in 0..n {
        trace += values[i];
    }
    values[n - 1] / trace + vectors[[0, n - 1]]
}

#[test]
fn spectra() {
    let inputs = [(6, 4), (3, 3), (30, 20)].map(|(m, n)| {
        (Array2::from_shape_fn((m, n), |(i, j)| {
            noise(6, i, j) + if i == j { 1.0 + 0.3 * i as f64 } else { 0.0 }
        }),)
    });
    check_rule(spectral_penalty::rule, inputs.clone());
    check_rule(principal::rule, inputs);
}

/// Functions with generic scalars, and results that go on to others in a loop.
#[differentiable]
fn iterated<T: linalg::Real>(a: &Array2<T>, b: &Array2<T>, steps: usize) -> T {
    let mut x = b.clone();
    for _ in 0..steps {
        let next = linalg::solve(a, &x);
        x.assign(&next);
    }
    let mut total = linalg::det(a);
    for i in 0..x.nrows() {
        total += x[[i, 0]] * x[[i, 0]];
    }
    total
}

#[test]
fn iterations() {
    let matrix =
        |n, k| Array2::from_shape_fn((n, k), |(i, j)| 0.3 * noise(8, i, j) + if i == j { 1.5 } else { 0.0 });
    check_rule(iterated::<f64>::rule, [(matrix(3, 3), matrix(3, 2), 4), (matrix(5, 5), matrix(5, 1), 1)]);
    let single = |a: Array2<f64>| a.mapv(|x| x as f32);
    check_rule(iterated::<f32>::rule, [(single(matrix(3, 3)), single(matrix(3, 2)), 2)]);
}
