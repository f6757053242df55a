//! Methods that take `&mut self` where no gradient passes: nothing would undo what they do.

use pullback::prelude::*;

#[derive(Clone, Copy, Differentiable)]
struct Filter {
    state: f64,
    steps: usize,
}

#[differentiable]
impl Filter {
    fn step(&mut self, x: f64) -> f64 {
        self.state *= x;
        self.steps += 1;
        self.state
    }

    fn count(&mut self, x: f64) -> usize {
        self.state *= x;
        self.steps += 1;
        self.steps
    }

    fn until(&mut self, x: f64) -> f64 {
        while self.count(x) < 5 {}
        self.state
    }
}

#[derive(Clone, Copy, Differentiable)]
struct Loop {
    filter: Filter,
    gain: f64,
}

#[differentiable]
fn in_conditions(l: &mut Loop, x: &[f64]) -> f64 {
    let mut total = 0.0;
    if l.filter.step(x[0]) > 0.1 {
        total += x[1];
    }
    let mut filter = l.filter;
    while filter.step(x[0]) > 0.2 && total < 10.0 {
        total += filter.state;
    }
    total * l.gain
}

#[differentiable]
fn in_indices(l: &mut Loop, x: &[f64]) -> f64 {
    let mut total = x[l.filter.count(x[0]) % 2] * l.gain;
    for _ in 0..l.filter.count(x[0]) {
        total += l.filter.state;
    }
    total
}

#[differentiable]
fn in_macros(filters: &mut [Filter], x: &[f64]) -> f64 {
    assert!(filters[0].step(x[0]) < 100.0);
    println!("{}", filters[0].step(x[0]));
    debug_assert!(matches!(filters[0].count(x[0]), 0..100));
    filters[0].state
}

#[differentiable]
fn within_what_nobody_looks_at(l: &mut Loop, x: &[f64]) -> f64 {
    let _last = l.filter.step(x[0]).abs();
    l.filter.state
}

#[differentiable]
fn in_casts(l: &mut Loop, x: &[f64]) -> f64 {
    let n = l.filter.step(x[0]) as i64;
    let k = constant(l.filter.step(x[0]));
    n as f64 * k * l.filter.state
}

/// Nothing but what is written here tells that `c` carries a gradient.
#[differentiable]
fn of_locals(x: &[f64], k: f64) -> f64 {
    let mut c = 0.0;
    if {
        c += x[0];
        c > 0.1
    } {
        c *= k;
    }
    let mut peak = 0.0;
    if x.iter().any(|v| {
        peak = *v * peak;
        peak > 0.6
    }) {
        return peak;
    }
    let mut running = 0.0;
    let capped: f64 = x.iter().filter(|v| { running += **v; running < 0.6 }).sum();
    let mut log: Vec<f64> = Vec::new();
    assert!(x.iter().all(|v| { log.push(*v); true }));
    c * capped + running * log[0]
}

/// What counts may be written.
#[differentiable]
fn counted(x: &[f64], k: f64) -> f64 {
    let (mut n, mut looked_at) = (0, 0.0);
    if x.iter().any(|v| { n += 1; looked_at += constant(*v); *v > k }) { n as f64 * k } else { k * looked_at }
}

fn main() {}
