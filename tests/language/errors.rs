//! Errors, which carry no gradient: what is computed from them, and outcomes of constants that a `?` looks into.

use std::collections::HashMap;

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, PartialEq)]
enum Failure {
    Zero(usize),
    Negative { penalty: f64, text: String },
}

#[differentiable]
fn logarithm(x: f64, i: usize) -> Result<f64, Failure> {
    if x < 0.0 {
        return Err(Failure::Negative { penalty: 2.5, text: format!("at {i}") });
    }
    if x == 0.0 { Err(Failure::Zero(i)) } else { Ok(x.ln()) }
}

#[differentiable]
fn told(x: f64) -> Result<f64, String> {
    if x < 0.0 { Err("negative".to_string()) } else { Ok(x.sqrt()) }
}

/// The error is no `Copy`, and is read more than once.
#[differentiable]
fn length_of_an_error(x: &[f64]) -> f64 {
    match told(x[0]) {
        Ok(root) => root * x[1],
        Err(text) => {
            let n = text.len() as f64;
            let m = n * n;
            let mut total = 0.0;
            for i in 0..text.len().min(3) {
                total += x[1] * x[1] * m * i as f64;
            }
            if text.starts_with("neg") { x[0] * n * total } else { x[1] }
        }
    }
}

#[differentiable]
fn kinds_of_errors(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += match logarithm(x[i], i) {
            Ok(v) => v * v,
            Err(Failure::Zero(k)) => x[k - 1] * k as f64,
            Err(Failure::Negative { penalty, text }) => x[i] * x[0] * penalty * text.len() as f64,
        };
    }
    total
}

#[differentiable]
fn taken_apart_later(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        if let Err(failure) = logarithm(x[i], i) {
            match failure {
                Failure::Zero(k) => total += x[k - 1] * x[0],
                Failure::Negative { penalty, .. } => total += penalty * x[0] * x[0],
            }
        }
    }
    total
}

#[differentiable]
fn passed_over(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let v = match logarithm(x[i], i) {
            Ok(v) => v,
            Err(failure) => {
                assert!(failure != Failure::Zero(7));
                continue;
            }
        };
        total += v * x[0];
    }
    total
}

/// It has no rule.
fn number(text: &str) -> Result<f64, std::num::ParseFloatError> {
    text.parse()
}

#[differentiable]
fn constant_outcomes(x: f64, #[constant] text: &str) -> Option<f64> {
    let scale = number(text).ok()?;
    let rest = text.len().checked_sub(2)?;
    Some(x * x * scale + x * rest as f64)
}

#[differentiable]
fn constant_error(x: f64, #[constant] text: &str) -> Result<f64, String> {
    let scale = number(text).map_err(|error| error.to_string())?;
    Ok(x * x * scale)
}

#[differentiable]
fn both(x: f64) -> f64 {
    let known = constant_outcomes(x, "3.5").unwrap_or(x);
    let too_short = constant_outcomes(x, "4").unwrap_or(x * x);
    let unknown = constant_outcomes(x, "many").unwrap_or(2.0 * x);
    let failed = match constant_error(x, "") {
        Ok(y) => y,
        Err(text) => x * text.len() as f64,
    };
    known * too_short * unknown + failed * constant_error(x, "0.5").unwrap_or(0.0)
}

#[test]
fn errors() {
    check_rule(length_of_an_error::rule, [(vec![0.3, 0.4],), (vec![-0.5, 0.6, 0.7],)]);
    let inputs = || [(vec![0.3, 0.4],), (vec![-0.5, 0.6, 0.7],), (vec![0.7, -0.6, -0.2],)];
    check_rule(kinds_of_errors::rule, inputs());
    check_rule(taken_apart_later::rule, inputs());
    check_rule(passed_over::rule, inputs());
    check_rule(both::rule, [(0.3,), (0.7,)]);
}

fn parsed(text: &str) -> Result<Vec<f64>, std::num::ParseFloatError> {
    text.split(',').map(str::parse).collect()
}

fn some(n: usize) -> Option<Vec<f64>> {
    (n > 1).then(|| vec![0.5; n])
}

/// Vectors of constants that a `?` or a `match` has let through, read in loops.
#[differentiable]
fn polynomial(coefficients: &str, x: f64) -> Result<f64, std::num::ParseFloatError> {
    let coefficients = parsed(coefficients)?;
    let mut y = 0.0;
    for c in coefficients.iter() {
        y = y * x + c * y.sin() + c;
    }
    Ok(y)
}

#[differentiable]
fn weighed(n: usize, x: f64) -> Option<f64> {
    let mut y = x;
    for i in 2..n {
        let weights = some(i)?;
        for w in &weights {
            y += w * y.sin();
        }
    }
    let last = match some(n) {
        Some(found) => found,
        None => return None,
    };
    for w in last.iter() {
        y *= x + w;
    }
    Some(y)
}

#[test]
fn vectors_of_constants() {
    check_rule(polynomial::rule, [("0.5,-0.3".to_string(), 0.6), ("0.2,x".to_string(), 0.4)]);
    check_rule(weighed::rule, [(4, 0.6), (1, 0.4)]);
}

#[derive(Clone, Debug, Differentiable)]
struct Settings {
    steps: usize,
    name: String,
    factor: f64,
    weights: Vec<f64>,
}

