//! Vectors of references to parts, or to elements, of one slice.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[derive(Differentiable, Clone, Debug)]
struct P {
    x: f64,
    w: f64,
    id: usize,
    v: Vec<f64>,
}
#[derive(Differentiable, Clone, Debug)]
struct All {
    points: Vec<P>,
    rows: Vec<Vec<f64>>,
    t: f64,
}

#[differentiable]
fn first_and_last(points: &[P], k: usize) -> f64 {
    let near: Vec<&P> = points.iter().filter(|p| p.id != k && p.x > 0.0).collect();
    assert!(!near.is_empty(), "none is near {k}, of {}", points.len());
    let first = near.first().unwrap();
    let last = near.last().map(|p| p.w).unwrap_or(0.0);
    let mut s = first.x * last * near.len() as f64;
    if let Some(p) = near.get(1) {
        s += p.x * p.x;
    }
    let n = near.len();
    let p = near[n - 1];
    s * p.w + near[0].v[0] * near[0].v.iter().sum::<f64>()
}
#[differentiable]
fn best(all: &All) -> f64 {
    let mut near: Vec<_> = all.points.iter().filter(|p| p.w > 0.0).collect();
    near.retain(|p| p.id != 7);
    near.sort_by_key(|p| std::cmp::Reverse(p.id));
    let best = near.iter().max_by(|a, b| a.x.total_cmp(&b.x)).unwrap();
    let total: f64 = near.iter().map(|p| norm(&p.v) * p.x).sum();
    let worst = near.iter().map(|p| p.w).fold(f64::INFINITY, f64::min);
    best.w * total * worst + weigh(near[0], all.t)
}
#[differentiable]
fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum()
}
#[differentiable]
fn weigh(p: &P, t: f64) -> f64 {
    p.w * t.sin()
}
#[differentiable]
fn of_rows(all: &All) -> Vec<f64> {
    let rows: Vec<&Vec<f64>> = all.rows.iter().rev().collect();
    let mut out = vec![0.0; rows[0].len()];
    for row in rows.iter().skip(1) {
        for (o, v) in out.iter_mut().zip(row.iter()) {
            *o += v * all.t;
        }
    }
    for (o, v) in out.iter_mut().zip(rows[0]) {
        *o *= v;
    }
    out
}
#[differentiable]
fn by_range(x: &[f64], k: usize) -> f64 {
    let n = x.len() / k;
    let rows: Vec<&[f64]> = (0..n).map(|i| &x[i * k..(i + 1) * k]).collect();
    let gram = |i: usize, j: usize| rows[i].iter().zip(rows[j]).map(|(a, b)| a * b).sum::<f64>();
    let mut s = 0.0;
    for i in 0..n {
        for j in 0..i {
            s += gram(i, j) * rows[i][0] - rows[j][k - 1].sin();
        }
    }
    s
}
#[differentiable]
fn of_numbers(x: &[f64]) -> f64 {
    let mut v: Vec<&f64> = x.iter().filter(|v| **v > 0.0).collect();
    v.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let m = v.len();
    let median = if m % 2 == 0 { 0.5 * (v[m / 2 - 1] + v[m / 2]) } else { *v[m / 2] };
    v.iter().map(|v| (*v - median).powi(2)).sum::<f64>() + v.iter().copied().sum::<f64>()
}
#[differentiable]
fn picked(x: &[f64], idx: &[usize], t: f64) -> f64 {
    let picked: Vec<&f64> = idx.iter().map(|&i| &x[i]).collect();
    picked.iter().zip(&picked[1..]).map(|(&a, &b)| a * b * t).sum()
}
#[differentiable]
fn generic<T: num_traits::Float + std::iter::Sum>(x: &[T], k: usize) -> T {
    let rows = x.chunks_exact(k).collect::<Vec<&[T]>>();
    let means: Vec<T> = rows.iter().map(|r| r.iter().copied().sum::<T>() / T::from(k).unwrap()).collect();
    let mut s = T::zero();
    for (r, &m) in rows.iter().zip(&means) {
        for &v in r.iter() {
            s = s + (v - m) * (v - m);
        }
    }
    s
}
#[differentiable]
fn written(x: &mut [f64], k: usize) {
    let y = x.to_vec();
    let rows: Vec<&[f64]> = y.chunks(k).collect();
    for (i, row) in rows.iter().enumerate() {
        for (j, v) in row.iter().enumerate() {
            let prev = if i > 0 { rows[i - 1][j] } else { 1.0 };
            x[i * k + j] = v * prev;
        }
    }
}
#[differentiable]
fn in_a_loop(x: &[f64], ks: &[usize]) -> f64 {
    let mut s = 0.0;
    for &k in ks {
        let rows: Vec<&[f64]> = x[1..].windows(k).filter(|w| w[0] < 0.85).collect();
        s += match rows.len() {
            0 => x[0],
            1 => rows[0][0] * x[0],
            _ => rows[0][0] * rows[1][0],
        };
        let more = &rows[rows.len().min(1)..];
        s += more.iter().map(|w| w[0]).sum::<f64>();
    }
    s
}

