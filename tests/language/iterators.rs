//! Chains of iterators, and `for` loops over anything but a range of integers.

use ndarray::{Array1, Array2};
use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn for_over_a_slice(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for v in x {
        total += v * v * v;
    }
    total
}

#[differentiable]
fn for_by_value(x: &[f64], k: f64) -> f64 {
    let mut total = k;
    for &v in x {
        total = total * 0.5 + v * k;
    }
    for v in x.iter().copied() {
        total += v.sin() * total;
    }
    total
}

#[differentiable]
fn for_over_references(x: &Vec<f64>, y: &[f64; 3]) -> f64 {
    let mut total = 1.0;
    for a in &x[1..] {
        total += a.powi(2);
    }
    for b in y {
        total *= 1.0 + b * b;
    }
    for b in y.iter().rev() {
        total = total * b + 0.5;
    }
    total
}

#[differentiable]
fn for_over_an_array_by_value(x: [f64; 3], k: f64) -> f64 {
    let mut total = k;
    for v in x {
        total = total * v + k;
    }
    for w in [k, total, 2.0] {
        total += w * k;
    }
    for v in x.into_iter().rev() {
        total += v * total;
    }
    total
}

#[differentiable]
fn for_enumerated(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for (i, v) in x.iter().enumerate() {
        total += v * i as f64 + total * 0.1;
    }
    for (i, &v) in x.iter().enumerate() {
        total += x[i] * v;
    }
    total
}

#[differentiable]
fn for_zipped(x: &[f64], y: &[f64]) -> f64 {
    let mut total = 0.0;
    for (a, b) in x.iter().zip(y) {
        total += a * b;
    }
    for (i, (a, &b)) in x.iter().zip(y.iter()).enumerate() {
        total += (a - b).powi(2) * i as f64;
    }
    for (a, (b, i)) in std::iter::zip(x, y.iter().zip(0..)) {
        total += a * b;
    }
    total
}

#[differentiable]
fn scale_in_place(x: &mut [f64], k: f64) -> f64 {
    for v in x.iter_mut() {
        *v *= k;
    }
    for v in &mut *x {
        *v += k * k;
    }
    x[0] * k
}

