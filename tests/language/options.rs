//! Methods of `Option` and `Result` that take functions.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn ratio(a: f64, b: f64) -> Option<f64> {
    if b.abs() < 0.25 { None } else { Some(a / b) }
}

#[differentiable]
fn logarithm(x: f64) -> Result<f64, String> {
    if x > 0.0 { Ok(x.ln()) } else { Err("no logarithm".into()) }
}

#[differentiable]
fn square(x: f64) -> f64 {
    x * x
}

/// Both with the value and without it, whose places `other` and `y` take.
#[differentiable]
fn of_calls(x: f64, y: f64, other: f64) -> f64 {
    let a = ratio(x, y).map(|v| v * v * x).unwrap_or(other * x);
    let b = ratio(y, x).map_or(other, |v: f64| v.sin() + a);
    let c = logarithm(y).map(f64::sin).map(square).unwrap_or(b * y);
    let d = ratio(a, b).map(|v| v * other).unwrap_or_default();
    a + 2.0 * b * c + d
}

#[differentiable]
fn otherwise(x: f64, y: f64) -> f64 {
    let a = ratio(x, y).unwrap_or_else(|| x * x + y);
    let b = logarithm(x).unwrap_or_else(|_| y * a);
    let c = logarithm(y).map(|v| v * b).unwrap_or_else(|_| {
        let t = x + b;
        t * t
    });
    a * b + c
}

#[differentiable]
fn or_left(x: f64, y: f64) -> Option<f64> {
    let a = ratio(x, y).map(|v| v * y)?;
    let b = ratio(a, x).map(|v| v + 1.0).map(|v| v * x)?;
    Some(a * b)
}

#[differentiable]
fn or_nothing(x: f64, y: f64) -> f64 {
    or_left(x, y).map_or(x * y, |v| v * v)
}

#[differentiable]
fn as_expected(x: f64, y: f64) -> f64 {
    let a = ratio(x, y).map(|v| v * y + 1.0).unwrap();
    let b = ratio(y, x).map(square).expect("large");
    a * b
}

/// An option that carries no gradient, of which the function makes something that does.
#[differentiable]
fn of_indices(x: &[f64], wanted: &[usize]) -> f64 {
    let mut sum = 0.0;
    for &w in wanted {
        let found = (0..x.len()).find(|i| i * i == w);
        sum += found.map(|i| x[i] * x[i]).unwrap_or(x[0]) * x[x.len() - 1];
        sum *= found.map_or(1.5, |i| i as f64);
    }
    sum
}

/// Of parameters, of parts of structures, and of pairs; in loops.
#[differentiable]
fn of_values(start: Option<f64>, x: &[f64], k: f64) -> f64 {
    let mut level = start.map(|v| v * k).unwrap_or(k);
    for i in 0..x.len() {
        let step = if x[i] > 0.0 { Some((x[i], level)) } else { None };
        level += step.map(|(a, b)| a * b.cos()).unwrap_or(0.1 * k);
    }
    level
}

#[test]
fn calls() {
    // With all of the values, and with each of them missing.
    for (x, y) in [(0.7, 0.9), (0.7, 0.1), (0.1, 0.8), (0.6, -0.5)] {
        CheckRule::new(of_calls::rule).input((x, y, 0.3)).input((1.1, 1.4, -0.6)).run();
        CheckRule::new(otherwise::rule).input((x, y)).input((-0.8, 0.7)).run();
        CheckRule::new(or_nothing::rule).input((x, y)).input((1.1, 1.4)).run();
    }
    CheckRule::new(as_expected::rule).input((0.7, 0.9)).input((1.7, -0.9)).run();
}

#[test]
fn values() {
    CheckRule::new(of_indices::rule)
        .input((vec![0.3, 0.9, -0.4], vec![4, 7, 1]))
        .input((vec![0.3], vec![]))
        .run();
    CheckRule::new(of_values::rule)
        .input((Some(0.4), vec![0.3, -0.9, 0.4], 0.8))
        .input((Some(-0.7), vec![-0.2, 0.6], 1.2))
        .run();
}

#[test]
#[should_panic(expected = "large")]
fn what_is_missing() {
    as_expected::gradient().value_and_gradient(0.1, 0.8);
}

