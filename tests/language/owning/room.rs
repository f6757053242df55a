//! Room that is made at once: `reserve`, and what `extend`, `collect` and `unzip` make where they know how many items there are. From the
//! second call on a gradient allocates no more often than the function does.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn reserved(x: &[f64], k: f64) -> f64 {
    let mut v = vec![k];
    v.reserve(x.len());
    for a in x {
        v.push(a * k);
    }
    v.reserve_exact(1);
    v.push(v[0] * v[1]);
    v[2] * v[v.len() - 1]
}

#[derive(Clone, Debug, Differentiable)]
struct Log {
    values: Vec<f64>,
    k: f64,
}

#[differentiable]
impl Log {
    fn record(&mut self, x: &[f64]) -> f64 {
        self.values.reserve(x.len());
        for a in x {
            self.values.push(a * self.k);
        }
        self.values[0] * self.values[self.values.len() - 1]
    }

    fn extend(&mut self, x: &[f64]) {
        self.values.extend(x.iter().map(|a| a * self.k));
        self.values.extend(x.iter().filter(|a| **a > 0.5).map(|a| a * a));
        self.values.extend(x.iter().map(|a| a * self.k).chain(x.iter().copied()));
    }
}

#[differentiable]
fn behind_reference(v: &mut Vec<f64>, x: &[f64]) {
    v.reserve(2 * x.len());
    v.extend(x.iter().map(|a| a * x[0]));
}

#[differentiable]
fn extended(x: &[f64], k: f64) -> Vec<f64> {
    let mut v = Vec::new();
    v.extend(x.iter().map(|a| a * k));
    v.extend(x.windows(2).map(|w| w[0] * w[1]));
    v
}

#[differentiable]
fn chained(x: &[f64], k: f64) -> Vec<f64> {
    x.iter().map(|a| a * k).chain(x.iter().copied()).skip(1).collect()
}

#[differentiable]
fn filtered_and_chained(x: &[f64], k: f64) -> f64 {
    let v: Vec<f64> = x.iter().filter(|a| **a > 0.3).chain(x.iter()).map(|a| a * k).collect();
    v[1] * v[v.len() - 1]
}

#[differentiable]
fn of_arrays(x: &[f64], k: f64) -> f64 {
    let v: Vec<f64> = x.iter().flat_map(|a| [a * k, a * a, k]).collect();
    v.iter().map(|a| a * v[1]).sum()
}

#[differentiable]
fn pairs(x: &[f64], k: f64) -> f64 {
    let (p, q): (Vec<f64>, Vec<f64>) =
        x.iter().chain(x.iter().rev()).step_by(2).map(|a| (a * k, a * a)).unzip();
    p[0] * q[q.len() - 1]
}

#[test]
fn room() {
    let inputs = [3, 4, 5, 9, 17].map(|n| {
        let x: Vec<f64> = (0..n).map(|i| 0.2117 + 0.7131 * f64::from(i * i % 7) / 3.0).collect();
        (x, 0.7719)
    });
    check_rule(reserved::rule, inputs.clone());
    check_rule(extended::rule, inputs.clone());
    check_rule(chained::rule, inputs.clone());
    check_rule(filtered_and_chained::rule, inputs.clone());
    check_rule(of_arrays::rule, inputs.clone());
    check_rule(pairs::rule, inputs.clone());
    let log = Log { values: vec![0.3, 0.8], k: 1.3 };
    check_rule(Log::record_rule, inputs.clone().map(|(x, _)| (log.clone(), x)));
    check_rule(Log::extend_rule, inputs.clone().map(|(x, _)| (log.clone(), x)));
    check_rule(behind_reference::rule, inputs.map(|(x, k)| (vec![k], x)));
}

/// A type of one's own that has such a method keeps it.
mod of_ones_own {
    use super::*;

    #[derive(Clone, Debug, Differentiable)]
    struct Seats {
        prices: Vec<f64>,
        taken: f64,
    }

    #[differentiable]
    impl Seats {
        fn reserve(&mut self, i: usize) {
            self.taken += self.prices[i] * self.prices[i];
        }
    }

    #[differentiable]
    fn booked(seats: &mut Seats, i: usize) -> f64 {
        seats.reserve(i);
        seats.reserve(0);
        seats.taken * seats.prices[i]
    }

    #[test]
    fn method() {
        let seats = Seats { prices: vec![0.4, 1.2, 0.9], taken: 0.3 };
        check_rule(booked::rule, [(seats.clone(), 1), (seats, 2)]);
    }
}
