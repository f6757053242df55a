//! The best so far under a name, if there is one yet: `let mut best: Option<Fit> = None;`

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Fit {
    cost: f64,
    v: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Hit {
    t: f64,
    albedo: f64,
}

#[differentiable]
fn fit(p: &[f64]) -> Fit {
    Fit { cost: p[0] * p[1], v: p.iter().map(|x| x * x).collect() }
}

#[differentiable]
fn squares(p: &[f64]) -> Vec<f64> {
    p.iter().map(|x| x * x).collect()
}

#[differentiable]
fn hit(p: &[f64]) -> Hit {
    Hit { t: p[0] * p[1], albedo: p[1].sin() }
}

fn starts() -> Vec<(Vec<Vec<f64>>,)> {
    vec![
        (vec![vec![0.3, 0.9], vec![-0.4, 0.9], vec![0.1, 0.7, 0.4]],),
        (vec![vec![1.3, 0.9, 0.2], vec![0.9, 1.1], vec![0.8, 1.5], vec![0.2, 0.3]],),
    ]
}

#[differentiable]
fn returned(starts: &[Vec<f64>]) -> Option<Fit> {
    let mut best: Option<Fit> = None;
    for start in starts {
        let candidate = fit(start);
        if best.as_ref().map_or(true, |b| candidate.cost < b.cost) {
            best = Some(candidate);
        }
    }
    best
}

#[differentiable]
fn with_its_cost(starts: &[Vec<f64>]) -> Option<Fit> {
    let mut best: Option<Fit> = None;
    let mut cost = 1.0;
    for start in starts {
        let candidate = fit(start);
        if candidate.cost < cost {
            cost = candidate.cost;
            best = Some(candidate);
        }
    }
    best
}

#[differentiable]
fn vector(starts: &[Vec<f64>]) -> Option<Vec<f64>> {
    let mut best: Option<Vec<f64>> = None;
    for start in starts {
        let candidate = squares(start);
        if best.is_none() || candidate[0] < best.as_ref().unwrap()[0] {
            best = Some(candidate);
        }
    }
    best
}

#[differentiable]
fn taken_apart(starts: &[Vec<f64>]) -> f64 {
    let mut best: Option<Fit> = None;
    for start in starts {
        let candidate = fit(start);
        let better = match &best {
            Some(b) => candidate.cost < b.cost,
            None => true,
        };
        if better {
            best = Some(candidate);
        }
    }
    best.map_or(0.0, |b| b.cost * b.v[0])
}

#[differentiable]
fn latest(starts: &[Vec<f64>]) -> f64 {
    let mut last: Option<Fit> = None;
    let mut total = 0.0;
    for start in starts {
        let next = fit(start);
        if let Some(l) = &last {
            total += (next.cost - l.cost) * l.v[0];
        }
        last = Some(next);
    }
    let Some(last) = last else { return total };
    total + last.v[1]
}

#[differentiable]
fn added_up(starts: &[Vec<f64>]) -> f64 {
    let mut sum: Option<Fit> = None;
    for start in starts {
        let next = fit(start);
        if let Some(s) = &mut sum {
            s.cost += next.cost;
            s.v[0] *= next.v[0];
        } else {
            sum = Some(next);
        }
    }
    let sum = sum.unwrap();
    sum.cost * sum.v[0]
}

#[differentiable]
fn of_literals(p: &[f64], ks: &[f64]) -> f64 {
    let mut best: Option<Fit> = None;
    for &k in ks {
        let cost = k * p[0];
        if best.as_ref().is_none_or(|b| cost < b.cost) {
            let v = p.iter().map(|p| p * k).collect();
            best = Some(Fit { cost, v });
        }
    }
    let best = best.expect("there is one");
    best.cost + best.v[1]
}

#[differentiable]
fn plain(starts: &[Vec<f64>]) -> f64 {
    let mut nearest: Option<Hit> = None;
    for start in starts {
        let next = hit(start);
        if nearest.map_or(true, |n| next.t < n.t) {
            nearest = Some(next);
        }
    }
    match nearest {
        Some(n) => n.t * n.albedo,
        None => 0.0,
    }
}

#[test]
fn structs() {
    check_rule(returned::rule, starts());
    check_rule(with_its_cost::rule, starts());
    check_rule(taken_apart::rule, starts());
    check_rule(latest::rule, starts());
    check_rule(added_up::rule, starts());
    check_rule(
        of_literals::rule,
        [(vec![0.3, 0.4], vec![1.0, 0.4, 0.6, 0.2]), (vec![0.3, 0.4, 0.9], vec![0.4])],
    );
}

#[test]
fn others() {
    check_rule(vector::rule, starts());
    check_rule(plain::rule, starts());
}
