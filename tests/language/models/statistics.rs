//! Likelihoods, filters and clusters.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

const LN_2PI: f64 = 1.837_877_066_409_345_5;

/// Log-likelihood of a local linear trend under noise, by Kalman's filter with two states.
#[differentiable]
fn kalman_likelihood(start: [f64; 2], q: &[f64; 2], r: f64, y: &[f64]) -> f64 {
    let mut level = start[0];
    let mut slope = start[1];
    let mut p = [[1.0, 0.0], [0.0, 1.0]];
    let mut log_likelihood = 0.0;
    for t in 0..y.len() {
        // Predict.
        level += slope;
        p = [
            [p[0][0] + p[0][1] + p[1][0] + p[1][1] + q[0], p[0][1] + p[1][1]],
            [p[1][0] + p[1][1], p[1][1] + q[1]],
        ];
        // Update.
        let innovation = y[t] - level;
        let s = p[0][0] + r;
        log_likelihood -= 0.5 * (LN_2PI + s.ln() + innovation * innovation / s);
        let gain = [p[0][0] / s, p[1][0] / s];
        level += gain[0] * innovation;
        slope += gain[1] * innovation;
        let row = p[0];
        for j in 0..2 {
            p[0][j] -= gain[0] * row[j];
            p[1][j] -= gain[1] * row[j];
        }
    }
    log_likelihood
}

#[differentiable]
fn log_sum_exp(x: &[f64]) -> f64 {
    let mut largest = x[0];
    for i in 1..x.len() {
        largest = largest.max(x[i]);
    }
    let mut total = 0.0;
    for i in 0..x.len() {
        total += (x[i] - largest).exp();
    }
    largest + total.ln()
}

/// The forward algorithm of a hidden Markov model, with logarithms throughout.
#[differentiable]
fn hmm_log_likelihood(start: &[f64], transition: &[f64], emission: &[f64], seen: &[usize]) -> f64 {
    let n = start.len();
    let symbols = emission.len() / n;
    let mut alpha = vec![0.0; n];
    let mut next = vec![0.0; n];
    let mut terms = vec![0.0; n];
    for i in 0..n {
        alpha[i] = start[i].ln() + emission[i * symbols + seen[0]].ln();
    }
    for t in 1..seen.len() {
        for j in 0..n {
            for i in 0..n {
                terms[i] = alpha[i] + transition[i * n + j].ln();
            }
            next[j] = log_sum_exp(&terms) + emission[j * symbols + seen[t]].ln();
        }
        for j in 0..n {
            alpha[j] = next[j];
        }
    }
    log_sum_exp(&alpha)
}

/// Negative log-likelihood of a mixture of spherical Gaussians in the plane.
#[differentiable]
fn mixture(logits: &[f64], means: &[[f64; 2]], log_scales: &[f64], #[constant] points: &[[f64; 2]]) -> f64 {
    let k = logits.len();
    let norm = log_sum_exp(logits);
    let mut terms = vec![0.0; k];
    let mut loss = 0.0;
    for i in 0..points.len() {
        for c in 0..k {
            let dx = points[i][0] - means[c][0];
            let dy = points[i][1] - means[c][1];
            let precision = (-2.0 * log_scales[c]).exp();
            terms[c] =
                logits[c] - norm - LN_2PI - 2.0 * log_scales[c] - 0.5 * precision * (dx * dx + dy * dy);
        }
        loss -= log_sum_exp(&terms);
    }
    loss
}

/// Each point pays the squared distance to the nearest centre.
#[differentiable]
fn k_means_cost(centres: &[[f64; 2]], points: &[[f64; 2]]) -> f64 {
    let mut cost = 0.0;
    for i in 0..points.len() {
        let mut nearest = f64::INFINITY;
        for c in 0..centres.len() {
            let d2 = (points[i][0] - centres[c][0]).powi(2) + (points[i][1] - centres[c][1]).powi(2);
            if d2 < nearest {
                nearest = d2;
            }
        }
        cost += nearest;
    }
    cost
}