#[differentiable]
fn axpy(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

#[differentiable]
fn axpy_by_for_each(y: &mut [f64], a: f64, x: &[f64]) {
    y.iter_mut().zip(x.iter()).for_each(|(y, &x)| *y = *y * x + a);
    y.iter_mut().enumerate().for_each(|(i, y)| {
        let step = a * i as f64;
        *y += step * *y;
    });
}

#[differentiable]
fn sum_of_squares(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

#[differentiable]
fn plain_sums(x: &[f64], y: &[f64; 2]) -> f64 {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let total: f64 = y.iter().copied().sum();
    let product: f64 = y.iter().product();
    x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() * total + product
}

#[differentiable]
fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>()
}

#[differentiable]
fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[differentiable]
fn cosine(x: &[f64], y: &[f64]) -> f64 {
    let dot: f64 = x.iter().zip(y.iter()).map(|(x, y)| x * y).sum();
    dot / (x.iter().map(|x| x.powi(2)).sum::<f64>() * y.iter().map(|y| y.powi(2)).sum::<f64>()).sqrt()
}

#[differentiable]
fn over_a_range(x: &[f64], k: f64) -> f64 {
    (0..x.len()).map(|i| x[i] * k * i as f64).sum::<f64>()
        + (1..x.len()).rev().map(|i| x[i] * x[i - 1]).sum::<f64>()
}

#[differentiable]
fn over_ranges(x: &[f64], n: usize) -> f64 {
    let a = (1..=n).map(|i| x[i % x.len()] / i as f64).sum::<f64>();
    let b = (0..n).step_by(2).map(|i| x[i % x.len()].sin()).sum::<f64>();
    let c = (0..n).skip(1).zip(2..n).map(|(i, j)| x[i % x.len()] * x[j % x.len()]).sum::<f64>();
    let d = (0..n).take(3).map(|i| x[i % x.len()] * a).product::<f64>();
    a * b + c - d
}

#[differentiable]
fn folds(x: &[f64], k: f64) -> f64 {
    let horner = x.iter().fold(0.0, |acc, c| acc * k + c);
    let squares = x.iter().fold(1.0, |s, &v| s + v * v);
    let block = x.iter().fold(k, |mut s, v| {
        let t = s * v;
        s += t.sin();
        s
    });
    horner * squares + block
}

#[differentiable]
fn extremes(x: &[f64]) -> f64 {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = x.iter().cloned().fold(f64::INFINITY, |a, b| a.min(b));
    let also = x.iter().fold(f64::NEG_INFINITY, |a, &b| f64::max(a, b));
    largest * least + also * also
}

#[differentiable]
fn log_sum_exp(x: &[f64]) -> f64 {
    let m = x.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
    m + x.iter().map(|v| (v - m).exp()).sum::<f64>().ln()
}

#[differentiable]
fn moments(x: &[f64]) -> f64 {
    let (sum, squares) = x.iter().fold((0.0, 0.0), |(s, q), v| (s + v, q + v * v));
    let n = x.len() as f64;
    squares / n - (sum / n) * (sum / n)
}

#[derive(Differentiable, Clone, Copy)]
struct Turn {
    cos: f64,
    sin: f64,
}

/// Accumulators that a pattern takes apart.
#[differentiable]
fn taken_apart(x: &[[f64; 2]]) -> f64 {
    let [a, b] = x.iter().enumerate().fold([0.0, 1.0], |[a, b], (i, x)| [a + b * x[0], b + i as f64 * x[1]]);
    let start = Turn { cos: 1.0, sin: 0.0 };
    let turn =
        x.iter().fold(start, |Turn { cos, sin }, [c, s]| Turn { cos: cos * c - sin * s, sin: cos * s + sin });
    let ((least, most), _) = x.iter().fold(((9.0, -9.0), 0), |((least, most), n): ((f64, f64), i32), x| {
        ((least.min(x[0]), most.max(x[1])), n + 1)
    });
    a * b + turn.cos * turn.sin + least * most
}

#[differentiable]
fn fibonacci(x: f64, n: usize) -> f64 {
    let (a, b) = (0..n).fold((x, 1.0), |(a, b), _| (b, a + b * x));
    a * b
}

#[differentiable]
fn steps_of_a_state(x: &[f64], dt: f64) -> f64 {
    let (position, velocity) = x.iter().fold((1.0, 0.0), |(p, v), force| {
        let v = v + dt * (force - p);
        (p + dt * v, v)
    });
    position * velocity
}

#[differentiable]
fn nested_arrays(rows: &[[f64; 2]], k: f64) -> f64 {
    let mut total = 0.0;
    for row in rows {
        for (j, v) in row.iter().enumerate() {
            total += v * v * (j + 1) as f64 * k;
        }
    }
    total + rows.iter().map(|r| r[0] * r[1]).sum::<f64>() + rows.iter().map(|&[a, b]| a).count() as f64
}

#[differentiable]
fn pairs(x: &[f64]) -> f64 {
    let mut energy = 0.0;
    for (i, a) in x.iter().enumerate() {
        for b in x.iter().skip(i + 1) {
            energy += 1.0 / ((a - b) * (a - b) + 1.0);
        }
    }
    energy
}

#[differentiable]
fn pairs_by_flat_map(x: &[f64]) -> f64 {
    let n = x.len();
    (0..n).flat_map(|i| (0..i).map(move |j| x[i] * x[j])).sum::<f64>()
}

#[differentiable]
fn flattened(rows: &[[f64; 2]], k: f64) -> f64 {
    rows.iter().flatten().map(|v| v.sin() * k).sum::<f64>()
        + rows.iter().flat_map(|row| row.iter()).enumerate().map(|(i, v)| v * i as f64).sum::<f64>()
        + rows.iter().flat_map(|row| row).take(3).fold(1.0, |p, v| p * v)
}

#[differentiable]
fn selected(x: &[f64], k: f64) -> f64 {
    let positive: f64 = x.iter().filter(|v| **v > 0.0).map(|v| v * k).sum();
    let large = x.iter().copied().filter(|&v| v > 0.45).map(|v| v.ln()).sum::<f64>();
    let mapped: f64 = x.iter().map(|v| v * v * k).filter(|v| *v < 0.5).sum();
    let both = x.iter().enumerate().filter(|(i, v)| i % 2 == 0 || **v > 0.0).map(|(_, v)| v * v).sum::<f64>();
    positive * large + mapped + both
}

#[differentiable]
fn filter_mapped(x: &[f64]) -> f64 {
    let logs: f64 = x.iter().filter_map(|&v| if v > 0.0 { Some(v.ln()) } else { None }).sum();
    let roots: f64 = x.iter().filter_map(|v| (*v > 0.2).then(|| v.sqrt())).sum();
    let more = x
        .iter()
        .filter_map(|&v| {
            let w = v * 2.0;
            if w > 0.0 {
                let u = w * v;
                Some(u.sqrt())
            } else {
                None
            }
        })
        .fold(1.0, |p, v| p * (1.0 + v));
    logs + roots * more
}

#[differentiable]
fn as_long_as(x: &[f64], limit: f64) -> f64 {
    let head: f64 = x.iter().take_while(|&&v| v < limit).map(|v| v * v).sum();
    let tail: f64 = x.iter().skip_while(|v| **v < limit).map(|v| v * limit).sum();
    // Items behind the end are not looked at.
    let scaled: f64 = (0..100).map(|i| x[i] * 2.0).take_while(|v| *v < 1.0).sum();
    head * tail + scaled
}

#[differentiable]
fn running(x: &[f64], k: f64) -> f64 {
    let total: f64 = x
        .iter()
        .scan(k, |state, v| {
            *state = *state * 0.5 + v;
            Some(*state)
        })
        .map(|s| s * s)
        .sum();
    let product = x
        .iter()
        .scan(1.0, |p, &v| {
            *p *= v;
            Some(p.sin())
        })
        .fold(0.0, |a, b| a * k + b);
    total + product
}

#[differentiable]
fn parts(x: &[f64], n: usize) -> f64 {
    let a: f64 = x.iter().skip(n).sum();
    let b: f64 = x.iter().take(n).map(|v| v * a).sum();
    let c: f64 = x.iter().step_by(2).map(|v| v * v).sum();
    let d: f64 = x.iter().skip(1).step_by(2).rev().fold(1.0, |s, v| s * 0.5 + v);
    let e = x.iter().rev().skip(1).zip(x.iter().rev()).map(|(a, b)| a * b).sum::<f64>();
    let f = x.iter().rev().enumerate().map(|(i, v)| v * i as f64).sum::<f64>();
    let g: f64 = x.iter().enumerate().rev().map(|(i, v)| v * i as f64 * a).sum();
    a + b + c * d + e * f + g
}

#[differentiable]
fn counted_after_a_filter(x: &[f64]) -> f64 {
    let a: f64 = x.iter().filter(|v| **v > 0.0).enumerate().map(|(i, v)| v * i as f64).sum();
    let b: f64 = x.iter().filter(|v| **v > 0.0).skip(1).map(|v| v * v).sum();
    let c: f64 = x.iter().filter(|v| **v > 0.0).take(2).map(|v| v.sin()).sum();
    let d: f64 = x.iter().filter(|v| **v > 0.0).step_by(2).map(|v| v.exp()).sum();
    let e = x.iter().filter(|v| **v > 0.0).rev().fold(1.0, |s, v| s * 0.5 + v);
    a + b * c + d * e
}

#[differentiable]
fn chained(x: &[f64], y: &[f64], k: f64) -> f64 {
    let a = x.iter().chain(y).map(|v| v * v).sum::<f64>();
    let b = x.iter().chain(y.iter()).chain(&[1.0, 2.0]).fold(k, |s, v| s * 0.5 + v);
    let c: f64 = x.iter().copied().chain(std::iter::once(k)).enumerate().map(|(i, v)| v * i as f64).sum();
    let d = x.iter().chain(y).rev().fold(1.0, |s, v| s * k + v);
    a * b + c * d
}

#[differentiable]
fn repeated(x: &[f64], k: f64, n: usize) -> f64 {
    let a: f64 = std::iter::repeat(k).take(n).sum();
    let b: f64 = x.iter().zip(std::iter::repeat(k * k)).map(|(v, k)| v * k).sum();
    let c: f64 = std::iter::repeat_n(a, 2).product();
    a + b * c
}

#[differentiable]
fn reduced(x: &[f64], k: f64) -> f64 {
    let a = x.iter().copied().reduce(f64::max).unwrap();
    let b = x.iter().map(|v| v * k).reduce(|a, b| a * 0.5 + b).expect("there are items");
    let c = x.iter().copied().filter(|v| *v > 0.0).reduce(|a, b| a * b).unwrap_or(k);
    a * b + c
}

#[differentiable]
fn extreme_items(x: &[f64], k: f64) -> f64 {
    let largest = x.iter().max_by(|a, b| a.partial_cmp(b).unwrap()).unwrap();
    let least = x.iter().copied().min_by(|a, b| a.total_cmp(b)).unwrap();
    let (at, v) = x.iter().enumerate().max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs())).unwrap();
    let mapped = x.iter().map(|v| v * k).max_by(f64::total_cmp).unwrap_or(0.0);
    let sine = x.iter().max_by(|a, b| a.total_cmp(b)).map(|v| v.sin()).unwrap();
    largest * least + v * at as f64 + mapped * sine
}

