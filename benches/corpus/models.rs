//! Ten models, written with no thought of derivatives.

use pullback::prelude::*;

/// Abramowitz and Stegun, 26.2.17.
#[differentiable]
pub(crate) fn normal_cdf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let poly = t
        * (0.319_381_530
            + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt() * poly;
    if x >= 0.0 { 1.0 - tail } else { tail }
}

#[differentiable]
pub(crate) fn black_scholes(spot: f64, strike: f64, rate: f64, sigma: f64, years: f64) -> f64 {
    let spread = sigma * years.sqrt();
    let d1 = ((spot / strike).ln() + (rate + 0.5 * sigma * sigma) * years) / spread;
    let d2 = d1 - spread;
    spot * normal_cdf(d1) - strike * (-rate * years).exp() * normal_cdf(d2)
}

/// Prey and predators.
#[differentiable]
pub(crate) fn lotka_volterra(y: [f64; 2], p: &[f64; 4]) -> [f64; 2] {
    [p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]]
}

#[differentiable]
pub(crate) fn step_along(y: [f64; 2], slope: [f64; 2], h: f64) -> [f64; 2] {
    [y[0] + h * slope[0], y[1] + h * slope[1]]
}

/// The classical method of Runge and Kutta; squared distance from what was observed.
#[differentiable]
pub(crate) fn runge_kutta(start: [f64; 2], p: &[f64; 4], #[constant] observed: &[[f64; 2]], dt: f64) -> f64 {
    let mut y = start;
    let mut misfit = 0.0;
    for t in 0..observed.len() {
        let k1 = lotka_volterra(y, p);
        let k2 = lotka_volterra(step_along(y, k1, 0.5 * dt), p);
        let k3 = lotka_volterra(step_along(y, k2, 0.5 * dt), p);
        let k4 = lotka_volterra(step_along(y, k3, dt), p);
        for i in 0..2 {
            y[i] += dt / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
            misfit += (y[i] - observed[t][i]).powi(2);
        }
    }
    misfit
}

/// Lennard-Jones energy of all pairs that are closer than `cutoff`, shifted to be continuous there.
#[differentiable]
pub(crate) fn lennard_jones(
    positions: &[[f64; 3]],
    epsilon: f64,
    sigma: f64,
    #[constant] cutoff: f64,
) -> f64 {
    let cutoff2 = cutoff * cutoff;
    let at_cutoff = (sigma / cutoff).powi(6);
    let shift = 4.0 * epsilon * (at_cutoff * at_cutoff - at_cutoff);
    let mut energy = 0.0;
    for i in 0..positions.len() {
        for j in 0..i {
            let mut r2 = 0.0;
            for k in 0..3 {
                let d = positions[i][k] - positions[j][k];
                r2 += d * d;
            }
            if r2 < cutoff2 {
                let s6 = (sigma * sigma / r2).powi(3);
                energy += 4.0 * epsilon * (s6 * s6 - s6) - shift;
            }
        }
    }
    energy
}

/// The squared distance of the hand of a planar arm from its target.
#[differentiable]
pub(crate) fn robot_arm(angles: &[f64], lengths: &[f64], target: [f64; 2]) -> f64 {
    let mut x = 0.0;
    let mut y = 0.0;
    let mut heading = 0.0;
    for i in 0..angles.len() {
        heading += angles[i];
        x += lengths[i] * heading.cos();
        y += lengths[i] * heading.sin();
    }
    (x - target[0]).powi(2) + (y - target[1]).powi(2)
}

/// Negative log-likelihood of GARCH(1, 1).
#[differentiable]
pub(crate) fn garch(omega: f64, alpha: f64, beta: f64, mean: f64, returns: &[f64]) -> f64 {
    let mut variance = omega / (1.0 - alpha - beta);
    let mut loss = 0.0;
    for t in 0..returns.len() {
        let shock = returns[t] - mean;
        loss += 0.5 * (variance.ln() + shock * shock / variance);
        variance = omega + alpha * shock * shock + beta * variance;
    }
    loss
}