/// What was there before, if anything was: a volatility that goes by the last return.
#[differentiable]
fn volatility(parameters: &[f64], returns: &[f64]) -> f64 {
    let [omega, alpha, beta] = parameters[..3] else { panic!("three parameters") };
    let (mut variance, mut last): (f64, Option<f64>) = (omega, None);
    let mut previous: Option<f64> = None;
    let mut sum = 0.0;
    for &r in returns {
        if let Some(e) = previous {
            variance = omega + alpha * e * e + beta * variance;
        }
        let e = r - variance;
        sum += variance.ln() + e * e / variance;
        previous = Some(e);
        last = previous;
    }
    sum + last.unwrap_or(omega)
}

#[test]
fn of_before() {
    let returns = vec![0.5, -0.4, 0.9, -1.2];
    check_rule(volatility::rule, [(vec![0.1, 0.2, 0.7], returns), (vec![0.3, 0.1, 0.8], vec![0.5, -0.4])]);
}

#[differentiable]
fn root(x: f64) -> Option<f64> {
    if x >= 0.0 { Some(x.sqrt()) } else { None }
}

/// Options that are made of others.
#[differentiable]
fn of_options(a: f64, b: f64) -> f64 {
    let twice = root(a).and_then(root).unwrap_or(b);
    let shifted = root(a).and_then(|v| root(v - b)).unwrap_or(b * b);
    let either = root(a).or_else(|| root(b)).unwrap_or(a);
    let first = root(a);
    let both = first.zip(root(b)).map(|(p, q)| p * q).unwrap_or(0.5 * a);
    let large = root(a).filter(|v| *v > 0.6).unwrap_or(a * b);
    let other = root(a).or(root(b)).unwrap_or_default();
    twice * shifted + either * both + large * other
}

#[differentiable]
fn optional(a: f64, b: f64) -> Option<f64> {
    root(a).and_then(|v| root(v * b))
}

/// What is there is taken out, or replaced.
#[differentiable]
fn pairs(x: &[f64], k: f64) -> f64 {
    let mut last: Option<f64> = None;
    let mut before: Option<f64> = None;
    let mut held: Option<f64> = None;
    let mut total = 0.0;
    for &x in x {
        if let Some(previous) = held.replace(x * k) {
            total += previous * x;
        }
        if let Some(h) = held {
            if let Some(taken) = held.take() {
                total += taken * h;
            }
            held = Some(h * x);
        }
        last = before.or(Some(x));
        before = Some(k * x);
    }
    total + held.unwrap_or(k) + last.unwrap_or(1.0)
}

#[test]
fn options_of_options() {
    check_rule(of_options::rule, [(0.4, 0.3), (-0.2, 0.4), (0.7, -0.3)]);
    check_rule(optional::rule, [(0.4, 0.3), (-0.2, 0.4), (0.7, -0.3)]);
    check_rule(pairs::rule, [(vec![0.4, 0.3, -0.2], 0.7), (vec![0.4], 0.3)]);
}

/// What is not there is an error of the caller's.
#[differentiable]
fn required(x: f64, drift: Option<f64>, volatility: Option<f64>) -> Result<f64, String> {
    let drift = drift.ok_or("no drift")?;
    let volatility: f64 = volatility.ok_or_else(|| String::from("no volatility"))?;
    let moved = (drift - 0.5 * volatility * volatility) * x;
    Ok(moved.exp() + volatility * x)
}

#[differentiable]
fn parsed(x: f64, text: &str) -> Result<f64, Box<dyn std::error::Error>> {
    let factor: f64 = text.parse()?;
    Ok(x * x * factor)
}

/// Errors of any type that become those of a trait, at the end and by `return`.
#[derive(Debug)]
struct TooGreat {
    at: usize,
}

impl std::fmt::Display for TooGreat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "too great at {}", self.at)
    }
}

impl std::error::Error for TooGreat {}

#[differentiable]
fn checked(x: &[f64], text: &str) -> Result<f64, Box<dyn std::error::Error + Send + Sync>> {
    let factor: f64 = text.parse()?;
    let mut sum = 0.0;
    for (at, v) in x.iter().enumerate() {
        if *v > 10.0 {
            return Err(Box::new(TooGreat { at }));
        }
        sum += v * v;
    }
    match x.first() {
        None => Err("empty".into()),
        Some(v) if *v < -1.0 => Err(format!("{v} is too small").into()),
        Some(v) => {
            if *v == 0.0 {
                Err(v.to_string().into())
            } else {
                Ok(sum.sqrt() * factor)
            }
        }
    }
}

