//! Compares contenders: one Criterion group for each case, and at the end one table whose ratios come from a single run.
//!
//! On a busy machine two timings that were taken a second apart cannot be divided. So the table is measured in rounds: each
//! round times all contenders of a case one after the other, and a ratio is the median of the rounds' ratios.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use pullback::testing::{CountingAllocator, allocations_in};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// What everything is measured against.
pub(crate) const PRIMAL: &str = "primal";
/// What a gradient is measured against.
pub(crate) const HAND_WRITTEN: &str = "hand-written";
/// A gradient by hand with every trick.
#[allow(dead_code, reason = "not every program has one")]
pub(crate) const TUNED: &str = "tuned by hand";

const ROUNDS: usize = 301;
const SAMPLE: Duration = Duration::from_micros(100);

/// One way to do the work.
pub(crate) struct Contender<'a> {
    name: &'static str,
    run: Box<dyn FnMut(u64) -> Duration + 'a>,
}

/// `work` under the name `name`.
pub(crate) fn contender<'a, T>(name: &'static str, mut work: impl FnMut() -> T + 'a) -> Contender<'a> {
    let run = move |calls| {
        let start = Instant::now();
        for _ in 0..calls {
            black_box(work());
        }
        start.elapsed()
    };
    Contender { name, run: Box::new(run) }
}

/// All cases of one benchmark program.
pub(crate) struct Comparison {
    criterion: Criterion,
    /// Whether `cargo bench` runs this; otherwise everything is called once, to see that it works.
    timed: bool,
    rows: Vec<Row>,
}

struct Row {
    case: &'static str,
    contender: &'static str,
    nanoseconds: f64,
    to_primal: f64,
    to_hand_written: Option<f64>,
    allocations: usize,
}

impl Comparison {
    /// Reads the command line.
    pub(crate) fn new() -> Self {
        Comparison {
            criterion: Criterion::default().configure_from_args(),
            timed: std::env::args().any(|argument| argument == "--bench"),
            rows: Vec::new(),
        }
    }

    /// Measures the contenders of one case; one of them is the [`PRIMAL`].
    pub(crate) fn case(&mut self, case: &'static str, mut contenders: Vec<Contender<'_>>) {
        let mut group = self.criterion.benchmark_group(case);
        for Contender { name, run } in &mut contenders {
            group.bench_function(*name, |bencher| bencher.iter_custom(&mut *run));
        }
        group.finish();
        if self.timed {
            self.rows.extend(rounds(case, &mut contenders));
        }
    }

    /// Prints the table.
    pub(crate) fn finish(self) {
        self.criterion.final_summary();
        if !self.timed {
            return;
        }
        println!(
            "\n| {:24} | {:28} | {:>10} | {:>8} | {:>14} | {:>11} |\n|{:-<26}|{:-<30}|{:->12}|{:->10}|{:->16}|{:->13}|",
            "case", "", "ns", "× primal", "× hand-written", "allocations", "", "", ":", ":", ":", ":"
        );
        for row in self.rows {
            let to_hand_written = row.to_hand_written.map_or(String::new(), |ratio| format!("{ratio:.2}"));
            println!(
                "| {:24} | {:28} | {:10.1} | {:8.2} | {to_hand_written:>14} | {:11} |",
                row.case, row.contender, row.nanoseconds, row.to_primal, row.allocations
            );
        }
    }
}

fn rounds(case: &'static str, contenders: &mut [Contender<'_>]) -> Vec<Row> {
    let calls: Vec<u64> = contenders.iter_mut().map(calls_per_sample).collect();
    let mut times = vec![Vec::with_capacity(ROUNDS); contenders.len()];
    for _ in 0..ROUNDS {
        for ((contender, &calls), times) in contenders.iter_mut().zip(&calls).zip(&mut times) {
            times.push((contender.run)(calls).as_secs_f64() * 1e9 / calls as f64);
        }
    }

    let named = |name| contenders.iter().position(|contender| contender.name == name);
    let primal = named(PRIMAL).expect("each case has a primal");
    let hand_written = named(HAND_WRITTEN);
    let ratio = |a: usize, b: usize| median(times[a].iter().zip(&times[b]).map(|(a, b)| a / b).collect());
    let row = |i: usize| Row {
        case,
        contender: contenders[i].name,
        nanoseconds: median(times[i].clone()),
        to_primal: ratio(i, primal),
        to_hand_written: hand_written.filter(|_| i != primal).map(|hand_written| ratio(i, hand_written)),
        allocations: 0,
    };
    let mut rows: Vec<Row> = (0..contenders.len()).map(row).collect();
    for (row, contender) in rows.iter_mut().zip(contenders) {
        (_, row.allocations) = allocations_in(|| (contender.run)(1));
    }
    rows
}

/// As many as fill a sample; warms up on the way.
fn calls_per_sample(contender: &mut Contender<'_>) -> u64 {
    let mut calls = 1;
    while (contender.run)(calls) < SAMPLE {
        calls *= 2;
    }
    calls
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Panics unless two gradients agree.
#[allow(dead_code, reason = "not every program needs it")]
pub(crate) fn assert_close<'a>(
    actual: impl IntoIterator<Item = &'a f64>,
    expected: impl IntoIterator<Item = &'a f64>,
) {
    for (actual, expected) in actual.into_iter().zip(expected) {
        assert!(
            (actual - expected).abs() <= 1e-11 * (1.0 + expected.abs()),
            "{actual} instead of {expected}"
        );
    }
}
