//! Gradients of the models by hand: reverse mode by the book, with room for what it keeps allocated beforehand.
//!
//! Each function returns the value and the derivatives by numbers; those by arrays go to `d…`, overwriting it.

use super::models;

fn normal_cdf(x: f64) -> (f64, f64) {
    const C: [f64; 5] = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    const P: f64 = 0.231_641_9;
    let t = 1.0 / (1.0 + P * x.abs());
    let poly = t * (C[0] + t * (C[1] + t * (C[2] + t * (C[3] + t * C[4]))));
    let slope = C[0] + t * (2.0 * C[1] + t * (3.0 * C[2] + t * (4.0 * C[3] + t * 5.0 * C[4])));
    let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let tail = density * poly;
    let d_tail = -x * tail - density * slope * P * t * t * x.signum();
    if x >= 0.0 { (1.0 - tail, -d_tail) } else { (tail, d_tail) }
}

/// The derivatives are in the order of the parameters.
pub(crate) fn black_scholes(spot: f64, strike: f64, rate: f64, sigma: f64, years: f64) -> (f64, [f64; 5]) {
    let root = years.sqrt();
    let spread = sigma * root;
    let drift = rate + 0.5 * sigma * sigma;
    let d1 = ((spot / strike).ln() + drift * years) / spread;
    let (n1, density1) = normal_cdf(d1);
    let (n2, density2) = normal_cdf(d1 - spread);
    let discount = (-rate * years).exp();
    let value = spot * n1 - strike * discount * n2;

    let d_d2 = -strike * discount * density2;
    let d_d1 = spot * density1 + d_d2;
    let d_spread = -d_d2 - d_d1 * d1 / spread;
    let d_numerator = d_d1 / spread;
    let d_discount = -strike * n2;
    let d_drift = d_numerator * years;
    let d = [
        n1 + d_numerator / spot,
        -discount * n2 - d_numerator / strike,
        d_drift - d_discount * years * discount,
        d_drift * sigma + d_spread * root,
        d_numerator * drift - d_discount * rate * discount + 0.5 * d_spread * sigma / root,
    ];
    (value, d)
}

/// The gradient of `d · slope(y)`.
fn lotka_volterra(y: [f64; 2], p: &[f64; 4], d: [f64; 2], dp: &mut [f64; 4]) -> [f64; 2] {
    let product = y[0] * y[1];
    dp[0] += d[0] * y[0];
    dp[1] -= d[0] * product;
    dp[2] += d[1] * product;
    dp[3] -= d[1] * y[1];
    let d_product = p[2] * d[1] - p[1] * d[0];
    [p[0] * d[0] + d_product * y[1], d_product * y[0] - p[3] * d[1]]
}

