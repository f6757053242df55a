//! Chains whose items are an `Option` or a `Result` each, gathered into one.

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn log(x: f64) -> Result<f64, String> {
    if x <= 0.0 { Err(format!("log of {x}")) } else { Ok(x.ln()) }
}

#[differentiable]
fn root(x: f64) -> Option<f64> {
    if x < 0.0 { None } else { Some(x.sqrt()) }
}

#[differentiable]
fn row(x: f64) -> Option<Vec<f64>> {
    if x <= 0.0 { None } else { Some(vec![x.ln(), x * x]) }
}

#[differentiable]
fn logs(x: &[f64]) -> Result<Vec<f64>, String> {
    x.iter().map(|&v| log(v)).collect()
}

#[differentiable]
fn rows(x: &[f64]) -> Option<Vec<Vec<f64>>> {
    x.iter().map(|v| row(*v)).collect()
}

#[differentiable]
fn pushed(x: &[f64]) -> Result<Vec<f64>, String> {
    let mut out = Vec::new();
    for &v in x {
        out.push(log(v)?);
    }
    Ok(out)
}

/// At several ends of the function.
#[differentiable]
fn roots(x: &[f64]) -> Option<Vec<f64>> {
    if x[0] > 0.4 {
        return x.iter().map(|v| if *v > 0.0 { Some(v.sqrt()) } else { None }).collect();
    }
    match x.len() {
        2 => x.iter().map(|v| Some(v * v)).collect(),
        _ => None,
    }
}

#[differentiable]
fn returned(x: &[f64]) -> f64 {
    let there = match logs(x) {
        Ok(v) => v[0] * v[1],
        Err(_) => -1.0,
    };
    let item = if let Ok(v) = pushed(x) { v[1] * there } else { x[0] };
    let whole = if let Some(v) = roots(x) { v[0] * v[1] } else { x[1] };
    let how = if let Some(v) = rows(x) { v[0][0] * v[1][1] } else { x[0] * x[1] };
    there * item + whole * how
}

#[differentiable]
fn tried(x: &[f64], k: f64) -> Result<f64, String> {
    let v = x.iter().map(|&v| log(v * k)).collect::<Result<Vec<_>, _>>()?;
    let w: Vec<f64> = x.iter().map(|&v| log(v + k)).collect::<Result<_, _>>()?;
    let sum = x.iter().map(|&v| log(v)).sum::<Result<f64, _>>()?;
    Ok(v[0] * w[1] * sum)
}

#[differentiable]
fn totals(x: &[f64]) -> Option<f64> {
    x.iter().rev().map(|v| root(*v)).product()
}

#[differentiable]
fn leaving(x: &[f64], k: f64) -> f64 {
    tried(x, k).unwrap_or(k) + totals(x).unwrap_or(x[0])
}

#[differentiable]
fn stepped(x: &[f64]) -> Result<f64, usize> {
    let v = x.iter().map(|&v| log(v)).collect::<Result<Vec<_>, _>>().map_err(|e| e.len())?;
    let mut t = 0.0;
    for i in 0..2 {
        let w: Option<Vec<f64>> = v.iter().map(|v| log(*v + i as f64 + 3.0).ok()).collect();
        let w = w.ok_or(3_usize)?;
        t += w[0] * w[1];
    }
    let last = x.iter().map(|v| root(*v)).collect::<Option<Vec<f64>>>().unwrap();
    Ok(t * v[1] * last[0])
}

#[differentiable]
fn in_steps(x: &[f64]) -> f64 {
    stepped(x).unwrap_or(2.0)
}

#[differentiable]
fn matched(x: &[f64]) -> f64 {
    let r: Result<Vec<f64>, String> = x.iter().map(|&v| log(v)).collect();
    match r {
        Ok(v) if v.len() > 2 => {
            assert!(v.len() > 2, "{v:?}");
            v[0] * v[2]
        }
        Ok(v) => v[0] * v[1],
        Err(_) => -x[0],
    }
}

#[differentiable]
fn changed(x: &[f64]) -> f64 {
    if let Ok(mut v) = x.iter().map(|&v| log(v)).collect::<Result<Vec<_>, _>>() {
        v[0] *= x[1];
        v.push(x[0]);
        v[0] * v[1] + v[2]
    } else {
        -1.0
    }
}

#[differentiable]
fn otherwise(x: &[f64]) -> f64 {
    let Ok(v) = x.iter().map(|&v| log(v)).collect::<Result<Vec<_>, _>>() else { return x[0] };
    v[0] * v[1]
}