#[differentiable]
fn single_items(x: &[f64]) -> f64 {
    let last = x.iter().last().unwrap();
    let third = *x.iter().nth(2).unwrap_or(&x[0]);
    let first = x.iter().next().unwrap();
    let back = x.iter().rev().map(|v| v * v).nth(1).unwrap_or(2.0);
    last * first + third * back
}

#[differentiable]
fn questions(x: &[f64], y: &[f64]) -> f64 {
    let n = x.iter().filter(|v| **v > 0.0).count();
    let any = x.iter().any(|&v| v > 0.9);
    let at = x.iter().position(|v| *v < 0.0).unwrap_or(0);
    let mut total = x[at] * n as f64;
    if x.iter().all(|x| *x < 2.0) && any {
        total *= x[0];
    }
    while total.abs() > 1.0 + y.iter().sum::<f64>().abs() {
        total *= y[0];
    }
    total
}

#[differentiable]
fn gathered(x: &[f64], indices: &[usize], weights: &[f64]) -> f64 {
    indices.iter().zip(weights).map(|(&i, w)| x[i] * w).sum::<f64>()
        + indices.iter().map(|i| x[*i].sin()).sum::<f64>()
        + indices.iter().sum::<usize>() as f64 * x[0]
}

#[differentiable]
fn in_branches(x: &[f64], k: f64) -> f64 {
    let s = if k > 0.0 {
        x.iter().map(|v| v * k).sum::<f64>()
    } else if k < -1.0 {
        x.iter().product::<f64>()
    } else {
        let m: f64 = x.iter().sum();
        m * m
    };
    let t = 2.0 * if s > 1.0 { s } else { x.iter().map(|v| v.cos()).sum() };
    s * t
}

