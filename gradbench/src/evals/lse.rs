//! lse: the logarithm of a sum of exponentials.

use ndarray::Array1;
use pullback::prelude::*;
use serde_json::Value;

use super::unknown;
use crate::input;
use crate::task::{self, Task};

fused! {
    /// *a + log Σ exp(xᵢ − a)*, where *a* is the largest element.
    pub fn log_sum_exp(x) {
        let a = constant(max(x));
        a + sum((x - a).exp()).ln()
    }
}

/// `log_sum_exp` of a vector.
#[differentiable]
pub fn primal(x: &Array1<f64>) -> f64 {
    log_sum_exp(x)
}

/// The functions of this eval.
pub fn task(function: &str, input: &Value) -> Result<Box<dyn Task>, String> {
    let x = Array1::from(input::vector(input, "x")?);
    match function {
        "primal" => Ok(task::number(move || primal(&x))),
        "gradient" => {
            let mut g = primal::gradient();
            Ok(task::lent(move |result| {
                let (_, d) = g.value_and_gradient(&x);
                result(d.x.as_slice().expect("a vector is contiguous"));
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
        check("lse", "primal");
        check("lse", "gradient");
    }
}
