//! Several references matched at once, `match (left, right) { (Some(i), Some(j)) => …, _ => … }`.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, PartialEq, Differentiable)]
pub struct Ends {
    left: Option<f64>,
    right: Option<f64>,
    at: Option<usize>,
}

/// Fields, of which some carry a gradient; what only decides may be anything.
#[differentiable]
fn of_fields(k: f64, ends: &Ends, flag: bool) -> f64 {
    match (&ends.left, &ends.at, k > 0.0 && flag) {
        (Some(x), Some(n), true) if *x > 0.0 => x * *n as f64 * k,
        (Some(x), _, _) => x * x,
        (None, Some(n), _) => k * *n as f64,
        _ => k,
    }
}

/// As a condition, and in front of `else`.
#[differentiable]
fn in_steps(k: f64, ends: &Ends) -> f64 {
    let mut total = k;
    if let (Some(x), Some(y)) = (&ends.left, &ends.right) {
        total += k * x * y;
    } else if let (None, Some(y)) = (&ends.left, &ends.right) {
        return total * y;
    }
    let (Some(x), Some(n)) = (&ends.left, &ends.at) else { return total * k };
    total + x.powi(*n as i32)
}

/// Local options of indices, in a loop.
#[differentiable]
fn of_locals(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let first = x.iter().position(|v| *v > 1.0 + i as f64);
        let last = x.iter().rposition(|v| *v > i as f64);
        total += match (&first, &last) {
            (Some(i), Some(j)) if i != j => x[*i] * x[*j] * k,
            (Some(n), None) | (None, Some(n)) => k * *n as f64 * x[0],
            (Some(i), rest) => k * k * x[*i] + rest.map_or(0.0, |j| x[j]),
            _ => k * k,
        };
    }
    total
}

/// Options that are declared: a name within generated code must not meet another.
#[differentiable]
fn of_declared(x: &[f64], k: f64) -> f64 {
    let first: Option<usize> = x.iter().position(|v| *v > 1.0);
    let second: Option<usize> = x.iter().position(|v| *v > 2.0);
    match (&first, &second) {
        (Some(i), Some(j)) => x[*i] * x[*j] * k,
        (Some(i), None) => x[*i] * k,
        _ => k * k,
    }
}

#[derive(Clone, Copy)]
pub enum Kind {
    At(usize),
    Mixed { at: usize, weight: f64 },
}

#[differentiable]
fn of_parameters(x: &[f64], left: &Option<usize>, right: &Option<usize>) -> f64 {
    match (left, right) {
        (Some(i), Some(j)) => x[*i] * x[*j],
        _ => x[0],
    }
}

#[differentiable]
fn of_constants(x: &[f64], #[constant] left: &Kind, #[constant] right: Kind) -> f64 {
    match (left, &right) {
        (Kind::At(i), Kind::Mixed { at, weight }) => x[*i] * x[*at] * *weight,
        (Kind::Mixed { weight, .. }, _) => weight * x[0],
        _ => x[1],
    }
}

#[test]
fn several_references() {
    let ends = |left, right, at| Ends { left, right, at };
    let inputs = [
        ends(Some(1.5), Some(0.5), Some(2)),
        ends(Some(-0.5), None, Some(3)),
        ends(None, Some(0.7), Some(1)),
        ends(None, None, None),
        ends(Some(0.3), Some(2.0), None),
    ];
    check_rule(of_fields::rule, inputs.clone().map(|ends| (0.7, ends, true)));
    check_rule(in_steps::rule, inputs.map(|ends| (0.7, ends)));
    let inputs = [(vec![0.5, 1.5, 2.5], 2.0), (vec![0.5, 1.5], 3.0), (vec![0.1], 0.7)];
    check_rule(of_locals::rule, inputs.clone());
    check_rule(of_declared::rule, inputs);

    let x = [2.0, 3.0, 5.0];
    let mut g = of_parameters::gradient();
    let (value, d) = g.value_and_gradient(&x, &Some(1), &Some(2));
    assert_eq!((value, d.x), (15.0, &[0.0, 5.0, 3.0][..]));
    let (value, d) = g.value_and_gradient(&x, &None, &Some(2));
    assert_eq!((value, d.x), (2.0, &[1.0, 0.0, 0.0][..]));

    let mixed = Kind::Mixed { at: 2, weight: 0.5 };
    let mut g = of_constants::gradient();
    let (value, d) = g.value_and_gradient(&x, &Kind::At(1), mixed);
    assert_eq!((value, d.x), (7.5, &[0.0, 2.5, 1.5][..]));
    let (value, d) = g.value_and_gradient(&x, &mixed, mixed);
    assert_eq!((value, d.x), (1.0, &[0.5, 0.0, 0.0][..]));
}

/// References that are made on the spot, and bound as they are.
#[differentiable]
fn made_there(x: &[f64], ends: &Ends) -> f64 {
    let product = match (&x[0], &x[1]) {
        (a, b) if *a < 0.5 => a.sin() * b,
        (a, _) => a * a,
    };
    let scale = match (&x[1], x[0] > 0.5) {
        (a, true) => a.cos(),
        (a, false) => 2.0 * a,
    };
    let (a, b) = match (&ends.left, &ends.right) {
        (Some(a), Some(b)) => (*a, *b),
        (Some(a), None) | (None, Some(a)) => (*a, 1.0),
        (None, None) => return product,
    };
    product * scale * a.exp() * b
}

#[test]
fn references_made_there() {
    let ends = |left, right| Ends { left, right, at: None };
    let inputs = [
        (vec![0.3, 0.5], ends(Some(0.4), Some(0.9))),
        (vec![0.7, 0.5, 0.2], ends(None, Some(0.9))),
        (vec![0.7, 0.5], ends(None, None)),
    ];
    check_rule(made_there::rule, inputs);
}

fn decide(counter: &std::cell::Cell<usize>) -> bool {
    counter.set(counter.get() + 1);
    counter.get() % 2 == 0
}

/// What stands beside references may have effects.
#[differentiable]
fn decided_once(x: &[f64], at: &Option<usize>, #[constant] counter: &std::cell::Cell<usize>) -> f64 {
    match (at, decide(counter)) {
        (Some(i), true) => x[*i],
        (Some(i), false) => x[*i] * x[0],
        _ => 0.5,
    }
}

#[test]
fn evaluated_once() {
    let (x, counter) = ([2.0, 3.0], std::cell::Cell::new(0));
    let mut g = decided_once::gradient();
    for calls in 1..5 {
        let (value, d) = g.value_and_gradient(&x, &Some(1), &counter);
        let (expected, gradient) = if calls % 2 == 0 { (3.0, [0.0, 1.0]) } else { (6.0, [3.0, 2.0]) };
        assert_eq!((value, d.x), (expected, &gradient[..]));
        assert_eq!(counter.get(), calls);
    }
}
