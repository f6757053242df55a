//! Elements of fields that are reached by no index.

use std::collections::HashMap;

use pullback::prelude::*;

#[derive(Differentiable, Clone)]
struct Model {
    offset: Option<f64>,
    #[constant]
    rates: HashMap<u32, f64>,
    k: f64,
}

#[differentiable]
fn of_option(model: &Model) -> f64 {
    model.offset.iter().map(|offset| offset * model.k).sum()
}

#[differentiable]
fn of_map(model: &Model, x: f64) -> f64 {
    let mut total = 0.0;
    for (_, rate) in &model.rates {
        total += rate * x;
    }
    total
}

fn main() {}
