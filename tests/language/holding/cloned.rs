//! Structs of numbers that are `Clone` and not `Copy`, by value: parameters, `self`, results that are handed on.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, Differentiable)]
pub struct Spring {
    stiffness: f64,
    rest: f64,
}

#[differentiable]
pub fn energy(spring: Spring, x: f64) -> f64 {
    spring.stiffness * (x - spring.rest).powi(2)
}

#[differentiable]
pub fn relaxed(s: Spring, h: f64) -> Spring {
    Spring { stiffness: s.stiffness + h * s.rest, rest: s.rest - h * s.stiffness.sin() }
}

#[differentiable]
impl Spring {
    fn new(stiffness: f64) -> Self {
        Spring { stiffness, rest: 1.0 }
    }

    fn with_rest(mut self, rest: f64) -> Self {
        self.rest = rest;
        self
    }

    fn with_stiffness(self, stiffness: f64) -> Self {
        Spring { stiffness, ..self }
    }

    fn force(self, x: f64) -> f64 {
        -2.0 * self.stiffness * (x - self.rest)
    }

    fn sum(&self) -> f64 {
        self.stiffness + self.rest
    }

    fn both(self, x: f64) -> f64 {
        let stiffer = self.clone().with_stiffness(2.0 * self.stiffness);
        stiffer.force(x) * self.sum()
    }
}

#[differentiable]
pub fn built(x: f64) -> f64 {
    let spring = Spring::new(x).with_rest(x * x).with_stiffness(2.0 * x);
    Spring::force(spring, x)
}

#[differentiable]
pub fn copied(x: f64) -> f64 {
    let spring = Spring { stiffness: x, rest: 2.0 * x };
    let longer = spring.clone().with_rest(x * x);
    energy(spring, x) * longer.force(x)
}

#[differentiable]
pub fn in_a_loop(x: f64, n: usize) -> f64 {
    let mut spring = Spring { stiffness: x, rest: 2.0 * x };
    for _ in 0..n {
        spring = relaxed(spring, 0.1 * x);
    }
    spring.stiffness * spring.rest
}

#[differentiable]
pub fn of_a_call_in_a_loop(x: f64, n: usize) -> f64 {
    let mut spring = Spring::new(x);
    for _ in 0..n {
        spring = relaxed(spring, 0.1 * x);
    }
    spring.stiffness * spring.rest
}

#[differentiable]
pub fn of_results(spring: Spring, h: f64) -> f64 {
    let one = relaxed(spring, h);
    let two = relaxed(one.clone(), h);
    energy(one, h) + two.with_rest(h).sum()
}

#[differentiable]
pub fn of_all(springs: &[Spring], x: f64) -> f64 {
    let mut total = 0.0;
    for spring in springs {
        total += energy(spring.clone(), x) + spring.clone().force(x);
    }
    total
}

#[differentiable]
pub fn changed(spring: Spring, x: f64) -> f64 {
    let mut spring = spring;
    spring.stiffness *= x;
    let t = spring.sum();
    spring.rest *= t;
    spring.both(x)
}

#[differentiable]
pub fn slices_are_copied(springs: &[Spring], m: f64) -> f64 {
    let mut springs: Vec<Spring> = springs.to_vec();
    springs[0].rest += m;
    springs[0].rest * springs[1].stiffness
}

#[test]
fn structs_of_numbers_that_are_not_copy_are_handed_on() {
    let springs = || [Spring { stiffness: 1.5, rest: 0.2 }, Spring { stiffness: 0.7, rest: 0.4 }];
    let [a, b] = springs();
    check_rule(energy::rule, [(a.clone(), 0.3), (b.clone(), 0.9)]);
    check_rule(relaxed::rule, [(a.clone(), 0.3), (b.clone(), 0.9)]);
    check_rule(built::rule, [(0.4,), (0.7,)]);
    check_rule(copied::rule, [(0.4,), (0.7,)]);
    check_rule(in_a_loop::rule, [(0.4, 3), (0.7, 2)]);
    check_rule(of_a_call_in_a_loop::rule, [(0.4, 3), (0.7, 2)]);
    check_rule(of_results::rule, [(a.clone(), 0.3), (b.clone(), 0.9)]);
    check_rule(of_all::rule, [(springs().to_vec(), 0.3), (vec![b.clone()], 0.9)]);
    check_rule(changed::rule, [(a.clone(), 0.3), (b.clone(), 0.9)]);
    check_rule(slices_are_copied::rule, [(springs().to_vec(), 0.3), (vec![b.clone(), a.clone(), b], 0.9)]);
}

#[derive(Clone, Debug, Differentiable)]
struct Regulator {
    gain: f64,
    integral: f64,
}

/// Made step by step: `self` is changed by what it holds, and returned.
#[differentiable]
impl Regulator {
    fn new(gain: f64) -> Self {
        Self { gain, integral: 0.1 * gain }
    }

    fn with_integral(mut self, integral: f64) -> Self {
        self.integral = integral;
        self
    }

