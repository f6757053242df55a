//! What people train: layers with an activation of their choice, attention, recurrent cells, normalisation, optimisers.

use num_traits::Float;
use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Relu,
    Tanh,
    Sigmoid,
    Identity,
}
#[differentiable]
impl Act {
    fn apply(#[constant] self, x: f64) -> f64 {
        match self {
            Act::Relu => {
                if x > 0.0 {
                    x
                } else {
                    0.01 * x
                }
            }
            Act::Tanh => x.tanh(),
            Act::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Act::Identity => x,
        }
    }
}
#[derive(Clone, Debug, Differentiable)]
struct Layer {
    weights: Vec<Vec<f64>>,
    bias: Vec<f64>,
    #[constant]
    act: Act,
}
#[differentiable]
impl Layer {
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        self.weights
            .iter()
            .zip(&self.bias)
            .map(|(row, b)| self.act.apply(row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + b))
            .collect()
    }
}
#[derive(Clone, Debug, Differentiable)]
struct Mlp {
    layers: Vec<Layer>,
}
#[differentiable]
impl Mlp {
    fn predict(&self, x: &[f64]) -> Vec<f64> {
        let mut h = x.to_vec();
        for layer in &self.layers {
            h = layer.forward(&h);
        }
        h
    }
    fn predict_fold(&self, x: &[f64]) -> Vec<f64> {
        self.layers.iter().fold(x.to_vec(), |h, layer| layer.forward(&h))
    }
    fn l2(&self) -> f64 {
        self.layers.iter().flat_map(|l| l.weights.iter().flatten()).map(|w| w * w).sum()
    }
}
#[differentiable]
fn cross_entropy(logits: &[f64], target: usize) -> f64 {
    let max = logits.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
    let log_sum = logits.iter().map(|l| (l - max).exp()).sum::<f64>().ln() + max;
    log_sum - logits[target]
}
#[differentiable]
fn mlp_loss(net: &Mlp, #[constant] data: &[(Vec<f64>, usize)]) -> f64 {
    let n = data.len() as f64;
    data.iter().map(|(x, label)| cross_entropy(&net.predict(x), *label)).sum::<f64>() / n + 1e-2 * net.l2()
}
#[differentiable]
fn mlp_loss_fold(net: &Mlp, #[constant] data: &[(Vec<f64>, usize)]) -> f64 {
    let mut total = 0.0;
    for (x, label) in data {
        let out = net.predict_fold(x);
        total += cross_entropy(&out, *label);
    }
    total
}
/// Attention of tokens in rows.
#[differentiable]
fn matmul(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (n, m, k) = (a.len(), b[0].len(), b.len());
    let mut c = vec![vec![0.0; m]; n];
    for i in 0..n {
        for j in 0..m {
            for l in 0..k {
                c[i][j] += a[i][l] * b[l][j];
            }
        }
    }
    c
}
#[differentiable]
fn transpose(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}
#[differentiable]
fn softmax_rows(a: &mut Vec<Vec<f64>>) {
    for row in a.iter_mut() {
        let max = row.iter().copied().fold(f64::MIN, f64::max);
        let mut sum = 0.0;
        for v in row.iter_mut() {
            *v = (*v - max).exp();
            sum += *v;
        }
        for v in row {
            *v /= sum;
        }
    }
}
#[differentiable]
fn attention(x: &[f64]) -> f64 {
    let tokens: Vec<Vec<f64>> = x.chunks_exact(2).map(|c| c.to_vec()).collect();
    let keys = transpose(&tokens);
    let mut scores = matmul(&tokens, &keys);
    let scale = 1.0 / (2.0f64).sqrt();
    scores.iter_mut().for_each(|row| row.iter_mut().for_each(|s| *s *= scale));
    softmax_rows(&mut scores);
    let out = matmul(&scores, &tokens);
    out.iter().map(|r| r.iter().map(|v| v * v).sum::<f64>()).sum()
}
#[differentiable]
fn lstm_step(gates: &[f64], h: &mut Vec<f64>, c: &mut Vec<f64>) {
    let n = h.len();
    let (i, rest) = gates.split_at(n);
    let (f, rest) = rest.split_at(n);
    let (g, o) = rest.split_at(n);
    let sig = |v: f64| 1.0 / (1.0 + (-v).exp());
    for k in 0..n {
        c[k] = sig(f[k]) * c[k] + sig(i[k]) * g[k].tanh();
        h[k] = sig(o[k]) * c[k].tanh();
    }
}
#[differentiable]
fn lstm(x: &[f64]) -> f64 {
    let (mut h, mut c) = (vec![0.0; 2], vec![0.0; 2]);
    for w in x.windows(4) {
        let gates: Vec<f64> = w.iter().flat_map(|v| h.iter().map(move |h| v + 0.5 * h)).collect();
        lstm_step(&gates, &mut h, &mut c);
    }
    h.iter().sum()
}
#[differentiable]
fn layer_norm<T: Float>(x: &[T], eps: T) -> Vec<T> {
    let n = T::from(x.len()).unwrap();
    let mean = x.iter().fold(T::zero(), |a, &b| a + b) / n;
    let var = x.iter().map(|&v| (v - mean) * (v - mean)).fold(T::zero(), |a, b| a + b) / n;
    x.iter().map(|&v| (v - mean) / (var + eps).sqrt()).collect()
}
#[differentiable]
fn normed(x: &[f64]) -> f64 {
    let y = layer_norm(x, 1e-5);
    y.iter().zip(x).map(|(a, b)| a * b * b).sum()
}
/// A matrix, row by row.
#[derive(Clone, Debug, Differentiable)]
struct Matrix {
    data: Vec<f64>,
    rows: usize,
    cols: usize,
}
#[differentiable]
impl Matrix {
    fn zeros(rows: usize, cols: usize) -> Self {
        Self { data: vec![0.0; rows * cols], rows, cols }
    }
    fn get(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.cols + j]
    }
    fn set(&mut self, i: usize, j: usize, v: f64) {
        self.data[i * self.cols + j] = v;
    }
    fn dot(&self, o: &Matrix) -> Matrix {
        assert_eq!(self.cols, o.rows, "shapes");
        let mut out = Matrix::zeros(self.rows, o.cols);
        for i in 0..self.rows {
            for j in 0..o.cols {
                let s = (0..self.cols).map(|k| self.get(i, k) * o.get(k, j)).sum();
                out.set(i, j, s);
            }
        }
        out
    }
    fn transpose(&self) -> Matrix {
        let mut t = Matrix::zeros(self.cols, self.rows);
        for i in 0..self.rows {
            for j in 0..self.cols {
                t.set(j, i, self.get(i, j));
            }
        }
        t
    }
    fn trace(&self) -> f64 {
        (0..self.rows.min(self.cols)).map(|i| self.get(i, i)).sum()
    }
}
#[differentiable]
fn gram(x: &[f64]) -> f64 {
    let mut a = Matrix::zeros(x.len() / 2, 2);
    for (i, &v) in x.iter().enumerate() {
        if i < a.data.len() {
            a.data[i] = v;
        }
    }
    let g = a.transpose().dot(&a);
    g.trace() + g.get(0, 1)
}
/// Parameters taken off a slice, by a closure that moves along it.
#[differentiable]
fn unpacked(x: &[f64]) -> f64 {
    let mut offset = 0;
    let mut take = |n: usize| {
        let part = &x[offset..offset + n];
        offset += n;
        part
    };
    let w = take(3);
    let b = take(2);
    w.iter().map(|v| v * v).sum::<f64>() * b[0] + b[1]
}
#[differentiable]
fn counter_closure(x: &[f64]) -> f64 {
    let mut total = 0.0;
    let mut count = 0;
    let mut add = |v: f64| {
        total += v * v;
        count += 1;
    };
    for &v in x {
        if v > 0.25 {
            add(v);
        }
    }
    add(x[0] * x[1]);
    total / count as f64
}
#[differentiable]
fn argmax_loss(x: &[f64]) -> f64 {
    let (best, value) = x.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap();
    let margin = x
        .iter()
        .enumerate()
        .filter(|&(i, _)| i != best)
        .map(|(_, v)| (1.0 + v - value).max(0.0))
        .sum::<f64>();
    margin + value.powi(2)
}
#[differentiable]
fn dropout_mask(x: &[f64]) -> f64 {
    let mask: Vec<bool> = (0..x.len()).map(|i| i % 3 != 1).collect();
    let kept: Vec<f64> = x.iter().zip(&mask).filter_map(|(v, keep)| keep.then_some(v * 1.5)).collect();
    let (evens, odds): (Vec<f64>, Vec<f64>) = kept.iter().partition(|v| **v > 0.6);
    evens.iter().sum::<f64>() * odds.iter().product::<f64>()
}
#[differentiable]
fn adam(x: &[f64]) -> f64 {
    let mut params = x.to_vec();
    let (mut m, mut v) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    for t in 1..=3 {
        let grads: Vec<f64> = params.iter().map(|p| 2.0 * p + p.sin()).collect();
        for ((p, g), (m, v)) in params.iter_mut().zip(grads).zip(m.iter_mut().zip(v.iter_mut())) {
            *m = 0.9 * *m + 0.1 * g;
            *v = 0.99 * *v + 0.01 * g * g;
            let (mh, vh) = (*m / (1.0 - 0.9f64.powi(t)), *v / (1.0 - 0.99f64.powi(t)));
            *p -= 0.1 * mh / (vh.sqrt() + 1e-8);
        }
    }
    params.iter().map(|p| p * p).sum()
}

