use pullback::prelude::*;

#[derive(Clone, Differentiable)]
struct Cell {
    value: f64,
    next: Option<Box<Cell>>,
}

#[differentiable]
fn by_reference(head: &Option<Box<Cell>>) -> f64 {
    let mut total = 0.0;
    let mut cursor = head;
    while let Some(cell) = cursor {
        total += cell.value;
        cursor = &cell.next;
    }
    total
}

#[differentiable]
fn of_a_local(xs: &[f64]) -> f64 {
    let mut head: Option<Box<Cell>> = None;
    for x in xs {
        head = Some(Box::new(Cell { value: *x, next: head }));
    }
    let mut total = 0.0;
    let mut cursor = &head;
    while let Some(cell) = cursor {
        total += cell.value;
        cursor = &cell.next;
    }
    total
}

#[differentiable]
fn as_deref(head: &Option<Box<Cell>>) -> f64 {
    let mut total = 0.0;
    let mut cursor = head.as_deref();
    while let Some(cell) = cursor {
        total += cell.value;
        cursor = cell.next.as_deref();
    }
    total
}

#[differentiable]
fn by_name(head: &Cell) -> f64 {
    let mut total = head.value;
    let mut at = head;
    while let Some(next) = &at.next {
        total += next.value;
        at = next;
    }
    total
}

#[differentiable]
fn to_the_end(head: &mut Cell, x: f64) {
    let mut at = head;
    while at.next.is_some() {
        at = at.next.as_mut().unwrap();
    }
    at.next = Some(Box::new(Cell { value: x, next: None }));
}

fn main() {}
