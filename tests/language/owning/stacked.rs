//! Vectors of vectors whose rows are taken out again: popped, removed, inserted and cut off.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn popped_and_removed(x: &[f64], k: f64) -> f64 {
    let mut rows = vec![x.to_vec(), vec![k; x.len()]];
    rows.push(vec![x[0] * k, k]);
    let row = rows.pop().unwrap();
    rows[0][0] *= k;
    let first = rows.remove(0);
    row[0] * row[1] + first[0] * rows[0][0]
}

/// A machine with a stack of vectors: numbers push, −1 adds, −2 multiplies.
#[differentiable]
fn machine(code: &[i32], x: &[f64]) -> f64 {
    let mut stack: Vec<Vec<f64>> = Vec::new();
    for k in 0..code.len() {
        if code[k] >= 0 {
            let mut v = x.to_vec();
            v[0] *= code[k] as f64;
            stack.push(v);
        } else {
            let b = stack.pop().unwrap();
            let mut a = stack.pop().expect("two operands");
            for i in 0..a.len() {
                if code[k] == -1 {
                    a[i] += b[i];
                } else {
                    a[i] *= b[i];
                }
            }
            stack.push(a);
        }
    }
    let top = stack.pop().unwrap();
    top.iter().sum()
}

#[differentiable]
fn inserted_and_cut(x: &[f64], k: f64) -> f64 {
    let mut rows: Vec<Vec<f64>> = vec![x.to_vec(), vec![k; 2]];
    rows.insert(1, vec![k * k, x[0], x[0]]);
    rows[1][0] *= x[1];
    let extra = vec![x[0] * x[1]];
    rows.insert(0, extra);
    rows.truncate(3);
    let mut total = 0.0;
    for row in &rows {
        for v in row {
            total += v * v;
        }
    }
    rows.clear();
    rows.push(vec![total, k]);
    rows[0][0] * rows[0][1]
}

/// A window of the last two states; what falls out is looked at.
#[differentiable]
fn window(x: &[f64], k: f64, steps: usize) -> f64 {
    let mut window: Vec<Vec<f64>> = Vec::new();
    let mut total = 0.0;
    let mut state = x.to_vec();
    for _ in 0..steps {
        for v in state.iter_mut() {
            *v = v.sin() * k;
        }
        window.push(state.clone());
        if window.len() > 2 {
            let old = window.remove(0);
            total += old[0] * window[1][0];
        }
    }
    total
}

/// From one vector to the other.
#[differentiable]
fn handed_over(x: &[f64], k: f64) -> f64 {
    let mut from = vec![x.to_vec(), vec![k; 2]];
    let mut to: Vec<Vec<f64>> = Vec::new();
    to.push(from.pop().unwrap());
    let mut row = from.remove(0);
    row[0] *= k;
    to.push(row);
    to[0][0] * to[1][0] * to[1][1]
}

/// Nobody looks at what is taken out.
#[differentiable]
fn dropped(x: &[f64], k: f64) -> f64 {
    let mut rows = vec![x.to_vec(), vec![k; 2], vec![k * x[0], k]];
    rows[1][0] *= x[1];
    rows[2][0] *= rows[1][0];
    let scale = rows[2][0];
    rows.pop();
    rows.remove(0);
    rows[0][0] * rows[0][1] * scale
}

#[differentiable]
fn until_empty(x: &[f64], k: f64) -> f64 {
    let mut rows = vec![x.to_vec(), vec![k; 3]];
    rows[1][2] *= x[0];
    let mut total = 0.0;
    while let Some(row) = rows.pop() {
        for v in &row {
            total = 0.5 * total + v * v;
        }
        if row.len() > 2 {
            rows.push(vec![total, k]);
        }
    }
    if let Some(row) = rows.pop() { total * row[0] } else { total * k }
}

fn inputs() -> [(Vec<f64>, f64); 2] {
    [(vec![0.5, 0.7], 0.3), (vec![0.5, 0.7, -0.2], 0.4)]
}

#[test]
fn taken_out() {
    check_rule(popped_and_removed::rule, inputs());
    check_rule(
        machine::rule,
        [(vec![1, 2, -1, 3, -2], vec![0.5, 0.7]), (vec![1, 2, 3, -1, -1], vec![0.5, 0.7, -0.2])],
    );
    check_rule(handed_over::rule, inputs());
    check_rule(dropped::rule, inputs());
    check_rule(until_empty::rule, inputs());
}

#[test]
fn put_in_and_cut_off() {
    check_rule(inserted_and_cut::rule, inputs());
    check_rule(window::rule, [(vec![0.5, 0.7], 0.3, 4), (vec![0.5, 0.7, -0.2], 0.4, 6), (vec![0.5], 0.1, 0)]);
}
