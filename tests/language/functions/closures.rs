//! Local closures, called by their names.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn captures(x: f64, y: f64, k: f64) -> f64 {
    let f = |a: f64| a * k;
    f(x) + f(y) * f(k)
}

#[differentiable]
fn of_two(x: f64, y: f64) -> f64 {
    let mix = |a, b| a * 2.0 + b * a;
    mix(x, y) * mix(y, x + y)
}

#[differentiable]
fn with_a_block(x: f64, k: f64) -> f64 {
    let f = |a: f64| {
        let b = a.sin();
        let c = b * k;
        c * c + a
    };
    f(x) + f(f(k))
}

#[differentiable]
fn with_branches(x: f64, k: f64) -> f64 {
    let relu = |a: f64| if a > 0.0 { a } else { a * 0.1 * k };
    relu(x) + relu(-x * k)
}

#[differentiable]
fn nested(x: f64, k: f64) -> f64 {
    let f = |a: f64| a * k;
    let g = |b: f64| f(b) + f(b * b);
    g(x) * g(f(k))
}

#[differentiable]
fn inside_another(x: f64, k: f64) -> f64 {
    let outer = |a: f64| {
        let inner = |b: f64| b * a + k;
        inner(a) * inner(k)
    };
    outer(x) + outer(2.0)
}

#[differentiable]
fn shadowed_later(x: f64, k: f64) -> f64 {
    let f = |a: f64| a * k;
    let k = 3.0 * x;
    let a = f(k) + k;
    let f2 = |x: f64| f(x) * k + a;
    let x = f2(x) * k;
    let k = 1.0;
    f(x) + f2(k)
}

#[differentiable]
fn shadowed_in_a_loop(x: &[f64], k: f64) -> f64 {
    let f = |a: f64| a * k;
    let mut total = 0.0;
    for k in x {
        total += f(*k) * k;
    }
    for (k, v) in x.iter().enumerate() {
        total += f(*v) * k as f64;
    }
    total + x.iter().map(|k| f(*k) + k).sum::<f64>()
}

#[differentiable]
fn accumulates(x: &[f64], k: f64) -> f64 {
    let mut total = k;
    let mut push = |v: f64| {
        total += v * v;
    };
    for v in x {
        push(*v);
    }
    push(k);
    total * k
}

#[differentiable]
fn accumulates_and_answers(x: f64, y: f64) -> f64 {
    let mut state = 1.0;
    let mut next = |v: f64| {
        state = state * 0.5 + v;
        state
    };
    let a = next(x);
    let b = next(y * a);
    let c = next(x) + next(b);
    a * b * c + state
}

#[differentiable]
fn writes_an_array(x: &[f64], y: &mut [f64], k: f64) {
    let mut set = |i: usize, v: f64| y[i] = y[i] * v + k;
    for i in 0..x.len() {
        set(i, x[i]);
    }
    set(0, k);
}

#[differentiable]
fn moved(x: f64, k: f64) -> f64 {
    let mut k = k;
    let f = move |a: f64| a * k;
    k *= 5.0;
    f(x) + k * f(k)
}

#[differentiable]
fn moved_state(x: f64) -> f64 {
    let mut count = 1.0;
    let mut next = move |a: f64| {
        count += a;
        count * a
    };
    let a = next(x);
    let b = next(a);
    a * b + count * x
}

#[differentiable]
fn by_reference(x: &[f64], y: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let norm = |a: &[f64]| dot(a, a).sqrt();
    dot(x, y) / (norm(x) * norm(y)) + dot(&x[1..], &y[..1])
}

#[differentiable]
fn element(x: &[f64], n: usize) -> f64 {
    let at = |i: usize, j: usize| x[i * n + j];
    let mut trace = 0.0;
    for i in 0..n {
        trace += at(i, i) * at(0, i);
    }
    trace
}

#[differentiable]
fn kernels(x: &[f64], width: f64) -> f64 {
    let kernel = |a: f64, b: f64| (-(a - b).powi(2) / width).exp();
    let mut total = 0.0;
    for i in 0..x.len() {
        for j in 0..x.len() {
            total += kernel(x[i], x[j]);
        }
    }
    total
}

#[differentiable]
fn passed_to_adapters(x: &[f64], k: f64) -> f64 {
    let scale = |v: &f64| v * k;
    let keep = |v: &f64| *v > 0.1;
    let add = |a: f64, b: f64| a * 0.5 + b;
    x.iter().map(scale).filter(keep).fold(k, add)
        + x.iter().copied().filter(keep).map(|v| scale(&v)).sum::<f64>()
}

#[differentiable]
fn in_conditions(x: f64, k: f64) -> f64 {
    let f = |a: f64| a * k - 1.0;
    let mut y = x;
    let mut n = 0;
    while f(y) > 0.0 && n < 10 {
        y = y * 0.5 + f(y) * 0.1;
        n += 1;
    }
    if f(y).abs() < 10.0 { y * f(x) } else { f(k) }
}

