//! Arrays that are written out where they are taken apart, or gone through: of slices, of vectors, of tuples of these.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

#[differentiable]
fn taken_apart(x: &[f64], y: &[f64]) -> f64 {
    let [p, q] = [x, y].map(|w| product(w, x));
    let [head, tail] = [&p[..1], &q[1..]].map(|part| part.iter().sum::<f64>());
    let [(sin, _), (_, cos)] = [head, tail].map(|v| v.sin_cos());
    let [copy, rest] = [x.to_vec(), y[1..].to_vec()];
    sin * cos + copy[0] * rest[0]
}

#[differentiable]
fn gone_through(x: &[f64], y: &[f64]) -> f64 {
    let bias = [x[0], 2.0];
    let mut total = 0.0;
    for (w, b) in [(x, &bias[..]), (y, &y[1..])] {
        total = (total + w.iter().sum::<f64>()) * b[0];
    }
    for part in [x, &y[1..], &x[1..], y] {
        if part.len() == 1 {
            continue;
        }
        if total > 3.0 {
            break;
        }
        for v in part {
            if *v > 0.6 {
                break;
            }
            total += v * v;
        }
    }
    for &part in &[y, x] {
        total *= part[0];
    }
    total
}

#[differentiable]
fn written_to(x: &[f64], k: f64) -> f64 {
    let (mut a, mut b) = (x.to_vec(), [x[0], k]);
    for part in [&mut a[1..], &mut b[..]] {
        part[0] *= k;
    }
    a[1] * b[0] + b[1]
}

#[differentiable]
fn mapped(x: &[f64], y: &[f64]) -> f64 {
    let sums: Vec<f64> = [x, &y[1..]].iter().map(|w| w.iter().sum::<f64>()).collect();
    let total: f64 = [&x[0], &y[0]].into_iter().map(|&v| v * v).sum();
    let joined = [[x[0], y[1]], [y[0], 1.0]].concat();
    sums[0] * sums[1] + total * joined.iter().product::<f64>()
}

#[test]
fn arrays_of_anything() {
    let inputs = [(vec![0.3, 0.5, 0.9], vec![0.7, 0.2]), (vec![0.8, 1.5], vec![0.4, 2.0, 0.1])];
    check_rule(taken_apart::rule, [(vec![0.3, 0.5], vec![0.7, 0.2])]);
    check_rule(gone_through::rule, inputs.clone());
    check_rule(written_to::rule, inputs.clone().map(|(x, _)| (x, 0.7)));
    check_rule(mapped::rule, inputs);
}