#[differentiable]
fn pairs(x: &[f64]) -> f64 {
    let rows: Vec<&[f64]> = x.chunks(2).collect();
    let mut t = 0.0;
    for (i, p) in rows.iter().enumerate() {
        for q in &rows[i + 1..] {
            t += p.iter().zip(q.iter()).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        }
    }
    for w in rows.windows(2) {
        t += w[0][1] * w[1][0];
    }
    t * rows.windows(2).map(|w| w[1][0] - w[0][0]).product::<f64>()
}

fn point(x: f64, id: usize) -> P {
    P { x, w: 1.3 * x + 0.4, id, v: vec![x, 0.3] }
}

fn all() -> All {
    let points = vec![point(0.3, 1), point(0.7, 2), point(0.9, 3)];
    All { points, rows: vec![vec![0.3, 0.4], vec![0.8, 0.1], vec![0.4, 0.9]], t: 0.8 }
}

fn numbers() -> [(Vec<f64>, usize); 2] {
    [(vec![0.3, 0.7, 0.8, 0.2], 2), (vec![0.3, 0.7, 0.8, 0.2, 0.6, 1.1, 0.9], 3)]
}

/// Elements that are filtered, sorted, and asked for one by one.
#[test]
fn elements() {
    let near = vec![point(0.3, 1), point(0.7, 2), point(0.9, 3)];
    check_rule(first_and_last::rule, [(near.clone(), 2), (near[..2].to_vec(), 1)]);
    check_rule(best::rule, [(all(),)]);
    check_rule(of_rows::rule, [(all(),)]);
}

/// References to numbers.
#[test]
fn references_to_numbers() {
    let inputs = [(vec![0.3, 0.7, 0.8, -0.2],), (vec![0.3, 0.7, 0.8, 0.2, 0.6, 1.1, -0.9],)];
    check_rule(of_numbers::rule, inputs);
    let inputs = [(vec![0.3, 0.7, 0.8, -0.2], vec![3, 0, 2], 1.2), (vec![0.3, 0.7], vec![1, 1, 0], 0.4)];
    check_rule(picked::rule, inputs);
}

/// Parts of a slice, as rows and windows.
#[test]
fn parts() {
    check_rule(by_range::rule, numbers());
    check_rule(generic::<f64>::rule, numbers());
    check_rule(written::rule, numbers());
    check_rule(pairs::rule, numbers().map(|(x, _)| (x,)));
    let inputs = [(vec![0.3, 0.7, 0.8, 0.2], vec![1, 2]), (vec![0.3, 0.7, 0.9, 0.2, 0.6, 1.1], vec![3, 1])];
    check_rule(in_a_loop::rule, inputs);
}

/// Numbers by the order of others, under names for references to them.
#[test]
fn in_order() {
    check_rule(in_order_of_size::rule, [(vec![0.8, 0.6, 1.1],), (vec![0.4, 0.2],)]);
}

#[differentiable]
fn in_order_of_size(x: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|i, j| x[*i].total_cmp(&x[*j]));
    let mut t = 1.0;
    for i in &order {
        let v = &x[*i];
        t += v * v + v.powi(2) * v.sin() * t;
    }
    t
}
