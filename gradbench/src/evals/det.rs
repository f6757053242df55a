//! det: a determinant, by expansion along rows.

use pullback::prelude::*;
use serde_json::Value;

use super::unknown;
use crate::input::{self, agree};
use crate::task::{self, Task};

/// The determinant of a matrix of size `ell`, given row by row.
#[differentiable]
pub fn primal(a: &[f64], ell: usize) -> f64 {
    // Linked lists of the rows and columns that remain; the last entry is their head.
    let mut rows: Vec<usize> = (1..=ell).chain([0]).collect();
    let mut columns: Vec<usize> = (1..=ell).chain([0]).collect();
    minor(a, ell, ell, &mut rows, &mut columns)
}

/// The determinant of the minor of size `m` that the lists leave, along its first row.
#[differentiable]
fn minor(a: &[f64], ell: usize, m: usize, rows: &mut [usize], columns: &mut [usize]) -> f64 {
    let row = rows[ell];
    if m == 1 {
        return a[row * ell + columns[ell]];
    }
    rows[ell] = rows[row];
    let mut total = 0.0;
    let mut sign = 1.0;
    let mut before = ell;
    for _ in 0..m {
        let column = columns[before];
        columns[before] = columns[column];
        let rest = minor(a, ell, m - 1, rows, columns);
        columns[before] = column;
        total += sign * a[row * ell + column] * rest;
        sign = -sign;
        before = column;
    }
    rows[ell] = row;
    total
}

/// The functions of this eval.
pub fn task(function: &str, input: &Value) -> Result<Box<dyn Task>, String> {
    let (a, ell) = (input::vector(input, "A")?, input::integer(input, "ell")?);
    agree("A", a.len(), ell * ell)?;
    match function {
        "primal" => Ok(task::number(move || primal(&a, ell))),
        "gradient" => {
            let mut g = primal::gradient();
            Ok(task::vector(a.len(), move |result| {
                let (_, d) = g.value_and_gradient(&a, ell);
                result.copy_from_slice(d.a);
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
