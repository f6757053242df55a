//! Options, portfolios and volatilities.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// Abramowitz and Stegun, 26.2.17: good to 7.5·10⁻⁸.
#[differentiable]
fn normal_cdf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let poly = t
        * (0.319_381_530
            + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt() * poly;
    if x >= 0.0 { 1.0 - tail } else { tail }
}

/// The normal distribution by the series of the error function, to the last bit that matters.
#[differentiable]
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

#[differentiable]
fn black_scholes_call(spot: f64, strike: f64, rate: f64, sigma: f64, years: f64) -> f64 {
    let spread = sigma * years.sqrt();
    let d1 = ((spot / strike).ln() + (rate + 0.5 * sigma * sigma) * years) / spread;
    let d2 = d1 - spread;
    spot * normal_cdf_by_series(d1) - strike * (-rate * years).exp() * normal_cdf_by_series(d2)
}

#[differentiable]
fn black_scholes_book(spot: f64, rate: f64, sigma: &[f64], #[constant] strikes: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..strikes.len() {
        let spread = sigma[i];
        let d1 = ((spot / strikes[i]).ln() + rate + 0.5 * spread * spread) / spread;
        let d2 = d1 - spread;
        total += spot * normal_cdf(d1) - strikes[i] * (-rate).exp() * normal_cdf(d2);
    }
    total
}

/// The tree of Cox, Ross and Rubinstein.
#[differentiable]
fn binomial_put(spot: f64, strike: f64, rate: f64, sigma: f64, years: f64, steps: usize) -> f64 {
    let dt = years / steps as f64;
    let up = (sigma * dt.sqrt()).exp();
    let down = 1.0 / up;
    let growth = (rate * dt).exp();
    let p = (growth - down) / (up - down);
    let mut values = vec![0.0; steps + 1];
    for i in 0..=steps {
        let s = spot * up.powi(i as i32) * down.powi((steps - i) as i32);
        values[i] = (strike - s).max(0.0);
    }
    for level in (0..steps).rev() {
        for i in 0..=level {
            values[i] = (p * values[i + 1] + (1.0 - p) * values[i]) / growth;
        }
    }
    values[0]
}

/// As before, with the right to exercise at any time.
#[differentiable]
fn american_put(spot: f64, strike: f64, rate: f64, sigma: f64, years: f64, steps: usize) -> f64 {
    let dt = years / steps as f64;
    let up = (sigma * dt.sqrt()).exp();
    let discount = (-rate * dt).exp();
    let p = (1.0 / discount - 1.0 / up) / (up - 1.0 / up);
    let mut values = vec![0.0; steps + 1];
    let mut s = spot / up.powi(steps as i32);
    for i in 0..=steps {
        values[i] = f64::max(strike - s, 0.0);
        s *= up * up;
    }
    for level in (0..steps).rev() {
        let mut s = spot / up.powi(level as i32);
        for i in 0..=level {
            let hold = discount * (p * values[i + 1] + (1.0 - p) * values[i]);
            let exercise = strike - s;
            values[i] = if exercise > hold { exercise } else { hold };
            s *= up * up;
        }
    }
    values[0]
}

/// Heston's model by Euler with full truncation, on given noise; a smooth payoff at the end.
#[differentiable]
fn heston_path(
    spot: f64,
    variance: f64,
    kappa: f64,
    theta: f64,
    xi: f64,
    rho: f64,
    #[constant] noise: &[(f64, f64)],
) -> f64 {
    let dt = 1.0 / noise.len() as f64;
    let mut log_spot = spot.ln();
    let mut v = variance;
    for i in 0..noise.len() {
        let (z1, z2) = noise[i];
        let positive = v.max(0.0);
        let root = (positive * dt).sqrt();
        log_spot += -0.5 * positive * dt + root * z1;
        v += kappa * (theta - positive) * dt + xi * root * (rho * z1 + (1.0 - rho * rho).sqrt() * z2);
    }
    let ratio = log_spot.exp() / 100.0;
    (1.0 + ratio.powi(4)).ln()
}

/// Discount factors from swap rates, one after the other, then the value of given payments.
#[differentiable]
fn bootstrap(rates: &[f64], payments: &[f64]) -> f64 {
    let n = rates.len();
    let mut discount = vec![0.0; n];
    let mut annuity = 0.0;
    for i in 0..n {
        discount[i] = (1.0 - rates[i] * annuity) / (1.0 + rates[i]);
        annuity += discount[i];
    }
    let mut value = 0.0;
    for i in 0..payments.len() {
        value += payments[i] * discount[i];
    }
    value
}

