//! What is computed and not looked at has the gradient 0, even where its derivative is infinite.

use ndarray::{Array1, array};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn unused_is_infinite(x: f64, y: f64) -> f64 {
    let _unused = x.ln() / (x - x);
    let unused = 1.0 / x;
    let mut overwritten = unused.sqrt();
    overwritten = y * y;
    let chosen = if x > 0.0 { x.ln() } else { y.exp() };
    overwritten + chosen
}

#[test]
fn what_is_not_used_does_not_poison() {
    let mut gradient = unused_is_infinite::gradient();
    for x in [0.0, f64::NAN, f64::NEG_INFINITY] {
        let (value, d) = gradient.value_and_gradient(x, 2.0);
        assert_eq!(value, 4.0 + 2.0_f64.exp());
        assert_eq!((d.x, d.y), (0.0, 4.0 + 2.0_f64.exp()));
    }
    CheckRule::new(unused_is_infinite::rule).input((0.5, 2.0)).input((-0.5, -1.0)).run();
}

/// The distance to a box.
#[differentiable]
fn to_box(x: f64, y: f64) -> f64 {
    let (dx, dy) = (x.abs() - 1.0, y.abs() - 0.5);
    let outside = (dx.max(0.0).powi(2) + dy.max(0.0).powi(2)).sqrt();
    if dx > 0.0 || dy > 0.0 { outside } else { dx.max(dy) }
}

#[differentiable]
fn direction(x: f64, y: f64) -> f64 {
    let r = (x * x + y * y).sqrt();
    if r > 0.0 { x / r } else { 0.0 }
}

#[differentiable]
fn returned_early(x: f64, y: f64) -> f64 {
    let r = (x * x + y * y).sqrt();
    if r == 0.0 {
        return y;
    }
    x / r
}

#[differentiable]
fn at_least(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt().max(0.1) + y.recip().min(3.0)
}

#[differentiable]
fn softplus(x: f64) -> f64 {
    let e = x.exp();
    if x > 30.0 { x } else { e.ln_1p() }
}

#[differentiable]
fn log_likelihood(p: f64, #[constant] hit: bool) -> f64 {
    let (yes, no) = (p.ln(), (1.0 - p).ln());
    if hit { yes } else { no }
}

#[differentiable]
fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

#[differentiable]
fn called(x: f64, y: f64) -> f64 {
    let r: f64 = length(x, y);
    if r > 1e-9 { r } else { x }
}

#[test]
fn values_before_a_branch() {
    let mut g = to_box::gradient();
    let (_, d) = g.value_and_gradient(0.2, 0.1);
    assert_eq!((d.x, d.y), (0.0, 1.0));
    let mut g = direction::gradient();
    let (_, d) = g.value_and_gradient(0.0, 0.0);
    assert_eq!((d.x, d.y), (0.0, 0.0));
    let mut g = returned_early::gradient();
    let (_, d) = g.value_and_gradient(0.0, 0.0);
    assert_eq!((d.x, d.y), (0.0, 1.0));
    let mut g = called::gradient();
    let (_, d) = g.value_and_gradient(0.0, 0.0);
    assert_eq!((d.x, d.y), (1.0, 0.0));
    assert_eq!(softplus::gradient().value_and_gradient(800.0).1.x, 1.0);
    assert_eq!(log_likelihood::gradient().value_and_gradient(0.0, false).1.p, -1.0);
    assert_eq!(log_likelihood::gradient().value_and_gradient(1.0, true).1.p, 1.0);
    check_rule(to_box::rule, [(0.2, 0.1), (1.5, 0.9), (0.1, 0.7)]);
    check_rule(softplus::rule, [(0.3,), (40.0,)]);
}

#[test]
fn arguments_that_lose() {
    let mut g = at_least::gradient();
    let (value, d) = g.value_and_gradient(0.0, 0.0);
    assert_eq!((value, d.x, d.y), (3.1, 0.0, 0.0));
    check_rule(at_least::rule, [(0.3, 0.7), (0.01, 0.02)]);
}

