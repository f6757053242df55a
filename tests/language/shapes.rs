//! Random inputs and shapes, for functions like those of the other modules.

use proptest::collection::vec;
use proptest::prelude::*;
use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn recurrence(x: &[f64], k: f64) -> f64 {
    let (mut a, mut b) = (k, 1.0);
    for i in 0..x.len() {
        let next = (a * x[i]).sin() + b * k;
        b = a;
        a = next;
        a *= 0.5 + x[i];
    }
    a + b
}

#[differentiable]
fn scan(x: &mut [f64], k: f64) -> f64 {
    for i in 1..x.len() {
        x[i] += k * x[i - 1] * x[i];
    }
    for i in (1..x.len()).rev() {
        x[i - 1] *= x[i];
    }
    let mut total = k;
    for i in 0..x.len() {
        total += x[i];
    }
    total
}

#[differentiable]
fn mirrored(x: &mut [f64], y: &[f64]) {
    let n = x.len();
    for i in 0..n / 2 {
        let t = x[i];
        x[i] = x[n - 1 - i] * y[i];
        x[n - 1 - i] = t + y[0];
    }
}

#[differentiable]
fn scattered(x: &[f64], to: &[usize], k: f64) -> f64 {
    let mut bins = [1.0; 4];
    for i in 0..x.len() {
        let bin = to[i] % 4;
        bins[bin] = bins[bin] * x[i] + bins[(bin + 1) % 4] * k;
    }
    bins[0] + bins[1] * bins[2] - bins[3]
}

#[differentiable]
fn integer_branches(x: &[f64], to: &[usize]) -> f64 {
    let mut s = 1.0;
    let mut level = 0;
    for i in 0..x.len() {
        if to[i] % 3 == 0 {
            level += to[i];
        } else if to[i] % 3 == 1 {
            s *= x[i];
            level = level / 2;
        }
        for j in 0..level % 4 {
            s = s * 0.5 + x[(i + j) % x.len()];
        }
    }
    s * level as f64
}

#[differentiable]
fn triangular(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut row = 1.0;
        for j in (i..x.len()).step_by(2) {
            row *= 0.5 + x[j] * x[i];
        }
        total += row;
    }
    total
}

#[differentiable]
fn ladder(x: &[f64], steps: usize) -> f64 {
    let mut i = 0;
    let mut s = 0.1;
    while i < steps {
        let here = &x[i % x.len()..];
        i += 1 + here.len() % 2;
        s = s + here[0] * (1.0 - s * s);
    }
    s
}

#[differentiable]
fn scale(x: &mut [f64], k: f64) {
    for i in 0..x.len() {
        x[i] *= k;
    }
}

#[differentiable]
fn windows(x: &mut [f64], width: usize, k: f64) -> f64 {
    let mut total = 0.0;
    let mut from = 0;
    while from + width < x.len() {
        let s = x[from] * k;
        scale(&mut x[from..from + width], s);
        from += 1;
        total += x[from] * s;
    }
    total
}

#[differentiable]
fn matrix(m: &[[f64; 3]], v: [f64; 3]) -> [f64; 3] {
    let mut out = v;
    for i in 0..m.len() {
        let old = out;
        for j in 0..3 {
            out[j] = m[i][j] * old[(j + 1) % 3] + old[j];
        }
    }
    out
}

#[differentiable]
fn single(x: &[f32], k: f32) -> f32 {
    let mut s = k;
    for i in 0..x.len() {
        s = 0.5 * s + (x[i] as f64 * s as f64).sin() as f32;
    }
    s
}

fn numbers() -> impl Strategy<Value = Vec<f64>> {
    vec(-1.0..1.0, 0..9)
}

fn some_numbers() -> impl Strategy<Value = Vec<f64>> {
    vec(-1.0..1.0, 1..9)
}

fn numbers_and_indices() -> impl Strategy<Value = (Vec<f64>, Vec<usize>)> {
    vec((-1.0..1.0, 0_usize..20), 0..9).prop_map(|pairs| pairs.into_iter().unzip())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_recurrences(inputs in vec((numbers(), -1.0..1.0), 1..4)) {
        check_rule(recurrence::rule, inputs);
    }

    #[test]
    fn of_scans(inputs in vec((numbers(), -1.0..1.0), 1..4)) {
        check_rule(scan::rule, inputs);
    }

    #[test]
    fn of_mirrors(inputs in vec((numbers(), vec(-1.0..1.0, 9)), 1..4)) {
        check_rule(mirrored::rule, inputs);
    }

    #[test]
    fn of_bins(inputs in vec((numbers_and_indices(), -1.0..1.0), 1..4)) {
        check_rule(scattered::rule, inputs.into_iter().map(|((x, to), k)| (x, to, k)));
    }

    #[test]
    fn of_branches(inputs in vec(numbers_and_indices(), 1..4)) {
        check_rule(integer_branches::rule, inputs);
    }

    #[test]
    fn of_triangles(inputs in vec(numbers(), 1..4)) {
        check_rule(triangular::rule, inputs.into_iter().map(|x| (x,)));
    }

    #[test]
    fn of_ladders(inputs in vec((some_numbers(), 0_usize..7), 1..4)) {
        check_rule(ladder::rule, inputs);
    }

    #[test]
    fn of_windows(inputs in vec((numbers(), 1_usize..4, -1.0..1.0), 1..4)) {
        check_rule(windows::rule, inputs);
    }

    #[test]
    fn of_matrices(inputs in vec((vec(proptest::array::uniform3(-1.0..1.0), 0..5), proptest::array::uniform3(-1.0..1.0)), 1..4)) {
        check_rule(matrix::rule, inputs);
    }

    #[test]
    fn of_singles(inputs in vec((vec(-1.0_f32..1.0, 0..9), -1.0_f32..1.0), 1..4)) {
        check_rule(single::rule, inputs);
    }
}