/// The logarithm of the gamma function by Stirling's series, the argument having been raised.
#[differentiable]
fn ln_gamma(x: f64) -> f64 {
    let mut x = x;
    let mut shift = 0.0;
    while x < 12.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    let series = (1.0 / 12.0 - z * (1.0 / 360.0 - z * (1.0 / 1260.0 - z / 1680.0))) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * LN_2PI + series
}

/// Negative log-likelihood of counts, overdispersed, with covariates.
#[differentiable]
fn negative_binomial(beta: &[f64; 2], dispersion: f64, #[constant] x: &[f64], counts: &[u32]) -> f64 {
    let mut loss = 0.0;
    for i in 0..x.len() {
        let mu = (beta[0] + beta[1] * x[i]).exp();
        let k = counts[i] as f64;
        loss -= ln_gamma(k + dispersion) - ln_gamma(dispersion) - ln_gamma(k + 1.0);
        loss -= dispersion * (dispersion / (dispersion + mu)).ln() + k * (mu / (dispersion + mu)).ln();
    }
    loss
}

/// Student's t regression: robust against outliers.
#[differentiable]
fn student_regression(w: &[f64], nu: f64, sigma: f64, x: &[f64], y: &[f64]) -> f64 {
    let d = w.len();
    let normaliser = ln_gamma(0.5 * (nu + 1.0)) - ln_gamma(0.5 * nu) - 0.5 * nu.ln() - sigma.ln();
    let mut loss = 0.0;
    for i in 0..y.len() {
        let mut residual = y[i];
        for j in 0..d {
            residual -= w[j] * x[i * d + j];
        }
        residual /= sigma;
        loss += 0.5 * (nu + 1.0) * (residual * residual / nu).ln_1p() - normaliser;
    }
    loss
}

/// Cox's partial likelihood; the times are sorted, latest first.
#[differentiable]
fn cox(beta: &[f64; 2], #[constant] covariates: &[[f64; 2]], #[constant] died: &[bool]) -> f64 {
    let mut at_risk = 0.0_f64;
    let mut log_likelihood = 0.0;
    for i in 0..covariates.len() {
        let eta = beta[0] * covariates[i][0] + beta[1] * covariates[i][1];
        at_risk += eta.exp();
        if died[i] {
            log_likelihood += eta - at_risk.ln();
        }
    }
    log_likelihood
}

/// An autoregressive model's conditional sum of squares, divided by its variance.
#[differentiable]
fn arma(phi: &[f64], theta: &[f64], y: &[f64]) -> f64 {
    let n = y.len();
    let mut shocks = vec![0.0; n];
    let mut total = 0.0;
    for t in 0..n {
        let mut prediction = 0.0;
        for k in 0..phi.len().min(t) {
            prediction += phi[k] * y[t - 1 - k];
        }
        for k in 0..theta.len().min(t) {
            prediction += theta[k] * shocks[t - 1 - k];
        }
        shocks[t] = y[t] - prediction;
        total += shocks[t] * shocks[t];
    }
    0.5 * n as f64 * (total / n as f64).ln()
}

/// The correlation of two samples in one pass, by Welford's recurrences.
#[differentiable]
fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let (mut mean_x, mut mean_y) = (0.0, 0.0);
    let (mut sxx, mut syy, mut sxy) = (0.0, 0.0, 0.0);
    for i in 0..x.len() {
        let n = (i + 1) as f64;
        let dx = x[i] - mean_x;
        let dy = y[i] - mean_y;
        mean_x += dx / n;
        mean_y += dy / n;
        sxx += dx * (x[i] - mean_x);
        syy += dy * (y[i] - mean_y);
        sxy += dx * (y[i] - mean_y);
    }
    sxy / (sxx * syy).sqrt()
}

