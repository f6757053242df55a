//! Loops whose iterations run forward and backward at once, and elements next to each other.

use pullback::prelude::*;
use pullback::testing::check_rule;
struct Lcg(u64);
impl Lcg {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}
#[differentiable]
fn random(x: &[f64], seed: u64) -> f64 {
    let mut rng = Lcg(seed);
    let mut t = 0.0;
    for i in 0..x.len() {
        let k = rng.below(x.len());
        t += x[k] * x[i] * x[rng.below(x.len())];
    }
    t
}
#[differentiable]
fn permuted(x: &[f64]) -> f64 {
    let mut idx = [0, 1, 2];
    let a = x[idx[0]];
    idx.swap(0, 1);
    let b = x[idx[0]];
    let mut c = [2, 0, 1];
    c.reverse();
    a * b * b * x[c[0]]
}
fn shuffle(idx: &mut [usize]) {
    idx.rotate_left(1);
}
#[differentiable]
fn shuffled(x: &[f64]) -> f64 {
    let mut idx = vec![0, 1, 2];
    let mut t = 1.0;
    for i in 0..3 {
        t = t * x[idx[i]] + x[idx[0]];
        shuffle(&mut idx);
    }
    t
}
#[differentiable]
fn inner(w: &[f64], x: &[f64], y: &[f64], b: f64) -> f64 {
    let scale = b.exp();
    let m = y.len();
    let mut loss = 0.0;
    for s in 0..m {
        let mut h = [0.0; 3];
        for i in 0..3 {
            let mut a = 0.0;
            for j in 0..2 {
                a += w[i * 2 + j] * x[s * 2 + j];
            }
            h[i] = a.tanh();
        }
        h[0] *= h[1];
        let mut z = scale;
        let mut k = 0;
        while z < 3.0 {
            z = z * 1.7 + h[2];
            k += 1;
            if z < 0.1 {
                z += 1.0;
            }
        }
        let e = h[0] * h[2] + z - y[s] * (k as f64);
        if e > 0.0 {
            loss += 0.5 * e * e;
        } else {
            loss -= e * b;
        }
    }
    0.5 * loss / m as f64
}
#[differentiable]
fn stencil(x: &[f64], c: f64) -> f64 {
    let mut t = 0.0;
    let n = x.len();
    for i in 2..n - 2 {
        let l = x[i - 2] - 2.0 * x[i] + x[i + 2];
        t += c * l * l * x[i + 1];
    }
    t
}
#[differentiable]
fn stencil_split(x: &[f64], c: f64) -> f64 {
    let mut t = 0.0;
    let n = x.len();
    for i in 1..=n - 2 {
        let l = x[i - 1] * x[i] * x[i + 1];
        t = t * c + l;
    }
    t * t
}
#[test]
fn independent_iterations() {
    check_rule(random::rule, [(vec![0.1, 0.4, 0.7, -0.3], 5_u64), (vec![0.1, 0.4, -0.3], 7)]);
    check_rule(permuted::rule, [(vec![0.1, 0.4, 0.7],)]);
    check_rule(shuffled::rule, [(vec![0.1, 0.4, 0.7],)]);
    check_rule(
        inner::rule,
        [(
            vec![0.1, 0.4, 0.7, -0.3, 0.2, 0.5],
            vec![0.3, 0.1, -0.4, 0.6, 0.9, 0.2],
            vec![0.4, 0.1, 0.2],
            0.3,
        )],
    );
    check_rule(
        stencil::rule,
        [
            (vec![0.1, 0.4, 0.7, -0.3, 0.2, 0.5], 0.3),
            (vec![0.1, 0.4, 0.7, -0.3], 0.3),
            (vec![0.1, 0.4, 0.7, -0.3, 1.0], 0.3),
        ],
    );
    check_rule(
        stencil_split::rule,
        [(vec![0.1, 0.4, 0.7, -0.3, 0.2, 0.5], 0.3), (vec![0.1, 0.4], 0.3), (vec![0.1, 0.4, 0.7], 0.3)],
    );
}