/// A product with what is infinite.
#[differentiable]
fn by_inverse(x: f64, y: f64, q: f64) -> f64 {
    let r = (x * x + y * y).sqrt();
    let inverse = 1.0 / r;
    let force = inverse * q;
    if r > 0.0 { force } else { q }
}

#[differentiable]
fn in_no_round(x: f64, rounds: usize) -> f64 {
    let r = x.sqrt();
    let mut total = x;
    for i in 0..rounds {
        total += r * i as f64;
    }
    total
}

#[differentiable]
fn replaced(x: f64) -> f64 {
    let mut r = x.sqrt();
    if r < 1e-3 {
        r = 1e-3;
    }
    1.0 / r + x
}

#[differentiable]
fn out_of_a_branch(x: f64, taken: bool) -> f64 {
    let r = if x < 1.0 {
        let root = x.sqrt();
        root * 2.0
    } else {
        x
    };
    if taken { r } else { x }
}

#[differentiable]
fn matched(x: f64, kind: usize) -> f64 {
    let (logarithm, root) = (x.ln(), x.sqrt());
    match kind {
        0 => logarithm,
        1 => root,
        _ => x,
    }
}

#[test]
fn values_that_some_statements_use() {
    let mut g = by_inverse::gradient();
    let (_, d) = g.value_and_gradient(0.0, 0.0, 3.0);
    assert_eq!((d.x, d.y, d.q), (0.0, 0.0, 1.0));
    assert_eq!(in_no_round::gradient().value_and_gradient(0.0, 0).1.x, 1.0);
    assert_eq!(replaced::gradient().value_and_gradient(0.0).1.x, 1.0);
    assert_eq!(out_of_a_branch::gradient().value_and_gradient(0.0, false).1.x, 1.0);
    assert_eq!(matched::gradient().value_and_gradient(0.0, 2).1.x, 1.0);
    check_rule(by_inverse::rule, [(0.3, 0.4, 2.0)]);
    check_rule(in_no_round::rule, [(0.3, 3)]);
    check_rule(replaced::rule, [(0.3,)]);
    check_rule(out_of_a_branch::rule, [(0.3, true), (0.3, false), (2.0, true)]);
    check_rule(matched::rule, [(0.5, 0), (0.5, 1), (0.5, 2)]);
}

/// What stands in such a value, and goes elsewhere, counts whether the value does or not.
#[differentiable]
fn with_others_in_it(x: f64, taken: bool) -> f64 {
    let mut total = 0.0;
    let r = if x > 0.0 {
        total += x.ln();
        let root = x.sqrt();
        total += root * 2.0;
        root
    } else {
        x
    };
    if taken { r + total } else { total }
}

#[differentiable]
fn bump(a: f64, y: &mut f64) -> f64 {
    *y += a * a;
    a.sqrt()
}

#[differentiable]
fn with_writes(x: f64, taken: bool) -> f64 {
    let mut y = 1.0;
    let r: f64 = bump(x, &mut y);
    if taken { r + y } else { y }
}

#[differentiable]
fn with_loops(x: f64, taken: bool) -> f64 {
    let mut total = 0.0;
    let r = loop {
        total += x.sqrt();
        if total > 2.0 {
            break x.ln();
        }
    };
    if taken { r } else { total }
}

#[differentiable]
fn with_ways_out(x: f64, kind: usize) -> f64 {
    let mut total = x;
    let a = match kind {
        0 => {
            total *= x.exp();
            x.ln()
        }
        1 => return x.sqrt() * total,
        _ => {
            total += x.sqrt();
            total.sqrt()
        }
    };
    if kind > 2 { a } else { total }
}

#[differentiable]
fn step_by_step(x: f64, y: f64, steps: usize) -> f64 {
    let a = x / y;
    if steps == 0 {
        return a.sqrt();
    }
    let b = a.ln();
    if steps == 1 {
        return b;
    }
    let c = b / x;
    if steps == 2 { x } else { c * b }
}

