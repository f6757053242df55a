//! Methods of users' types that bear names of methods of the standard library.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Copy, Debug, Differentiable)]
struct Signal {
    low: f64,
    high: f64,
}

#[differentiable]
impl Signal {
    fn new(low: f64, high: f64) -> Signal {
        Signal { low, high }
    }

    fn max(&self) -> f64 {
        self.high
    }

    fn clamp(&self, k: f64) -> f64 {
        self.low * k
    }

    fn get(&self, i: usize) -> f64 {
        if i == 0 { self.low } else { self.high }
    }

    fn first(&self) -> f64 {
        self.low
    }

    fn abs(self) -> f64 {
        self.low * self.high
    }
}

#[differentiable]
fn of_a_struct(x: f64, y: f64) -> f64 {
    let s = Signal::new(x, x * y);
    let t = Signal { low: y, high: x };
    s.max() * t.clamp(x) + s.get(1) * t.get(0) + s.first() * t.first() + s.abs()
}

#[differentiable]
fn by_reference(s: &Signal, k: f64) -> f64 {
    s.max() * k + s.clamp(k) * s.get(0) + s.first()
}

#[differentiable]
fn called(x: f64, y: f64) -> f64 {
    let s = Signal::new(x, y);
    by_reference(&s, x)
}

#[test]
fn methods() {
    check_rule(of_a_struct::rule, [(0.4, 0.3), (-0.2, 0.7)]);
    check_rule(called::rule, [(0.4, 0.3), (-0.2, 0.7)]);
}
