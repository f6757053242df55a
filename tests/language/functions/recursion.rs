//! Functions that call themselves, directly or by way of others.

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::{CheckRule, allocations_in, check_rule};

#[differentiable]
fn power(x: f64, n: usize) -> f64 {
    if n == 0 { 1.0 } else { x * power(x, n - 1) }
}

#[differentiable]
fn fast_power<T: Float>(x: T, n: u32) -> T {
    if n == 0 {
        T::one()
    } else {
        let half = fast_power(x, n / 2);
        if n % 2 == 1 { half * half * x } else { half * half }
    }
}

/// Two calls at each depth, of values that depend on each other.
#[differentiable]
fn fibonacci(a: f64, b: f64, n: usize) -> f64 {
    if n < 2 {
        a * b
    } else {
        let first = fibonacci(a, b.sin(), n - 1);
        first * b + fibonacci(first, a, n - 2) * 0.5
    }
}

#[differentiable]
fn tree_sum(x: &[f64]) -> f64 {
    if x.len() < 2 {
        x[0] * x[0]
    } else {
        let middle = x.len() / 2;
        tree_sum(&x[..middle]) * 0.5 + tree_sum(&x[middle..]).sin()
    }
}

/// The determinant by minors; `used` has a bit for each column taken.
#[differentiable]
fn determinant<const N: usize>(a: &[[f64; N]; N], row: usize, used: usize) -> f64 {
    let mut total = 0.0;
    if row == N {
        total = 1.0;
    } else {
        let mut sign = 1.0;
        for column in 0..N {
            if used & (1 << column) == 0 {
                total += sign * a[row][column] * determinant(a, row + 1, used | (1 << column));
                sign = -sign;
            }
        }
    }
    total
}

/// In place: the calls write, in a loop.
#[differentiable]
fn mix(x: &mut [f64], k: f64, depth: usize) -> f64 {
    let n = x.len();
    let mut total = k;
    if depth > 0 && n > 1 {
        for i in 0..2 {
            let s = mix(&mut x[i..n - 1], k * 0.5, depth - 1);
            x[0] = x[0] * s + x[n - 1];
            total += s;
        }
    }
    for i in 0..n {
        x[i] *= k;
        total += x[i] * x[i];
    }
    total
}

#[differentiable]
fn locals(x: f64, n: usize) -> f64 {
    let mut buffer = [x, 2.0 * x, 0.5];
    if n > 0 {
        buffer[1] *= locals(buffer[0] * buffer[1], n - 1);
        let inner = mix(&mut buffer, x, 2);
        buffer[0] += inner;
    }
    buffer[0] * buffer[1] + buffer[2]
}

#[differentiable(recursive)]
fn even(x: f64, n: usize) -> f64 {
    if n == 0 { x } else { 0.9 * x * odd(x * 1.1, n - 1) }
}

#[differentiable]
fn odd(x: f64, n: usize) -> f64 {
    if n == 0 { x.cos() } else { even(x.sin(), n - 1) + x * even(x, 0) }
}

/// A cycle of three, and one that calls itself as well.
#[differentiable(recursive)]
fn first(x: &mut [f64], n: usize) -> f64 {
    x[0] *= 1.5;
    if n > 0 { second(x, n - 1) } else { x[0] * x[1] }
}

#[differentiable]
fn second(x: &mut [f64], n: usize) -> f64 {
    let s = third(x, n);
    x[1] += s + 1.0;
    x[1] * x[0]
}

#[differentiable]
fn third(x: &mut [f64], n: usize) -> f64 {
    if n == 0 {
        x[0]
    } else if n % 2 == 1 {
        let a = third(x, n - 1);
        x[0] += a * 0.1;
        a
    } else {
        first(x, n - 1)
    }
}

#[differentiable]
fn called_from_outside(x: f64, n: usize) -> f64 {
    let mut total = power(x, 2) * odd(x, 3);
    for i in 0..n {
        total += even(x * i as f64, i) * fast_power(x, 5) + fibonacci(x, total, i);
    }
    total
}

/// A value at an odd place in an expression.
#[differentiable]
fn continued_fraction(x: &[f64], i: usize) -> f64 {
    x[i] + if i + 1 < x.len() { 1.0 / continued_fraction(x, i + 1) } else { 0.0 }
}

