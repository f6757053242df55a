//! Derivatives through a simulation: `cargo run --release --example simulation`.
//!
//! A pendulum swings for ten seconds, simulated in 1000 steps. From its angle over time alone, gradient descent finds out how
//! long it is and how much friction it has.

use pullback::prelude::*;

const STEPS: usize = 1000;
const TIME_STEP: f64 = 0.01;

/// One step of a pendulum with friction (semi-implicit Euler).
#[differentiable]
fn step(angle: f64, velocity: f64, length: f64, friction: f64) -> (f64, f64) {
    let acceleration = -9.81 / length * angle.sin() - friction * velocity;
    let velocity_after = velocity + TIME_STEP * acceleration;
    (angle + TIME_STEP * velocity_after, velocity_after)
}

/// How far, squared and on average, the simulated angle is from the observed one.
#[differentiable]
fn misfit(length: f64, friction: f64, #[constant] observed: &[f64]) -> f64 {
    let mut angle = 1.0;
    let mut velocity = 0.0;
    let mut total = 0.0;
    for i in 0..observed.len() {
        let (next_angle, next_velocity) = step(angle, velocity, length, friction);
        angle = next_angle;
        velocity = next_velocity;
        let miss = angle - observed[i];
        total += miss * miss;
    }
    total / observed.len() as f64
}

/// The angle after each step.
fn observe(length: f64, friction: f64) -> Vec<f64> {
    let mut state = (1.0, 0.0);
    let swing = |_| {
        state = step(state.0, state.1, length, friction);
        state.0
    };
    (0..STEPS).map(swing).collect()
}

fn main() {
    let (true_length, true_friction) = (1.5, 0.2);
    let observed = observe(true_length, true_friction);
    let mut g = misfit::gradient();

    let (mut length, mut friction) = (1.3, 0.05);

    // The derivatives, beside what finite differences make of them.
    let (_, d) = g.value_and_gradient(length, friction, &observed);
    let slope = |f: &dyn Fn(f64) -> f64| (f(1e-5) - f(-1e-5)) / 2e-5;
    let by_length = slope(&|h| misfit(length + h, friction, &observed));
    let by_friction = slope(&|h| misfit(length, friction + h, &observed));
    println!("{:>21}  {:>14}  {:>18}", "", "gradient", "finite differences");
    for (name, derived, expected) in
        [("d misfit / d length", d.length, by_length), ("d misfit / d friction", d.friction, by_friction)]
    {
        println!("{name:<21}  {derived:14.10}  {expected:18.10}");
        assert!((derived - expected).abs() < 1e-8 * (1.0 + expected.abs()), "the derivative is wrong");
    }

    println!("\n{:>5}  {:>11}  {:>10}  {:>10}", "step", "misfit", "length", "friction");
    let mut momentum = (0.0, 0.0);
    for count in 0..=400 {
        let (value, d) = g.value_and_gradient(length, friction, &observed);
        if count % 50 == 0 {
            println!("{count:5}  {value:11.3e}  {length:10.6}  {friction:10.6}");
        }
        momentum = (0.9 * momentum.0 - 0.01 * d.length, 0.9 * momentum.1 - 0.01 * d.friction);
        length += momentum.0;
        friction += momentum.1;
    }

    println!("\nit was {true_length} m long, with friction {true_friction} / s");
    assert!((length - true_length).abs() < 1e-4 && (friction - true_friction).abs() < 1e-4);
}
