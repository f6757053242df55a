//! det: a determinant, by expansion along rows.

use pullback::prelude::*;
use serde_json::Value;

use super::unknown;
use crate::input::{self, agree};
use crate::task::{self, Task};

/// The determinant of a matrix of size `ell`, given row by row.
#[differentiable]
pub fn primal(a: &[f64], ell: usize) -> f64 {
    minor(a, ell, 0, (1 << ell) - 1)
}

/// The determinant of what is left of the rows from `row` on, along the first one; `columns` is the set of those that remain.
#[differentiable]
fn minor(a: &[f64], ell: usize, row: usize, columns: u32) -> f64 {
    let first = row * ell + columns.trailing_zeros() as usize;
    if row + 1 == ell {
        return a[first];
    }
    if row + 2 == ell {
        let second = row * ell + (columns & (columns - 1)).trailing_zeros() as usize;
        return a[first] * a[second + ell] - a[second] * a[first + ell];
    }
    let mut total = 0.0;
    let mut sign = 1.0;
    for column in 0..ell {
        if columns >> column & 1 == 1 {
            total += sign * a[row * ell + column] * minor(a, ell, row + 1, columns ^ 1 << column);
            sign = -sign;
        }
    }
    total
}

/// The functions of this eval.
pub fn task(function: &str, input: &Value) -> Result<Box<dyn Task>, String> {
    let (a, ell) = (input::vector(input, "A")?, input::integer(input, "ell")?);
    agree("A", a.len(), ell * ell)?;
    if !(1..32).contains(&ell) {
        return Err("the matrix is empty, or too large to expand".to_owned());
    }
    match function {
        "primal" => Ok(task::number(move || primal(&a, ell))),
        "gradient" => {
            let mut g = primal::gradient();
            Ok(task::lent(move |result| {
                let (_, d) = g.value_and_gradient(&a, ell);
                result(d.a);
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
        check("det", "primal");
        check("det", "gradient");
    }
}
