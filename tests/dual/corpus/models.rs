//! Small models of several fields.

use pullback::prelude::*;
use pullback::testing::{check_pushforward, check_second_order};

const LN_2PI: f64 = 1.837_877_066_409_345_5;

#[differentiable(dual)]
fn predators(state: [f64; 2], rates: &[f64; 4]) -> [f64; 2] {
    let [prey, hunters] = state;
    [prey * (rates[0] - rates[1] * hunters), hunters * (rates[3] * prey - rates[2])]
}

/// Lotka and Volterra's equations by the classical method of Runge and Kutta; the misfit to what was counted.
#[differentiable(dual)]
fn lotka_volterra(start: [f64; 2], rates: &[f64; 4], #[constant] counted: &[[f64; 2]], dt: f64) -> f64 {
    let mut y = start;
    let mut misfit = 0.0;
    for t in 0..counted.len() {
        for _ in 0..3 {
            let k1 = predators(y, rates);
            let k2 = predators([y[0] + 0.5 * dt * k1[0], y[1] + 0.5 * dt * k1[1]], rates);
            let k3 = predators([y[0] + 0.5 * dt * k2[0], y[1] + 0.5 * dt * k2[1]], rates);
            let k4 = predators([y[0] + dt * k3[0], y[1] + dt * k3[1]], rates);
            for i in 0..2 {
                y[i] += dt / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
            }
        }
        for i in 0..2 {
            misfit += (y[i].ln() - counted[t][i].ln()).powi(2);
        }
    }
    misfit
}

/// The energy of atoms under Lennard and Jones's potential.
#[differentiable(dual)]
fn lennard_jones(atoms: &[[f64; 3]], sigma: f64, depth: f64) -> f64 {
    let mut energy = 0.0;
    for i in 0..atoms.len() {
        for j in 0..i {
            let mut r2 = 0.0;
            for k in 0..3 {
                r2 += (atoms[i][k] - atoms[j][k]).powi(2);
            }
            let s6 = (sigma * sigma / r2).powi(3);
            energy += 4.0 * depth * (s6 * s6 - s6);
        }
    }
    energy
}

/// Negative log-likelihood of a Gaussian process, by a Cholesky factorisation in place.
#[differentiable(dual)]
fn gaussian_process(log_length: f64, log_scale: f64, noise: f64, #[constant] x: &[f64], y: &[f64]) -> f64 {
    let n = y.len();
    let (length, scale) = (log_length.exp(), log_scale.exp());
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let distance = (x[i] - x[j]) / length;
            l[i * n + j] = scale * (-0.5 * distance * distance).exp();
        }
        l[i * n + i] += noise * noise + 1e-6;
    }
    let mut loss = 0.5 * n as f64 * LN_2PI;
    let mut z = vec![0.0; n];
    for i in 0..n {
        for j in 0..=i {
            let mut s = l[i * n + j];
            for k in 0..j {
                s -= l[i * n + k] * l[j * n + k];
            }
            l[i * n + j] = if i == j { s.sqrt() } else { s / l[j * n + j] };
        }
        let mut residual = y[i];
        for k in 0..i {
            residual -= l[i * n + k] * z[k];
        }
        z[i] = residual / l[i * n + i];
        loss += l[i * n + i].ln() + 0.5 * z[i] * z[i];
    }
    loss
}

/// Kepler's problem by leapfrog; returns how far the end is from `goal`, and the energy.
#[differentiable(dual)]
fn kepler_orbit(q: [f64; 2], p: [f64; 2], goal: &[f64; 2], dt: f64, steps: usize) -> (f64, f64) {
    let mut q = q;
    let mut p = p;
    for _ in 0..steps {
        for k in 0..2 {
            q[k] += 0.5 * dt * p[k];
        }
        let r3 = (q[0] * q[0] + q[1] * q[1]).powf(1.5);
        for k in 0..2 {
            p[k] -= dt * q[k] / r3;
        }
        for k in 0..2 {
            q[k] += 0.5 * dt * p[k];
        }
    }
    let miss = (q[0] - goal[0]).powi(2) + (q[1] - goal[1]).powi(2);
    let kinetic = 0.5 * (p[0] * p[0] + p[1] * p[1]);
    (miss, kinetic - 1.0 / q[0].hypot(q[1]))
}

