//! What statisticians fit: mixtures, state spaces, survival, counts, densities, and monotone regression.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

#[differentiable]
fn ln_gamma(z: f64) -> f64 {
    const G: f64 = 7.0;
    const COEF: [f64; 9] = [
        0.99999999999980993,
        676.5203681218851,
        -1259.1392167224028,
        771.32342877765313,
        -176.61502916214059,
        12.507343278686905,
        -0.13857109526572012,
        9.9843695780195716e-6,
        1.5056327351493116e-7,
    ];
    if z < 0.5 {
        return (std::f64::consts::PI / (std::f64::consts::PI * z).sin()).ln() - ln_gamma(1.0 - z);
    }
    let z = z - 1.0;
    let x = COEF.iter().enumerate().skip(1).fold(COEF[0], |acc, (i, c)| acc + c / (z + i as f64));
    let t = z + G + 0.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (z + 0.5) * t.ln() - t + x.ln()
}
#[differentiable]
fn neg_binomial(x: &[f64]) -> f64 {
    let (mu, r) = (x[0].exp(), x[1] + 0.5);
    let counts = [0u32, 3, 1, 7];
    -counts
        .iter()
        .map(|&k| {
            let k = k as f64;
            ln_gamma(k + r) - ln_gamma(r) - ln_gamma(k + 1.0)
                + r * (r / (r + mu)).ln()
                + k * (mu / (r + mu)).ln()
        })
        .sum::<f64>()
}

#[derive(Clone, Debug, Differentiable)]
struct Component {
    weight: f64,
    mean: [f64; 2],
    var: [f64; 2],
}
#[differentiable]
impl Component {
    fn log_density(&self, p: &[f64; 2]) -> f64 {
        self.mean
            .iter()
            .zip(&self.var)
            .zip(p)
            .map(|((m, v), x)| -0.5 * ((x - m).powi(2) / v + v.ln() + (2.0 * std::f64::consts::PI).ln()))
            .sum()
    }
}
#[differentiable]
fn em_step(components: &[Component], data: &[[f64; 2]]) -> Vec<Component> {
    let k = components.len();
    let mut resp = vec![vec![0.0; k]; data.len()];
    for (n, point) in data.iter().enumerate() {
        let logs: Vec<f64> = components.iter().map(|c| c.weight.ln() + c.log_density(point)).collect();
        let max = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = logs.iter().map(|l| (l - max).exp()).sum();
        for (r, l) in resp[n].iter_mut().zip(&logs) {
            *r = (l - max).exp() / total;
        }
    }
    let mut out = Vec::new();
    for j in 0..k {
        let nk: f64 = resp.iter().map(|r| r[j]).sum();
        let mut mean = [0.0; 2];
        for (r, p) in resp.iter().zip(data) {
            for d in 0..2 {
                mean[d] += r[j] * p[d] / nk;
            }
        }
        let mut var = [1e-3; 2];
        for (r, p) in resp.iter().zip(data) {
            for d in 0..2 {
                var[d] += r[j] * (p[d] - mean[d]).powi(2) / nk;
            }
        }
        out.push(Component { weight: nk / data.len() as f64, mean, var });
    }
    out
}
#[differentiable]
fn em(x: &[f64]) -> f64 {
    let data: Vec<[f64; 2]> = x.chunks_exact(2).map(|c| [c[0], c[1]]).collect();
    let mut components = vec![
        Component { weight: 0.5, mean: [0.2, x[0]], var: [0.1, 0.2] },
        Component { weight: 0.5, mean: [0.7, 0.3], var: [0.2, 0.1] },
    ];
    for _ in 0..2 {
        components = em_step(&components, &data);
    }
    components.iter().map(|c| c.weight * c.mean[0] + c.var[1]).sum()
}