#[differentiable]
fn in_loops(x: &mut [f64], steps: usize, k: f64) -> f64 {
    let mut total = 0.0;
    for step in 0..steps {
        let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
        for v in x.iter_mut() {
            *v = *v / norm + k * step as f64;
        }
        total += x.iter().zip(x.iter().skip(1)).map(|(a, b)| a * b).sum::<f64>();
    }
    total
}

#[differentiable]
fn names_that_meet(x: &[f64], a: f64) -> f64 {
    let v = a * 2.0;
    // The second closure's `a` is the parameter of the function.
    let one: f64 = x.iter().map(|a| a * v).map(|b| b * a).sum();
    let two: f64 = x.iter().map(|x| x * a).map(|x| x + v).filter(|x| *x > 0.0).sum();
    let i = 3.0;
    let total = x.iter().map(|v| v * i).fold(v, |total, v| total * 0.5 + v * a);
    let x = x
        .iter()
        .map(|x| {
            let a = x * x;
            let v = a * i;
            v
        })
        .map(|v| v + a)
        .sum::<f64>();
    one * two + total * x
}

#[differentiable]
fn tuples_as_items(x: &[f64], y: &[f64]) -> f64 {
    let a: f64 = x.iter().zip(y).map(|p| p.0 * p.1).sum();
    let b: f64 = x.iter().zip(y).map(|(a, b)| (a + b, a * b)).map(|(s, p)| s * p).sum();
    let c = x.iter().zip(y).filter(|(a, b)| **a > **b).map(|(a, b)| a - b).sum::<f64>();
    let d: f64 = x.iter().map(|v| (v.sin(), v.cos())).fold(0.0, |acc, (s, c)| acc * s + c);
    a + b * c + d
}

#[differentiable]
fn three_zipped(x: &[f64], y: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(y).zip(z).map(|((x, y), z)| x * y * z).sum::<f64>()
        + x.iter().zip(y.iter().zip(z.iter())).map(|(x, (y, z))| x / (1.0 + y * y + z * z)).sum::<f64>()
}

#[differentiable]
fn of_single_precision(x: &[f32], y: &[f32]) -> f32 {
    let dot: f32 = x.iter().zip(y).map(|(a, b)| a * b).sum();
    dot * x.iter().map(|&v| v.sin()).sum::<f32>() + x.iter().fold(0.0, |a, b| a + b)
}

#[differentiable]
fn with_a_call(x: &[f64], y: &[f64]) -> f64 {
    let a: f64 = x.chunks(2).map(norm).sum();
    x.iter()
        .map(|&v| {
            let pair = [v, a];
            dot(&pair, y)
        })
        .sum::<f64>()
}

