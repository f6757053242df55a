//! One item of a chain, with whatever stands between, and options of references under a name.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

type Numbers = (Vec<f64>, f64);

fn numbers() -> [Numbers; 2] {
    [(vec![0.5, 0.3, 0.9, 1.4, 0.2], 0.6), (vec![0.7, 0.1, 1.3], 0.8)]
}

#[differentiable]
fn root(x: f64, t: f64) -> Option<f64> {
    if x > t { Some((x - t).sqrt()) } else { None }
}

#[differentiable]
fn behind_adapters(x: &[f64], t: f64) -> f64 {
    let next = x.iter().filter(|v| **v > t).next().copied().unwrap_or(t);
    let last = x.iter().copied().filter(|v| *v < t).last().unwrap_or(0.0);
    let second = match x.iter().filter(|v| **v < t).nth(1) {
        Some(v) => v * v,
        None => t,
    };
    let mapped = x.iter().map(|v| v * v * t).find(|v| *v > 0.4).unwrap_or(t * t);
    let taken = x.iter().take_while(|v| **v < t).last().unwrap_or(&x[0]);
    next * last + second * mapped + taken * t
}

#[differentiable]
fn mapped_on_the_way(x: &[f64], t: f64) -> f64 {
    let last = x.iter().filter_map(|v| (*v > t).then(|| v * t)).last().unwrap_or(t);
    let mut sum = t;
    let above = x.iter().enumerate().filter_map(|(i, v)| if *v > t { Some((i, v * t)) } else { None });
    if let Some((i, v)) = above.skip(1).next() {
        sum += v * i as f64;
    }
    for k in 0..x.len() {
        if let Some(v) = x[..k].iter().rev().filter(|v| **v < x[k]).next() {
            sum += v * x[k] * last;
        }
    }
    sum
}

#[differentiable]
fn found_and_mapped(x: &[f64], t: f64) -> Option<f64> {
    let square = x.iter().find_map(|v| if *v > t { Some(v * v) } else { None }).unwrap_or(t);
    let of_rule = x.iter().find_map(|v| root(*v, t))?;
    let mut sum = square * of_rule;
    for v in x {
        sum += x
            .iter()
            .find_map(|w| {
                let r = root(*w, *v)?;
                Some(r * t)
            })
            .unwrap_or(0.0);
    }
    Some(sum)
}

/// What a table says between its entries.
#[differentiable]
fn interpolated(x: &[f64], y: &[f64], t: f64) -> f64 {
    let between = x.windows(2).zip(y.windows(2)).find_map(|(x, y)| {
        if x[0] <= t && t <= x[1] { Some(y[0] + (t - x[0]) / (x[1] - x[0]) * (y[1] - y[0])) } else { None }
    });
    between.unwrap_or(y[0])
}

#[differentiable]
fn as_long_as(x: &[f64], t: f64) -> f64 {
    let sum: f64 = x.iter().map_while(|v| if *v < t { Some(v * v) } else { None }).sum();
    let scaled: Vec<f64> =
        x.iter().enumerate().map_while(|(i, v)| if *v < t { Some(v * t * i as f64) } else { None }).collect();
    let mut product = t;
    for v in x.iter().rev().map_while(|v| root(1.0 + *v, t)) {
        product += v * product;
    }
    sum + scaled.iter().map(|v| v * v).sum::<f64>() * product
}

#[differentiable]
fn under_a_name(x: &[f64], t: f64) -> f64 {
    let (first, second) = (x.first(), x.get(1));
    let found = x.iter().find(|v| **v > t);
    let greatest = x.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    let s = found.map_or(t, |v| v * v);
    let k = if found.is_some() { 2.0 } else { 3.0 };
    let r = match found {
        Some(v) if *v > 1.0 => v * t,
        Some(v) => v + t,
        None => t * t,
    };
    let g = match greatest {
        Some((i, v)) => v * t * i as f64,
        None => t,
    };
    if second.is_none() {
        return s;
    }
    s * k + r * g + found.copied().unwrap_or(0.5) * first.unwrap() + second.map(|v| v * t).unwrap_or(t)
}

