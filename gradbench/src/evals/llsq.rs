//! llsq: least squares, a polynomial that is fitted to a step.

use pullback::prelude::*;
use serde_json::Value;

use super::unknown;
use crate::input;
use crate::task::{self, Task};

/// How many points are taken at a time.
const LANES: usize = 16;

/// *½ Σᵢ (sᵢ − Σⱼ xⱼ·tᵢʲ)²*, with *n* points *tᵢ* between −1 and 1, and *sᵢ = sign tᵢ*.
#[differentiable]
pub fn primal(x: &[f64], n: usize) -> f64 {
    // The coefficients once for each lane, so that no sum runs across lanes.
    let wide: Vec<[f64; LANES]> = x.iter().map(|x| [*x; LANES]).collect();
    let mut total = 0.0;
    for first in (0..n).step_by(LANES) {
        let mut t = [0.0_f64; LANES];
        let mut s = [0.0_f64; LANES];
        for lane in 0..LANES.min(n - first) {
            t[lane] = -1.0 + 2.0 * (first + lane) as f64 / (n - 1) as f64;
            s[lane] = if t[lane] == 0.0 { 0.0 } else { t[lane].signum() };
        }
        total += block(&wide, &t, &s, LANES.min(n - first));
    }
    0.5 * total
}

/// *Σᵢ (sᵢ − p(tᵢ))²* of a few points; *p* by Horner's scheme.
#[differentiable]
fn block(
    x: &[[f64; LANES]],
    #[constant] t: &[f64; LANES],
    #[constant] s: &[f64; LANES],
    count: usize,
) -> f64 {
    let mut p = [0.0; LANES];
    for j in (0..x.len()).rev() {
        for lane in 0..LANES {
            p[lane] = p[lane] * t[lane] + x[j][lane];
        }
    }
    let mut total = 0.0;
    for lane in 0..count {
        let miss = s[lane] - p[lane];
        total += miss * miss;
    }
    total
}

/// The functions of this eval.
pub fn task(function: &str, input: &Value) -> Result<Box<dyn Task>, String> {
    let (x, n) = (input::vector(input, "x")?, input::integer(input, "n")?);
    match function {
        "primal" => Ok(task::number(move || primal(&x, n))),
        "gradient" => {
            let mut g = primal::gradient();
            Ok(task::lent(move |result| {
                let (_, d) = g.value_and_gradient(&x, n);
                result(d.x);
            }))
        }
        _ => Err(unknown(function)),
    }
}

#[cfg(test)]
mod tests {
    use crate::evals::tests::check;

    #[test]
    fn samples() {
        check("llsq", "primal");
        check("llsq", "gradient");
    }
}
