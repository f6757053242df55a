//! ode: an ordinary differential equation by Runge and Kutta.

use pullback::prelude::*;
use serde_json::Value;

use super::unknown;
use crate::input;
use crate::task::{self, Task};

/// How many elements stand before the first, so that all follow one rule.
const BEFORE: usize = 4;

/// *y(2)* where *y'₀ = x₀*, *y'ᵢ = xᵢ·yᵢ₋₁*, *y(0) = 0*: `steps` steps of the classical method of order 4.
#[differentiable]
pub fn primal(x: &[f64], steps: usize) -> Vec<f64> {
    let h = 2.0 / steps as f64;
    let mut rates = vec![0.0; BEFORE];
    rates.extend_from_slice(x);
    let mut y = vec![0.0; rates.len()];
    y[BEFORE - 1] = 1.0;
    for _ in 0..steps {
        let next = step(&rates, &y, h);
        y = next;
    }
    y[BEFORE..].to_vec()
}

/// One step. The slope at an element depends on the one before alone, so that one sweep does.
#[differentiable]
fn step(x: &[f64], y: &[f64], #[constant] h: f64) -> Vec<f64> {
    let n = x.len();
    let half = 0.5 * h;
    let mut next = y.to_vec();
    for i in BEFORE..n {
        let a1 = x[i - 3] * y[i - 4];
        let b1 = x[i - 2] * y[i - 3];
        let b2 = x[i - 2] * (y[i - 3] + half * a1);
        let c1 = x[i - 1] * y[i - 2];
        let c2 = x[i - 1] * (y[i - 2] + half * b1);
        let c3 = x[i - 1] * (y[i - 2] + half * b2);
        let k1 = x[i] * y[i - 1];
        let k2 = x[i] * (y[i - 1] + half * c1);
        let k3 = x[i] * (y[i - 1] + half * c2);
        let k4 = x[i] * (y[i - 1] + h * c3);
        next[i] += h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
    }
    next
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
            Ok(task::lent(move |result| {
                let (_, d) = g.value_and_pullback(&x, steps, &seed);
                result(d.x);
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
