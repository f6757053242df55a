//! Loops with a bounded number of checkpoints: `#[pullback(binomial = n)]`.

use ndarray::Array2;
use pullback::prelude::*;
use pullback::testing::check_rule;

fn signal(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.3 + (i as f64 * 0.7).sin() / 4.0).collect()
}

#[differentiable]
fn logistic(s: f64, p: f64) -> f64 {
    3.1 * p * s * (1.0 - s)
}

/// Loop-carried numbers, an outer variable computed before, and calls with rules of their own.
#[differentiable]
fn recurrence(x: &[f64], p: f64, checkpoints: usize) -> f64 {
    let scale = p.exp();
    let mut s = 0.4 * p;
    let mut total = 0.0;
    #[pullback(binomial = checkpoints)]
    for i in 0..x.len() {
        s = logistic(s, x[i] * scale);
        total += s * scale;
    }
    total * s
}

#[differentiable]
fn recurrence_plain(x: &[f64], p: f64) -> f64 {
    let scale = p.exp();
    let mut s = 0.4 * p;
    let mut total = 0.0;
    for i in 0..x.len() {
        s = logistic(s, x[i] * scale);
        total += s * scale;
    }
    total * s
}

#[test]
fn numbers_from_few_checkpoints() {
    let sizes = [(0, 3), (1, 3), (2, 1), (3, 2), (23, 1), (23, 3), (9, 40), (4, 0)];
    check_rule(recurrence::rule, sizes.map(|(n, limit)| (signal(n), 0.3, limit)));
    let (mut with, mut without) = (recurrence::gradient(), recurrence_plain::gradient());
    for (n, limit) in sizes {
        let x = signal(n);
        let (value, d) = with.value_and_gradient(&x, 0.3, limit);
        let (expected_value, expected) = without.value_and_gradient(&x, 0.3);
        assert_eq!((value, d.x, d.p), (expected_value, expected.x, expected.p));
    }
}

/// Memory: an array of the caller's, a local array and a local vector, all of them overwritten.
#[differentiable]
fn diffuse(u: &mut [f64], rate: f64, steps: usize) -> f64 {
    let n = u.len();
    let mut sums = [0.0; 3];
    let mut flow = vec![0.0; n];
    #[pullback(binomial = 3)]
    for step in (0..steps).rev() {
        for i in 1..n {
            flow[i] = rate * (u[i - 1] - u[i]) * u[i];
        }
        for i in 1..n {
            u[i] += flow[i];
            u[i - 1] -= flow[i];
        }
        sums[step % 3] += u[step % n].sin() * flow[n - 1];
    }
    u[n - 1] *= sums[1];
    sums[0] * sums[1] + sums[2] + flow[1] * u[0]
}

#[test]
fn memory_from_few_checkpoints() {
    check_rule(
        diffuse::rule,
        [(signal(5), 0.1, 11), (signal(3), 0.2, 1), (signal(2), 0.2, 0), (signal(4), 0.1, 9)],
    );
}

#[differentiable]
fn double_buffer(x: &[f64], steps: usize) -> f64 {
    let (mut old, mut new) = (x.to_vec(), vec![0.0; x.len()]);
    #[pullback(binomial = 2)]
    for _ in 0..=steps {
        for i in 1..x.len() {
            new[i] = old[i] * old[i - 1] + x[i];
        }
        std::mem::swap(&mut old, &mut new);
    }
    old[x.len() - 1] * old[0] + new[0]
}

#[test]
fn swapped_vectors_from_few_checkpoints() {
    check_rule(double_buffer::rule, [(signal(4), 7), (signal(2), 3), (signal(3), 1), (signal(3), 0)]);
}

/// How many iterations there are shows only at the end.
#[differentiable]
fn decay(y: &mut [f64], rate: f64, floor: f64) -> f64 {
    let mut steps = 0;
    let mut rate = rate;
    #[pullback(binomial = 3)]
    while y[0] > floor {
        rate *= 1.0 + 0.01 * y[1];
        y[0] -= rate * y[0] * y[1].cos();
        y[1] = y[1] * (1.0 - rate) + 0.01 * y[0];
        steps += 1;
    }
    rate * y[1] + steps as f64
}

#[test]
fn while_from_few_checkpoints() {
    let y = vec![1.0, 0.5];
    check_rule(
        decay::rule,
        [(y.clone(), 0.1, 0.3), (y.clone(), 0.1, 2.0), (y.clone(), 0.2, 0.02), (y, 0.3, 0.9)],
    );
}

/// A chain of iterators, an array of ndarray's, schedules within schedules, and branches; all within a loop that keeps what
/// each of its iterations needs, so that several schedules wait for their reverse pass.
#[differentiable]
fn nested(w: &mut Array2<f64>, x: &[f64], k: f64, rounds: usize) -> f64 {
    let part = &x[1..];
    let mut y = k;
    for round in 0..rounds {
        #[pullback(binomial = 2 + round % 2)]
        for v in part.iter() {
            let mut z = y * v;
            let mut j = 0;
            #[pullback(binomial = 2)]
            while j < w.ncols() {
                if z > 0.5 {
                    z = z * w[[0, j]] + y;
                } else {
                    z -= w[[1, j]];
                }
                w[[1, j]] *= 1.0 + z.tanh();
                j += 1;
            }
            y = z.sin() + *v;
        }
    }
    y + w.nrows() as f64
}

#[test]
fn schedules_nest() {
    let w = |n: usize| Array2::from_shape_fn((2, n), |(i, j)| 0.3 + 0.1 * (i + 2 * j) as f64);
    check_rule(
        nested::rule,
        [
            (w(3), signal(6), 0.7, 2),
            (w(1), signal(4), -0.2, 3),
            (w(5), signal(3), 0.1, 1),
            (w(2), signal(1), 0.1, 2),
        ],
    );
}
