//! Measures all evals: primal and derivative, in rounds that take turns with the derivative by hand, and beside them a peer.
//!
//! ```text
//! cargo bench -p gradbench [-- [--large] [--peer FOLDER] [EVAL]…]
//! ```
//!
//! `--peer` names a folder with GradBench's hand-written programs, by the names of the evals.

mod by_hand;
mod inputs;
mod memory;
mod peer;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use gradbench::evals;
use gradbench::task::Task;
use serde_json::{Value, json};

use inputs::Case;

#[global_allocator]
static METER: memory::Meter = memory::Meter;

/// Whether times matter; a test only sees to it that everything runs.
fn measures() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// How long each case is measured, the peer as well.
fn time_for_each() -> Duration {
    if measures() { Duration::from_millis(400) } else { Duration::ZERO }
}

fn main() {
    let (mut large, mut folder, mut chosen) = (false, None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--large" => large = true,
            "--peer" => folder = arguments.next().map(PathBuf::from),
            "--bench" => {}
            _ => chosen.push(argument),
        }
    }
    println!(
        "| eval | size | primal | derivative | ratio | first run | derived/hand-written | peer's primal | peer's derivative | peer/ours | memory | allocations |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for case in inputs::cases(large) {
        if chosen.is_empty() || chosen.iter().any(|name| name == case.eval) {
            measure(&case, folder.as_ref().map(|folder| folder.join(case.eval)));
        }
    }
}

fn measure(case: &Case, peer: Option<PathBuf>) {
    let make = evals::find(case.eval).expect("the inputs are of evals");
    let function = |name| make(name, &case.input).expect("the function takes the input");
    let mut primal = case.primal.map(function);
    let mut derivative = function(case.derivative);
    if let Some(primal) = &mut primal {
        primal.run();
    }
    let (first, peak) = memory::peak_in(|| time(&mut *derivative));
    derivative.run();
    let allocations = memory::allocations_in(|| derivative.run());
    let mut by_hand = by_hand::task(case.eval, &case.input);
    if let Some(by_hand) = &mut by_hand {
        by_hand.run();
        by_hand::agree(case.eval, &derivative.output(), &by_hand.output());
    }
    let [ours_primal, ours, hand_written] =
        shortest([primal.as_mut(), Some(&mut derivative), by_hand.as_mut()]);
    let mut input = case.input.clone();
    input["min_runs"] = json!(3);
    input["min_seconds"] = json!(time_for_each().as_secs_f64() / 2.0);
    let asked = |function, own: &mut dyn Task| {
        let answer = peer::run(peer.as_deref()?, &input, function)?;
        compare(case, &own.output(), &answer.output);
        answer.times.into_iter().reduce(f64::min)
    };
    let their_primal = case.primal.zip(primal).and_then(|(name, mut primal)| asked(name, &mut *primal));
    let theirs = asked(case.derivative, &mut *derivative);
    println!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {allocations} |",
        case.eval,
        case.size,
        time_or_none(ours_primal),
        time_or_none(ours),
        ratio(ours, ours_primal),
        show(first),
        ratio(ours, hand_written),
        time_or_none(their_primal),
        time_or_none(theirs),
        ratio(theirs, ours),
        bytes(peak),
    );
}

fn time(task: &mut dyn Task) -> f64 {
    let start = Instant::now();
    task.run();
    start.elapsed().as_secs_f64() * 1e9
}

/// The times of some tasks: of rounds that take turns the shortest, which other programs disturb least.
fn shortest<const N: usize>(mut tasks: [Option<&mut Box<dyn Task>>; N]) -> [Option<f64>; N] {
    let mut times = [None; N];
    let (start, enough) = (Instant::now(), time_for_each());
    let fewest = if measures() { 3 } else { 1 };
    for round in 0.. {
        if round >= fewest && start.elapsed() > enough {
            break;
        }
        for (shortest, task) in times.iter_mut().zip(&mut tasks) {
            if let Some(task) = task {
                let time = time(&mut ***task);
                *shortest = Some(shortest.map_or(time, |shortest: f64| shortest.min(time)));
            }
        }
    }
    times
}

/// Panics unless two outputs agree by the eval's measure.
fn compare(case: &Case, ours: &Value, theirs: &Value) {
    match (ours, theirs) {
        (Value::Array(a), Value::Array(b)) => a.iter().zip(b).for_each(|(a, b)| compare(case, a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.iter().for_each(|(name, a)| compare(case, a, &b[name]));
        }
        _ => {
            let (a, b) = (ours.as_f64().expect("a number"), theirs.as_f64().expect("a number"));
            let close = (a - b).abs() <= 1e-4 * (a.abs() + b.abs()).max(1.0);
            assert!(close, "{} {}: {a} instead of {b}", case.eval, case.size);
        }
    }
}

fn time_or_none(nanoseconds: Option<f64>) -> String {
    nanoseconds.map_or("–".to_owned(), show)
}

fn ratio(time: Option<f64>, unit: Option<f64>) -> String {
    time.zip(unit).map_or("–".to_owned(), |(time, unit)| format!("{:.2}", time / unit))
}

fn show(nanoseconds: f64) -> String {
    match nanoseconds {
        t if t < 1e3 => format!("{t:.0} ns"),
        t if t < 1e6 => format!("{:.3} µs", t / 1e3),
        t => format!("{:.3} ms", t / 1e6),
    }
}

fn bytes(n: usize) -> String {
    match n {
        n if n < 10_000 => format!("{n} B"),
        n if n < 10_000_000 => format!("{} kB", n / 1000),
        n => format!("{} MB", n / 1_000_000),
    }
}
