//! Vectors that a function takes by value and changes, moves or returns: from the second call on the gradient allocates what the function
//! does, wherever the memory goes.

use ndarray::Array1;
use pullback::prelude::*;
use pullback::testing::{allocations_in, check_gradient, check_rule};
use pullback::{Float, differentiable};

/// L with L·Lᵀ = K, in the memory of K.
#[differentiable]
fn cholesky(mut k: Vec<f64>, n: usize) -> Vec<f64> {
    for j in 0..n {
        for p in 0..j {
            let l = k[j * n + p];
            k[j * n + j] -= l * l;
        }
        k[j * n + j] = k[j * n + j].sqrt();
        for i in j + 1..n {
            for p in 0..j {
                let l = k[i * n + p] * k[j * n + p];
                k[i * n + j] -= l;
            }
            k[i * n + j] /= k[j * n + j];
        }
    }
    k
}

#[differentiable]
fn covariance(x: &[f64], noise: f64) -> Vec<f64> {
    let n = x.len();
    let mut k = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            k[i * n + j] = (-(x[i] - x[j]).powi(2)).exp();
        }
        k[i * n + i] += noise;
    }
    k
}

#[differentiable]
fn log_determinant(x: &[f64], noise: f64) -> f64 {
    let n = x.len();
    let k: Vec<f64> = covariance(x, noise);
    let l = cholesky(k, n);
    (0..n).map(|i| 2.0 * l[i * n + i].ln()).sum()
}

#[differentiable]
fn factor(x: &[f64], noise: f64) -> Vec<f64> {
    let n = x.len();
    let mut k: Vec<f64> = covariance(x, noise);
    k[0] += noise;
    cholesky(k, n)
}

#[differentiable]
fn kept(x: Vec<f64>) -> Vec<f64> {
    x
}

/// Passed on as it is.
#[differentiable]
fn through(x: Vec<f64>) -> Vec<f64> {
    kept(x)
}

#[differentiable]
fn product(mut x: Vec<f64>, k: f64) -> f64 {
    x[0] *= k;
    x.push(k);
    let y = x;
    y.iter().product()
}

#[differentiable]
fn checked(x: &[f64], k: f64) -> Option<Vec<f64>> {
    if k > 0.65 {
        return None;
    }
    Some(x.iter().map(|x| x * k).collect())
}

#[differentiable]
fn tried(x: &[f64], k: f64) -> Option<f64> {
    let y: Vec<f64> = checked(x, k)?;
    let z = step(y, k);
    Some(z.iter().sum())
}

/// The one call gets a copy, the other the vector itself.
#[differentiable]
fn twice(x: &[f64], k: f64) -> f64 {
    let y: Vec<f64> = through(x.to_vec());
    product(y.clone(), k) + product(y, 2.0 * k)
}

#[differentiable]
fn step(mut x: Vec<f64>, dt: f64) -> Vec<f64> {
    for i in 1..x.len() {
        x[i] += dt * x[i - 1].sin();
    }
    x
}

#[differentiable]
fn integrated(x: &[f64], dt: f64) -> f64 {
    let mut state = x.to_vec();
    for _ in 0..x.len() + 2 {
        state = step(state, dt);
    }
    state.iter().map(|s| s * s).sum()
}

#[differentiable]
fn trajectory(x: &[f64], dt: f64) -> Vec<f64> {
    let mut state = x.to_vec();
    for i in 0..5 {
        if i % 2 == 1 {
            continue;
        }
        state = step(state, dt + x[0]);
    }
    state
}

/// Returned by one branch, passed on by the other.
#[differentiable]
fn branches(x: &[f64], k: f64) -> Vec<f64> {
    let mut y = x.to_vec();
    y[0] *= k;
    if k > 0.5 {
        return y;
    }
    step(y, k)
}

#[differentiable]
fn recursive(mut x: Vec<f64>, n: usize) -> Vec<f64> {
    if n == 0 {
        return x;
    }
    x[0] *= x[x.len() - 1];
    recursive(x, n - 1)
}

#[differentiable]
fn recursion(x: &[f64], k: f64) -> f64 {
    let mut y = x.to_vec();
    y[0] += k;
    let z = recursive(y, x.len());
    z[0] * z[0]
}

#[differentiable]
fn scaled<T: Float>(mut x: Vec<T>, k: T) -> Vec<T> {
    for i in 0..x.len() {
        x[i] *= k;
    }
    x
}

#[differentiable]
fn of_floats<T: Float>(x: &[T], k: T) -> T {
    let y: Vec<T> = scaled(x.to_vec(), k);
    let z: Vec<T> = scaled(y, k);
    z[0] * z[0]
}

#[differentiable]
fn of_ndarray(mut x: Array1<f64>, k: f64) -> Array1<f64> {
    x[0] *= k;
    x
}

#[differentiable]
fn array(x: &Array1<f64>, k: f64) -> f64 {
    let mut y = Array1::zeros(x.len());
    for i in 0..x.len() {
        y[i] = x[i] * x[i];
    }
    let z: Array1<f64> = of_ndarray(y, k);
    z[0] * z[x.len() - 1]
}

#[derive(Clone)]
struct Gain {
    gain: f64,
}

