use pullback::prelude::*;

#[differentiable]
fn misspelt(x: f64) -> f64 {
    let mut y = x;
    #[pullback(checkpoints = 3)]
    for _ in 0..10 {
        y = y.sin();
    }
    y
}

#[differentiable]
fn not_on_a_loop(x: f64) -> f64 {
    #[pullback(store)]
    {
        x.sin()
    }
}

#[differentiable]
fn twice(x: f64) -> f64 {
    let mut y = x;
    #[pullback(store)]
    #[pullback(recompute)]
    for _ in 0..10 {
        y = y.sin();
    }
    y
}

#[differentiable]
fn left_early(x: f64) -> f64 {
    let mut y = x;
    #[pullback(recompute)]
    for _ in 0..10 {
        y = y.sin() * y;
        if y < 0.1 {
            break;
        }
    }
    y
}

#[differentiable]
fn changed_by_constant_code(x: f64, n: usize) -> f64 {
    let mut y = x;
    let mut seeds = vec![1_u64; n];
    #[pullback(checkpoint = 2)]
    for _ in 0..10 {
        let r = seeds.pop().unwrap_or(1);
        y = y.sin() * y * r as f64;
    }
    y
}

#[differentiable]
fn second_name(x: &mut [f64]) -> f64 {
    let first = &mut x[..1];
    #[pullback(checkpoint = 2)]
    for _ in 0..3 {
        first[0] *= first[0];
    }
    x[0]
}

#[differentiable]
fn several(x: &[f64], y: &[f64]) -> f64 {
    let mut p = 1.0;
    #[pullback(recompute)]
    for v in x.iter().chain(y) {
        p *= v;
    }
    p
}

#[differentiable]
fn untold(x: f64) -> f64 {
    #[pullback(by_reference)]
    let y = x.sin();
    y
}

fn main() {}
