//! Loops that overwrite an array element by element, or one element again and again: what they overwrite is kept as a whole where
//! nobody looks at it in between, and element by element where somebody does.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

/// Nobody looks at what is overwritten.
#[differentiable]
fn fill(x: &[f64], y: &mut [f64], k: f64) -> f64 {
    for i in 0..x.len() {
        y[i] = k * x[i] * x[i];
    }
    y[0]
}

/// Its own element, as it was before.
#[differentiable]
fn in_place(x: &mut [f64], k: f64) -> f64 {
    for i in 0..x.len() {
        x[i] = (x[i] * k).sin() * x[i];
    }
    for i in 0..x.len() {
        x[i] *= x[i];
    }
    for i in 0..x.len() {
        x[i] /= k + x[i];
    }
    x[0]
}

/// Its own element, as it is afterwards.
#[differentiable]
fn exponentials(x: &[f64], y: &mut [f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        y[i] = x[i].exp();
        total += y[i] * y[i];
    }
    total
}

/// Its own element, before and afterwards.
#[differentiable]
fn before_and_after(y: &mut [f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..y.len() {
        total += y[i] * y[i] * k;
        y[i] = (y[i] * k).cos();
        total += y[i] * y[i] * y[i];
    }
    total
}

/// Twice in one iteration.
#[differentiable]
fn twice(y: &mut [f64], k: f64) -> f64 {
    for i in 0..y.len() {
        y[i] += k * k;
        y[i] *= k;
        y[i] = y[i] * y[i];
    }
    y[0]
}

/// The element of another iteration: of the one before, of the next, of none in particular.
#[differentiable]
fn neighbours(x: &mut [f64], k: f64) -> f64 {
    let n = x.len();
    for i in 1..n {
        x[i] = x[i] * x[i - 1] * k;
    }
    for i in 0..n - 1 {
        x[i] = x[i] * x[i + 1] + k;
    }
    for i in 0..n {
        x[i] = x[i] * x[(7 * i + 1) % n] * k;
    }
    for i in 0..n {
        x[i] = x[0] * x[i];
    }
    x[0]
}

/// The mean is looked at between two sweeps, and another array in them.
#[differentiable]
fn centred(x: &mut [f64], y: &mut [f64]) -> f64 {
    let n = x.len();
    let mut mean = 0.0;
    for i in 0..n {
        mean += x[i] * x[i] / n as f64;
    }
    for i in 0..n {
        y[i] -= x[i] * mean;
        x[i] -= mean * y[i];
    }
    for i in 0..n {
        mean += x[i] * y[i] * y[i];
    }
    mean
}

/// Not each iteration gets there, and some indices are beyond the end.
#[differentiable]
fn some(x: &mut [f64], y: &mut [f64], n: usize, k: f64) -> f64 {
    for i in 0..n {
        if i < x.len() && x[i] < k {
            x[i] = k * k;
        }
    }
    for i in 0..n {
        if i >= y.len() {
            continue;
        }
        y[i] *= k;
    }
    for i in 0..n {
        if i < 1 || i > y.len() {
            continue;
        }
        let base = i - 1;
        y[base] = y[base] * y[base] * k;
    }
    x[0] * y[0]
}

/// The loop is left before its end.
#[differentiable]
fn left(x: &mut [f64], k: f64) -> f64 {
    for i in 0..x.len() {
        if x[i] > 0.6 {
            break;
        }
        x[i] = x[i] * k;
    }
    let mut total = 0.0;
    for i in 0..x.len() {
        x[i] = x[i] * x[i];
        total += x[i];
        if total > 1.1 {
            return total * x[0];
        }
    }
    total
}

/// Rows and columns of a matrix, in loops within loops that run several times.
#[differentiable]
fn rows_and_columns(a: &mut [f64], b: &[f64], n: usize, steps: usize) -> f64 {
    for _ in 0..steps {
        for i in 0..n {
            for j in 0..n {
                a[i * n + j] = a[i * n + j] * b[j];
            }
            for j in i..n {
                a[i * n + j] += b[i];
            }
            for j in 0..n {
                a[j * n + i] *= b[j];
            }
            for j in 0..i {
                a[(i - 1) * n + j] *= a[i * n + j];
            }
            for j in 0..n {
                a[j + i * n] = a[j * n + i] * b[i];
            }
        }
    }
    a[0]
}

/// One element again and again: nobody looks at it, or everybody does, or some iteration.
#[differentiable]
fn one_element(x: &mut [f64], y: &[f64], c: usize) -> f64 {
    let n = x.len();
    for i in 0..n {
        for j in 0..i {
            x[i] -= y[j] * x[j];
        }
    }
    for i in 0..n {
        for j in 0..=i {
            x[i] -= 0.3 * y[j] * x[j];
        }
    }
    for i in 0..n {
        for j in i..n {
            x[i] += 0.2 * y[i] * x[j];
        }
    }
    for j in 0..n {
        x[c] += y[j] * y[j];
    }
    for j in 0..n {
        x[c] *= y[j];
    }
    for j in 0..n {
        x[c] += y[j] * x[j];
    }
    x[c]
}

#[differentiable]
fn matrix_product(a: &[f64], b: &[f64], c: &mut [f64], n: usize) -> f64 {
    for i in 0..n {
        for j in 0..n {
            for k in 0..n {
                c[i * n + j] += a[i * n + k] * b[k * n + j];
            }
        }
    }
    if n == 0 { 0.0 } else { c[n * n - 1] * c[0] }
}

/// A triangle of a matrix: some sums can wait, and some cannot.
#[differentiable]
fn eliminate(a: &mut [f64], n: usize) {
    for j in 0..n {
        for k in 0..j {
            for i in j..n {
                a[i * n + j] -= 0.1 * a[i * n + k] * a[j * n + k];
            }
            for i in k..n {
                a[i * n + j] -= 0.1 * a[i * n + k] * a[j * n + k];
            }
            for i in 0..n {
                a[i * n + j] = 0.5 * a[i * n + j] + 0.1 * a[i * n + k] * a[j * n + j];
            }
            for i in k..j {
                a[i * n + k] = a[i * n + k] * a[j * n + k];
            }
            for i in 0..j {
                a[i * n + k] -= a[j * n + i] * a[k * n + j];
            }
        }
    }
}

/// With steps between the indices of which the optimiser, if not careful, knows nothing.
#[differentiable]
fn steps(x: &mut [f64], n: usize, stride: usize) -> f64 {
    for i in 0..n {
        for j in 0..n {
            x[i * stride] += x[j * stride] * 0.3;
        }
    }
    for i in 0..n {
        for j in i + 1..n {
            x[j * stride] -= x[i * stride] * x[i * stride];
        }
    }
    for i in 1..n {
        for j in 0..i - 1 {
            x[i] -= x[j] * x[i - 1];
        }
    }
    x[0]
}

/// An index that changes on the way.
#[differentiable]
fn moving_index(x: &mut [f64], y: &[f64]) -> f64 {
    let mut at = 0;
    for i in 0..y.len() {
        x[at] += y[i] * x[i];
        at = (2 * at + 1) % x.len();
    }
    for i in 0..y.len() {
        let at = i / 2;
        x[at] -= y[i] * x[i];
    }
    x[at]
}

/// Buffers of the function's own.
#[differentiable]
fn own_buffers(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut u = vec![0.0; n];
    let mut v = [0.1; 5];
    u.copy_from_slice(x);
    for s in 0..steps {
        for i in 0..n {
            v[i % 5] += u[i] * u[i];
        }
        for i in 0..5 {
            v[i] = v[i].sin() * x[0];
        }
        for i in 0..n {
            u[i] += v[0] * x[i];
        }
        for i in 0..n {
            u[i] *= v[s % 5];
        }
    }
    let mut total = 0.0;
    for i in 0..n {
        total += u[i] * x[i] + v[i % 5];
    }
    total
}

#[differentiable]
fn damp(x: &mut [f64], by: f64) {
    for i in 0..x.len() {
        x[i] *= by;
    }
}

/// Calls, branches and swaps beside the sweeps.
#[differentiable]
fn together(x: &mut [f64], y: &mut [f64], steps: usize, k: f64) -> f64 {
    let mut total = 0.0;
    for s in 0..steps {
        if s % 2 == 0 {
            for i in 0..x.len() {
                x[i] = k * y[i] + x[i];
            }
            damp(x, k);
        } else {
            for i in 0..x.len() {
                y[i] = x[i] * total;
            }
            damp(&mut y[1..], 0.5);
            x.swap(0, 1);
        }
        for i in 0..x.len() {
            x[i] -= 0.01 * y[i];
            damp(y, 1.01);
        }
        total += x[0] * y[1];
    }
    total
}

/// Sines beside cosines, of the same number and of others.
#[differentiable]
fn directions(x: &[f64], k: f64) -> f64 {
    let (mut a, mut b, mut heading) = (0.1, 0.2, k);
    for i in 0..x.len() {
        heading += x[i] * a;
        a += x[i] * heading.cos() * b;
        b -= heading.sin() * a;
        heading *= 1.1;
        a += heading.sin();
        let e = (heading * a).exp();
        b += e * heading.cos() / (1.0 + e);
    }
    a * b + heading
}

/// A formula in one number, several times.
#[differentiable]
fn formula(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.3 * x.abs());
    let p = t * (0.3 + t * (-0.35 + t * (1.7 - t * 1.3)));
    let tail = (-0.5 * x * x).exp() * p / (2.0 + x * x);
    if x >= 0.0 { 1.0 - tail } else { tail * x.sin() }
}

