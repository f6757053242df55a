//! Loops with a strategy: `#[pullback(store)]`, `#[pullback(recompute)]`, `#[pullback(checkpoint = n)]`; `binomial.rs` has the fourth.

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
fn recurrence(x: &[f64], p: f64) -> f64 {
    let scale = p.exp();
    let mut s = 0.4 * p;
    let mut total = 0.0;
    #[pullback(checkpoint = 4)]
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
fn numbers_from_checkpoints() {
    let inputs = [0, 1, 3, 4, 5, 23].map(|n| (signal(n), 0.3));
    check_rule(recurrence::rule, inputs.clone());
    let (mut with, mut without) = (recurrence::gradient(), recurrence_plain::gradient());
    for (x, p) in &inputs {
        let (value, d) = with.value_and_gradient(x, *p);
        let (expected_value, expected) = without.value_and_gradient(x, *p);
        assert_eq!((value, d.x, d.p), (expected_value, expected.x, expected.p));
    }
}

/// Memory: an array of the caller's, a local array and a local vector, all of them overwritten.
#[differentiable]
fn diffuse(u: &mut [f64], rate: f64, steps: usize) -> f64 {
    let n = u.len();
    let mut sums = [0.0; 3];
    let mut flow = vec![0.0; n];
    #[pullback(checkpoint = steps.isqrt())]
    for step in 0..steps {
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
fn memory_from_checkpoints() {
    check_rule(
        diffuse::rule,
        [(signal(5), 0.1, 11), (signal(3), 0.2, 1), (signal(2), 0.2, 0), (signal(4), 0.1, 9)],
    );
}

#[differentiable]
fn double_buffer(x: &[f64], steps: usize) -> f64 {
    let (mut old, mut new) = (x.to_vec(), vec![0.0; x.len()]);
    #[pullback(checkpoint = 3)]
    for _ in 0..steps {
        for i in 1..x.len() {
            new[i] = old[i] * old[i - 1] + x[i];
        }
        std::mem::swap(&mut old, &mut new);
    }
    old[x.len() - 1] * old[0] + new[0]
}

#[test]
fn swapped_vectors_from_checkpoints() {
    check_rule(double_buffer::rule, [(signal(4), 7), (signal(2), 3), (signal(3), 1), (signal(3), 0)]);
}

#[differentiable]
fn newton(a: f64, b: f64) -> f64 {
    let mut x = a;
    let mut steps = 0;
    #[pullback(checkpoint = 3)]
    while (x * x - b).abs() > 1e-13 {
        x = 0.5 * (x + b / x);
        steps += 1;
    }
    x * steps as f64
}

#[test]
fn while_from_checkpoints() {
    check_rule(newton::rule, [(100.0, 2.0), (2.0, 2.1), (3.0, 4.0)]);
}

/// A loop with a strategy within a macro's arguments.
#[differentiable]
fn within_a_macro(x: &[f64], n: usize) -> f64 {
    let y = vec![
        if n > 2 {
            x[0]
        } else {
            let mut product = 0.5;
            #[pullback(recompute)]
            for i in 0..n {
                product *= x[i].sin();
            }
            product
        };
        x.len()
    ];
    y[0] * y[1]
}

#[test]
fn strategies_within_macros() {
    let inputs = [(signal(4), 2), (signal(3), 3), (signal(2), 1)];
    check_rule(within_a_macro::rule, inputs);
}

/// Parts that are named, and not looked at.
#[differentiable]
fn parts_without_use(x: &[f64], r: f64) -> f64 {
    let mut y = x.to_vec();
    #[pullback(checkpoint = 2)]
    for _part in x.chunks(2) {
        y[0] /= 1.2 + (r * x[0]).powi(2);
    }
    #[pullback(binomial = 2)]
    for _part in x.chunks(3) {
        y[1] = (y[0] * y[1]).sin() * r;
    }
    y[0] + y[1]
}

#[test]
fn parts_at_checkpoints() {
    check_rule(parts_without_use::rule, [(signal(4), 0.7), (signal(9), 1.2), (signal(2), 0.4)]);
}

/// A chain of iterators, an array of ndarray's, checkpoints within checkpoints, and branches.
#[differentiable]
fn nested(w: &mut Array2<f64>, x: &[f64], k: f64) -> f64 {
    let part = &x[1..];
    let mut y = k;
    #[pullback(checkpoint = 2)]
    for v in part.iter() {
        let mut z = y * v;
        #[pullback(recompute)]
        for j in (0..w.ncols()).rev() {
            if z > 0.5 {
                z = z * w[[0, j]] + y;
            } else {
                z -= w[[1, j]];
            }
            w[[1, j]] *= 1.0 + z.tanh();
        }
        y = z.sin() + *v;
    }
    y + w.nrows() as f64
}

#[test]
fn checkpoints_nest() {
    let w = |n: usize| Array2::from_shape_fn((2, n), |(i, j)| 0.3 + 0.1 * (i + 2 * j) as f64);
    check_rule(nested::rule, [(w(3), signal(6), 0.7), (w(1), signal(4), -0.2), (w(2), signal(1), 0.1)]);
}

/// What follows the loop overwrites what the loop reads.
#[differentiable]
fn overwritten_afterwards(x: &mut [f64], p: f64) -> f64 {
    let mut s = p;
    #[pullback(checkpoint = 2)]
    for i in 0..x.len() {
        s = s * x[i] + (x[i] * s).cos();
    }
    for i in 0..x.len() {
        x[i] = s * i as f64;
    }
    s * x[x.len() - 1]
}

#[test]
fn what_is_overwritten_later_is_there_again() {
    check_rule(overwritten_afterwards::rule, [(signal(5), 0.3), (signal(2), 0.7)]);
}

#[differentiable]
fn long_body(x: &[f64], k: f64) -> f64 {
    let mut total = 1.0;
    #[pullback(store)]
    for i in 0..x.len() {
        let a = (x[i] * k).sin();
        let b = a.exp() / (1.0 + a * a);
        total += b * a * total;
    }
    total
}

#[test]
fn functions_of_stored_loops() {
    check_rule(long_body::rule, [(signal(5), 0.3), (signal(2), 0.7), (signal(0), 0.1)]);
}

/// A name for a part that another part takes afterwards.
#[differentiable]
fn named_again(x: &[f64], k: f64) -> f64 {
    let mut y = k;
    let part = &x[..2];
    #[pullback(checkpoint = 2)]
    for i in 0..5 {
        y = (y * part[i % 2]).sin() + part[0];
    }
    let part = &x[2..];
    #[pullback(recompute)]
    for i in 0..2 {
        y = (y * part[i]).cos() * y;
    }
    y
}

#[test]
fn names_are_those_in_scope() {
    check_rule(named_again::rule, [(signal(4), 0.3), (vec![0.9, 0.4, -0.3, 1.4], 0.7)]);
}

/// Loops without gradient, in blocks that have a value.
#[differentiable]
fn of_constants(x: f64, n: usize) -> f64 {
    let y = {
        let mut weight = 0.3;
        #[pullback(recompute)]
        for _ in 0..n {
            weight += 0.1;
        }
        x * x
    };
    y * if x > 0.5 {
        let mut k = 0;
        #[pullback(checkpoint = 2)]
        while k < n {
            k += 2;
        }
        k as f64
    } else {
        x
    }
}

#[test]
fn strategies_of_what_has_no_gradient() {
    check_rule(of_constants::rule, [(1.3, 3), (0.2, 4)]);
}

/// Newton's method in each step, left when it has converged.
#[differentiable]
fn implicit_steps(x: &[f64], k: f64, steps: usize) -> f64 {
    let mut y = x.to_vec();
    #[pullback(checkpoint = 3)]
    for step in 0..steps {
        for i in 0..y.len() {
            let old = y[i];
            let mut z = old;
            let mut tries = 0;
            loop {
                let f = z - old + 0.1 * k * z * z * z;
                if f.abs() < 1e-14 || tries > 20 {
                    break;
                }
                z -= f / (1.0 + 0.3 * k * z * z);
                tries += 1;
            }
            y[i] = z;
        }
        let mut s = 0.0;
        for (i, v) in y.iter().enumerate() {
            if i == step % 2 {
                continue;
            }
            s += v * v;
        }
        y[0] += 0.01 * s;
    }
    y.iter().sum()
}
#[differentiable]
fn left_with_values(x: f64, k: f64, steps: usize) -> f64 {
    let mut z = x;
    #[pullback(binomial = 3)]
    for step in 0..steps {
        let old = z;
        let mut tries = 0;
        let w = 'a: {
            if z > 0.5 && step > 2 {
                break 'a z * k;
            }
            loop {
                let f = z - old + 0.1 * k * z * z * z;
                if f.abs() < 1e-14 || tries > 20 {
                    break f + z;
                }
                z -= f / (1.0 + 0.3 * k * z * z);
                tries += 1;
            }
        };
        z = 0.9 * w;
    }
    z
}
#[differentiable]
fn labels_within(x: f64, k: f64, steps: usize) -> f64 {
    let mut z = x;
    let mut n = 0;
    #[pullback(recompute)]
    while n < steps {
        let mut m = 0;
        'outer: while m < 5 {
            m += 1;
            for i in 0..4 {
                if i == m {
                    continue 'outer;
                }
                if z > 2.0 {
                    break 'outer;
                }
                z = z + 0.1 * (k * z).sin();
            }
        }
        n += 1;
    }
    z
}

#[test]
fn loops_left_within_iterations() {
    check_rule(implicit_steps::rule, [(vec![0.4, 0.9, 1.2], 0.7, 7), (vec![0.5], 0.3, 2)]);
    check_rule(left_with_values::rule, [(0.4, 0.7, 8), (0.9, 1.1, 3)]);
    check_rule(labels_within::rule, [(0.4, 0.7, 8), (0.9, 1.1, 3)]);
}

#[differentiable]
fn elements_with_the_first(row: &mut [f64]) -> f64 {
    row[1] *= 2.0;
    let mut s = 0.0;
    for a in row.iter() {
        let mut x = 0.5_f64;
        #[pullback(recompute)]
        for _ in 0..3 {
            let pair = [row[0]; 2];
            x = 0.6 * x + a * x.tanh() + pair[1];
        }
        s += x;
    }
    s
}
#[differentiable]
fn elements_with_all(row: &mut [f64], k: f64) -> f64 {
    let mut s = 0.0;
    let first = &row[0];
    #[pullback(binomial = 2)]
    for i in 0..row.len() {
        #[pullback(checkpoint = 2)]
        for w in row.windows(2) {
            s = 0.3 * s * s + first * w[1] + k * row[i];
        }
    }
    row[0] = s;
    s
}
#[differentiable(dual)]
fn unread_within(row: &mut [f64], k: f64) -> f64 {
    for (n, a) in row.iter().enumerate() {
        let mut x = k;
        #[pullback(recompute)]
        for _ in 0..n {
            x = 0.6 * x + a * x.tanh();
            let _pair = [row[0]; 2];
        }
    }
    k * row[1]
}

#[test]
fn named_elements_of_mutable_parameters() {
    let x = || vec![0.3, -0.7, 0.9, 0.2];
    check_rule(elements_with_the_first::rule, [(x(),), (vec![0.4, 0.1],)]);
    check_rule(elements_with_all::rule, [(x(), 0.7), (vec![0.4, 0.1], -0.2)]);
    check_rule(unread_within::rule, [(x(), 0.7), (vec![0.4, 0.1], -0.2)]);
}

#[differentiable]
fn squares(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// A part of a local vector has a name, beside which the loop reads the vector itself.
#[differentiable]
fn named_part_of_a_local(x: &[f64]) -> f64 {
    let y = vec![x[0]; x.len()];
    let rest = &y[1..];
    let (mut s, mut t) = (0.1, 0.2);
    #[pullback(checkpoint = 2)]
    for i in 0..5 {
        let mut w = [rest[0], s, y[i % 2]];
        w[1..].fill(s + 0.1);
        for v in &y {
            s += 0.1 * v * rest[0];
        }
        s += y[0] * w[1] * rest[0] + squares(&y) * squares(rest);
        s = s.sin();
    }
    #[pullback(binomial = 2)]
    for i in 0..4 {
        let mut w = [rest[0], t, y[i % 2]];
        w[1..].fill(t + 0.1);
        t += w[2] * w[0] * s;
    }
    s * t * y[1]
}

#[test]
fn named_parts_of_locals() {
    check_rule(named_part_of_a_local::rule, [(vec![0.3, 0.5],), (vec![0.7, 0.75, 0.2],)]);
}
