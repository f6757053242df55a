//! What pharmacologists fit: compartments with doses, in closed form and integrated, and likelihoods of patients.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Route {
    Bolus,
    Infusion { duration: f64 },
    Oral,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct DoseEvent {
    time: f64,
    amount: f64,
    route: Route,
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct PkParams {
    cl: f64,
    v1: f64,
    q: f64,
    v2: f64,
    ka: f64,
}

impl Default for PkParams {
    fn default() -> Self {
        PkParams { cl: 1.0, v1: 10.0, q: 0.5, v2: 20.0, ka: 1.0 }
    }
}

#[differentiable]
impl PkParams {
    fn k10(&self) -> f64 {
        self.cl / self.v1
    }
    fn k12(&self) -> f64 {
        self.q / self.v1
    }
    fn k21(&self) -> f64 {
        self.q / self.v2
    }
    fn from_log(theta: &[f64]) -> Self {
        let [cl, v1, q, v2, ka] =
            [theta[0].exp(), theta[1].exp(), theta[2].exp(), theta[3].exp(), theta[4].exp()];
        Self { cl, v1, q, v2, ka }
    }
    /// The rates of both phases of two compartments.
    fn macro_constants(&self) -> (f64, f64) {
        let (k10, k12, k21) = (self.k10(), self.k12(), self.k21());
        let sum = k10 + k12 + k21;
        let disc = (sum * sum - 4.0 * k10 * k21).sqrt();
        (0.5 * (sum + disc), 0.5 * (sum - disc))
    }
    fn concentration(&self, #[constant] events: &[DoseEvent], t: f64) -> f64 {
        let (alpha, beta) = self.macro_constants();
        let k21 = self.k21();
        events
            .iter()
            .filter(|e| e.time <= t)
            .map(|e| {
                let tau = t - e.time;
                match e.route {
                    Route::Bolus => {
                        let a = (alpha - k21) / (alpha - beta) / self.v1;
                        let b = (k21 - beta) / (alpha - beta) / self.v1;
                        e.amount * (a * (-alpha * tau).exp() + b * (-beta * tau).exp())
                    }
                    Route::Infusion { duration } => {
                        let rate = e.amount / duration;
                        let a = (alpha - k21) / (alpha - beta) / self.v1 / alpha;
                        let b = (k21 - beta) / (alpha - beta) / self.v1 / beta;
                        if tau < duration {
                            rate * (a * (1.0 - (-alpha * tau).exp()) + b * (1.0 - (-beta * tau).exp()))
                        } else {
                            let rest = tau - duration;
                            rate * (a * (1.0 - (-alpha * duration).exp()) * (-alpha * rest).exp()
                                + b * (1.0 - (-beta * duration).exp()) * (-beta * rest).exp())
                        }
                    }
                    Route::Oral => {
                        let ke = self.k10();
                        e.amount * self.ka / (self.v1 * (self.ka - ke))
                            * ((-ke * tau).exp() - (-self.ka * tau).exp())
                    }
                }
            })
            .sum()
    }
}

struct Observation {
    time: f64,
    value: f64,
}
struct Patient {
    weight: f64,
    doses: Vec<DoseEvent>,
    observations: Vec<Observation>,
    lloq: Option<f64>,
}

fn cohort() -> Vec<Patient> {
    (0..3)
        .map(|i| {
            let i = i as f64;
            Patient {
                weight: 60.0 + 7.0 * i,
                doses: vec![
                    DoseEvent { time: 0.0, amount: 100.0, route: Route::Bolus },
                    DoseEvent { time: 6.0, amount: 80.0, route: Route::Infusion { duration: 2.0 } },
                    DoseEvent { time: 12.0, amount: 50.0, route: Route::Oral },
                ],
                observations: (1..6)
                    .map(|k| Observation { time: 2.7 * k as f64 + 0.1 * i, value: 8.0 / k as f64 })
                    .collect(),
                lloq: if i > 1.0 { Some(2.0) } else { None },
            }
        })
        .collect()
}

#[differentiable]
fn norm_logpdf(x: f64, mean: f64, sd: f64) -> f64 {
    let z = (x - mean) / sd;
    -0.5 * z * z - sd.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
}

#[differentiable]
fn population_nll(theta: &[f64], eta: &[f64], #[constant] patients: &[Patient]) -> f64 {
    let sigma = theta[5].exp();
    let mut nll = 0.0;
    for (i, patient) in patients.iter().enumerate() {
        let pop = PkParams::from_log(theta);
        let size = (patient.weight / 70.0).powf(0.75);
        let individual = PkParams { cl: pop.cl * size * eta[i].exp(), ..pop };
        for obs in &patient.observations {
            let predicted = individual.concentration(&patient.doses, obs.time);
            match patient.lloq {
                Some(limit) if obs.value < limit => {
                    let z = (limit - predicted) / sigma;
                    nll -= (1.0 / (1.0 + (-1.702 * z).exp())).ln();
                }
                _ => nll -= norm_logpdf(obs.value, predicted, sigma),
            }
        }
        nll += 0.5 * eta[i].powi(2);
    }
    nll
}

/// An embedded Runge–Kutta pair whose step is controlled by the error.
#[differentiable]
fn rk45(p: &PkParams, y0: [f64; 3], t_end: f64, #[constant] rtol: f64) -> [f64; 3] {
    const B21: f64 = 0.25;
    const B31: f64 = 3.0 / 32.0;
    const B32: f64 = 9.0 / 32.0;
    let rhs = |y: &[f64; 3]| -> [f64; 3] {
        [
            -p.ka * y[0],
            p.ka * y[0] - (p.k10() + p.k12()) * y[1] + p.k21() * y[2],
            p.k12() * y[1] - p.k21() * y[2],
        ]
    };
    let mut y = y0;
    let mut t = 0.0;
    let mut h: f64 = 0.1;
    let mut rejected = 0usize;
    while t < t_end {
        if t + h > t_end {
            h = t_end - t;
        }
        let k1 = rhs(&y);
        let y2: [f64; 3] = std::array::from_fn(|i| y[i] + h * B21 * k1[i]);
        let k2 = rhs(&y2);
        let y3: [f64; 3] = std::array::from_fn(|i| y[i] + h * (B31 * k1[i] + B32 * k2[i]));
        let k3 = rhs(&y3);
        let mut err: f64 = 0.0;
        let mut next = [0.0; 3];
        for i in 0..3 {
            next[i] = y[i] + h * (k1[i] / 9.0 * 2.0 + k2[i] / 3.0 + k3[i] * 4.0 / 9.0);
            let low = y[i] + h * (0.5 * k1[i] + 0.5 * k3[i]);
            let scale = 1e-9 + rtol * next[i].abs().max(y[i].abs());
            err = err.max(((next[i] - low) / scale).abs());
        }
        if err <= 1.0 {
            t += h;
            y = next;
        } else {
            rejected += 1;
        }
        let factor = if err == 0.0 { 2.0 } else { (0.9 * err.powf(-0.2)).clamp(0.3, 2.0) };
        h *= factor;
        if rejected > 1000 {
            break;
        }
    }
    y
}
#[differentiable]
fn rk_model(x: &[f64]) -> f64 {
    let p = PkParams { cl: x[0], v1: 1.0 + x[1], ka: x[2], ..Default::default() };
    let y = rk45(&p, [x[3], 0.0, x[4]], 2.0, 1e-2);
    y.iter().sum::<f64>() + y[1] * y[2]
}

/// Doses and observations in order of time.
#[derive(Clone, Copy)]
enum Event {
    Dose(f64),
    Observe(usize),
    Reset,
}

#[differentiable]
fn event_loop(x: &[f64], #[constant] events: &[(f64, Event)], dv: &[f64]) -> f64 {
    let (ke, v) = (x[0], x[1] + 1.0);
    let mut amount = 0.0;
    let mut now = 0.0;
    let mut sse = 0.0;
    for &(time, event) in events {
        amount *= (-ke * (time - now)).exp();
        now = time;
        match event {
            Event::Dose(d) => amount += d * x[2],
            Event::Observe(k) => {
                let Some(obs) = dv.get(k) else { continue };
                let residual = (amount / v).ln() - obs.ln();
                sse += residual.powi(2);
            }
            Event::Reset => amount = 0.0,
        }
    }
    sse
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Emax {
    e0: f64,
    emax: f64,
    ec50: f64,
    hill: f64,
}
#[differentiable]
impl Emax {
    fn effect(&self, c: f64) -> f64 {
        let Self { e0, emax, ec50, hill } = *self;
        let ch = c.max(1e-12).powf(hill);
        e0 + emax * ch / (ec50.powf(hill) + ch)
    }
}
#[differentiable]
fn emax_fit(x: &[f64]) -> f64 {
    let model = Emax { e0: x[0], emax: 10.0 * x[1], ec50: x[2], hill: 1.0 + x[3] };
    let doses = [0.1, 0.3, 1.0, 3.0];
    let seen = [1.0, 2.0, 4.0, 7.0];
    doses.iter().zip(seen.iter()).map(|(&d, &y)| (model.effect(d) - y).powi(2)).sum::<f64>()
        / doses.len() as f64
}
/// A chain of transit compartments.
#[differentiable]
fn transit(x: &[f64], n: usize, steps: usize) -> f64 {
    let ktr = (n + 1) as f64 / (0.5 + x[0]);
    let deriv = |a: &[f64], da: &mut [f64]| {
        da[0] = -ktr * a[0];
        for i in 1..a.len() {
            da[i] = ktr * (a[i - 1] - a[i]);
        }
    };
    let mut a = vec![0.0; n + 1];
    a[0] = x[1];
    let mut da = vec![0.0; n + 1];
    let h = 0.05;
    for _ in 0..steps {
        deriv(&a, &mut da);
        for (a, d) in a.iter_mut().zip(da.iter()) {
            *a += h * d;
        }
    }
    a[n]
}

fn inputs() -> [Vec<f64>; 2] {
    [
        vec![0.3, 0.8, 0.45, 0.62, 0.17, 0.95, 0.51, 0.36],
        vec![0.7, 0.2, 0.9, 0.55, 0.6, 0.41, 0.33, 0.74, 0.28, 0.66],
    ]
}

#[test]
fn populations() {
    let patients = cohort();
    let mut g = population_nll::gradient();
    check_gradient(
        |(theta, eta)| population_nll(theta, eta, &patients),
        |(theta, eta)| {
            let (value, d) = g.value_and_gradient(theta, eta, &patients);
            (value, (d.theta.to_vec(), d.eta.to_vec()))
        },
        [(vec![0.1, 2.2, -0.5, 2.8, 0.2, -0.3], vec![0.1, -0.2, 0.05])],
    );
}

#[test]
fn events_in_order() {
    let events = [
        (0.0, Event::Dose(1.0)),
        (0.5, Event::Observe(0)),
        (1.0, Event::Dose(0.5)),
        (1.2, Event::Observe(1)),
        (2.0, Event::Reset),
        (2.1, Event::Dose(2.0)),
        (3.0, Event::Observe(2)),
        (3.0, Event::Observe(7)),
    ];
    let mut g = event_loop::gradient();
    check_gradient(
        |(x, dv)| event_loop(x, &events, dv),
        |(x, dv)| {
            let (value, d) = g.value_and_gradient(x, &events, dv);
            (value, (d.x.to_vec(), d.dv.to_vec()))
        },
        [(vec![0.4, 1.0, 1.2], vec![0.3, 0.6, 0.5])],
    );
}

#[test]
fn compartments() {
    check_all!(inputs(); rk_model, emax_fit);
    check_rule(transit::rule, [(vec![0.2, 1.3], 3, 5), (vec![0.4, 0.3], 2, 4)]);
}