#[differentiable]
fn formula32(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.3 * x.abs());
    let p = t * (0.3 + t * (-0.35 + t * (1.7 - t * 1.3)));
    if x >= 0.0 { 1.0 - p } else { p * x.sin() }
}

#[differentiable]
fn formulas(x: &[f64], k: f64) -> f64 {
    let mut total = formula(k) * formula(formula(k) * 0.5);
    for i in 0..x.len() {
        total += x[i] * formula(x[i] * k) * formula(-k);
    }
    total
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.5 + 0.4 * (0.7 * i as f64 + 0.3).sin()).collect()
}

fn other(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.4 + 0.3 * (0.9 * i as f64 + 0.1).cos()).collect()
}

#[test]
fn overwritten_as_a_whole() {
    check_rule(fill::rule, [(wave(1), other(1), 0.7), (wave(5), other(6), 0.7), (wave(3), other(3), 0.7)]);
    check_rule(in_place::rule, [(wave(1), 0.7), (wave(6), 0.7)]);
    check_rule(exponentials::rule, [(wave(1), other(1)), (wave(6), other(7)), (vec![], vec![])]);
    check_rule(before_and_after::rule, [(wave(1), 0.7), (wave(6), 0.7), (vec![], 0.7)]);
    check_rule(twice::rule, [(wave(1), 0.7), (wave(6), 0.7)]);
    check_rule(centred::rule, [(wave(1), other(1)), (wave(6), other(6)), (vec![], vec![])]);
}

