//! Vectors that leave a block as its value, and vectors that are moved out of an enclosing block.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

#[differentiable]
fn scaled(x: &[f64], k: f64) -> Vec<f64> {
    let mut y = x.to_vec();
    for v in y.iter_mut() {
        *v *= k * *v;
    }
    y
}

#[differentiable]
fn value_of_a_block(x: &[f64], k: f64) -> f64 {
    let v = {
        let mut w = vec![k; x.len()];
        w[0] *= x[0];
        w.push(x[1]);
        w
    };
    let mut total = 0.0;
    for (i, a) in v.iter().enumerate() {
        total += a * a * (i + 1) as f64;
    }
    total
}

#[differentiable]
fn one_of_two(x: &[f64], k: f64) -> f64 {
    let a = x.to_vec();
    let b: Vec<f64> = scaled(x, k);
    let v = if k > 0.35 { a } else { b };
    v[0] * v[1] * k
}

/// One that was there before, and others made for the purpose.
#[differentiable]
fn one_of_several(x: &[f64], k: f64, which: usize) -> f64 {
    let mut a = vec![k, x[0]];
    a[0] *= x[1];
    let mut v = match which {
        0 => a,
        1 => x.to_vec(),
        2 => {
            let mut w = scaled(x, k);
            w[0] += k;
            w
        }
        _ => vec![k; 2],
    };
    v[1] *= v[0];
    v[0] * v[1]
}

#[differentiable]
fn positive(x: &[f64]) -> Option<Vec<f64>> {
    if x[0] < 0.0 {
        return None;
    }
    let mut y = x.to_vec();
    y[0] *= y[1];
    Some(y)
}

/// Each vector is made of the last one, under the same name.
#[differentiable]
fn under_one_name(x: &[f64], k: f64) -> f64 {
    let mut h = x.to_vec();
    h[0] *= h[1];
    let h = scaled(&h, k);
    let mut h = scaled(&h, k);
    h[1] *= h[0];
    let first = h[0] * 2.0;
    let h: Vec<f64> = h.iter().map(|t| t.sin()).collect();
    let Some(sines) = positive(&h) else { return first };
    let total: f64 = sines.iter().map(|t| t * t).sum();
    let h = h.len();
    total * h as f64 + first
}

/// Likewise, where making one may fail.
#[differentiable]
fn under_one_name_or_none(x: &[f64], k: f64) -> Option<f64> {
    let mut h = scaled(x, k);
    h[1] *= k;
    let h = positive(&h)?;
    let h = positive(&h)?;
    Some(h.iter().product())
}

#[differentiable]
fn pushed_in_a_branch(x: &[f64], k: f64) -> f64 {
    let mut rows: Vec<Vec<f64>> = vec![vec![k]];
    for i in 0..x.len() {
        let row = vec![x[i] * k, k];
        if row[0] > 0.0 {
            rows.push(row);
        }
    }
    let mut total = 0.0;
    for row in &rows {
        for v in row {
            total = 0.5 * total + v * v;
        }
    }
    total
}

#[differentiable]
fn replaced_in_a_branch(x: &[f64], k: f64) -> f64 {
    let mut a = x.to_vec();
    let b = vec![k * x[0], k];
    if k > 0.35 {
        a = b;
    }
    a[0] * a[1]
}

/// What has been moved out gets a new vector.
#[differentiable]
fn refilled(x: &[f64], k: f64, n: usize) -> f64 {
    let mut old = vec![k];
    let mut new = x.to_vec();
    for _ in 0..n {
        new[0] *= k;
        old = new;
        new = vec![k, old[0] * x[0]];
        new[1] *= old[0];
    }
    old[0] * new[1]
}

fn inputs() -> [(Vec<f64>, f64); 2] {
    [(vec![0.5, 0.7], 0.3), (vec![0.5, 0.7, -0.2], 0.4)]
}

#[test]
fn as_values() {
    check_rule(value_of_a_block::rule, inputs());
    check_rule(one_of_two::rule, inputs());
    check_rule(one_of_several::rule, [0, 1, 2, 3].map(|which| (vec![0.5, 0.7], 0.3, which)));
    check_rule(one_of_several::rule, [(vec![0.5, 0.7, -0.2], 0.4, 1)]);
}