/// The derivatives by start, parameters and step; `kept` has room for a state per observation.
pub(crate) fn runge_kutta(
    start: [f64; 2],
    p: &[f64; 4],
    observed: &[[f64; 2]],
    dt: f64,
    kept: &mut [[f64; 2]],
) -> (f64, [f64; 2], [f64; 4], f64) {
    use models::{lotka_volterra as slope, step_along};
    let slopes = |y| {
        let k1 = slope(y, p);
        let y2 = step_along(y, k1, 0.5 * dt);
        let k2 = slope(y2, p);
        let y3 = step_along(y, k2, 0.5 * dt);
        let k3 = slope(y3, p);
        let y4 = step_along(y, k3, dt);
        ([k1, k2, k3, slope(y4, p)], [y2, y3, y4])
    };
    let mut y = start;
    let mut misfit = 0.0;
    for (kept, observed) in kept.iter_mut().zip(observed) {
        *kept = y;
        let ([k1, k2, k3, k4], _) = slopes(y);
        for i in 0..2 {
            y[i] += dt / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
            misfit += (y[i] - observed[i]).powi(2);
        }
    }
    let (mut dy, mut dp, mut d_dt) = ([0.0; 2], [0.0; 4], 0.0);
    for (&before, observed) in kept.iter().zip(observed).rev() {
        let ([k1, k2, k3, k4], [y2, y3, y4]) = slopes(before);
        for i in 0..2 {
            dy[i] += 2.0 * (y[i] - observed[i]);
            d_dt += dy[i] / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
        let dk = |share: f64, h: f64, later: [f64; 2]| {
            [share * dt * dy[0] + h * later[0], share * dt * dy[1] + h * later[1]]
        };
        let d4 = lotka_volterra(y4, p, dk(1.0 / 6.0, 0.0, [0.0; 2]), &mut dp);
        let d3 = lotka_volterra(y3, p, dk(1.0 / 3.0, dt, d4), &mut dp);
        let d2 = lotka_volterra(y2, p, dk(1.0 / 3.0, 0.5 * dt, d3), &mut dp);
        let d1 = lotka_volterra(before, p, dk(1.0 / 6.0, 0.5 * dt, d2), &mut dp);
        for i in 0..2 {
            d_dt += k3[i] * d4[i] + 0.5 * (k2[i] * d3[i] + k1[i] * d2[i]);
            dy[i] += d1[i] + d2[i] + d3[i] + d4[i];
        }
        y = before;
    }
    (misfit, dy, dp, d_dt)
}

/// The derivatives by ε and σ.
pub(crate) fn lennard_jones(
    positions: &[[f64; 3]],
    epsilon: f64,
    sigma: f64,
    cutoff: f64,
    d_positions: &mut [[f64; 3]],
) -> (f64, f64, f64) {
    let at_cutoff = (sigma / cutoff).powi(6);
    let unit_shift = 4.0 * (at_cutoff * at_cutoff - at_cutoff);
    d_positions.fill([0.0; 3]);
    let (mut energy, mut d_epsilon, mut d_sigma) = (0.0, 0.0, 0.0);
    for i in 0..positions.len() {
        for j in 0..i {
            let mut d = [0.0; 3];
            let mut r2 = 0.0;
            for k in 0..3 {
                d[k] = positions[i][k] - positions[j][k];
                r2 += d[k] * d[k];
            }
            if r2 < cutoff * cutoff {
                let s6 = (sigma * sigma / r2).powi(3);
                let unit = 4.0 * (s6 * s6 - s6) - unit_shift;
                energy += epsilon * unit;
                d_epsilon += unit;
                let d_s6 = 4.0 * epsilon * (2.0 * s6 - 1.0);
                let d_shift = 4.0 * epsilon * (2.0 * at_cutoff - 1.0);
                d_sigma += 6.0 * (d_s6 * s6 - d_shift * at_cutoff) / sigma;
                let d_r2 = -3.0 * d_s6 * s6 / r2;
                for k in 0..3 {
                    let force = 2.0 * d_r2 * d[k];
                    d_positions[i][k] += force;
                    d_positions[j][k] -= force;
                }
            }
        }
    }
    (energy, d_epsilon, d_sigma)
}

/// The derivative by the target; `kept` has room for a direction per joint.
pub(crate) fn robot_arm(
    angles: &[f64],
    lengths: &[f64],
    target: [f64; 2],
    kept: &mut [(f64, f64)],
    d_angles: &mut [f64],
    d_lengths: &mut [f64],
) -> (f64, [f64; 2]) {
    let (mut x, mut y, mut heading) = (0.0, 0.0, 0.0);
    for i in 0..angles.len() {
        heading += angles[i];
        let (sin, cos) = heading.sin_cos();
        kept[i] = (sin, cos);
        x += lengths[i] * cos;
        y += lengths[i] * sin;
    }
    let (off_x, off_y) = (x - target[0], y - target[1]);
    let (dx, dy) = (2.0 * off_x, 2.0 * off_y);
    let mut d_heading = 0.0;
    for i in (0..angles.len()).rev() {
        let (sin, cos) = kept[i];
        d_lengths[i] = dx * cos + dy * sin;
        d_heading += lengths[i] * (dy * cos - dx * sin);
        d_angles[i] = d_heading;
    }
    (off_x * off_x + off_y * off_y, [-dx, -dy])
}

/// The derivatives by ω, α, β and the mean; `kept` has room for a variance per return.
pub(crate) fn garch(
    omega: f64,
    alpha: f64,
    beta: f64,
    mean: f64,
    returns: &[f64],
    kept: &mut [f64],
    d_returns: &mut [f64],
) -> (f64, [f64; 4]) {
    let start = omega / (1.0 - alpha - beta);
    let mut variance = start;
    let mut loss = 0.0;
    for (&r, kept) in returns.iter().zip(&mut *kept) {
        *kept = variance;
        let shock = r - mean;
        loss += 0.5 * (variance.ln() + shock * shock / variance);
        variance = omega + alpha * shock * shock + beta * variance;
    }
    let (mut d_omega, mut d_alpha, mut d_beta, mut d_mean) = (0.0, 0.0, 0.0, 0.0);
    let mut dv = 0.0;
    for t in (0..returns.len()).rev() {
        let (shock, variance) = (returns[t] - mean, kept[t]);
        d_omega += dv;
        d_alpha += dv * shock * shock;
        d_beta += dv * variance;
        let d_shock = 2.0 * alpha * shock * dv + shock / variance;
        dv = beta * dv + 0.5 * (1.0 - shock * shock / variance) / variance;
        d_returns[t] = d_shock;
        d_mean -= d_shock;
    }
    let by_start = dv / (1.0 - alpha - beta);
    (loss, [d_omega + by_start, d_alpha + by_start * start, d_beta + by_start * start, d_mean])
}
