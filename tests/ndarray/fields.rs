//! Arrays in fields, and behind references, that get the value of an expression.

use ndarray::{Array1, Array2, array};
use pullback::prelude::*;
use pullback::testing::check_rule;

/// A Kalman filter: the state, its covariance, and the noise of the process.
#[derive(Clone, Debug, Differentiable)]
struct Filter {
    x: Array1<f64>,
    p: Array2<f64>,
    q: f64,
}

#[differentiable]
impl Filter {
    fn predict(&mut self, f: &Array2<f64>) {
        self.x = f.dot(&self.x);
        self.p = f.dot(&self.p).dot(&f.t()) + Array2::<f64>::eye(2) * self.q;
    }

    /// Returns the negative logarithm of the likelihood of `z`, up to a constant.
    fn update(&mut self, h: &Array1<f64>, z: f64, r: f64) -> f64 {
        let innovation = z - h.dot(&self.x);
        let ph = self.p.dot(h);
        let s = h.dot(&ph) + r;
        let gain = &ph / s;
        self.x = &self.x + &gain * innovation;
        for i in 0..2 {
            for j in 0..2 {
                self.p[[i, j]] -= gain[i] * ph[j];
            }
        }
        0.5 * (s.ln() + innovation * innovation / s)
    }
}

#[differentiable]
fn filtered(f: &Array2<f64>, h: &Array1<f64>, z: &[f64], q: f64) -> f64 {
    let mut filter = Filter { x: h.clone(), p: Array2::eye(2), q };
    let mut likelihood = 0.0;
    for &z in z {
        filter.predict(f);
        likelihood += filter.update(h, z, 0.3);
    }
    likelihood
}

#[derive(Clone, Debug, Differentiable)]
struct Scaled {
    x: Array1<f64>,
    k: f64,
}

#[differentiable]
fn of_local(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
    let mut s = Scaled { x: x.clone(), k: 2.0 };
    for _ in 0..3 {
        s.x = a.dot(&s.x);
        s.x = &s.x * s.k;
    }
    s.x.sum()
}

#[differentiable]
fn behind_a_reference(x: &mut Array1<f64>, a: &Array2<f64>) {
    *x = a.dot(&*x);
    let y = a.dot(x);
    *x = y;
}

#[test]
fn arrays_in_places() {
    let (a, x) = (array![[1.0, 0.1], [0.3, 0.9]], array![0.3, 0.4]);
    check_rule(filtered::rule, [(a.clone(), x.clone(), vec![1.0, 0.5, 0.7], 0.2)]);
    let filter = Filter { x: x.clone(), p: array![[0.5, 0.1], [0.1, 0.7]], q: 0.2 };
    check_rule(Filter::predict_rule, [(filter.clone(), a.clone())]);
    check_rule(Filter::update_rule, [(filter, x.clone(), 0.7, 0.3)]);
    check_rule(of_local::rule, [(a.clone(), x.clone())]);
    check_rule(behind_a_reference::rule, [(x, a)]);
}
