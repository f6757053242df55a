//! A simulation of a million steps: what its forward keeps, and how long the gradient takes, with and without checkpoints.

#[allow(dead_code, reason = "other programs print another table")]
mod support;

use std::hint::black_box;

use pullback::Rule;
use pullback::prelude::*;
use support::{PRIMAL, Times, assert_close, contender};

/// A damped, driven pendulum: three numbers of state, from which each step needs six for its pullback.
macro_rules! pendulum {
    ($($name:ident $(#[$strategy:meta])?;)*) => {$(
        #[differentiable]
        fn $name(angle: f64, damping: f64, steps: usize) -> f64 {
            let (mut q, mut p, mut phase) = (angle, 0.0, 0.0_f64);
            $(#[$strategy])?
            for _ in 0..steps {
                p += 1e-3 * (phase.cos() - q.sin() - damping * p * p.abs());
                q += 1e-3 * p;
                phase += 1e-3 * (1.0 + 0.1 * q);
            }
            q
        }
    )*};
}
pendulum! {
    kept;
    each #[pullback(recompute)];
    roots #[pullback(checkpoint = 1000)];
    hundred #[pullback(binomial = 100)];
    twenty #[pullback(binomial = 20)];
    five #[pullback(binomial = 5)];
}

const STEPS: usize = 1_000_000;
const ANGLE: f64 = 0.3;
const DAMPING: f64 = 0.2;

/// The bytes that a forward keeps.
fn pending<R: Rule>(mut rule: R, forward: impl FnOnce(&mut R)) -> usize {
    forward(&mut rule);
    rule.pending()
}

fn main() {
    let timed = std::env::args().any(|argument| argument == "--bench");
    let steps = if timed { STEPS } else { 1000 };
    let mut contenders = vec![contender(PRIMAL, || kept(black_box(ANGLE), DAMPING, steps))];
    let mut bytes = vec![0];
    let mut reference = kept::gradient();
    let expected = reference.value_and_gradient(ANGLE, DAMPING, steps).1.damping;
    macro_rules! strategies {
        ($($text:literal $name:ident;)*) => {$(
            let mut g = $name::gradient();
            assert_close(&[g.value_and_gradient(ANGLE, DAMPING, steps).1.damping], &[expected]);
            contenders.push(contender($text, move || g.value_and_gradient(black_box(ANGLE), DAMPING, steps).1.damping));
            bytes.push(pending($name::rule(), |rule| {
                rule.forward($name::args(ANGLE, DAMPING, steps));
            }));
        )*};
    }
    strategies! {
        "kept" kept;
        "recompute" each;
        "checkpoint = √n" roots;
        "binomial = 100" hundred;
        "binomial = 20" twenty;
        "binomial = 5" five;
    }
    if !timed {
        return;
    }
    let times = Times::of(&mut contenders, 21);
    println!("| {steps} steps | kept, kB | ms | × primal |\n|---|---:|---:|---:|");
    for (i, contender) in contenders.iter().enumerate() {
        let kilobytes = bytes[i] as f64 / 1e3;
        println!(
            "| {} | {kilobytes:.1} | {:.1} | {:.1} |",
            contender.name,
            times.median(i) / 1e6,
            times.ratio(i, 0)
        );
    }
}