#[differentiable]
fn of_numbers(x: &[f64]) -> f64 {
    let r: Result<f64, String> = x.iter().map(|&v| log(v)).sum();
    let sum = match r {
        Ok(sum) => sum * sum,
        Err(_) => x[0],
    };
    let Some(product) = x.iter().map(|v| root(*v)).product::<Option<f64>>() else { return x[1] };
    let or = x.iter().map(|v| root(*v)).sum::<Option<f64>>().unwrap_or(sum);
    sum * product * or
}

/// The first that is not there ends it: later items are not looked at.
#[differentiable]
fn up_to(x: &[f64], limit: usize) -> f64 {
    let roots = x.iter().enumerate().map(|(i, v)| {
        assert!(i <= limit);
        root(*v)
    });
    let v: Option<Vec<f64>> = roots.collect();
    match v {
        Some(v) => v[0] * v[1],
        None => x[0],
    }
}

#[differentiable]
fn single(x: &[f32]) -> Option<f32> {
    let v: Vec<_> = x.iter().map(|&v| if v > 0.0 { Some(v * v) } else { None }).collect::<Option<_>>()?;
    Some(v[0] * v[1])
}

#[differentiable]
fn of_single(x: &[f32]) -> f32 {
    single(x).unwrap_or(x[0])
}

#[differentiable]
fn generic<T: Float>(x: &[T]) -> Option<T> {
    let v = x.iter().map(|&v| if v > T::zero() { Some(v * v) } else { None }).collect::<Option<Vec<T>>>()?;
    Some(v[0] * v[1])
}

#[differentiable]
fn of_any(x: &[f64]) -> f64 {
    generic::<f64>(x).unwrap_or(x[0])
}

fn inputs() -> [(Vec<f64>,); 3] {
    [(vec![0.3, 0.4],), (vec![0.5, 0.6, 0.7],), (vec![0.5, 0.6, 0.7, -0.2],)]
}

#[test]
fn returned_or_left() {
    check_rule(returned::rule, inputs());
    check_rule(leaving::rule, inputs().map(|(x,)| (x, 0.7)));
}

#[test]
fn looked_into() {
    check_rule(in_steps::rule, [(vec![0.3, 0.4],), (vec![0.5, 0.6, 0.7],)]);
    check_rule(matched::rule, inputs());
    check_rule(changed::rule, inputs());
    check_rule(otherwise::rule, inputs());
    check_rule(of_numbers::rule, inputs());
    check_rule(of_any::rule, inputs());
    check_rule(of_single::rule, [(vec![0.3, 0.4],), (vec![0.5, -0.6],)]);
}

