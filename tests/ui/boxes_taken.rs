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
fn of_a_field(cell: &mut Cell, x: f64) {
    cell.next = Some(Box::new(Cell { value: x + total(&cell.next), next: cell.next.take() }));
}

#[differentiable]
fn behind(list: &mut Option<Box<Cell>>, x: f64) {
    *list = Some(Box::new(Cell { next: list.take(), value: x + total(&*list) }));
}

fn main() {}
