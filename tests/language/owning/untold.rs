//! What calls return, of which nothing tells the type: handed on by value, and looked into under a name.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn squares(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| x * x).collect()
}

#[differentiable]
fn scaled(x: Vec<f64>, k: f64) -> Vec<f64> {
    x.iter().map(|x| x.sin() * k).collect()
}

#[differentiable]
fn total(x: Vec<f64>) -> f64 {
    x.iter().map(|x| x.sin()).sum()
}

#[differentiable]
fn twice(x: f64) -> f64 {
    2.0 * x * x
}

#[differentiable]
fn of_slice(x: &[f64]) -> f64 {
    x[0] * x[1]
}

#[differentiable]
fn optional(x: &[f64]) -> Option<Vec<f64>> {
    if x[0] > 1.0 { None } else { Some(squares(x)) }
}

#[differentiable]
fn fallible(x: &[f64]) -> Result<Vec<f64>, String> {
    if x[0] > 1.0 {
        return Err(format!("{}", x.len()));
    }
    Ok(squares(x))
}

/// The same names for numbers and for vectors.
#[differentiable]
fn bound(x: &[f64], k: f64) -> f64 {
    let y = squares(x);
    let z = scaled(y, k);
    let a = twice(k);
    let b = twice(a);
    total(z) + twice(b)
}

#[differentiable]
fn nested(x: &[f64], k: f64) -> f64 {
    total(scaled(scaled(squares(x), twice(k)), x[1])) * twice(twice(k))
}

#[differentiable]
fn carried(x: &[f64], k: f64) -> f64 {
    let mut y = squares(x);
    for i in 0..3 {
        y = scaled(y, k + i as f64);
    }
    total(y)
}

#[differentiable]
fn chosen(x: &[f64], k: f64) -> f64 {
    let y = if k > 0.0 { squares(x) } else { scaled(squares(x), k) };
    total(y)
}

#[differentiable]
fn through(x: &[f64], k: f64) -> Option<f64> {
    let y = optional(x)?;
    let z = scaled(optional(x)?, k);
    Some(total(z) * total(y))
}

#[differentiable]
fn looked_into(x: &[f64], k: f64) -> f64 {
    let r = fallible(x);
    match r {
        Ok(y) => y[0] * y[1] * k,
        Err(text) => k * text.len() as f64,
    }
}

#[differentiable]
fn only_if(x: &[f64], k: f64) -> f64 {
    let r = optional(x);
    if let Some(y) = r { total(y) * k } else { k }
}

#[differentiable]
fn or_else(x: &[f64], k: f64) -> f64 {
    let r = optional(x);
    let Some(y) = r else { return k };
    total(y) * k
}

#[differentiable]
fn by_reference(x: &[f64], k: f64) -> f64 {
    let r = optional(x);
    let there = if r.is_some() { k } else { 2.0 * k };
    let inside = match &r {
        Some(y) => of_slice(y),
        None => k,
    };
    there * inside
}

#[differentiable]
fn asked_first(x: &[f64], k: f64) -> f64 {
    let r = fallible(x);
    if r.is_err() {
        return k;
    }
    let y = r.unwrap();
    y[0] * k
}

#[differentiable]
fn replaced(x: &[f64], k: f64) -> f64 {
    let y = optional(x).unwrap_or_else(|| vec![k, 2.0 * k]);
    let z = optional(x).unwrap_or_default();
    y[0] * y[1] + z.iter().sum::<f64>()
}

/// A block that is left keeps what it hides.
#[differentiable]
fn hidden(x: &[f64], k: f64) -> f64 {
    let y = squares(x);
    for i in 0..x.len() {
        let y = scaled(squares(x), y[i] + k);
        if y[0] > 0.3 {
            return y[0] * y[1];
        }
        let y = y[1] * k;
        if y > 0.2 {
            return y * k;
        }
    }
    total(y)
}

#[derive(Clone, Debug, Differentiable)]
struct Grid {
    n: usize,
    cells: Vec<f64>,
}

#[differentiable]
impl Grid {
    fn filled(n: usize, v: f64) -> Grid {
        Grid { n, cells: vec![v; n] }
    }

