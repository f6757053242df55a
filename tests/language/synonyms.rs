//! Several ways to say the same: operators by the names of their methods, references to what is inside of an option, and options as items.

use std::ops::{Add, Mul, Neg};

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn by_methods(x: f64, y: f64) -> f64 {
    x.mul(y).add(x.neg()).mul(y.add(x)) + std::ops::Sub::sub(x, y) * std::ops::Div::div(x, y)
}

/// By the trait and by the type, called and handed on.
#[differentiable]
fn by_paths(x: &[f64], y: f64) -> f64 {
    let sum = x.iter().copied().map(Neg::neg).fold(y, Add::add);
    let product = x.iter().copied().fold(sum, f64::mul) + x.iter().map(|v| Mul::mul(v, y)).sum::<f64>();
    product * x.iter().copied().reduce(f64::add).unwrap()
}

#[differentiable]
fn by_type_parameter<T: Float>(x: &[T], y: T) -> T {
    x.iter().copied().fold(y, T::add) * T::mul(x[0], y)
}

/// Functions that return what they are given.
#[differentiable]
fn as_given(x: &[f64], y: f64) -> f64 {
    let sum: f64 = x.iter().copied().map(std::convert::identity).sum();
    sum * std::hint::black_box(y) + std::hint::black_box(x)[0] * std::hint::black_box(x[1] * y).sin()
}

#[differentiable]
fn references_inside(x: &[f64], option: Option<f64>) -> f64 {
    let mut sum = 0.0;
    if let Some(v) = option.as_ref() {
        sum += v.sin() * x[0];
    }
    let own = if x.len() > 2 { Some(x[0] * x[1]) } else { None };
    let Some(first) = own.as_ref() else { return sum };
    sum += match own.as_ref() {
        Some(v) => v * first,
        None => 0.5,
    };
    sum + own.as_ref().map(|v| v * v).unwrap_or(0.25) + *option.as_ref().unwrap_or(&0.3) * x[1]
}

#[derive(Differentiable, Clone, Copy)]
struct Prior {
    mean: Option<f64>,
    weight: f64,
}

#[differentiable]
fn reference_inside_a_field(x: f64, prior: &Prior) -> f64 {
    match prior.mean.as_ref() {
        Some(mean) => (x - mean).powi(2) * prior.weight,
        None => x * prior.weight,
    }
}

/// An option has an item, or none.
#[allow(for_loops_over_fallibles, reason = "that is what is tested")]
#[differentiable]
fn items_of_an_option(x: &[f64], option: Option<f64>, index: Option<usize>) -> f64 {
    let mut sum = 0.0;
    for v in option {
        if v > 100.0 {
            continue;
        }
        sum += v * x[0];
    }
    for v in &option {
        sum += v * v;
    }
    for i in index {
        sum += x[i] * x[1];
    }
    sum += option.iter().map(|v| v * x[1]).sum::<f64>() + index.into_iter().map(|i| x[i]).sum::<f64>();
    sum + x.iter().chain(option.iter()).map(|v| v * v * v).sum::<f64>()
}

#[differentiable]
fn one_item(x: &[f64], y: f64) -> f64 {
    let mut all = x.to_vec();
    all.extend(Some(y * x[0]));
    let sum: f64 = all.iter().copied().chain(Some(y)).map(|v| v * v).sum();
    sum * Some(y).into_iter().chain(x.iter().copied()).map(f64::sin).sum::<f64>()
}

#[derive(Debug)]
struct Failure {
    reason: String,
}

#[differentiable]
fn root(x: f64) -> Result<f64, Failure> {
    if x > 0.0 { Ok(x.sqrt()) } else { Err(Failure { reason: "negative".into() }) }
}

/// Several places look into an outcome whose error owns memory.
#[differentiable]
fn looked_into_again(x: &[f64]) -> f64 {
    let outcome = root(x[0]);
    let sum = match &outcome {
        Ok(v) => v * x[1],
        Err(e) => x[1] * e.reason.len() as f64,
    };
    if outcome.is_err() {
        return sum;
    }
    let v = outcome.unwrap();
    v * sum + root(x[1]).ok().unwrap_or(x[0])
}

/// A type that is told where the array is made.
#[differentiable]
fn array_of_a_told_type(x: f64, y: f64) -> f64 {
    std::array::from_fn::<f64, 3, _>(|i| x * i as f64).iter().sum::<f64>() * y
}

/// The first of two vectors of one name is needed when the second one has it.
#[differentiable]
fn vectors_of_one_name(x: &[f64], v: [f64; 3]) -> f64 {
    v.iter()
        .map(|b| {
            let mut rows = Vec::new();
            rows.push(vec![0.5; v.len()]);
            rows.push(v.iter().map(|e| e * b).collect());
            let s = rows[1][0];
            let rows = vec![0.25; x.len()];
            s * rows[0] * x[0]
        })
        .sum::<f64>()
}

#[test]
fn operators_by_their_names() {
    check_rule(by_methods::rule, [(0.7, 3.0), (-1.2, 0.4)]);
    check_rule(by_paths::rule, [(vec![0.7, 2.0], 3.0), (vec![1.5, -0.5, 0.3], 0.4)]);
    check_rule(by_type_parameter::<f64>::rule, [(vec![0.7, 2.0], 3.0), (vec![1.5, -0.5, 0.3], 0.4)]);
}

#[test]
fn what_returns_its_argument() {
    check_rule(as_given::rule, [(vec![0.7, 2.0], 3.0), (vec![1.5, -0.5, 0.3], 0.4)]);
}

#[test]
fn references_to_what_is_inside() {
    check_rule(
        references_inside::rule,
        [(vec![0.7, 2.0, 0.1], Some(0.4)), (vec![0.7, 2.0, 0.1], None), (vec![0.6, 0.2], Some(0.1))],
    );
    let priors = [Some(0.2), None].map(|mean| (0.7, Prior { mean, weight: 1.5 }));
    check_rule(reference_inside_a_field::rule, priors);
    check_rule(looked_into_again::rule, [(vec![0.7, 0.4],), (vec![0.7, -0.4],), (vec![-0.7, 0.4],)]);
}

#[test]
fn options_as_items() {
    check_rule(
        items_of_an_option::rule,
        [(vec![0.7, 2.0], Some(0.4), Some(0)), (vec![0.7, 2.0, 1.0], None, None)],
    );
    check_rule(one_item::rule, [(vec![0.7, 2.0], 3.0), (vec![1.5, -0.5, 0.3], 0.4)]);
}

#[test]
fn told_types() {
    check_rule(array_of_a_told_type::rule, [(0.7, 3.0), (-1.2, 0.4)]);
}

#[test]
fn names_that_are_taken_again() {
    check_rule(vectors_of_one_name::rule, [(vec![0.7, 2.0], [0.2, 0.3, 0.1]), (vec![1.5], [0.4, -0.3, 0.6])]);
}
