//! What argmin and basin minimise.

use pullback::prelude::*;

/// Least where every *xᵢ = cᵢ*, and not convex everywhere.
#[differentiable(dual)]
pub(crate) fn valley(x: &[f64], #[constant] c: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let d = x[i] - c[i];
        total += 0.5 * d * d + d.cosh();
        if i > 0 {
            let across = d - (x[i - 1] - c[i - 1]).sin();
            total += 10.0 * across * across;
        }
    }
    total
}

pub(crate) const CENTRE: [f64; 4] = [1.0, -0.5, 2.0, 0.25];
