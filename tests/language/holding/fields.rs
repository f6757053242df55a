//! Fields of structs that are moved out of them, taken away and exchanged.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

#[derive(Clone, Differentiable)]
struct Model {
    weights: Vec<f64>,
    bias: f64,
    rows: Vec<Vec<f64>>,
}

#[differentiable]
fn made(x: &[f64]) -> Model {
    Model { weights: x.to_vec(), bias: x[0], rows: vec![x.to_vec(), x.to_vec()] }
}

/// Moved out, then changed and grown.
#[differentiable]
fn moved_out(x: &[f64]) -> f64 {
    let model = made(x);
    let mut w = model.weights;
    w[0] += 1.0;
    for i in 1..w.len() {
        w[i] *= w[i - 1] * model.bias;
    }
    w.push(x[0] * model.bias);
    let mut s = w.len() as f64 * x[0];
    for v in &w {
        s += v * v;
    }
    s + w.iter().sum::<f64>()
}

#[differentiable]
fn rows_moved_out(x: &[f64]) -> f64 {
    let model = made(x);
    let mut rows = model.rows;
    rows[0][0] *= x[0];
    let mut s = 0.0;
    for r in &rows {
        for v in r {
            s += v * v;
        }
    }
    s
}

/// By a pattern.
#[differentiable]
fn taken_apart(x: &[f64]) -> f64 {
    let Model { mut weights, bias, rows } = made(x);
    weights[0] *= bias;
    weights.push(rows[0][0]);
    let mut s = 0.0;
    for v in &weights {
        s += v * v;
    }
    s
}

#[derive(Clone, Differentiable)]
struct Window {
    ends: [f64; 2],
    seen: Vec<f64>,
}

/// An array is copied.
#[differentiable]
fn copied_out(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..3 {
        let window = Window { ends: [x[0], x[1] * i as f64], seen: x.to_vec() };
        let mut b = window.ends;
        b[0] *= x[1];
        b[1] *= b[0];
        s += b[0] * b[1] + window.seen[1];
    }
    s
}

/// The array is still there behind the copy.
#[differentiable]
fn copied_and_kept(x: &[f64]) -> f64 {
    let window = Window { ends: [x[0], x[1]], seen: x.to_vec() };
    let ends = window.ends.clone();
    let mut other = ends;
    other[0] *= x[1];
    other[0] * window.ends[0] + window.seen[0]
}

/// A field that changes places with a vector of another length.
#[differentiable]
fn exchanged(x: &[f64]) -> f64 {
    let mut model = made(x);
    let mut w = Vec::new();
    std::mem::swap(&mut model.weights, &mut w);
    w[0] += model.bias;
    w.push(x[0]);
    let mut s = 0.0;
    for v in &w {
        s += v * v;
    }
    s * model.rows[0][1]
}

#[differentiable]
fn emptied(x: &[f64]) -> f64 {
    let mut model = Model { weights: x.to_vec(), bias: x[0], rows: vec![x.to_vec()] };
    let mut w = Vec::new();
    std::mem::swap(&mut model.weights, &mut w);
    w[0] += model.bias;
    w.push(x[0]);
    let mut s = 0.0;
    for v in &w {
        s += v * v;
    }
    s
}

#[differentiable]
fn between_structs(x: &[f64]) -> f64 {
    let mut a = Model { weights: x.to_vec(), bias: x[0], rows: vec![x.to_vec()] };
    let mut b = Model { weights: vec![x[0]; 3], bias: x[0], rows: vec![x.to_vec()] };
    std::mem::swap(&mut a.weights, &mut b.weights);
    std::mem::swap(&mut a.rows, &mut b.rows);
    std::mem::swap(&mut a.bias, &mut b.bias);
    a.weights[1] * b.weights[0] * b.rows[0][0] * a.bias
}

#[derive(Clone, Copy, Differentiable)]
struct Plain {
    x: f64,
    y: [f64; 2],
}

#[differentiable]
fn plain(x: &[f64]) -> f64 {
    let mut p = Plain { x: x[0], y: [x[1], x[0]] };
    let mut q = Plain { x: x[1], y: [x[1] * x[0], 0.5] };
    let mut r = x[0] * 3.0;
    std::mem::swap(&mut p.x, &mut r);
    std::mem::swap(&mut p.y, &mut q.y);
    for i in 0..3 {
        if i != 1 {
            std::mem::swap(&mut p.x, &mut q.x);
        }
        q.x *= p.x;
    }
    p.x * q.y[0] + r * p.y[0] * q.x
}

#[differentiable]
fn taken(x: &[f64]) -> f64 {
    let mut model = Model { weights: x.to_vec(), bias: x[0], rows: vec![x.to_vec()] };
    let mut w = std::mem::take(&mut model.weights);
    w[0] += model.bias;
    w.push(x[0]);
    let mut s = model.weights.len() as f64;
    for v in &w {
        s += v * v;
    }
    let n = std::mem::take(&mut model.bias);
    s * n + model.bias
}

