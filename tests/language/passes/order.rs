//! Loops whose iterations have sums in common at most, and others that look as if, which must be undone backwards.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

/// y ← W x + b
#[differentiable]
fn dense(w: &[f64], b: &[f64], x: &[f64], y: &mut [f64]) {
    let n = x.len();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..n {
            s += w[i * n + j] * x[j];
        }
        y[i] = s;
    }
}

/// y ← y + W x, by columns and by rows.
#[differentiable]
fn add_product(w: &[f64], x: &[f64], y: &mut [f64]) {
    let (n, m) = (x.len(), y.len());
    for k in 0..n {
        for i in 0..m {
            y[i] += w[i * n + k] * x[k];
        }
    }
    for i in 0..m {
        for k in 0..n {
            y[i] -= 0.5 * w[i * n + k] * x[k] * x[k];
        }
    }
    for i in 0..m {
        y[i] += y[i] * y[i];
        for k in 0..n {
            y[i] *= 1.0 + 0.1 * w[i * n + k];
        }
    }
}

#[differentiable]
fn relu(x: &mut [f64]) {
    for i in 0..x.len() {
        if x[i] < 0.0 {
            x[i] = 0.0;
        }
    }
}

/// The condition is about what is there before, about what is there afterwards, about another element, about both.
#[differentiable]
fn clipped(x: &mut [f64], y: &mut [f64], k: f64) -> f64 {
    let n = x.len();
    for i in 0..n {
        if x[i] < 0.0 {
            x[i] *= -0.1 * k;
        } else if x[i] > 0.6 {
            x[i] = 0.6 + k * (x[i] - 0.6);
        }
    }
    for i in 0..n {
        x[i] *= k;
        if x[i] < 0.3 {
            x[i] *= x[i];
        }
    }
    for i in 1..n {
        if x[i - 1] < 0.2 {
            x[i] = x[i] * k + x[i - 1];
        }
    }
    for i in 0..n {
        if x[i] > x[0] && y[i] > 0.1 {
            x[i] -= y[i] * x[0];
            y[i] = x[i];
        }
    }
    for i in 0..n {
        if y[i] > 0.3 {
            y[i] = y[i].exp();
        }
        x[i] += y[i] * y[i];
    }
    let mut total = 0.0;
    for i in 0..n {
        total += x[i] * x[i] + y[i];
    }
    total
}

/// The name of the index is that of something else within the condition.
#[differentiable]
fn other_names(x: &mut [f64], k: f64, at: Option<usize>) -> f64 {
    let n = x.len();
    for i in 0..n {
        if (if let Some(i) = at { x[i] < 0.5 } else { x[i] < 0.5 }) {
            x[i] = x[i] * k * k;
        }
    }
    for i in 0..n {
        let j = n - 1 - i;
        if x[{
            let i = j;
            i
        }] < 0.5
        {
            x[i] = x[i] * k + 0.3;
        }
    }
    let mut total = 0.0;
    for i in 0..n {
        total += x[i] * x[i];
    }
    total
}

/// The elements of other iterations are looked at, directly or by way of another array.
#[differentiable]
fn running(x: &mut [f64], y: &mut [f64], k: f64) -> f64 {
    let n = x.len();
    for i in 1..n {
        x[i] = x[i] + k * x[i - 1];
    }
    for i in 0..n - 1 {
        x[i] = x[i + 1] * k;
    }
    for i in 0..n - 1 {
        y[i] = x[i] * k;
        x[i + 1] = y[i] * x[i + 1];
    }
    for i in 0..n {
        y[i] = x[n - 1 - i] * y[i];
    }
    for i in 0..n {
        x[i] = x[i] * x[n / 2];
    }
    let mut carried = k;
    for i in 0..n {
        y[i] = y[i] * carried;
        carried = y[i] + 0.1;
    }
    for i in 0..n {
        y[0] += y[i] * x[i];
    }
    for i in 0..n {
        y[0] *= 1.0 + 0.1 * x[i];
    }
    y[0] * carried
}

