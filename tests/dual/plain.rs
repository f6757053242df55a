//! Functions of `f64`.

use pullback::prelude::*;

#[differentiable(dual)]
fn rosenbrock(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() - 1 {
        let a = x[i + 1] - x[i] * x[i];
        let b = 1.0 - x[i];
        total += 100.0 * a * a + b * b;
    }
    total
}

#[differentiable(dual)]
fn branches(x: f64, #[constant] h: f64, n: usize) -> f64 {
    let y: f64 = if x > h { x * h } else { 2.0 };
    let mut total = h;
    for i in 0..n {
        total += y.powi(2) * i as f64 + x.max(0.0).sqrt().sin();
        if (total * 10.0) as usize > 1000 {
            total = 0.5;
        }
    }
    let scale = match n {
        0 => 1.0,
        1 => x,
        _ => h * 2.0,
    };
    f64::max(total, h) * scale
}

#[differentiable(dual)]
fn caller(x: &[f64], #[constant] k: f64) -> f64 {
    let mut y = vec![0.0; x.len()];
    for (i, v) in x.iter().enumerate() {
        y[i] = branches(*v, k, 3) + v.exp();
    }
    rosenbrock(&y) + y.iter().zip(x).map(|(a, b)| a * b).sum::<f64>()
}

#[test]
fn hessian() {
    let mut g = rosenbrock::hessian();
    let x = [0.5, -0.25, 1.5];
    let (value, d, h) = g.value_gradient_and_hessian(&x);
    assert_eq!(value, rosenbrock(&x));
    assert_eq!(d.x, rosenbrock::gradient().value_and_gradient(&x).1.x);
    let second = |i: usize| 1200.0 * x[i] * x[i] - 400.0 * x[i + 1] + 2.0;
    assert_eq!(h[[0, 0]], second(0));
    assert_eq!(h[[1, 1]], second(1) + 200.0);
    assert_eq!(h[[2, 2]], 200.0);
    assert_eq!(h[[0, 1]], -400.0 * x[0]);
    assert_eq!(h[[1, 0]], -400.0 * x[0]);
    assert_eq!(h[[0, 2]], 0.0);
}

#[test]
fn composed() {
    let x = [0.5, 0.75, 0.625];
    let mut g = caller::hessian();
    let (value, d, h) = g.value_gradient_and_hessian(&x, 0.25);
    assert_eq!(value, caller(&x, 0.25));
    let gradient = |x: &[f64]| caller::gradient().value_and_gradient(x, 0.25).1.x.to_vec();
    assert_eq!(d.x, gradient(&x));
    for j in 0..3 {
        let (mut above, mut below) = (x, x);
        above[j] += 1e-5;
        below[j] -= 1e-5;
        let (above, below) = (gradient(&above), gradient(&below));
        for i in 0..3 {
            let expected = (above[i] - below[i]) / 2e-5;
            assert!(
                (h[[i, j]] - expected).abs() <= 1e-5 * expected.abs().max(1.0),
                "{} {expected}",
                h[[i, j]]
            );
        }
    }
    let (value, tangent) = g.value_and_pushforward(&x, 0.25, &[1.0, 2.0, 3.0]);
    assert_eq!(value, caller(&x, 0.25));
    let d = gradient(&x);
    assert!((tangent - (d[0] + 2.0 * d[1] + 3.0 * d[2])).abs() < 1e-9 * tangent.abs());
    let (value, jacobian) = g.value_and_jacobian(&x, 0.25);
    assert_eq!(value, caller(&x, 0.25));
    for j in 0..3 {
        assert!((jacobian[[0, j]] - d[j]).abs() < 1e-12 * d[j].abs());
    }
}

/// An argument that a closure leaves out, and what nobody looks at.
#[differentiable(dual)]
fn left_out(x: f64) -> f64 {
    let half = |_: f64| 0.5;
    let scaled = |_: f64, q: f64| 2.0 * q;
    let _: f64 = x * x;
    half(x * x) * x + scaled(x, x.sin()) + half(1.0)
}

#[differentiable]
fn slope(x: f64) -> f64 {
    left_out::grad(x)
}

#[test]
fn arguments_that_closures_leave_out() {
    let x = 0.7_f64;
    let mut g = left_out::gradient();
    let (value, d) = g.value_and_gradient(x);
    assert_eq!(value, left_out(x));
    assert!((d.x - (0.5 + 2.0 * x.cos())).abs() < 1e-15);
    // What `grad` makes of it runs on dual numbers.
    assert!((left_out::grad(x) - d.x).abs() < 1e-15);
    assert!((slope::gradient().value_and_gradient(x).1.x + 2.0 * x.sin()).abs() < 1e-15);
}

#[differentiable(dual)]
fn half(x: f64) -> f64 {
    0.5 * x
}

#[differentiable(dual)]
fn doubled(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| 2.0 * x).collect()
}

#[differentiable(dual)]
fn first(x: &[f64]) -> Option<f64> {
    x.first().map(|x| x.sin())
}

/// Locals that are computed and never used, and parameters of closures that are not.
#[differentiable(dual)]
fn never_used(x: &[f64]) -> f64 {
    let ends = |_a: f64, t: f64| 3.0 * t;
    let _root: f64 = x[0].sqrt();
    let _sum: f64 = x.iter().map(|x| x.sin()).sum();
    let _half: f64 = half(x[0]);
    let _untold = half(x[0]);
    let _doubled: Vec<f64> = doubled(x);
    let _copy = x.to_vec();
    let _first = first(x);
    ends(x.iter().fold(0.5, |s, x| half(s + x)).sin(), x[1] * x[1])
}

#[test]
fn locals_that_are_never_used() {
    let x = [0.7, 0.4];
    let mut gradient = never_used::gradient();
    let (value, d) = gradient.value_and_gradient(&x);
    assert_eq!(value, never_used(&x));
    assert_eq!(d.x, [0.0, 6.0 * x[1]]);
    let (_, slope) = gradient.value_and_pushforward(&x, &[1.0, 2.0]);
    assert!((slope - 12.0 * x[1]).abs() < 1e-15);
}