/// Several calls in one expression, one of them in a block.
#[differentiable]
fn in_one_expression(x: f64, y: f64, n: usize) -> f64 {
    let a = if n == 0 { x * y } else { in_one_expression(x * y, y, n - 1) };
    if n < 2 {
        a
    } else {
        in_one_expression(a, in_one_expression(y, x, n - 2), n - 2) * {
            let inner = in_one_expression(x, a, n - 2);
            inner * in_one_expression(inner, y, n - 2) + y
        } - in_one_expression(y, y, n - 1) / in_one_expression(2.0, x, n - 2)
    }
}

#[test]
fn direct() {
    check_rule(in_one_expression::rule, [(0.6, 0.8, 3), (0.4, 1.2, 0), (0.3, 0.2, 2)]);
    check_rule(power::rule, [(1.3, 4), (0.7, 0), (-1.2, 2)]);
    check_rule(fast_power::<f64>::rule, [(1.3, 13), (0.7, 0), (-1.2, 2)]);
    check_rule(fibonacci::rule, [(0.6, 0.8, 5), (0.4, 1.2, 0), (0.3, 0.2, 3)]);
    check_rule(tree_sum::rule, [(vec![0.5, 0.2, 0.3, 0.7, 0.1],), (vec![0.4],), (vec![0.4, 0.6],)]);
    let a = [[0.5, 0.2, 0.3], [0.1, 0.9, 0.4], [0.7, 0.6, 0.8]];
    check_rule(determinant::<3>::rule, [(a, 0, 0), (a, 1, 2), (a, 3, 0)]);
    check_rule(continued_fraction::rule, [(vec![0.5, 1.2, 0.3], 0), (vec![0.4], 0)]);
}

#[test]
fn with_mutation() {
    check_rule(mix::rule, [(vec![0.5, 0.2, 0.3], 0.7, 2), (vec![0.4, 0.6], 1.2, 3), (vec![0.4], 1.2, 0)]);
    check_rule(locals::rule, [(0.3, 0), (0.4, 2), (0.2, 1)]);
}

#[test]
fn in_cycles() {
    check_rule(even::rule, [(0.3, 5), (0.7, 0), (0.9, 2)]);
    check_rule(odd::rule, [(0.3, 5), (0.7, 0), (0.9, 2)]);
    check_rule(first::rule, [(vec![0.5, 0.2], 4), (vec![0.5, 0.2], 0), (vec![0.5, 0.2], 1)]);
    check_rule(called_from_outside::rule, [(0.3, 3), (0.7, 0)]);
}

#[test]
fn depths_may_change_and_memory_is_reused() {
    let mut g = fibonacci::gradient();
    let first = g.value_and_gradient(0.6, 0.8, 9).0;
    g.value_and_gradient(0.6, 0.8, 3);
    let (again, count) = allocations_in(|| g.value_and_gradient(0.6, 0.8, 9).0);
    assert_eq!((again, count), (first, 0));
    g.shrink();
    assert_eq!(g.value_and_gradient(0.6, 0.8, 9).0, first);
}

#[differentiable]
fn panics(x: f64, n: usize, limit: usize) -> f64 {
    assert!(n < limit, "too deep");
    if n == 0 { x } else { x * panics(x, n - 1, limit).sin() }
}

#[test]
fn a_panic_at_depth_leaves_the_rule_usable() {
    let mut g = panics::gradient();
    let (value, d) = g.value_and_gradient(0.5, 3, 9);
    let expected = (value, d.x);
    let attempt = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        g.value_and_gradient(0.5, 5, 5);
    }));
    assert!(attempt.is_err());
    let (value, d) = g.value_and_gradient(0.5, 3, 9);
    assert_eq!((value, d.x), expected);
}

#[derive(Clone, Copy, Differentiable)]
pub struct Halving {
    x: f64,
    n: usize,
}

#[differentiable]
impl Halving {
    fn value(&self, t: f64) -> f64 {
        if self.n == 0 {
            return self.x * t;
        }
        let inner = Halving { x: self.x * 0.5, n: self.n - 1 };
        inner.value(t) * t
    }
}

#[test]
fn a_method_calls_itself_on_a_local_of_its_type() {
    check_rule(Halving_value::rule, [(Halving { x: 0.4, n: 2 }, 0.3), (Halving { x: 0.7, n: 3 }, 0.9)]);
}
