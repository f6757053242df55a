//! `if`, as a statement and as a value.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn statement(x: f64, y: f64) -> f64 {
    let mut a = x;
    if x > y {
        a = a * y;
        a += x;
    } else if y > 1.0 {
        a *= y.exp();
    }
    if a > 0.0 {
        a = a.sqrt() * a;
    }
    a * x
}

#[differentiable]
fn value(x: f64, y: f64) -> f64 {
    let a = if x > y { x * y } else { x / y };
    let b = if a > 1.0 {
        let c = a * a;
        c * x
    } else if a > 0.2 {
        let c = y.sin();
        c * a
    } else {
        0.5
    };
    let c = 2.0 * if b > a { b } else { a } - if x > 0.0 { x * b } else { 0.0 };
    if c > 0.0 { c * a } else { -c * b }
}

#[differentiable]
fn nested(x: f64, n: usize) -> f64 {
    let mut a = x;
    if n > 1 {
        if a > 0.5 {
            a = a * a;
            if n > 2 {
                let t = a * 3.0;
                a = t.sin();
            }
        } else {
            a += 1.0;
        }
        a *= x;
    }
    a
}

#[differentiable]
fn constant_conditions(x: &[f64], n: usize, flag: bool) -> f64 {
    if n == 0 || x.is_empty() {
        0.0
    } else if flag && n < x.len() {
        x[n] * x[n]
    } else {
        let last = x.len() - 1;
        x[last].exp()
    }
}

/// A branch writes what the condition reads.
#[differentiable]
fn changes_its_condition(x: &mut [f64], k: f64) -> f64 {
    for i in 0..x.len() {
        if x[i] > 0.5 {
            x[i] = x[i] * k;
            if x[i] > 0.6 {
                x[i] *= x[i];
            }
        } else {
            x[i] -= k;
        }
    }
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i] * k;
    }
    total
}

#[differentiable]
fn conditionally_written(x: &[f64]) -> f64 {
    let mut last = 1.0;
    let mut count = 0;
    let mut found = false;
    let mut total = 0.0;
    for i in 0..x.len() {
        if x[i] > 0.0 {
            last = x[i] * x[i];
            count += 1;
        } else {
            found = true;
        }
        total += last * x[i] * count as f64;
    }
    if found { total * last } else { total + last }
}

#[differentiable]
fn largest(x: &[f64]) -> f64 {
    let mut best = 0;
    for i in 1..x.len() {
        if x[i] > x[best] {
            best = i;
        }
    }
    let max = x[best];
    let mut total = 0.0;
    for i in 0..x.len() {
        total += (x[i] - max).exp();
    }
    max + total.ln()
}

#[differentiable]
fn without_else(x: f64, y: f64, n: i32) {
    let mut a = x;
    if n > 0 {
        a *= y
    }
    if a > 1.0 {
        a = y;
    }
    let _ = a;
}

#[differentiable]
fn tuple_of_a_branch(x: f64, y: f64) -> (f64, f64) {
    let (a, b) = if x > y { (x * y, y) } else { (y.exp(), x / y) };
    let pair = if a > b { (a, b * b) } else { (b, a * x) };
    (pair.0 * a, pair.1)
}

#[differentiable]
fn array_of_a_branch(x: f64, y: f64) -> f64 {
    let a = if x > y { [x, y * y] } else { [x * y, 1.0] };
    let mut b = if x > 0.0 { a } else { [a[1], x] };
    b[0] *= b[1];
    a[0] * b[0] + b[1]
}

#[differentiable]
fn condition_of_active_calls(x: &[f64], y: f64) -> f64 {
    let big = x.len() > 2 && x[0].abs() > y;
    let mut a = y;
    if big || a.is_nan() {
        a = a * x[0];
    }
    if !big && (x[0] - y).abs() < 10.0 {
        a += x[0] * x[0];
    }
    a
}

