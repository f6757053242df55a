//! ode: an ordinary differential equation by Runge and Kutta.

use pullback::prelude::*;
use serde_json::Value;

use super::unknown;
use crate::input;
use crate::task::{self, Task};

/// *y(2)* where *y'₀ = x₀*, *y'ᵢ = xᵢ·yᵢ₋₁*, *y(0) = 0*: `steps` steps of the classical method of order 4.
#[differentiable]
pub fn primal(x: &[f64], steps: usize) -> Vec<f64> {
    let h = 2.0 / steps as f64;
    let mut y = vec![0.0; x.len()];
    let mut next = vec![0.0; x.len()];
    for _ in 0..steps {
        step(x, &y, h, &mut next);
        std::mem::swap(&mut y, &mut next);
    }
    y
}

/// One step. The slopes at an element need those of the one before alone, so that one sweep does.
#[differentiable]
fn step(x: &[f64], y: &[f64], #[constant] h: f64, next: &mut [f64]) {
    let (mut k1, mut k2, mut k3) = (x[0], x[0], x[0]);
    next[0] = y[0] + h * x[0];
    for i in 1..x.len() {
        let k4 = x[i] * (y[i - 1] + h * k3);
        k3 = x[i] * (y[i - 1] + 0.5 * h * k2);
        k2 = x[i] * (y[i - 1] + 0.5 * h * k1);
        k1 = x[i] * y[i - 1];
        next[i] = y[i] + h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
    }
}

/// The functions of this eval.
pub fn task(function: &str, input: &Value) -> Result<Box<dyn Task>, String> {
    let (x, steps) = (input::vector(input, "x")?, input::integer(input, "s")?);
    if x.is_empty() {
        return Err("`x` is empty".to_owned());
    }
    match function {
        "primal" => Ok(task::vector(x.len(), move |result| *result = primal(&x, steps))),
        "gradient" => {
            let mut g = primal::pullback();
            let mut seed = vec![0.0; x.len()];
            *seed.last_mut().expect("checked above") = 1.0;
            Ok(task::vector(x.len(), move |result| {
                let (_, d) = g.value_and_pullback(&x, steps, &seed);
                result.copy_from_slice(d.x);
            }))
        }
        _ => Err(unknown(function)),
    }
}

#[cfg(test)]
mod tests {
    use crate::evals::tests::check;

    /// The samples come from the exact solution.
    #[test]
    fn gradient() {
        let x = [0.7, -0.4, 0.9, 1.2, 0.5];
        let mut g = super::primal::pullback();
        let (y, d) = g.value_and_pullback(&x, 3, &[0.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!(y, super::primal(&x, 3));
        for i in 0..x.len() {
            let last = |step| {
                let mut x = x;
                x[i] += step;
                super::primal(&x, 3)[4]
            };
            assert!((d.x[i] - (last(1e-5) - last(-1e-5)) / 2e-5).abs() < 1e-9);
        }
    }

    #[test]
    fn samples() {
        check("ode", "primal");
        check("ode", "gradient");
    }
}
