//! `+ - * /` of arrays and numbers, owned and borrowed, with broadcasting and in place.

use ndarray::{Array1, Array2, Array3, ArrayView1, Axis, array, s};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

use crate::networks::{matrix, vector};

#[differentiable]
fn all_four(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let sum = a + b;
    let difference = a - b;
    let product = &sum * &difference;
    let quotient = &product / (a * 0.5 + 3.0);
    (quotient - &sum).sum() + (-&difference).sum()
}

#[differentiable]
fn numbers(a: &Array1<f64>, s: f64) -> f64 {
    let right = a * s + a / s - (a + s) * (a - s);
    let left = s * a + s / a - (s + a) * (s - a);
    (right * left).sum() + (a * 2.0 - 1.0 / a).sum()
}

#[differentiable]
fn stretched(a: &Array2<f64>, row: &Array1<f64>, column: &Array2<f64>) -> f64 {
    let one = a + row;
    let two = row * a;
    let three = &one / column;
    let four = column - row;
    (one * two).sum() + (three * &four).sum()
}

#[differentiable]
fn owned(a: &Array1<f64>, b: &Array1<f64>) -> f64 {
    let x = a * b;
    let y = a + b;
    let z = x - y;
    let w = b / z;
    let v = -w;
    (v * a).sum()
}

#[differentiable]
fn in_place(a: &Array2<f64>, b: &Array1<f64>, s: f64) -> f64 {
    let mut x = a.clone();
    x += b;
    x *= s;
    x -= &(a * 0.5);
    x /= 2.0;
    x *= a;
    x += s;
    let before = (&x * &x).sum();
    x /= b;
    x.scaled_add(s, a);
    x.mapv_inplace(|v| v * v * s);
    before + x.sum()
}

#[differentiable]
fn parameter(x: &mut Array2<f64>, b: &Array1<f64>, s: f64) -> f64 {
    *x += b;
    *x *= s;
    x.scaled_add(0.5, b);
    x.mapv_inplace(f64::tanh);
    x.sum() * s
}

#[differentiable]
fn single(a: &Array2<f32>, b: &Array1<f32>, s: f32) -> f32 {
    let mut x = a * 2.0 + b / s;
    x *= 0.5;
    (x.mapv(|v| v.exp() - 1.0) * 0.25 + 1.0 / (2.0 + a * a)).sum()
}

#[differentiable]
fn looped(a: &Array2<f64>, x: &Array1<f64>, steps: usize) -> f64 {
    let mut h = x.clone();
    let mut total = 0.0;
    for t in 0..steps {
        if t % 2 == 0 {
            h = a.dot(&h).mapv(f64::sin);
        } else {
            h = &h * 0.5 + x;
        }
        total += h.dot(&h);
    }
    total + h.sum()
}

#[differentiable]
fn while_large(a: &Array1<f64>) -> f64 {
    let mut x = a * 4.0;
    let mut n = 0;
    while x.sum() > 1.0 {
        x = &x * 0.5 - a * 0.01;
        n += 1;
    }
    (&x * a).sum()
}

#[differentiable]
fn scale(x: &Array1<f64>, s: f64) -> Array1<f64> {
    let y = x * s;
    &y + x
}

#[differentiable]
fn called(x: &Array1<f64>, s: f64) -> f64 {
    let y: Array1<f64> = scale(x, s);
    let z: Array1<f64> = scale(&(&y * x), 2.0);
    (y * z).sum()
}

#[differentiable]
fn chosen(a: &Array1<f64>, b: &Array1<f64>, first: bool) -> f64 {
    let picked = if first { a * 2.0 } else { b - a };
    let scale = if picked.sum() > 0.0 { picked.sum() } else { a[0] };
    (&picked * b).sum() * scale
}

#[test]
fn operators() {
    let (a, b) = (matrix(2, 3, 0.1), matrix(2, 3, 0.9));
    check_rule(all_four::rule, [(a.clone(), b.clone()), (matrix(1, 1, 0.1), matrix(1, 1, 0.4))]);
    check_rule(numbers::rule, [(vector(4, 2.0), 0.7), (vector(1, 2.0), -1.7)]);
    check_rule(
        stretched::rule,
        [
            (matrix(3, 4, 0.1), vector(4, 0.3), matrix(3, 1, 2.0)),
            (matrix(2, 1, 0.1), vector(1, 0.3), matrix(2, 1, 2.0)),
        ],
    );
    check_rule(owned::rule, [(vector(4, 2.0), vector(4, 0.7)), (vector(9, 2.0), vector(9, 0.7))]);
}

#[test]
fn in_place_and_f32() {
    check_rule(
        in_place::rule,
        [(matrix(2, 3, 0.1), vector(3, 1.9), 0.7), (matrix(1, 1, 0.1), vector(1, 0.9), 0.3)],
    );
    check_rule(
        parameter::rule,
        [(matrix(2, 3, 0.1), vector(3, 1.9), 0.7), (matrix(1, 1, 0.1), vector(1, 0.9), 0.3)],
    );
    check_rule(
        single::rule,
        [(matrix(2, 3, 0.1).mapv(|x| x as f32), vector(3, 1.9).mapv(|x| x as f32), 0.7_f32)],
    );
}

#[test]
fn control_flow() {
    check_rule(
        looped::rule,
        [
            (matrix(3, 3, 0.1), vector(3, 0.3), 4),
            (matrix(2, 2, 0.1), vector(2, 0.3), 0),
            (matrix(2, 2, 0.1), vector(2, 0.3), 7),
        ],
    );
    check_rule(while_large::rule, [(vector(3, 0.8),), (vector(5, 1.9),)]);
    check_rule(scale::rule, [(vector(3, 0.8), 0.4), (vector(1, 0.8), 0.4)]);
    check_rule(called::rule, [(vector(3, 0.8), 0.4), (vector(5, 0.8), 0.4)]);
    check_rule(
        chosen::rule,
        [
            (vector(3, 0.8), vector(3, 0.4), true),
            (vector(2, 0.8), vector(2, 0.4), false),
            (vector(2, 0.8), vector(2, -2.4), false),
        ],
    );
}

/// Numbers that are elements of arrays.
#[differentiable]
fn by_elements(a: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let mut x = a * v[0];
    for i in 0..x.nrows() {
        let mut row = x.row_mut(i);
        row *= v[i % v.len()];
        row += v[0];
    }
    let y = &x / v[v.len() - 1] + a[[0, 0]];
    x.fill(v[0]);
    (x * y).sum()
}

#[test]
fn elements_as_numbers() {
    check_rule(by_elements::rule, [(matrix(3, 2, 0.1), vector(2, 0.4)), (matrix(1, 1, 0.1), vector(1, 0.4))]);
}
