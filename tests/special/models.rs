//! What the functions are for: likelihoods, and prices.

use pullback::prelude::*;
use pullback::special::{
    erf, i0_scaled, i1_scaled, ln_beta, ln_gamma, log_sigmoid, norm_cdf, norm_pdf, xlogy,
};
use pullback::testing::{check_rule, check_second_order};

/// Black and Scholes, 1973.
#[differentiable(dual)]
fn call(spot: f64, strike: f64, rate: f64, volatility: f64, years: f64) -> f64 {
    let spread = volatility * years.sqrt();
    let d1 = ((spot / strike).ln() + (rate + 0.5 * volatility * volatility) * years) / spread;
    spot * norm_cdf(d1) - strike * (-rate * years).exp() * norm_cdf(d1 - spread)
}

#[test]
fn the_greeks_of_an_option() {
    let (spot, strike, rate, volatility, years) = (100.0_f64, 110.0, 0.03, 0.25, 0.5_f64);
    let mut g = call::hessian();
    let (_, d, h) = g.value_gradient_and_hessian(spot, strike, rate, volatility, years);
    let spread = volatility * years.sqrt();
    let d1 = ((spot / strike).ln() + (rate + 0.5 * volatility * volatility) * years) / spread;
    let close = |x: f64, y: f64| assert!((x - y).abs() < 1e-12 * y.abs().max(1.0), "{x}, not {y}");
    close(d.spot, norm_cdf(d1));
    close(d.volatility, spot * norm_pdf(d1) * years.sqrt());
    close(h[[0, 0]], norm_pdf(d1) / (spot * spread));
    close(h[[0, 3]], -norm_pdf(d1) * (d1 - spread) / volatility);
    check_rule(call::rule, [(spot, strike, rate, volatility, years), (40.0, 30.0, -0.01, 0.4, 2.0)]);
}

/// Counts of mean μ and of variance μ + μ²/size.
#[differentiable(dual)]
fn negative_binomial(log_mean: f64, size: f64, counts: &[u32]) -> f64 {
    let mean = log_mean.exp();
    let mut total = 0.0;
    for i in 0..counts.len() {
        let k = counts[i] as f64;
        total += ln_gamma(k + size) - ln_gamma(size) - ln_gamma(k + 1.0);
        total += xlogy(k, mean / (mean + size)) + size * (size / (mean + size)).ln();
    }
    total
}

#[test]
fn counts() {
    let counts = vec![0, 3, 1, 7, 0, 2];
    check_rule(
        negative_binomial::rule,
        [(0.5, 1.5, counts.clone()), (1.0, 20.0, counts.clone()), (0.0, 1.0, vec![])],
    );
    check_second_order(negative_binomial::rule, [(0.5, 1.5, counts.clone())]);
    // The mean of the counts is where the likelihood is largest, whatever the size.
    let mean = 13.0_f64 / 6.0;
    assert!(
        negative_binomial::gradient().value_and_gradient(mean.ln(), 1.5, &counts).1.log_mean.abs() < 1e-13
    );
}

/// Angles that gather about a mean.
#[differentiable(dual)]
fn von_mises(mean: f64, concentration: f64, angles: &[f64]) -> f64 {
    let mut total = 0.0;
    for angle in angles {
        total += concentration * ((angle - mean).cos() - 1.0);
    }
    total - angles.len() as f64 * (std::f64::consts::TAU * i0_scaled(concentration)).ln()
}

#[test]
fn directions() {
    let angles = vec![0.1, 0.4, -0.3, 2.0];
    check_rule(von_mises::rule, [(0.2, 1.5, angles.clone()), (0.0, 40.0, angles.clone())]);
    check_second_order(von_mises::rule, [(0.2, 1.5, angles.clone())]);
    // κ̇ = Σ cos(θ − μ) − n·I₁(κ)/I₀(κ), for concentrations whose I₀ is infinite, too.
    let d = von_mises::gradient().value_and_gradient(0.2, 2000.0, &angles).1.concentration;
    let sum: f64 = angles.iter().map(|a: &f64| (a - 0.2).cos()).sum();
    let expected = sum - 4.0 * i1_scaled(2000.0_f64) / i0_scaled(2000.0);
    assert!((d - expected).abs() < 1e-12, "{d}, not {expected}");
}

/// A measured dose and response, with an error function for the drift, and successes out of trials.
#[differentiable(dual)]
fn response(slope: f64, threshold: f64, spread: f64, doses: &[f64], successes: &[u32]) -> f64 {
    let mut total = 0.0;
    for i in 0..doses.len() {
        let x = slope * (doses[i] - threshold) + 0.1 * erf(doses[i] / spread);
        let k = successes[i] as f64;
        total += k * log_sigmoid(x) + (10.0 - k) * log_sigmoid(-x)
            - ln_beta(k + 1.0, 11.0 - k)
            - ln_beta(spread, 2.0);
    }
    total
}

#[test]
fn doses_and_responses() {
    let input = |slope: f64| (slope, 1.5, 0.8, vec![0.5, 1.0, 2.0, 4.0], vec![0, 3, 7, 10]);
    check_rule(response::rule, [input(1.0), input(30.0)]);
    check_second_order(response::rule, [input(1.0), input(-2.0)]);
}
