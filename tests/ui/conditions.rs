//! `#[cfg(…)]` where the parser does not know what to leave out.

use pullback::prelude::*;

#[differentiable]
fn in_a_closure(x: f64) -> f64 {
    let f = |a: f64, #[cfg(any())] b: f64| a * x;
    f(x)
}

fn main() {}
