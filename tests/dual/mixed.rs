//! Constants beside dual numbers where values meet: branches, options, copies, conditions.

use pullback::prelude::*;
use pullback::testing::{check_pushforward, check_rule, check_second_order};

#[differentiable(dual)]
fn product(x: &[f64]) -> f64 {
    x[0] * x[1]
}

/// Which way it goes is told by functions of what has a gradient.
#[differentiable(dual)]
fn by_a_call(x: &[f64], k: f64) -> f64 {
    let mut y = x.to_vec();
    while product(&y) > 0.1 && product(&y[..2]) * k < 100.0 {
        y[0] *= 0.5 * k;
        y[1] = 0.9 * y[1].sin();
    }
    if product(x) > k { y[0] } else { y[0] * y[1] }
}

#[differentiable(dual)]
fn in_conditions(x: &[f64], k: f64, n: usize) -> f64 {
    let mut total = k;
    for (j, e) in x.iter().enumerate() {
        let near =
            (if j % 2 == 0 { x[((*e * k).abs() * 3.3) as usize % x.len()].sin() } else { 0.5 * (*e).cos() })
                .abs();
        let c = if near < 0.4 { Some(*e * k) } else { None }.unwrap_or(1.0);
        total += c;
    }
    if x.get(n).copied().unwrap_or(x[0].sin()) > n as f64 * 0.1 { total } else { total * x[1] }
}

/// Numbers of either kind in options, and indices within indices.
#[differentiable(dual)]
fn options_in_conditions(x: &[f64], rows: &[Vec<f64>], t: (f64, usize), k: f64) -> f64 {
    let mut total = k;
    if (0..x.len()).map(|i| x[i]).nth(1).unwrap_or(0.3).abs() < 0.95 {
        total *= x[0];
    }
    if x.first().map(|e| *e * 2.0).unwrap_or(k) > x.get(t.1).copied().unwrap_or(t.0) {
        total += x[0] * t.0;
    }
    if x.last().map(|e| *e * 0.7).unwrap_or(0.5 * rows[0][0].cos())
        < x.iter().copied().nth(4).unwrap_or(-t.0 * 0.5) + 1.0
    {
        total *= t.0;
    }
    let n = (rows[(rows[1][0].abs() * 3.3) as usize % rows.len()][0].abs() * 3.3) as usize % x.len();
    if x.iter().copied().step_by(2).next().unwrap_or(0.5) > 0.6 && n < 2 {
        total *= rows[0][0];
    }
    total * x[n]
}

#[differentiable(dual)]
fn declared_in_a_loop(x: f64, #[constant] y: &[f64]) -> f64 {
    let mut j = 0;
    let s = loop {
        j += 1;
        if j > 2 {
            break y[0];
        }
        let mut z: f64 = x;
        z += 1.0;
        println!("{z}");
    };
    s * x
}

/// What a loop breaks with is constant, and comes to a place of dual numbers.
#[differentiable(dual)]
fn broken_with(x: f64, depth: usize) -> f64 {
    if depth == 0 {
        return x;
    }
    let by_a_loop = {
        let mut index = 0;
        loop {
            index += depth;
            if index > 3 {
                break 0.5;
            }
        }
    };
    let by_a_block = if depth > 1 {
        'found: {
            if x > 0.5 {
                break 'found 0.25;
            }
            0.125
        }
    } else {
        x
    };
    x * broken_with(
        {
            let mut index = 0;
            loop {
                index += 1;
                if index > 3 {
                    break 0.5;
                }
            }
        },
        depth - 1,
    ) + by_a_loop * by_a_block
}

/// A branch is constant, or leaves with a dual number.
#[differentiable(dual)]
fn left_by_a_branch(x: f64, y: f64) -> f64 {
    let twice = |a: f64| a * 2.0;
    let start = if x > 0.1 { 0.5 } else { return y * y };
    let end = {
        let start = if y > 0.1 { 0.25 } else { return x * y };
        twice(start)
    };
    x * twice(start) * y * end
}