#[differentiable]
impl Gain {
    fn applied(#[constant] &self, mut x: Vec<f64>) -> Vec<f64> {
        for i in 0..x.len() {
            x[i] *= self.gain * x[i];
        }
        x
    }
}

#[differentiable]
fn by_method(x: &[f64], #[constant] gain: &Gain) -> f64 {
    let y = x.to_vec();
    let z: Vec<f64> = gain.applied(y);
    let w: Vec<f64> = gain.applied(z);
    w.iter().sum()
}

/// A·x = b by elimination with partial pivoting, in the memory of A and b.
#[differentiable]
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        if a[p][k].abs() < 1e-12 {
            return None;
        }
        a.swap(k, p);
        b.swap(k, p);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= f * a[k][j];
            }
            b[i] -= f * b[k];
        }
    }
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        let s: f64 = (i + 1..n).map(|j| a[i][j] * x[j]).sum();
        x[i] = (b[i] - s) / a[i][i];
    }
    Some(x)
}

/// A logistic regression by Newton's method.
#[differentiable]
fn logistic(y: &[f64], ridge: f64) -> f64 {
    let mut beta = vec![0.1, -0.1];
    for _ in 0..3 {
        let mut h = vec![vec![ridge, 0.0], vec![0.0, ridge]];
        let mut g = vec![0.0; 2];
        for (i, &yi) in y.iter().enumerate() {
            let x = [1.0, i as f64];
            let eta: f64 = beta.iter().zip(&x).map(|(b, x)| b * x).sum();
            let mu = 1.0 / (1.0 + (-eta).exp());
            for a in 0..2 {
                g[a] += (yi - mu) * x[a];
                for b in 0..2 {
                    h[a][b] += mu * (1.0 - mu) * x[a] * x[b];
                }
            }
        }
        let step: Vec<f64> = match solve(h, g) {
            Some(step) => step,
            None => break,
        };
        for (b, s) in beta.iter_mut().zip(&step) {
            *b += s;
        }
    }
    beta[0] * beta[1]
}

#[differentiable]
fn grown(mut rows: Vec<Vec<f64>>, k: f64) -> Vec<Vec<f64>> {
    rows[0][0] *= k;
    rows.push(vec![k; 2]);
    rows
}

#[differentiable]
fn smoothed(mut rows: Vec<Vec<f64>>, k: f64) -> Vec<Vec<f64>> {
    for i in 1..rows.len() {
        let above = rows[i - 1][0];
        rows[i][0] += k * above;
    }
    rows
}

/// Rows of several lengths, which are pushed and listed.
#[differentiable]
fn rows(x: &[f64], k: f64) -> f64 {
    let mut pushed: Vec<Vec<f64>> = Vec::new();
    for i in 0..x.len() {
        let mut row = x[..i + 1].to_vec();
        row[0] *= k;
        pushed.push(row);
    }
    let more: Vec<Vec<f64>> = grown(pushed, k);
    let mut listed: Vec<Vec<f64>> = vec![x.to_vec(), vec![k]];
    for _ in 0..3 {
        listed = smoothed(listed, k);
    }
    more.iter().chain(&listed).map(|row| row[0] * row[row.len() - 1]).sum()
}

#[test]
fn nothing_beyond_the_primal() {
    let inputs = || [(vec![0.5, 0.7, 0.9], 0.6), (vec![0.5, 0.8, 0.2, 0.4], 0.3), (vec![0.4], 0.7)];
    check_rule(log_determinant::rule, inputs());
    check_rule(factor::rule, inputs());
    check_rule(tried::rule, inputs());
    check_rule(logistic::rule, inputs());
    check_rule(rows::rule, inputs());
    check_rule(twice::rule, inputs());
    check_rule(integrated::rule, inputs());
    check_rule(trajectory::rule, inputs());
    check_rule(branches::rule, inputs());
    check_rule(recursion::rule, inputs());
    check_rule(of_floats::<f64>::rule, inputs());
    check_rule(of_floats::<f32>::rule, [(vec![0.5, 0.75], 0.5), (vec![0.5], 1.5)]);
    check_rule(array::rule, [(Array1::from(vec![0.5, 0.7]), 0.6), (Array1::from(vec![0.4]), 0.3)]);
    check_rule(by_method::rule, [(vec![0.5, 0.7], Gain { gain: 1.5 }), (vec![0.4], Gain { gain: 0.5 })]);
}

/// The gradient object of such a function has the vector, too.
#[test]
fn by_gradient_objects() {
    let mut g = product::gradient();
    check_gradient(
        |(x, k): &mut (Vec<f64>, f64)| product(x.clone(), *k),
        |(x, k)| {
            let (value, d) = g.value_and_gradient(x.clone(), *k);
            (value, (d.x.to_vec(), d.k))
        },
        [(vec![0.5, 0.7, 0.9], 0.6), (vec![0.4], 0.7)],
    );
    let (mut g, seed) = (scaled::<f64>::pullback(), [1.0, 0.5]);
    for call in 0..4 {
        let x = vec![0.25, 0.5];
        let (value, allocations) = allocations_in(|| g.value_and_pullback(x, 2.0, &seed).0);
        assert_eq!(value, [0.5, 1.0]);
        assert!(call == 0 || allocations == 0, "{allocations}");
    }
}
