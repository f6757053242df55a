use pullback::prelude::*;

#[derive(Differentiable)]
struct Gate {
    weights: Vec<f64>,
}

#[derive(Differentiable)]
struct Cell {
    update: Gate,
    hidden: usize,
}

fn main() {}
