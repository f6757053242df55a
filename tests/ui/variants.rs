use pullback::prelude::*;

#[derive(Clone, Copy, Differentiable)]
enum Shape {
    Disc { radius: f64 },
    Box { w: f64, h: f64 },
    Ring(f64, f64),
}

#[differentiable]
fn other_parts(shape: Shape) -> f64 {
    if let Shape::Disc { radius: r } | Shape::Box { w: r, .. } = shape { r } else { 0.0 }
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
        Shape::Box { w, .. } => {
            *w *= k;
            *shape = Shape::Ring(k, *w);
        }
        _ => {}
    }
}

fn main() {}
