//! The gradient of an ordinary function of a slice: `cargo run --release --example slice_gradient`.
//!
//! Walks down the curved valley of Rosenbrock's function by gradient descent, and checks each gradient on the way against
//! the one derived with pencil and paper.

use pullback::prelude::*;

/// Rosenbrock's function: zero at (1, 1, …, 1), at the end of a flat and narrow valley.
#[differentiable]
fn rosenbrock(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() - 1 {
        let across = x[i + 1] - x[i] * x[i];
        let along = 1.0 - x[i];
        total += 100.0 * across * across + along * along;
    }
    total
}

/// What pencil and paper say.
fn by_hand(x: &[f64]) -> Vec<f64> {
    let mut gradient = vec![0.0; x.len()];
    for i in 0..x.len() - 1 {
        let across = x[i + 1] - x[i] * x[i];
        gradient[i] += -400.0 * across * x[i] - 2.0 * (1.0 - x[i]);
        gradient[i + 1] += 200.0 * across;
    }
    gradient
}

fn main() {
    let mut x = vec![-1.2, 1.0, -0.5, 0.8];
    let mut g = rosenbrock::gradient();
    let mut worst: f64 = 0.0;
    let mut step = 1.0;

    println!("{:>5}  {:>11}  {:>11}   x", "step", "value", "|gradient|");
    for count in 0..=20_000 {
        let (value, d) = g.value_and_gradient(&x);

        let norm2: f64 = d.x.iter().map(|d| d * d).sum();
        for (derived, expected) in d.x.iter().zip(by_hand(&x)) {
            worst = worst.max((derived - expected).abs() / (1.0 + expected.abs()));
        }
        if [0, 1, 10, 100, 1_000, 10_000, 20_000].contains(&count) {
            println!("{count:5}  {value:11.3e}  {:11.3e}   {x:8.5?}", norm2.sqrt());
        }

        // As far as it goes down by half of what the slope promises.
        step *= 4.0;
        let next = loop {
            let next: Vec<f64> = x.iter().zip(d.x).map(|(x, d)| x - step * d).collect();
            if rosenbrock(&next) <= value - 0.5 * step * norm2 || step < 1e-30 {
                break next;
            }
            step *= 0.5;
        };
        x = next;
    }

    println!("\nlargest relative deviation from the gradient by hand: {worst:.1e}");
    assert!(worst < 1e-12, "the gradient is wrong");
    assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-2), "not down yet");
}
