use pullback::prelude::*;

#[differentiable]
fn roots(x: &[f64]) -> Vec<Option<f64>> {
    x.iter().map(|x| if *x > 0.0 { Some(x.sqrt()) } else { None }).collect()
}

#[differentiable]
fn total(x: &[f64]) -> f64 {
    let roots = roots(x);
    roots.into_iter().flatten().sum()
}

fn main() {}
