//! Vectors of vectors and of structs: rows that are pushed, swapped, taken and replaced.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

use crate::differences::check;

/// Rows of Pascal's triangle with weights, one longer than the other.
#[differentiable]
fn triangle(x: &[f64], k: f64) -> f64 {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for i in 0..x.len() {
        let mut row = vec![k; i + 1];
        for j in 1..i {
            row[j] = rows[i - 1][j - 1] * x[j] + rows[i - 1][j];
        }
        row[i] *= x[i];
        rows.push(row);
    }
    let mut total = 0.0;
    for row in &rows {
        for (j, v) in row.iter().enumerate() {
            total += v * v * (j + 1) as f64;
        }
    }
    total
}

#[differentiable]
fn scaled(x: &[f64], k: f64) -> Vec<f64> {
    let mut y = x.to_vec();
    for v in y.iter_mut() {
        *v *= k * *v;
    }
    y
}

/// Rows that have no name, from all sources; constant ones among them.
#[differentiable]
fn unnamed(x: &[f64], k: f64, steps: usize) -> f64 {
    let mut history = Vec::with_capacity(steps + 3);
    history.push(x.to_vec());
    history.push(vec![1.0; x.len()]);
    history.push(vec![k; x.len()]);
    for s in 0..steps {
        history.push(scaled(&history[s], k));
        if s % 2 == 0 {
            let last = history.len() - 1;
            history[last][0] += k * history[s][0];
        } else {
            let copy = history[s].clone();
            history.push(copy);
        }
    }
    let mut total = 0.0;
    for (i, row) in history.iter().enumerate() {
        for v in row {
            total += v.sin() * (i + 1) as f64;
        }
    }
    total
}

/// Gaussian elimination with pivoting; rows change places. Of a copy.
#[differentiable]
fn determinant(a: &[Vec<f64>]) -> f64 {
    let n = a.len();
    let mut lu = Vec::new();
    for row in a {
        lu.push(row.to_vec());
    }
    let mut det = 1.0;
    for k in 0..n {
        let mut pivot = k;
        for i in k + 1..n {
            if lu[i][k].abs() > lu[pivot][k].abs() {
                pivot = i;
            }
        }
        if pivot != k {
            lu.swap(k, pivot);
            det = -det;
        }
        det *= lu[k][k];
        for i in k + 1..n {
            let factor = lu[i][k] / lu[k][k];
            for j in k..n {
                lu[i][j] -= factor * lu[k][j];
            }
        }
    }
    det
}