#[test]
fn elements_of_other_iterations() {
    check_rule(neighbours::rule, [(wave(1), 0.7), (wave(2), 0.7), (wave(6), 0.7)]);
    check_rule(moving_index::rule, [(wave(1), other(1)), (wave(6), other(5)), (wave(3), vec![])]);
}

#[test]
fn iterations_that_do_not_get_there() {
    check_rule(
        some::rule,
        [(wave(1), other(1), 3, 0.6), (wave(6), other(5), 8, 0.6), (wave(6), other(9), 0, 0.6)],
    );
    check_rule(
        left::rule,
        [(wave(1), 0.7), (wave(6), 0.7), (vec![0.1, 0.2, 0.9, 0.8], 0.7), (vec![0.3; 4], 0.7)],
    );
}

#[test]
fn rows_of_matrices() {
    check_rule(
        rows_and_columns::rule,
        [
            (wave(1), other(1), 1, 2),
            (wave(16), other(4), 4, 2),
            (wave(9), other(3), 3, 0),
            (wave(2), vec![], 0, 3),
        ],
    );
    check_rule(
        matrix_product::rule,
        [(wave(9), other(9), wave(9), 3), (wave(1), other(1), wave(1), 1), (vec![], vec![], vec![], 0)],
    );
    check_rule(eliminate::rule, [(wave(16), 4), (wave(9), 3), (wave(1), 1), (vec![], 0)]);
}

#[test]
fn one_element_again_and_again() {
    check_rule(one_element::rule, [(wave(1), other(1), 0), (wave(5), other(5), 3), (wave(4), other(6), 1)]);
    check_rule(
        steps::rule,
        [(wave(6), 3, 2), (wave(5), 4, 0), (wave(5), 5, 1), (wave(2), 0, 3), (wave(2), 1, 1)],
    );
}

#[test]
fn beside_other_things() {
    let mut g = own_buffers::gradient();
    check_gradient(
        |(x, steps)| own_buffers(x, *steps),
        |(x, steps)| {
            let (value, d) = g.value_and_gradient(x, *steps);
            (value, (d.x.to_vec(), ()))
        },
        [(wave(3), 2), (wave(7), 3), (wave(1), 0), (wave(2), 1)],
    );
    check_rule(
        together::rule,
        [(wave(2), other(2), 1, 0.7), (wave(4), other(4), 4, 0.7), (wave(3), other(3), 0, 0.7)],
    );
}

#[test]
fn derivatives_at_hand() {
    check_rule(directions::rule, [(wave(1), 0.7), (wave(6), 0.7), (vec![], 0.7)]);
    check_rule(formula::rule, [(0.7,), (-0.7,), (2.3,)]);
    check_rule(formulas::rule, [(wave(1), 0.7), (wave(6), -0.7), (vec![], 0.7)]);
    let mut g = formula32::gradient();
    for x in [0.7, -0.7] {
        let slope = (formula32(x + 1e-2) - formula32(x - 1e-2)) / 2e-2;
        let (_, d) = g.value_and_gradient(x);
        assert!((d.x - slope).abs() < 1e-3, "{} instead of {slope}", d.x);
    }
}