/// Each iteration writes to the same places: the last one counts.
#[differentiable]
fn overwritten(x: &[f64], y: &mut [f64], step: usize) -> f64 {
    for i in 0..x.len() {
        y[0] = x[i] * x[i];
    }
    for i in 0..x.len() {
        y[i * step] = x[i] * 0.5;
    }
    for i in 0..x.len() {
        for j in 0..2 {
            y[j] = x[i] * y[j];
        }
    }
    for i in 0..x.len() {
        y[i % 2] = x[i] * x[i] * 0.1;
    }
    y[0] * y[1]
}

/// Rows that begin where the loop around says, and such that move.
#[differentiable]
fn shifted(x: &[f64], y: &mut [f64], n: usize) -> f64 {
    for r in 0..2 {
        for i in 0..n {
            y[r * n + i] = x[i] * y[r * n + i];
        }
        for i in 0..n {
            y[r * n + i] += y[r * n + i] * x[i];
            y[(1 - r) * n + i] -= x[i];
        }
    }
    let mut start = 0;
    for i in 0..n {
        y[start + i] = x[i] * y[start + i];
        start += 1;
    }
    let mut total = 0.0;
    for i in 0..2 * n {
        total += y[i] * y[i];
    }
    total
}

#[differentiable]
fn damp(x: &mut [f64], by: f64) {
    for i in 0..x.len() {
        x[i] *= by;
    }
}

/// Calls, swaps and loops that keep something cannot change places.
#[differentiable]
fn busy(x: &mut [f64], y: &mut [f64], k: f64) -> f64 {
    let n = x.len();
    for i in 0..n {
        x[i] *= k;
        y.swap(0, i);
    }
    for i in 0..n {
        x[i] *= y[i];
        damp(&mut y[i..], k);
    }
    for i in 0..n {
        for j in 0..n {
            y[j] = y[j] * x[i];
        }
    }
    for i in 0..n {
        for j in 0..3 {
            x[i] = x[i] * x[i] * y[j % n];
        }
    }
    let mut total = 0.0;
    for i in 0..n {
        total += x[i] * y[i];
    }
    total
}

/// Two arrays that change places: the shadows of one may be those of the other.
#[differentiable]
fn swapped(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut a = x.to_vec();
    let mut b = vec![0.0; n];
    for s in 0..steps {
        for i in 0..n {
            b[i] = a[i] * a[i] + x[i];
        }
        std::mem::swap(&mut a, &mut b);
        for i in 0..n {
            b[i] += a[i];
        }
    }
    let mut total = 0.0;
    for i in 0..n {
        total += a[i] * b[i];
    }
    total
}

/// A network of one hidden layer over a batch.
#[differentiable]
fn network(w1: &[f64], w2: &[f64], b: &[f64], #[constant] x: &[f64]) -> f64 {
    let hidden = b.len();
    let inputs = w1.len() / hidden;
    let mut h = vec![0.0; hidden];
    let mut y = vec![0.0; 2];
    let mut loss = 0.0;
    for s in 0..x.len() / inputs {
        dense(w1, b, &x[s * inputs..(s + 1) * inputs], &mut h);
        relu(&mut h);
        dense(w2, b, &h, &mut y);
        for k in 0..2 {
            loss += y[k] * y[k];
        }
    }
    loss
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.5 + 0.4 * (0.7 * i as f64 + 0.3).sin()).collect()
}

fn other(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.1 + 0.6 * (0.9 * i as f64 + 0.1).cos()).collect()
}

#[test]
fn products() {
    check_rule(
        dense::rule,
        [
            (wave(6), wave(2), other(3), wave(2)),
            (wave(1), wave(1), other(1), wave(1)),
            (vec![], wave(2), vec![], wave(2)),
        ],
    );
    check_rule(
        add_product::rule,
        [(wave(6), other(3), other(2)), (wave(1), other(1), wave(1)), (vec![], vec![], wave(2))],
    );
    check_rule(
        network::rule,
        [(other(6), wave(6), other(3), wave(4)), (other(3), wave(6), other(3), wave(4))],
    );
}

#[test]
fn conditions() {
    check_rule(relu::rule, [(other(1),), (other(7),), (vec![],)]);
    check_rule(clipped::rule, [(other(1), wave(1), 0.7), (other(7), wave(7), 0.7), (wave(6), other(6), 1.3)]);
    check_rule(other_names::rule, [(other(5), 0.7, Some(2)), (other(5), 0.7, None), (wave(4), 1.1, Some(0))]);
}

