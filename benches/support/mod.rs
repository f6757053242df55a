//! Compares contenders: one Criterion group for each case, and at the end one table whose ratios come from a single run.
//!
//! On a busy machine two timings that were taken a second apart cannot be divided. So the table is measured in rounds: each
//! round times all contenders of a case one after the other, and a ratio is the median of the rounds' ratios. With `--instructions`
//! there is a table of instructions instead.

pub(crate) mod instructions;
mod rounds;

use criterion::Criterion;
use instructions::Counting;
pub(crate) use rounds::{Contender, HAND_WRITTEN, PRIMAL, Times, contender};
/// A gradient by hand with every trick.
#[allow(dead_code, reason = "not every program has one")]
pub(crate) const TUNED: &str = "tuned by hand";

const ROUNDS: usize = 301;

/// All cases of one benchmark program.
pub(crate) struct Comparison {
    criterion: Criterion,
    /// Whether `cargo bench` runs this; otherwise everything is called once, to see that it works.
    timed: bool,
    /// Nothing but the table.
    ratios: bool,
    /// Whether this counts instructions, or is counted.
    instructions: Option<Counting>,
    /// Part of the names of the cases to be run.
    chosen: Option<String>,
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
        let given = |name| std::env::args().any(|argument| argument == name);
        let ratios = given("--ratios");
        let instructions = Counting::given();
        // Criterion does not know these arguments.
        let criterion = match ratios || instructions.is_some() {
            true => Criterion::default(),
            false => Criterion::default().configure_from_args(),
        };
        let chosen = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
        let timed = ratios || given("--bench");
        Comparison { criterion, timed, ratios, instructions, chosen, rows: Vec::new() }
    }

    /// Measures the contenders of one case; one of them is the [`PRIMAL`].
    pub(crate) fn case(&mut self, case: &'static str, mut contenders: Vec<Contender<'_>>) {
        if self.chosen.as_ref().is_some_and(|part| !case.contains(part)) {
            return;
        }
        match self.instructions {
            Some(Counting::Asked) => return,
            Some(Counting::Counted) => return instructions::count(case, &mut contenders),
            None => {}
        }
        if !self.ratios {
            let mut group = self.criterion.benchmark_group(case);
            for Contender { name, run } in &mut contenders {
                group.bench_function(*name, |bencher| bencher.iter_custom(&mut *run));
            }
            group.finish();
        }
        if self.timed {
            self.rows.extend(rounds(case, &mut contenders));
        }
    }

    /// Prints the table.
    pub(crate) fn finish(self) {
        match self.instructions {
            Some(Counting::Asked) => return instructions::report(self.chosen.as_deref()),
            Some(Counting::Counted) => return,
            None => {}
        }
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
    let times = Times::of(contenders, ROUNDS);
    let named = |name| contenders.iter().position(|contender| contender.name == name);
    let primal = named(PRIMAL).expect("each case has a primal");
    let hand_written = named(HAND_WRITTEN);
    let row = |i: usize| Row {
        case,
        contender: contenders[i].name,
        nanoseconds: times.median(i),
        to_primal: times.ratio(i, primal),
        to_hand_written: hand_written
            .filter(|_| i != primal)
            .map(|hand_written| times.ratio(i, hand_written)),
        allocations: 0,
    };
    let mut rows: Vec<Row> = (0..contenders.len()).map(row).collect();
    for (row, contender) in rows.iter_mut().zip(contenders) {
        row.allocations = contender.allocations();
    }
    rows
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
