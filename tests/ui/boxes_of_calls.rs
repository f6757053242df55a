use pullback::prelude::*;

#[derive(Clone, Differentiable)]
struct Cell {
    value: f64,
    next: Option<Box<Cell>>,
}

#[differentiable]
fn total(cell: &Option<Box<Cell>>) -> f64 {
    cell.as_ref().map_or(0.0, |c| c.value + total(&c.next))
}

#[differentiable]
fn list(xs: &[f64]) -> Option<Box<Cell>> {
    let (x, rest) = xs.split_first()?;
    Some(Box::new(Cell { value: *x, next: list(rest) }))
}

#[differentiable]
fn without_a_type(xs: &[f64]) -> f64 {
    let l = list(xs);
    total(&l)
}

fn main() {}
