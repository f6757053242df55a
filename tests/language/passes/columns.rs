//! Loops that overwrite columns of matrices in flat slices, and loops that overwrite the same elements in each iteration: what they
//! overwrite is kept once where nobody looks at it in between.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

/// In place, the lower triangle.
#[differentiable]
fn cholesky(a: &mut [f64], n: usize) {
    for j in 0..n {
        for k in 0..j {
            for i in j..n {
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
            }
        }
        let pivot = a[j * n + j].sqrt();
        for i in j..n {
            a[i * n + j] /= pivot;
        }
    }
}

/// The same, with the factors in other places and in another order.
#[differentiable]
fn upper(a: &mut [f64], n: usize, scale: f64) {
    for j in 0..n {
        for i in j..n {
            a[n * j + i] *= scale;
        }
        for k in 0..j {
            for i in j..n {
                a[i + j * n] -= a[k * n + i] * a[k * n + j];
            }
        }
        let pivot = a[j * n + j].sqrt();
        for i in j..n {
            a[j * n + i] = a[j * n + i] / pivot;
        }
    }
}

/// The element of another column, of the same one, and of one that may be either.
#[differentiable]
fn columns(a: &mut [f64], b: &[f64], n: usize, m: usize) -> f64 {
    for j in 0..m {
        for k in 0..m {
            for i in 0..n {
                a[i * m + j] += b[i] * a[i * m + k];
            }
        }
        for k in 0..j {
            for i in 0..n {
                a[i * m + j] *= b[k] * a[i * m + k];
            }
        }
        for k in j + 1..m {
            for i in 0..n {
                a[i * m + j] *= 1.0 + 0.1 * b[i] * a[i * m + k];
            }
        }
        for i in 0..n {
            a[i * m + j] = (a[i * m + j] * b[i]).sin();
        }
        for i in 1..n {
            a[i * m + j] *= a[(i - 1) * m + j];
        }
    }
    a[0]
}

/// The row above has been overwritten by an iteration before; the bound of the loop within tells nothing about that.
#[differentiable]
fn triangle(x: &mut [f64], k: f64) -> f64 {
    let n = x.len();
    for i in 0..n {
        let mut s = k;
        for m in 0..i {
            s += x[m] * k;
        }
        x[i] = s * x[i];
    }
    for i in 0..n {
        for m in 0..i {
            x[i] -= 0.1 * x[m] * x[m];
        }
    }
    x[n - 1]
}

/// Every second element, every third, each again and again.
#[differentiable]
fn steps(x: &mut [f64], y: &[f64], step: usize, count: usize) -> f64 {
    for i in 0..x.len() / 2 {
        x[2 * i] = x[2 * i] * y[i];
    }
    for i in 0..x.len() / 2 {
        x[i * 2 + 1] *= x[2 * i];
    }
    for i in 0..count {
        x[i * step] = x[i * step] * x[i * step] + 0.1;
    }
    for i in 0..count {
        x[1 + step * i] += 0.3 * x[1 + step * i] * y[i];
    }
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i] * x[i];
    }
    total
}

/// The loop around has no iterations, and the numbers that the one within counts by are no numbers then.
#[differentiable]
fn not_at_all(x: &mut [f64], k: f64, rounds: usize, n: usize) -> f64 {
    for _ in 0..rounds {
        for i in 0..n {
            x[i] = k * k;
        }
    }
    for r in 0..rounds {
        for i in n - 1..n {
            x[i] += k;
        }
    }
    for r in 0..rounds {
        for i in 0..n {
            x[i * (n - 1) + 0] *= k;
        }
    }
    x[0] * k
}

/// Relaxation: each round looks at what the one before has left.
#[differentiable]
fn rounds(x: &mut [f64], y: &[f64], rounds: usize) -> f64 {
    let n = x.len();
    for _ in 0..rounds {
        for i in 0..n {
            x[i] = 0.9 * x[i] * x[i] + 0.1 * y[i];
        }
    }
    for r in 0..rounds {
        for i in 0..n {
            x[i] += y[i] * y[r];
        }
        for i in 0..n {
            x[i] += y[i] * x[0];
        }
    }
    // Only sums, in each round to all.
    for r in 0..rounds {
        for i in 0..n {
            x[i] -= 0.2 * y[i] * y[r];
        }
    }
    let mut total = 0.0;
    for i in 0..n {
        total += x[i] * x[i];
    }
    total
}