/// The normal distribution by the series of the error function, to the last bit that matters.
#[differentiable(dual)]
fn normal_cdf_by_series(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    let mut k = 1;
    while term.abs() > 1e-17 * sum.abs() && k < 200 {
        term *= x * x / (2 * k + 1) as f64;
        sum += term;
        k += 1;
    }
    0.5 + sum * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[differentiable(dual)]
fn black_scholes_call(spot: f64, strike: f64, rate: f64, sigma: f64, years: f64) -> f64 {
    let spread = sigma * years.sqrt();
    let d1 = ((spot / strike).ln() + (rate + 0.5 * sigma * sigma) * years) / spread;
    let d2 = d1 - spread;
    spot * normal_cdf_by_series(d1) - strike * (-rate * years).exp() * normal_cdf_by_series(d2)
}

/// Log-likelihood of a local linear trend under noise, by Kalman's filter with two states.
#[differentiable(dual)]
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

#[differentiable(dual)]
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
#[differentiable(dual)]
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

/// Soft dynamic time warping: the soft minimum over all alignments of two series (Cuturi and Blondel, *Soft-DTW: a
/// differentiable loss function for time-series*, 2017).
#[differentiable(dual)]
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

/// The sum of A⁻¹ b, and the determinant: LU with partial pivoting, in place; the order of the rows is kept aside.
#[differentiable(dual)]
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

/// The energy of the orbit alone, to have a Hessian of.
#[differentiable(dual)]
fn missed_by(q: [f64; 2], p: [f64; 2], goal: &[f64; 2], dt: f64, steps: usize) -> f64 {
    let (miss, energy) = kepler_orbit(q, p, goal, dt, steps);
    miss + energy * energy
}

/// Of a solution and a determinant; the matrix is overwritten.
#[differentiable(dual)]
fn solved(a: &mut [f64], b: &[f64]) -> f64 {
    let (sum, det) = lu_solve(a, b);
    sum * det.abs().ln()
}

#[test]
fn dynamics() {
    let counted = vec![[1.1, 0.6], [1.3, 0.7], [1.6, 0.9]];
    check_second_order(
        lotka_volterra::rule,
        [
            ([1.0, 0.5], [0.6, 0.4, 0.5, 0.3], counted.clone(), 0.1),
            ([0.8, 0.9], [0.5, 0.3, 0.4, 0.2], counted[..1].to_vec(), 0.2),
        ],
    );
    let orbits =
        [([1.0, 0.1], [0.1, 0.9], [0.3, 0.8], 0.05, 20), ([0.8, -0.2], [0.3, 1.1], [0.0, 1.0], 0.1, 0)];
    check_pushforward(kepler_orbit::rule, orbits);
    check_second_order(missed_by::rule, orbits);
    let atoms = vec![[0.0, 0.1, 0.2], [1.0, 0.3, -0.2], [-0.4, 1.2, 0.5], [0.7, -0.9, 1.1]];
    check_second_order(lennard_jones::rule, [(atoms.clone(), 0.9, 1.2), (atoms[..2].to_vec(), 1.1, 0.5)]);
}

#[test]
fn likelihoods() {
    let y = vec![1.1, 1.4, 2.2, 2.4, 3.3];
    check_second_order(
        kalman_likelihood::rule,
        [([0.8, 0.5], [0.1, 0.05], 0.3, y.clone()), ([0.0, 1.0], [0.2, 0.1], 0.5, y[..1].to_vec())],
    );
    check_second_order(
        gaussian_process::rule,
        [
            (0.2, -0.3, 0.4, vec![0.0, 0.7, 1.1, 2.5, 3.0], y.clone()),
            (0.5, 0.1, 0.3, vec![0.3, 0.9], y[..2].to_vec()),
        ],
    );
    check_second_order(
        hmm_log_likelihood::rule,
        [
            (
                vec![0.5, 0.3, 0.2],
                vec![0.7, 0.2, 0.1, 0.3, 0.5, 0.2, 0.25, 0.25, 0.5],
                vec![0.9, 0.1, 0.4, 0.6, 0.2, 0.8],
                vec![0, 1, 1, 0, 1],
            ),
            (vec![0.4, 0.6], vec![0.7, 0.3, 0.2, 0.8], vec![0.9, 0.1, 0.4, 0.6], vec![1, 0, 0]),
        ],
    );
}

#[test]
fn algorithms() {
    let series =
        |n: usize, shift: f64| -> Vec<f64> { (0..n).map(|i| (0.8 * i as f64 + shift).sin()).collect() };
    check_second_order(
        soft_dtw::rule,
        [(series(4, 0.0), series(5, 0.3), 0.5), (series(1, 0.2), series(3, 0.0), 1.2)],
    );
    // It takes pivoting.
    let matrix = vec![0.2, 1.5, 2.3, 0.7, 2.9, -0.4, 3.1, 0.3, 0.8];
    let inputs = [(matrix.clone(), vec![0.3, -0.7, 1.1]), (matrix[..4].to_vec(), vec![0.5, 0.9])];
    check_pushforward(lu_solve::rule, inputs.clone());
    check_second_order(solved::rule, inputs);
}

/// Gamma, vanna and the rest of the Hessian of a call against their closed forms.
#[test]
fn greeks() {
    let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    check_second_order(black_scholes_call::rule, [(1.0, 1.1, 0.03, 0.25, 0.75), (1.2, 0.9, 0.01, 0.4, 2.0)]);
    let mut g = black_scholes_call::hessian();
    for (spot, strike, rate, sigma, years) in
        [(100.0, 95.0, 0.03, 0.2, 0.5), (80.0, 95.0, 0.01, 0.35, 2.0_f64)]
    {
        let spread = sigma * years.sqrt();
        let d1 = (f64::ln(spot / strike) + (rate + 0.5 * sigma * sigma) * years) / spread;
        let d2 = d1 - spread;
        let (_, d, h) = g.value_gradient_and_hessian(spot, strike, rate, sigma, years);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-10 * b.abs().max(1.0), "{a} instead of {b}");
        close(d.spot, normal_cdf_by_series(d1));
        let (gamma, vega) = (density(d1) / (spot * spread), spot * density(d1) * years.sqrt());
        close(h[[0, 0]], gamma);
        close(h[[0, 1]], -gamma * spot / strike);
        close(h[[1, 1]], gamma * (spot / strike).powi(2));
        close(h[[0, 3]], -density(d1) * d2 / sigma);
        close(h[[3, 3]], vega * d1 * d2 / sigma);
        close(h[[0, 2]], years * gamma * spot);
    }
}