#[test]
fn of_scalars() {
    let inputs = [(0.3, 0.7), (1.3, 0.7), (-0.4, 1.5), (0.9, 0.4)];
    check_rule(statement::rule, inputs);
    check_rule(value::rule, inputs);
    check_rule(tuple_of_a_branch::rule, inputs);
    check_rule(array_of_a_branch::rule, inputs);
    check_rule(nested::rule, [(0.3, 0), (0.3, 2), (0.7, 2), (0.7, 3)]);
    check_rule(without_else::rule, [(0.3, 2.0, 0), (0.7, 2.0, 3)]);
}

#[test]
fn of_slices() {
    check_rule(
        constant_conditions::rule,
        [(vec![], 3, true), (vec![0.5, 0.7], 1, true), (vec![0.5, 0.7], 1, false), (vec![0.5], 0, false)],
    );
    check_rule(
        changes_its_condition::rule,
        [(vec![0.9, 0.1, 0.55, -1.0], 0.8), (vec![], 1.0), (vec![0.7, 2.0], 1.5)],
    );
    check_rule(
        conditionally_written::rule,
        [vec![0.5, -0.4, 2.0, 1.0], vec![1.0, 2.0], vec![]].map(|x| (x,)),
    );
    CheckRule::new(largest::rule)
        .inputs([vec![0.5, -0.4, 2.0, 1.0], vec![1.0], vec![3.0, 2.0]].map(|x| (x,)))
        .panicking((vec![],))
        .run();
    check_rule(
        condition_of_active_calls::rule,
        [(vec![2.0, 1.0, 1.0], 0.5), (vec![2.0], 0.5), (vec![0.1, 0.0, 0.0], 0.5)],
    );
}

/// What an `if` at the end of an iteration asks for, in several ways: by a loop, by a loop that keeps something, by a branch
/// that keeps something, and beside another use.
#[differentiable]
fn cutoffs(x: &[f64], y: &mut [f64], cutoff: f64) -> f64 {
    let mut total = 0.0;
    let mut last = 0.5;
    for i in 0..x.len() {
        let mut r2 = 0.0;
        for k in 0..2 {
            let d = x[i] - x[k] * cutoff;
            r2 += d * d;
        }
        if r2 < 0.3 {
            total += (0.1 + r2).sqrt() * x[i];
        }
    }
    for i in 0..x.len() {
        let mut product = 1.0;
        for k in 0..3 {
            product *= product * 0.5 + x[(i + k) % x.len()];
        }
        if i % 2 == 0 {
            total += product * product;
        }
    }
    for i in 0..x.len() {
        let a = x[i] * cutoff;
        let b = a.sin() + a;
        if b > 0.2 {
            y[i] *= b;
            last *= y[i] + b * last;
        }
    }
    for i in 0..x.len() {
        let a = x[i] * x[i];
        total += a;
        let b = a * cutoff;
        if b > 0.1 {
            total -= b * b;
        }
    }
    total + last * y[0]
}

/// The square root of 0 has no derivative, and nobody asks for it.
#[differentiable]
fn roots_of_some(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let r = x[i].sqrt();
        let inverse = 1.0 / x[i];
        if x[i] > 0.0 {
            total += r + inverse;
        }
    }
    total
}

#[test]
fn ifs_at_the_end_of_iterations() {
    let wave = |n: usize| -> Vec<f64> { (0..n).map(|i| 0.4 + 0.7 * (1.3 * i as f64).sin()).collect() };
    check_rule(cutoffs::rule, [(wave(7), wave(7), 0.8), (wave(3), wave(3), -0.3), (wave(2), wave(2), 1.1)]);
    let mut g = roots_of_some::gradient();
    let (value, d) = g.value_and_gradient(&[0.0, 4.0]);
    assert_eq!((value, d.x), (2.25, &[0.0, 0.25 - 1.0 / 16.0][..]));
}

