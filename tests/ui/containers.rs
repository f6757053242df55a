//! Containers of the standard library that hold no numbers with a gradient, and its functions without a rule.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use pullback::prelude::*;

#[differentiable]
fn in_a_map(x: f64) -> f64 {
    let mut map = HashMap::new();
    map.insert(1, x);
    map[&1]
}

#[differentiable]
fn in_a_map_by_extending_it(x: f64) -> f64 {
    let mut map: BTreeMap<usize, f64> = BTreeMap::new();
    map.extend([(1, x)]);
    map[&1]
}

#[differentiable]
fn in_a_cell(x: f64) -> f64 {
    let cell = Cell::new(1.0);
    cell.set(x);
    cell.get()
}

#[differentiable]
fn shared(x: f64) -> f64 {
    let shared = Rc::new(RefCell::new(x));
    let value = *shared.borrow();
    value
}

type Real = f64;

#[differentiable]
fn by_another_name(x: Real, y: Real) -> Real {
    Real::max(x, y)
}

fn main() {}
