//! hello: a square and its derivative.

use pullback::prelude::*;
use serde_json::Value;

use super::unknown;
use crate::task::{self, Task};

/// *x²*
#[differentiable]
pub fn square(x: f64) -> f64 {
    x * x
}

/// The functions of this eval.
pub fn task(function: &str, input: &Value) -> Result<Box<dyn Task>, String> {
    let x = input.as_f64().ok_or("the input is not a number")?;
    match function {
        "square" => Ok(task::number(move || square(x))),
        "double" => {
            let mut g = square::gradient();
            Ok(task::number(move || g.value_and_gradient(x).1.x))
        }
        _ => Err(unknown(function)),
    }
}

#[cfg(test)]
mod tests {
    use crate::evals::tests::check;

    #[test]
    fn samples() {
        check("hello", "square");
        check("hello", "double");
    }
}
