//! What the macros emit is accepted by a crate that forbids `unsafe`, undocumented items and warnings.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, clippy::all)]

use pullback::prelude::*;

/// A plain struct.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
pub struct Body<T> {
    /// Its mass.
    pub mass: T,
    position: (T, [T; 2]),
    #[constant]
    step: f64,
    id: usize,
}

/// An enum.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
pub enum Shape {
    /// Round.
    Disc {
        /// Its radius.
        radius: f64,
    },
    /// Not round.
    Rectangle(f64, f64),
    /// Neither.
    Nothing,
}

/// A container.
#[derive(Clone, Debug, Differentiable)]
pub struct System {
    bodies: Vec<Body<f64>>,
    rows: Vec<Vec<f64>>,
}

/// A struct that borrows.
#[derive(Differentiable)]
pub struct Data<'a> {
    x: &'a [f64],
}

/// Uses them all.
#[differentiable]
pub fn all(system: &System, data: &Data<'_>, body: Body<f64>) -> f64 {
    let first = system.bodies[0];
    first.mass * first.position.1[0] * system.rows[0][0] * data.x[0] * body.mass * body.step + body.position.0
}

/// A shape, from its size.
#[differentiable]
pub fn rectangle(width: f64) -> Shape {
    Shape::Rectangle(width, 2.0 * width)
}

#[test]
fn compiles_and_runs() {
    let body = Body { mass: 2.0, position: (3.0, [5.0, 0.0]), step: 0.5, id: 1 };
    let system = System { bodies: vec![body], rows: vec![vec![7.0]] };
    let mut g = all::gradient();
    let (value, d) = g.value_and_gradient(&system, &Data { x: &[0.5] }, body);
    assert_eq!(value, all(&system, &Data { x: &[0.5] }, body));
    assert_eq!((d.system.bodies[0].mass, d.system.bodies[0].position), (17.5, (0.0, [7.0, 0.0])));
    assert_eq!((d.system.rows[0][0], d.data.x[0], d.body.mass, d.body.position.0), (5.0, 70.0, 17.5, 1.0));
    let mut seed = ShapeTangent::default();
    seed.Rectangle.1 = 1.0;
    assert_eq!(rectangle::pullback().value_and_pullback(1.0, seed).1.width, 2.0);
}
