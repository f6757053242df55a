//! Measures all evals: primal and derivative, in rounds that take turns, and beside them the derivative by a peer.
//!
//! ```text
//! cargo bench -p gradbench [-- [--large] [--peer FOLDER] [EVAL]…]
//! ```
//!
//! `--peer` names a folder with GradBench's hand-written programs, by the names of the evals.

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

/// How long each case is measured, the peer as well; a test only sees to it that everything runs.
fn time_for_each() -> Duration {
    let measures = std::env::args().any(|argument| argument == "--bench");
    if measures { Duration::from_millis(400) } else { Duration::ZERO }
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
        "| eval | size | primal | derivative | ratio | first run | peer's primal | peer's derivative | peer/ours | memory | allocations |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for case in inputs::cases(large) {
        if chosen.is_empty() || chosen.iter().any(|name| name == case.eval) {
            measure(&case, folder.as_ref().map(|folder| folder.join(case.eval)));
        }
    }
}

fn measure(case: &Case, peer: Option<PathBuf>) {
    let make = evals::find(case.eval).expect("the inputs are of evals");
    let mut primal = make(case.primal, &case.input).expect("there is a primal");
    let mut derivative = make(case.derivative, &case.input).expect("there is a derivative");
    primal.run();
    let (first, peak) = memory::peak_in(|| time(&mut *derivative));
    derivative.run();
    let allocations = memory::allocations_in(|| derivative.run());
    let (ours, ours_primal) = rounds(&mut *primal, &mut *derivative);
    let ratio = ours / ours_primal;
    let mut input = case.input.clone();
    input["min_runs"] = json!(3);
    input["min_seconds"] = json!(time_for_each().as_secs_f64() / 2.0);
    let asked = |function, own: &dyn Task| {
        let answer = peer::run(peer.as_deref()?, &input, function)?;
        compare(case, &own.output(), &answer.output);
        answer.times.into_iter().reduce(f64::min)
    };
    let their_primal = asked(case.primal, &*primal);
    let theirs = asked(case.derivative, &*derivative);
    let shown = |time: Option<f64>| time.map_or("–".to_owned(), show);
    println!(
        "| {} | {} | {} | {} | {ratio:.2} | {} | {} | {} | {} | {} | {allocations} |",
        case.eval,
        case.size,
        show(ours_primal),
        show(ours),
        show(first),
        shown(their_primal),
        shown(theirs),
        theirs.map_or("–".to_owned(), |theirs| format!("{:.2}", theirs / ours)),
        bytes(peak),
    );
}

fn time(task: &mut dyn Task) -> f64 {
    let start = Instant::now();
    task.run();
    start.elapsed().as_secs_f64() * 1e9
}

/// The times of the derivative and of the primal: of rounds that take turns the shortest, which other programs disturb least.
fn rounds(primal: &mut dyn Task, derivative: &mut dyn Task) -> (f64, f64) {
    let (mut p, mut d) = (f64::INFINITY, f64::INFINITY);
    let (start, enough) = (Instant::now(), time_for_each());
    for round in 0.. {
        if round >= 3 && start.elapsed() > enough {
            break;
        }
        p = p.min(time(primal));
        d = d.min(time(derivative));
    }
    (d, p)
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