#[differentiable]
fn in_loops(x: &[f64], t: f64) -> Option<f64> {
    let mut sum = t;
    for k in 1..x.len() {
        let last = x[..k].last();
        let least = x[..k].iter().min_by(|a, b| a.total_cmp(b));
        let a = last?;
        let Some(b) = least else { return None };
        sum += a * b * x[k];
    }
    Some(sum)
}

#[differentiable]
fn to_be_written(x: &mut [f64], t: f64) -> f64 {
    let first = x.iter_mut().find(|v| **v > t);
    if let Some(v) = first {
        *v *= t;
    }
    let last = x.last_mut();
    if let Some(v) = last {
        *v *= *v;
    }
    x.iter().map(|v| v * v).sum()
}

#[differentiable]
fn parts(x: &[f64], t: f64) -> f64 {
    let rising = x.windows(2).find(|w| w[0] < t && w[1] > t);
    match rising {
        Some(w) => w[0] * w[1] * t,
        None => t * t,
    }
}

#[differentiable]
fn rows(rows: &[Vec<f64>], t: f64) -> f64 {
    let row = rows.iter().find(|row| row[0] > t);
    if let Some(row) = row { row.iter().map(|v| v * v).sum() } else { t }
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Point {
    x: f64,
    y: f64,
}

#[differentiable]
fn nearest(points: &[Point], t: f64) -> f64 {
    let near = points.iter().min_by(|a, b| (a.x - t).abs().total_cmp(&(b.x - t).abs()));
    match near {
        Some(point) => point.x * point.y + t,
        None => 0.0,
    }
}

#[differentiable]
fn several_at_once(x: &[f64], y: &[f64], t: f64) -> f64 {
    let Some(a) = x.first() else { return t };
    let (Some(b), Some(c)) = (x.get(1), y.get(2)) else { return a * t };
    let d = match (x.iter().find(|v| **v > t), y.last()) {
        (Some(&u), Some(v)) => u * v,
        _ => t * t,
    };
    if let (Some(u), Some(v)) = (x.last(), y.first()) { a * b * c + d * u * v } else { d }
}

/// What is dropped is there for the pullback nevertheless.
#[differentiable]
fn dropped(x: &[f64], t: f64) -> f64 {
    let mut w = x.to_vec();
    let mut s = 1.0;
    for _ in 0..3 {
        let next: Vec<f64> = w.iter().map(|v| v * t * s).collect();
        s += next[0] * next[1];
        drop(w);
        w = next;
    }
    let last = w[0];
    std::mem::drop(w);
    s * last
}

/// Whether something is there decides about what carries no gradient as well.
#[differentiable]
fn decided(x: &[f64], t: f64) -> f64 {
    let found = x.iter().enumerate().find(|(_, v)| **v > t);
    let i = found.map(|(i, _)| i).unwrap_or(0);
    let k = if let Some((_, v)) = found { if *v > 1.0 { 2.0 } else { 3.0 } } else { 1.0 };
    let is_late = match found {
        Some((j, _)) => j > 1,
        None => false,
    };
    let mut kept: Option<Vec<f64>> = None;
    if x[0] < t {
        kept = Some(x.to_vec());
    }
    let first = if let Some(v) = &kept { v[0] * t } else { t };
    if is_late { k * x[i] * first } else { x[i] * t * k + first }
}

/// Items that nobody gets are counted as well.
#[differentiable]
fn counted(x: &[f64], t: f64) -> f64 {
    let mut c = 0.0;
    let skipped: f64 = x
        .iter()
        .map(|v| {
            c += 1.0;
            v * c
        })
        .skip(1)
        .sum();
    let stepped: f64 = x
        .iter()
        .map(|v| {
            c += 1.0;
            v * c
        })
        .step_by(2)
        .sum();
    let back: f64 = x
        .iter()
        .map(|v| {
            c += v;
            v * c
        })
        .rev()
        .sum();
    let taken: f64 = x
        .iter()
        .map(|v| {
            c += v;
            v * c
        })
        .take(2)
        .sum();
    let first = x
        .iter()
        .map(|v| {
            c += 1.0;
            v * c
        })
        .next()
        .unwrap();
    let least = x
        .iter()
        .map(|v| {
            c += 1.0;
            v * c
        })
        .min_by(|a, b| a.total_cmp(b))
        .unwrap();
    skipped * stepped + back * taken + first * least * c * t
}

#[test]
fn items_and_their_options() {
    check_rule(counted::rule, numbers());
    check_rule(decided::rule, numbers());
    check_rule(behind_adapters::rule, numbers());
    check_rule(mapped_on_the_way::rule, numbers());
    check_rule(found_and_mapped::rule, numbers());
    check_rule(as_long_as::rule, numbers());
    check_rule(in_loops::rule, numbers());
    check_rule(to_be_written::rule, numbers());
    check_rule(parts::rule, numbers());
    check_rule(dropped::rule, numbers());
    let none = (vec![0.7, 0.1, 0.3], 0.8);
    check_rule(under_a_name::rule, numbers().into_iter().chain([none, (vec![0.7], 0.2)]));
}

#[test]
fn items_of_several_sequences() {
    let x = vec![0.1, 0.5, 1.4, 2.0];
    check_rule(
        interpolated::rule,
        [
            (x.clone(), vec![0.3, 0.1, 0.7, 0.2], 0.7),
            (vec![0.2, 0.9, 2.3], vec![0.3, 0.8, 0.1], 1.1),
            (x.clone(), x, 3.0),
        ],
    );
    check_rule(
        several_at_once::rule,
        [
            (vec![0.5, 0.3, 0.9], vec![0.1, 0.2, 0.3], 0.6),
            (vec![0.7, 0.1, 1.3], vec![0.1], 0.8),
            (vec![0.7, 0.1, 0.3], vec![0.1, 0.7, 0.3], 0.8),
        ],
    );
    let of = vec![vec![0.5, 0.3], vec![0.9, 0.1]];
    check_rule(rows::rule, [(of.clone(), 0.6), (of.clone(), 0.1), (of, 1.0)]);
    let points = vec![Point { x: 0.3, y: 0.2 }, Point { x: 0.7, y: 1.2 }, Point { x: 1.7, y: 0.2 }];
    check_rule(nearest::rule, [(points.clone(), 0.6), (points, 1.4)]);
}

#[differentiable]
fn tuples_under_a_name(x: &[f64], t: f64) -> f64 {
    let greatest = x.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
    let pair = x.iter().zip(&x[1..]).find(|pair| (*pair.0 - t).abs() < 0.25).expect("one is near");
    let nested = x.iter().zip(&x[1..]).enumerate().last().unwrap();
    let least = x.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).unwrap().1;
    greatest.1 * greatest.0 as f64 + pair.0 * *pair.1 + least * t + nested.1.0 * nested.1.1 * nested.0 as f64
}

/// Keys are compared, and carry no gradient.
#[differentiable]
fn by_keys(x: &[f64], t: f64) -> f64 {
    let near = x.iter().min_by_key(|v| ((*v - t).abs() * 1e6) as u64).unwrap();
    let one = 2.0 * t;
    let far = x.iter().map(|v| v * one).max_by_key(|v| ((v - one).abs() * 1e6) as u64).unwrap();
    let (i, v) = x.iter().enumerate().min_by_key(|&(i, v)| (i % 2, (v * 1e3) as i64)).unwrap();
    let even = (0..x.len()).max_by_key(|&i| ((x[i] * 1e3) as i64, i)).unwrap();
    near * far + v * i as f64 + x[even] * t
}

#[test]
fn tuples_and_keys() {
    check_rule(tuples_under_a_name::rule, numbers());
    check_rule(by_keys::rule, numbers());
}