    fn scaled(mut self, by: f64) -> Regulator {
        self.gain *= by;
        self.integral *= self.gain;
        self
    }
}

#[differentiable]
fn answer(k: f64, e: f64) -> f64 {
    let regulator = Regulator::new(k).with_integral(e * k).scaled(k);
    regulator.gain * e + regulator.integral * e * e
}

#[test]
fn made_step_by_step() {
    check_rule(answer::rule, [(1.2, 0.5), (-0.3, 0.8)]);
    check_rule(Regulator::scaled_rule, [(Regulator { gain: 0.4, integral: 0.3 }, 0.7)]);
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Component {
    weight: f64,
    mean: Vec<f64>,
}

#[differentiable]
fn move_all(components: &mut [Component], k: f64) {
    for c in components.iter_mut() {
        c.weight *= k;
        for m in c.mean.iter_mut() {
            *m += k * c.weight;
        }
    }
}

/// The slice stays as it is.
#[differentiable]
fn of_structs(components: &[Component], k: f64, n: usize) -> f64 {
    let mut moved = components.to_vec();
    for _ in 0..n {
        move_all(&mut moved, k);
    }
    let mut last: Vec<Component> = moved.to_vec();
    move_all(&mut last, components[0].weight);
    let of = |c: &Component| c.weight * c.mean[0];
    last.iter().map(of).sum::<f64>() * moved[0].weight
}

#[test]
fn slices_of_structs() {
    let components = |n: usize| {
        let one = |i: usize| Component { weight: 0.4 + 0.1 * i as f64, mean: vec![0.2; i + 1] };
        (0..n).map(one).collect::<Vec<_>>()
    };
    check_rule(of_structs::rule, [(components(2), 0.7, 2), (components(3), 0.9, 0)]);
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Cell {
    w: Vec<f64>,
    b: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Place {
    x: f64,
    y: f64,
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Tissue {
    cells: Vec<Cell>,
    v: Vec<f64>,
}

/// Copies of all elements, whatever these are.
#[differentiable]
fn collected_copies(tissue: &Tissue, places: &[Place], k: f64) -> f64 {
    let mut cells: Vec<_> = tissue.cells.iter().cloned().collect();
    for cell in cells.iter_mut() {
        cell.b *= k;
        cell.w[0] += k;
    }
    let v = tissue.v.iter().copied().collect::<Vec<_>>();
    let last: Vec<_> = places[1..].iter().copied().collect();
    let backwards: Vec<_> = places.iter().rev().copied().collect();
    let right: Vec<_> = places.iter().filter(|place| place.x > 0.2).copied().collect();
    let rows: Vec<Vec<f64>> = tissue.cells.iter().map(|cell| cell.w.clone()).collect();
    let again = rows.iter().cloned().collect::<Vec<_>>();
    let moved = backwards[0].x * right[0].y;
    v[0] * again[0][0] * last[0].x * last[0].y * moved
        + cells.iter().map(|cell| cell.b * cell.w[0]).sum::<f64>()
}

#[test]
fn copies_that_are_collected() {
    let tissue = |n: usize| Tissue {
        cells: (0..n).map(|i| Cell { w: vec![1.0, 0.5 * i as f64], b: 0.3 }).collect(),
        v: vec![0.7; n],
    };
    let places = vec![Place { x: 0.1, y: 0.2 }, Place { x: 0.4, y: 0.3 }];
    check_rule(collected_copies::rule, [(tissue(2), places.clone(), 0.3), (tissue(3), places, 0.6)]);
}

#[derive(Clone, Debug, Differentiable)]
struct Regimen {
    amount: f64,
    doses: usize,
}

#[differentiable]
fn effect(regimen: &Regimen, k: f64) -> f64 {
    (regimen.amount * regimen.doses as f64).tanh() * k
}

#[differentiable]
fn of_listed(a: f64, b: f64) -> [f64; 2] {
    let regimens = [Regimen { amount: a, doses: 1 }, Regimen { amount: b, doses: 2 }];
    regimens.map(|r| {
        let e = effect(&r, a);
        e * e * r.amount
    })
}

#[differentiable]
fn of_a_vector(a: f64, b: f64) -> f64 {
    let regimens = vec![Regimen { amount: a, doses: 1 }, Regimen { amount: b, doses: 2 }];
    let mut total = 0.0;
    for r in [Regimen { amount: a * b, doses: 3 }, Regimen { amount: b, doses: 2 }] {
        total += effect(&r, total + a) * r.amount;
    }
    total + regimens.into_iter().map(|r| effect(&r, b) * r.doses as f64).sum::<f64>()
}

/// Items by value that are looked at where they are.
#[test]
fn items_that_are_not_copied() {
    check_rule(of_listed::rule, [(0.4, 0.9), (1.1, 0.3)]);
    check_rule(of_a_vector::rule, [(0.4, 0.9), (1.1, 0.3)]);
}
