//! Vectors of what owns memory, behind `&mut` parameters, that get more of it.

use ndarray::{Array1, array};
use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, Differentiable)]
struct Simulation {
    history: Vec<Vec<f64>>,
    state: Vec<f64>,
    rate: f64,
}

#[differentiable]
impl Simulation {
    fn step(&mut self, dt: f64) {
        for v in self.state.iter_mut() {
            *v -= self.rate * *v * dt;
        }
        self.history.push(self.state.clone());
    }

    fn run(&mut self, n: usize, dt: f64) -> f64 {
        for _ in 0..n {
            self.step(dt);
        }
        let mut total = 0.0;
        for (i, row) in self.history.iter().enumerate() {
            for v in row {
                total += v * v * (i as f64 + 1.0);
            }
        }
        total
    }
}

#[differentiable]
fn simulated(x: &[f64], rate: f64, n: usize) -> f64 {
    let mut simulation = Simulation { history: Vec::new(), state: x.to_vec(), rate };
    simulation.run(n, 0.1)
}

#[differentiable]
fn recorded(state: &mut Vec<f64>, rate: f64, trajectory: &mut Vec<Vec<f64>>, n: usize) {
    for _ in 0..n {
        for v in state.iter_mut() {
            *v -= rate * *v * 0.1;
        }
        trajectory.push(state.clone());
    }
}

#[differentiable]
fn of_trajectory(x: &[f64], rate: f64) -> f64 {
    let mut state = x.to_vec();
    let mut trajectory = vec![];
    recorded(&mut state, rate, &mut trajectory, 5);
    trajectory.iter().map(|row| row[0] * row[1]).sum()
}

#[test]
fn trajectories() {
    check_rule(simulated::rule, [(vec![1.0, 2.0], 0.7, 4), (vec![1.0, 2.0, 0.4], 1.7, 1)]);
    check_rule(
        recorded::rule,
        [(vec![1.0, 2.0], 0.7, vec![vec![0.3]], 3), (vec![0.5], 1.7, vec![vec![1.0, 2.0], vec![]], 1)],
    );
    check_rule(of_trajectory::rule, [(vec![1.0, 2.0], 0.7), (vec![1.0, 2.0, 0.4], 1.7)]);
}

/// Copies, literals, locals; rows that are changed and become longer once they are there.
#[differentiable]
fn extended(rows: &mut Vec<Vec<f64>>, k: f64) {
    let last = rows[rows.len() - 1].clone();
    rows.push(last);
    let n = rows.len();
    rows[n - 1][0] *= k;
    rows.push(vec![k, k * k, rows[0][0]]);
    let mut extra = vec![k; 2];
    extra[1] *= rows[n - 1][0];
    extra.push(k);
    rows.push(extra);
    rows[n].push(k.sin());
}

#[differentiable]
fn of_extended(x: &[f64], k: f64) -> f64 {
    let mut rows = vec![x.to_vec()];
    for _ in 0..3 {
        extended(&mut rows, k);
    }
    let mut total = 0.0;
    for row in &rows {
        for (j, v) in row.iter().enumerate() {
            total += v * v * (j as f64 + 1.0);
        }
    }
    total
}

#[differentiable]
fn powers(x: f64) -> Vec<f64> {
    vec![x, x * x]
}

#[differentiable]
fn kept(rows: &mut Vec<Vec<f64>>, state: Vec<f64>) {
    rows.push(state);
}

#[differentiable]
fn made(rows: &mut Vec<Vec<f64>>, x: &[f64], k: f64) {
    rows.push(x.iter().map(|v| v * k).collect());
    rows.push(powers(k));
    let row = powers(x[0]);
    rows.push(row);
}

#[differentiable]
fn of_made(x: &[f64], k: f64) -> f64 {
    let mut rows = Vec::new();
    kept(&mut rows, vec![k, x[0]]);
    made(&mut rows, x, k);
    let y = x.to_vec();
    kept(&mut rows, y);
    rows[0][0] * rows[1][1] * rows[2][1] * rows[3][1] * rows[4][0]
}

#[differentiable]
fn three_deep(v: &mut Vec<Vec<Vec<f64>>>, x: f64) {
    v.push(vec![vec![x], vec![x * x, x]]);
    v[0].push(vec![x, x]);
    v[0][0].push(x);
}

#[differentiable]
fn of_three_deep(x: f64) -> f64 {
    let mut v = Vec::new();
    three_deep(&mut v, x);
    three_deep(&mut v, x * 2.0);
    let mut total = 0.0;
    for rows in &v {
        for row in rows {
            for (i, c) in row.iter().enumerate() {
                total += c * c * (i as f64 + 0.5);
            }
        }
    }
    total
}

#[differentiable]
fn pushed(rows: &mut Vec<Vec<f64>>, x: f64) {
    rows.push(powers(x.sin()));
}

#[differentiable]
fn driven(mut step: impl FnMut(&mut Vec<Vec<f64>>, f64), x: f64) -> f64 {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for i in 0..3 {
        step(&mut rows, x * i as f64);
    }
    rows.iter().map(|row| row[0] * row[1]).sum()
}

#[differentiable]
fn of_driven(x: f64) -> f64 {
    driven(pushed, x)
}

