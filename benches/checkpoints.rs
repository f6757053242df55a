//! A simulation of a million steps, with and without checkpoints: what its forward keeps, how many steps the gradient runs, beside what
//! theory predicts, and how long it takes.

#[allow(dead_code, reason = "other programs print another table")]
mod support;

use std::cell::Cell;
use std::hint::black_box;

use pullback::Rule;
use pullback::prelude::*;
use support::{Contender, PRIMAL, Times, assert_close, contender};

thread_local! {
    static STEPS_RUN: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    STEPS_RUN.set(STEPS_RUN.get() + 1);
}

/// A damped, driven pendulum: three numbers of state, from which each step needs six for its pullback. With each function there is one that
/// counts its steps.
macro_rules! pendulum {
    ($($name:ident $counted:ident $(#[$strategy:meta])?;)*) => {$(
        pendulum!($name() $(#[$strategy])?);
        pendulum!($counted(count) $(#[$strategy])?);
    )*};
    ($name:ident($($count:ident)?) $(#[$strategy:meta])?) => {
        #[differentiable]
        fn $name(angle: f64, damping: f64, steps: usize) -> f64 {
            let (mut q, mut p, mut phase) = (angle, 0.0, 0.0_f64);
            $(#[$strategy])?
            for _ in 0..steps {
                $($count();)?
                p += 1e-3 * (phase.cos() - q.sin() - damping * p * p.abs());
                q += 1e-3 * p;
                phase += 1e-3 * (1.0 + 0.1 * q);
            }
            q
        }
    };
}
pendulum! {
    kept counted_kept;
    each counted_each #[pullback(recompute)];
    roots counted_roots #[pullback(checkpoint = STEPS.isqrt())];
    hundred counted_hundred #[pullback(binomial = 100)];
    twenty counted_twenty #[pullback(binomial = 20)];
    five counted_five #[pullback(binomial = 5)];
}

/// How many steps a gradient runs with binomial checkpoints, its forward pass included (Griewank & Walther, *Evaluating Derivatives*, section
/// 12.3): *r·n − C(c + r, r − 1)* in order to reach each step from a checkpoint, where *r* is the least with *C(c + r, r) ≥ n*, and each step
/// once more when it is undone.
fn binomial(checkpoints: usize, steps: usize) -> usize {
    let beta = |c: usize, r: usize| (1..=r).fold(1, |beta, k| beta * (c + k) / k);
    let r = (1..).find(|r| beta(checkpoints, *r) >= steps).expect("some number of runs");
    (r + 1) * steps - beta(checkpoints + 1, r - 1)
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
    let mut runs = vec![(1.0, 1.0)];
    macro_rules! strategies {
        ($($text:literal $name:ident $counted:ident $predicted:expr;)*) => {$(
            let mut g = $name::gradient();
            assert_close(&[g.value_and_gradient(ANGLE, DAMPING, steps).1.damping], &[expected]);
            STEPS_RUN.set(0);
            assert_close(&[$counted::gradient().value_and_gradient(ANGLE, DAMPING, steps).1.damping], &[expected]);
            runs.push((STEPS_RUN.get() as f64 / steps as f64, $predicted as f64 / steps as f64));
            contenders.push(contender($text, move || g.value_and_gradient(black_box(ANGLE), DAMPING, steps).1.damping));
            bytes.push(pending($name::rule(), |rule| {
                rule.forward($name::args(ANGLE, DAMPING, steps));
            }));
        )*};
    }
    strategies! {
        "kept" kept counted_kept steps;
        "recompute" each counted_each 2 * steps;
        "checkpoint = √n" roots counted_roots 2 * steps;
        "binomial = 100" hundred counted_hundred binomial(100, steps);
        "binomial = 20" twenty counted_twenty binomial(20, steps);
        "binomial = 5" five counted_five binomial(5, steps);
    }
    let times = timed.then(|| Times::of(&mut contenders, 21));
    println!(
        "| {steps} steps | kept, kB | steps run, × n | predicted | ms | × primal |\n|---|---:|---:|---:|---:|---:|"
    );
    for (i, Contender { name, .. }) in contenders.iter().enumerate() {
        let (kilobytes, (run, predicted)) = (bytes[i] as f64 / 1e3, runs[i]);
        assert!(run <= 1.02 * predicted, "{name}: {run} n steps, and not {predicted} n");
        let time = |times: &Times| format!("{:.1} | {:.1}", times.median(i) / 1e6, times.ratio(i, 0));
        let time = times.as_ref().map_or(" | ".to_owned(), time);
        println!("| {name} | {kilobytes:.1} | {run:.2} | {predicted:.2} | {time} |");
    }
}