/// The same in place.
#[differentiable]
fn determinant_in_place(a: &mut Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    let mut det = 1.0;
    for k in 0..n {
        let mut pivot = k;
        for i in k + 1..n {
            if a[i][k].abs() > a[pivot][k].abs() {
                pivot = i;
            }
        }
        if pivot != k {
            a.swap(k, pivot);
            det = -det;
        }
        det *= a[k][k];
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    det
}

/// Rows of two vectors change places, of different lengths as well.
#[differentiable]
fn changing_places(x: &[f64], k: f64) -> f64 {
    let mut a = vec![vec![k; 2], vec![x[0]; 3], vec![x[1] * k; 1]];
    let mut b = vec![x.to_vec(), vec![k * k; 2]];
    a.swap(0, 2);
    for i in 0..2 {
        std::mem::swap(&mut a[i], &mut b[i]);
        a[i][0] *= b[i][0] + x[0];
        b[0].push(a[i][0]);
    }
    std::mem::swap(&mut a[2], &mut b[0]);
    let mut total = 0.0;
    for row in a.iter().chain(b.iter()) {
        for v in row {
            total = 0.7 * total + v * v;
        }
    }
    total
}

/// With a buffer of the caller's.
#[differentiable]
fn double_buffer(u: &mut Vec<f64>, k: f64, steps: usize) -> f64 {
    let n = u.len();
    let mut next = vec![0.0; n];
    for _ in 0..steps {
        for i in 0..n {
            next[i] = u[i] + k * (u[(i + 1) % n] - u[i] * u[i]);
        }
        std::mem::swap(u, &mut next);
    }
    u[0] * next[n - 1]
}

/// Rows of two, by `take`; the last one stays in `part`.
#[differentiable]
fn chunked(x: &[f64], k: f64) -> f64 {
    let mut parts = Vec::new();
    let mut part = Vec::with_capacity(2);
    for i in 0..x.len() {
        part.push(x[i] * k);
        if i % 2 == 1 && i + 1 < x.len() {
            parts.push(std::mem::take(&mut part));
        }
    }
    let mut total = part[0] * part[1];
    for row in &parts {
        for v in row {
            total = 0.5 * total * v + v;
        }
    }
    total
}

/// Of vectors, and of rows.
#[differentiable]
fn replaced(x: &[f64], k: f64) -> f64 {
    let mut v = x.to_vec();
    let mut rows = vec![x.to_vec(), vec![k; x.len()]];
    let old = std::mem::replace(&mut v, vec![k * k; x.len()]);
    v[0] += old[0] * old[x.len() - 1];
    let first = std::mem::replace(&mut rows[0], old.clone());
    rows[0][0] *= k;
    rows[1] = scaled(&first, k);
    for i in 0..2 {
        rows[i] = vec![rows[1][0] * k; x.len()];
        rows[i][0] += first[0] * v[0];
    }
    let last = std::mem::replace(&mut rows[1], vec![k; x.len()]);
    let mut total = last[0] * v[v.len() - 1];
    for row in &rows {
        for v in row {
            total = 0.5 * total * v + v;
        }
    }
    total
}

/// By chains.
#[differentiable]
fn collected(x: &[f64], k: f64) -> f64 {
    let outer: Vec<Vec<f64>> = x.iter().map(|a| x.iter().map(|b| a * b * k).collect()).collect();
    let squares = (0..x.len()).map(|i| vec![x[i] * x[i]; i + 1]).collect::<Vec<_>>();
    let mut total = 0.0;
    for (a, b) in outer.iter().zip(&squares) {
        for (v, w) in a.iter().zip(b) {
            total += v * w.sin();
        }
    }
    total
}

#[derive(Clone, Copy, Default, Differentiable)]
struct Body {
    x: f64,
    v: [f64; 2],
    id: usize,
}

impl Body {
    fn still(x: f64) -> Body {
        Body { x, v: [0.5, 1.0], id: 1 }
    }
}

/// Bodies that are made, pushed, sorted by hand and moved.
#[differentiable]
fn bodies(x: &[f64], k: f64) -> f64 {
    let mut all = vec![Body { x: k, v: [k, 1.0], id: 0 }; 2];
    for i in 0..x.len() {
        all.push(Body { x: x[i], v: [x[i] * k, k], id: i });
        all[i].x += x[i] * k;
    }
    let more: Vec<Body> = x.iter().enumerate().map(|(id, x)| Body { x: x * k, v: [0.0, *x], id }).collect();
    for i in 0..all.len() {
        for j in 0..i {
            if all[j].x > all[j + 1].x {
                all.swap(j, j + 1);
            }
        }
    }
    all.rotate_left(1);
    let mut extra = more[0];
    std::mem::swap(&mut all[0], &mut extra);
    let old = std::mem::replace(&mut all[1], Body { x: k * k, ..extra });
    for b in &mut all {
        b.x *= 2.0 * b.v[0];
        b.v[1] += b.x;
    }
    all.reverse();
    let last = all.pop().unwrap();
    let mut total = last.x * old.x + old.v[1];
    for b in all.iter() {
        total = 0.5 * total + b.x * b.v[1] + b.v[0];
    }
    total
}

/// Of the caller's.
#[differentiable]
fn places(all: &mut [Body], k: f64) -> f64 {
    all.swap(0, 1);
    all[0].x *= k;
    let (left, right) = all.split_at_mut(1);
    std::mem::swap(&mut left[0], &mut right[0]);
    right[1].v[0] *= left[0].x;
    left.swap_with_slice(&mut right[1..2]);
    all[0].x * all[1].v[0] + all[2].v[0]
}

/// By iterators of all kinds.
#[differentiable]
fn extended(x: &[f64], k: f64) -> f64 {
    let mut v = vec![k];
    v.extend(x.iter().map(|a| a * k));
    v.extend(x.iter().zip(x).filter(|(a, _)| **a > 0.0).map(|(a, b)| a * b));
    v.extend(x.iter().rev());
    for i in 0..2 {
        v.extend(std::iter::repeat(v[i]).take(2));
    }
    let mut all = vec![Body { x: k, v: [k, 1.0], id: 0 }; 1];
    all.extend(x.iter().enumerate().map(|(id, x)| Body { x: x * k, v: [*x, 0.5], id }));
    let mut total = 0.0;
    for (i, a) in v.iter().enumerate() {
        total += a * a * (i + 1) as f64;
    }
    for b in &all {
        total *= 1.0 + 0.1 * b.x * b.v[0];
    }
    total
}

/// Fields that may be missing.
#[derive(Clone, Copy, Differentiable)]
struct Spring {
    stiffness: f64,
    damping: Option<f64>,
    rest: Option<[f64; 2]>,
}

#[differentiable]
fn energy(spring: &Spring, x: f64) -> f64 {
    let mut total = 0.5 * spring.stiffness * x * x;
    if let Some(c) = spring.damping {
        total += c * x.sin();
    }
    let base = match spring.rest {
        Some([a, b]) => a * b,
        None => 1.0,
    };
    total * base + spring.damping.unwrap_or(x)
}

#[differentiable]
fn assembled(x: f64, k: f64, damped: bool) -> f64 {
    let mut spring = Spring { stiffness: k * k, damping: None, rest: Some([x, k]) };
    if damped {
        spring.damping = Some(x * k);
    }
    energy(&spring, x)
}

#[derive(Differentiable)]
struct Scene {
    body: Box<Body>,
    weights: Box<[f64]>,
    filters: Vec<Boxed>,
}

#[derive(Differentiable)]
struct Boxed {
    taps: Box<Vec<f64>>,
}

#[differentiable]
fn rendered(scene: &mut Scene, k: f64) -> f64 {
    scene.body.x *= k;
    scene.filters.swap(0, 1);
    let mut total = scene.body.x * scene.body.v[1];
    for (w, filter) in scene.weights.iter().zip(&scene.filters) {
        for tap in filter.taps.iter() {
            total += w * tap * tap;
        }
    }
    scene.filters[0].taps[1] *= total;
    total + scene.filters[0].taps[1]
}

#[test]
fn options_and_boxes_in_structs() {
    check_rule(assembled::rule, [(0.5, 0.7, true), (0.4, 1.2, false)]);
    let spring = |y: [f64; 4]| Spring { stiffness: y[0], damping: Some(y[1]), rest: Some([y[2], y[3]]) };
    let y = [0.5, 0.3, 1.2, 0.7];
    let mut g = energy::gradient();
    let (_, d) = g.value_and_gradient(&spring(y), 0.4);
    let d = d.spring;
    check(y, |y| energy(&spring(y), 0.4), [d.stiffness, d.damping, d.rest[0], d.rest[1]]);

    let scene = |y: [f64; 7]| Scene {
        body: Box::new(Body { x: y[0], v: [0.3, y[1]], id: 0 }),
        weights: vec![y[2], 0.5].into_boxed_slice(),
        filters: vec![Boxed { taps: Box::new(vec![y[3], y[4]]) }, Boxed { taps: Box::new(vec![y[5], y[6]]) }],
    };
    let y = [0.5, 0.3, 1.2, 0.7, 0.2, 0.4, 0.9];
    let mut g = rendered::gradient();
    for _ in 0..2 {
        let mut at = scene(y);
        let (_, d) = g.value_and_gradient(&mut at, 0.6);
        let d = d.scene;
        let taps = [d.filters[0].taps[0], d.filters[0].taps[1], d.filters[1].taps[0], d.filters[1].taps[1]];
        let gradient = [d.body.x, d.body.v[1], d.weights[0], taps[0], taps[1], taps[2], taps[3]];
        check(y, |y| rendered(&mut scene(y), 0.6), gradient);
        assert_eq!((at.body.x, &at.filters[0].taps[..]), (0.5, &[0.7, 0.2][..]));
    }
}

/// Left early, between what a row is made of and the pushing; the rows of one vector go on to another.
#[differentiable]
fn left_between(x: &[f64], k: f64, limit: f64) -> f64 {
    let mut rows = Vec::new();
    for i in 0..x.len() {
        let mut row = vec![x[i] * k, k];
        if row[0] > limit {
            break;
        }
        row.push(x[i]);
        row[1] *= row[0];
        rows.push(std::mem::take(&mut row));
        if i % 3 == 2 {
            continue;
        }
        rows[i][0] += k;
    }
    let mut others: Vec<Vec<f64>> = vec![vec![k * k]];
    others.push(x.to_vec());
    std::mem::swap(&mut rows, &mut others);
    let moved = rows;
    let mut total = moved[0][0] * moved[1][x.len() - 1];
    for row in others.iter() {
        for v in row {
            total = 0.8 * total + v * v;
        }
        if total > 10.0 * limit {
            return total;
        }
    }
    total * k
}

#[test]
fn rows_pushed() {
    check_rule(triangle::rule, [(vec![0.5, -0.4, 0.3, 0.9], 0.7), (vec![0.7], 1.2), (vec![], 0.5)]);
    check_rule(
        unnamed::rule,
        [(vec![0.5, -0.4, 0.3], 0.7, 4), (vec![0.7], 1.2, 1), (vec![0.4, 0.2], 0.5, 0)],
    );
    check_rule(
        left_between::rule,
        [
            (vec![0.5, -0.4, 0.3, 0.8, 0.2], 0.7, 0.5),
            (vec![0.5, -0.4, 0.3, 0.8, 0.2], 0.7, 5.0),
            (vec![0.7], 1.2, 0.1),
            (vec![0.7, 0.3], 1.2, 0.01),
        ],
    );
    check_rule(extended::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7], 1.2)]);
    check_rule(collected::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7], 1.2), (vec![], 0.5)]);
}

