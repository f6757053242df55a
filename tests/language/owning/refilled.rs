//! Fields that get something else to hold: copies of other fields, changed copies of themselves, what `mem::replace` returns.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, Differentiable)]
struct History {
    previous: Vec<f64>,
    current: Vec<f64>,
    energy: f64,
    last: f64,
}

#[differentiable]
impl History {
    fn new(x: &[f64]) -> History {
        History { previous: x.to_vec(), current: x.iter().map(|x| x * x).collect(), energy: x[0], last: x[1] }
    }

    fn save(&mut self) {
        self.previous = self.current.clone();
        self.last = self.energy.clone();
    }

    /// Störmer's and Verlet's rule, with a copy that is changed.
    fn verlet(&mut self, dt: f64) {
        let mut next = self.current.clone();
        for i in 0..next.len() {
            next[i] = 2.0 * self.current[i] - self.previous[i] - dt * dt * self.current[i].sin();
        }
        self.energy += next[0] * dt;
        self.previous = std::mem::replace(&mut self.current, next);
    }

    /// The same with a new vector.
    fn collected(&mut self, dt: f64) {
        let next: Vec<f64> =
            self.current.iter().zip(&self.previous).map(|(x, y)| 2.0 * x - y - dt * dt * x.sin()).collect();
        self.previous = std::mem::replace(&mut self.current, next);
    }

    fn damped(&mut self, k: f64) {
        let mut next = self.current.clone();
        next[0] *= k;
        self.current = next;
        self.last = std::mem::replace(&mut self.energy, k);
    }

    fn total(&self) -> f64 {
        self.previous.iter().zip(&self.current).map(|(p, c)| p * c).sum::<f64>() + self.energy * self.last
    }
}

#[differentiable]
fn saved(history: &mut History) {
    history.previous = history.current.clone();
}

#[differentiable]
fn simulated(x: &[f64], dt: f64, n: usize) -> f64 {
    let mut history = History::new(x);
    for i in 0..n {
        history.verlet(dt);
        if i % 2 == 0 {
            history.collected(dt);
        } else {
            history.damped(0.9 + dt);
        }
    }
    history.save();
    history.verlet(dt);
    saved(&mut history);
    history.total()
}

/// Of a local, which may be of another length afterwards.
#[differentiable]
fn local(x: &[f64], k: f64) -> f64 {
    let mut history = History::new(x);
    history.previous = history.current.clone();
    history.previous.push(k);
    history.current = std::mem::take(&mut history.previous);
    history.previous = history.current.iter().map(|c| c * k).collect();
    for _ in 0..2 {
        let mut next = history.current.clone();
        next.push(k * next[0]);
        history.previous = std::mem::replace(&mut history.current, next);
    }
    history.total()
}

#[test]
fn refilled() {
    check_rule(
        simulated::rule,
        [(vec![0.4, 0.7], 0.3, 3), (vec![0.5, 0.7, -0.2], 0.1, 2), (vec![0.5, 0.1], 0.2, 0)],
    );
    check_rule(local::rule, [(vec![0.4, 0.7], 0.3), (vec![0.5, 0.7, -0.2], 1.1)]);
}
