//! What patterns on references bind, followed by `*`: as an argument, as a receiver, in a literal.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Copy, Differentiable)]
pub struct Pair {
    x: f64,
    y: f64,
}

#[derive(Clone, Copy, Differentiable)]
pub enum Shape {
    Disc(f64, f64),
    Box { x: f64, y: f64 },
    At(Pair),
    Nowhere,
}

#[differentiable]
impl Pair {
    fn dot(self, other: Pair) -> f64 {
        self.x * other.x + self.y * other.y
    }

    fn scaled(&self, k: f64) -> f64 {
        self.x * k - self.y
    }
}

#[differentiable]
fn square(p: f64) -> f64 {
    p * p
}

#[differentiable]
fn product(p: Pair) -> f64 {
    p.x * p.y
}

#[differentiable]
fn product_of(p: &Pair) -> f64 {
    p.x * p.y
}

#[differentiable]
fn arguments(s: &Shape) -> f64 {
    match s {
        Shape::Disc(x, y) => square(*x) + y,
        Shape::Box { x, y } => square(*x) * square((*y)) * y.sin(),
        Shape::At(p) => product(*p) * product_of(p),
        Shape::Nowhere => 1.0,
    }
}

#[differentiable]
fn if_lets(s: &Shape, k: f64) -> f64 {
    let mut t = k;
    if let Shape::Disc(x, y) = s {
        t *= square(*x) * *y;
    }
    let Shape::At(p) = s else { return square(t) };
    let q = *p;
    t * product(q) + product(*p)
}

#[differentiable]
fn receivers(s: &Shape, p: Pair, k: f64) -> f64 {
    match s {
        Shape::At(q) => q.dot(p) * p.dot(*q) + q.scaled(k),
        Shape::Disc(x, _) => p.scaled(*x) * product(Pair { x: *x, y: k }),
        _ => k,
    }
}

#[differentiable]
fn of_option(s: &Option<f64>, k: f64) -> f64 {
    match s {
        Some(v) => square(*v) * v.sin() + k * v,
        None => k * k,
    }
}

#[differentiable]
fn of_option_of_struct(s: &Option<Pair>, k: f64) -> f64 {
    let mut t = 0.0;
    if let Some(p) = s {
        t += product(*p) * p.x * product_of(p);
    }
    let Some(p) = s else { return k * k };
    t * p.y + k * p.dot(*p)
}

#[differentiable]
fn options_in_a_loop(s: &[Option<f64>], k: f64) -> f64 {
    let mut t = k;
    for o in s {
        match o {
            Some(v) => t = square(t * *v) + square(*v),
            None => t = t.sin(),
        }
    }
    t
}

#[differentiable]
fn overwritten(s: &Shape) -> f64 {
    let mut t = 1.0;
    if let Shape::Box { x, y } = s {
        for _ in 0..3 {
            t = square(*x * t) + square(*y);
        }
    }
    t
}

#[differentiable]
fn of_items(shapes: &[Shape]) -> f64 {
    let mut t = 0.0;
    for s in shapes {
        match s {
            Shape::At(p) => t += product(*p),
            Shape::Disc(x, y) if *x > 0.5 => t *= square(*x) * y,
            _ => {}
        }
    }
    t + shapes
        .iter()
        .map(|s| match s {
            Shape::Box { x, y } => square(*x) * y,
            _ => 1.0,
        })
        .sum::<f64>()
}

#[differentiable]
fn of_structs(pairs: &[Pair]) -> f64 {
    let mut t = 1.0;
    for Pair { x, y } in pairs {
        t += square(*x) * y * t;
    }
    t * pairs.iter().map(|Pair { x, y }| square(*x) * y).sum::<f64>()
}