#[differentiable]
fn of_locals(x: &[f64], k: f64) -> f64 {
    let mut y = [0.0; 4];
    for (y, x) in y.iter_mut().zip(x) {
        *y = x * k;
    }
    let before: f64 = y.iter().sum();
    y.iter_mut().for_each(|v| *v = v.sin() * *v);
    before * y.iter().product::<f64>()
}

#[differentiable]
fn collected(x: &[f64], k: f64) -> f64 {
    let scaled: Vec<f64> = x.iter().map(|v| v * k).collect();
    let shifted = x.iter().enumerate().map(|(i, v)| v + i as f64).collect::<Vec<_>>();
    scaled.iter().zip(&shifted).map(|(a, b)| a * b).sum()
}

#[differentiable]
fn collected_items(x: &[f64], k: f64) -> f64 {
    let positive: Vec<f64> = x.iter().copied().filter(|v| *v > 0.0).map(|v| v * k).collect();
    let pairs: Vec<[f64; 2]> = x.iter().map(|v| [v * k, v.sin()]).collect();
    let mut total = positive.iter().map(|v| v * v).sum::<f64>();
    for p in &pairs {
        total += p[0] * p[1];
    }
    total
}

#[differentiable]
fn found(x: &[f64], limit: f64) -> f64 {
    let a = x.iter().find(|v| **v > limit).unwrap_or(&x[0]);
    let (i, b) = x.iter().enumerate().find(|(i, _)| *i > 0).unwrap();
    a * b * i as f64 + x.iter().copied().find(|&v| v < 0.0).unwrap_or(limit)
}

#[differentiable]
fn softmax_entropy(x: &[f64]) -> f64 {
    let m = x.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
    let e: Vec<f64> = x.iter().map(|v| (v - m).exp()).collect();
    let z: f64 = e.iter().sum();
    -e.iter().map(|v| v / z * (v / z).ln()).sum::<f64>()
}

#[differentiable]
fn inspected(x: &[f64], limit: f64) -> f64 {
    x.iter()
        .inspect(|v| assert!(v.is_finite()))
        .map(|v| v * limit)
        .inspect(|v| {
            debug_assert!(*v < 1e9);
        })
        .sum()
}

#[differentiable]
fn nested_sums(x: &[f64], y: &[f64]) -> f64 {
    x.iter().map(|a| y.iter().map(|b| (a - b).powi(2)).sum::<f64>().sqrt()).sum::<f64>()
        + x.iter()
            .map(|a| {
                let s: f64 = y.iter().map(|b| b * a).sum();
                s.sin() * a
            })
            .sum::<f64>()
}

#[differentiable]
fn nothing_to_sum(x: &[f64], k: f64) -> f64 {
    // The sum over nothing is −0, and 1 / −0 is −∞.
    x.iter().sum::<f64>().recip().max(-10.0) * k
}

#[differentiable]
fn of_an_array1(x: &Array1<f64>, y: &mut Array1<f64>, k: f64) -> f64 {
    let mut total = x.iter().sum::<f64>() * k;
    for &v in x {
        total += v * v;
    }
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y += k * x;
    }
    total + x.iter().zip(y.iter()).map(|(a, b)| a * b).sum::<f64>()
}

#[differentiable]
fn of_an_array2(a: &Array2<f64>, b: &Array2<f64>, k: f64) -> f64 {
    let total: f64 = a.iter().map(|v| v.sin() * k).sum();
    let dot = a.iter().zip(b.iter()).map(|(a, b)| a * b).sum::<f64>();
    let mut weighted = 0.0;
    for (i, v) in a.iter().enumerate() {
        weighted += v * i as f64;
    }
    for v in b {
        weighted += v * v;
    }
    total * dot + weighted + a.iter().cloned().fold(f64::NEG_INFINITY, f64::max)
}

#[differentiable]
fn scale_an_array2(a: &mut Array2<f64>, k: f64) {
    for v in a.iter_mut() {
        *v *= k;
    }
    a.iter_mut().for_each(|v| *v += k);
}

#[derive(Clone, Copy, Differentiable)]
pub struct Moving {
    x: f64,
    v: f64,
}

#[differentiable]
fn some_in_place(n: &mut [f64], g: f64) {
    for p in n.iter_mut().filter(|x| **x > 0.0) {
        *p *= g * *p;
    }
    n.iter_mut().filter(|x| **x < 0.5).for_each(|x| *x += g.sin() * *x);
    for (i, p) in n.iter_mut().enumerate().filter(|(i, p)| i % 2 == 0 && **p > 0.1) {
        *p += g * i as f64;
    }
    n.iter_mut().zip([0.3, 0.7]).take_while(|(x, _)| **x < 9.0).for_each(|(x, k)| *x *= k * g);
}

