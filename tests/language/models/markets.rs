//! What traders compute: paths, smiles and curves, options that may be exercised early, books of instruments, losses.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};
use std::fmt;
#[derive(Debug, Clone, PartialEq)]
enum PricingError {
    NoConvergence { iterations: usize },
    Negative(&'static str),
    BadCurve(String),
}
impl fmt::Display for PricingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
impl std::error::Error for PricingError {}

struct Lcg(u64);
impl Lcg {
    fn new(seed: u64) -> Self {
        Lcg(seed)
    }
    fn next_f64(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
    fn normal(&mut self) -> f64 {
        let (u, v) = (self.next_f64(), self.next_f64());
        (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()
    }
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Heston {
    v0: f64,
    kappa: f64,
    theta: f64,
    xi: f64,
    rho: f64,
}

#[differentiable]
fn heston_call(s0: f64, strike: f64, r: f64, t: f64, model: Heston, paths: usize, steps: usize) -> f64 {
    let dt = t / steps as f64;
    let mut rng = Lcg::new(42);
    let mut payoff_sum = 0.0;
    for _ in 0..paths {
        let mut log_s = s0.ln();
        let mut v = model.v0;
        for _ in 0..steps {
            let z1 = rng.normal();
            let z2 = model.rho * z1 + (1.0 - model.rho.powi(2)).sqrt() * rng.normal();
            let vp = v.max(0.0);
            log_s += (r - 0.5 * vp) * dt + (vp * dt).sqrt() * z1;
            v += model.kappa * (model.theta - vp) * dt + model.xi * (vp * dt).sqrt() * z2;
        }
        payoff_sum += (log_s.exp() - strike).max(0.0);
    }
    (-r * t).exp() * payoff_sum / paths as f64
}
#[differentiable]
fn heston(x: &[f64]) -> f64 {
    let model =
        Heston { v0: 0.1 + 0.1 * x[0], kappa: 1.0 + x[1], theta: 0.1 * x[2] + 0.05, xi: 0.3, rho: -x[3] };
    heston_call(1.0 + x[4], 1.1, 0.02, 1.0, model, 6, 8)
}

#[differentiable]
fn norm_cdf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.2316419 * x.abs());
    let poly =
        t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
    let tail = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt() * poly;
    if x >= 0.0 { 1.0 - tail } else { tail }
}
#[differentiable]
fn bs_price_vega(s: f64, k: f64, r: f64, t: f64, vol: f64) -> (f64, f64) {
    let sqrt_t = t.sqrt();
    let d1 = ((s / k).ln() + (r + 0.5 * vol * vol) * t) / (vol * sqrt_t);
    let d2 = d1 - vol * sqrt_t;
    let price = s * norm_cdf(d1) - k * (-r * t).exp() * norm_cdf(d2);
    let vega = s * sqrt_t * (-0.5 * d1 * d1).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (price, vega)
}
#[differentiable]
fn implied_vol(price: f64, s: f64, k: f64, r: f64, t: f64) -> Result<f64, PricingError> {
    if price <= 0.0 {
        return Err(PricingError::Negative("price"));
    }
    let mut vol = 0.3;
    let mut iterations = 0;
    loop {
        let (p, vega) = bs_price_vega(s, k, r, t, vol);
        let diff = p - price;
        if diff.abs() < 1e-13 {
            break Ok(vol);
        }
        if vega < 1e-10 || iterations >= 60 {
            break Err(PricingError::NoConvergence { iterations });
        }
        vol = (vol - diff / vega).max(1e-4);
        iterations += 1;
    }
}
#[differentiable]
fn smile(x: &[f64]) -> Result<f64, PricingError> {
    let strikes = [0.9, 1.0, 1.1];
    let mut total = 0.0;
    for (&k, &p) in strikes.iter().zip(x.iter().take(3)) {
        let vol = implied_vol(0.2 + 0.1 * p, 1.0 + 0.05 * x[3], k, 0.01, 1.0)?;
        total += vol.powi(2);
    }
    Ok((total / 3.0).sqrt())
}
#[differentiable]
fn smile_or(x: &[f64]) -> f64 {
    smile(x).unwrap_or(0.0) + implied_vol(-x[0], 1.0, 1.0, 0.0, 1.0).unwrap_or(x[1])
}

#[derive(Clone, Debug, Differentiable)]
struct Curve {
    times: Vec<f64>,
    zeros: Vec<f64>,
}
#[differentiable]
impl Curve {
    fn new() -> Self {
        Curve { times: Vec::new(), zeros: Vec::new() }
    }
    fn zero(&self, t: f64) -> f64 {
        match self.times.binary_search_by(|probe| probe.partial_cmp(&t).unwrap()) {
            Ok(i) => self.zeros[i],
            Err(0) => self.zeros[0],
            Err(i) if i == self.times.len() => *self.zeros.last().unwrap(),
            Err(i) => {
                let (t0, t1) = (self.times[i - 1], self.times[i]);
                let w = (t - t0) / (t1 - t0);
                (1.0 - w) * self.zeros[i - 1] + w * self.zeros[i]
            }
        }
    }
    fn discount(&self, t: f64) -> f64 {
        (-self.zero(t) * t).exp()
    }
    fn par_rate(&self, maturity: f64) -> f64 {
        let n = (maturity * 2.0).round() as usize;
        let annuity: f64 = (1..=n).map(|i| 0.5 * self.discount(0.5 * i as f64)).sum();
        (1.0 - self.discount(maturity)) / annuity
    }
}
#[differentiable]
fn bootstrap(quotes: &[(f64, f64)]) -> Curve {
    let mut times: Vec<f64> = Vec::with_capacity(quotes.len());
    let mut dfs: Vec<f64> = Vec::with_capacity(quotes.len());
    for &(maturity, rate) in quotes {
        let annuity: f64 = dfs.iter().sum();
        let df = (1.0 - rate * annuity) / (1.0 + rate);
        times.push(maturity);
        dfs.push(df);
    }
    let zeros = times.iter().zip(&dfs).map(|(t, d)| -d.ln() / t).collect();
    Curve { times, zeros }
}
#[differentiable]
fn curve_model(x: &[f64]) -> f64 {
    let quotes: Vec<(f64, f64)> =
        x.iter().enumerate().map(|(i, r)| ((i + 1) as f64, 0.02 + 0.03 * r)).collect();
    let curve = bootstrap(&quotes);
    curve.par_rate(4.0) + curve.discount(2.3) * curve.zero(0.2) + curve.zero(99.0)
}

/// An American put on a binomial tree that is folded up.
#[differentiable]
fn american_put(s: f64, k: f64, r: f64, sigma: f64, t: f64, n: usize) -> f64 {
    let dt = t / n as f64;
    let u = (sigma * dt.sqrt()).exp();
    let d = u.recip();
    let p = ((r * dt).exp() - d) / (u - d);
    let df = (-r * dt).exp();
    let spot_at = |step: usize, ups: usize| s * u.powi(2 * ups as i32 - step as i32);
    let exercise = |step, ups| (k - spot_at(step, ups)).max(0.0);
    let leaves: Vec<f64> = (0..=n).map(|i| exercise(n, i)).collect();
    let root = (0..n).rev().fold(leaves, |values, step| {
        values
            .windows(2)
            .enumerate()
            .map(|(i, w)| (df * (p * w[1] + (1.0 - p) * w[0])).max(exercise(step, i)))
            .collect()
    });
    root[0]
}
#[differentiable]
fn american(x: &[f64]) -> f64 {
    american_put(1.0, 1.0 + 0.1 * x[0], 0.05 * x[1], 0.2 + 0.1 * x[2], 1.0, 5)
}

/// Instruments of a book.
#[differentiable]
trait Instrument {
    fn npv(&self, rate: f64) -> f64;
    fn weight(&self) -> f64 {
        1.0
    }
}
#[derive(Differentiable, Clone)]
struct Bond {
    coupon: f64,
    maturity: usize,
    notional: f64,
}
#[derive(Differentiable, Clone, Copy)]
struct Cash(f64);
#[differentiable]
impl Instrument for Bond {
    fn npv(&self, rate: f64) -> f64 {
        let mut total = 0.0;
        for year in 1..=self.maturity {
            let flow = self.coupon * self.notional + if year == self.maturity { self.notional } else { 0.0 };
            total += flow / (1.0 + rate).powi(year as i32);
        }
        total
    }
    fn weight(&self) -> f64 {
        0.5
    }
}
#[differentiable]
impl Instrument for Cash {
    fn npv(&self, _rate: f64) -> f64 {
        self.0
    }
}
#[differentiable]
fn value_of<I: Instrument>(inst: &I, rate: f64) -> f64 {
    inst.weight() * inst.npv(rate)
}
#[differentiable]
fn book(x: &[f64]) -> f64 {
    let bonds = vec![
        Bond { coupon: 0.03 + 0.01 * x[0], maturity: 3, notional: 100.0 },
        Bond { coupon: x[1], maturity: 2, notional: 50.0 },
    ];
    let rate = 0.01 + 0.02 * x[2];
    let total: f64 = bonds.iter().map(|b| value_of(b, rate)).sum();
    total + value_of(&Cash(x[3]), rate)
}
/// An average option that a barrier knocks out.
#[differentiable]
fn barrier(x: &[f64]) -> f64 {
    let (s0, sigma, barrier) = (1.0 + x[0], 0.2 + 0.2 * x[1], 1.9);
    let mut rng = Lcg::new(7);
    let mut sum = 0.0;
    let mut alive = 0;
    'paths: for _ in 0..8 {
        let mut s = s0;
        let mut average = 0.0;
        for step in 1..=5 {
            let z = rng.normal();
            s *= (-0.5 * sigma * sigma * 0.2 + sigma * 0.2f64.sqrt() * z).exp();
            if s > barrier {
                continue 'paths;
            }
            average += (s - average) / step as f64;
        }
        alive += 1;
        sum += (average - x[2]).max(0.0);
    }
    if alive == 0 { 0.0 } else { sum / alive as f64 }
}
/// The mean of the largest losses.
#[differentiable]
fn cvar(x: &[f64]) -> f64 {
    let w = &x[..3];
    let total: f64 = w.iter().sum();
    let mut losses: Vec<f64> = (0..12)
        .map(|s| {
            -w.iter().enumerate().map(|(i, wi)| wi / total * ((s * (i + 2)) as f64 * 0.7).sin()).sum::<f64>()
        })
        .collect();
    losses.sort_by(|a, b| b.partial_cmp(a).unwrap());
    let k = (0.25 * losses.len() as f64).ceil() as usize;
    losses[..k].iter().sum::<f64>() / k as f64
}
/// A swap, built step by step.
#[derive(Clone, Copy, Debug, Differentiable)]
struct SwapBuilder {
    notional: f64,
    fixed: f64,
    spread: f64,
    periods: usize,
}
#[differentiable]
impl SwapBuilder {
    fn new(notional: f64) -> Self {
        Self { notional, fixed: 0.0, spread: 0.0, periods: 4 }
    }
    fn fixed(mut self, rate: f64) -> Self {
        self.fixed = rate;
        self
    }
    fn spread(self, spread: f64) -> Self {
        Self { spread, ..self }
    }
    fn periods(mut self, n: usize) -> Self {
        self.periods = n;
        self
    }
}
#[differentiable]
fn swap(x: &[f64]) -> f64 {
    let builder = SwapBuilder::new(10.0).fixed(0.03 + x[0]).spread(x[1]).periods(3);
    builder.notional * builder.fixed * builder.spread + builder.periods as f64 * x[2]
}

fn inputs() -> [Vec<f64>; 2] {
    [
        vec![0.3, 0.8, 0.45, 0.62, 0.17, 0.95, 0.51, 0.36],
        vec![0.7, 0.2, 0.9, 0.55, 0.6, 0.41, 0.33, 0.74, 0.28, 0.66],
    ]
}

#[test]
fn paths_and_trees() {
    check_all!(inputs(); heston, barrier, american);
}

#[test]
fn curves_and_smiles() {
    check_all!(inputs(); smile_or, curve_model);
}

#[test]
fn books_and_risks() {
    check_all!(inputs(); book, cvar, swap);
}
