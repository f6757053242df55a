//! `cargo run -p pullback-fuzz -- SEED COUNT`: checks as many random functions, and shows those that fail, made as small as may be.

mod cases;
mod generate;
mod shrink;

use std::collections::BTreeMap;
use std::env;
use std::process::ExitCode;

use cases::{Fault, judge, pretty};

/// How many functions are compiled at once.
const BATCH: u64 = 40;

fn main() -> ExitCode {
    let arguments: Vec<u64> = env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let [seed, count] = arguments[..] else {
        eprintln!("usage: cargo run -p pullback-fuzz -- SEED COUNT");
        return ExitCode::FAILURE;
    };
    // Those that fail in the same way, which is told by the first of them.
    let mut faults: BTreeMap<Fault, Vec<u64>> = BTreeMap::new();
    for first in (seed..seed + count).step_by(BATCH as usize) {
        let seeds: Vec<u64> = (first..(first + BATCH).min(seed + count)).collect();
        let programs: Vec<_> = seeds.iter().map(|&seed| generate::program(seed)).collect();
        for (seed, fault) in seeds.iter().zip(judge(&programs)) {
            let Some(fault) = fault else { continue };
            println!("seed {seed}: {fault}");
            faults.entry(fault).or_default().push(*seed);
        }
        eprintln!("{} functions", seeds[seeds.len() - 1] + 1 - seed);
    }
    for (fault, seeds) in &faults {
        let smallest = seeds.iter().min_by_key(|&&seed| generate::program(seed).to_string().len());
        let seed = *smallest.expect("one at least");
        let program = shrink::shrunk(generate::program(seed), fault);
        println!("\n==> seeds {seeds:?}: {fault}\n\n{}", pretty(&program));
    }
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
