//! Methods of types that carry no gradient and are not marked, called on fields marked `#[constant]` of what does.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    Call,
    Put,
}

impl Side {
    fn sign(self) -> f64 {
        if self == Side::Call { 1.0 } else { -1.5 }
    }
    fn mixed(&self, w: &[f64], k: f64) -> f64 {
        w.iter().sum::<f64>() * k + self.sign()
    }
    fn window(&self, n: usize) -> Vec<f64> {
        (0..n).map(|i| i as f64 * 0.3 + self.sign()).collect()
    }
    fn strike(&self) -> Option<f64> {
        (*self == Side::Call).then_some(1.5)
    }
    fn bounds(&self) -> (f64, usize) {
        (0.5, 1)
    }
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Leg {
    #[constant]
    side: Side,
    amount: f64,
    frame: usize,
}

#[differentiable]
impl Leg {
    fn value(&self, x: f64) -> f64 {
        let sign = self.side.sign();
        self.side.sign() * x.exp() * self.amount + sign * x + self.side.mixed(&[1.0, 0.5], 2.0) * x
    }
    fn step(&mut self, x: f64) -> f64 {
        let sign = self.side.sign();
        let mixed = self.side.mixed(&[0.2], 0.4);
        self.amount *= sign * x * mixed;
        self.amount
    }
    fn filtered(&self, x: &[f64]) -> f64 {
        let window = self.side.window(self.frame);
        x.iter().zip(&window).map(|(x, w)| x * w * self.amount).sum()
    }
    fn optional(&self, x: f64) -> Option<f64> {
        let (weight, power) = self.side.bounds();
        let strike = self.side.strike()?;
        Some(weight * strike * x.powi(power as i32) * self.side.strike().unwrap_or(0.4))
    }
}

#[test]
fn methods_of_enums_without_gradient_have_no_rule() {
    let (call, put) =
        (Leg { side: Side::Call, amount: 0.7, frame: 2 }, Leg { side: Side::Put, amount: 0.4, frame: 3 });
    check_rule(Leg::value_rule, [(call, 0.3), (put, 0.6)]);
    check_rule(Leg::step_rule, [(call, 0.3), (put, 0.6)]);
    check_rule(Leg::filtered_rule, [(call, vec![0.3, 0.4]), (put, vec![0.3, 0.4, 0.5])]);
    check_rule(Leg::optional_rule, [(call, 0.3), (put, 0.6)]);
}

/// Owns memory.
#[derive(Clone, Debug)]
struct Table {
    rows: Vec<f64>,
}

impl Table {
    fn at(&self, i: usize) -> f64 {
        self.rows[i]
    }
}

#[derive(Clone, Debug, Differentiable)]
struct Book {
    legs: Vec<Leg>,
    #[constant]
    table: Table,
    weights: Vec<f64>,
}

#[differentiable]
fn total(book: &Book, x: f64) -> f64 {
    let mut total = book.legs.iter().map(|leg| leg.side.sign() * leg.amount.sin()).sum();
    for (i, w) in book.weights.iter().enumerate() {
        total += w * book.table.at(i) * x.powi(i as i32 + 1);
    }
    if book.table.at(0) > 0.25 { total * x } else { total }
}

#[differentiable]
fn scale(book: &mut Book, k: f64) {
    for leg in book.legs.iter_mut() {
        let sign = leg.side.sign();
        leg.amount *= k * sign;
    }
    for (i, w) in book.weights.iter_mut().enumerate() {
        *w = *w * book.table.at(i) * k;
    }
}

#[test]
fn parts_of_what_owns_memory_have_such_methods() {
    let leg = |side, amount| Leg { side, amount, frame: 0 };
    let book = |first| Book {
        legs: vec![leg(Side::Call, 0.3), leg(Side::Put, 0.5)],
        table: Table { rows: vec![first, 0.7] },
        weights: vec![0.6, 0.4],
    };
    check_rule(total::rule, [(book(0.2), 0.3), (book(0.3), 0.4)]);
    check_rule(scale::rule, [(book(0.2), 0.3), (book(0.3), 0.4)]);
}

#[derive(Clone, Debug, Differentiable)]
struct Tank {
    level: f64,
    area: f64,
}

#[differentiable]
impl Tank {
    fn outflow(&self) -> f64 {
        self.level.sqrt() / self.area
    }
    fn drain(&mut self) -> f64 {
        self.level *= 0.75;
        self.level
    }
}

#[derive(Clone, Debug, Differentiable)]
struct Cascade {
    tanks: Vec<Tank>,
    ends: [Tank; 2],
}

/// Of marked types, by the name of a `&mut` that is not `mut` itself.
#[differentiable]
impl Cascade {
    fn tick(&mut self, inflow: f64) -> f64 {
        let mut incoming = inflow;
        for tank in &mut self.tanks {
            let out = tank.outflow();
            tank.level += incoming - out;
            let left = tank.drain();
            incoming = out * left;
        }
        for tank in self.ends.iter_mut() {
            let out = tank.outflow();
            tank.area *= out;
            let left = tank.drain();
            incoming += left;
        }
        if let Some(tank) = self.tanks.first_mut() {
            let out = tank.outflow();
            tank.area += out;
            let left = tank.drain();
            incoming *= left;
        }
        incoming
    }
}

#[test]
fn of_marked_types_that_loops_change() {
    let tank = |level: f64| Tank { level, area: 0.8 };
    let cascade = |n: u8| Cascade {
        tanks: (0..n).map(|i| tank(0.5 + f64::from(i))).collect(),
        ends: [tank(0.4), tank(1.3)],
    };
    check_rule(Cascade::tick_rule, [(cascade(1), 0.9), (cascade(3), 1.4)]);
}
