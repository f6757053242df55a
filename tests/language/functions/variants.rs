//! Patterns that take active enums and structs apart.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
enum Shape {
    Disc { radius: f64, centre: Point },
    Box { w: f64, h: f64 },
    Ring(f64, f64, usize),
    Point,
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Tagged {
    shape: Shape,
    weight: f64,
    id: usize,
}

#[differentiable]
fn made(kind: usize, a: f64, b: f64) -> Shape {
    match kind % 4 {
        0 => Shape::Disc { radius: a * b, centre: Point { x: a, y: b.sin() } },
        1 => Shape::Box { w: a, h: b * b },
        2 => Shape::Ring(a * a, b, kind),
        _ => Shape::Point,
    }
}

/// By value.
#[differentiable]
fn area(shape: Shape) -> f64 {
    match shape {
        Shape::Disc { radius, .. } => 3.0 * radius * radius,
        Shape::Box { w, h } if w > h => w * h,
        Shape::Box { w: side, h: _ } => side * side * side,
        Shape::Ring(outer, inner, n) => (outer * outer - inner * inner) * n as f64,
        Shape::Point => 0.0,
    }
}

/// By reference; nested, with names for the whole.
#[differentiable]
fn moment(shape: &Shape, at: &Point) -> f64 {
    let Point { x, y } = at;
    match shape {
        Shape::Disc { radius: r, centre: Point { x: cx, y: cy } } => {
            let (dx, dy) = (cx - x, *cy - *y);
            r.sin() * (dx * dx + dy * dy)
        }
        Shape::Disc { .. } => 0.0,
        Shape::Box { w, h } if *w > 1.0 || *h > x * 2.0 => {
            let mut sum = w * h;
            for i in 0..3 {
                sum *= w + i as f64 * h;
            }
            sum
        }
        Shape::Box { w, .. } => w.exp() * y,
        Shape::Ring(a, ..) => a.powi(3) * x,
        Shape::Point => x * y,
    }
}

#[differentiable]
fn all(kinds: &[usize], a: &[f64], at: &mut [f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..kinds.len() {
        let shape = made(kinds[i], a[i], at[0]);
        let point = Point { x: at[0], y: a[i] };
        total += area(shape) * moment(&shape, &point);
        if let Shape::Disc { centre, radius } = shape {
            at[0] *= 1.0 + 0.1 * centre.x * centre.y + 0.01 * radius;
        }
        let Shape::Box { w, .. } = shape else {
            at[0] += 0.1 * total.sin();
            continue;
        };
        at[0] -= w * 0.1;
        total *= w;
    }
    total
}

/// Overwritten between matches.
#[differentiable]
fn changed(a: f64, b: f64, n: usize) -> f64 {
    let mut shape = Shape::Box { w: a, h: b };
    let mut total = 0.0;
    for i in 0..n {
        shape = match shape {
            Shape::Box { w, h } => Shape::Disc { radius: w * h, centre: Point { x: w, y: h.cos() } },
            Shape::Disc { radius, centre: Point { x, y } } if x > y => Shape::Ring(radius * 0.5, x * y, i),
            Shape::Disc { radius, centre } => Shape::Box { w: centre.x, h: radius * centre.y },
            Shape::Ring(u, v, k) => Shape::Box { w: u + v * k as f64, h: v },
            Shape::Point => Shape::Point,
        };
        total += area(shape) * b;
    }
    total
}

/// Fields of structs, an enum among them, and a name for what is matched.
#[differentiable]
fn tagged(kind: usize, a: f64, b: f64) -> f64 {
    let tagged = Tagged { shape: made(kind, a, b), weight: a * b, id: 3 };
    let first = match tagged {
        Tagged { shape: Shape::Disc { radius, .. }, weight, id } => radius * weight * id as f64,
        Tagged { shape: whole @ Shape::Box { w, .. }, .. } => area(whole) * w,
        Tagged { weight, .. } => weight * weight,
    };
    let by_reference = &tagged;
    let second = match by_reference {
        Tagged { shape, weight, .. } => {
            let at = Point { x: *weight, y: b };
            moment(shape, &at) * weight
        }
    };
    first * second
}

#[differentiable]
fn perhaps(shape: &Option<Shape>, k: f64) -> Option<f64> {
    let scaled = match shape {
        Some(Shape::Disc { radius, .. }) if *radius > k => radius * k,
        Some(Shape::Disc { centre: Point { x, .. }, .. }) => x - k,
        Some(_) => return None,
        None => k * k,
    };
    Some(scaled * scaled)
}

#[differentiable]
fn sum_of(kinds: &[usize], a: f64, b: f64) -> f64 {
    let shapes = [made(kinds[0], a, b), made(kinds[1], b, a), made(kinds[2], a * b, a)];
    let mut total = 0.0;
    for shape in &shapes {
        total += match shape {
            Shape::Disc { radius, centre } => radius * centre.x + centre.y,
            Shape::Box { w, h } => *w / *h,
            Shape::Ring(outer, inner, _) => outer.max(*inner),
            Shape::Point => break,
        };
        total *= 1.5 - 0.1 * total;
    }
    let present = [Some(shapes[0]), None];
    for each in present {
        if let Some(option) = each {
            let value = perhaps(&Some(option), b);
            if let Some(value) = value {
                total += value;
            }
        }
    }
    total
}

/// `*shape` is written to.
#[differentiable]
fn grow(shape: &mut Shape, k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..3 {
        match shape {
            Shape::Disc { radius, centre } => {
                let next = Shape::Disc { radius: *radius * k, centre: *centre };
                total += radius.sin();
                *shape = next;
            }
            Shape::Box { w, h } => {
                total += *w * *h;
                *shape = Shape::Disc { radius: *w + k, centre: Point { x: *h, y: *w } };
            }
            _ => total *= k,
        }
    }
    total
}

#[differentiable]
fn grown(kind: usize, a: f64, b: f64) -> f64 {
    let mut shape = made(kind, a, b);
    let total = grow(&mut shape, b);
    total * area(shape)
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
enum Either<T> {
    Left(T),
    Right { point: (T, T), last: Option<T> },
}

#[differentiable]
fn generic<T: pullback::Float>(either: Either<T>, k: T) -> T {
    match either {
        Either::Left(value) => value * k,
        Either::Right { point: (a, b), last: Some(c) } => a * b + c * k,
        Either::Right { point: (a, _), .. } => a / k,
    }
}

#[differentiable]
fn of_generic(a: f64, b: f64, left: bool) -> f64 {
    let mut total = 0.0;
    let mut either = if left { Either::Left(a * b) } else { Either::Right { point: (a, b), last: Some(a) } };
    while let Either::Right { point: (u, v), .. } = either {
        total += generic(either, v) * u;
        either = match either {
            Either::Right { point, last: Some(w) } => Either::Right { point: (point.1, w), last: None },
            Either::Right { point: (p, q), last: None } => Either::Left(p * q),
            Either::Left(_) => break,
        };
    }
    total + generic(either, b)
}

impl Shape {
    const UNIT: f64 = 1.0;
}

#[differentiable]
impl Shape {
    fn scaled(self, k: f64) -> Self {
        match self {
            Self::Disc { radius, centre } => Self::Disc { radius: radius * k, centre },
            Self::Box { w, mut h } => {
                h *= k;
                Self::Box { w: w * k, h }
            }
            other => other,
        }
    }

    fn longest(&self) -> f64 {
        match self {
            Self::Disc { radius, .. } => 2.0 * radius,
            Self::Box { w, h } => w.max(*h),
            Self::Ring(outer, ..) => *outer + Shape::UNIT,
            Self::Point => 0.0,
        }
    }
}

#[differentiable]
fn longest_of(kinds: &[usize], a: f64, k: &mut f64) -> f64 {
    let mut total = 0.0;
    for kind in kinds {
        let shape = made(*kind, a, *k);
        let bigger = shape.scaled(*k);
        *k += bigger.longest() * shape.longest();
        total += *k * a;
    }
    total
}

#[test]
fn variants_in_methods_and_generics() {
    check_rule(of_generic::rule, [(0.7, 1.3, true), (0.7, 1.3, false), (1.7, 0.3, false)]);
    check_rule(longest_of::rule, [(vec![0, 1, 2, 3], 0.7, 0.3), (vec![1, 0], 0.3, 0.4)]);
}

#[test]
fn variants() {
    let numbers = [(0.7, 1.3), (1.9, 0.4), (0.3, 0.2)];
    let inputs = || (0..4).flat_map(move |kind| numbers.map(|(a, b)| (kind, a, b)));
    check_rule(tagged::rule, inputs());
    check_rule(grown::rule, inputs());
    check_rule(changed::rule, [(0.7, 1.3, 6), (1.4, 0.3, 4), (0.3, 0.2, 0)]);
    let kinds = vec![0, 1, 2, 3, 1, 0, 2];
    let a = vec![0.3, 1.2, -0.4, 0.9, 0.8, 1.1, 0.2];
    check_rule(all::rule, [(kinds, a, vec![0.7]), (vec![1, 1], vec![2.0, 0.1], vec![1.2])]);
    check_rule(
        sum_of::rule,
        [(vec![0, 1, 2], 0.7, 1.3), (vec![1, 3, 0], 1.7, 0.3), (vec![2, 0, 1], 0.4, 0.6)],
    );
}

#[test]
fn enums_as_arguments() {
    let point = |x, y| Point { x, y };
    let shapes = || {
        [
            Shape::Disc { radius: 0.7, centre: point(0.3, 1.2) },
            Shape::Box { w: 1.3, h: 0.4 },
            Shape::Box { w: 0.2, h: 0.9 },
            Shape::Ring(1.3, 0.4, 2),
            Shape::Point,
        ]
    };
    check_rule(area::rule, shapes().map(|shape| (shape,)));
    check_rule(moment::rule, shapes().map(|shape| (shape, point(0.4, 0.6))));
    // What is not overwritten keeps the gradient that the tester gives to variants which it is not.
    check_rule(grow::rule, shapes()[..3].iter().map(|shape| (*shape, 1.3)));
}

#[test]
fn gradients_of_variants() {
    let mut g = area::gradient();
    let (value, d) = g.value_and_gradient(Shape::Disc { radius: 2.0, centre: Point { x: 1.0, y: 1.0 } });
    assert_eq!((value, d.shape.Disc.radius, d.shape.Disc.centre.x, d.shape.Box.w), (12.0, 12.0, 0.0, 0.0));
    let (value, d) = g.value_and_gradient(Shape::Box { w: 3.0, h: 2.0 });
    assert_eq!((value, d.shape.Box.w, d.shape.Box.h, d.shape.Disc.radius), (6.0, 2.0, 3.0, 0.0));
    let mut g = moment::gradient();
    let (value, d) = g.value_and_gradient(&Shape::Ring(2.0, 1.0, 3), &Point { x: 0.5, y: 1.0 });
    assert_eq!((value, d.shape.Ring.0, d.shape.Ring.1, d.at.x), (4.0, 6.0, 0.0, 8.0));
}

/// Each variant mentions some of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
enum Response<A, B> {
    Linear(A),
    Power { exponent: B },
    Affine(A, B),
    Fixed(f64),
    Identity,
}

#[differentiable]
fn response(to: Response<f64, f64>, x: f64) -> f64 {
    match to {
        Response::Linear(k) => k * x,
        Response::Power { exponent } => x.powf(exponent),
        Response::Affine(k, b) => k * x + b,
        Response::Fixed(value) => value * value,
        Response::Identity => x,
    }
}

#[test]
fn generic_enums() {
    let all = [
        Response::Linear(0.3),
        Response::Power { exponent: 1.4 },
        Response::Affine(0.3, 0.2),
        Response::Fixed(0.6),
        Response::Identity,
    ];
    check_rule(response::rule, all.map(|to| (to, 0.7)));
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
enum Drive {
    Decay { rate: f64, at: f64 },
    Wave(f64, f64),
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Driven {
    drive: Drive,
    x: f64,
}

#[differentiable]
impl Driven {
    /// What a field's variant holds is written to, beside another field.
    fn step(&mut self, h: f64) {
        match &mut self.drive {
            Drive::Decay { rate, at } => {
                *at -= *rate * *at * h;
                self.x += *at * h;
            }
            Drive::Wave(p, q) => {
                *p += h * *q;
                *q -= h * *p;
                self.x += *p;
            }
            Drive::Off => self.x *= h,
        }
        if let Drive::Wave(p, _) = &mut self.drive {
            *p *= 0.5;
        }
    }

    fn run(&mut self, h: f64, n: usize) -> f64 {
        for _ in 0..n {
            self.step(h);
        }
        self.x * self.x
    }
}

/// With guards, and until something else is left.
#[differentiable]
fn damped(drive: &mut Drive, k: f64, n: usize) -> f64 {
    let mut total = 0.0;
    for _ in 0..n {
        match drive {
            Drive::Wave(p, _) if *p > k => {
                *p *= k;
                total += *p;
            }
            Drive::Wave(p, q) => total += *p * *q,
            Drive::Decay { rate, at } => {
                *at = *rate * k;
                total += at.sin();
            }
            Drive::Off => total += k,
        }
    }
    let Drive::Wave(p, q) = drive else { return total };
    *q += total;
    *p * total
}

#[test]
fn parts_that_are_written_to() {
    let (decay, wave) = (Drive::Decay { rate: 0.2, at: 0.4 }, Drive::Wave(0.7, 0.4));
    check_rule(
        Driven::run_rule,
        [(decay, 2), (wave, 3), (Drive::Off, 1)].map(|(drive, n)| (Driven { drive, x: 0.6 }, 0.1, n)),
    );
    check_rule(damped::rule, [(decay, 0.3, 2), (wave, 0.6, 3), (Drive::Off, 0.3, 1)]);
}
