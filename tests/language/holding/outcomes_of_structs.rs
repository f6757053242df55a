//! Structs that own memory, in an `Option` or a `Result`, and returned out of loops: they need no `Default`.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// With a field that knows no default but that of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Scale {
    factor: f64,
    offset: f64,
}

#[derive(Clone, Debug, Differentiable)]
struct Matrix {
    data: Vec<f64>,
    n: usize,
    scale: Scale,
    name: String,
}

#[differentiable]
fn made(x: &[f64], k: f64) -> Matrix {
    let scale = Scale { factor: k, offset: 0.5 * k };
    Matrix { data: x.to_vec(), n: x.len(), scale, name: String::new() }
}

#[differentiable]
fn inverse(m: &Matrix, floor: f64) -> Option<Matrix> {
    if m.data[0].abs() < floor {
        return None;
    }
    let mut data = m.data.clone();
    for v in data.iter_mut() {
        *v = m.scale.factor / *v;
    }
    Some(Matrix { data, n: m.n, scale: m.scale, name: String::new() })
}

/// There are three ways out, one of them out of a loop.
#[differentiable]
fn rooted(m: &Matrix, floor: f64) -> Result<Matrix, String> {
    if m.data[0].abs() < floor {
        return Err(format!("singular: {}", m.name));
    }
    if m.data[0] > 9.0 {
        return Ok(made(&m.data, m.data[0]));
    }
    let mut out = m.clone();
    for i in 0..m.n {
        if m.data[i] > 10.0 {
            let data = vec![m.data[i] * m.scale.factor; m.n];
            return Ok(Matrix { data, n: m.n, scale: m.scale, name: String::new() });
        }
        out.data[i] = (m.scale.offset + m.data[i]).sqrt();
    }
    Ok(out)
}

#[differentiable]
fn matched(x: &[f64], k: f64, floor: f64) -> f64 {
    let m = made(x, k);
    match inverse(&m, floor) {
        Some(inverse) => inverse.data.iter().sum::<f64>() * inverse.scale.offset,
        None => x[0] * k,
    }
}

#[differentiable]
fn tried(x: &[f64], k: f64, floor: f64) -> Result<f64, String> {
    let m = made(x, k);
    let roots = rooted(&m, floor)?;
    let mut total = roots.scale.factor;
    for i in 0..roots.n {
        total += roots.data[i] * x[i] * x[i];
    }
    Ok(total)
}

#[differentiable]
fn otherwise(x: &[f64], k: f64, floor: f64) -> f64 {
    let m = made(x, k);
    let Some(inverse) = inverse(&m, floor) else { return k };
    let Ok(roots) = rooted(&inverse, floor) else { return k * k };
    if let Some(again) = inverse_of(&roots) {
        return again.data[0] * again.data[again.n - 1];
    }
    roots.data.iter().zip(&inverse.data).map(|(a, b)| a * b).sum()
}

/// Handed on as it is.
#[differentiable]
fn inverse_of(m: &Matrix) -> Option<Matrix> {
    inverse(m, 0.8)
}

#[test]
fn looked_into() {
    let inputs = [
        (vec![1.0, 2.0], 0.7, 0.5),
        (vec![0.1, 2.0], 0.7, 0.5),
        (vec![1.0, 12.0, 3.0], 1.3, 0.1),
        (vec![0.3], 0.2, 0.1),
        (vec![9.5, 1.0], 0.2, 0.1),
    ];
    check_rule(matched::rule, inputs.clone());
    check_rule(tried::rule, inputs.clone());
    check_rule(otherwise::rule, inputs);
}

#[derive(Clone, Debug, Differentiable)]
struct Path {
    points: Vec<f64>,
    length: f64,
    steps: usize,
}

#[differentiable]
impl Path {
    fn walk(start: f64, k: f64, limit: f64) -> Path {
        let mut path = Path { points: vec![start], length: 0.0, steps: 0 };
        let mut x = start;
        loop {
            let next = x * k + 0.1;
            path.length += (next - x).abs();
            path.points.push(next);
            path.steps += 1;
            if path.length > limit {
                return path;
            }
            x = next;
            if path.steps > 5 {
                break;
            }
        }
        path.length *= 2.0;
        path
    }

    fn until(&self, limit: f64) -> Self {
        for (i, p) in self.points.iter().enumerate() {
            if *p > limit {
                return Self { points: self.points[..i].to_vec(), length: p * limit, steps: i };
            }
        }
        Self { points: self.points.clone(), length: self.length, steps: self.steps }
    }
}

#[differentiable]
fn walked(start: f64, k: f64, limit: f64) -> f64 {
    let path = Path::walk(start, k, limit);
    let before = path.until(0.9 * start);
    let mut total = path.length * before.length;
    for p in &path.points {
        total += p * p;
    }
    total + before.points.iter().map(|p| p * k).sum::<f64>()
}

#[derive(Clone, Debug, Differentiable)]
struct State {
    x: Vec<f64>,
    p: Vec<f64>,
}