#[test]
fn what_else_stands_in_them() {
    check_rule(with_others_in_it::rule, [(0.5, true), (0.5, false), (-0.5, false)]);
    check_rule(with_writes::rule, [(0.5, true), (0.5, false)]);
    check_rule(with_loops::rule, [(0.5, true), (0.5, false)]);
    check_rule(with_ways_out::rule, [(0.5, 0), (0.5, 1), (0.5, 2), (0.5, 3)]);
    check_rule(step_by_step::rule, [(0.5, 0.3, 0), (0.5, 0.2, 1), (0.5, 0.2, 2), (0.5, 0.2, 3)]);
}

/// What is looked at keeps its derivative, infinite or not.
#[differentiable]
fn looked_at(x: f64) -> f64 {
    let root = x.sqrt();
    if x < 1.0 { root } else { 1.0 }
}

#[test]
fn values_that_are_used() {
    assert_eq!(looked_at::gradient().value_and_gradient(0.0).1.x, f64::INFINITY);
}

#[differentiable]
fn pushed(x: &[f64]) -> f64 {
    let mut inverse = Vec::new();
    for &x in x {
        inverse.push(1.0 / x);
    }
    inverse[1]
}

#[differentiable]
fn largest(x: &[f64]) -> f64 {
    x.iter().map(|x| x.sqrt()).fold(0.1, f64::max)
}

/// The distance of each from itself is 0.
#[differentiable]
fn repulsion(x: &[f64]) -> f64 {
    let n = x.len();
    let distances: Vec<f64> = (0..n * n).map(|k| (x[k / n] - x[k % n]).powi(2).sqrt()).collect();
    let mut total = 0.0;
    for i in 0..n {
        for j in 0..n {
            if i != j {
                total += 1.0 / distances[i * n + j];
            }
        }
    }
    total
}

/// Another function for each method of kept slopes and operators: none of `x[0]` is used.
#[differentiable]
fn second_of_each(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let a = [x[i].ln(), x[i].cbrt(), 1.0 / x[i], x[i].powi(-2), x[i].powf(0.3), x[i].acos()];
        let b = (x[i] + 1.0).acosh() + (x[i] / x[i]) + x[i].atan2(x[i]) + x[i].log2() + x[i].log10();
        if i > 0 {
            total += a[0] + a[1] * a[2] + a[3] - a[4] * a[5] + b;
        }
    }
    total
}

#[test]
fn elements_of_memory() {
    check_rule(repulsion::rule, [(vec![1.0, 2.5],), (vec![0.3, -0.8, 2.0],)]);
    let mut g = second_of_each::gradient();
    let (_, d) = g.value_and_gradient(&[0.0, 0.7]);
    assert_eq!(d.x[0], 0.0);
    let at = d.x[1];
    assert_eq!(g.value_and_gradient(&[0.2, 0.7]).1.x[1], at);
    let mut g = pushed::gradient();
    let (_, d) = g.value_and_gradient(&[0.0, 2.0]);
    assert_eq!(d.x, [0.0, -0.25]);
    let mut g = largest::gradient();
    let (_, d) = g.value_and_gradient(&[0.0, 4.0]);
    assert_eq!(d.x, [0.0, 0.25]);
    check_rule(second_of_each::rule, [(vec![0.2, 0.7, 0.4],)]);
}

#[differentiable]
fn of_arrays(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
    let (root, ratio) = (x.mapv(|x| x.sqrt()), x / y);
    root[1] * ratio[1]
}

#[differentiable]
fn of_any_float<T: pullback::Float>(x: T, y: T) -> T {
    let ratio = x / y;
    if y > T::zero() { ratio } else { x }
}

#[test]
fn arrays_and_other_floats() {
    let mut g = of_arrays::gradient();
    let (_, d) = g.value_and_gradient(&array![0.0, 4.0], &array![0.0, 2.0]);
    assert_eq!((d.x, d.y), (&array![0.0, 1.5], &array![0.0, -2.0]));
    let mut g = of_any_float::<f32>::gradient();
    let (_, d) = g.value_and_gradient(1.0, 0.0);
    assert_eq!((d.x, d.y), (1.0, 0.0));
    check_rule(of_any_float::<f64>::rule, [(0.5, 0.8), (0.5, -0.8)]);
}