#[differentiable]
fn replaced_in_a_loop(x: &[f64]) -> f64 {
    let mut m = made(x);
    let mut s = 0.0;
    for i in 0..3 {
        let w = std::mem::replace(&mut m.weights, vec![x[0]; i]);
        for v in &w {
            s += v * v;
        }
        if i == 2 {
            s *= m.weights[0];
        }
    }
    s
}

#[differentiable]
fn replaced_number(x: &[f64]) -> f64 {
    let mut a = Model { weights: x.to_vec(), bias: x[0], rows: vec![x.to_vec()] };
    let old = std::mem::replace(&mut a.bias, x[0] * x[0]);
    a.weights[0] * old * a.bias
}

/// The type of the result tells that the field is an array.
#[differentiable]
fn mapped(x: &[f64]) -> f64 {
    let p = Plain { x: x[0], y: [x[1], x[0] * x[1]] };
    let squares: [f64; 2] = p.y.map(|v| v * v);
    let sines: [f64; 2] = p.y.map(f64::sin);
    squares[0] * sines[1] + p.y[1]
}

/// Methods of the user's with the names of those of vectors.
#[derive(Clone, Differentiable)]
struct Mean {
    total: f64,
    n: f64,
}

#[differentiable]
impl Mean {
    fn new() -> Self {
        Mean { total: 0.0, n: 0.0 }
    }

    fn push(&mut self, x: f64) {
        self.total += x * x;
        self.n += 1.0;
    }

    fn insert(&mut self, i: usize, x: f64) {
        self.total += x * i as f64;
    }

    fn extend(&mut self, x: &[f64]) {
        for v in x {
            self.push(*v);
        }
    }

    fn get(&self) -> f64 {
        self.total / self.n
    }
}

#[differentiable]
fn filled(mean: &mut Mean, x: &[f64]) {
    for v in x {
        mean.push(*v);
    }
    mean.extend(x);
}

#[differentiable]
fn methods_called_alike(x: &[f64]) -> f64 {
    let mut mean = Mean { total: 0.0, n: 0.0 };
    for v in x {
        mean.push(*v);
    }
    mean.insert(2, x[0]);
    let mut other = Mean::new();
    other.push(x[1]);
    filled(&mut other, x);
    mean.get() * other.get()
}

/// Two buffers in one struct.
#[differentiable]
fn double_buffered(x: &[f64], steps: usize) -> f64 {
    let mut state = Model { weights: x.to_vec(), bias: 0.1 * x[0], rows: vec![vec![0.0; x.len()]] };
    let mut next = Model { weights: vec![0.0; x.len()], bias: x[1], rows: Vec::new() };
    for _ in 0..steps {
        for i in 0..x.len() {
            let left = if i == 0 { state.bias } else { state.weights[i - 1] };
            next.weights[i] = state.weights[i] + 0.3 * (left - state.weights[i]) * next.bias;
        }
        std::mem::swap(&mut state.weights, &mut next.weights);
    }
    state.weights[x.len() - 1]
}

#[test]
fn moved() {
    check_all!([vec![0.3, 0.6], vec![0.5, 0.2, 0.7]]; moved_out, rows_moved_out, taken_apart, copied_out, copied_and_kept);
}

#[test]
fn exchanges() {
    check_all!([vec![0.3, 0.6], vec![0.5, 0.2, 0.7]]; exchanged, emptied, between_structs, plain, taken, replaced_in_a_loop, replaced_number, mapped, methods_called_alike);
    check_rule(
        double_buffered::rule,
        [(vec![0.3, 0.6], 3), (vec![0.5, 0.2, 0.7], 2), (vec![0.4, 0.6, 0.1], 0)],
    );
}

/// What is noted on the way carries no gradient, and so need not be told to be constant.
#[derive(Clone, Debug, Differentiable)]
struct Log {
    #[constant]
    hits: Vec<usize>,
    #[constant]
    seen: Vec<f64>,
    name: &'static str,
    total: f64,
}

#[differentiable]
fn logged(x: &[f64]) -> f64 {
    let mut log = Log { hits: Vec::new(), seen: Vec::new(), name: "log", total: 0.0 };
    for (i, v) in x.iter().enumerate() {
        log.seen.push(*v);
        if *v > 0.6 {
            log.hits.push(i);
        }
        if log.seen.len() > 2 {
            log.seen.pop();
        }
        log.total += v * v;
    }
    log.total * (log.hits.len() + log.seen.len() + log.name.len()) as f64
}

#[test]
fn constant_vectors_grow() {
    check_rule(logged::rule, [(vec![0.5, 0.8, 0.9],), (vec![0.1],)]);
}
