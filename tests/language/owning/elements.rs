//! Vectors whose elements own memory: listed, repeated, made by constructors.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Differentiable)]
struct Layer {
    weights: Vec<f64>,
    bias: f64,
}

#[differentiable]
impl Layer {
    fn new(k: f64) -> Self {
        Layer { weights: vec![k; 2], bias: k }
    }

    fn apply(&self, x: f64) -> f64 {
        (self.weights[0] * x + self.bias * self.weights[1]).tanh()
    }
}

#[derive(Differentiable)]
struct Network {
    layers: Vec<Layer>,
    scale: f64,
}

#[differentiable]
impl Network {
    /// What a function returns and nobody looks at before is not copied for its pullback.
    fn of_depth(k: f64, depth: usize) -> Self {
        Network { layers: (0..depth).map(|i| Layer::new(k * i as f64)).collect(), scale: k }
    }

    fn apply(&self, x: f64) -> f64 {
        let mut h = x;
        for layer in &self.layers {
            h = layer.apply(h);
        }
        h * self.scale
    }
}

#[differentiable]
fn listed(k: f64, x: f64) -> f64 {
    let first = Layer { weights: vec![k, x], bias: k };
    let second = Layer::new(k);
    let network = Network { scale: x, layers: vec![first, second, Layer { weights: vec![x, 0.5], bias: x }] };
    network.apply(x)
}

/// Of constructors nothing tells whether what they return owns memory.
#[differentiable]
fn constructed(k: f64, x: f64, depth: usize) -> f64 {
    let mut layers = Vec::new();
    for i in 0..depth {
        let mut layer = Layer::new(k * i as f64);
        layer.bias *= x;
        layers.push(layer);
        layers.push(Layer::new(x));
    }
    let network = Network { layers, scale: 0.5 };
    let other = Network::of_depth(k, depth);
    network.apply(x) * other.apply(x)
}

#[differentiable]
fn rows(x: &[f64], k: f64, n: usize) -> f64 {
    let first: Vec<f64> = x.iter().map(|x| x * k).collect();
    let second = x.to_vec();
    let copies = vec![first.clone(); n];
    let mut all = vec![second; n];
    all[0][1] *= k;
    let pair = vec![first, x.to_vec()];
    pair[0][0] * pair[1][1] + copies[n - 1][1] * all[0][1] * all[n - 1][0]
}

/// Numbers that are repeated in rows.
#[differentiable]
fn repeated(w: f64, k: f64, n: usize) -> f64 {
    let u = vec![vec![w, -w * k]; n];
    let v = vec![vec![vec![w * k; 2]; 3]; n];
    let mut t = vec![vec![vec![w, k], vec![k * k, 1.0]]; n];
    t[0][0][0] *= k;
    u[0][0] * u[n - 1][1] + v[0][1][0] * v[n - 1][2][1] * t[0][0][0] + t[n - 1][1][0] * t[0][0][1]
}

/// Functions of users may return what has no zero.
#[differentiable]
fn between(a: (f64, f64), b: (f64, f64), t: f64) -> (f64, f64) {
    ((1.0 - t) * a.0 + t * b.0, (1.0 - t) * a.1 + t * b.1)
}

/// A point of a Bézier curve, by de Casteljau's algorithm.
#[differentiable]
fn bezier(control: &[(f64, f64)], t: f64) -> f64 {
    let mut points = control.to_vec();
    while points.len() > 1 {
        points = points.windows(2).map(|pair| between(pair[0], pair[1], t)).collect();
    }
    points[0].0 * points[0].1
}

#[test]
fn that_own_memory() {
    check_rule(listed::rule, [(0.4, 0.5), (0.3, 0.1)]);
    check_rule(constructed::rule, [(0.4, 0.5, 2), (0.3, 0.1, 3)]);
    check_rule(rows::rule, [(vec![0.4, 0.5], 0.4, 2), (vec![0.3, 0.1, 0.2], 0.1, 3)]);
}

#[test]
fn of_numbers() {
    check_rule(repeated::rule, [(0.4, 0.5, 2), (0.3, 0.1, 3)]);
    check_rule(
        bezier::rule,
        [
            (vec![(0.0, 0.1), (0.5, 1.0), (1.0, 0.3)], 0.4),
            (vec![(0.0, 0.1), (0.5, 1.0), (0.9, -0.5), (1.0, 0.3)], 0.3),
        ],
    );
}

#[derive(Clone, Differentiable)]
struct Cell {
    level: f64,
    flow: f64,
    history: Vec<f64>,
}

#[differentiable]
fn exchange(level: &mut f64, flow: &mut f64) {
    let both = *level * *flow;
    *level = 2.0 * *flow;
    *flow = both;
}

#[differentiable]
fn weigh(history: &mut [f64], level: &f64, flow: &mut f64) {
    history[0] *= *level;
    *flow += history[0];
}

/// Parts of one element, in one call that writes to some of them.
#[differentiable]
fn parts_at_once(cells: &mut Vec<Cell>, x: &[f64]) -> f64 {
    for i in 0..cells.len() {
        let cell = &mut cells[i];
        exchange(&mut cell.level, &mut cell.flow);
    }
    let mut own = Vec::new();
    for x in x {
        own.push(Cell { level: *x, flow: x * x, history: vec![*x] });
    }
    for cell in own.iter_mut() {
        exchange(&mut cell.level, &mut cell.flow);
        weigh(&mut cell.history, &cell.level, &mut cell.flow);
    }
    for cell in cells {
        weigh(&mut cell.history, &cell.level, &mut cell.flow);
    }
    own.iter().map(|cell| cell.level * cell.flow.sin()).sum()
}

#[test]
fn several_parts_of_an_element_in_one_call() {
    let cell = |level, flow| Cell { level, flow, history: vec![0.6, 0.8] };
    let cells = || vec![cell(0.3, 0.8), cell(0.6, 0.2)];
    check_rule(parts_at_once::rule, [(cells(), vec![0.3, 0.7])]);
    check_rule(parts_at_once::rule, [(cells(), vec![0.3])]);
}