    fn stepped(&self, k: f64) -> Grid {
        let cells: Vec<f64> = self.cells.iter().map(|c| c * k).collect();
        Grid { n: self.n, cells }
    }
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Point {
    x: f64,
    y: f64,
}

#[differentiable]
impl Point {
    fn new(x: f64, y: f64) -> Point {
        Point { x, y }
    }
}

#[differentiable]
fn moved(p: Point, k: f64) -> Point {
    Point { x: p.y * k, y: p.x.sin() }
}

/// A state that the next one replaces, of structs that own memory and of plain ones.
#[differentiable]
fn buffers(k: f64, n: usize) -> f64 {
    let mut grid = Grid::filled(2, k);
    for _ in 0..n {
        let mut next = Grid::filled(2, 0.1);
        next.cells[0] = k * grid.cells[1];
        grid = next;
        let next = grid.stepped(1.0 + k);
        grid = next;
    }
    let (mut point, mut total) = (Point::new(k, 1.0), 0.0);
    for i in 0..n {
        let next = moved(point, k);
        total += next.x * point.y;
        point = next;
        if i > 0 {
            total += next.y * point.x;
        }
    }
    grid.cells[0] * grid.cells[1] + total * point.x
}

/// A function that calls itself, twice in a tuple.
#[differentiable]
fn halves(a: &[f64]) -> Vec<f64> {
    let n = a.len();
    if n <= 1 {
        return vec![a[0] * a[0]];
    }
    let (left, right) = (halves(&a[..n / 2]), halves(&a[n / 2..]));
    let mut out = vec![0.0; n];
    for i in 0..n / 2 {
        out[i] = left[i] + right[i];
        out[i + n / 2] = left[i] * right[i];
    }
    out
}

fn inputs() -> [(Vec<f64>, f64); 3] {
    [(vec![0.5, 0.7], 0.3), (vec![0.5, 0.7, -0.2], -1.4), (vec![1.5, 0.7], 0.6)]
}

#[test]
fn by_value() {
    check_rule(bound::rule, inputs());
    check_rule(nested::rule, inputs());
    check_rule(carried::rule, inputs());
    check_rule(chosen::rule, inputs());
    check_rule(hidden::rule, inputs());
    check_rule(buffers::rule, [(0.4, 2), (0.7, 3), (0.7, 0)]);
    check_rule(halves::rule, [(vec![0.4, 0.3, 0.2, 0.7],), (vec![0.4, 0.3],)]);
}

#[test]
fn inside() {
    check_rule(through::rule, inputs());
    check_rule(looked_into::rule, inputs());
    check_rule(only_if::rule, inputs());
    check_rule(or_else::rule, inputs());
    check_rule(by_reference::rule, inputs());
    check_rule(asked_first::rule, inputs());
    check_rule(replaced::rule, inputs());
}

#[differentiable]
fn squares_and_square(x: &[f64], k: f64) -> (Vec<f64>, f64) {
    (squares(x), k * k)
}

/// Another name for what a call returned, which only that name tells to be a vector.
#[differentiable]
fn called_otherwise(x: &[f64], k: f64) -> f64 {
    let y = squares(x);
    let mut z = y;
    z[0] *= k;
    let (u, a) = squares_and_square(x, k);
    let s = u.iter().sum::<f64>();
    let mut v = u;
    v[0] *= a;
    let mut z = z;
    z[0] += v.iter().sum::<f64>() * s;
    let w = z;
    of_slice(&w) * a + v[0]
}

/// A number stays one, and what goes on under its old name is no other name.
#[differentiable]
fn numbers_called_otherwise(x: f64) -> f64 {
    let y = twice(x);
    let mut z = y;
    z *= x;
    z + y
}

#[derive(Clone, Debug, Differentiable)]
struct Bands {
    diagonal: Vec<f64>,
    beside: Vec<f64>,
}

#[differentiable]
fn bands(x: &[f64]) -> Bands {
    Bands { diagonal: squares(x), beside: x.to_vec() }
}

/// Vectors that are moved out of what a call returned, as their types tell.
#[differentiable]
fn moved_out(x: &[f64], most: f64) -> Result<f64, String> {
    let made = bands(x);
    if made.diagonal[0] > most {
        return Err("too large".to_string());
    }
    let mut diagonal: Vec<f64> = made.diagonal;
    diagonal[0] *= most;
    let beside: Vec<f64> = made.beside;
    Ok(diagonal[0].sin() * beside[1] + total(diagonal))
}

#[test]
fn other_names() {
    check_rule(called_otherwise::rule, [(vec![0.4, -0.7, 1.2], 1.3), (vec![-1.1, 0.5], 0.6)]);
    check_rule(numbers_called_otherwise::rule, [(0.4,), (-1.2,)]);
    check_rule(moved_out::rule, [(vec![0.4, -0.7, 1.2], 1.3), (vec![-1.1, 0.5], 0.6)]);
}

#[differentiable]
fn scaled_or(x: &[f64], k: f64) -> Result<Vec<f64>, usize> {
    if x.is_empty() { Err(3) } else { Ok(x.iter().map(|v| v * k).collect()) }
}

/// An outcome that the next statement makes another one of.
#[differentiable]
fn looked_into_next(x: &[f64], k: f64) -> Result<f64, String> {
    let y = scaled_or(x, k);
    let y = y.map_err(|e| format!("{e} numbers"))?;
    let z = scaled_or(&y, k);
    let v = z.ok().unwrap();
    Ok(y[0] * v[0] * k)
}

#[test]
fn outcomes_looked_into_next() {
    check_rule(looked_into_next::rule, [(vec![1.0, 2.0], 0.3), (vec![], 0.3), (vec![0.4], 0.2)]);
}

/// Two calls of the function itself take the names of what they are given.
#[differentiable]
fn butterflies(x: &[f64]) -> Vec<f64> {
    let n = x.len();
    if n == 1 {
        return x.to_vec();
    }
    let even: Vec<f64> = x.iter().step_by(2).copied().collect();
    let odd: Vec<f64> = x.iter().skip(1).step_by(2).copied().collect();
    let (even, odd) = (butterflies(&even), butterflies(&odd));
    let mut out = vec![0.0; n];
    for k in 0..n / 2 {
        out[k] = even[k] + odd[k] * even[k];
        out[k + n / 2] = even[k] - odd[k];
    }
    out
}

#[differentiable]
fn crossed(x: &[f64]) -> Vec<f64> {
    let n = x.len();
    if n == 1 {
        return x.to_vec();
    }
    let a: Vec<f64> = x.iter().step_by(2).copied().collect();
    let b: Vec<f64> = x.iter().skip(1).step_by(2).copied().collect();
    let (a, mut b) = (crossed(&b), crossed(&a));
    b[0] *= x[0];
    let mut out = vec![0.0; n];
    for k in 0..n / 2 {
        out[k] = a[k] + b[k] * a[k];
        out[k + n / 2] = a[k] - b[k];
    }
    out
}

#[test]
fn results_of_recursion_under_names_of_arguments() {
    check_rule(butterflies::rule, [(vec![0.3, 0.9, -0.4, 0.2],), (vec![0.5, 0.7],)]);
    check_rule(crossed::rule, [(vec![0.3, 0.9, -0.4, 0.2],), (vec![0.5, 0.7],)]);
}

fn descending(n: usize) -> Option<Vec<usize>> {
    (n > 1).then(|| (0..n).rev().collect())
}

fn weighted(n: usize) -> Result<Vec<(usize, f64)>, String> {
    if n > 1 { Ok((0..n).map(|i| (i, i as f64 + 0.5)).collect()) } else { Err("too short".into()) }
}

#[differentiable]
fn in_order(x: &[f64], rounds: usize) -> Option<f64> {
    let mut sum: f64 = 0.0;
    let order = descending(x.len())?;
    for i in order {
        sum = sum * 0.5 + x[i];
    }
    for k in 0..rounds {
        let order: Vec<usize> = descending(x.len() - k)?;
        for i in order {
            sum = sum * 0.5 + x[i] * sum.cos();
        }
    }
    Some(sum)
}

#[differentiable]
fn in_weighted_order(x: &[f64]) -> Result<f64, String> {
    let mut sum = 1.0;
    let order = weighted(x.len())?;
    for (i, w) in order {
        sum += sum * w * x[i];
    }
    Ok(sum)
}

/// Vectors without gradient that a loop uses up.
#[test]
fn constants_inside_of_results_are_gone_through() {
    check_rule(in_order::rule, [(vec![0.3, 0.4, 0.9], 1), (vec![0.3, 0.8, 0.1], 2)]);
    check_rule(in_order::rule, [(vec![0.3], 1), (vec![0.3, 0.8], 2)]);
    check_rule(in_weighted_order::rule, [(vec![0.3, 0.4, 0.9],), (vec![0.3],)]);
}

#[differentiable]
fn edges(x: &[f64], k: f64) -> Vec<(usize, f64)> {
    x.iter().enumerate().filter(|(_, x)| **x > 0.25).map(|(i, x)| (i, x * x * k)).collect()
}

#[derive(Clone, Differentiable)]
struct Graph {
    weights: Vec<f64>,
}

#[differentiable]
impl Graph {
    fn edges(&self, k: f64) -> Vec<(usize, f64)> {
        self.weights.iter().enumerate().map(|(i, w)| (i, w * k)).collect()
    }
}

#[differentiable]
fn pair(x: f64) -> [f64; 2] {
    [x, x * x]
}

#[differentiable]
fn where_they_are_made(graph: &Graph, x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (i, w) in edges(x, x[0]) {
        sum += w * x[i];
    }
    for (i, w) in graph.edges(x[0]) {
        sum += w * x[i].sin();
    }
    for v in pair(x[0]) {
        sum *= v + 1.0;
    }
    'all: for v in squares(x) {
        if v > 0.4 {
            continue 'all;
        }
        sum += v * v;
    }
    sum
}

/// What calls return is gone through without a name.
#[test]
fn loops_over_calls() {
    let graph = Graph { weights: vec![0.4, 0.2] };
    check_rule(where_they_are_made::rule, [(graph.clone(), vec![0.3, 0.7, 0.2]), (graph, vec![0.6, 0.1])]);
}
