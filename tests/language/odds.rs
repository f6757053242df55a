//! Parts of constants, conditions that leave a function, indices that are computed by calls, elements written through patterns, and
//! tuples taken apart from their ends.

use pullback::prelude::*;

use crate::differences::check;

#[differentiable]
fn weighed(x: &[f64], #[constant] data: &[f64], k: f64) -> f64 {
    let (left, right) = data.split_at(2);
    let mut total = k;
    for i in 0..2 {
        total += x[i] * x[i] * left[i] * right[i] * total;
    }
    total
}

fn nearest(grid: &[f64], t: f64) -> usize {
    grid.iter().filter(|g| **g < t).count().min(1)
}

#[differentiable]
fn looked_up(x: &[f64], #[constant] grid: &[f64], t: f64) -> f64 {
    let mut total: f64 = 1.0;
    for i in 0..3 {
        total += x[nearest(grid, t)] * t * total.cos();
    }
    let y = x[nearest(grid, t + 1.0) - 1];
    total * y
}

#[differentiable]
fn positive(x: f64) -> Option<f64> {
    if x > 0.0 { Some(x * x) } else { None }
}

#[differentiable]
fn guarded(x: f64, y: f64, c: bool) -> Option<f64> {
    let mut total = x;
    for i in 0..3 {
        if c && positive(x)? * y > 0.5 {
            total += positive(y)? * total;
        } else if !c || positive(y + i as f64)? > 0.0 {
            total *= y;
        }
    }
    Some(total)
}

#[differentiable]
fn guarded_or_zero(x: f64, y: f64, c: usize) -> f64 {
    match guarded(x, y, c == 1) {
        Some(v) => v,
        None => x * y,
    }
}

#[test]
fn constants() {
    let mut g = weighed::gradient();
    let of = |p: [f64; 3]| weighed(&p[..2], &[1.0, 2.0, 0.5, 0.7], p[2]);
    let at = [0.3, 0.7, 0.4];
    let (value, d) = g.value_and_gradient(&at[..2], &[1.0, 2.0, 0.5, 0.7], 0.4);
    assert_eq!(value, of(at));
    check(at, of, [d.x[0], d.x[1], d.k]);

    let mut g = looked_up::gradient();
    let of = |p: [f64; 3]| looked_up(&p[..2], &[0.1, 0.9], p[2]);
    let (value, d) = g.value_and_gradient(&at[..2], &[0.1, 0.9], 0.4);
    assert_eq!(value, of(at));
    check(at, of, [d.x[0], d.x[1], d.t]);
}

#[test]
fn conditions_that_leave() {
    for c in [0, 1] {
        for (x, y) in [(0.7, 1.3), (0.7, 0.4), (-0.7, 0.4), (0.9, -0.4)] {
            let of = |p: [f64; 2]| guarded_or_zero(p[0], p[1], c);
            let mut g = guarded_or_zero::gradient();
            let (value, d) = g.value_and_gradient(x, y, c);
            assert_eq!(value, of([x, y]));
            check([x, y], of, [d.x, d.y]);
        }
    }
}

#[derive(Differentiable, Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    Disc { radius: f64 },
    Square { side: f64 },
}

#[differentiable]
fn among_others(a: Shape, b: Shape, k: f64) -> f64 {
    let mut shapes = [a, b];
    for i in 0..2 {
        match &mut shapes[i] {
            Shape::Disc { radius } => *radius *= k,
            Shape::Square { side } => {
                for _ in 0..2 {
                    *side += k * *side;
                }
            }
        }
    }
    let mut total = 0.0;
    for s in shapes.iter() {
        total += match *s {
            Shape::Disc { radius } => radius * radius,
            Shape::Square { side } => side.sin(),
        };
    }
    total
}

#[test]
fn elements() {
    let of = |p: [f64; 3]| among_others(Shape::Disc { radius: p[0] }, Shape::Square { side: p[1] }, p[2]);
    let at = [0.4, 0.7, 0.3];
    let mut g = among_others::gradient();
    let (value, d) = g.value_and_gradient(Shape::Disc { radius: 0.4 }, Shape::Square { side: 0.7 }, 0.3);
    assert_eq!(value, of(at));
    check(at, of, [d.a.Disc.radius, d.b.Square.side, d.k]);
}

#[differentiable]
fn behind_the_gap(t: (f64, f64, f64), pairs: &[(f64, (f64, f64, f64))], k: f64) -> f64 {
    let (.., z) = t;
    let (a, .., c) = t;
    let mut total = match t {
        (.., last) if last > k => last * a,
        (first, .., last) => first * last * c,
    };
    for i in 0..pairs.len() {
        let (x, (.., y)) = pairs[i];
        total += x * y * z;
    }
    total
}

#[test]
fn gaps() {
    for k in [0.1, 0.9] {
        let of = |p: [f64; 5]| behind_the_gap((p[0], p[1], p[2]), &[(p[3], (1.0, 2.0, p[4]))], k);
        let at = [0.4, 0.7, 0.3, 0.8, 0.6];
        let mut g = behind_the_gap::gradient();
        let (value, d) = g.value_and_gradient((0.4, 0.7, 0.3), &[(0.8, (1.0, 2.0, 0.6))], k);
        assert_eq!(value, of(at));
        check(at, of, [d.t.0, d.t.1, d.t.2, d.pairs[0].0, d.pairs[0].1.2]);
    }
}

#[differentiable]
fn until_small(x: f64, y: f64) -> Option<f64> {
    let mut now = x;
    while now > 0.1 && positive(now)? > y {
        now *= 0.5 * now.cos() + y;
    }
    Some(now * y)
}

#[differentiable]
fn until_small_or_zero(x: f64, y: f64) -> f64 {
    match until_small(x, y) {
        Some(v) => v * v,
        None => y,
    }
}

#[test]
fn conditions_of_loops_that_leave() {
    for (x, y) in [(2.0, 0.2), (0.05, 0.4), (1.3, 0.1)] {
        let of = |p: [f64; 2]| until_small_or_zero(p[0], p[1]);
        let mut g = until_small_or_zero::gradient();
        let (value, d) = g.value_and_gradient(x, y);
        assert_eq!(value, of([x, y]));
        check([x, y], of, [d.x, d.y]);
    }
}
