use pullback::prelude::*;

#[derive(Clone, Copy, Differentiable)]
enum Shape {
    Disc { radius: f64 },
    Box { w: f64, h: f64 },
    Ring(f64, f64),
}

#[differentiable]
fn other_parts(shape: Shape) -> f64 {
    match shape {
        Shape::Disc { radius: r } | Shape::Box { w: r, .. } => r,
        Shape::Ring(outer, _) => outer,
    }
}

#[differentiable]
fn behind_a_gap(shape: Shape) -> f64 {
    match shape {
        Shape::Ring(.., inner) => inner,
        _ => 0.0,
    }
}

#[differentiable]
fn writes_through(shape: &mut Shape, k: f64) {
    match shape {
        Shape::Disc { radius } => *radius *= k,
        _ => {}
    }
}

fn main() {}
