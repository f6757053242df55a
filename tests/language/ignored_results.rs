//! Methods that change what they are called on, and return what nobody looks at.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Copy, Debug, Differentiable)]
struct Filter {
    state: f64,
    steps: usize,
}

#[differentiable]
impl Filter {
    fn step(&mut self, x: f64) -> f64 {
        self.state *= x;
        self.steps += 1;
        self.state
    }

    fn twice(&mut self, x: f64) -> f64 {
        let _first = self.step(x);
        self.step(x * x);
        self.state
    }

    fn is_large(&self, least: f64) -> bool {
        self.state > least
    }
}

#[derive(Clone, Debug, Differentiable)]
struct Loop {
    gains: Vec<f64>,
    filter: Filter,
}

#[differentiable]
fn of_a_field(l: &mut Loop, x: &[f64]) -> f64 {
    let _ = l.filter.step(x[0]);
    let _second = l.filter.step(x[1]);
    let _third = l.filter.step(x[0]);
    l.filter.step(x[1]);
    l.gains[0] * l.filter.state
}

#[differentiable]
fn of_a_variable(l: &Loop, x: &[f64]) -> f64 {
    let mut filter = l.filter;
    let _first = filter.step(x[0]);
    let _ = filter.twice(x[1]);
    filter.state * l.gains[0]
}

#[differentiable]
fn of_elements(l: &Loop, x: &[f64]) -> f64 {
    let mut filters = vec![l.filter; 2];
    for v in x {
        let _last = filters[1].step(*v);
    }
    let first = &mut filters[0];
    let _other = first.step(x[0]);
    filters[0].state * filters[1].state
}

/// What is only looked at may have any method.
#[differentiable]
fn looked_at(l: &mut Loop, x: &[f64]) -> f64 {
    let mut total = l.filter.state;
    l.filter.step(x[0]);
    if l.filter.is_large(0.4) && !l.gains.is_empty() {
        total *= x[1];
    }
    assert!(!l.filter.is_large(100.0) && l.filter.state.abs() < 1000.0, "{:?}", l.filter.clone());
    total * l.filter.state * x[l.filter.steps.min(1)]
}

#[test]
fn change_what_they_are_called_on() {
    let new = |state: f64| Loop { gains: vec![0.3, 1.2], filter: Filter { state, steps: 0 } };
    let x = vec![0.7, 1.5];
    check_rule(Filter::twice_rule, [(new(0.4).filter, 0.3), (new(0.4).filter, 1.3)]);
    check_rule(of_a_field::rule, [(new(0.4), x.clone()), (new(1.4), vec![0.2, 0.9])]);
    check_rule(of_a_variable::rule, [(new(0.4), x.clone()), (new(1.4), vec![0.2, 0.9])]);
    check_rule(of_elements::rule, [(new(0.4), x.clone()), (new(1.4), vec![0.2, 0.9])]);
    check_rule(looked_at::rule, [(new(0.4), x), (new(1.4), vec![0.2, 0.9])]);
}

/// Without gradient, and changed in a condition: run once, by the forward.
struct Generator(u64);

impl Generator {
    fn next(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize
    }
}

struct Simulation {
    generator: Generator,
}

#[differentiable]
fn random_walk(x: &[f64], n: usize) -> f64 {
    let mut simulation = Simulation { generator: Generator(7) };
    let mut position = 1.0;
    for _ in 0..n {
        if simulation.generator.next() % 2 == 0 {
            position += x[0] * position;
        } else {
            position *= x[1] * position;
        }
        position *= x[simulation.generator.next() % x.len()];
    }
    position
}

#[test]
fn parts_that_change_without_gradient() {
    check_rule(random_walk::rule, [(vec![0.7, 0.5], 8), (vec![0.3, 1.1, 0.9], 3)]);
}

#[derive(Clone, Copy)]
struct Counter {
    steps: usize,
    wheel: [usize; 2],
}

impl Counter {
    fn turn(&mut self) {
        self.steps += 1;
        self.wheel[1] += 2;
    }
}

/// By another name for it.
#[differentiable]
fn counted(x: &[f64], n: usize) -> f64 {
    let mut counter = Counter { steps: 0, wheel: [0, 1] };
    let mut total = 1.0;
    for _ in 0..n {
        total += x[counter.wheel[1] % x.len()] * total;
        let other = &mut counter;
        other.turn();
        total *= x[counter.steps % x.len()] + x[counter.wheel[1] % x.len()];
    }
    total
}

/// Vectors and texts without gradient that get other ones to hold.
#[differentiable]
fn breadth_first(x: &[f64], n: usize) -> f64 {
    let (mut frontier, mut label) = (vec![0_usize], String::new());
    let mut total = 1.0;
    for i in 0..n {
        let mut next = Vec::new();
        for &j in &frontier {
            total += x[j] * total;
            next.push((j + 1) % x.len());
        }
        next.push(i % x.len());
        frontier = next;
        total *= x[frontier[0]] + x[label.len() % x.len()];
        label = format!("{label}{i}");
    }
    total * x[frontier[frontier.len() - 1]]
}

#[test]
fn what_carries_no_gradient_is_followed() {
    check_rule(counted::rule, [(vec![0.7, 0.5, 1.1], 4), (vec![0.3, 1.2], 2)]);
    check_rule(breadth_first::rule, [(vec![0.7, 0.5, 1.1], 4), (vec![0.3, 1.2], 2)]);
}

/// What a reference refers to, by a star.
#[differentiable]
fn by_a_star(filter: &mut Filter, x: f64) -> f64 {
    (*filter).step(x);
    let last = (*filter).step(x * x);
    if (*filter).is_large(0.2) { last * filter.state } else { (*filter).state }
}

#[test]
fn receivers_that_are_followed() {
    check_rule(
        by_a_star::rule,
        [(Filter { state: 0.7, steps: 0 }, 0.9), (Filter { state: 0.1, steps: 0 }, 0.9)],
    );
}