#[test]
fn out_of_enclosing_blocks() {
    check_rule(pushed_in_a_branch::rule, inputs());
    check_rule(replaced_in_a_branch::rule, inputs());
    check_rule(
        refilled::rule,
        [(vec![0.5, 0.7], 0.3, 2), (vec![0.5, 0.7, -0.2], 0.4, 3), (vec![0.5, 0.7], 0.3, 0)],
    );
}

#[test]
fn names_that_are_taken_again() {
    let inputs = [(vec![0.3, 0.4], 0.7), (vec![-1.0, 0.2], 1.2), (vec![0.9, 1.3, -0.4], -0.3)];
    check_rule(under_one_name::rule, inputs.clone());
    check_rule(under_one_name_or_none::rule, inputs);
}

#[differentiable]
fn left_by_a_loop(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let w = loop {
        let next: Vec<f64> = v.iter().map(|t| t * t).collect();
        if next[0] < 0.01 {
            break next;
        }
        v = next;
    };
    w.iter().sum()
}

#[differentiable]
fn left_by_a_block(x: &[f64]) -> f64 {
    let v = 'found: {
        for k in 0..x.len() {
            if x[k] > 0.75 {
                break 'found x[k..].to_vec();
            }
        }
        vec![x[0] * x[1]]
    };
    v[0] * v[0]
}

/// Either the vector of the round, or that of the one before.
#[differentiable]
fn told_by_its_type(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let mut n = 0;
    let v: Vec<f64> = loop {
        let next = scaled(&v, x[1]);
        n += 1;
        match n {
            1 => {}
            4 => break next,
            _ => {
                if next[0] < 0.2 {
                    break v;
                }
            }
        }
        v = next;
    };
    v[0] * v[1] * v[0]
}

#[differentiable]
fn left_by_several(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for k in 0..3 {
        let v = 'outer: loop {
            let mut w = vec![0.0; 2];
            for i in 0..x.len() {
                w[i % 2] += x[i] * (k + i) as f64;
                if w[0] > 1.0 {
                    break 'outer w;
                }
                if w[1] > 1.1 {
                    break;
                }
            }
            w[0] += x[0] * x[0];
            break w;
        };
        total += v[0] * v[1];
    }
    total
}

#[differentiable]
fn returned_by_a_loop(x: &[f64], k: f64) -> Vec<f64> {
    let mut v = x.to_vec();
    loop {
        let next = scaled(&v, k);
        if next[0] < 0.1 {
            break next;
        }
        v = next;
    }
}

#[differentiable]
fn of_what_a_loop_returned(x: &[f64]) -> f64 {
    let v = returned_by_a_loop(x, x[1] * 0.9);
    v[0] * v[1]
}

#[test]
fn by_break() {
    let inputs = [vec![0.3, 0.8, 0.45], vec![0.7, 0.2, 0.9, 0.55, 0.6], vec![0.62, 0.33]];
    check_all!(inputs.clone(); left_by_a_loop, left_by_a_block, told_by_its_type, left_by_several, of_what_a_loop_returned);
}

/// What a call has given, as what takes its place tells.
#[differentiable]
fn layers(x: &[f64], k: f64, depth: usize) -> Vec<f64> {
    let mut h = x.to_vec();
    for layer in 0..depth {
        let z = scaled(&h, k);
        h = if layer + 1 == depth { z } else { z.iter().map(|v| v / (1.0 + v.abs())).collect() };
    }
    h
}

#[differentiable]
fn one_of_two_calls(x: &[f64], k: f64, depth: usize) -> f64 {
    let mut h = x.to_vec();
    for i in 0..depth {
        let mut z = scaled(&h, k);
        z[0] += k;
        let y = scaled(&z, k);
        h = match i {
            0 => z,
            1 => y,
            _ => vec![z[0], y[1]],
        };
    }
    h[0] * h[1]
}

#[differentiable]
fn kept_or_pushed(x: &[f64], k: f64, depth: usize) -> f64 {
    let mut h = x.to_vec();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for i in 0..3 {
        let z = scaled(&h, k);
        if i < depth {
            rows.push(z);
        } else {
            h = z;
        }
    }
    rows.iter().map(|row| row[0] * row[1]).sum::<f64>() + h[1] * h[0]
}

#[test]
fn told_by_what_gets_them() {
    for depth in 0..4 {
        let inputs = [(vec![1.1, -0.6], 0.6, depth), (vec![1.1, -0.6, 0.4], 1.2, depth)];
        check_rule(layers::rule, inputs.clone());
        check_rule(one_of_two_calls::rule, inputs.clone());
        check_rule(kept_or_pushed::rule, inputs);
    }
}
