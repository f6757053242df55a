//! Vectors that are declared first and made later, and those that a branch chooses within a tuple.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn declared(x: &[f64], k: f64) -> f64 {
    let v;
    let n;
    if k > 1.0 {
        v = x.to_vec();
        n = 2;
    } else {
        v = vec![k; 3];
        n = 3;
    }
    let mut sum = 0.0;
    for i in 0..n {
        sum += v[i] * v[i];
    }
    sum
}

#[differentiable]
fn of_a_type(x: &[f64], k: f64) -> f64 {
    let v: Vec<f64>;
    if k > 1.0 {
        v = x.to_vec();
    } else if k < 0.0 {
        return k;
    } else {
        let made = x.iter().map(|x| x * k).collect();
        v = made;
    }
    let mut w = v;
    w.push(k);
    w[0] * w[1]
}

#[differentiable]
fn with_a_count(x: &[f64], k: f64) -> f64 {
    let (mut v, n) = if k > 1.0 { (x.to_vec(), 2) } else { (vec![k; 3], 3) };
    v.push(k);
    let mut sum = 0.0;
    for i in 0..n {
        sum += v[i] * v[i + 1];
    }
    sum
}

#[differentiable]
fn two(x: &[f64], k: f64) -> f64 {
    let (mut v, w) = if k > 1.0 { (x.to_vec(), vec![k, k]) } else { (vec![k; 3], x.to_vec()) };
    v.push(k);
    v.iter().zip(&w).map(|(a, b)| a * b).sum()
}

#[differentiable]
fn by_length(x: &[f64], k: f64) -> f64 {
    let mut sum = 0.0;
    for i in 0..2 {
        let (v, w) = match x.len() - i {
            0 => return k,
            1 => (vec![k], k * x[0]),
            _ => {
                let first = x[0] * x[1];
                (x[1..].to_vec(), first)
            }
        };
        sum += v.iter().map(|a| a * w).sum::<f64>();
    }
    sum
}

#[differentiable]
fn returned(x: &[f64], k: f64) -> (Vec<f64>, f64) {
    let (v, s) = if k > 0.2 {
        let scaled: Vec<f64> = x.iter().map(|x| x * k).collect();
        let sum = scaled.iter().sum();
        (scaled, sum)
    } else {
        (x.to_vec(), 1.0)
    };
    (v, s)
}

#[test]
fn vectors() {
    let x = vec![0.3, 0.7, 0.2];
    let arguments = [1.5, 0.5, -0.5, 0.1].map(|k| (x.clone(), k));
    check_rule(declared::rule, arguments.clone());
    check_rule(of_a_type::rule, arguments.clone());
    check_rule(with_a_count::rule, arguments.clone());
    check_rule(two::rule, arguments.clone());
    check_rule(by_length::rule, [1, 2, 3].map(|n| (x[..n].to_vec(), 0.6)));
    check_rule(returned::rule, arguments);
}