/// With a vector that is made before the loop.
#[differentiable]
fn crossed(x: &[f64]) -> State {
    let p = x.to_vec();
    for i in 0..x.len() {
        if x[i] > 1.0 {
            return State { x: vec![x[i]], p };
        }
    }
    State { x: x.to_vec(), p }
}

#[differentiable]
fn of_crossed(x: &[f64]) -> f64 {
    let s = crossed(x);
    let mut total = 0.0;
    for p in &s.p {
        total += p * p * s.x[0];
    }
    total
}

#[test]
fn returned_out_of_loops() {
    check_rule(of_crossed::rule, [(vec![0.4, 0.9],), (vec![1.3, 0.2],), (vec![0.5, 1.8, 0.1],)]);
    check_rule(walked::rule, [(1.0, 0.5, 0.3), (1.0, 0.5, 10.0), (0.4, 1.5, 1.0)]);
}

/// Looked into by methods alone.
#[derive(Clone, Debug, Differentiable)]
struct Curve {
    times: Vec<f64>,
    factors: Vec<f64>,
}

#[differentiable]
impl Curve {
    fn bootstrapped(times: &[f64], rates: &[f64]) -> Option<Curve> {
        let mut curve = Curve { times: Vec::new(), factors: Vec::new() };
        let mut annuity = 0.0;
        for i in 0..times.len() {
            let dt = if i == 0 { times[0] } else { times[i] - times[i - 1] };
            let factor = (1.0 - rates[i] * annuity) / (1.0 + rates[i] * dt);
            if factor <= 0.0 {
                return None;
            }
            annuity += factor * dt;
            curve.times.push(times[i]);
            curve.factors.push(factor);
        }
        Some(curve)
    }

    fn at(&self, t: f64) -> f64 {
        for i in 0..self.times.len() {
            if t <= self.times[i] {
                let (start, before) =
                    if i == 0 { (0.0, 1.0) } else { (self.times[i - 1], self.factors[i - 1]) };
                let w = (t - start) / (self.times[i] - start);
                return (before.ln() * (1.0 - w) + self.factors[i].ln() * w).exp();
            }
        }
        self.factors[self.factors.len() - 1]
    }

    fn shifted(&mut self, by: f64) {
        for factor in self.factors.iter_mut() {
            *factor *= 1.0 - by;
        }
    }
}

#[differentiable]
fn price(rates: &[f64], k: f64) -> f64 {
    let times = [1.0, 2.0, 3.0];
    let curve = match Curve::bootstrapped(&times, rates) {
        Some(curve) => curve,
        None => return k,
    };
    curve.at(0.4) * k + curve.at(2.5) + curve.at(9.0) * k * k
}

#[differentiable]
fn shifted_price(rates: &[f64], k: f64) -> Option<f64> {
    let times = [1.0, 2.5, 4.0];
    let mut curve = Curve::bootstrapped(&times[..2], rates)?;
    curve.shifted(k);
    Some(curve.at(1.7) * k)
}

#[test]
fn looked_into_by_methods() {
    let inputs = [(vec![0.02, 0.025, 0.03], 1.1), (vec![0.02, 3.0, 0.03], 1.1)];
    check_rule(price::rule, inputs.clone());
    check_rule(shifted_price::rule, inputs);
}

#[differentiable]
fn extended(path: &Path, step: f64, limit: f64) -> Option<Path> {
    let last = path.points[path.points.len() - 1];
    let next = last * 0.9 + step;
    if next > limit {
        return None;
    }
    let mut points = path.points.clone();
    points.push(next);
    Some(Path { points, length: path.length + (next - last) * (next - last), steps: path.steps + 1 })
}

/// In the place of what was there before, where there is one.
#[differentiable]
fn searched(start: f64, steps: &[f64], limit: f64) -> f64 {
    let mut path = Path { points: vec![start], length: 0.0, steps: 0 };
    let mut missed = 0.0;
    for step in steps {
        match extended(&path, *step, limit) {
            Some(next) => path = next,
            None => missed += step * step * path.length,
        }
    }
    path.length + missed + path.points.iter().map(|p| p * start).sum::<f64>()
}

#[differentiable]
fn shrunk(path: &Path, k: f64) -> Option<Path> {
    if path.length > 3.0 {
        return None;
    }
    let points: Vec<f64> = path.points.iter().map(|p| p * k + 0.1).collect();
    let length = path.length + points.iter().sum::<f64>();
    Some(Path { points, length, steps: path.steps })
}

#[differentiable]
fn for_as_long_as_there_is_one(x: &[f64], k: f64) -> f64 {
    let mut path = Path { points: x.to_vec(), length: 0.0, steps: 0 };
    while let Some(next) = shrunk(&path, k) {
        path = next;
    }
    path.length * path.points[0]
}

#[test]
fn one_after_another() {
    check_rule(
        searched::rule,
        [(0.5, vec![0.1, 0.9, 0.2, 0.7], 1.0), (0.2, vec![0.3], 2.0), (0.2, vec![1.5, 0.4], 1.0)],
    );
    check_rule(for_as_long_as_there_is_one::rule, [(vec![0.5, 0.4], 1.1), (vec![0.9], 1.3)]);
}