/// Second derivatives as well.
#[differentiable(dual)]
fn guarded(x: &[f64]) -> f64 {
    let r = (x[0] * x[0] + x[1] * x[1]).sqrt();
    let unit = x[0] / r;
    let smooth = x[0] * x[1] * x[1] + x[0].powi(2);
    if r > 0.0 { smooth + unit } else { smooth }
}

#[test]
fn in_dual_numbers() {
    let mut g = guarded::hessian();
    let (_, _, hessian) = g.value_gradient_and_hessian(&[0.0, 0.0]);
    assert_eq!(hessian, array![[2.0, 0.0], [0.0, 0.0]]);
    check_rule(guarded::rule, [(vec![0.3, 0.4],)]);
}

/// A derivative of its own, by a rule in one line.
fn steep(x: f64) -> f64 {
    x.sqrt()
}

pullback::scalar_rule! {
    fn steep(x: f64) -> f64 = y => 0.5 / y
}

#[differentiable]
fn by_own_rule(x: f64) -> f64 {
    let root: f64 = steep(x);
    if x > 0.0 { root } else { x }
}

#[test]
fn rules_in_one_line() {
    assert_eq!(by_own_rule::gradient().value_and_gradient(0.0).1.x, 1.0);
    check_rule(by_own_rule::rule, [(0.5,), (-0.5,)]);
}

/// A variance that may not be negative, but is, and a payoff that nobody gets: the paths of Heston's model with full truncation.
#[differentiable]
fn heston(v0: f64, kappa: f64, xi: f64, spot: f64, strike: f64, draws: &[[f64; 2]]) -> f64 {
    let (mut v, mut s) = (v0, spot);
    for [a, b] in draws {
        let positive = v.max(0.0);
        s *= (-0.5 * positive * 0.1 + (positive * 0.1).sqrt() * a).exp();
        v += kappa * (0.04 - positive) * 0.1 + xi * (positive * 0.1).sqrt() * b;
    }
    (s - strike).max(0.0)
}

/// A few numbers that iterations hand on, of which the last is of no use.
#[differentiable]
fn truncated(v: f64, n: usize) -> f64 {
    let (mut v, mut sum) = (v, 1.0);
    for _ in 0..n {
        let positive = v.max(0.0);
        sum += (positive * 0.5).sqrt() * 0.3;
        v += 0.1 * (0.2 - positive) + 0.06 * (positive * 0.5).sqrt();
    }
    sum
}

#[differentiable]
fn last_of_no_use(x: f64, n: usize) -> f64 {
    let (mut power, mut sum) = (1.0, 0.0);
    for _ in 0..n {
        sum += power;
        power *= x.sqrt();
    }
    sum
}

#[test]
fn what_the_last_iteration_makes() {
    check_rule(truncated::rule, [(-0.01, 3), (-1.0, 4), (0.3, 2)]);
    assert_eq!(last_of_no_use::gradient().value_and_gradient(0.0, 1).1.x, 0.0);
    check_rule(last_of_no_use::rule, [(0.3, 3), (0.7, 1)]);
    let draws = vec![[0.3, -2.5], [-0.4, 0.7], [0.2, 0.1]];
    let inputs = [(0.01, 1.5, 0.9, 1.0, 0.9, draws.clone()), (0.01, 1.5, 0.9, 1.0, 1.1, draws)];
    check_rule(heston::rule, inputs);
}

#[differentiable(dual)]
fn root_of_positive(x: f64, y: f64) -> f64 {
    x.max(0.0).sqrt() + x.clamp(0.0, 4.0).sqrt() * y + y.min(x.sqrt())
}

#[test]
fn what_is_passed_over() {
    let mut g = root_of_positive::gradient();
    let (_, d) = g.value_and_gradient(-1.0, 0.5);
    assert_eq!((d.x, d.y), (0.0, 1.0));
    // Forwards it is the operand whose derivative is infinite.
    let mut forward = root_of_positive::jacobian();
    let (value, jacobian) = forward.value_and_jacobian(0.0, -0.5);
    let (reverse, d) = g.value_and_gradient(0.0, -0.5);
    assert_eq!((value, jacobian[[0, 1]]), (reverse, d.y));
    check_rule(root_of_positive::rule, [(0.3, 0.2), (5.0, 0.7)]);
}
