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
fn taken(x: f64) -> f64 {
    let mut cell = Cell { value: x, next: Some(Box::new(Cell { value: x * x, next: None })) };
    let next = cell.next.take();
    total(&next) * cell.value
}

fn main() {}
