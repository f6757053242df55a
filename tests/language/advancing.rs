//! References that go on to another part, or to another element, of the same slice.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn norm2(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

fn numbers() -> [(Vec<f64>, f64); 2] {
    [(vec![0.5, 0.3, 0.9, 1.4], 0.6), (vec![0.7, 0.1, 1.3], 1.1)]
}

#[differentiable]
fn layers(params: &[f64], widths: &[usize]) -> f64 {
    let mut rest = params;
    let mut total = 0.0;
    for &w in widths {
        assert!(rest.len() >= w, "{} parameters are missing", w - rest.len());
        let (mine, tail) = rest.split_at(w);
        rest = tail;
        total += norm2(mine) * w as f64 + norm2(rest) * 0.1;
    }
    total + rest.len() as f64
}

/// What is left of parameters that are taken one layer after the other.
#[test]
fn what_is_left_of_parameters() {
    let params = vec![0.3, 0.8, -0.4, 1.1, 0.6, 0.9];
    check_rule(layers::rule, [(params.clone(), vec![2, 3]), (params, vec![1, 2, 3])]);
}

#[differentiable]
fn by_split_first(x: &[f64], t: f64) -> f64 {
    let mut rest: &[f64] = &x[1..];
    let mut s = x[0] * t;
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        s = s * first + s.sin();
    }
    s
}

#[differentiable]
fn by_patterns(x: &Vec<f64>, t: f64) -> f64 {
    let mut rest = &x[..];
    let mut s = t;
    while let [a, b, tail @ ..] = rest {
        s = s * a + b;
        rest = tail;
    }
    if let [last] = rest {
        s += last * last;
    }
    s
}

#[differentiable]
fn by_match<T: num_traits::Float>(x: &[T], t: T) -> T {
    let mut rest = x;
    let mut s = t;
    loop {
        rest = match rest {
            [a, more @ ..] if *a > s => more,
            [a, more @ ..] => {
                s = s * *a + s;
                more
            }
            [] => break,
        };
        if let Some((last, before)) = rest.split_last() {
            s = s + *last * s;
            rest = before;
        }
    }
    s
}

/// Slices from which elements are taken at either end.
#[test]
fn from_either_end() {
    check_rule(by_split_first::rule, numbers());
    check_rule(by_patterns::rule, numbers());
    check_rule(by_match::<f64>::rule, numbers());
    check_rule(
        by_match::<f32>::rule,
        numbers().map(|(x, t)| (x.iter().map(|v| *v as f32).collect(), t as f32)),
    );
}

#[differentiable]
fn products(x: &[f64], k: usize) -> Vec<f64> {
    let squares: Vec<f64> = x.iter().map(|v| v * v).collect();
    let mut rest = squares.as_slice();
    let mut out = Vec::new();
    while !rest.is_empty() {
        let n = rest.len().min(k);
        out.push(rest[..n].iter().product::<f64>());
        rest = &rest[n..];
    }
    out
}

/// Parts of a local.
#[test]
fn parts_of_a_local() {
    check_rule(products::rule, [(vec![0.5, 0.3, 0.9, 1.4], 3), (vec![0.7, 0.1, 1.3], 1)]);
}

#[differentiable]
fn interpolated(knots: &[f64], t: f64) -> f64 {
    let mut part = knots;
    while part.len() > 2 {
        let mid = part.len() / 2;
        part = if part[mid] > t { &part[..=mid] } else { &part[mid..] };
    }
    (t - part[0]) / (part[1] - part[0])
}

/// Bisection.
#[test]
fn either_half() {
    check_rule(interpolated::rule, [(vec![0.1, 0.4, 0.9, 1.4], 0.6), (vec![0.1, 0.7, 1.3], 1.1)]);
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Peak {
    height: f64,
    width: f64,
}

#[differentiable]
impl Peak {
    fn area(&self, t: f64) -> f64 {
        self.height * self.width + t * self.width
    }
}

#[differentiable]
fn greatest_peak(peaks: &[Peak], t: f64) -> f64 {
    let mut greatest = &peaks[0];
    for peak in &peaks[1..] {
        if peak.area(t) > greatest.area(t) {
            greatest = peak;
        }
    }
    greatest.height * greatest.area(t) + greatest.width.powi(2)
}

#[differentiable]
fn greatest_row(rows: &[Vec<f64>], t: f64) -> f64 {
    let mut greatest = &rows[0];
    let mut at = 0;
    for (i, row) in rows.iter().enumerate().skip(1) {
        if norm2(row) > norm2(greatest) {
            greatest = row;
            at = i;
        }
    }
    greatest.iter().sum::<f64>() * t + greatest[greatest.len() - 1] * at as f64
}

/// One of several elements.
#[test]
fn the_greatest_element() {
    let peak = |height, width| Peak { height, width };
    let peaks = vec![peak(1.0, 0.3), peak(0.6, 0.9), peak(1.4, 0.2)];
    check_rule(greatest_peak::rule, [(peaks[1..].to_vec(), 0.7), (peaks, 0.4)]);
    let rows = vec![vec![0.1, 0.3], vec![0.6, 0.7, 0.3], vec![0.4]];
    check_rule(greatest_row::rule, [(rows[1..].to_vec(), 0.7), (rows, 0.4)]);
}

#[differentiable]
fn both(mut x: &[f64], #[constant] mut w: &[f64]) -> f64 {
    let mut total = 0.0;
    while let ([a, xs @ ..], [b, ws @ ..]) = (x, w) {
        total += a * a * b;
        x = xs;
        w = ws;
    }
    total
}

#[differentiable]
fn sum_of_squares(mut x: &[f64], skip: bool) -> f64 {
    if skip {
        x = &x[1..];
    }
    let mut total = 0.0;
    while let Some((first, rest)) = x.split_first() {
        total += first * first;
        x = rest;
    }
    total
}

#[differentiable]
fn from_the_first_large(x: &[f64], #[constant] mut t: &[f64]) -> f64 {
    let mut n = 0;
    while t[0] < 0.4 {
        t = &t[1..];
        n += 1;
    }
    x[0] * x[1] * t[0] + x[0] * n as f64
}

/// Parameters themselves.
#[test]
fn parameters() {
    let x = vec![0.3, 0.52, 0.11];
    check_rule(both::rule, [(x.clone(), vec![0.2, 0.5]), (vec![0.7], vec![0.1, 0.4])]);
    check_rule(sum_of_squares::rule, [(x.clone(), true), (vec![0.7], false)]);
    let t = vec![0.1, 0.2, 0.5];
    // A copy of the rest is kept.
    CheckRule::new(from_the_first_large::rule)
        .inputs([(x, t.clone()), (vec![0.7, 0.4], t)])
        .allocating(8)
        .run();
}

#[differentiable]
fn in_a_format_string(x: &[f64]) -> f64 {
    let mut rest = x;
    let mut total = 0.0;
    while let [first, tail @ ..] = rest {
        assert!(rest.len() > tail.len(), "{rest:?} {:?}", tail);
        total += first * rest.len() as f64;
        rest = tail;
    }
    total
}

#[test]
fn what_is_left_is_shown() {
    check_rule(in_a_format_string::rule, [(vec![0.3, 0.5],)]);
}