#[test]
fn ends_at_the_first() {
    check_rule(up_to::rule, [(vec![0.3, 0.4, 0.5], 2), (vec![0.5, -0.6, 0.7], 1)]);
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Line {
    slope: f64,
    height: f64,
}

#[differentiable]
impl Line {
    fn meets(&self, other: &Line) -> Option<f64> {
        let slope = self.slope - other.slope;
        if slope.abs() < 0.1 { None } else { Some((other.height - self.height) / slope) }
    }
}

/// What is not there is left out.
#[differentiable]
fn left_out(x: &[f64], k: f64) -> f64 {
    let roots: Vec<f64> = x.iter().filter_map(|&v| positive_root(v - k)).collect();
    let line = Line { slope: k, height: x[0] };
    let lines: Vec<Line> = x.iter().map(|v| Line { slope: *v, height: v * v }).collect();
    let met: f64 = lines.iter().filter_map(|other| line.meets(other)).sum();
    let by_name: f64 = x.iter().copied().filter_map(positive_root).sum();
    let scaled = x.iter().filter_map(|v| positive_root(*v).map(|r| r * k)).fold(0.0, |a, b| a + b * b);
    roots.iter().map(|v| v * v).sum::<f64>() * by_name + met + scaled
}

/// By closures that end in several ways.
#[differentiable]
fn left_out_in_several_ways(x: &[f64], k: f64) -> f64 {
    let a: f64 = x.iter().filter_map(|&v| if v > 1.5 { positive_root(v) } else { positive_root(k) }).sum();
    let b: f64 = x
        .iter()
        .filter_map(|&v| {
            let r = positive_root(v - k)?;
            Some(r * r * v)
        })
        .sum();
    let c: f64 = x
        .iter()
        .filter_map(|&v| match positive_root(v) {
            Some(r) if r > 0.5 => Some(r * k),
            _ => None,
        })
        .sum();
    let d: f64 = x
        .iter()
        .enumerate()
        .filter_map(|(i, &v)| {
            if i == 1 {
                return None;
            }
            positive_root(v * k)
        })
        .sum();
    a * b + c * d
}

#[differentiable]
fn positive_root(x: f64) -> Option<f64> {
    if x > 0.0 { Some(x.sqrt()) } else { None }
}

/// With more stages before and behind.
#[differentiable]
fn left_out_on_the_way(x: &[f64], y: &[f64], k: f64) -> f64 {
    let pairs: Vec<(usize, f64)> = x
        .iter()
        .zip(y)
        .enumerate()
        .filter_map(|(i, (a, b))| {
            let root = positive_root(a * b)?;
            if i % 2 == 0 {
                Some((i, root * k))
            } else {
                match positive_root(*a) {
                    Some(other) => Some((i, other + k)),
                    None => None,
                }
            }
        })
        .collect();
    let mut total = 0.0;
    for (i, v) in &pairs {
        total += *i as f64 * v * v;
    }
    let most = x
        .iter()
        .filter_map(|v| positive_root(*v))
        .filter(|r| *r > 0.6)
        .map(|r| r * k)
        .fold(0.0, |m: f64, v| m.max(v));
    let few = x.iter().filter_map(|v| positive_root(*v)).take(2).map(|r| r * r).sum::<f64>();
    let later = y.windows(2).filter_map(|p| positive_root(p[1] - p[0])).skip(1).sum::<f64>();
    total + most * few + later
}

#[test]
fn items_that_are_left_out() {
    check_rule(
        left_out_on_the_way::rule,
        [(vec![0.5, 1.4, 1.45], vec![1.0, 2.0, 2.5], 1.1), (vec![0.5, -1.4, 9.0], vec![0.3, -0.2, 2.0], 0.4)],
    );
    let inputs = [(vec![1.0, 0.5], 0.7), (vec![1.1, 0.5, 2.0, -0.3], 0.31), (vec![-0.2], 0.4)];
    check_rule(left_out::rule, inputs.clone());
    check_rule(left_out_in_several_ways::rule, inputs);
}

#[differentiable]
fn projected(x: f64, y: f64) -> Option<[f64; 2]> {
    if y < 0.1 { None } else { Some([x / y, x * y]) }
}

/// Parts of what a `?` looks into have names, at several places.
#[differentiable]
fn taken_apart(x: &[f64], y: f64) -> Option<f64> {
    let mut total = 0.0;
    for v in x {
        let [a, b] = projected(*v, y)?;
        let [c, ..] = if a > 1.0 { projected(b, a)? } else { [b, a] };
        total += a * c
            + match projected(c, y)? {
                [d, e] => d - total * e,
            };
    }
    Some(total)
}

#[test]
fn parts_of_what_is_there() {
    check_rule(
        taken_apart::rule,
        [(vec![0.3, 1.4], 0.7), (vec![0.9, 0.2, 1.7], 0.5), (vec![0.3], 0.02), (vec![1.2, -0.3], 0.4)],
    );
}

/// `?` in a closure whose items are gathered: the type of the whole tells what the closure returns.
#[test]
fn tried_in_closures() {
    #[differentiable]
    fn halved(x: f64) -> Option<f64> {
        if x > 0.2 { Some(0.5 * x) } else { None }
    }
    #[differentiable]
    fn logs(x: &[f64], k: f64) -> Result<Vec<f64>, String> {
        x.iter().map(|v| log(log(*v)? * k)).collect()
    }
    #[differentiable]
    fn both(x: &[f64], k: f64) -> Option<f64> {
        let halves = x.iter().map(|v| halved(halved(*v)? * k)).collect::<Option<Vec<_>>>()?;
        let sum = x.iter().map(|v| halved(halved(v * k)?)).sum::<Option<f64>>().unwrap_or(k);
        Some(halves.iter().sum::<f64>() * sum)
    }
    check_rule(logs::rule, [(vec![3.3, 2.7], 2.5), (vec![4.9, 0.8, 3.5], 1.3), (vec![-0.1], 0.4)]);
    check_rule(both::rule, [(vec![0.7, 0.9], 2.5), (vec![0.9, 1.8, 0.5], 1.3), (vec![0.1], 0.4)]);
}

/// Parts of parts that are there.
#[test]
fn parts_of_parts() {
    #[differentiable]
    fn entry(x: &[Vec<f64>], i: usize, j: usize) -> Option<f64> {
        x.get(i)?.get(j).copied()
    }
    #[differentiable]
    fn entries(x: &[Vec<f64>], i: usize, j: usize) -> Option<f64> {
        let product = x.get(i)?.first()? * x.first()?.get(j)?;
        let sum = x.get(i)?.iter().sum::<f64>();
        Some(product * sum)
    }
    let x = vec![vec![0.3, 0.6, 0.8], vec![1.2, 0.4]];
    check_rule(entry::rule, [(x.clone(), 1, 1), (x.clone(), 0, 5), (x.clone(), 2, 0)]);
    check_rule(entries::rule, [(x.clone(), 1, 1), (x, 5, 1)]);
}