#[test]
fn rows() {
    check_rule(extended::rule, [(vec![vec![1.0, 2.0], vec![0.3]], 0.7), (vec![vec![0.2]], 1.7)]);
    check_rule(of_extended::rule, [(vec![1.0, 2.0], 0.7), (vec![1.0, 2.0, 0.4], 1.7)]);
    check_rule(kept::rule, [(vec![vec![1.0, 2.0]], vec![0.3, 0.5]), (vec![], vec![0.1])]);
    check_rule(made::rule, [(vec![vec![1.0, 2.0]], vec![0.3, 0.5], 0.7), (vec![], vec![0.1], 1.2)]);
    check_rule(of_made::rule, [(vec![1.0, 2.0], 0.7), (vec![1.0, 2.0, 0.4], 1.7)]);
    check_rule(of_three_deep::rule, [(0.7,), (-1.3,)]);
    check_rule(of_driven::rule, [(0.7,), (-1.3,)]);
}

#[derive(Clone, Debug, Differentiable)]
struct Layer {
    w: Vec<f64>,
    b: f64,
}

#[differentiable]
impl Layer {
    fn new(w: &[f64], b: f64) -> Self {
        Layer { w: w.to_vec(), b }
    }

    fn apply(&self, x: &[f64]) -> f64 {
        let mut total = self.b;
        for i in 0..x.len() {
            total += self.w[i] * x[i];
        }
        total.tanh()
    }
}

#[derive(Clone, Debug, Differentiable)]
struct Net {
    layers: Vec<Layer>,
    gain: f64,
    #[constant]
    names: Vec<String>,
    #[constant]
    shapes: Vec<Vec<usize>>,
}

#[differentiable]
impl Net {
    fn add(&mut self, w: &[f64], name: &str) {
        self.layers.push(Layer::new(w, self.gain));
        self.names.push(name.to_string());
        self.shapes.push(vec![w.len(), 1]);
    }

    fn add_others(&mut self, w: &[f64]) {
        self.layers.push(Layer { w: w.to_vec(), b: self.gain * w[0] });
        let b = self.gain;
        self.layers.push(Layer { w: vec![b, w[0]], b });
        let last = self.layers[self.layers.len() - 1].clone();
        self.layers.push(last);
        self.layers.push(self.layers[0].clone());
        let zeros = vec![0.0; 2];
        self.layers.push(Layer { w: zeros, b: 1.0 });
    }

    fn apply(&self, x: &[f64]) -> f64 {
        let mut total = 0.0;
        for (i, layer) in self.layers.iter().enumerate() {
            total += layer.apply(x) * self.gain * (i as f64 + 1.0);
        }
        total
    }
}

#[differentiable]
fn of_net(x: &[f64], gain: f64) -> f64 {
    let mut net = Net { layers: vec![], gain, names: vec![], shapes: vec![] };
    net.add(x, "first");
    net.add_others(x);
    net.apply(x)
}

#[differentiable]
fn logged(log: &mut Vec<Array1<f64>>, x: &Array1<f64>, k: f64) {
    let y = x * k;
    log.push(y);
    log.push(x.clone());
    log.push(x + x);
}

#[differentiable]
fn of_logged(x: &Array1<f64>, k: f64) -> f64 {
    let mut log = Vec::new();
    for i in 0..3 {
        logged(&mut log, x, k * i as f64);
    }
    log.iter().map(|row| row[0] * row[1]).sum()
}

#[derive(Clone, Debug, Differentiable)]
struct Tree {
    nodes: Vec<Vec<f64>>,
}

#[differentiable]
impl Tree {
    fn grow(&mut self, depth: usize, x: f64) {
        if depth == 0 {
            return;
        }
        self.nodes.push(vec![x, x * x]);
        self.grow(depth - 1, x * 0.5);
        self.nodes.push(vec![x.sin()]);
        self.grow(depth - 1, x * 0.7);
    }
}

#[differentiable]
fn of_tree(x: f64, depth: usize) -> f64 {
    let mut tree = Tree { nodes: vec![] };
    tree.grow(depth, x);
    let mut total = 0.0;
    for (i, node) in tree.nodes.iter().enumerate() {
        total += node.iter().map(|v| v * v).sum::<f64>() * i as f64;
    }
    total
}

#[test]
fn structs_and_arrays() {
    check_rule(of_net::rule, [(vec![1.0, 2.0], 0.7), (vec![1.0, 0.4], 1.7)]);
    let layers = vec![Layer { w: vec![0.3, 0.1], b: 0.4 }];
    let net = Net { layers, gain: 0.3, names: vec!["a".into()], shapes: vec![vec![2, 1]] };
    check_rule(Net::add_rule, [(net.clone(), vec![0.3, 0.2], "b".to_string())]);
    check_rule(Net::add_others_rule, [(net, vec![0.3, 0.2])]);
    check_rule(logged::rule, [(vec![array![0.1]], array![1.0, 2.0], 0.7)]);
    check_rule(of_logged::rule, [(array![1.0, 2.0], 0.7), (array![0.3, 0.2, 0.1], -0.7)]);
    check_rule(of_tree::rule, [(1.3, 3), (0.4, 1)]);
}
