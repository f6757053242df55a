//! lse: the exponentials are kept where the gradient will be, and divided by their sum.

use gradbench::input;
use gradbench::task::{self, Task};
use serde_json::Value;

/// Writes the gradient to `d`.
fn gradient(x: &[f64], d: &mut [f64]) {
    let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for (d, x) in d.iter_mut().zip(x) {
        *d = (x - top).exp();
        sum += *d;
    }
    let inverse = 1.0 / sum;
    for d in d {
        *d *= inverse;
    }
}

pub(super) fn task(input: &Value) -> Result<Box<dyn Task>, String> {
    let x = input::vector(input, "x")?;
    Ok(task::vector(x.len(), move |d| gradient(&x, d)))
}
