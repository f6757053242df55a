//! Vectors in an `Option` or a `Result` that a call returns which writes, too.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, PartialEq)]
struct Long(usize);

#[differentiable]
fn squared(v: &mut Vec<f64>, k: f64) -> Option<Vec<f64>> {
    if v.len() > 3 {
        return None;
    }
    v[0] = v[0] * v[1] * k;
    Some(v.iter().map(|x| x * x).collect())
}

#[differentiable]
fn step(v: &mut Vec<f64>, k: f64) -> Result<Vec<f64>, Long> {
    squared(v, k).ok_or(Long(v.len()))
}

#[differentiable]
fn unwrapped(x: &[f64], n: usize) -> f64 {
    let (mut v, mut s) = (x.to_vec(), 1.0);
    for _ in 0..n {
        let w = squared(&mut v, s).unwrap();
        s += w[0] * v[1];
        if let Some(u) = squared(&mut v, x[1]) {
            s += u[1] * x[0];
        }
        let Some(z) = squared(&mut v, 1.5) else { return s };
        s *= z[0] + 1.0;
    }
    s
}

#[differentiable]
fn tried(x: &[f64]) -> Result<f64, Long> {
    let mut v = x.to_vec();
    let w = step(&mut v, 2.0)?;
    let z = step(&mut v, w[0]).expect("as short as before");
    let u = step(&mut v, z[1]).unwrap_or_else(|_| vec![0.0]);
    Ok(w[0] * v[0] * z[0] * u[0])
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Weights {
    w: Vec<f64>,
}

#[differentiable]
impl Weights {
    fn next(&mut self, k: f64) -> Option<Vec<f64>> {
        self.w[0] *= k;
        Some(self.w.clone())
    }
    fn all(&mut self, n: usize) -> f64 {
        let mut s = 0.0;
        for _ in 0..n {
            let w = self.next(1.0 + s).unwrap();
            s += w[0] * w[1];
        }
        s
    }
}

#[differentiable]
fn next_twice(weights: &mut Weights, k: f64) -> f64 {
    let w = weights.next(k).unwrap();
    let u = weights.next(w[0]).expect("there always is one");
    u[0] * w[1]
}

#[test]
fn returned_by_what_writes() {
    check_rule(unwrapped::rule, [(vec![0.1, 0.2], 3), (vec![0.3, 0.1, 0.2], 2)]);
    check_rule(tried::rule, [(vec![0.4, 0.7],), (vec![0.4, 0.7, 0.1, 0.2],)]);
    let weights = Weights { w: vec![0.4, 0.7] };
    check_rule(Weights::all_rule, [(weights.clone(), 3), (weights.clone(), 0)]);
    check_rule(next_twice::rule, [(weights, 0.4)]);
}

#[differentiable]
fn roots(v: &mut [f64]) -> Result<usize, String> {
    for a in v.iter_mut() {
        if *a < 0.0 {
            return Err(format!("{a} is negative"));
        }
        *a = a.sqrt();
    }
    Ok(v.len())
}

/// What is made of the outcome, and nothing of it has a gradient.
#[differentiable]
fn outcomes_made_into_others(x: &[f64]) -> Option<f64> {
    let mut v = x.to_vec();
    roots(&mut v).ok()?;
    roots(&mut v).map_err(|e| e.len()).ok()?;
    let n = roots(&mut v).expect("these have roots") + roots(&mut v).unwrap();
    if roots(&mut v).is_err() {
        return None;
    }
    roots(&mut v).ok();
    let length = roots(&mut v).map_err(|e| e.len()).unwrap();
    Some(v[0] * v[1] * (n * length) as f64)
}

#[differentiable]
fn errors_made_into_others(x: &[f64]) -> Result<f64, usize> {
    let mut v = x.to_vec();
    roots(&mut v).map_err(|e| e.len())?;
    let n = roots(&mut v).map_err(|_| 7_usize)?;
    Ok(v[0] * v[1] * n as f64)
}

#[test]
fn outcomes_that_become_others() {
    check_rule(outcomes_made_into_others::rule, [(vec![0.3, 0.52],), (vec![0.7, 0.2],)]);
    check_rule(errors_made_into_others::rule, [(vec![0.3, 0.52],), (vec![0.7, 0.2],)]);
}