#[differentiable]
fn applied(f: impl Fn(f64, &[f64]) -> f64, x: &[f64], cutoff: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let y = f(x[i], x);
        if y > cutoff {
            total += y * y;
        }
    }
    total
}

#[differentiable]
fn product_with(x: f64, others: &[f64]) -> f64 {
    let mut p = x;
    for i in 0..others.len() {
        p *= p * 0.3 + others[i];
    }
    p
}

/// The pullback of a function that is passed runs for each of its calls, whether the branch behind is taken or not.
#[differentiable]
fn passed_to_a_loop(x: &[f64], cutoff: f64) -> f64 {
    applied(|t, others| product_with(t, others), x, cutoff)
}

#[test]
fn ifs_behind_calls() {
    check_rule(passed_to_a_loop::rule, [(vec![0.9, -0.4, 1.3, 0.2], 0.1), (vec![0.5, 1.1], 0.05)]);
}

/// What nobody looks at has no gradient, whichever way it came about; what happens on the way has.
#[differentiable]
fn values_unused(y: &mut [f64], a: f64, b: f64) -> f64 {
    for i in 0..y.len() {
        let _chosen = if b < 0.1 { b } else { y[i].sin() * a };
        let _matched = match i % 3 {
            0 => a,
            1 => {
                y[i] *= a;
                y[i] * b
            }
            _ => b.cos(),
        };
        let _inner = {
            y[0] += a * b;
            y[0] * y[i]
        };
    }
    y[0] * b
}

#[test]
fn ifs_whose_value_is_not_used() {
    check_rule(values_unused::rule, [(vec![0.9, -0.4, 1.3, 0.2], 0.1, 0.7), (vec![0.5, 1.1], 0.5, -0.3)]);
}

/// A function that takes long, in a branch of a factor, where the loop keeps such values.
#[differentiable]
fn costly_factors(x: &mut [f64], k: f64) -> f64 {
    let mut s = x[0];
    for i in 1..x.len() {
        s += (if i < 2 { k.tanh() } else { -x[1] }) * x[i];
    }
    for i in 1..x.len() {
        s += (if x[0] < k { (k * x[i]).exp() } else { -x[1] }) * x[i];
        s *= (if s > 1.0 { s.sin() } else { k }) * s;
    }
    x[0] = s;
    s
}

#[differentiable]
fn made_by_a_call(x: f64, k: f64) -> f64 {
    x * k.sin()
}

/// What a call has made is told to be a number by what is assigned later.
#[differentiable]
fn numbers_after_calls(x: &[f64], k: f64) -> f64 {
    let mut s = made_by_a_call(k, k);
    let w = x[0] / (1.5 + s.tanh());
    for i in 0..x.len() {
        s += k;
        s = w - x[i] / (1.5 + w.sin());
        s += x[0];
    }
    let last = s;
    for i in 0..x.len() {
        s = last;
        let mut dead = s;
        for j in (0..i).rev() {
            dead += -x[j];
        }
    }
    w * k
}

#[test]
fn what_is_kept_and_told() {
    let inputs = || [(vec![0.9, -0.4, 1.3, 0.2], 0.1), (vec![0.5, 1.1], 0.7)];
    check_rule(costly_factors::rule, inputs());
    check_rule(numbers_after_calls::rule, inputs());
}

#[differentiable]
fn square_if(x: f64, squared: bool) -> f64 {
    if squared { x * x } else { x }
}

/// Ranges that a number is looked for in, elsewhere than in a condition.
#[differentiable]
fn within(x: f64, y: f64) -> f64 {
    let inside = (0.1..0.8).contains(&(x * y));
    let z = square_if(x, (0.5..=0.9).contains(&x));
    if inside { z * y } else { z + y }
}

#[test]
fn ranges() {
    check_rule(within::rule, [(0.7, 0.4), (0.7, 1.5), (1.2, 0.3)]);
}
