//! Functions that are generic over a float.

use pullback::Float;
use pullback::prelude::*;

#[differentiable(dual)]
fn rosenbrock<T: Float>(x: &[T]) -> T {
    let mut total = T::zero();
    for i in 0..x.len() - 1 {
        let a = x[i + 1] - x[i] * x[i];
        let b = T::one() - x[i];
        total += T::from_f64(100.0) * a * a + b * b;
    }
    total
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
fn products() {
    let mut g = rosenbrock::hvp();
    let (x, v) = ([0.5, -0.25, 1.5], [1.0, -2.0, 0.5]);
    let (_, _, h) = g.value_gradient_and_hessian(&x);
    let expected = h.dot(&ndarray::aview1(&v));
    let (value, d, product) = g.value_gradient_and_hvp(&x, &v);
    assert_eq!(value, rosenbrock(&x));
    assert_eq!(d.x, rosenbrock::gradient().value_and_gradient(&x).1.x);
    for i in 0..3 {
        assert!((product.x[i] - expected[i]).abs() <= 1e-12 * expected[i].abs());
    }
}
