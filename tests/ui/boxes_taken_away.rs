use pullback::prelude::*;

#[derive(Clone, Differentiable)]
struct Cell {
    value: f64,
    next: Option<Box<Cell>>,
}

#[differentiable]
fn behind(cell: &mut Cell) -> f64 {
    let next: Option<Box<Cell>> = cell.next.take();
    match &next {
        Some(c) => c.value,
        None => cell.value,
    }
}

fn main() {}
