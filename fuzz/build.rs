//! Writes the functions that `tests/functions.rs` is made of, unless `PULLBACK_FUZZ_PROGRAM` is a file that has them.

use std::path::PathBuf;
use std::{env, fs};

#[allow(dead_code, reason = "the command looks into programs, too")]
#[path = "src/generate/mod.rs"]
mod generate;

/// The first seeds whose programs the macro takes.
const SEEDS: &[u64] = &[2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 18, 19, 20, 22, 23, 24, 25, 26, 27];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/generate");
    println!("cargo::rerun-if-env-changed=PULLBACK_FUZZ_PROGRAM");
    let given = env::var_os("PULLBACK_FUZZ_PROGRAM").map(PathBuf::from);
    let path = given.unwrap_or_else(|| {
        let path = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo tells")).join("program.rs");
        let programs = SEEDS.iter().map(|&seed| generate::program(seed).to_string());
        fs::write(&path, programs.collect::<Vec<_>>().join("\n\n")).expect("written");
        path
    });
    println!("cargo::rustc-env=PULLBACK_FUZZ_PROGRAM={}", path.display());
}
