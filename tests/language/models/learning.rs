//! Networks and losses as one writes them without a framework: slices, row-major weights, loops.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// In place, safe against overflow.
#[differentiable]
fn softmax(x: &mut [f64]) {
    let mut top = f64::NEG_INFINITY;
    for i in 0..x.len() {
        top = top.max(x[i]);
    }
    let mut total = 0.0;
    for i in 0..x.len() {
        x[i] = (x[i] - top).exp();
        total += x[i];
    }
    for i in 0..x.len() {
        x[i] /= total;
    }
}

#[differentiable]
fn softmax_cross_entropy(logits: &mut [f64], classes: usize, labels: &[usize]) -> f64 {
    let mut loss = 0.0;
    for i in 0..labels.len() {
        let row = &mut logits[i * classes..(i + 1) * classes];
        softmax(row);
        loss -= row[labels[i]].ln();
    }
    loss / labels.len() as f64
}

/// A cell of long short-term memory; the gates' weights lie one after the other.
#[differentiable]
fn lstm_cell(w: &[f64], u: &[f64], b: &[f64], x: &[f64], h: &mut [f64], c: &mut [f64]) {
    let (m, n) = (x.len(), h.len());
    let mut gates = vec![0.0; 4 * n];
    for g in 0..4 * n {
        let mut z = b[g];
        for j in 0..m {
            z += w[g * m + j] * x[j];
        }
        for j in 0..n {
            z += u[g * n + j] * h[j];
        }
        gates[g] = if g / n == 2 { z.tanh() } else { sigmoid(z) };
    }
    for i in 0..n {
        c[i] = gates[n + i] * c[i] + gates[i] * gates[2 * n + i];
        h[i] = gates[3 * n + i] * c[i].tanh();
    }
}

#[differentiable]
fn lstm(w: &[f64], u: &[f64], b: &[f64], inputs: &[f64]) -> f64 {
    let n = b.len() / 4;
    let m = w.len() / b.len();
    let mut h = vec![0.0; n];
    let mut c = vec![0.0; n];
    for t in 0..inputs.len() / m {
        lstm_cell(w, u, b, &inputs[t * m..t * m + m], &mut h, &mut c);
    }
    let mut total = 0.0;
    for i in 0..n {
        total += h[i] * h[i] + 0.1 * c[i];
    }
    total
}

/// One head of scaled dot-product attention, causal; `out` has a row for each query.
#[differentiable]
fn attention(q: &[f64], k: &[f64], v: &[f64], width: usize, out: &mut [f64]) {
    let n = q.len() / width;
    let scale = 1.0 / (width as f64).sqrt();
    let mut scores = vec![0.0; n];
    for i in 0..n {
        for j in 0..=i {
            let mut s = 0.0;
            for d in 0..width {
                s += q[i * width + d] * k[j * width + d];
            }
            scores[j] = s * scale;
        }
        softmax(&mut scores[..i + 1]);
        for d in 0..width {
            out[i * width + d] = 0.0;
            for j in 0..=i {
                out[i * width + d] += scores[j] * v[j * width + d];
            }
        }
    }
}

#[differentiable]
fn attention_loss(q: &[f64], k: &[f64], v: &[f64], width: usize) -> f64 {
    let n = q.len();
    let mut out = vec![0.0; n];
    attention(q, k, v, width, &mut out);
    let mut loss = 0.0;
    for i in 0..n {
        loss += out[i].powi(2) * (1 + i % 3) as f64;
    }
    loss
}

/// Normalisation of a layer with gain and bias, in place.
#[differentiable]
fn layer_norm(x: &mut [f64], gain: &[f64], bias: &[f64]) {
    let n = x.len() as f64;
    let mut mean = 0.0;
    for i in 0..x.len() {
        mean += x[i];
    }
    mean /= n;
    let mut variance = 0.0;
    for i in 0..x.len() {
        variance += (x[i] - mean).powi(2);
    }
    let scale = 1.0 / (variance / n + 1e-5).sqrt();
    for i in 0..x.len() {
        x[i] = gain[i] * (x[i] - mean) * scale + bias[i];
    }
}

/// A residual block: normalise, widen, GELU by tanh, narrow, add.
#[differentiable]
fn residual_block(x: &mut [f64], w: &[f64], gain: &[f64], bias: &[f64]) {
    let n = x.len();
    let mut y = vec![0.0; n];
    for i in 0..n {
        y[i] = x[i];
    }
    layer_norm(&mut y, gain, bias);
    for k in 0..w.len() / n {
        let row = &w[k * n..(k + 1) * n];
        let mut z = 0.0;
        for i in 0..n {
            z += row[i] * y[i];
        }
        let gelu = 0.5 * z * (1.0 + (0.797_884_56 * (z + 0.044_715 * z * z * z)).tanh());
        for i in 0..n {
            x[i] += row[i] * gelu;
        }
    }
}