/// The errors tell what stands beside numbers with gradients.
#[differentiable]
impl Settings {
    fn run(&self, x: f64) -> Result<f64, Failure> {
        let mut x = x;
        for i in 0..self.steps {
            x *= self.factor;
            if x > 20.0 {
                return Err(Failure::Zero(x as usize));
            }
            if x > 10.0 {
                return Err(Failure::Negative { penalty: 0.5, text: format!("{} at {i}", self.name) });
            }
            x *= self.weights.get(i).ok_or(Failure::Zero(self.steps))?;
        }
        if x > 0.5 { Ok(x) } else { Err(Failure::Zero(self.steps + self.weights.len())) }
    }

    fn weighted(&self, x: f64) -> Result<Vec<f64>, Failure> {
        let once = self.run(x).ok().ok_or(Failure::Zero(self.steps))?;
        let twice = self.run(x).map_err(|_| Failure::Zero(self.steps))?;
        if once > 2.0 {
            return Err(Failure::Negative { penalty: 1.0, text: self.name.clone() });
        }
        Ok(self.weights.iter().map(|w| w * once * twice).collect())
    }
}

#[test]
fn parts_of_something_active() {
    let settings =
        |steps, factor| Settings { steps, name: "walk".into(), factor, weights: vec![0.75, 0.5, 1.5] };
    let inputs = [(settings(2, 0.75), 4.0), (settings(3, 1.25), 0.5), (settings(4, 1.25), 4.0)];
    check_rule(Settings::run_rule, inputs);
    check_rule(Settings::run_rule, [(settings(2, 0.75), 20.0), (settings(2, 0.75), 40.0)]);
    check_rule(Settings::weighted_rule, [(settings(2, 0.75), 4.0), (settings(3, 1.25), 0.5)]);
    check_rule(Settings::weighted_rule, [(settings(1, 0.75), 5.0), (settings(4, 1.25), 4.0)]);
}

/// What may be missing, beside an error: as what a function returns, under a name, and where it is taken apart.
#[differentiable]
fn largest_square(x: &[f64]) -> Result<f64, Failure> {
    x.iter().map(|x| x * x).max_by(|a, b| a.total_cmp(b)).ok_or(Failure::Zero(x.len()))
}

#[differentiable]
fn last_if_positive(x: &[f64]) -> Result<f64, Failure> {
    x.last()
        .copied()
        .filter(|x| *x > 0.0)
        .ok_or_else(|| Failure::Negative { penalty: 1.0, text: format!("{}", x.len()) })
}

#[differentiable]
fn pushed_last(x: &[f64]) -> Result<f64, Failure> {
    let mut sums = Vec::new();
    let mut sum = 0.0;
    for x in x {
        sum += x * x;
        sums.push(sum);
    }
    sums.last().copied().ok_or(Failure::Zero(0)).map(|sum| sum.sqrt())
}

#[differentiable]
fn beside_errors(x: &[f64]) -> f64 {
    let first = x.first().map(|x| x.sin()).ok_or(Failure::Zero(1));
    let largest = match x.iter().copied().reduce(f64::max).ok_or(x.len()) {
        Ok(largest) => largest * x[0],
        Err(n) => n as f64,
    };
    let last = if let Ok(last) = x.last().copied().ok_or(x.len() + 1) { last } else { 2.0 };
    largest * last + if let Ok(first) = first { first } else { 0.25 }
}

#[differentiable]
fn next_to_last(x: &[f64]) -> Result<f64, Failure> {
    let last = x
        .last()
        .copied()
        .ok_or(Failure::Zero(0))
        .and_then(|x| if x > 0.5 { Ok(x.ln()) } else { logarithm(x, 1) });
    Ok(last? * x[0])
}

/// What is looked up by a name, if it is there: copies of what references lead to.
#[differentiable]
fn looked_up(x: &[f64], text: &str) -> Result<f64, String> {
    let places: HashMap<&str, usize> = [("first", 0), ("second", 1)].into();
    let mut total = 0.5;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let &i = places.get(word).ok_or_else(|| format!("no {word}"))?;
        total = total * x[i] + x[0];
    }
    let i = *places.get("second").ok_or("no second".to_string())?;
    let j = places.get("first").ok_or_else(|| "no first".to_string())?;
    Ok(total * x[i] * x[*j])
}

#[test]
fn places_by_their_names() {
    let texts = ["second first", "", "first third second"].map(String::from);
    check_rule(looked_up::rule, texts.map(|text| (vec![0.75, 1.25], text)));
}

#[test]
fn missing_items() {
    check_rule(largest_square::rule, [(vec![0.5, -2.0],), (vec![],)]);
    check_rule(last_if_positive::rule, [(vec![0.5, -2.0],), (vec![0.5, -2.0, 1.5],), (vec![],)]);
    check_rule(pushed_last::rule, [(vec![0.5, -2.0],), (vec![0.5],), (vec![],)]);
    check_rule(beside_errors::rule, [(vec![0.5, -2.0],), (vec![0.5, -2.0, 1.5],), (vec![],)]);
    check_rule(next_to_last::rule, [(vec![0.5, 2.0],), (vec![0.5, 1.5, 0.25],), (vec![-0.5],), (vec![],)]);
}
