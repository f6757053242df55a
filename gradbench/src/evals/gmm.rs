//! gmm: the posterior of a mixture of normal distributions.

use ndarray::{Array2, Axis, s};
use pullback::nn::log_sum_exp;
use pullback::{mul_into, prelude::*};
use serde_json::{Value, json};

use super::unknown;
use crate::input::{self, agree};
use crate::task::{self, Task};

fused! {
    /// *w − ½·Σ zᵢ²*
    fn log_density(z, w: T; axis) {
        w - 0.5 * sum(z * z)
    }
}

/// How many points are taken at a time.
const POINTS: usize = 128;

/// The prior: Wishart's distribution.
#[derive(Clone, Copy)]
pub struct Wishart {
    /// Its scale.
    pub gamma: f64,
    /// By how many its degrees of freedom exceed the dimension plus one.
    pub m: usize,
}

impl Wishart {
    /// The logarithm of the constant factor in dimension `d`.
    fn log_factor(&self, d: usize) -> f64 {
        let n = d + self.m + 1;
        let log_gammas: f64 = (0..d).map(|j| log_gamma_of_half(n - j)).sum();
        let log_gamma = 0.25 * (d * (d - 1)) as f64 * std::f64::consts::PI.ln() + log_gammas;
        (n * d) as f64 * (self.gamma.ln() - 0.5 * std::f64::consts::LN_2) - log_gamma
    }
}

/// *log Γ(n/2)*, by Γ(x + 1) = x·Γ(x) from Γ(½) = √π and Γ(1) = 1.
fn log_gamma_of_half(n: usize) -> f64 {
    let start = if n % 2 == 1 { 0.5 * std::f64::consts::PI.ln() } else { 0.0 };
    let first = if n % 2 == 1 { 1 } else { 2 };
    start + (first..n).step_by(2).map(|i| (0.5 * i as f64).ln()).sum::<f64>()
}

/// The logarithm of the posterior of k components with weights `alpha` and means `mu`. *Q* of a component is lower triangular, with the
/// exponential of `q` on the diagonal and `l` below it, by columns. `x` are the points, as columns above a row of ones.
#[differentiable]
pub fn objective(
    alpha: &[f64],
    mu: &[f64],
    q: &[f64],
    l: &[f64],
    #[constant] x: &[Array2<f64>],
    #[constant] prior: Wishart,
) -> f64 {
    let k = alpha.len();
    let d = mu.len() / k;
    let below = l.len() / k;
    // Row by row, [Q, −Q·μ] of all components.
    let mut factors = Array2::<f64>::zeros((k * d, d + 1));
    let mut log_weights = vec![0.0; k];
    let mut sum_of_q = 0.0;
    for c in 0..k {
        let mut log_determinant = 0.0;
        let mut next = c * below;
        for j in 0..d {
            log_determinant += q[c * d + j];
            factors[[c * d + j, j]] = q[c * d + j].exp();
            for i in j + 1..d {
                factors[[c * d + i, j]] = l[next];
                next += 1;
            }
        }
        for i in 0..d {
            let mut product = 0.0;
            for j in 0..i + 1 {
                product += factors[[c * d + i, j]] * mu[c * d + j];
            }
            factors[[c * d + i, d]] = -product;
        }
        log_weights[c] = alpha[c] + log_determinant;
        sum_of_q += log_determinant;
    }

    let n = x.iter().map(|points| points.ncols()).sum::<usize>() as f64;
    let mut likelihood = 0.0;
    for points in x {
        likelihood += log_likelihood(&factors, &log_weights, points);
    }

    let mut squares = 0.0;
    for i in 0..q.len() {
        squares += (2.0 * q[i]).exp();
    }
    for i in 0..l.len() {
        squares += l[i] * l[i];
    }
    let mut weights = 0.0;
    for c in 0..k {
        weights += alpha[c].exp();
    }
    likelihood - n * weights.ln() - 0.5 * prior.gamma * prior.gamma * squares
        + prior.m as f64 * sum_of_q
        + k as f64 * prior.log_factor(d)
        - 0.5 * n * d as f64 * (2.0 * std::f64::consts::PI).ln()
}

/// The sum over some points of *log Σ exp(wᵢ − ½|Qᵢ·(x − μᵢ)|²)*.
#[differentiable]
fn log_likelihood(factors: &Array2<f64>, log_weights: &[f64], #[constant] x: &Array2<f64>) -> f64 {
    let (k, n) = (log_weights.len(), x.ncols());
    let d = x.nrows() - 1;
    let mut terms = Array2::<f64>::zeros((k, n));
    for c in 0..k {
        let mut y = Array2::<f64>::zeros((d, n));
        mul_into(&mut y, &factors.slice(s![c * d..(c + 1) * d, ..]), x);
        log_density(&mut terms.slice_mut(s![c..c + 1, ..]), &y, log_weights[c], Axis(0));
    }
    let mut logs = Array2::<f64>::zeros((1, n));
    log_sum_exp(&mut logs, &terms, Axis(0));
    logs.sum()
}

/// The functions of this eval.
pub fn task(function: &str, input: &Value) -> Result<Box<dyn Task>, String> {
    let (d, k) = (input::integer(input, "d")?, input::integer(input, "k")?);
    let prior = Wishart { gamma: input::number(input, "gamma")?, m: input::integer(input, "m")? };
    let x = input::matrix(input, "x")?;
    let below = d * d.saturating_sub(1) / 2;
    let alpha = input::vector(input, "alpha")?;
    let mu = input::matrix(input, "mu")?.entries;
    let q = input::matrix(input, "q")?.entries;
    let l = input::matrix(input, "l")?.entries;
    agree("each point", x.columns, d)?;
    agree("alpha", alpha.len(), k)?;
    agree("mu", mu.len(), k * d)?;
    agree("q", q.len(), k * d)?;
    agree("l", l.len(), k * below)?;
    let x: Vec<Array2<f64>> = x
        .entries
        .chunks(POINTS * d)
        .map(|points| {
            let n = points.len() / d;
            Array2::from_shape_fn((d + 1, n), |(i, p)| if i < d { points[p * d + i] } else { 1.0 })
        })
        .collect();
    match function {
        "objective" => Ok(task::number(move || objective(&alpha, &mu, &q, &l, &x, prior))),
        "jacobian" => {
            let mut g = objective::gradient();
            let result = [&alpha, &mu, &q, &l].map(|part| vec![0.0; part.len()]);
            let run = move |result: &mut [Vec<f64>; 4]| {
                let (_, d) = g.value_and_gradient(&alpha, &mu, &q, &l, &x, prior);
                for (result, d) in result.iter_mut().zip([d.alpha, d.mu, d.q, d.l]) {
                    result.copy_from_slice(d);
                }
            };
            Ok(task::task(result, run, move |[alpha, mu, q, l]| {
                json!({
                    "alpha": alpha,
                    "mu": task::rows(mu, d),
                    "q": task::rows(q, d),
                    "l": task::rows(l, below),
                })
            }))
        }
        _ => Err(unknown(function)),
    }
}

#[cfg(test)]
mod tests {
    use crate::evals::tests::check;

    #[test]
    fn samples() {
        check("gmm", "objective");
        check("gmm", "jacobian");
    }

    #[test]
    fn log_gamma() {
        let close = |n, expected: f64| assert!((super::log_gamma_of_half(n) - expected.ln()).abs() < 1e-12);
        close(2, 1.0);
        close(10, 24.0);
        close(3, 0.5 * std::f64::consts::PI.sqrt());
        close(7, 1.875 * std::f64::consts::PI.sqrt());
    }
}