#[test]
fn filters() {
    let y = vec![1.1, 1.4, 2.2, 2.4, 3.3];
    check_rule(
        kalman_likelihood::rule,
        [([0.8, 0.5], [0.1, 0.05], 0.3, y.clone()), ([0.0, 1.0], [0.2, 0.1], 0.5, y[..1].to_vec())],
    );
    let transition = vec![0.7, 0.2, 0.1, 0.3, 0.5, 0.2, 0.25, 0.25, 0.5];
    let emission = vec![0.9, 0.1, 0.4, 0.6, 0.2, 0.8];
    check_rule(
        hmm_log_likelihood::rule,
        [
            (vec![0.5, 0.3, 0.2], transition.clone(), emission.clone(), vec![0, 1, 1, 0, 1]),
            (vec![0.2, 0.2, 0.6], transition, emission, vec![1]),
            (vec![0.4, 0.6], vec![0.7, 0.3, 0.2, 0.8], vec![0.9, 0.1, 0.4, 0.6], vec![1, 0, 0]),
        ],
    );
    check_rule(
        arma::rule,
        [(vec![0.5, -0.2], vec![0.3], y.clone()), (vec![0.4], vec![0.2, 0.1], y[..2].to_vec())],
    );
}

#[test]
fn clusters() {
    let points = vec![[0.1, 0.2], [1.1, 0.9], [-0.5, 1.3], [0.7, -0.4]];
    let means = vec![[0.0, 0.0], [1.0, 1.0]];
    check_rule(
        mixture::rule,
        [
            (vec![0.2, -0.1], means.clone(), vec![0.1, -0.3], points.clone()),
            (vec![0.2], vec![[0.3, 0.1]], vec![0.1], points[..1].to_vec()),
        ],
    );
    check_rule(
        k_means_cost::rule,
        [(means, points.clone()), (vec![[0.3, 0.1]], points), (vec![[0.3, 0.1]], vec![])],
    );
}

#[test]
fn regressions() {
    check_rule(ln_gamma::rule, [(0.7,), (3.2,), (15.0,)]);
    check_rule(
        negative_binomial::rule,
        [([0.3, 0.7], 1.5, vec![0.2, 1.0, -0.5], vec![1, 4, 0]), ([0.1, -0.2], 0.8, vec![0.4], vec![2])],
    );
    check_rule(
        student_regression::rule,
        [
            (vec![0.5, -0.3], 4.0, 0.7, vec![1.0, 0.2, 0.5, -1.0, 0.3, 0.8], vec![0.4, 1.0, -2.0]),
            (vec![0.5], 3.0, 1.2, vec![1.0], vec![0.4]),
        ],
    );
    check_rule(
        cox::rule,
        [
            ([0.5, -0.3], vec![[0.1, 1.0], [0.7, 0.2], [-0.3, 0.5]], vec![true, false, true]),
            ([0.2, 0.4], vec![[0.3, 0.9], [0.1, -0.2]], vec![true, true]),
        ],
    );
    check_rule(
        correlation::rule,
        [(vec![0.5, 1.0, 1.7, 2.2], vec![0.3, 0.9, 0.7, 1.5]), (vec![0.5, 1.0, 0.2], vec![0.3, 0.9, 1.7])],
    );
}

/// Soft dynamic time warping: the soft minimum over all alignments of two series (Cuturi and Blondel, *Soft-DTW: a
/// differentiable loss function for time-series*, 2017).
#[differentiable]
fn soft_dtw(a: &[f64], b: &[f64], gamma: f64) -> f64 {
    let (n, m) = (a.len(), b.len());
    let width = m + 1;
    let mut cost: Vec<f64> = vec![1e10; (n + 1) * width];
    cost[0] = 0.0;
    for i in 1..=n {
        for j in 1..=m {
            let before = [cost[(i - 1) * width + j], cost[i * width + j - 1], cost[(i - 1) * width + j - 1]];
            let least = before[0].min(before[1]).min(before[2]);
            let mut sum: f64 = 0.0;
            for k in 0..3 {
                sum += ((least - before[k]) / gamma).exp();
            }
            cost[i * width + j] = (a[i - 1] - b[j - 1]).powi(2) + least - gamma * sum.ln();
        }
    }
    cost[n * width + m]
}

#[test]
fn alignments() {
    let series =
        |n: usize, shift: f64| -> Vec<f64> { (0..n).map(|i| (0.8 * i as f64 + shift).sin()).collect() };
    check_rule(
        soft_dtw::rule,
        [(series(4, 0.0), series(5, 0.3), 0.5), (series(1, 0.2), series(3, 0.0), 1.2)],
    );
}