/// Rauch, Tung and Striebel's smoother of a local level.
#[differentiable]
fn smoother(y: &[f64], q: f64, r: f64) -> f64 {
    let n = y.len();
    let mut filtered = Vec::with_capacity(n);
    let (mut m, mut p) = (0.0, 10.0);
    for &obs in y {
        let pp = p + q;
        let gain = pp / (pp + r);
        m += gain * (obs - m);
        p = (1.0 - gain) * pp;
        filtered.push((m, p));
    }
    let mut smooth = vec![(0.0, 0.0); n];
    smooth[n - 1] = filtered[n - 1];
    for t in (0..n - 1).rev() {
        let (m, p) = filtered[t];
        let (ms, ps) = smooth[t + 1];
        let g = p / (p + q);
        smooth[t] = (m + g * (ms - m), p + g * g * (ps - p - q));
    }
    smooth.iter().map(|(m, p)| m * m + p).sum()
}
/// The forward algorithm of a hidden Markov chain, by `scan`.
#[differentiable]
fn hmm_scan(x: &[f64]) -> f64 {
    let stay = x[0].clamp(0.05, 0.95);
    let emit = [x[1], x[2]];
    let obs = [true, false, true, true];
    let alphas: Vec<(f64, f64)> = obs
        .iter()
        .scan((0.5, 0.5), |state, &o| {
            let (a, b) = *state;
            let (pa, pb) = (a * stay + b * (1.0 - stay), a * (1.0 - stay) + b * stay);
            let (ea, eb) = if o { (emit[0], emit[1]) } else { (1.0 - emit[0], 1.0 - emit[1]) };
            *state = (pa * ea, pb * eb);
            Some(*state)
        })
        .collect();
    let (a, b) = alphas.last().copied().unwrap();
    (a + b).ln()
}
#[derive(Clone, Debug)]
struct Subject {
    time: f64,
    event: bool,
    covariates: Vec<f64>,
}
#[differentiable]
fn cox(beta: &[f64], #[constant] subjects: &[Subject]) -> f64 {
    let mut order: Vec<usize> = (0..subjects.len()).collect();
    order.sort_by(|&a, &b| subjects[b].time.partial_cmp(&subjects[a].time).unwrap());
    let mut risk = 0.0;
    let mut ll = 0.0;
    for &i in &order {
        let s = &subjects[i];
        let eta: f64 = s.covariates.iter().zip(beta.iter()).map(|(x, b)| x * b).sum();
        risk += eta.exp();
        if s.event {
            ll += eta - f64::ln(risk);
        }
    }
    -ll
}
#[differentiable]
fn cox_of(x: &[f64]) -> f64 {
    let subjects: Vec<Subject> = (0..5)
        .map(|i| Subject {
            time: ((i * 7) % 5) as f64,
            event: i % 2 == 0,
            covariates: vec![i as f64 * 0.3, 1.0 / (1.0 + i as f64)],
        })
        .collect();
    cox(&x[..2], &subjects)
}
#[differentiable]
fn arma_css(x: &[f64]) -> f64 {
    let (phi, theta) = x.split_at(2);
    let theta = &theta[..2];
    let y: Vec<f64> = (0..9).map(|t| (t as f64 * 0.9).sin() + 0.1 * t as f64).collect();
    let mut e = vec![0.0; y.len()];
    for t in 0..y.len() {
        let ar: f64 = phi.iter().enumerate().filter(|(i, _)| t > *i).map(|(i, p)| p * y[t - 1 - i]).sum();
        let ma = theta.iter().zip(e[..t].iter().rev()).map(|(th, e)| th * e).sum::<f64>();
        e[t] = y[t] - ar - ma;
    }
    let sigma2 = e.iter().map(|v| v * v).sum::<f64>() / e.len() as f64;
    0.5 * e.len() as f64 * sigma2.ln()
}
/// The entropy of a kernel density.
#[differentiable]
fn kde_entropy(x: &[f64]) -> f64 {
    let h = 0.3;
    let n = x.len() as f64;
    let density = |at: f64| {
        x.iter()
            .map(|xi| {
                let u = (at - xi) / h;
                (-0.5 * u * u).exp()
            })
            .sum::<f64>()
            / (n * h)
    };
    -x.iter().map(|&xi| density(xi).ln()).sum::<f64>() / n
}
/// Isotonic regression: neighbours out of order are pooled, on a stack.
#[differentiable]
fn isotonic(x: &[f64]) -> f64 {
    let mut blocks: Vec<(f64, f64)> = Vec::new();
    for &v in x {
        let mut current = (v, 1.0);
        while let Some(&(mean, w)) = blocks.last() {
            if mean <= current.0 {
                break;
            }
            blocks.pop();
            current = ((mean * w + current.0 * current.1) / (w + current.1), w + current.1);
        }
        blocks.push(current);
    }
    blocks.iter().map(|(m, w)| w * m * m).sum()
}
#[differentiable]
fn metropolis_free_energy(x: &[f64]) -> f64 {
    let energy = |s: &[f64]| -> f64 {
        s.windows(2)
            .map(|w| match w {
                [a, b] => (a - b).powi(2),
                _ => unreachable!(),
            })
            .sum()
    };
    let e0 = energy(x);
    let shifted: Vec<f64> = x.iter().cycle().skip(1).take(x.len()).copied().collect();
    let e1 = energy(&shifted);
    -((-e0).exp() + (-e1).exp()).ln()
}

fn inputs() -> [Vec<f64>; 2] {
    [
        vec![0.3, 0.8, 0.45, 0.62, 0.17, 0.95, 0.51, 0.36],
        vec![0.7, 0.2, 0.9, 0.55, 0.6, 0.41, 0.33, 0.74, 0.28, 0.66],
    ]
}

#[test]
fn likelihoods() {
    check_all!(inputs(); neg_binomial, hmm_scan, cox_of, arma_css);
}

#[test]
fn mixtures_and_densities() {
    check_all!(inputs(); em, kde_entropy, isotonic, metropolis_free_energy);
}

#[test]
fn smoothers() {
    check_rule(smoother::rule, inputs().map(|x| (x, 0.3, 0.5)));
}
