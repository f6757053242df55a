//! `f(x).map(g)` of an `Option` or a `Result`, where what is done with it tells which of them it is.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[derive(Clone, Copy, Debug, Differentiable)]
struct Point {
    x: f64,
    y: f64,
}

#[differentiable]
fn hit(x: f64, slope: f64) -> Option<Point> {
    if x > 5.0 { None } else { Some(Point { x, y: x * slope }) }
}

#[differentiable]
fn root(x: f64) -> Result<f64, String> {
    if x > 5.0 { Err(format!("{x} is too far")) } else { Ok(x.sqrt()) }
}

#[differentiable]
fn tripled(x: f64) -> f64 {
    x * 3.0
}

#[differentiable]
fn under_names(x: f64, slope: f64) -> f64 {
    let first = root(x).map(|v| v * slope);
    let second = root(slope).map(tripled).map(|v| v + x);
    let third = root(x).map(|v| v * v);
    let height = hit(x, slope).map(|p| p.y);
    let mut total = match first {
        Ok(v) => v,
        Err(e) => slope * e.len() as f64,
    };
    total += second.unwrap_or(0.4) * x;
    if let Some(height) = height {
        total *= height;
    }
    for i in 0..2 {
        let ends = hit(x * i as f64, slope).map(|p| (p.x, p.y * slope));
        if let Some((x, y)) = ends { total += x * y } else { total *= slope }
    }
    let Ok(third) = third else { return total };
    total * third
}

#[test]
fn names_are_taken_apart() {
    check_rule(under_names::rule, [(0.3, 0.4), (7.0, 0.5)]);
    check_rule(under_names::rule, [(0.3, 6.4), (7.0, 5.5)]);
}

#[differentiable]
fn sum_of_items(x: &[f64], k: f64) -> Result<f64, String> {
    x.iter().map(|&x| root(x).map(|r| r * k / x)).sum()
}

#[differentiable]
fn list_of_items(x: &[f64], k: f64) -> Result<Vec<f64>, String> {
    x.iter().map(|&x| root(x).map(|r| r * k)).collect()
}

#[differentiable]
fn list_of_optional_items(x: &[f64], k: f64) -> Option<Vec<f64>> {
    x.iter().map(|&x| root(x).ok().map(|r| k / (r * x))).collect()
}

#[test]
fn items_of_chains_are_what_the_whole_is() {
    check_rule(sum_of_items::rule, [(vec![0.3, 0.4], 0.5), (vec![0.3, 7.0], 0.5)]);
    check_rule(list_of_items::rule, [(vec![0.3, 0.4, 0.7], 0.5), (vec![0.3, 7.0], 0.5)]);
    check_rule(list_of_optional_items::rule, [(vec![0.3, 0.4], 0.5), (vec![0.3, 7.0], 0.5)]);
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Quote {
    bid: Option<f64>,
    ask: Option<f64>,
    depth: f64,
}

#[differentiable]
impl Quote {
    fn spread(&self) -> Option<f64> {
        Some(self.ask? - self.bid?)
    }
    fn penalty(&self) -> f64 {
        let depth = self.depth;
        self.spread()
            .filter(|s| *s > 0.0)
            .and_then(|s| if depth > 0.0 { Some(s / depth) } else { None })
            .map_or(0.1, |s| s.sqrt())
    }
}

#[test]
fn results_of_methods_are_filtered() {
    let quote = |bid, ask| Quote { bid, ask, depth: 0.6 };
    check_rule(Quote::penalty_rule, [(quote(Some(1.0), Some(1.3)),), (quote(None, Some(1.3)),)]);
    check_rule(Quote::penalty_rule, [(quote(Some(1.4), Some(1.3)),), (quote(Some(0.7), Some(1.3)),)]);
}

#[differentiable]
fn height_or_zero(x: f64, slope: f64) -> f64 {
    if let Some(height) = hit(x, slope).map(|p| p.y.sin()) { height * x } else { 0.0 }
}

#[differentiable]
fn root_or_square(x: f64) -> f64 {
    match root(x).map(|r| r * r).map(f64::cos) {
        Ok(root) => root * x,
        Err(_) => x * x,
    }
}

#[differentiable]
fn until_it_misses(mut x: f64, slope: f64) -> f64 {
    while let Some(height) = hit(x, slope).map(|p| p.y + 0.1) {
        x += height;
    }
    x
}

#[test]
fn patterns_tell_what_is_mapped() {
    check_rule(height_or_zero::rule, [(0.7, 1.2), (5.3, 0.4)]);
    check_rule(root_or_square::rule, [(0.7,), (5.3,)]);
    check_rule(until_it_misses::rule, [(0.7, 1.2), (5.3, 0.4)]);
}
