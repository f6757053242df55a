//! Tuples with vectors in them in an `Option` or a `Result`: `Ok((x, det))`, `let (x, det) = solve(a, b)?;`

use ndarray::{Array1, Array2, array};
use pullback::Float;
use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn doubled(x: &[f64], t: f64) -> Result<(Vec<f64>, f64), String> {
    Ok((x.iter().map(|v| 2.0 * v).collect(), t * t))
}

/// It is left with an error, with locals, with what is made there, and with what another function returns.
#[differentiable]
fn steps(x: &[f64], t: f64, mode: usize) -> Result<(Vec<f64>, f64), String> {
    let mut a = x.to_vec();
    let mut e = t;
    for i in 1..x.len() {
        a[i] *= a[i - 1] * e;
        e += a[i];
        if mode == i {
            return Err(format!("at {i}"));
        }
        if mode == 3 {
            return Ok((a, e));
        }
        if mode == 4 {
            return Ok((a.iter().map(|v| v * e).collect(), 2.0 * e));
        }
    }
    if mode == 5 {
        return doubled(x, e);
    }
    let squared = e * e;
    Ok((a, squared))
}

/// The end is a choice.
#[differentiable]
fn optional<T: Float>(x: &[T], t: T, mode: usize) -> Option<(usize, Vec<T>, T, Vec<T>)> {
    let (mut a, mut c) = (x.to_vec(), x.to_vec());
    a[0] *= t;
    c[1] = a[0] * t;
    if mode == 0 {
        let product = a[1] * t;
        Some((mode, a, product, c))
    } else {
        let last = a[0];
        if mode == 1 { None } else { Some((7, a, last, c)) }
    }
}

#[differentiable]
fn tried(x: &[f64], t: f64, mode: usize) -> Result<f64, String> {
    let mut state = x.to_vec();
    let mut total = 0.0;
    for _ in 0..2 {
        let (mut next, e) = steps(&state, t, mode)?;
        next[0] += e;
        state = next;
        total += e * state[1];
    }
    let (_, e) = steps(&state, t, mode)?;
    Ok(total * e)
}

#[differentiable]
fn matched(x: &[f64], t: f64, mode: usize) -> f64 {
    let mut total = 0.0;
    for _ in 0..2 {
        match steps(x, t + total, mode) {
            Ok((v, e)) => total += v[0] * e * v[1],
            Err(_) => total += t,
        }
    }
    if let Ok((v, e)) = steps(x, t, mode) { v[1] * e * total } else { total }
}

#[differentiable]
fn otherwise(x: &[f64], t: f64, mode: usize) -> f64 {
    let Ok((mut v, e)) = steps(x, t, mode) else { return t };
    v[0] *= e;
    let (w, r): (Vec<f64>, f64) = match steps(&v, t, 0) {
        Ok((w, r)) => (w, r),
        Err(_) => return e,
    };
    let (_, u, s, _) = optional(&w, r, 0).unwrap();
    u[0] * s * w[1]
}

#[differentiable]
fn arrays(x: &Array1<f64>, m: &Array2<f64>) -> Result<(Array1<f64>, Array2<f64>), String> {
    let s = x.sum();
    if s > 30.0 {
        return Err("too much".into());
    }
    let scaled = m * s;
    Ok((m.dot(x), scaled))
}

#[differentiable]
fn filtered(x: &Array1<f64>, m: &Array2<f64>) -> Result<f64, String> {
    let mut state = x.clone();
    let mut covariance = m.clone();
    for _ in 0..3 {
        let (s, c) = arrays(&state, &covariance)?;
        state = s;
        covariance = c;
    }
    Ok(state.sum() + covariance.sum())
}

#[test]
fn pairs_inside() {
    for mode in 0..6 {
        let inputs = [(vec![0.5, 0.7], 0.4, mode), (vec![1.2, 0.3, 0.9, 1.4], 0.6, mode)];
        check_rule(steps::rule, inputs.clone());
        check_rule(optional::<f64>::rule, inputs.clone());
        check_rule(tried::rule, inputs.clone());
        check_rule(matched::rule, inputs.clone());
        check_rule(otherwise::rule, inputs);
    }
    let inputs = [
        (array![1.0, 0.4], array![[0.4, 0.3], [-0.2, 0.8]]),
        (array![20.0, 40.0], array![[1.4, 0.3], [2.2, 0.8]]),
    ];
    check_rule(arrays::rule, inputs.clone());
    check_rule(filtered::rule, inputs);
}
