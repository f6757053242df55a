//! Loops that look for one element: the gradient goes to the last iteration that gave the variable a value.

use pullback::prelude::*;
use pullback::testing::{allocations_in, check_gradient, check_rule};
use pullback::{Float, Rule};

fn wave(n: usize, start: f64) -> Vec<f64> {
    (0..n).map(|i| (0.9 * i as f64 + start).cos() * (1.0 + 0.1 * i as f64)).collect()
}

fn inputs() -> Vec<Vec<f64>> {
    [5, 9, 1, 2, 33, 4].iter().enumerate().map(|(k, n)| wave(*n, 0.3 * k as f64)).collect()
}

/// Tests `$f`, a function of one slice.
macro_rules! check {
    ($f:ident $(, $constant:expr)*) => {{
        let mut g = $f::gradient();
        for _ in 0..2 {
            check_gradient(
                |x| $f(x $(, $constant)*),
                |x| {
                    let (value, d) = g.value_and_gradient(x $(, $constant)*);
                    (value, d.x.to_vec())
                },
                inputs(),
            );
        }
        check_rule($f::rule, inputs().into_iter().map(|x| (x $(, $constant)*,)));
    }};
}

/// The gradient at `x`.
macro_rules! at {
    ($f:ident, $x:expr) => {
        $f::gradient().value_and_gradient(&$x).1.x.to_vec()
    };
}

#[differentiable]
fn greatest(x: &[f64]) -> f64 {
    let mut m = x[0];
    for &v in &x[1..] {
        if v > m {
            m = v;
        }
    }
    m * m
}

#[differentiable]
fn greatest_or_equal(x: &[f64]) -> f64 {
    let mut m = f64::NEG_INFINITY;
    for i in 0..x.len() {
        if x[i] >= m {
            m = x[i];
        }
    }
    m * 3.0
}

#[differentiable]
fn by_max(x: &[f64]) -> f64 {
    let mut m = x[0];
    for i in 0..x.len() {
        m = m.max(x[i]);
    }
    m * m
}

#[differentiable]
fn by_min(x: &[f64]) -> f64 {
    let mut m = x[0];
    for &v in x {
        m = f64::min(m, 2.0 * v);
    }
    m * m
}

