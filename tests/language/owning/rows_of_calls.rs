//! Vectors of vectors and of options that calls have returned under a name without a type: their items, by value and by reference.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn rows(x: &[f64]) -> Vec<Vec<f64>> {
    x.chunks(2).map(|c| c.to_vec()).collect()
}

#[differentiable]
fn roots(x: &[f64]) -> Vec<Option<f64>> {
    x.iter().map(|x| if *x > 0.0 { Some(x.sqrt()) } else { None }).collect()
}

#[differentiable]
fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[differentiable]
fn by_reference(x: &[f64]) -> f64 {
    let rows = rows(x);
    let mut sum = 0.0;
    for row in &rows {
        sum += row[0] * row.iter().sum::<f64>();
        for v in row {
            sum += v.sin();
        }
    }
    for (i, row) in rows.iter().enumerate() {
        for v in row.iter() {
            sum *= 1.0 + v * i as f64;
        }
    }
    sum
}

#[differentiable]
fn by_value(x: &[f64]) -> f64 {
    let (first, second, third) = (rows(x), rows(x), rows(x));
    let mut sum = 0.0;
    for row in first {
        for v in row {
            sum += v.sin();
        }
    }
    for row in second {
        sum += row.iter().map(|v| v * v).sum::<f64>().sqrt() * row[0] + norm(&row);
    }
    for row in third.into_iter() {
        sum *= row.into_iter().map(|v| 1.0 + v * v).product::<f64>();
    }
    sum
}

#[differentiable]
fn chained(x: &[f64]) -> f64 {
    let (first, second) = (rows(x), rows(x));
    let lengths: f64 = first.into_iter().map(|row| row[0] * row.len() as f64).sum();
    let sines: f64 = second.into_iter().flatten().map(|v| v.sin()).sum();
    lengths * sines + rows(x).iter().flatten().product::<f64>()
}

/// Items of plain data are taken apart as before.
#[differentiable]
fn options(x: &[f64]) -> f64 {
    let (first, second) = (roots(x), roots(x));
    let third: Vec<Option<f64>> = roots(x);
    let mut sum = 0.0;
    for root in first {
        if let Some(root) = root {
            sum += root.sin();
        }
    }
    for root in &second {
        match root {
            Some(root) => sum *= *root,
            None => sum += 1.0,
        }
    }
    sum + third.into_iter().flatten().map(|root| root.cos()).sum::<f64>()
}

#[test]
fn rows_of_calls() {
    let inputs = || [(vec![0.3, -0.4, 0.9],), (vec![0.7],), (vec![0.2, 0.3, 0.4, 0.5],)];
    check_rule(by_reference::rule, inputs());
    check_rule(by_value::rule, inputs());
    check_rule(chained::rule, inputs());
    check_rule(options::rule, inputs());
}