#[test]
fn one_after_the_other() {
    check_rule(running::rule, [(wave(1), other(1), 0.7), (wave(2), other(2), 0.7), (wave(6), other(6), 0.7)]);
    check_rule(overwritten::rule, [(wave(2), other(2), 1), (wave(5), other(9), 2), (wave(5), other(4), 0)]);
    check_rule(shifted::rule, [(wave(3), other(6), 3), (wave(1), other(2), 1)]);
    check_rule(busy::rule, [(wave(1), other(1), 0.7), (wave(4), other(4), 0.9)]);
    check_rule(swapped::rule, [(wave(1), 1), (wave(4), 3), (wave(4), 0)]);
}

/// Derivatives are kept of each iteration, beside loops within that keep nothing.
#[differentiable]
fn layers(w: &[f64], b: &[f64], x: &[f64]) -> f64 {
    let mut h = [0.0; 3];
    for i in 0..3 {
        let mut s = b[i];
        for j in 0..x.len() {
            s += w[i * x.len() + j] * x[j];
        }
        h[i] = s.tanh();
    }
    let mut g = [0.0; 3];
    for i in 0..3 {
        let mut s = b[i] * h[0];
        for j in 0..3 {
            s += w[i * 3 + j] * h[j];
        }
        g[i] = s.exp() * h[i];
    }
    let mut total = 0.0;
    for i in 0..3 {
        total += g[i] * g[i];
    }
    total
}

/// Likewise, where an iteration needs what another one has left, so that they must be undone backwards.
#[differentiable]
fn layers_in_turn(w: &[f64], x: &[f64]) -> f64 {
    let mut h = [0.1; 4];
    for i in 1..4 {
        let mut s = 0.0;
        for j in 0..x.len() {
            s += w[j] * x[j] * h[i - 1];
        }
        h[i] = s.tanh();
    }
    let mut s = 0.2;
    for i in 0..4 {
        let mut t = s;
        for j in 0..x.len() {
            t += w[j] * h[i];
        }
        s = t.sin() + t.exp() * 0.01;
    }
    s * h[3]
}

/// A running index is kept along, and whether a branch was taken.
#[differentiable]
fn packed(l: &[f64], x: &[f64]) -> f64 {
    let n = x.len();
    let mut total = 0.0;
    let mut k = 0;
    for i in 0..n {
        let mut s = 0.0;
        for j in 0..=i {
            s += l[i + j] * x[j];
        }
        total += s.tanh() * l[k];
        if s > 0.3 {
            total += s.exp();
            k += 1;
        }
    }
    total
}

/// Calls keep things of their own.
#[differentiable]
fn with_calls(w: &[f64], b: &[f64], x: &[f64]) -> f64 {
    let mut h = [0.0; 3];
    for i in 0..3 {
        let mut s = 0.0;
        for j in 0..x.len() {
            s += x[j] * b[i];
        }
        h[i] = packed(w, x) * s.tanh();
    }
    h[0] * h[1] + h[2]
}

/// In place, where the array is kept as a whole or element by element.
#[differentiable]
fn in_place(y: &mut [f64], x: &[f64]) -> f64 {
    for i in 0..y.len() {
        let mut s = 0.0;
        for j in 0..x.len() {
            s += x[j] * x[j];
        }
        y[i] = (y[i] * s).tanh();
    }
    let mut total = 0.0;
    for i in 0..y.len() {
        total += y[i].exp() * y[i];
    }
    total
}

#[test]
fn what_is_kept() {
    let wave = |n: usize, start: f64| (0..n).map(|i| (0.7 * i as f64 + start).sin()).collect::<Vec<_>>();
    let sizes = [2, 5, 1, 3, 0];
    check_rule(layers::rule, sizes.map(|n| (wave(3 * n.max(3), 0.1), wave(3, 0.2), wave(n, 0.3))));
    check_rule(layers_in_turn::rule, sizes.map(|n| (wave(n, 0.1), wave(n, 0.3))));
    check_rule(packed::rule, sizes.map(|n| (wave(2 * n + 1, 0.1), wave(n, 0.3))));
    check_rule(with_calls::rule, sizes.map(|n| (wave(2 * n + 1, 0.1), wave(3, 0.6), wave(n, 0.3))));
    check_rule(in_place::rule, sizes.map(|n| (wave(4, 0.1), wave(n, 0.3))));
}
