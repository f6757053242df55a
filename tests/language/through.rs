//! Patterns that bind a name to different parts, and patterns through which something is written.

use pullback::prelude::*;
use pullback::testing::{allocations_in, check_rule};

use crate::differences::check;

#[derive(Differentiable, Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    Disc { radius: f64 },
    Square { side: f64 },
    Rect(f64, f64),
    Point,
}

#[derive(Differentiable, Clone, Copy, Debug, PartialEq)]
pub struct Body {
    x: f64,
    v: f64,
    m: f64,
}

#[differentiable]
fn extent(s: Shape, k: f64) -> f64 {
    match s {
        Shape::Disc { radius: r } | Shape::Square { side: r } if r > k => r * r * k,
        Shape::Disc { radius: r } | Shape::Square { side: r } | Shape::Rect(_, r) => r.sin() + k,
        Shape::Point => k * k,
    }
}

#[differentiable]
fn either(t: (f64, f64), k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..4 {
        total += match (i % 2 == 0, t) {
            (true, (x, _)) | (false, (_, x)) => x * x * k * i as f64,
        };
    }
    total
}

#[differentiable]
fn option(x: f64, k: f64) -> f64 {
    let mut opt = Some(x);
    for i in 0..3 {
        if let Some(y) = &mut opt {
            *y *= k + *y * i as f64;
        }
        if let Some(y) = opt.as_mut() {
            *y += k;
        }
    }
    match opt {
        Some(y) => y * y,
        None => 0.0,
    }
}

#[differentiable]
fn grow(shape: &mut Shape, by: f64) {
    match shape {
        Shape::Disc { radius } => *radius += by * *radius,
        Shape::Square { side } => {
            let old = *side;
            *side = by * old * old;
        }
        Shape::Rect(a, b) => *a *= *b * by,
        Shape::Point => {}
    }
}

#[differentiable]
fn area(s: Shape) -> f64 {
    match s {
        Shape::Disc { radius } => 3.0 * radius * radius,
        Shape::Square { side } => side * side,
        Shape::Rect(a, b) => a * b,
        Shape::Point => 0.0,
    }
}

#[differentiable]
fn grown(s: Shape, by: f64, n: usize) -> f64 {
    let mut shape = s;
    let mut total = 0.0;
    for i in 0..n {
        grow(&mut shape, by);
        match &mut shape {
            Shape::Disc { radius } => *radius = radius.sin(),
            Shape::Rect(_, b) => *b += 0.1 * by,
            _ => {}
        }
        total += area(shape);
    }
    total
}

#[differentiable]
fn pushed(b: Body, h: f64) -> f64 {
    let mut body = b;
    for _ in 0..3 {
        let Body { x, v, .. } = &mut body;
        *x += h * *v;
        *v -= h * *x;
    }
    body.x * body.v * body.m
}

#[test]
fn different_fields() {
    for (k, shape) in [(0.3, 0), (0.9, 0), (0.3, 1), (0.3, 2), (0.3, 3)] {
        let make = |r: f64| {
            [Shape::Disc { radius: r }, Shape::Square { side: r }, Shape::Rect(2.0, r), Shape::Point][shape]
        };
        let of = |p: [f64; 2]| extent(make(p[0]), p[1]);
        let mut g = extent::gradient();
        let (value, d) = g.value_and_gradient(make(0.7), k);
        assert_eq!(value, of([0.7, k]));
        check(
            [0.7, k],
            of,
            [
                {
                    let d = d.s;
                    d.Disc.radius + d.Square.side + d.Rect.1
                },
                d.k,
            ],
        );
    }
    let of = |p: [f64; 3]| either((p[0], p[1]), p[2]);
    let mut g = either::gradient();
    let (value, d) = g.value_and_gradient((0.4, 0.7), 0.9);
    assert_eq!(value, of([0.4, 0.7, 0.9]));
    check([0.4, 0.7, 0.9], of, [d.t.0, d.t.1, d.k]);
}

#[test]
fn written_through() {
    let of = |p: [f64; 2]| option(p[0], p[1]);
    let mut g = option::gradient();
    let (value, d) = g.value_and_gradient(0.4, 0.7);
    assert_eq!(value, of([0.4, 0.7]));
    check([0.4, 0.7], of, [d.x, d.k]);
    assert_eq!(allocations_in(|| g.value_and_gradient(0.4, 0.7).0), (value, 0));

    for shape in 0..4 {
        let make = |p: [f64; 2]| {
            [
                Shape::Disc { radius: p[0] },
                Shape::Square { side: p[0] },
                Shape::Rect(p[0], p[1]),
                Shape::Point,
            ][shape]
        };
        let of = |p: [f64; 3]| grown(make([p[0], p[1]]), p[2], 3);
        let mut g = grown::gradient();
        let (value, d) = g.value_and_gradient(make([0.7, 0.4]), 0.3, 3);
        assert_eq!(value, of([0.7, 0.4, 0.3]));
        check([0.7, 0.4, 0.3], of, [d.s.Disc.radius + d.s.Square.side + d.s.Rect.0, d.s.Rect.1, d.by]);
    }

    let of = |p: [f64; 4]| pushed(Body { x: p[0], v: p[1], m: p[2] }, p[3]);
    let mut g = pushed::gradient();
    let (value, d) = g.value_and_gradient(Body { x: 0.4, v: 0.9, m: 1.3 }, 0.2);
    let at = [0.4, 0.9, 1.3, 0.2];
    assert_eq!(value, of(at));
    check(at, of, [d.b.x, d.b.v, d.b.m, d.h]);
}

/// Arrays of constants that become active through references.
#[differentiable]
fn made_active(b: f64, c: f64) -> f64 {
    let mut w = [0.0; 4];
    for (i, e) in w.iter_mut().enumerate() {
        *e += b.sin() * i as f64;
    }
    let mut v = vec![1.0; 3];
    for e in &mut v {
        *e *= c;
    }
    let mut u = [0.0; 3];
    let last = &mut u[2];
    *last += b * c;
    let mut t = [1.0; 2];
    if let Some(e) = t.first_mut() {
        *e = c.sin();
    }
    w.iter().sum::<f64>()
        + v.iter().map(|e| e * e).sum::<f64>()
        + u.iter().sum::<f64>() * t.iter().product::<f64>()
}

#[test]
fn arrays_that_become_active() {
    check_rule(made_active::rule, [(0.3, 0.7), (1.3, -0.4)]);
}
