//! Parts of constants, conditions that leave a function, indices that are computed by calls, elements written through patterns, and
//! tuples taken apart from their ends.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

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
    let (data, grid) = ([1.0, 2.0, 0.5, 0.7], [0.1, 0.9]);
    let mut g = weighed::gradient();
    check_gradient(
        |p: &mut [f64; 3]| weighed(&p[..2], &data, p[2]),
        |p| {
            let (value, d) = g.value_and_gradient(&p[..2], &data, p[2]);
            (value, [d.x[0], d.x[1], d.k])
        },
        [[0.3, 0.7, 0.4]],
    );
    let mut g = looked_up::gradient();
    check_gradient(
        |p: &mut [f64; 3]| looked_up(&p[..2], &grid, p[2]),
        |p| {
            let (value, d) = g.value_and_gradient(&p[..2], &grid, p[2]);
            (value, [d.x[0], d.x[1], d.t])
        },
        [[0.3, 0.7, 0.4]],
    );
}

#[test]
fn conditions_that_leave() {
    for c in [0, 1] {
        let mut g = guarded_or_zero::gradient();
        check_gradient(
            |p: &mut [f64; 2]| guarded_or_zero(p[0], p[1], c),
            |p| {
                let (value, d) = g.value_and_gradient(p[0], p[1], c);
                (value, [d.x, d.y])
            },
            [[0.7, 1.3], [0.7, 0.4], [-0.7, 0.4], [0.9, -0.4]],
        );
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
    let shapes = |p: &[f64; 3]| (Shape::Disc { radius: p[0] }, Shape::Square { side: p[1] });
    let mut g = among_others::gradient();
    check_gradient(
        |p| among_others(shapes(p).0, shapes(p).1, p[2]),
        |p| {
            let (value, d) = g.value_and_gradient(shapes(p).0, shapes(p).1, p[2]);
            (value, [d.a.Disc.radius, d.b.Square.side, d.k])
        },
        [[0.4, 0.7, 0.3]],
    );
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
        let pairs = |p: &[f64; 5]| [(p[3], (1.0, 2.0, p[4]))];
        let mut g = behind_the_gap::gradient();
        check_gradient(
            |p| behind_the_gap((p[0], p[1], p[2]), &pairs(p), k),
            |p| {
                let (value, d) = g.value_and_gradient((p[0], p[1], p[2]), &pairs(p), k);
                (value, [d.t.0, d.t.1, d.t.2, d.pairs[0].0, d.pairs[0].1.2])
            },
            [[0.4, 0.7, 0.3, 0.8, 0.6]],
        );
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
    let mut g = until_small_or_zero::gradient();
    check_gradient(
        |p: &mut [f64; 2]| until_small_or_zero(p[0], p[1]),
        |p| {
            let (value, d) = g.value_and_gradient(p[0], p[1]);
            (value, [d.x, d.y])
        },
        [[2.0, 0.2], [0.05, 0.4], [1.3, 0.1]],
    );
}

#[differentiable]
fn least_of_some(x: &[f64], n: usize) -> f64 {
    let least = x.iter().copied().filter(|&v| v > 0.3).min_by(|a, b| a.total_cmp(b)).unwrap_or(0.5);
    let rounded = x.iter().filter(|v| v.abs() < 1.0).map(|v| v.sin()).reduce(|a, b| a.max(b).hypot(a));
    let constant =
        x.iter().filter(|_| n % 2 == 1).map(|_| x[n].cos()).max_by(|a, b| b.abs().total_cmp(&a.abs()));
    least * rounded.unwrap_or(x[0]) + constant.unwrap_or(x[1])
}

#[test]
fn comparisons_behind_filters() {
    let inputs =
        [(vec![0.25, 0.8, 0.5], 0), (vec![0.4, -0.8, 1.3], 1), (vec![0.1, 0.2], 1), (vec![0.9, 2.0], 0)];
    check_rule(least_of_some::rule, inputs);
}

/// Which element is written to depends on the part that it is in.
#[differentiable]
fn within_parts(x: &[f64], y: &mut [f64], j: usize) -> f64 {
    for u in y.chunks_mut(2) {
        u[j % u.len()] *= x[0].sin();
        u.swap(0, u.len() - 1);
        u[(u[0].abs() * 3.3) as usize % u.len()] *= x[1] * u[u.len() - 1];
        u[u.len() - 1] -= x[0];
    }
    #[pullback(binomial = 2)]
    for u in y.chunks_mut(2) {
        u[j % u.len()] *= x[1];
    }
    y[0] * y[1] + y[y.len() - 1]
}

#[test]
fn indices_that_look_at_the_part() {
    let inputs =
        [(vec![0.3, 0.8], vec![0.4, 0.7, 1.1, 0.2, 0.9], 0), (vec![1.3, -0.8], vec![0.4, 0.7, 1.1], 3)];
    check_rule(within_parts::rule, inputs);
}

/// A pattern takes the name of what an iterator hands out, in an index without gradient.
#[differentiable]
fn hidden_by_a_pattern(x: &[f64], t: f64) -> f64 {
    let v = vec![0.5, t, x[0]];
    let total: f64 = v
        .chunks(2)
        .map(|e| {
            v[(match v[0] {
                e if e < 0.4 => x[0],
                e => e,
            }
            .abs()
                * 3.3) as usize
                % v.len()]
                * e[0]
        })
        .sum();
    total * t
}

#[test]
fn hidden_names() {
    check_rule(hidden_by_a_pattern::rule, [(vec![0.7, 0.2], 0.3), (vec![0.4], 0.6)]);
}
