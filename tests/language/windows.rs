//! Windows and chunks of slices, in loops and in chains.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn windows(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for w in x.windows(2) {
        total += (w[1] - w[0]).powi(2);
    }
    total + x.windows(3).map(|w| w[0] * w[1] * w[2]).sum::<f64>()
}

#[differentiable]
fn array_windows<const N: usize>(x: &[f64], points: &[[f64; N]]) -> f64 {
    let mut total = 0.0;
    for &[a, b] in x.array_windows() {
        total += (b - a).powi(2);
    }
    for [one, other] in points.array_windows() {
        total += one[0] * other[1];
    }
    total += x.array_windows().map(|[a, b, c]| a * b * c).sum::<f64>();
    total += x.array_windows().enumerate().skip(1).map(|(i, [a, _])| a * i as f64).sum::<f64>();
    total += x.array_windows::<N>().rev().fold(1.0, |product, w| product * w[0] + w[N - 1]);
    total + [3, 1, 2].array_windows().filter(|[a, b]| a < b).count() as f64 * x[0]
}

#[differentiable]
fn chunks(x: &[f64], size: usize) -> f64 {
    let mut total = 0.0;
    for row in x.chunks(size) {
        let mut product = 1.0;
        for v in row {
            product *= v;
        }
        total += product;
    }
    for row in x.chunks_exact(2) {
        total += row[0] * row[1] * total;
    }
    total + x.chunks(3).map(|c| c.iter().sum::<f64>().powi(2)).sum::<f64>()
}

#[differentiable]
fn rows_in_place(x: &mut [f64], k: f64) {
    for row in x.chunks_exact_mut(2) {
        row[0] *= row[1];
        row[1] += k;
    }
    for row in x.chunks_mut(3) {
        for v in row.iter_mut() {
            *v *= k;
        }
        row[0] *= 2.0;
    }
}

#[differentiable]
fn matrix_vector(a: &[f64], x: &[f64], y: &mut [f64]) {
    for (row, y) in a.chunks(x.len()).zip(y.iter_mut()) {
        *y = row.iter().zip(x).map(|(a, x)| a * x).sum();
    }
}

#[test]
fn windows_and_chunks() {
    let x = || vec![0.5, -0.4, 1.2, 0.3];
    check_rule(windows::rule, [(x(),), (vec![0.4],), (vec![0.4, 0.2],)]);
    let points = vec![[0.3, 0.8], [0.5, 0.1], [1.2, 0.7]];
    check_rule(array_windows::<2>::rule, [(x(), points.clone()), (vec![0.4], points)]);
    check_rule(chunks::rule, [(vec![0.5, -0.4, 1.2, 0.3, 0.7], 2), (vec![0.4], 3)]);
}

#[test]
fn rows_of_a_slice() {
    check_rule(rows_in_place::rule, [(vec![0.5, -0.4, 1.2, 0.3, 0.8], 0.7), (vec![0.3], 0.3)]);
    check_rule(
        matrix_vector::rule,
        [
            (vec![0.5, -0.4, 1.2, 0.3, 0.8, 0.1], vec![0.3, 0.9], vec![0.5, -0.4, 1.2, 0.3]),
            (vec![0.5], vec![0.2], vec![0.3]),
        ],
    );
}