/// Reaction and diffusion of two substances on a ring, by Gray and Scott.
#[differentiable]
pub(crate) fn gray_scott(u: &mut [f64], v: &mut [f64], feed: f64, kill: f64, steps: usize) -> f64 {
    let n = u.len();
    let mut du = vec![0.0; n];
    let mut dv = vec![0.0; n];
    for _ in 0..steps {
        for i in 0..n {
            let left = if i == 0 { n - 1 } else { i - 1 };
            let right = if i + 1 == n { 0 } else { i + 1 };
            let reaction = u[i] * v[i] * v[i];
            du[i] = 0.16 * (u[left] + u[right] - 2.0 * u[i]) - reaction + feed * (1.0 - u[i]);
            dv[i] = 0.08 * (v[left] + v[right] - 2.0 * v[i]) + reaction - (feed + kill) * v[i];
        }
        for i in 0..n {
            u[i] += du[i];
            v[i] += dv[i];
        }
    }
    let mut mixed = 0.0;
    for i in 0..n {
        mixed += u[i] * v[i];
    }
    mixed
}

/// Smoothed total variation of an image plus the distance from what was seen.
#[differentiable]
pub(crate) fn total_variation(image: &[f64], seen: &[f64], width: usize, weight: f64, epsilon: f64) -> f64 {
    let height = image.len() / width;
    let mut cost = 0.0;
    for y in 0..height {
        for x in 0..width {
            let here = image[y * width + x];
            let dx = if x + 1 < width { image[y * width + x + 1] - here } else { 0.0 };
            let dy = if y + 1 < height { image[(y + 1) * width + x] - here } else { 0.0 };
            let off = here - seen[y * width + x];
            cost += weight * (dx * dx + dy * dy + epsilon * epsilon).sqrt() + 0.5 * off * off;
        }
    }
    cost
}

/// ½ Σ wₑ (xᵢ − xⱼ)² over the edges of a graph in compressed rows.
#[differentiable]
pub(crate) fn graph_laplacian(x: &[f64], starts: &[usize], targets: &[usize], weights: &[f64]) -> f64 {
    let mut energy = 0.0;
    for i in 0..x.len() {
        for e in starts[i]..starts[i + 1] {
            let d = x[i] - x[targets[e]];
            energy += 0.5 * weights[e] * d * d;
        }
    }
    energy
}

/// y ← W x + b
#[differentiable]
pub(crate) fn dense(w: &[f64], b: &[f64], x: &[f64], y: &mut [f64]) {
    let n = x.len();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..n {
            s += w[i * n + j] * x[j];
        }
        y[i] = s;
    }
}

#[differentiable]
pub(crate) fn relu(x: &mut [f64]) {
    for i in 0..x.len() {
        if x[i] < 0.0 {
            x[i] = 0.0;
        }
    }
}

/// Mean squared error of a network of one hidden layer over a batch.
#[differentiable]
pub(crate) fn mlp(
    w1: &[f64],
    b1: &[f64],
    w2: &[f64],
    b2: &[f64],
    #[constant] x: &[f64],
    #[constant] targets: &[f64],
) -> f64 {
    let (hidden, out) = (b1.len(), b2.len());
    let inputs = w1.len() / hidden;
    let samples = x.len() / inputs;
    let mut h = vec![0.0; hidden];
    let mut y = vec![0.0; out];
    let mut loss = 0.0;
    for s in 0..samples {
        dense(w1, b1, &x[s * inputs..(s + 1) * inputs], &mut h);
        relu(&mut h);
        dense(w2, b2, &h, &mut y);
        for k in 0..out {
            let error = y[k] - targets[s * out + k];
            loss += error * error;
        }
    }
    loss / samples as f64
}

/// In place, the lower triangle.
#[differentiable]
pub(crate) fn cholesky(a: &mut [f64], n: usize) {
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
pub(crate) fn forward_substitution(l: &[f64], b: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            b[i] -= l[i * n + j] * b[j];
        }
        b[i] /= l[i * n + i];
    }
}

/// Log marginal likelihood of a Gaussian process with a squared-exponential kernel.
#[differentiable]
pub(crate) fn gaussian_process(
    log_length: f64,
    log_signal: f64,
    log_noise: f64,
    x: &[f64],
    y: &[f64],
) -> f64 {
    let n = x.len();
    let length = log_length.exp();
    let signal = (2.0 * log_signal).exp();
    let noise = (2.0 * log_noise).exp();
    let mut k = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let d = (x[i] - x[j]) / length;
            k[i * n + j] = signal * (-0.5 * d * d).exp();
        }
        k[i * n + i] += noise;
    }
    cholesky(&mut k, n);
    let mut alpha = vec![0.0; n];
    alpha.copy_from_slice(y);
    forward_substitution(&k, &mut alpha, n);
    let mut result = -0.5 * n as f64 * (2.0 * std::f64::consts::PI).ln();
    for i in 0..n {
        result -= 0.5 * alpha[i] * alpha[i] + k[i * n + i].ln();
    }
    result
}
