//! Loops that are run again and change structs, and vectors of vectors: checkpoints copy these as a whole.

use pullback::prelude::*;
use pullback::testing::check_rule;
#[derive(Differentiable, Clone, Debug)]
struct Body {
    mass: f64,
    at: [f64; 2],
}
#[derive(Differentiable, Clone, Debug)]
struct Net {
    weights: Vec<f64>,
    bias: f64,
}
#[differentiable]
impl Body {
    fn run(&mut self, k: f64, n: usize) -> f64 {
        #[pullback(binomial = 2)]
        for i in 0..n {
            self.at[0] += k * self.mass * self.at[1].sin();
            self.mass *= 0.9 + 0.1 * k;
        }
        self.at[0] * self.mass
    }
}
#[differentiable]
fn of_body(b: &mut Body, k: f64, n: usize) -> f64 {
    #[pullback(checkpoint = 3)]
    for i in 0..n {
        b.at[i % 2] += k * b.mass * b.at[1].sin();
        b.mass *= 0.9 + 0.1 * k;
    }
    let y = b.run(k, n);
    y * b.at[1]
}
#[differentiable]
fn of_net(net: &mut Net, k: f64, n: usize) -> f64 {
    #[pullback(binomial = 3)]
    for i in 0..n {
        let j = i % net.weights.len();
        net.weights[j] = net.weights[j].sin() * k + net.bias;
        net.bias *= net.weights[0];
    }
    net.weights[0] * net.bias
}
#[differentiable]
fn of_rows(x: &[f64], n: usize) -> f64 {
    let mut rows = vec![x.to_vec(), x.to_vec()];
    #[pullback(recompute)]
    for i in 0..n {
        rows[i % 2][0] = rows[(i + 1) % 2][1].sin() * rows[i % 2][0];
        rows[0][1] *= x[0];
    }
    #[pullback(binomial = 2)]
    for i in 0..n {
        rows[i % 2][1] *= rows[0][0];
    }
    rows[0][0] * rows[1][1]
}
#[differentiable]
fn of_given_rows(rows: &mut Vec<Vec<f64>>, others: &mut [Vec<f64>], n: usize) -> f64 {
    #[pullback(checkpoint = 2)]
    for i in 0..n {
        rows[i % 2][0] = others[(i + 1) % 2][1].sin() * rows[i % 2][0];
        others[0][1] *= rows[1][0];
    }
    rows[0][0] * others[0][1]
}
#[test]
fn checkpoints() {
    let body = || Body { mass: 0.7, at: [0.4, 1.2] };
    let net = || Net { weights: vec![0.4, 1.2], bias: 0.7 };
    check_rule(of_body::rule, [(body(), 0.6, 0), (body(), 0.6, 7), (body(), 0.8, 12)]);
    check_rule(of_net::rule, [(net(), 0.6, 0), (net(), 0.6, 7), (net(), 0.8, 12)]);
    check_rule(of_rows::rule, [(vec![0.4, 1.2], 0), (vec![0.4, 1.2], 7), (vec![0.4, 1.2], 11)]);
    let rows = || vec![vec![0.4, 1.2], vec![0.9, 0.8, 0.3]];
    check_rule(of_given_rows::rule, [(rows(), rows(), 0), (rows(), rows(), 7), (rows(), rows(), 11)]);
}
