//! Arrays in fields and behind references that are updated as optimisers do it, of which the update alone tells that they are arrays.

use ndarray::{Array1, Array2, Zip, arr1, arr2, azip};
use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, Differentiable)]
struct Momentum {
    weights: Array2<f64>,
    velocity: Array1<f64>,
    rate: f64,
}

#[differentiable]
impl Momentum {
    fn step(&mut self, gradient: &Array1<f64>, decay: f64) {
        self.velocity *= decay;
        self.velocity += gradient;
        self.velocity -= &(gradient * self.rate);
    }

    /// Nothing else tells that it is an array.
    fn decay(&mut self, k: f64) -> f64 {
        self.velocity.mapv_inplace(|v| v * k);
        let weights: &mut Array2<f64> = &mut self.weights;
        *weights *= k;
        self.velocity[0] * self.weights[[1, 0]]
    }

    fn descend(&mut self, gradient: &Array2<f64>, scale: &Array2<f64>) {
        self.weights -= &(gradient * self.rate);
        self.weights *= scale;
    }
}

#[differentiable]
fn accumulated(state: &mut Momentum, gradient: &Array1<f64>) -> f64 {
    state.velocity += gradient;
    state.velocity /= gradient;
    state.velocity[0] * state.rate
}

#[differentiable]
fn exchanged(x: &Array1<f64>, n: usize) -> f64 {
    let mut a = x.clone();
    for i in 0..n {
        a.swap(i, (i + 1) % 3);
        a[0] *= a[1];
    }
    a.swap(0, 2);
    a[0] * a[1]
}

#[differentiable]
fn exchanged_behind_reference(a: &mut Array1<f64>, i: usize) {
    a.swap(i, 0);
    a[0] *= a[i];
}

/// A `&mut` by its name alone.
#[differentiable]
fn zipped(a: &mut Array1<f64>, x: &Array1<f64>, k: f64) {
    Zip::from(a).and(x).for_each(|p, &q| *p = *p * q + k);
}

#[differentiable]
fn zipped_by_macro(a: &mut Array1<f64>, x: &Array1<f64>, k: f64) {
    azip!((p in a, &q in x) *p += q * k);
}

#[test]
fn updates() {
    let (a, x) = (arr1(&[0.3, 0.7, 1.2]), arr1(&[0.4, 0.3, 0.9]));
    let w = arr2(&[[0.3, 0.7], [1.2, 0.4]]);
    let state = Momentum { weights: w.clone(), velocity: a.clone(), rate: 0.1 };
    check_rule(Momentum::step_rule, [(state.clone(), x.clone(), 0.9)]);
    check_rule(Momentum::decay_rule, [(state.clone(), 0.9)]);
    check_rule(Momentum::descend_rule, [(state.clone(), w.clone(), &w * 0.8)]);
    check_rule(accumulated::rule, [(state, x.clone())]);
    check_rule(exchanged::rule, [(x.clone(), 3), (a.clone(), 1)]);
    check_rule(exchanged_behind_reference::rule, [(a.clone(), 2), (x.clone(), 1)]);
    check_rule(zipped::rule, [(a.clone(), x.clone(), 0.7)]);
    check_rule(zipped_by_macro::rule, [(a, x, 0.7)]);
}

/// The method alone tells.
#[differentiable]
fn mapped(state: &mut Momentum, k: f64) -> f64 {
    state.velocity.mapv_inplace(|v| v * k + v * v);
    state.velocity[1] * state.rate
}

#[test]
fn methods_that_only_arrays_have() {
    let state = Momentum { weights: arr2(&[[0.3]]), velocity: arr1(&[0.3, 0.7, 1.2]), rate: 0.1 };
    check_rule(mapped::rule, [(state, 0.9)]);
}
