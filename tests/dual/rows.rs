//! Jacobians by rows: several seeds, pulled back at once.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ndarray::Array2;
use pullback::prelude::*;
use pullback::sparse::JacobianColouring;
use pullback::testing::{allocations_in, check_pushforward};

use crate::{evaluated, evaluations_in};

/// A path that depends on its values, and keeps many of them for the way back.
#[differentiable(dual)]
fn wander(x: &[f64], steps: usize) -> [f64; 5] {
    let mut y = [0.0; 5];
    let mut s = 0.5;
    for i in 0..steps {
        let k = i % x.len();
        s = if s > 0.0 { (s * x[k]).sin() - 0.25 } else { s * s + x[k].abs().sqrt() };
        y[i % 5] += s * x[(i + 1) % x.len()] / (1.0 + s * s);
    }
    y[4] = y[4] % 0.3 + y[0].max(y[1]).powi(3).mul_add(x[0], y[2].atan2(1.5));
    y
}

/// Sums that leave their parts behind.
#[differentiable(dual)]
fn partial_sums(x: &[f64], scale: f64, sums: &mut [f64]) -> f64 {
    let mut total = sums[0];
    for i in 0..x.len() {
        total += scale * x[i].exp() * sums[i % sums.len()];
        sums[i % sums.len()] = total;
    }
    total
}

/// The first numbers, each times all numbers.
#[differentiable(dual)]
fn heads(x: &[f64], n: usize) -> Vec<f64> {
    let mut y = vec![0.0; n];
    for i in 0..n {
        for j in 0..x.len() {
            y[i] += x[i] * x[j].cos();
        }
    }
    y
}

#[differentiable(dual)]
fn root_and_sum(x: &[f64]) -> (Option<f64>, f64) {
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += x[i] * x[i] * x[i];
    }
    let root = if sum > 0.0 { Some(sum.sqrt()) } else { None };
    (root, 2.0 * sum)
}

/// What carries a gradient is as much as the type tells: a few numbers, or many.
#[differentiable(dual)]
fn drift<const N: usize>(x: &[f64; N], pull: f64, ends: &mut [f64; 2]) -> [f64; 2] {
    assert!(pull < 10.0, "too strong");
    let mut sums = [ends[0], 1.0];
    for i in 0..N {
        sums[i % 2] += pull * x[i].sin() * sums[(i + 1) % 2];
    }
    ends[1] = sums[0] * ends[0] / x[0];
    sums
}

fn points(n: usize) -> Vec<f64> {
    (0..n).map(|i| (1.7 * i as f64).sin() + 0.1).collect()
}

/// Whether all entries are the same to the bit.
fn same(a: &Array2<f64>, b: &Array2<f64>) -> bool {
    a.dim() == b.dim() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// Whether all entries are the same but for rounding: pullbacks of one seed at a time have derivatives beforehand, where iterations hand numbers on,
/// and their sums have another order.
fn close(a: &Array2<f64>, b: &Array2<f64>) -> bool {
    a.dim() == b.dim() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-14 * (1.0 + b.abs()))
}

/// The matrix with these rows.
fn matrix(rows: Vec<Vec<f64>>) -> Array2<f64> {
    let shape = (rows.len(), rows[0].len());
    Array2::from_shape_vec(shape, rows.concat()).expect("rows of one length")
}

#[test]
fn rows_are_pullbacks_of_unit_seeds() {
    let (mut j, mut p) = (wander::jacobian(), wander::pullback());
    for (n, steps) in [(40, 100), (70, 33), (40, 0), (41, 400)] {
        let x = points(n);
        let unit = |i: usize| std::array::from_fn(|k| f64::from(k == i));
        let rows = matrix((0..5).map(|i| p.value_and_pullback(&x, steps, unit(i)).1.x.to_vec()).collect());
        for _ in 0..2 {
            let (value, jacobian) = j.value_and_jacobian(&x, steps);
            assert_eq!(value.map(f64::to_bits), wander(&x, steps).map(f64::to_bits));
            assert!(same(&jacobian.to_owned(), &rows), "{n} numbers, {steps} steps");
        }
    }
}

#[test]
fn what_is_left_in_arguments_has_rows() {
    let (mut j, mut p) = (partial_sums::jacobian(), partial_sums::pullback());
    for (n, m) in [(50, 3), (50, 2), (80, 6), (50, 3)] {
        let (x, mut sums) = (points(n), points(m));
        let before = sums.clone();
        let mut row = |i: usize| {
            let of_sums: Vec<_> = (0..m).map(|k| f64::from(k + 1 == i)).collect();
            let (_, d) = p.value_and_pullback(&x, 0.7, &mut sums, f64::from(i == 0), &of_sums);
            [d.x, &[d.scale], d.sums].concat()
        };
        let rows = matrix((0..=m).map(&mut row).collect());
        for _ in 0..2 {
            let (value, jacobian) = j.value_and_jacobian(&x, 0.7, &mut sums);
            assert!(close(&jacobian.to_owned(), &rows), "{n} numbers, {m} sums");
            assert_eq!(sums, before);
            assert_eq!(value, partial_sums(&x, 0.7, &mut before.clone()));
        }
    }
}

