//! Gradients within differentiable functions, and derivatives along directions. Two of GradBench's evals are larger examples.

use std::array::from_fn;
use std::cell::RefCell;

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};
use pullback::{DualNumber, Float};

#[differentiable(dual)]
fn bowl(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += k * x[i] * x[i] * x[i] + (i as f64) * x[i].sin();
    }
    total
}

#[differentiable(dual)]
fn shallow(x: &[f64], #[constant] k: f64) -> f64 {
    bowl(x, k) + x[0] * x[1]
}

/// A step of gradient descent, and the value there.
#[differentiable]
fn after_a_step(x: &[f64], k: f64, rate: f64) -> f64 {
    let d = shallow::grad(x, 0.5);
    let mut y = x.to_vec();
    for i in 0..x.len() {
        y[i] -= rate * d[i];
    }
    let again = shallow::grad(&y, 0.5);
    bowl(&y, k) + again[0] * d[1]
}

#[test]
fn of_slices() {
    let arguments = [(vec![0.5, -0.25, 0.75], 0.5, 0.125), (vec![1.5, 0.25], -0.5, 0.25)];
    // `y` and both gradients, as in the function itself.
    CheckRule::new(after_a_step::rule).inputs(arguments).allocating(3).run();
}

#[differentiable(dual)]
fn displaced(x: &[f64], k: f64, #[constant] centre: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += k * (x[i] - centre[i]).powi(3) + x[i].sin();
    }
    total
}

/// The derivative along `x`, as a factor of another one.
#[differentiable]
fn steepness(x: &[f64], k: f64, #[constant] centre: &[f64]) -> f64 {
    let d = displaced::along(x, k, centre, x, 1.0);
    d * displaced::along(x, d, centre, centre, 0.0)
}

#[test]
fn directions_in_slices() {
    let (x, centre) = (vec![0.5, -0.25, 0.75], vec![0.1, 0.2, 0.3]);
    check_rule(steepness::rule, [(x.clone(), 0.5, centre.clone())]);
    let direction = vec![1.0, 2.0, -1.0];
    check_rule(displaced::along_rule, [(x, 0.5, centre, direction, 0.75)]);
}

#[differentiable]
fn valley_of<T: Float>(x: [T; 2], w: T) -> T {
    let y = x[1] - w * x[0];
    x[0].powi(4) + w.sin() * (y * y) - w * w * x[0]
}

/// The same of floats.
#[differentiable(dual)]
fn valley(x: [f64; 2], w: f64) -> f64 {
    valley_of(x, w)
}

#[test]
fn directions_of_values() {
    // ∂/∂x₁ = 2·sin w·(x₁ − w·x₀)
    let d = valley::along([1.0, 2.0], 0.5, [0.0, 1.0], 0.0);
    assert!((d - 3.0 * 0.5_f64.sin()).abs() < 1e-15, "{d}");
    check_rule(valley::along_rule, [([1.0, 2.0], 0.5, [1.0, 0.5], -1.0)]);
}

/// How deep some steps of descent lead.
#[differentiable]
fn depth<T: Float>(slope: impl Fn([T; 2], T) -> [T; 2], w: T) -> T {
    let rate = T::from_f64(0.125);
    let mut x = [T::from_f64(0.5), T::from_f64(-0.25)];
    for _ in 0..5 {
        let d = slope(x, w);
        x = [x[0] - rate * d[0], x[1] - rate * d[1]];
    }
    valley_of(x, w)
}

#[differentiable]
fn depth_by_gradients(w: f64) -> f64 {
    let slope = |x, w| {
        let (d, _) = valley::grad(x, w);
        d
    };
    depth(slope, w)
}

#[differentiable]
fn depth_by_directions(w: f64) -> f64 {
    let slope = |x, w| [valley::along(x, w, [1.0, 0.0], 0.0), valley::along(x, w, [0.0, 1.0], 0.0)];
    depth(slope, w)
}