#[differentiable]
fn by_fold(x: &[f64]) -> f64 {
    3.0 * x.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[differentiable]
fn the_other_receives(x: &[f64]) -> f64 {
    let mut m = x[0];
    for &v in x {
        m = v.max(m);
    }
    m * m
}

/// More than one variable, and one without gradient.
#[differentiable]
fn where_it_is(x: &[f64], y: &[f64]) -> f64 {
    let mut m = -10.0;
    let mut other = 1.0;
    let mut best = 0;
    for i in 0..x.len() {
        let v = x[i] * y[i];
        let w = v * x[i];
        if v > m {
            m = v;
            other = w.sin();
            best = i;
        }
    }
    m * other + y[best]
}

/// The branch is taken for another reason.
#[differentiable]
fn last_positive(x: &[f64]) -> f64 {
    let mut last = 0.3;
    for &v in x {
        if v > 0.0 {
            last = v * v;
        }
    }
    last * last
}

/// The variable has a gradient from before, which is lost only if it is given a value.
#[differentiable]
fn from_before(x: &[f64], level: f64) -> f64 {
    let mut m = level * x[0];
    for i in 1..x.len() {
        if x[i] > m {
            m = x[i] * level;
        }
    }
    m * m
}

#[differentiable]
fn in_loops(x: &[f64], n: usize) -> f64 {
    let mut total = 0.0;
    let mut s = 1.0;
    for k in 0..n {
        let mut m = x[0] * s;
        for i in 1..x.len() {
            if x[i] * x[i] > m {
                m = x[i] * x[i];
            }
        }
        s = 0.5 * s + m.sin();
        let mut least = s;
        for i in 0..x.len() {
            least = least.min(x[i] + s * 0.1);
        }
        total += least * m;
    }
    total * s
}

#[differentiable]
fn in_branches(x: &[f64], way: usize) -> f64 {
    let mut m = x[0];
    if way == 1 {
        for &v in x {
            if v > m {
                m = v;
            }
        }
    } else {
        for &v in x {
            m = m.min(v);
        }
    }
    m * x[0]
}

/// The soft maximum, shifted by the greatest element.
#[differentiable]
fn log_sum_exp(x: &[f64]) -> f64 {
    let mut m = x[0];
    for &v in &x[1..] {
        if v > m {
            m = v;
        }
    }
    let mut s = 0.0;
    for &v in x {
        s += (v - m).exp();
    }
    m + s.ln()
}

#[differentiable]
fn another_index(x: &[f64]) -> f64 {
    let mut m = x[0];
    for i in 0..x.len() {
        let v = x[i];
        let i = 7.0;
        if v * i > m {
            m = v * i;
        }
    }
    m
}

#[differentiable]
fn of_rows(x: &[f64], n: usize) -> f64 {
    let mut total = 0.0;
    for r in 0..x.len() / n {
        let mut m = x[r * n];
        for j in 1..n {
            if x[r * n + j] > m {
                m = x[r * n + j];
            }
        }
        total += m * m;
    }
    total
}

#[differentiable]
fn descending(x: &[f64]) -> f64 {
    let mut m = x[0];
    for i in (0..x.len()).rev() {
        if x[i] > m {
            m = x[i].exp() * 0.1;
        }
    }
    m * m
}

/// `z` is changed before, and changed back in between.
#[differentiable]
fn of_what_changes(z: &mut [f64], x: &[f64]) -> f64 {
    for i in 0..z.len() {
        z[i] *= x[i];
    }
    let mut m = z[0];
    for i in 0..z.len() {
        if z[i] > m {
            m = z[i] * z[i];
        }
    }
    for i in 0..z.len() {
        z[i] += m;
    }
    m * m
}

#[differentiable]
fn of_any<T: Float>(x: &[T]) -> T {
    let mut m = x[0];
    for &v in x {
        if v > m {
            m = v;
        }
    }
    let mut least = x[0];
    for &v in x {
        least = least.min(v);
    }
    m * m - least
}

#[test]
fn one_of_many() {
    check!(greatest);
    check!(greatest_or_equal);
    check!(by_max);
    check!(by_min);
    check!(by_fold);
    check!(the_other_receives);
    check!(last_positive);
    check!(from_before, 0.7);
    check!(in_loops, 0);
    check!(in_loops, 3);
    check!(in_branches, 0);
    check!(in_branches, 1);
    check!(log_sum_exp);
    check!(another_index);
    check!(of_rows, 1);
    check!(descending);
    check_rule(where_it_is::rule, inputs().into_iter().map(|x| (x.clone(), wave(x.len(), 0.5))));
    check_rule(from_before::rule, inputs().into_iter().map(|x| (x, 1.3)));
    check_rule(of_rows::rule, [(wave(12, 0.2), 3), (wave(20, 0.3), 5), (wave(4, 0.1), 4)]);
    check_rule(of_what_changes::rule, inputs().into_iter().map(|x| (wave(x.len(), 0.5), x)));
    check_rule(of_any::<f64>::rule, inputs().into_iter().map(|x| (x,)));
}

/// The variable is looked at, or more happens than that it is given a value: each iteration counts.
#[differentiable]
fn decays(x: &[f64]) -> f64 {
    let mut m = x[0];
    for &v in x {
        if v > m {
            m = 0.5 * m + v;
        }
    }
    m * m
}

#[differentiable]
fn halved_otherwise(x: &[f64]) -> f64 {
    let mut m = x[0];
    for &v in x {
        if v > m {
            m = v;
        } else {
            m = 0.9 * m;
        }
    }
    m * m
}

#[differentiable]
fn and_a_sum(x: &[f64]) -> f64 {
    let mut m = x[0];
    let mut s = 0.0;
    for &v in x {
        s += v * v;
        if v > m {
            m = v;
        }
    }
    m * s
}

#[differentiable]
fn sum_of_records(x: &[f64]) -> f64 {
    let mut m = x[0];
    let mut s = 0.0;
    for &v in x {
        if v > m {
            m = v;
            s += v * v;
        }
    }
    m * s
}

#[differentiable]
fn one_or_the_other(x: &[f64]) -> f64 {
    let mut m = x[0];
    let mut n = x[0];
    for &v in x {
        if v > m {
            if v > 0.5 {
                m = v;
            }
            n = v * v;
        }
    }
    m * n
}

#[differentiable]
fn two_ends(x: &[f64]) -> f64 {
    let mut m = x[0];
    let mut n = x[0];
    for &v in x {
        if v > m {
            m = v;
        }
        if v < n {
            n = v;
        }
    }
    m - n * n
}

#[differentiable]
fn read_before(x: &[f64]) -> f64 {
    let mut m = x[0];
    for &v in x {
        let gap = v - m;
        if gap > 0.0 {
            m = gap * v;
        }
    }
    m * m
}

/// What the value is computed from is another one in each iteration, and nothing tells which by the index alone.
#[differentiable]
fn factor_changes(x: &[f64]) -> f64 {
    let mut m = x[0];
    let mut k = 1.0;
    let mut count = 0;
    for i in 0..x.len() {
        let f = constant(k * 0.5);
        let v = x[i] * f;
        if v > m {
            m = v * x[i];
            count += 1;
        }
    }
    m * m + count as f64
}

#[differentiable]
fn by_count(x: &[f64]) -> f64 {
    let mut m = x[0];
    let mut count = 0;
    for i in 0..x.len() {
        if x[i] > m {
            m = x[i] * x[count];
            count += 1;
        }
    }
    m * m
}

#[differentiable]
fn stops(x: &[f64]) -> f64 {
    let mut m = x[0];
    for &v in x {
        if v > 0.9 {
            break;
        }
        if v > m {
            m = v;
        }
    }
    m * m
}

#[differentiable]
fn largest_pair(x: &[f64]) -> f64 {
    let mut m = x[0];
    for i in 0..x.len() {
        for j in 0..i {
            if x[i] * x[j] > m {
                m = x[i] * x[j];
            }
        }
    }
    m * m
}

#[differentiable]
fn clipped(x: &[f64]) -> f64 {
    let mut m = 0.8 * x[0];
    for &v in x {
        m = m.max(0.7 * v * m);
    }
    m
}

#[differentiable]
fn with_constant(x: &[f64]) -> f64 {
    let mut m = x[0];
    for i in 0..x.len() {
        m = m.max(i as f64 * 0.2);
    }
    m * x[0]
}

#[differentiable]
fn into_memory(x: &[f64]) -> f64 {
    let mut best = [x[0], x[0]];
    for &v in x {
        if v > best[0] {
            best[0] = v;
            best[1] = v * v;
        }
    }
    best[0] * best[1]
}

#[differentiable]
fn in_a_closure(x: &[f64]) -> f64 {
    let top = |k: f64| {
        let mut m = x[0] * k;
        for &v in x {
            if v * k > m {
                m = v * k;
            }
        }
        m
    };
    top(1.5) * top(0.5)
}

#[test]
fn each_iteration_counts() {
    check!(decays);
    check!(halved_otherwise);
    check!(and_a_sum);
    check!(sum_of_records);
    check!(one_or_the_other);
    check!(two_ends);
    check!(read_before);
    check!(factor_changes);
    check!(by_count);
    check!(stops);
    check!(largest_pair);
    check!(clipped);
    check!(with_constant);
    check!(into_memory);
    check!(in_a_closure);
}

/// Of equal elements the comparison tells which one counts, and at a tie in `max` the receiver does.
#[test]
fn ties() {
    assert_eq!(at!(greatest, [1.0, 2.0, 2.0, 1.0]), [0.0, 4.0, 0.0, 0.0]);
    assert_eq!(at!(greatest_or_equal, [1.0, 2.0, 2.0, 1.0]), [0.0, 0.0, 3.0, 0.0]);
    assert_eq!(at!(by_max, [1.0, 2.0, 2.0, 1.0]), [0.0, 4.0, 0.0, 0.0]);
    assert_eq!(at!(by_max, [2.0, 2.0, 2.0]), [4.0, 0.0, 0.0]);
    assert_eq!(at!(the_other_receives, [1.0, 2.0, 2.0, 1.0]), [0.0, 0.0, 4.0, 0.0]);
    assert_eq!(at!(by_fold, [2.0, 2.0]), [3.0, 0.0]);
    assert_eq!(at!(by_fold, [0.0, -0.0]), [3.0, 0.0]);
    assert_eq!(at!(by_fold, [-0.0, 0.0]), [3.0, 0.0]);
    // There is a gradient to be lost at a zero too.
    assert_eq!(at!(by_fold, [f64::NEG_INFINITY; 2]), [0.0, 0.0]);
}

/// A comparison with NaN is false, and `max` passes over it.
#[test]
fn not_a_number() {
    let nan = f64::NAN;
    assert_eq!(at!(greatest, [1.0, nan, 2.0, nan]), [0.0, 0.0, 4.0, 0.0]);
    assert_eq!(at!(by_max, [1.0, nan, 2.0, nan]), [0.0, 0.0, 4.0, 0.0]);
    assert_eq!(at!(by_max, [nan, 1.0, nan]), [0.0, 2.0, 0.0]);
    assert_eq!(at!(by_fold, [nan, nan]), [0.0, 0.0]);
    let d = at!(by_max, [nan, nan]);
    assert!(d[0].is_nan() && !d[1].is_nan(), "{d:?}");
    assert!(at!(greatest, [nan, 1.0])[0].is_nan());
    // Where the gradient is no number either, those that were passed over have none.
    assert_eq!(at!(log_sum_exp, [1.0, f64::INFINITY]).len(), 2);
}

#[test]
fn without_iterations() {
    assert_eq!(at!(greatest, [3.0]), [6.0]);
    assert!(at!(by_fold, []).is_empty());
    assert!(at!(greatest_or_equal, []).is_empty());
    assert!(at!(last_positive, []).is_empty());
}

/// Nothing is kept of each iteration.
#[test]
fn memory() {
    let (mut few, mut many) = (by_max::gradient(), by_max::gradient());
    few.value_and_gradient(&wave(10, 0.1));
    many.value_and_gradient(&wave(1000, 0.1));
    assert_eq!(many.memory() - few.memory(), 990 * size_of::<f64>(), "no more than the gradient");
    let x = wave(1000, 0.3);
    assert_eq!(allocations_in(|| many.value_and_gradient(&x).0).1, 0);
}

/// The function is left before the loop, and behind it.
#[differentiable]
fn with_exits(x: &[f64], way: usize) -> f64 {
    if way == 1 {
        return x[0] * x[0];
    }
    let mut m = x[0];
    for &v in x {
        if v > m {
            m = v;
        }
    }
    if way == 2 {
        return m * x[0];
    }
    let mut least = m;
    for &v in x {
        least = least.min(v);
    }
    m - least * least
}

/// In loops that keep what they need at checkpoints, and in those that the number of iterations is not known of.
#[differentiable]
fn at_checkpoints(x: &[f64], n: usize) -> f64 {
    let mut s = 0.7;
    #[pullback(checkpoint = 2)]
    for _ in 0..n {
        let mut m = s;
        for &v in x {
            if v * v > m {
                m = v * v * s;
            }
        }
        s = (s + m).sin();
    }
    s
}

#[differentiable]
fn until_small(x: &[f64], n: usize) -> f64 {
    let mut s = 1.0;
    let mut k = 0;
    while k < n {
        let mut m = 0.1 * x[0];
        for i in 0..x.len() {
            m = m.max(x[i] - 0.23 * k as f64);
        }
        s = s * m.cos() + m;
        k += 1;
    }
    s
}

#[differentiable(dual)]
fn on_duals(x: &[f64]) -> f64 {
    let mut m = x[0];
    for &v in x {
        if v > m {
            m = v;
        }
    }
    let mut least = x[0];
    for &v in x {
        least = least.min(v);
    }
    m * m * least
}

#[test]
fn elsewhere() {
    check!(with_exits, 0);
    check!(with_exits, 1);
    check!(with_exits, 2);
    check!(at_checkpoints, 0);
    check!(at_checkpoints, 5);
    check!(until_small, 0);
    check!(until_small, 4);
    check!(on_duals);
    let mut g = on_duals::gradient();
    let (_, d, h) = g.value_gradient_and_hvp(&[1.0, 3.0, -2.0, 3.0], &[0.5, 0.25, 1.0, 7.0]);
    // m²·l, with m = x₁ and l = x₂.
    assert_eq!(d.x.to_vec(), [0.0, -12.0, 9.0, 0.0]);
    assert_eq!(h.x.to_vec(), [0.0, 5.0, 1.5, 0.0]);
}