#[differentiable]
fn or_what_it_says(x: &[f64], text: &str) -> f64 {
    match checked(x, text) {
        Ok(v) => v * v,
        Err(e) => e.to_string().len() as f64 * x.last().copied().unwrap_or(1.0),
    }
}

/// The error of one cannot be copied, nor even cloned.
#[differentiable]
fn or_else_left(x: f64, y: f64, text: &str) -> f64 {
    let a = parsed(x, text).unwrap_or(y);
    let b = parsed(y, text).unwrap_or_else(|_| x * y);
    let c = parsed(x * y, text).map_or_else(|_| y.sin(), |v| v * x);
    let d = parsed(y, text).map(f64::sin).map(square).unwrap_or_default();
    a * b + c + d
}

#[differentiable]
fn of_functions(x: f64, y: f64) -> f64 {
    match ratio(x, y) {
        Some(v) => square(f64::sin(v)) + x,
        None => x * y,
    }
}

#[test]
fn what_has_to_be_there() {
    let inputs = [(0.7, Some(0.1), Some(0.3)), (0.4, None, Some(0.2)), (0.2, Some(0.3), None)];
    check_rule(required::rule, inputs);
    let inputs = [(0.7, 1.3, "1.25".to_string()), (0.4, 0.6, "none".to_string())];
    check_rule(
        or_what_it_says::rule,
        [vec![0.5, 0.3], vec![0.4, 12.0], vec![], vec![-2.0, 0.3], vec![0.0, 0.6]]
            .map(|x| (x, "2.5".to_string())),
    );
    check_rule(or_what_it_says::rule, [(vec![0.5, 0.3], "none".to_string())]);
    check_rule(or_else_left::rule, inputs);
    check_rule(of_functions::rule, [(0.7, 1.3), (0.4, 0.1)]);
}

#[differentiable]
fn converted(a: f64, b: f64) -> Result<f64, String> {
    let r = ratio(a, b);
    r.ok_or("too small".to_string())
}

#[differentiable]
fn converted_twice(a: f64, b: f64, given: Option<f64>) -> Option<f64> {
    let r = converted(a, b);
    let y = r.map_err(|e| e.len()).ok()?;
    let o = ratio(y, a);
    let z = o.ok_or_else(|| "too small".to_string()).ok()?;
    let g = given.ok_or(0).ok()?;
    Some(y * z * g)
}

/// The call writes to what it refers to, whatever becomes of its value.
#[differentiable]
fn shrunk(a: &mut f64, k: f64) -> Option<f64> {
    *a *= k;
    ratio(k, *a)
}

#[differentiable]
fn shrunk_thrice(a: &mut f64, k: f64) -> Result<f64, usize> {
    let once = shrunk(a, k).ok_or(1_usize)?;
    let twice = once * shrunk(a, 1.5).ok_or(2_usize)?;
    shrunk(a, twice).ok_or(3)
}

#[test]
fn under_other_names() {
    check_rule(converted::rule, [(0.7, 1.3), (0.4, 0.1)]);
    check_rule(converted_twice::rule, [(0.7, 1.3, Some(0.4)), (0.7, 1.3, None), (0.4, 0.1, Some(0.4))]);
    check_rule(shrunk_thrice::rule, [(1.7, 0.9), (1.7, 0.1), (0.4, 0.9)]);
}

#[derive(Clone, Debug, PartialEq)]
enum Missing {
    Nothing,
    At(usize),
    Text(String),
}

/// Items that have to be there.
#[differentiable]
fn items_required(x: &[f64], rows: &[Vec<f64>]) -> Result<f64, Missing> {
    let mut sum = x.iter().copied().reduce(f64::max).ok_or(Missing::Nothing)?;
    for (i, v) in x.iter().enumerate() {
        let row = rows.get(i).ok_or_else(|| Missing::Text(format!("row {i}")))?;
        sum += v * *row.last().ok_or(Missing::At(i))?;
        let large: &f64 = row.iter().find(|w| **w > 0.5).ok_or(Missing::Nothing)?;
        sum *= 1.0 - large;
    }
    let (head, tail) = x.split_first().ok_or(Missing::Nothing)?;
    Ok(tail.iter().map(|t| t * head).sum::<f64>() + sum)
}

/// The error tells what the closure has counted until then.
#[differentiable]
fn counted_before(x: &[f64]) -> Result<f64, Missing> {
    let mut n = 0;
    let largest = x
        .iter()
        .map(|x| {
            n += 1;
            x * x
        })
        .reduce(f64::max)
        .ok_or(Missing::At(n))?;
    Ok(largest)
}