#[test]
fn rows_swapped() {
    let a = vec![vec![0.1, 0.7, -0.3], vec![0.9, 0.2, 0.4], vec![-0.5, 0.8, 0.6]];
    let b = vec![vec![0.4, 0.9], vec![0.8, 0.1]];
    check_rule(determinant::rule, [(a.clone(),), (b.clone(),)]);
    check_rule(determinant_in_place::rule, [(a,), (b,)]);
    check_rule(changing_places::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7, 0.4], 1.2)]);
    check_rule(
        double_buffer::rule,
        [(vec![0.5, -0.4, 0.3], 0.2, 3), (vec![0.7, 0.4], 0.1, 4), (vec![0.7], 0.1, 0)],
    );
    check_rule(chunked::rule, [(vec![0.5, -0.4, 0.3, 0.8, 0.6, 0.2], 0.7), (vec![0.7, 0.4, 0.2, 0.9], 1.2)]);
    check_rule(replaced::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7], 1.2)]);
}

#[test]
fn vectors_of_structs() {
    check_rule(bodies::rule, [(vec![0.5, -0.4, 0.3, 0.8], 0.7), (vec![0.7], 1.2)]);
    let at = |y: [f64; 7]| {
        let mut all = [
            Body { x: y[0], v: [y[1], 0.3], id: 0 },
            Body { x: y[2], v: [y[3], 0.4], id: 1 },
            Body { x: y[4], v: [y[5], 0.5], id: 2 },
        ];
        let mut g = places::gradient();
        let (value, d) = g.value_and_gradient(&mut all, y[6]);
        let gradient = [d.all[0].x, d.all[0].v[0], d.all[1].x, d.all[1].v[0], d.all[2].x, d.all[2].v[0], d.k];
        let places = [all[0].x, all[0].v[0], all[1].x, all[1].v[0], all[2].x, all[2].v[0]];
        assert_eq!(places, y[..6]);
        (value, gradient)
    };
    let y = [0.5, -0.4, 0.3, 0.8, 0.9, 0.2, 0.7];
    check(y, |y| at(y).0, at(y).1);
}