#[differentiable]
fn in_branches(x: f64, k: f64) -> f64 {
    let f = |a: f64| a.sin() * k;
    let y = if x > 0.0 {
        f(x)
    } else if k > 0.0 {
        f(-x) * 2.0
    } else {
        x
    };
    y + 3.0 * if y > 0.1 { f(y) } else { 1.0 }
}

#[differentiable]
fn newton(c: f64, x: f64) -> f64 {
    let f = |x: f64| x * x * x - c;
    let df = |x: f64| 3.0 * x * x;
    let mut x = x;
    for _ in 0..4 {
        x = x - f(x) / df(x);
    }
    x
}

#[differentiable]
fn runge_kutta(x: f64, k: f64, dt: f64, n: usize) -> f64 {
    let f = |x: f64, t: f64| -k * x + t.sin();
    let mut x = x;
    for i in 0..n {
        let t = i as f64 * dt;
        let k1 = f(x, t);
        let k2 = f(x + 0.5 * dt * k1, t + 0.5 * dt);
        let k3 = f(x + 0.5 * dt * k2, t + 0.5 * dt);
        let k4 = f(x + dt * k3, t + dt);
        x += dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
    x
}

#[differentiable]
fn without_parameters(x: f64, y: f64) -> f64 {
    let product = || x * y;
    product() + product().sin()
}

#[differentiable]
fn tuples(x: f64, y: f64) -> f64 {
    let rotate = |(a, b): (f64, f64), angle: f64| {
        (a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos())
    };
    let (a, b) = rotate((x, y), 0.3);
    let (c, d) = rotate((a, b), x);
    c * d + a
}

#[differentiable]
fn calls_rules(x: f64, k: f64) -> f64 {
    let f = |a: f64| captures(a, k, a) * k;
    let mut total = 0.0;
    for i in 0..3 {
        total += f(x + i as f64);
    }
    total
}

/// Constant: emitted as it is.
#[differentiable]
fn over_integers(x: &[f64], n: usize) -> f64 {
    let twice = |i: usize| i * 2 % n;
    let mut total = 0.0;
    for i in 0..n {
        total += x[twice(i) % x.len()];
    }
    total
}

#[differentiable]
fn with_inner_functions(x: f64, y: f64) -> f64 {
    #[differentiable]
    fn square(a: f64) -> f64 {
        a * a
    }
    let f = |a: f64| square(a) + square(y);
    f(x) * square(x)
}

#[test]
fn by_their_names() {
    check_rule(captures::rule, [(0.5, 0.7, -0.3), (1.5, 0.2, 0.3)]);
    check_rule(of_two::rule, [(0.5, 0.7), (1.5, 0.2)]);
    check_rule(with_a_block::rule, [(0.5, 0.7), (1.5, 0.2)]);
    check_rule(with_branches::rule, [(0.5, 0.7), (-1.5, 0.2)]);
    check_rule(nested::rule, [(0.5, 0.7), (-1.5, 0.2)]);
    check_rule(inside_another::rule, [(0.5, 0.7), (-1.5, 0.2)]);
    check_rule(without_parameters::rule, [(0.5, 0.7), (-1.5, 0.2)]);
    check_rule(tuples::rule, [(0.5, 0.7), (-1.5, 0.2)]);
    check_rule(calls_rules::rule, [(0.5, 0.7), (-1.5, 0.2)]);
    check_rule(over_integers::rule, [(vec![0.5, 0.7, 0.1], 3), (vec![0.4], 0)]);
    check_rule(with_inner_functions::rule, [(0.5, 0.7), (-1.5, 0.2)]);
}

#[test]
fn with_names_that_are_taken() {
    check_rule(shadowed_later::rule, [(0.5, 0.7), (-1.5, 0.2)]);
    check_rule(shadowed_in_a_loop::rule, [(vec![0.5, 0.7, 0.1], 0.3), (vec![], 0.4)]);
}

#[test]
fn that_change_what_they_capture() {
    check_rule(accumulates::rule, [(vec![0.5, 0.7, 0.1], 0.3), (vec![], 0.4)]);
    check_rule(accumulates_and_answers::rule, [(0.5, 0.7), (-1.5, 0.2)]);
    check_rule(
        writes_an_array::rule,
        [(vec![0.5, 0.7], vec![0.3, 0.2], 0.4), (vec![0.5], vec![0.3, 0.2], 0.6)],
    );
    check_rule(moved::rule, [(0.5, 0.7), (-1.5, 0.2)]);
    check_rule(moved_state::rule, [(0.5,), (-1.5,)]);
}

#[test]
fn in_loops_and_branches() {
    check_rule(
        by_reference::rule,
        [(vec![0.5, 0.7, 0.1], vec![0.3, 0.2, 0.4]), (vec![0.5, 0.1], vec![0.3, 0.8])],
    );
    check_rule(element::rule, [(vec![0.5, 0.7, 0.1, 0.3], 2), (vec![0.5], 1)]);
    check_rule(kernels::rule, [(vec![0.5, 0.7, 0.1], 0.5), (vec![], 0.4)]);
    check_rule(passed_to_adapters::rule, [(vec![0.5, 0.7, -0.2], 0.5), (vec![], 0.4)]);
    check_rule(in_conditions::rule, [(2.5, 1.7), (-1.5, 0.2)]);
    check_rule(in_branches::rule, [(0.5, 0.7), (-1.5, 0.2), (-0.5, -0.2)]);
    check_rule(newton::rule, [(2.0, 1.5), (5.0, 1.2)]);
    check_rule(runge_kutta::rule, [(1.0, 0.5, 0.1, 4), (0.3, 0.2, 0.1, 0)]);
}

/// What decides is a closure's, and where it leads has no gradient.
#[differentiable]
fn decided_by_closures(y: &[f64], c: f64) -> f64 {
    let g = |x: f64| x * c;
    let first = match g(c.sin()) {
        e if e < 0.3 => 0.3,
        _ => 0.5,
    };
    let some = |x: f64| if x > 0.0 { Some(x * c) } else { None };
    let second = if let Some(_) = some(y[0]) { 1.0 } else { 2.0 };
    let third = match some(c - 1.0) {
        Some(_) => 1.5,
        None => 3.0,
    };
    let Some(z) = some(c) else { return c };
    c * first + second * third * z
}

#[test]
fn matches_on_what_closures_give() {
    check_rule(decided_by_closures::rule, [(vec![0.3], 0.7), (vec![-1.3], 1.4), (vec![0.3], -1.4)]);
}

/// What closures declare has the names of closures: their own, or those of others.
#[differentiable]
fn named_alike(x: &[f64]) -> f64 {
    let scale = |scale: f64| scale.sin();
    let a = |b: f64| b.cos() * 0.5;
    let b = |a: f64| a * a;
    let largest = |x: &[f64]| {
        let largest = x.iter().copied().fold(f64::MIN, f64::max);
        largest
    };
    let mut total = 0.0;
    for (i, v) in x.iter().map(|v| scale(*v) * 2.0).enumerate() {
        let a = a(v);
        if scale(x[i]) < 2.0 && largest(x) < 10.0 {
            total += b(a);
        }
    }
    let least = x.iter().map(|v| a(*v) * b(*v)).min_by(|a, b| a.total_cmp(b)).unwrap_or(0.5);
    while b(largest(&x[1..])) > 0.3 {
        total *= largest(x);
        break;
    }
    let largest = largest(x);
    total * least + largest
}

#[test]
fn names_of_closures() {
    check_rule(named_alike::rule, [(vec![0.3, 0.5],), (vec![0.7, 0.75, 0.2],)]);
}

/// A format string names what the closure is given, wherever its body goes.
#[differentiable]
fn with_texts(x: &[f64]) -> f64 {
    let checked = |value: f64| -> f64 {
        assert!(value > -3.0, "{value} is low, of {}", x.len());
        let twice = 2.0 * value;
        debug_assert!(twice.is_finite(), "{twice:.3} of {value}");
        value * twice
    };
    let named: Result<Vec<f64>, String> = x
        .iter()
        .map(|v| -> Result<f64, String> {
            if *v > 0.0 { Ok(v.sqrt()) } else { Err(format!("{v}")) }
        })
        .collect();
    let named = named.unwrap();
    checked(x[0]) + checked(x[1]) * named[0]
}

/// Two variables of one name, of which a format string captures one.
#[differentiable]
fn with_one_name(x: &[f64], v: f64) -> f64 {
    x.iter()
        .map(|v| {
            assert!(*v < 9.0, "{v}");
            v * 2.0
        })
        .map(|w| w * v)
        .sum()
}

#[test]
fn format_strings_in_closures() {
    check_rule(with_one_name::rule, [(vec![0.3, 0.5], 0.7)]);
    check_rule(with_texts::rule, [(vec![0.3, 0.5],)]);
}

#[differentiable]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The rows of a matrix, of which the elements are one behind the other.
#[differentiable]
fn gram(x: &[f64], columns: usize, #[constant] pairs: &[(usize, usize)]) -> f64 {
    let row = |i: usize| &x[i * columns..(i + 1) * columns];
    let at = |i, j| &x[i * columns + j];
    let mut total = 0.0;
    for &(i, j) in pairs {
        let (left, right) = (row(i), row(j));
        let norm = row(i).iter().map(|v| v * v).sum::<f64>().sqrt();
        total += dot(left, right) / norm + dot(row(j), row(0)) * row(j)[0];
        for (a, b) in left.iter().zip(row(columns.min(1))) {
            total += a * b * *at(j, 0);
        }
    }
    total * at(0, 1)
}

#[test]
fn closures_choose_rows() {
    let x = vec![0.5, 1.2, -0.3, 0.8, 0.1, 0.7];
    check_rule(gram::rule, [(x.clone(), 3, vec![(0, 1), (1, 1)]), (x, 2, vec![(0, 2), (2, 1), (0, 1)])]);
}