/// What the loop around changes is not what it was: the range, the start, the step.
#[differentiable]
fn moving(x: &mut [f64], k: f64) -> f64 {
    let n = x.len();
    let mut step = 1;
    let mut start = 0;
    let mut end = 1;
    for r in 0..2 {
        for i in 0..end {
            x[i] *= k;
        }
        for i in 0..2 {
            x[start + i * step] = x[start + i * step] * k + 0.1;
        }
        step += 1;
        start += 1;
        end += 1;
    }
    let mut total = 0.0;
    for i in 0..n {
        total += x[i] * x[i];
    }
    total
}

/// An index that its own iteration changes.
#[differentiable]
fn changed_index(x: &mut [f64], y: &[f64], k: f64) -> f64 {
    let n = x.len();
    for mut i in 0..n - 1 {
        i += 1;
        x[i] = x[i] * x[i] * k;
    }
    for mut i in 0..n - 1 {
        x[i] *= k;
        i = n - 1 - i;
        x[i] *= x[i];
    }
    let mut total = 0.0;
    for mut i in 0..n - 1 {
        total += x[i] * y[i];
        i += 1;
        total += x[i] * y[i] * y[i];
    }
    total
}

/// The buffer is a local.
#[differentiable]
fn factor(b: &[f64], n: usize) -> f64 {
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            a[i * n + j] = 0.3 * b[i] * b[j];
        }
        a[i * n + i] += 1.0 + b[i];
    }
    cholesky(&mut a, n);
    for j in 0..n {
        for k in 0..j {
            for i in j..n {
                a[i * n + j] += a[i * n + k] * a[j * n + k];
            }
        }
    }
    let mut total = 0.0;
    for i in 0..n {
        total += a[i * n + i].ln() + a[i * n];
    }
    total
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.5 + 0.4 * (0.7 * i as f64 + 0.3).sin()).collect()
}

fn other(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.4 + 0.3 * (0.9 * i as f64 + 0.1).cos()).collect()
}

fn matrix(n: usize) -> Vec<f64> {
    (0..n * n)
        .map(|e| if e / n == e % n { 2.0 } else { 0.2 * (0.7 * (e / n * (e % n)) as f64).sin() })
        .collect()
}

#[test]
fn factorisations() {
    check_rule(cholesky::rule, [(matrix(1), 1), (matrix(2), 2), (matrix(5), 5), (vec![], 0)]);
    check_rule(upper::rule, [(matrix(1), 1, 0.9), (matrix(5), 5, 0.9), (vec![], 0, 0.9)]);
    check_rule(factor::rule, [(wave(1), 1), (wave(5), 5), (vec![], 0)]);
}

#[test]
fn elements_of_columns() {
    check_rule(
        columns::rule,
        [(wave(1), other(1), 1, 1), (wave(12), other(4), 4, 3), (wave(6), other(3), 2, 3)],
    );
    check_rule(triangle::rule, [(wave(1), 0.7), (wave(6), 0.7)]);
}

#[test]
fn elements_in_steps() {
    check_rule(
        steps::rule,
        [
            (wave(8), other(8), 3, 2),
            (wave(8), other(8), 0, 3),
            (wave(9), other(9), 1, 7),
            (wave(5), other(5), 7, 0),
        ],
    );
}

#[test]
fn again_and_again() {
    check_rule(
        not_at_all::rule,
        [(wave(3), 0.7, 2, 2), (wave(3), 0.7, 0, 0), (wave(2), 0.7, 0, 9), (wave(2), 0.7, 1, 1)],
    );
    check_rule(rounds::rule, [(wave(4), other(4), 3), (wave(2), other(2), 0), (wave(1), other(1), 1)]);
    check_rule(moving::rule, [(wave(4), 0.7), (wave(6), 0.7)]);
    check_rule(
        changed_index::rule,
        [(wave(1), other(1), 0.7), (wave(2), other(2), 0.7), (wave(6), other(6), 0.7)],
    );
}
