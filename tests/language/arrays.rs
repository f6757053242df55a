//! Local arrays, and arrays passed by value or returned.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn outside_a_loop(x: &[f64], n: usize) -> f64 {
    let mut h = [0.0; 4];
    for i in 0..n {
        h[i % 4] = h[(i + 1) % 4] * 0.5 + x[i % x.len()];
        h[(i + 2) % 4] += h[i % 4] * h[i % 4];
    }
    h[0] * h[1] + h[2] * h[3]
}

#[differentiable]
fn inside_a_loop(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut h = [x[i], 1.0, 0.5];
        for j in 0..3 {
            h[j] = h[j] * h[(j + 1) % 3] + x[0];
        }
        h[1] *= h[0];
        let mut g = [[0.0; 2]; 2];
        g[1][i % 2] = h[2] * h[1];
        g[0] = g[1];
        total += h[0] * h[1] * h[2] + g[0][i % 2] * total;
    }
    total
}

/// Written once: nothing to undo.
#[differentiable]
fn written_once(x: &[f64; 3]) -> f64 {
    let mut squares = [0.0; 3];
    for i in 0..3 {
        squares[i] = x[i] * x[i];
    }
    let mut total = 0.0;
    for i in 0..3 {
        for j in 0..3 {
            total += squares[i] * x[j] * squares[j];
        }
    }
    total
}

#[differentiable]
fn shadowed(x: f64, y: f64) -> f64 {
    let mut a = [x, y];
    a[0] *= 2.0 * x;
    let s = a[0] * a[1];
    let mut a = [s, a[1], a[0] * a[0]];
    a[1] = a[0] * a[2];
    let t = a[1] * a[1];
    let a = a[0] * t;
    a * x
}

#[differentiable]
fn shadowed_alike(x: f64, y: f64) -> f64 {
    let mut a = [x, y];
    a[0] *= a[1];
    let s = a[0] * a[1];
    let mut a = [a[1] * s, a[0]];
    a[1] = a[0] * a[1];
    a[0] = a[1] * a[0] * s;
    a[0] * a[1]
}

#[differentiable]
fn copies(x: [f64; 3], k: f64) -> [f64; 3] {
    let y = x;
    let mut z = y;
    z[1] = z[0] * k + y[2];
    let before = z;
    z[2] *= before[1];
    let w = [z, before, [k, 1.0, k * k]];
    [w[0][1] * w[1][2], w[2][2] * z[2], before[0]]
}

#[differentiable]
fn by_value(mut x: [f64; 3], k: f32) -> f64 {
    let y = x[0] * x[1];
    x[2] = x[2] * y;
    x[0] = x[2] * x[1] + x[0];
    (k * 2.0) as f64 * x[0] + x[2]
}

#[differentiable]
fn nested(m: &[[f64; 2]], t: &mut [[[f64; 2]; 2]; 2], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..m.len() {
        for j in 0..2 {
            t[i % 2][j][1 - j] = m[i][j] * t[j][1][0] + k;
            let row = &t[i % 2];
            total += row[j][0] * row[1][j] * m[i][1 - j];
        }
        t[0][1] = m[i];
        t[1] = [[k, m[i][0]], t[0][0]];
    }
    total + t[1][1][1] * t[0][0][1]
}

#[differentiable]
fn vectors(x: &Vec<f64>, n: usize) -> f64 {
    let mut h = vec![0.0; n + 1];
    let zeros: Vec<f64> = vec![1.0; n];
    h[0] = x[0];
    for i in 0..n {
        h[i + 1] = (h[i] * x[i % x.len()]).sin() + zeros[i];
    }
    for i in 0..n {
        h[i] = h[i] * h[i + 1];
    }
    let mut total = 0.0;
    for i in 0..h.len() {
        total += h[i] * h[i];
    }
    total
}

#[differentiable]
fn repeated(x: f64, y: f64) -> f64 {
    let mut a = [x * y; 3];
    let b = [[y; 2]; 2];
    a[1] = a[0] * b[1][0];
    a[2] += a[1];
    a[0] * a[2] + b[0][0] * b[0][1]
}

