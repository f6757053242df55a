use pullback::prelude::*;

#[differentiable]
fn square(x: f64, y: &mut f64) {
    *y = x * x;
}

#[differentiable]
fn reset(x: f64, #[constant] y: &mut f64) -> f64 {
    *y = 0.0;
    x
}

#[differentiable]
fn writes_to_a_constant(x: f64, #[constant] room: &mut f64) -> f64 {
    square(x, room);
    *room
}

#[differentiable]
fn copies_to_a_constant(x: &[f64], #[constant] room: &mut [f64]) -> f64 {
    room.copy_from_slice(x);
    room[0]
}

#[differentiable]
fn active_for_a_constant(x: f64, y: &mut f64) -> f64 {
    *y *= x;
    let z = reset(x, y);
    *y + z
}

#[derive(Clone, Copy, Differentiable)]
struct Meter {
    scale: f64,
}

#[differentiable]
impl Meter {
    fn note(&mut self, x: f64) -> f64 {
        self.scale += x;
        self.scale
    }
}

#[differentiable]
fn writes_to_a_receiver(x: f64, #[constant] meter: &mut Meter) -> f64 {
    let noted = meter.note(x);
    noted * meter.scale
}

struct NoClone(Vec<usize>);

impl NoClone {
    fn push(&mut self, i: usize) {
        self.0.push(i);
    }
}

#[differentiable]
fn no_copy(x: f64, #[constant] list: &mut NoClone) -> f64 {
    list.push(1);
    x
}

fn main() {}
