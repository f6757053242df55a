//! Functions within the body of a function have rules without a mark of their own, where something active goes through them.

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn beta_binomial(alpha: f64, beta: f64, counts: &[(u32, u32)]) -> f64 {
    /// Calls itself, and another one.
    fn ln_gamma(x: f64) -> f64 {
        if x < 7.0 {
            ln_gamma(x + 1.0) - ln(x)
        } else {
            (x - 0.5) * ln(x) - x + 0.918938533204672 + 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3))
        }
    }
    fn ln(x: f64) -> f64 {
        x.ln()
    }
    // What no gradient goes through may do anything.
    fn weight(counts: &[(u32, u32)]) -> f64 {
        let total = std::cell::Cell::new(0.0);
        counts.iter().for_each(|(_, n)| total.set(total.get() + *n as f64));
        total.get()
    }
    let ln_beta = |a: f64, b: f64| ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
    let each =
        counts.iter().map(|&(k, n)| ln_beta(alpha + k as f64, beta + (n - k) as f64) - ln_beta(alpha, beta));
    each.sum::<f64>() / weight(counts)
}

#[differentiable]
fn mean(f: impl Fn(f64) -> f64, n: usize) -> f64 {
    (0..n).map(|i| f((i as f64 + 0.5) / n as f64)).sum::<f64>() / n as f64
}

#[derive(Clone, Differentiable)]
struct Layer {
    w: Vec<f64>,
    k: f64,
}

#[differentiable]
impl Layer {
    fn forward(&self, x: f64) -> f64 {
        fn axpy(y: &mut [f64], a: f64, x: &[f64]) {
            for (y, x) in y.iter_mut().zip(x) {
                *y += a * x;
            }
        }
        let mut y = self.w.clone();
        for _ in 0..2 {
            // Items may stand in inner blocks, and go to functions as arguments.
            fn square<T: Float>(x: T) -> T {
                x * x
            }
            axpy(&mut y, square(x * self.k), &self.w);
            y[0] += mean(square, 3) * x;
        }
        y.iter().sum()
    }
}

#[differentiable]
fn of_layer(layer: &Layer, x: f64) -> f64 {
    layer.forward(x) * layer.k
}

#[test]
fn nested_functions() {
    check_rule(beta_binomial::rule, [(0.7, 1.2, vec![(2_u32, 5_u32), (1, 3)]), (2.5, 0.4, vec![(0, 4)])]);
    check_rule(of_layer::rule, [(Layer { w: vec![0.3, 0.4], k: 1.2 }, 0.7)]);
}