fn inputs() -> [Vec<f64>; 2] {
    [
        vec![0.3, 0.8, 0.45, 0.62, 0.17, 0.95, 0.51, 0.36],
        vec![0.7, 0.2, 0.9, 0.55, 0.6, 0.41, 0.33, 0.74, 0.28, 0.66],
    ]
}

/// Weights and biases of two layers.
fn network(p: &[[f64; 6]; 2]) -> Mlp {
    let layer = |p: &[f64; 6], act| Layer {
        weights: vec![vec![p[0], p[1]], vec![p[2], p[3]]],
        bias: vec![p[4], p[5]],
        act,
    };
    Mlp { layers: vec![layer(&p[0], Act::Tanh), layer(&p[1], Act::Sigmoid)] }
}

macro_rules! check_network {
    ($f:ident) => {{
        let data = [(vec![0.1, 0.5], 1), (vec![0.7, -0.2], 0)];
        let mut g = $f::gradient();
        check_gradient(
            |p| $f(&network(p), &data),
            |p| {
                let (value, d) = g.value_and_gradient(&network(p), &data);
                let layer = |l: usize| {
                    let d = &d.net.layers[l];
                    let w = &d.weights;
                    [w[0][0], w[0][1], w[1][0], w[1][1], d.bias[0], d.bias[1]]
                };
                (value, [layer(0), layer(1)])
            },
            [
                [[0.4, -0.3, 0.8, 0.2, 0.1, -0.6], [0.9, 0.5, -0.7, 0.3, 0.2, -0.1]],
                [[-0.4, 0.6, 0.1, 0.5, 0.3, 0.2], [0.2, -0.8, 0.6, 0.4, 0.1, 0.7]],
            ],
        );
    }};
}

#[test]
fn perceptrons() {
    check_network!(mlp_loss);
    check_network!(mlp_loss_fold);
}

#[test]
fn transformers() {
    check_all!(inputs(); attention, lstm, normed, gram);
}

#[test]
fn training() {
    check_all!(inputs(); unpacked, counter_closure, argmax_loss, dropout_mask, adam);
}