/// Convolution in two dimensions without padding, a leaky rectifier, then the mean of 2 × 2 windows' maxima.
#[differentiable]
fn convolutional(image: &[f64], kernel: &[f64; 9], bias: f64, width: usize) -> f64 {
    let height = image.len() / width;
    let (w, h) = (width - 2, height - 2);
    let mut map = vec![0.0; w * h];
    for y in 0..h {
        for x in 0..w {
            let mut s = bias;
            for j in 0..3 {
                for i in 0..3 {
                    s += kernel[j * 3 + i] * image[(y + j) * width + x + i];
                }
            }
            map[y * w + x] = if s > 0.0 { s } else { 0.1 * s };
        }
    }
    let mut total = 0.0;
    for y in (0..h - 1).step_by(2) {
        for x in (0..w - 1).step_by(2) {
            let at = y * w + x;
            total += map[at].max(map[at + 1]).max(map[at + w]).max(map[at + w + 1]);
        }
    }
    total
}

/// Two parameters by Adam on a valley, differentiated through the optimiser.
#[differentiable]
fn adam(start: [f64; 2], rate: f64, beta1: f64, beta2: f64, steps: usize) -> f64 {
    let mut x = start;
    let mut m = [0.0; 2];
    let mut v = [0.0; 2];
    for t in 1..=steps {
        let g = [2.0 * (x[0] - 1.0) + 0.5 * x[1], 6.0 * x[1] + 0.5 * x[0]];
        for i in 0..2 {
            m[i] = beta1 * m[i] + (1.0 - beta1) * g[i];
            v[i] = beta2 * v[i] + (1.0 - beta2) * g[i] * g[i];
            let m_hat = m[i] / (1.0 - beta1.powi(t as i32));
            let v_hat = v[i] / (1.0 - beta2.powi(t as i32));
            x[i] -= rate * m_hat / (v_hat.sqrt() + 1e-8);
        }
    }
    (x[0] - 1.0).powi(2) + 3.0 * x[1] * x[1] + 0.5 * x[0] * x[1]
}

/// Negative log-likelihood of a hinge: a support vector machine's smooth cousin, with a penalty.
#[differentiable]
fn squared_hinge(w: &[f64], b: f64, x: &[f64], labels: &[i32], penalty: f64) -> f64 {
    let d = w.len();
    let mut loss = 0.0;
    for j in 0..d {
        loss += 0.5 * penalty * w[j] * w[j];
    }
    for i in 0..labels.len() {
        let mut margin = b;
        for j in 0..d {
            margin += w[j] * x[i * d + j];
        }
        let gap = 1.0 - labels[i] as f64 * margin;
        if gap > 0.0 {
            loss += gap * gap;
        }
    }
    loss
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect()
}

#[test]
fn networks() {
    check_rule(softmax_cross_entropy::rule, [(wave(6), 3, vec![2, 0]), (wave(2), 2, vec![1])]);
    check_rule(lstm::rule, [(wave(16), wave(16), wave(8), wave(6)), (wave(4), wave(4), wave(4), wave(2))]);
    check_rule(lstm_cell::rule, [(wave(16), wave(16), wave(8), wave(2), wave(2), wave(2))]);
    check_rule(
        convolutional::rule,
        [
            (wave(36), [0.3, -0.2, 0.5, 0.1, 0.7, -0.4, 0.2, 0.6, -0.1], 0.1, 6),
            (wave(16), [0.2, 0.1, -0.3, 0.4, -0.6, 0.5, 0.9, 0.3, 0.2], -0.2, 4),
        ],
    );
    check_rule(
        residual_block::rule,
        [(wave(4), wave(8), vec![1.0, 0.9, 1.1, 0.8], wave(4)), (wave(2), wave(2), wave(2), wave(2))],
    );
}

#[test]
fn transformers() {
    let (q, k) = (wave(8), wave(10)[2..].to_vec());
    let v = wave(12)[4..].to_vec();
    check_rule(attention_loss::rule, [(q.clone(), k.clone(), v.clone(), 2), (wave(3), wave(3), wave(3), 3)]);
    check_rule(attention::rule, [(q, k, v, 4, wave(8))]);
}

#[test]
fn losses() {
    check_rule(
        squared_hinge::rule,
        [(vec![0.3, -0.6], 0.1, wave(6), vec![1, -1, 1], 0.1), (vec![0.3], 0.2, wave(2), vec![-1, -1], 0.5)],
    );
    check_rule(adam::rule, [([0.3, 0.8], 0.1, 0.9, 0.99, 6), ([1.5, -0.4], 0.05, 0.8, 0.95, 1)]);
}
