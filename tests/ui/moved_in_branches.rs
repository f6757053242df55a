//! What is moved in a branch leaves a value behind that can be made of nothing.

use pullback::prelude::*;

#[derive(Clone, Copy)]
enum Kind {
    Rough,
    Fine,
}

#[derive(Clone, Differentiable)]
struct Fit {
    cost: f64,
    v: Vec<f64>,
    #[constant]
    kind: Kind,
}

#[differentiable]
fn fit(p: &[f64]) -> Fit {
    let v = p.to_vec();
    Fit { cost: p[0] * p[1], v, kind: if p.len() > 3 { Kind::Fine } else { Kind::Rough } }
}

#[differentiable]
fn kept(starts: &[Vec<f64>]) -> Vec<Fit> {
    let mut kept = Vec::new();
    for start in starts {
        let candidate = fit(start);
        if candidate.cost < 0.5 {
            kept.push(candidate);
        }
    }
    kept
}

fn main() {
    let _ = kept(&[]);
}