#[differentiable]
fn some_structs_in_place(n: &mut [Moving], g: f64) {
    for p in n.iter_mut().filter(|p| p.x > 0.0) {
        p.x += p.v * g;
        p.v *= p.x;
    }
    for p in n.iter_mut().skip_while(|p| p.v > 0.5) {
        p.x *= g;
    }
}

#[test]
fn filtered_and_changed() {
    check_rule(some_in_place::rule, [(vec![0.3, -0.8, 0.9, 0.2], 0.7), (vec![0.6, 0.4], 1.2), (vec![], 0.3)]);
    let (one, other) = (Moving { x: 0.3, v: 0.7 }, Moving { x: -0.3, v: 0.2 });
    check_rule(some_structs_in_place::rule, [(vec![one, other, one], 0.4), (vec![other, one], 0.9)]);
}

#[test]
fn of_ndarrays() {
    let x = |n: usize| Array1::from_shape_fn(n, |i| (i as f64 + 1.0).sin());
    let a =
        |n: usize, m: usize| Array2::from_shape_fn((n, m), |(i, j)| (i as f64 * 2.0 + j as f64 + 1.0).cos());
    check_rule(of_an_array1::rule, [(x(4), x(4), 0.3), (x(0), x(0), 0.7)]);
    check_rule(of_an_array2::rule, [(a(2, 3), a(2, 3), 0.3), (a(1, 1), a(1, 1), 0.7)]);
    check_rule(scale_an_array2::rule, [(a(2, 3), 0.3), (a(0, 2), 0.7)]);
}

#[test]
fn in_for_loops() {
    let x = || vec![0.5, -0.4, 1.2];
    check_rule(for_over_a_slice::rule, [(x(),), (vec![],)]);
    check_rule(for_by_value::rule, [(x(), 0.7), (vec![], 0.3)]);
    check_rule(for_over_references::rule, [(x(), [0.3, 0.9, -0.6]), (vec![0.3], [0.3, 0.1, 0.8])]);
    check_rule(for_over_an_array_by_value::rule, [([0.3, 0.9, -0.6], 0.4), ([1.3, 0.2, 0.7], -0.8)]);
    check_rule(for_enumerated::rule, [(x(),), (vec![],)]);
    check_rule(for_zipped::rule, [(x(), vec![0.3, 0.9, -0.6]), (x(), vec![0.2]), (vec![], x())]);
    check_rule(pairs::rule, [(x(),), (vec![0.5, -0.4, 1.2, 2.0],)]);
    check_rule(in_loops::rule, [(x(), 3, 0.4), (x(), 0, 0.2)]);
}

#[test]
fn in_place() {
    let x = || vec![0.5, -0.4, 1.2];
    check_rule(scale_in_place::rule, [(x(), 0.7), (vec![0.3], 0.3)]);
    check_rule(axpy::rule, [(x(), 0.7, vec![0.3, 0.9, -0.6]), (x(), 0.3, vec![0.4])]);
    check_rule(axpy_by_for_each::rule, [(x(), 0.7, vec![0.3, 0.9, -0.6]), (x(), 0.3, vec![0.4])]);
    check_rule(of_locals::rule, [(x(), 0.7), (vec![0.3, 0.4, 0.5, 0.6, 0.7], 0.3)]);
}

#[test]
fn sums_and_folds() {
    let x = || vec![0.5, -0.4, 1.2];
    let y = || vec![0.3, 0.9, -0.6];
    check_rule(sum_of_squares::rule, [(x(),), (vec![],)]);
    check_rule(plain_sums::rule, [(x(), [0.3, 0.4]), (vec![0.1], [0.7, -0.2])]);
    check_rule(dot::rule, [(x(), y()), (x(), vec![0.5]), (vec![], x())]);
    check_rule(norm::rule, [(x(),), (vec![0.3],)]);
    check_rule(cosine::rule, [(x(), y()), (vec![0.5, 0.1], vec![0.2, 0.6])]);
    check_rule(over_a_range::rule, [(x(), 0.4), (vec![0.4], 0.3)]);
    check_rule(over_ranges::rule, [(x(), 5), (vec![0.4, 0.2], 3)]);
    check_rule(folds::rule, [(x(), 0.4), (vec![], 0.3)]);
    check_rule(taken_apart::rule, [(vec![[0.3, 0.8], [0.7, 0.2], [0.4, 0.5]],), (vec![[0.6, 0.1]],)]);
    check_rule(extremes::rule, [(x(),), (vec![0.3, 0.7],)]);
    check_rule(log_sum_exp::rule, [(x(),), (vec![0.3, 0.7],)]);
    check_rule(moments::rule, [(x(),), (vec![0.3, 0.7],)]);
    check_rule(fibonacci::rule, [(0.4, 5), (0.3, 0)]);
    check_rule(steps_of_a_state::rule, [(x(), 0.1), (vec![], 0.3)]);
    check_rule(reduced::rule, [(x(), 0.1), (vec![-0.4, -0.3], 0.3)]);
    check_rule(of_single_precision::rule, [(vec![0.5, -0.4], vec![0.3, 0.9]), (vec![0.1], vec![0.2])]);
    check_rule(nothing_to_sum::rule, [(vec![], 0.5), (vec![0.5], 2.0)]);
}