#[differentiable]
fn written_in_branches(x: &[f64]) -> f64 {
    let mut h = [1.0, 2.0];
    let mut g = [0.5; 2];
    for i in 0..x.len() {
        if x[i] > 0.0 {
            h[i % 2] = h[0] * x[i];
            g = [h[1], g[0] * x[i]];
        } else if h[0] > 0.0 {
            let old = h[0];
            h[0] = h[1] * x[i];
            h[1] = old;
        }
    }
    h[0] * g[1] + h[1] * g[0]
}

#[differentiable]
fn accumulated(x: &[f64], counts: &[usize]) -> f64 {
    let mut bins = [0.0; 3];
    for i in 0..x.len() {
        bins[counts[i]] += x[i];
    }
    for i in 0..x.len() {
        bins[counts[i]] -= x[i] * x[i] * 0.25;
    }
    bins[0] * bins[1] + bins[2].exp()
}

#[differentiable]
fn pairs(p: (f64, f64), q: ([f64; 2], f64)) -> (f64, [f64; 2]) {
    let (a, b) = p;
    let r = (a * q.1, b);
    let v = q.0;
    (r.0 * v[0] + p.1, [v[1] * r.1, p.0 * q.0[0]])
}

#[differentiable]
fn singles(x: &[f32], k: f32) -> f32 {
    let mut h = [0.0; 3];
    let mut total = 1.0;
    for i in 0..x.len() {
        h[i % 3] = x[i] * k + h[(i + 1) % 3];
        total *= 0.5 + h[i % 3];
    }
    total + h[0]
}

#[test]
fn local_arrays() {
    check_rule(outside_a_loop::rule, [(vec![0.5, -0.4, 0.3], 7), (vec![0.5], 0), (vec![0.9, 0.1], 2)]);
    check_rule(inside_a_loop::rule, [vec![0.5, -0.4, 0.3], vec![], vec![0.7]].map(|x| (x,)));
    check_rule(written_once::rule, [([0.5, -0.4, 0.3],), ([1.0, 0.0, 2.0],)]);
    check_rule(repeated::rule, [(0.5, 0.3), (-1.0, 2.0)]);
    check_rule(written_in_branches::rule, [vec![0.5, -0.4, 0.3, -1.0], vec![], vec![-0.7]].map(|x| (x,)));
    check_rule(
        accumulated::rule,
        [(vec![0.5, -0.4, 0.3, 1.0], vec![0, 1, 0, 2]), (vec![], vec![]), (vec![0.3], vec![1])],
    );
    check_rule(singles::rule, [(vec![0.5, -0.4, 0.3, 1.0], 0.7), (vec![], 1.0)]);
}

#[test]
fn shadowed_arrays() {
    check_rule(shadowed::rule, [(0.5, 0.3), (-1.0, 2.0)]);
    check_rule(shadowed_alike::rule, [(0.5, 0.3), (-1.0, 2.0)]);
}

#[test]
fn arrays_by_value() {
    check_rule(copies::rule, [([0.5, -0.4, 0.3], 0.7), ([1.0, 0.0, 2.0], -0.2)]);
    check_rule(by_value::rule, [([0.5, -0.4, 0.3], 0.7), ([1.0, 0.5, 2.0], -0.2)]);
    check_rule(pairs::rule, [((0.5, -0.4), ([0.3, 0.7], 0.2)), ((1.5, 0.4), ([0.1, 0.2], 0.9))]);
}

#[test]
fn nested_arrays_and_vectors() {
    let t = [[[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.6], [0.7, 0.8]]];
    check_rule(nested::rule, [(vec![[0.5, 0.3], [0.2, 0.9], [1.0, 0.5]], t, 0.7), (vec![], t, 0.5)]);
    check_rule(vectors::rule, [(vec![0.5, -0.4, 0.3], 5), (vec![0.7], 0), (vec![0.3, 0.2], 9)]);
}

#[differentiable]
fn products(x: [f64; 3]) -> [f64; 3] {
    [x[0] * x[1], x[1], x[2] * x[2]]
}

#[differentiable]
fn mapped_by_functions(x: [f64; 3]) -> f64 {
    let sines = products(x).map(f64::sin);
    let squares: [f64; 3] = products(sines).map(|v| v * v);
    sines[0] + squares[1] * squares[2]
}

#[test]
fn maps_of_what_is_returned() {
    check_rule(mapped_by_functions::rule, [([0.7, 0.3, 0.4],), ([-0.2, 0.9, 1.4],)]);
}
