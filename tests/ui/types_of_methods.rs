//! What the types of values tell about methods and functions that are known by their names.

use pullback::prelude::*;

#[derive(Clone, Copy, Differentiable)]
struct Arrow {
    x: f64,
    y: f64,
}

#[differentiable]
impl Arrow {
    fn len(self) -> f64 {
        self.x.hypot(self.y)
    }
}

#[differentiable]
fn length(a: Arrow) -> f64 {
    2.0 * a.len()
}

#[differentiable]
fn sorted(arrows: &[Arrow]) -> f64 {
    let mut arrows = arrows.to_vec();
    arrows.sort_unstable_by(|a, b| a.x.total_cmp(&b.x));
    arrows[0].y
}

/// Not the function of this crate.
mod mine {
    use pullback::prelude::*;

    #[differentiable]
    fn constant(x: f64) -> f64 {
        3.0 * x
    }

    #[differentiable]
    fn of_mine(x: f64) -> f64 {
        x * constant(x)
    }
}

fn main() {}
