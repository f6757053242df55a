//! Constants that own memory, or are no more than `Clone`, by value.

use std::ops::Range;

use pullback::testing::{CheckRule, check_rule};
use pullback::{constant, differentiable};

#[differentiable]
fn in_order(x: &[f64], order: Vec<usize>) -> f64 {
    let mut s = 0.0;
    for i in order {
        s = s * 0.5 + x[i] * x[i];
    }
    s
}

#[differentiable]
fn chosen(x: &[f64], mask: Vec<bool>) -> Vec<f64> {
    assert_eq!(x.len(), mask.len());
    x.iter().zip(&mask).filter(|(_, chosen)| **chosen).map(|(x, _)| x * x).collect()
}

#[differentiable]
fn reversed(x: &[f64], mut order: Vec<usize>, k: f64) -> f64 {
    order.reverse();
    order.push(0);
    order.iter().enumerate().map(|(n, &i)| k.powi(n as i32) * x[i] * x[i]).sum()
}

#[differentiable]
fn in_several_orders(x: &[f64], order: &[usize], k: f64) -> f64 {
    let n = x.len();
    let mut s = 0.0;
    for i in 0..2 {
        let some: Vec<usize> = (0..n).filter(|j| j % 2 == i).collect();
        s += in_order(x, some) * k;
        let others: Vec<usize> = (0..n).filter(|j| j % 2 != i).collect();
        s += in_order(x, others.clone());
        s += in_order(x, others) * s;
    }
    s + in_order(x, order.to_vec()) + in_order(x, vec![0, 1])
}

/// The vector itself is needed, and its name is that of something else later on.
#[differentiable]
fn compared(x: &[f64], order: Vec<usize>, k: f64) -> f64 {
    let first = vec![0, 2, 1];
    let mut s = if order == first { k * x[0] } else { k };
    let order: Vec<usize> = order.into_iter().rev().collect();
    for &i in &order {
        s += s * k * x[i];
    }
    for i in order {
        s += s * k * x[i];
    }
    s
}

#[test]
fn vectors() {
    let inputs = || [(vec![0.3, 0.5, 0.2], vec![0, 2, 1]), (vec![0.4, 0.2], vec![1])];
    check_rule(in_order::rule, inputs());
    check_rule(reversed::rule, inputs().map(|(x, order)| (x, order, 0.7)));
    check_rule(in_several_orders::rule, inputs().map(|(x, order)| (x, order, 0.4)));
    let given = inputs().map(|(x, order)| (x, order, 0.7));
    CheckRule::new(compared::rule).inputs(given).allocating(4).run();
    check_rule(chosen::rule, [(vec![0.3, 0.5, 0.2], vec![true, false, true]), (vec![0.4], vec![true])]);
}

#[derive(Clone, Debug, PartialEq)]
enum Failure {
    First,
    Other,
}

#[differentiable]
fn small(x: f64, #[constant] otherwise: Failure) -> Result<f64, Failure> {
    if x > 0.9 { Err(otherwise) } else { Ok(x * x) }
}

#[differentiable]
fn both_small(x: f64, y: f64, #[constant] otherwise: Failure) -> Result<f64, Failure> {
    let mut product = small(x, Failure::First)? * small(y, otherwise.clone())?;
    for _ in 0..2 {
        product += small(product * x, Failure::Other).unwrap_or(y);
    }
    Ok(product * small(x * y, otherwise)?)
}

#[test]
fn errors() {
    check_rule(small::rule, [(0.3, Failure::First), (1.2, Failure::Other)]);
    let inputs = [(0.3, 0.4, Failure::Other), (0.2, 1.2, Failure::First), (1.1, 0.5, Failure::First)];
    check_rule(both_small::rule, inputs);
}

#[differentiable]
fn within(x: &[f64], range: Range<usize>, k: f64) -> f64 {
    let mut s = 0.0;
    for i in range.start..range.end {
        s += k * x[i];
    }
    s * x[range.start]
}

#[differentiable]
fn within_several(x: &[f64], k: f64) -> f64 {
    let all = 0..x.len();
    let mut s = 0.0;
    for i in 0..2 {
        s += within(x, i..x.len(), k);
        let few = 0..i + 1;
        s += within(x, few, s);
    }
    s + within(x, all.clone(), s) + within(x, all, k)
}

#[test]
fn ranges() {
    check_rule(within::rule, [(vec![0.3, 0.5, 0.2], 0..3, 0.7), (vec![0.4, 0.2], 1..2, 0.4)]);
    check_rule(within_several::rule, [(vec![0.3, 0.5, 0.2], 0.4), (vec![0.4, 0.2], 0.3)]);
}

#[derive(Clone)]
struct Config {
    name: String,
    power: i32,
    which: Vec<usize>,
}

fn config(n: usize) -> Config {
    Config { name: "x".repeat(n), power: 2, which: (0..n).collect() }
}

#[differentiable]
fn powers(x: &[f64], #[constant] config: Config, k: f64) -> f64 {
    let mut s = 0.0;
    for &i in &config.which {
        s += k * x[i].powi(config.power);
    }
    s
}

#[differentiable]
fn named(x: f64, name: String) -> f64 {
    if name.len() > 1 { x * x } else { x.sin() }
}

#[differentiable]
fn configured(x: &[f64], #[constant] all: &Config, k: f64) -> f64 {
    let first = constant(config(1));
    let mut s = powers(x, all.clone(), k) + powers(x, first.clone(), k);
    for i in 0..2 {
        s += powers(x, config(i), s) * named(k, "x".repeat(i + 1));
    }
    let name = all.name.clone();
    s * named(k, name) + powers(x, first, 0.4 * k) + named(s, String::from("s"))
}

/// Others than vectors are cloned where the reverse pass may need them.
#[test]
fn of_other_types() {
    let inputs = [(vec![0.3, 0.5, 0.2], config(2), 0.4), (vec![0.4, 0.2], config(2), 0.3)];
    CheckRule::new(configured::rule).inputs(inputs).allocating(35).run();
}

fn label(n: usize) -> String {
    "x".repeat(n)
}

/// Texts that calls return, which are moved on: by a branch, into a tuple, into what is appended to.
#[differentiable]
fn texts(x: &[f64], n: usize) -> f64 {
    let (short, long) = (label(2), label(n));
    let chosen = if long.len() > 1 { long } else { short };
    let longer = chosen + "y";
    let name = format!("{n}");
    let pair = (name + &longer, 2);
    x[pair.0.len() % pair.1] * x[longer.len() % x.len()]
}

#[test]
fn texts_that_are_moved_on() {
    check_rule(texts::rule, [(vec![0.3, 0.5], 3), (vec![0.7, 0.75, 0.2], 1)]);
}