#[test]
fn of_parts() {
    let x = || vec![0.5, -0.4, 1.2, 0.3];
    check_rule(nested_arrays::rule, [(vec![[0.5, -0.4], [1.2, 0.3]], 0.6), (vec![], 0.3)]);
    check_rule(pairs_by_flat_map::rule, [(x(),), (vec![],)]);
    check_rule(flattened::rule, [(vec![[0.5, -0.4], [1.2, 0.3]], 0.6), (vec![[0.5, 0.2]], 0.3)]);
    check_rule(parts::rule, [(x(), 1), (x(), 7), (vec![0.5, 0.2, 0.4, 0.8, 0.9], 2)]);
    check_rule(chained::rule, [(x(), vec![0.7, 0.2], 0.3), (vec![], x(), 0.8)]);
    check_rule(repeated::rule, [(x(), 0.7, 3), (vec![], 0.8, 0)]);
}

#[test]
fn with_conditions() {
    let x = || vec![0.5, -0.4, 1.2, 0.3];
    check_rule(selected::rule, [(x(), 0.6), (vec![], 0.3)]);
    check_rule(filter_mapped::rule, [(x(),), (vec![0.8],)]);
    check_rule(as_long_as::rule, [(vec![0.1, 0.2, 0.6, 0.3, 0.8], 0.55), (vec![0.7, 0.2], 0.4)]);
    check_rule(running::rule, [(x(), 0.6), (vec![], 0.3)]);
    check_rule(counted_after_a_filter::rule, [(x(),), (vec![0.2, -0.3],)]);
    check_rule(extreme_items::rule, [(x(), 0.6), (vec![0.2, 0.1], -0.3)]);
    check_rule(single_items::rule, [(x(),), (vec![0.2, 0.7],)]);
    check_rule(questions::rule, [(x(), vec![0.4, 0.1]), (vec![0.2, -0.7], vec![0.3])]);
    check_rule(in_branches::rule, [(x(), 0.6), (vec![0.2, 0.7], -1.3), (vec![1.2, 0.7], -0.3)]);
}

#[test]
fn of_everything() {
    let x = || vec![0.5, -0.4, 1.2];
    let y = || vec![0.3, 0.9, -0.6];
    check_rule(gathered::rule, [(x(), vec![2, 0, 0], y()), (vec![0.5], vec![], vec![])]);
    check_rule(names_that_meet::rule, [(x(), 0.6), (vec![0.2], 0.3)]);
    check_rule(tuples_as_items::rule, [(x(), y()), (vec![0.2], vec![0.1])]);
    check_rule(three_zipped::rule, [(x(), y(), vec![0.4, 0.7]), (vec![], y(), y())]);
    check_rule(with_a_call::rule, [(x(), vec![0.3, 0.8]), (vec![0.2], vec![0.1, 0.9])]);
    check_rule(collected::rule, [(x(), 0.3), (vec![0.2], 0.9)]);
    check_rule(collected_items::rule, [(x(), 0.3), (vec![0.2], 0.9)]);
    check_rule(found::rule, [(x(), 0.6), (vec![0.2, 0.1], 0.9)]);
    check_rule(softmax_entropy::rule, [(x(),), (vec![0.2, 0.4],)]);
    check_rule(inspected::rule, [(x(), 0.3), (vec![], 0.9)]);
    check_rule(nested_sums::rule, [(x(), y()), (vec![0.2], vec![0.1])]);
}

