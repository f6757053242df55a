use std::collections::HashMap;

use pullback::prelude::*;

#[differentiable]
fn total(x: f64, names: &[&str]) -> f64 {
    let mut weights: HashMap<&str, f64> = HashMap::new();
    weights.insert("H2O", if x > 1.0 { 18.0 } else { 17.0 });
    let mut total = 0.0;
    for name in names {
        if let Some(w) = weights.get(name) {
            total += x * w;
        }
    }
    total
}

fn main() {}
