//! Elements that follow one another in memory, read where others may be the same ones, or where some are not there.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::check_rule;

/// *log det A* by *A = L·Lᵀ*, in place: two rows of *L* may be the same one.
#[differentiable]
fn cholesky(a: &mut [f64], n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..n {
        for j in 0..=i {
            let mut s = a[i * n + j];
            for k in 0..j {
                s -= a[i * n + k] * a[j * n + k];
            }
            a[i * n + j] = if i == j { s.sqrt() } else { s / a[j * n + j] };
        }
        total += 2.0 * a[i * n + i].ln();
    }
    total
}

/// The same in an array of its own.
#[differentiable]
fn cholesky_of(a: &[f64], n: usize) -> f64 {
    let mut l = [0.0; 16];
    let mut total = 0.0;
    for i in 0..n {
        for j in 0..=i {
            let mut s = a[i * n + j];
            for k in 0..j {
                s -= l[i * n + k] * l[j * n + k];
            }
            if i == j {
                l[i * n + j] = s.sqrt();
            } else {
                l[i * n + j] = s / l[j * n + j];
            }
        }
        total += 2.0 * l[i * n + i].ln();
    }
    total
}

/// In a vector, of which only what is computed from it tells the type.
#[differentiable]
fn squares<T: Float>(x: &[T], n: usize) -> T {
    let mut y = vec![T::zero(); x.len()];
    for i in 0..x.len() {
        y[i] = x[i] * x[i];
    }
    let mut total = T::zero();
    for i in 0..x.len() / n {
        for k in 0..n {
            total += y[i * n + k] * x[i * n + k] * y[i * n + k];
        }
    }
    total
}

#[differentiable]
fn singles(x: &[f32], n: usize) -> f32 {
    let mut y = vec![0.0; x.len()];
    for i in 0..x.len() {
        y[i] = x[i] * x[i];
    }
    let mut total = 0.0;
    for i in 0..x.len() / n {
        for k in 0..n {
            total += y[i * n + k] * x[i * n + k] * y[i + k];
        }
    }
    total
}

/// Parts that have all, some or none of their elements in common.
#[differentiable]
fn overlapping(x: &[f64], first: usize, second: usize, n: usize) -> f64 {
    let mut y = [0.0; 8];
    for i in 0..x.len() {
        y[i] = x[i].sin();
    }
    let mut total = 0.0;
    for k in 0..n {
        total += y[first * 2 + k] * y[second * 2 + k] * y[second * 2 + k];
    }
    total * y[first]
}

/// The loop writes what it reads, or only a neighbour of it.
#[differentiable]
fn written(x: &mut [f64], y: &mut [f64], n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..2 {
        for k in 0..n {
            x[i * n + k] = x[i * n + k] * y[i * n + k];
            total += x[i * n + k] * y[(1 - i) * n + k];
        }
        for k in 0..n {
            let t = y[i * n + k] * total;
            y[(1 - i) * n + k] += t;
        }
    }
    total
}

/// What the name of the width means within the loop, and whether an element is read at all.
#[differentiable]
fn shadowed(x: &[f64], n: usize) -> f64 {
    let y = [x[0] * x[1], x[1], x[2] * x[0], x[3], x[4] * x[4], x[5]];
    let mut total = 0.0;
    for k in 0..n {
        let n = 1 + k % 2;
        total += x[2 * n + k] * y[n + k];
        if k == 1 {
            total += x[3 * n + k - 2];
        }
    }
    total
}

/// The loop ends before it comes to an element that is not there.
#[differentiable]
fn until(x: &[f64], i: usize, n: usize) -> f64 {
    let mut total = 0.0;
    for k in 0..n {
        let square = x[i * n + k] * x[i * n + k];
        if square > 1.0 {
            break;
        }
        total += square * x[i + k];
    }
    total
}

#[differentiable]
fn product(a: &[f64], b: &[f64], i: usize, n: usize) -> f64 {
    let mut total = 1.0;
    for k in 0..n {
        total *= a[i * n + k] + b[i + k];
    }
    total
}

/// Positive definite.
fn matrix(n: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| 1.0 / (1.0 + i as f64 + j as f64);
    (0..n * n).map(|e| entry(e / n, e % n) + if e / n == e % n { 1.0 } else { 0.0 }).collect()
}

fn wave<T: Float>(n: usize) -> Vec<T> {
    (0..n).map(|i| T::from_f64(0.4 + 0.3 * (0.7 * i as f64 + 0.3).sin())).collect()
}

#[test]
fn rows_that_may_be_one() {
    check_rule(cholesky::rule, [1, 2, 3, 5, 8, 0].map(|n| (matrix(n), n)));
    check_rule(cholesky_of::rule, [1, 2, 3, 4].map(|n| (matrix(n), n)));
    check_rule(squares::<f64>::rule, [(wave(6), 3), (wave(4), 1), (wave(0), 2)]);
    check_rule(squares::<f32>::rule, [(wave(6), 3), (wave(4), 1)]);
    check_rule(singles::rule, [(wave(6), 3), (wave(4), 2), (wave(0), 2)]);
    for (first, second) in [(0, 0), (0, 1), (1, 0), (0, 2), (2, 0), (1, 2)] {
        check_rule(overlapping::rule, [0, 1, 2, 3, 4].map(|n| (wave(8), first, second, n)));
    }
}

#[test]
fn rows_that_are_written() {
    check_rule(written::rule, [0, 1, 2, 5].map(|n| (wave(2 * n), wave(2 * n), n)));
}

#[test]
fn names_within_loops() {
    check_rule(shadowed::rule, [0, 1, 2, 3].map(|n| (wave(7), n)));
}

#[test]
fn rows_that_are_not_whole() {
    let mut x = wave(9);
    check_rule(until::rule, [(x.clone(), 1, 4), (x.clone(), 0, 9)]);
    x[7] = 1.5;
    check_rule(until::rule, [(x.clone(), 1, 6), (x, 0, 20)]);
}

/// Without iterations it does not matter where the row would be.
#[test]
fn rows_that_are_not_there() {
    check_rule(product::rule, [(wave(3), wave(2), 7, 0), (vec![], vec![], 1, 0), (wave(4), wave(3), 1, 2)]);
}

/// The gradient fails as the function does.
#[test]
fn elements_that_are_not_there() {
    let message = |f: &mut dyn FnMut() -> f64| {
        let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("an element is not there");
        panic.downcast_ref::<String>().expect("formatted").clone()
    };
    for (a, b, i, n) in [(4, 9, 1, 3), (2, 9, 1, 3), (9, 3, 1, 3), (9, 0, 1, 3), (4, 2, 1, 3)] {
        let (a, b) = (wave(a), wave(b));
        let mut g = product::gradient();
        let expected = message(&mut || product(&a, &b, i, n));
        assert!(expected.starts_with("index out of bounds"), "{expected}");
        assert_eq!(message(&mut || g.value_and_gradient(&a, &b, i, n).0), expected);
    }
}