/// `max` and `min` of the number that a chain comes to, in parentheses or not.
#[differentiable]
fn limited(x: &[f64], low: f64) -> f64 {
    let total = x.iter().sum::<f64>().max(low) * (x.iter().map(|x| x * x).sum::<f64>()).min(2.0);
    total + x.iter().map(|x| x.sin()).fold(0.0, |t, x| t * 0.5 + x).max(x.iter().product::<f64>())
}

#[test]
fn numbers_that_are_limited() {
    check_rule(limited::rule, [(vec![0.5, -0.4, 1.2], 0.3), (vec![0.2, -0.4], 0.9), (vec![1.2, 1.4], -0.3)]);
}

#[differentiable]
fn called_as_what_it_goes_through(v: &[f64]) -> f64 {
    let mut total = 0.0;
    for v in v {
        total += v * v;
    }
    for (i, v) in v.iter().enumerate() {
        total += v * v * i as f64;
    }
    for v in v.chunks(2) {
        for (k, v) in v.iter().enumerate().rev() {
            total += v.sin() * k as f64;
        }
    }
    for (i, v) in v.windows(2).enumerate().skip(1) {
        total += v[0] * v[1] * i as f64;
    }
    let mut v = v.to_vec();
    for (i, v) in v.iter_mut().enumerate() {
        *v += i as f64 * *v * total;
    }
    let v: Vec<f64> = v.iter().map(|v| v * 2.0).collect();
    let v = v.iter().zip(&v[1..]).map(|(v, w)| v * w).sum::<f64>();
    v * total
}

/// Each of the two is called as the other one.
#[differentiable]
fn crossed(x: &[f64]) -> f64 {
    let a = vec![vec![x[0], x[1]], vec![x[2], x[0]]];
    let b = vec![vec![x[1] * 2.0, x[1]], vec![x[0], x[1]]];
    let mut total = 0.0;
    for (a, b) in b.iter().zip(&a) {
        total += a[0] * b[0].sin() * b[1];
        for (b, a) in a.iter().zip(b) {
            total += a * b * b;
        }
    }
    let (a, b) = (&a[0], &b[1]);
    total + a.iter().zip(b).map(|(b, a)| a * b * b).sum::<f64>()
}

/// Taken the wrong way round these would compile as well.
#[differentiable]
fn crossed_rows(x: &[f64]) -> f64 {
    let a = vec![vec![vec![x[0], x[1]]], vec![vec![x[2], x[0]]]];
    let b = vec![vec![vec![x[1] * 2.0, x[1]]], vec![vec![x[0], x[1]]]];
    let mut total = 0.0;
    for (a, b) in b.iter().zip(&a) {
        for (b, a) in a.iter().zip(b) {
            total += a[0] * b[0].sin() * b[1];
        }
    }
    total
}

#[test]
fn names_of_what_is_gone_through() {
    check_rule(called_as_what_it_goes_through::rule, [(vec![0.5, -0.4, 1.2],), (vec![0.3, 0.9, 0.6, 0.1],)]);
    check_rule(crossed::rule, [(vec![0.5, -0.4, 1.2],), (vec![0.3, 0.9, 0.6, 0.1],)]);
    check_rule(crossed_rows::rule, [(vec![0.5, -0.4, 1.2],), (vec![0.3, 0.9, 0.6, 0.1],)]);
}

#[differentiable]
fn changed_elements(x: f64, y: f64) -> f64 {
    let mut total = x;
    let mut a = [x, y, x * y];
    for v in a {
        a[1] = total * y;
        a[2] = total * y;
        total += v * total + a[2];
    }
    for (i, v) in a.into_iter().enumerate() {
        a[2 - i] = total * v;
        total += v.sin();
    }
    total + a[0]
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Filter {
    taps: [f64; 3],
    gain: f64,
}

#[differentiable]
fn changed_fields(filter: &mut Filter, x: &mut [f64; 3], y: f64) -> f64 {
    let mut total = y;
    for (v, tap) in x.iter().copied().zip(filter.taps) {
        filter.taps[2] = total * v;
        total += tap * total;
    }
    for v in *x {
        x[2] = total * v;
        total += v * total;
    }
    for tap in filter.taps {
        total += tap * filter.gain;
    }
    total
}

/// An iterator over an array by value has a copy of it.
#[test]
fn arrays_that_change_on_the_way() {
    check_rule(changed_elements::rule, [(0.4, 0.7), (0.3, -0.6)]);
    let filter = Filter { taps: [0.1, 0.2, 0.3], gain: 0.4 };
    check_rule(changed_fields::rule, [(filter, [0.2, 0.3, 0.4], 0.9), (filter, [0.7, 0.1, 0.5], 0.3)]);
}
