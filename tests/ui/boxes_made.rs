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
fn list(x: f64) -> Option<Box<Cell>> {
    if x > 1.0 { list(x - 1.0) } else { Some(Box::new(Cell { value: x, next: None })) }
}

#[differentiable]
fn replaces(x: f64) -> f64 {
    let mut head = Some(Box::new(Cell { value: x, next: None }));
    head = list(x);
    total(&head)
}

#[differentiable]
fn reads(xs: &[f64]) -> Option<Box<Cell>> {
    let (x, rest) = xs.split_first()?;
    let next = reads(rest);
    let value = x * total(&next);
    Some(Box::new(Cell { value, next }))
}

#[differentiable]
fn grows(xs: &[f64]) -> Option<Box<Cell>> {
    let mut head: Option<Box<Cell>> = None;
    for x in xs {
        head = Some(Box::new(Cell { value: *x, next: head }));
    }
    head
}

fn main() {}
