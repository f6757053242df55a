//! Methods that take `&mut self` where no gradient passes: nothing would undo what they do.

use std::cell::Cell;
use std::collections::BTreeMap;

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

struct Log(f64);

impl Log {
    fn record(&mut self, value: f64) {
        self.0 += value;
    }
}

fn recorded(log: &mut Log, value: f64) -> bool {
    log.0 += value;
    value < 5.0
}

/// Nor does anything tell what these are.
#[differentiable]
fn of_what_is_lent(x: &[f64]) -> f64 {
    let (mut counts, cell, mut order) = (BTreeMap::new(), Cell::new(0.0), None);
    if x.iter().all(|v| { *counts.entry(1).or_insert(0.0) += *v; cell.set(*v); *v < 5.0 }) {
        return counts[&1] * cell.get();
    }
    let mut sorted = x.to_vec();
    sorted.sort_by(|a, b| { order = Some(*a); a.total_cmp(b) });
    order.unwrap() * sorted[0]
}

/// Nor here.
#[differentiable]
fn of_untold_locals(x: &[f64]) -> f64 {
    let (mut log, mut own, mut last, mut pair) = (Vec::new(), Log(0.0), None, (0.0, 0));
    if x.iter().any(|v| { log.push(*v); own.record(*v); *v > 0.5 }) {
        return log[0] * own.0;
    }
    assert!(x.iter().all(|v| { last = Some(*v); pair = (*v, 1); *v < 5.0 }));
    if x.iter().all(|v| recorded(&mut own, *v)) { own.0 } else { last.unwrap() * pair.0 }
}

/// What counts may be written, and what is looked up with it.
#[differentiable]
fn looked_up(x: &[f64], k: f64) -> f64 {
    let (mut found, mut seen, mut last) = (None, Vec::new(), Default::default());
    let above = |(i, v): (usize, &f64)| *v > k && i > 0;
    if x.iter().enumerate().any(|(i, v)| { found = Some(i); seen.push(i); last = constant(*v); above((i, v)) }) {
        return x[found.unwrap()] * last;
    }
    x[seen[0]] * k
}

/// What counts may be written.
#[differentiable]
fn counted(x: &[f64], k: f64) -> f64 {
    let (mut n, mut looked_at) = (0, 0.0);
    if x.iter().any(|v| { n += 1; looked_at += constant(*v); *v > k }) { n as f64 * k } else { k * looked_at }
}

#[differentiable]
fn into_a_map(x: f64) -> f64 {
    let mut map = BTreeMap::new();
    let weight = map.entry(0).or_insert(0.5);
    *weight += x;
    map[&0] * x
}

#[differentiable]
fn into_an_entry(x: f64) -> f64 {
    let mut map = BTreeMap::from([(0, 0.5)]);
    *map.entry(0).or_insert(0.5) += x;
    map[&0] * x
}

fn main() {}
