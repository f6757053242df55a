use pullback::prelude::*;

fn helper(x: f64) -> f64 {
    x * x
}

mod other {
    pub fn helper(x: f64) -> f64 {
        x * x
    }
}

trait Extension {
    fn softplus(self) -> f64;
}

impl Extension for f64 {
    fn softplus(self) -> f64 {
        self.exp().ln_1p()
    }
}

#[differentiable]
fn without_a_rule(x: f64) -> f64 {
    helper(x) * x
}

#[differentiable]
fn without_a_rule_elsewhere(x: f64) -> f64 {
    other::helper(x) * x
}

#[differentiable]
fn method_without_a_rule(x: f64) -> f64 {
    x.softplus() * x
}

fn main() {}