#[differentiable]
fn vector_required(x: &[f64], order: &[usize]) -> Result<Vec<f64>, Missing> {
    let mut out = Vec::new();
    for (i, v) in x.iter().enumerate() {
        let at = *order.get(i).ok_or(Missing::Text("short".to_string()))?;
        out.push(v * x.get(at).ok_or(Missing::At(at))?);
    }
    let last = out.last().ok_or(Missing::Nothing)?;
    let more = last * x[0];
    out.push(more);
    Ok(out)
}

#[test]
fn items_that_have_to_be_there() {
    let rows = vec![vec![0.6, 0.25], vec![0.25, 0.75]];
    let inputs =
        [(vec![0.5, 0.25], rows.clone()), (vec![], rows.clone()), (vec![0.5, 0.25], vec![vec![0.6], vec![]])];
    check_rule(items_required::rule, inputs);
    check_rule(items_required::rule, [(vec![0.5, 0.25], vec![vec![0.25]]), (vec![0.5, 0.25, 0.75], rows)]);
    check_rule(counted_before::rule, [(vec![0.3, 0.5],), (vec![],)]);
    let inputs = [(vec![0.3, 0.5, 0.7], vec![1, 2, 0]), (vec![0.3], vec![1]), (vec![0.3], vec![])];
    check_rule(vector_required::rule, inputs);
}

/// The merge of two sorted arrays.
#[differentiable]
fn merged(x: &[f64], y: &[f64]) -> Vec<f64> {
    let mut out = Vec::new();
    let (mut i, mut j) = (0, 0);
    loop {
        match (x.get(i), y.get(j)) {
            (Some(a), Some(b)) if a < b => {
                out.push(*a * x[0]);
                i += 1;
            }
            (Some(_), Some(b)) => {
                out.push(b * b);
                j += 1;
            }
            (Some(a), None) => {
                out.push(*a);
                i += 1;
            }
            (None, Some(b)) => {
                out.push(b * 2.0);
                j += 1;
            }
            (None, None) => break,
        }
    }
    out
}

#[differentiable]
fn neighbours(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += match (x.get(i + 2), x.get(i + 1)) {
            (Some(a), Some(b)) => (a - b) * x[i],
            (Some(a), None) | (None, Some(a)) => a * a * x[i],
            (None, None) => x[i],
        };
    }
    total
}

#[differentiable]
fn while_looking(x: &mut [f64], rows: &[Vec<f64>], k: f64) -> f64 {
    let mut s = k;
    for i in 0..x.len() {
        match (rows.get(i), x.iter().copied().find(|v| *v > 0.5)) {
            (Some(row), Some(large)) => {
                x[i] *= row[0] * large;
                s += row.iter().sum::<f64>();
            }
            (None, Some(large)) => s *= large,
            (_, None) => return s,
        }
    }
    match (x.first(), rows.last(), x.iter().skip(1).next()) {
        (Some(a), Some(row), Some(b)) => a * b * row[0] * s,
        (Some(a), _, None) => *a,
        _ => s,
    }
}

#[test]
fn several_items_at_once() {
    check_rule(merged::rule, [(vec![0.3, 0.6, 0.8], vec![0.5, 0.7]), (vec![0.2], vec![0.1, 0.3])]);
    check_rule(neighbours::rule, [(vec![0.6, 0.8],), (vec![0.3, 0.4, 0.9, 0.1],)]);
    let inputs = [
        (vec![0.6, 0.8], vec![vec![0.7, 0.8]], 0.7),
        (vec![0.3, 0.4, 0.9], vec![vec![0.6, 0.8]; 3], 0.3),
        (vec![0.6], vec![vec![0.7, 0.8]], 0.7),
        (vec![], vec![], 0.3),
    ];
    check_rule(while_looking::rule, inputs);
}

/// What the function returns tells what these are.
#[differentiable]
fn mapped_at_the_end(x: f64, k: f64) -> Option<f64> {
    if k > 1.0 {
        return ratio(x, k).map(f64::sin).map(|r| r * k);
    }
    ratio(x, k).map(|r| r * x)
}

#[differentiable]
fn mapped_results(x: f64, k: f64) -> Result<f64, String> {
    match k {
        k if k > 1.0 => logarithm(x).map(f64::sin).map(|s| s * k),
        _ => logarithm(x).and_then(|v| {
            let w = v * v;
            logarithm(w * k)
        }),
    }
}

