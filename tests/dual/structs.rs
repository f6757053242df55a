//! Structs that are generic over a float.

use pullback::Float;
use pullback::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Spring<T> {
    stiffness: T,
    rest: [T; 2],
    id: usize,
}

#[differentiable]
impl<T: Float> Spring<T> {
    fn energy(&self, x: T) -> T {
        let stretch = x - self.rest[0] * self.rest[1];
        T::from_f64(0.5) * self.stiffness * stretch * stretch
    }
}

#[differentiable(dual)]
fn energy<T: Float>(springs: &[Spring<T>], x: &[T]) -> T {
    let mut total = T::zero();
    for i in 0..x.len() {
        let k = springs[i].id;
        total += springs[i].energy(x[i]);
        if k == 2 {
            total += springs[i].energy(x[i]);
        }
    }
    total
}

/// The struct is generic, the function is not.
#[differentiable(dual)]
fn concrete(springs: &[Spring<f64>], x: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..springs.len() {
        total += springs[i].energy(x) * springs[i].stiffness;
    }
    total
}

#[test]
fn hessian_of_structs() {
    let springs = [
        Spring { stiffness: 2.0, rest: [1.5, 0.5], id: 1 },
        Spring { stiffness: 3.0, rest: [0.25, 2.0], id: 2 },
    ];
    let x = [0.5, 0.75];
    let mut g = energy::hessian();
    let (value, d, h) = g.value_gradient_and_hessian(&springs, &x);
    assert_eq!(value, energy(&springs, &x));
    // Of k/2·(x - ab)²: the columns are k, a, b of each spring, and then x.
    let stretch = x[1] - 0.5;
    assert_eq!(d.springs[1].stiffness, 2.0 * 0.5 * stretch * stretch);
    assert_eq!(h.dim(), (8, 8));
    assert_eq!(h[[3, 7]], 2.0 * stretch);
    assert_eq!(h[[7, 7]], 6.0);
    assert_eq!(h[[7, 4]], -6.0 * 2.0);
    assert_eq!(h[[4, 5]], 2.0 * (-3.0 * stretch + 3.0 * 0.25 * 2.0));
    assert_eq!(h[[0, 6]], x[0] - 0.75);
    assert_eq!(h[[0, 3]], 0.0);

    let mut g = concrete::hessian();
    let (value, d, h) = g.value_gradient_and_hessian(&springs, 0.5);
    assert_eq!(value, concrete(&springs, 0.5));
    // Of k²/2·(x - ab)²
    assert_eq!(d.springs[0].stiffness, 2.0 * 0.25 * 0.25);
    assert_eq!(h[[0, 0]], 0.25 * 0.25);
    assert_eq!(h[[0, 6]], 4.0 * -0.25);
}

/// Names for types that have a counterpart.
type Point = [f64; 2];
type Length = f64;

#[differentiable(dual)]
fn by_other_names(points: &[Point], scale: Length) -> Length {
    let mut total = 0.0;
    for i in 1..points.len() {
        let step: Length = points[i][0] * points[i - 1][1] - points[i][1] * points[i - 1][0];
        total += scale * step * step;
    }
    total
}

#[test]
fn names_of_types() {
    pullback::testing::check_second_order(
        by_other_names::rule,
        [(vec![[1.0, 2.0], [0.5, -1.0], [0.25, 3.0]], 0.5), (vec![[1.0, 1.0]], 2.0)],
    );
}