#[test]
fn what_patterns_on_references_bind() {
    let pair = Pair { x: 0.3, y: 0.8 };
    let shapes = [Shape::Disc(0.7, 0.4), Shape::Box { x: 0.3, y: 0.9 }, Shape::At(pair), Shape::Nowhere];
    check_rule(arguments::rule, shapes.map(|s| (s,)));
    check_rule(if_lets::rule, shapes.map(|s| (s, 0.4)));
    check_rule(receivers::rule, shapes.map(|s| (s, Pair { x: 0.4, y: -0.2 }, 0.6)));
    check_rule(of_option::rule, [(Some(0.4), 0.7), (Some(-0.3), 0.2)]);
    check_rule(of_option_of_struct::rule, [(Some(pair), 0.7), (Some(Pair { x: -0.2, ..pair }), 0.3)]);
    check_rule(options_in_a_loop::rule, [(vec![Some(0.4), Some(0.8)], 0.7), (vec![], 0.8)]);
    assert_eq!(of_option::gradient().value_and_gradient(&None, 0.8).1.k, 1.6);
    assert_eq!(of_option_of_struct::gradient().value_and_gradient(&None, 0.8).1.k, 1.6);
    assert_eq!(options_in_a_loop::gradient().value_and_gradient(&[None], 0.8).1.k, 0.8_f64.cos());
    check_rule(overwritten::rule, shapes.map(|s| (s,)));
    check_rule(of_items::rule, [(shapes.to_vec(),), (shapes[..2].to_vec(),), (vec![],)]);
    check_rule(of_structs::rule, [(vec![pair, pair],), (vec![pair],), (vec![],)]);
}

/// Patterns that follow the reference beside such that go through it.
#[differentiable]
fn either_way(s: &Shape, x: f64) -> f64 {
    let y = match s {
        Shape::Disc(x, y) if *x > 0.5 => x * y,
        &Shape::Disc(a, b) => a * b * x,
        &Shape::Box { x, y } | &Shape::At(Pair { x, y }) => square(x) * y,
        Shape::Nowhere => x,
    };
    y.sin()
}

#[differentiable]
fn either_way_of_items(shapes: &[Shape], x: f64) -> f64 {
    let mut t = x;
    for s in shapes {
        if let &Shape::Disc(x, y) = s {
            t += x * y * t;
        }
        t *= match &shapes[0] {
            &Shape::Disc(x, _) => x * t,
            Shape::Box { x, .. } => square(*x),
            _ => x,
        };
        match s {
            (&Shape::Box { mut x, y }) => {
                x *= t;
                t += x * y;
            }
            Shape::At(p) => t += product(*p),
            _ => t *= 2.0,
        }
    }
    t
}

#[test]
fn patterns_that_follow_references() {
    let pair = Pair { x: 0.3, y: 0.8 };
    let shapes = [Shape::Disc(0.7, 0.4), Shape::Box { x: 0.3, y: 0.9 }, Shape::At(pair), Shape::Nowhere];
    check_rule(either_way::rule, shapes.map(|s| (s, 0.4)));
    check_rule(either_way::rule, [(Shape::Disc(0.2, 0.4), 0.7)]);
    check_rule(
        either_way_of_items::rule,
        [(shapes.to_vec(), 0.4), (shapes[1..].to_vec(), 0.6), (vec![], 0.3)],
    );
}

#[derive(Clone, Copy, Differentiable)]
pub enum Event {
    Paid(f64),
    Accrued { rate: f64, days: u32 },
    Moved(usize, f64),
}

/// Integers that a pattern has bound by reference, and that the pullback needs.
#[differentiable]
fn of_integers(events: &[Event], x: f64, w: &[f64]) -> f64 {
    let mut t = x;
    for e in events {
        t += match e {
            Event::Paid(k) => k * k,
            Event::Accrued { rate, days } => rate.powi(*days as i32) * t.powi(days.pow(2) as i32),
            Event::Moved(i, k) => k.powi((i + 1) as i32) * w.iter().skip(*i).sum::<f64>(),
        };
    }
    t
}

#[test]
fn integers_behind_references() {
    let events = vec![Event::Paid(0.4), Event::Accrued { rate: 0.3, days: 2 }, Event::Moved(1, 0.7)];
    check_rule(of_integers::rule, [(events, 0.6, vec![0.3, 0.8, 0.2]), (vec![], 0.3, vec![])]);
}