/// The derivative of the depth by forward mode.
fn forward_over(
    slope: impl Fn([DualNumber<f64, 1>; 2], DualNumber<f64, 1>) -> [DualNumber<f64, 1>; 2],
    w: f64,
) -> f64 {
    depth(slope, DualNumber::variable(w, [1.0])).tangent()[0]
}

/// The slope by forward mode, of dual numbers or of floats.
fn forward_slope<T: Float>(x: [T; 2], w: T) -> [T; 2] {
    let unit = |i| from_fn(|j| if i == j { T::one() } else { T::zero() });
    let x = from_fn(|i| DualNumber::variable(x[i], unit(i)));
    valley_of(x, DualNumber::variable(w, [T::zero(); 2])).tangent()
}

#[test]
fn forward_and_reverse_mode_in_each_other() {
    let points = [0.5, 0.75, -0.25];
    check_rule(depth_by_gradients::rule, points.map(|w| (w,)));
    check_rule(depth_by_directions::rule, points.map(|w| (w,)));

    let g = RefCell::new(valley_of::<DualNumber<f64, 1>>::gradient());
    for w in points {
        let mut reverse_over_reverse = depth_by_gradients::gradient();
        let (value, expected) = reverse_over_reverse.value_and_gradient(w);
        assert!((value - depth(forward_slope, w)).abs() < 1e-14);
        for d in [
            depth_by_directions::gradient().value_and_gradient(w).1.w,
            forward_over(|x, w| g.borrow_mut().value_and_gradient(x, w).1.x, w),
            forward_over(forward_slope, w),
        ] {
            assert!((d - expected.w).abs() < 1e-13, "{d} instead of {}", expected.w);
        }
    }
}

/// Generic over a float, and over how many there are.
#[differentiable(dual)]
fn chain<T: Float, const N: usize>(x: [T; N], stiffness: T) -> T {
    let mut total = stiffness * stiffness;
    for i in 1..N {
        let d = x[i] - x[i - 1];
        total += stiffness * d.powi(4) * x[0];
    }
    total
}

#[differentiable(dual)]
fn ripple<T: Float>(x: &[T], #[constant] k: f64) -> T {
    let mut total = T::zero();
    for i in 0..x.len() {
        total += x[i].sin() * (T::from_f64(k) + x[0] * x[i]);
    }
    total
}

/// The force on the first link, and how it changes along another one.
#[differentiable]
fn force(x: [f64; 3], stiffness: f64) -> f64 {
    let (of_x, of_stiffness) = chain::grad(x, stiffness);
    of_x[0] * of_stiffness + chain::along(x, stiffness, [0.0, x[0], 1.0], stiffness)
}

#[differentiable]
fn slope(x: &[f64], step: f64) -> f64 {
    let d = ripple::grad(x, 0.5);
    let mut total = ripple::along(x, 0.25, x);
    for i in 0..d.len() {
        total += d[i] * d[i] * step;
    }
    total
}

#[test]
fn of_generic_functions() {
    let x = [0.5, -0.25, 1.0];
    let mut g = chain::<f64, 3>::gradient();
    let (_, d) = g.value_and_gradient(x, 0.75);
    assert_eq!(chain::grad(x, 0.75), (d.x, d.stiffness));
    let along = chain::along(x, 0.75, [1.0, 0.0, 2.0], -1.0);
    assert!((along - (d.x[0] + 2.0 * d.x[2] - d.stiffness)).abs() < 1e-14);
    check_rule(force::rule, [(x, 0.75), ([1.0, 0.5, 0.25], -0.5)]);
    check_rule(chain::<f64, 2>::grad_rule, [([0.5, 1.0], 0.5)]);
    CheckRule::new(slope::rule)
        .inputs([(vec![0.5, -0.25, 0.75], 0.5), (vec![1.5], -0.25)])
        .allocating(1)
        .run();
}