/// What is exchanged is made on the spot, of dual numbers or of a constant.
#[differentiable(dual)]
fn exchanged(x: f64, y: f64) -> f64 {
    let mut b = 0.5;
    let before = std::mem::replace(&mut b, (if x > 0.1 { Some(x.sin()) } else { None }).unwrap_or(0.5));
    before * b * x * y
}

#[differentiable(dual)]
fn copies_of_constants(x: &[f64], #[constant] y: &[f64]) -> f64 {
    let z = y.to_vec();
    let mut w = y.to_vec();
    w[0] = x[0] * x[1];
    let mut v = y.to_owned();
    v[1] *= w[0];
    z[0] * x[0] + w[1] * w[0] * v[1]
}

/// The number of the largest one; generic, and without a rule.
fn largest<T: pullback::Float>(x: &[T]) -> usize {
    (0..x.len()).max_by(|i, j| x[*i].to_f64().total_cmp(&x[*j].to_f64())).unwrap_or(0)
}

#[differentiable(dual)]
fn of_the_largest(x: &[f64], k: f64) -> f64 {
    let i = constant(largest(x));
    let y = x.to_vec();
    y[constant(largest(&y[1..]))] * x[i] * k.sin()
}

#[test]
fn both_orders() {
    let inputs = || [(vec![0.7, 0.9], 1.3), (vec![1.4, 0.8, 0.3], 0.7)];
    check_rule(of_the_largest::rule, inputs());
    check_second_order(of_the_largest::rule, inputs());
    let inputs = || [(vec![0.7, 0.9], 1.3), (vec![1.4, 0.8, 0.3], 0.7)];
    check_rule(by_a_call::rule, inputs());
    check_pushforward(by_a_call::rule, inputs());
    let inputs = || [(vec![0.7, 0.9], 1.3, 1), (vec![1.4, 0.8, 0.3], 0.7, 3)];
    check_rule(in_conditions::rule, inputs());
    check_pushforward(in_conditions::rule, inputs());
    for inputs in [[(0.7, 0)], [(0.3, 1)], [(0.7, 2)], [(0.3, 3)]] {
        check_rule(broken_with::rule, inputs);
        check_second_order(broken_with::rule, inputs);
    }
    let inputs = [(0.7, 0.4), (0.05, 0.4), (0.7, 0.05)];
    check_rule(left_by_a_branch::rule, inputs);
    check_second_order(left_by_a_branch::rule, inputs);
    check_rule(exchanged::rule, [(0.7, 0.4), (0.05, 0.4)]);
    check_second_order(exchanged::rule, [(0.7, 0.4), (0.05, 0.4)]);
    let rows = || vec![vec![0.7], vec![0.4, 0.2]];
    let inputs = || [(vec![0.7, 0.9], rows(), (0.3, 1), 1.3), (vec![1.4, 0.8, 0.3], rows(), (1.2, 4), 0.7)];
    check_rule(options_in_conditions::rule, inputs());
    check_pushforward(options_in_conditions::rule, inputs());
}

#[test]
fn values_and_derivatives() {
    let mut g = declared_in_a_loop::gradient();
    assert_eq!(g.value_gradient_and_hvp(3.0, &[2.0], 1.0).1.x, 2.0);
    let inputs = || [(vec![0.7, 0.9], vec![0.4, 1.1]), (vec![1.4, 0.8, 0.3], vec![0.4, -1.1])];
    for (x, y) in inputs() {
        let (value, d) =
            copies_of_constants::gradient().value_and_pushforward(&x, &y, &[1.0, 0.0, 0.0][..x.len()]);
        assert_eq!(value, copies_of_constants(&x, &y));
        // z₀x₀ + y₁·y₁·(x₀x₁)²
        let expected = y[0] + 2.0 * y[1] * y[1] * x[0] * x[1] * x[1];
        assert!((d - expected).abs() < 1e-14 * expected.abs());
    }
}
