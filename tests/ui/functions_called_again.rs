use pullback::prelude::*;
use pullback::solve::zero;

#[differentiable]
fn not_marked(k: f64) -> f64 {
    zero(|x| x * k - 1.0, 0.0, 9.0, 1e-12)
}

#[differentiable]
fn apply(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    f(x)
}

#[differentiable]
fn marked_for_nothing(k: f64) -> f64 {
    #[pullback(recompute)]
    apply(|x| x * k, 0.5)
}

#[differentiable]
fn passes_a_parameter_on(f: impl Fn(f64) -> f64, k: f64) -> f64 {
    #[pullback(recompute)]
    let x = zero(f, 0.0, k, 1e-12);
    x * k
}

#[differentiable]
fn calls_a_parameter(f: impl Fn(f64) -> f64, k: f64) -> f64 {
    #[pullback(recompute)]
    zero(|x| f(x) - k, 0.0, 9.0, 1e-12)
}

#[differentiable]
fn another_strategy(k: f64) -> f64 {
    #[pullback(store)]
    let x = zero(|x| x * k - 1.0, 0.0, 9.0, 1e-12);
    x
}

#[differentiable]
fn captures_what_is_disturbed(k: f64) -> f64 {
    let mut seen = Vec::new();
    seen.push(1);
    #[pullback(recompute)]
    let x = zero(|x| x * k - seen.len() as f64, 0.0, 9.0, 1e-12);
    seen.push(2);
    x
}

#[differentiable(dual)]
fn on_duals(k: f64) -> f64 {
    #[pullback(recompute)]
    zero(|x| x * k - 1.0, 0.0, 9.0, 1e-12)
}

fn main() {}
