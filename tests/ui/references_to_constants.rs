use pullback::prelude::*;

fn weights(n: usize) -> Vec<f64> {
    vec![0.5; n]
}

#[differentiable]
fn changed_in_between(n: usize, x: &[f64]) -> f64 {
    let mut s = 0.0_f64;
    let mut w = weights(n);
    w.push(2.0);
    for (v, x) in w.iter().zip(x) {
        s += v * x * s.exp();
    }
    w[0] = 3.0;
    for (v, x) in w.iter().zip(x) {
        s += v * x * s.exp();
    }
    s
}

fn main() {}