fn drifts<const N: usize>() {
    let (mut j, mut p) = (drift::<N>::jacobian(), drift::<N>::pullback());
    for (start, pull) in [(0.2, 0.5), (0.3, 20.0), (0.4, 0.1)] {
        let (x, mut ends) = (std::array::from_fn(|i| start + (i as f64).cos()), [start, 0.25]);
        if pull > 10.0 {
            let failed = AssertUnwindSafe(|| _ = j.value_and_jacobian(&x, pull, &mut ends));
            assert!(catch_unwind(failed).is_err());
            continue;
        }
        let mut row = |i: usize| {
            let unit = |first: usize| std::array::from_fn(|k| f64::from(first + k == i));
            let (_, d) = p.value_and_pullback(&x, pull, &mut ends, unit(0), unit(2));
            [&d.x[..], &[d.pull], &d.ends].concat()
        };
        let rows = matrix((0..4).map(&mut row).collect());
        for _ in 0..3 {
            let ((value, jacobian), allocations) =
                allocations_in(|| j.value_and_jacobian(&x, pull, &mut ends));
            assert!(same(&jacobian.to_owned(), &rows), "{N} numbers");
            assert!(allocations == 0 || start == 0.2);
            assert_eq!(ends, [start, 0.25]);
            assert_eq!(value, drift(&x, pull, &mut ends.clone()));
        }
    }
}

#[test]
fn few_numbers_or_many() {
    drifts::<11>();
    drifts::<300>();
}

#[test]
fn every_number_of_rows() {
    check_pushforward(heads::rule, [0, 1, 2, 3, 4, 5, 7, 1].map(|m| (points(90), m)));
    check_pushforward(partial_sums::rule, [1, 2, 5].map(|m| (points(60), 0.5, points(m))));
}

#[differentiable(dual)]
fn sums_in_turn(x: &[f64], n: usize) -> Vec<f64> {
    evaluated();
    let mut sums = vec![0.0; n];
    for i in 0..x.len() {
        sums[i % n] += x[i].sin();
    }
    sums
}

/// Eight columns or two rows in each evaluation, but for a first one that finds out how many rows there are.
#[test]
fn the_cheaper_way_is_taken() {
    let mut j = sums_in_turn::jacobian();
    for (columns, rows) in [(8_usize, 40_usize), (9, 40), (100, 1), (100, 3), (100, 26), (100, 28), (8, 40)] {
        let x = points(columns);
        let (by_columns, by_rows) = (columns.div_ceil(8), rows.div_ceil(2));
        let best = by_columns.min(by_rows);
        let first = evaluations_in(|| assert_eq!(j.value_and_jacobian(&x, rows).1.dim(), (rows, columns)));
        let later = evaluations_in(|| assert_eq!(j.value_and_jacobian(&x, rows).1.dim(), (rows, columns)));
        assert_eq!(later, best, "{rows}×{columns}");
        assert!(first <= best + 1, "{first}: {rows}×{columns}");
    }
}

/// A value that is missing has a row of zeros, as it has a gradient.
#[test]
fn missing_values_have_rows_of_zeros() {
    let mut j = root_and_sum::jacobian();
    for sign in [1.0, -1.0, -1.0, 1.0, 1.0] {
        let x: Vec<_> = (1..=40).map(|i| sign * f64::from(i)).collect();
        let ((root, sum), jacobian) = j.value_and_jacobian(&x);
        assert_eq!((root, sum), root_and_sum(&x));
        let rows = [root.map_or(0.0, |root| 1.5 / root), 6.0];
        assert_eq!(jacobian.nrows(), 2);
        for (factor, row) in rows.iter().zip(jacobian.rows()) {
            for (d, x) in row.iter().zip(&x) {
                assert!((d - factor * x * x).abs() <= 1e-12 * d.abs(), "{d} at {x}");
            }
        }
    }
}

#[test]
fn missing_values_have_sparse_rows_of_zeros() {
    let mut j = root_and_sum::jacobian();
    let there: Vec<_> = (1..=40).map(f64::from).collect();
    let colouring = JacobianColouring::new(j.jacobian_pattern(&there));
    assert!(!colouring.is_by_columns());
    for sign in [1.0, -1.0] {
        let x: Vec<_> = there.iter().map(|x| sign * x).collect();
        let dense = j.value_and_jacobian(&x).1.to_owned();
        let ((root, sum), entries) = j.value_and_sparse_jacobian(&x, &colouring);
        assert_eq!((root, sum), root_and_sum(&x));
        assert!(same(&colouring.pattern().dense(&entries), &dense));
    }
}

#[test]
fn later_calls_do_not_allocate() {
    let (x, mut sums) = (points(60), points(3));
    let mut j = partial_sums::jacobian();
    let first = j.value_and_jacobian(&x, 0.7, &mut sums).1.to_owned();
    let held = j.memory();
    let numbers = (x.len() + 1 + sums.len()) * size_of::<f64>();
    // Arguments, gradients and rows.
    assert!(held > 4 * numbers, "{held} bytes");
    for _ in 0..3 {
        let (again, allocations) = allocations_in(|| j.value_and_jacobian(&x, 0.7, &mut sums).1[[3, 7]]);
        assert_eq!((again, allocations), (first[[3, 7]], 0));
        assert_eq!(j.memory(), held);
    }
    j.shrink();
    assert!(j.memory() < held);
    assert!(same(&j.value_and_jacobian(&x, 0.7, &mut sums).1.to_owned(), &first));
}

#[test]
fn a_panic_leaves_no_trace() {
    let x = points(60);
    let mut j = heads::jacobian();
    let first = j.value_and_jacobian(&x, 3).1.to_owned();
    let call = std::panic::AssertUnwindSafe(|| drop(j.value_and_jacobian(&x[..2], 3)));
    assert!(std::panic::catch_unwind(call).is_err());
    assert!(same(&j.value_and_jacobian(&x, 3).1.to_owned(), &first));
}
