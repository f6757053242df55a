use std::collections::HashMap;

use pullback::prelude::*;

#[differentiable]
fn compared(x: f64, y: f64) -> f64 {
    std::cmp::max_by(x, y, |a, b| a.total_cmp(b))
}

#[differentiable]
fn exchanged(x: f64, y: f64) -> f64 {
    let mut map: HashMap<usize, f64> = HashMap::new();
    let mut z = x;
    std::mem::swap(&mut z, map.get_mut(&1).unwrap());
    z * y
}

#[differentiable]
fn selected(x: f64, y: f64) -> f64 {
    std::hint::select_unpredictable(x > y, x, y)
}

#[differentiable]
fn values_of_a_map(x: f64) -> f64 {
    let mut map = HashMap::new();
    map.insert(1, 2.0);
    for w in map.values_mut() {
        *w += x;
    }
    map[&1]
}

fn main() {}