/// Variance minus expected return, with a penalty for short positions; weights by softmax of scores.
#[differentiable]
fn portfolio(scores: &[f64], mean: &[f64], covariance: &[[f64; 3]; 3], aversion: f64) -> f64 {
    let mut weights = [0.0; 3];
    let mut norm = 0.0;
    for i in 0..3 {
        weights[i] = scores[i].exp();
        norm += weights[i];
    }
    for i in 0..3 {
        weights[i] /= norm;
    }
    let mut risk = 0.0;
    let mut gain = 0.0;
    for i in 0..3 {
        gain += weights[i] * mean[i];
        for j in 0..3 {
            risk += weights[i] * covariance[i][j] * weights[j];
        }
    }
    0.5 * aversion * risk - gain
}

/// An Asian option under geometric Brownian motion: the mean of the path, and the payoff averaged over paths of given noise.
#[differentiable]
fn asian_call(spot: f64, strike: f64, rate: f64, sigma: f64, #[constant] noise: &[[f64; 4]]) -> f64 {
    let dt = 0.25_f64;
    let drift = (rate - 0.5 * sigma * sigma) * dt;
    let vol = sigma * dt.sqrt();
    let mut total = 0.0;
    for path in 0..noise.len() {
        let mut s = spot;
        let mut sum = 0.0;
        for k in 0..4 {
            s *= (drift + vol * noise[path][k]).exp();
            sum += s;
        }
        total += (0.25 * sum - strike).max(0.0);
    }
    (-rate).exp() * total / noise.len() as f64
}

#[test]
fn options() {
    check_rule(normal_cdf::rule, [(0.5,), (-1.2,)]);
    check_rule(normal_cdf_by_series::rule, [(0.5,), (-1.2,)]);
    check_rule(black_scholes_call::rule, [(1.0, 1.1, 0.03, 0.25, 0.75), (1.2, 0.9, 0.01, 0.4, 2.0)]);
    check_rule(
        black_scholes_book::rule,
        [(1.0, 0.03, vec![0.2, 0.25, 0.3], vec![0.9, 1.0, 1.15]), (1.1, 0.02, vec![0.4], vec![1.0])],
    );
    check_rule(binomial_put::rule, [(1.0, 1.103, 0.03, 0.25, 0.75, 9), (1.2, 1.0, 0.01, 0.4, 2.0, 1)]);
    check_rule(american_put::rule, [(1.0, 1.103, 0.03, 0.25, 0.75, 9), (1.2, 1.0, 0.05, 0.4, 2.0, 2)]);
    let noise = vec![(0.3, -0.2), (-0.8, 0.5), (1.1, -0.3), (0.2, 0.4)];
    check_rule(
        heston_path::rule,
        [
            (100.0, 0.04, 1.5, 0.05, 0.3, -0.6, noise.clone()),
            (90.0, 0.09, 0.8, 0.03, 0.5, 0.2, noise[..1].to_vec()),
        ],
    );
    check_rule(
        asian_call::rule,
        [
            (
                1.0,
                1.0,
                0.03,
                0.2,
                vec![[0.3, -0.2, 0.7, 1.0], [-0.5, -0.9, 0.1, -1.0], [0.1, 1.2, -0.3, 0.2]],
            ),
            (1.0, 0.8, 0.01, 0.4, vec![[0.5, 0.1, -0.4, 0.2]]),
        ],
    );
}

/// The Greeks by their closed forms.
#[test]
fn greeks() {
    let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let mut g = black_scholes_call::gradient();
    for (spot, strike, rate, sigma, years) in
        [(100.0, 95.0, 0.03, 0.2, 0.5), (80.0, 95.0, 0.01, 0.35, 2.0_f64)]
    {
        let spread = sigma * years.sqrt();
        let d1 = (f64::ln(spot / strike) + (rate + 0.5 * sigma * sigma) * years) / spread;
        let later = strike * f64::exp(-rate * years) * normal_cdf_by_series(d1 - spread);
        let (_, d) = g.value_and_gradient(spot, strike, rate, sigma, years);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} instead of {b}");
        close(d.spot, normal_cdf_by_series(d1));
        close(d.strike, -later / strike);
        close(d.rate, years * later);
        close(d.sigma, spot * density(d1) * years.sqrt());
        close(d.years, spot * density(d1) * sigma / (2.0 * years.sqrt()) + rate * later);
    }
}

#[test]
fn series() {
    check_rule(bootstrap::rule, [(vec![0.02, 0.025, 0.03], vec![1.0, 2.0, 100.0]), (vec![0.05], vec![10.0])]);
    let covariance = [[0.04, 0.01, 0.0], [0.01, 0.09, -0.02], [0.0, -0.02, 0.16]];
    check_rule(
        portfolio::rule,
        [
            (vec![0.1, 0.4, -0.3], vec![0.03, 0.06, 0.1], covariance, 3.0),
            (vec![1.0, 0.0, 0.5], vec![0.1, -0.2, 0.3], covariance, 0.5),
        ],
    );
}