#[differentiable]
fn squares(x: &[f64]) -> Option<Vec<f64>> {
    if x.len() < 2 {
        return None;
    }
    let squares: Vec<f64> = x.iter().map(|x| x * x).collect();
    Some(squares)
}

#[differentiable]
fn sum_of_squares(x: &[f64], k: f64) -> Option<f64> {
    squares(x).map(|v| v.iter().map(|v| v * k).sum())
}

#[derive(Clone, Debug, Differentiable)]
struct Gain {
    k: f64,
}

#[differentiable]
impl Gain {
    fn pair(&self, x: f64) -> Option<(f64, f64)> {
        if x > 0.1 { Some((x * self.k, x.sin())) } else { None }
    }

    fn product(&self, x: f64) -> Option<f64> {
        self.pair(x).map(|(a, b)| a * b * self.k)
    }
}

#[test]
fn functions_of_what_is_returned() {
    check_rule(mapped_at_the_end::rule, [(0.4, 0.3), (0.3, 0.2), (1.3, 1.2)]);
    check_rule(mapped_results::rule, [(0.4, 1.3), (-0.1, 0.2), (1.3, 0.2), (-1.9, 1.9)]);
    check_rule(sum_of_squares::rule, [(vec![0.4, 1.3], 0.3), (vec![0.1], 0.2)]);
    check_rule(Gain::product_rule, [(Gain { k: 0.4 }, 0.3), (Gain { k: 0.4 }, 0.03)]);
}

/// Elements that have to be there, looked into where they are.
#[differentiable]
fn matched_elements(rows: &[[f64; 2]], marks: &[Option<f64>], c: f64) -> f64 {
    let mut s = match *rows.last().unwrap() {
        [a, b] if a < -0.13 => c * a * b,
        [a, b] => a + b * b,
    };
    s *= 2.0
        * match rows.get(1).expect("two rows") {
            [a, _] if *a < -0.13 => c * a,
            [a, b] => a * b,
        };
    for i in 0..marks.len() {
        s += match marks.get(i).unwrap() {
            Some(a) => a * a * a,
            None => c,
        };
        if let Some(a) = marks.first().unwrap() {
            s += a * c;
        }
    }
    match *rows[0].last().unwrap() {
        a if a < -0.13 => s * a,
        a => s + a * a,
    }
}

#[test]
fn elements_that_have_to_be_there() {
    check_rule(
        matched_elements::rule,
        [
            (vec![[0.3, 0.4], [0.1, 0.7]], vec![Some(0.4), None], 0.2),
            (vec![[0.3, -0.4], [-0.5, 0.7], [-1.2, 0.4]], vec![None, Some(0.9), Some(0.4)], 0.2),
        ],
    );
}

/// What is found among constants or active values tells where to look.
#[differentiable]
fn found_places(x: &[f64], k: &[usize]) -> f64 {
    let first = x.iter().position(|&v| v > 0.15).map(|i| x[i]).unwrap_or(0.3);
    let last = x.iter().rposition(|&v| v > 0.15).map(|i| x[i] * x[0]).unwrap_or_default();
    let third = k.iter().position(|&v| v == 1).map(|i| x[i % x.len()].sin()).unwrap_or(first);
    let name = ["a", "b"].iter().rposition(|v| *v == "b").map(|i| x[i]).unwrap_or(0.3);
    let greatest = k.iter().copied().max().map(|i| x[i % x.len()]).unwrap_or(0.3);
    let least = k.iter().min().map(|&i| x[i % x.len()]).unwrap_or(0.3);
    let rounded = x.iter().map(|v| (v * 9.0) as usize).max().map(|i| x[i % x.len()]).unwrap_or(0.3);
    let square: Option<f64> = x.iter().rposition(|&v| v > 0.15).map(|i| x[i] * x[i]);
    let untold = x.iter().position(|&v| v > 0.4).map(|i| x[i] * x[1]);
    let place: Option<usize> = [3, 1, 2].iter().position(|&v| v == 1);
    let other = place.map(|i| x[i]).unwrap_or(0.3);
    first * last
        + third * name
        + greatest * least * rounded
        + square.unwrap_or(0.2) * other
        + untold.unwrap_or(0.1)
}

#[test]
fn places_that_are_found() {
    let inputs = [(vec![0.3, 0.52, 0.11], vec![2, 1]), (vec![0.7, 0.2], vec![]), (vec![0.1, 0.05], vec![5])];
    check_rule(found_places::rule, inputs);
}
