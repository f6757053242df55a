//! What is refused is all that is told: its siblings and callers have their rules.

use pullback::prelude::*;

#[derive(Differentiable)]
struct Model {
    weights: Vec<f64>,
}

#[differentiable]
impl Model {
    fn refused(&self) -> f64 {
        dbg!(self.weights[0])
    }

    fn iterator(&self) -> impl Iterator<Item = f64> {
        self.weights.iter().copied()
    }

    fn squares(&self) -> f64 {
        self.weights.iter().map(|w| w * w).sum()
    }
}

#[differentiable]
trait Energy {
    fn energy(&self, x: f64) -> f64;

    fn kinetic(&self, x: f64) -> f64 {
        dbg!(x)
    }
}

#[differentiable]
impl Energy for Model {
    fn energy(&self, x: f64) -> f64 {
        dbg!(self.weights[0] * x)
    }
}

#[differentiable]
fn alone(model: &Model) -> f64 {
    dbg!(model.weights[0])
}

#[differentiable]
fn calls(model: &Model) -> f64 {
    let x = model.weights[0];
    model.refused() + model.squares() + model.energy(x) + model.kinetic(x) + alone(model)
}

fn main() {
    let model = Model { weights: vec![1.0] };
    let _ = alone::gradient().value_and_gradient(&model);
}
