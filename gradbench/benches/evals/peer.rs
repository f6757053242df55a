//! Tools written in C++, which take a file with the input, and the name of a function.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What a program answered: the times of its runs, in nanoseconds, and its output.
pub(crate) struct Answer {
    pub(crate) times: Vec<f64>,
    pub(crate) output: Value,
}

/// Runs `program`; `None` if it is not there or fails.
pub(crate) fn run(program: &Path, input: &Value, function: &str) -> Option<Answer> {
    let file = std::env::temp_dir().join(format!("gradbench-{}.json", std::process::id()));
    std::fs::write(&file, input.to_string()).ok()?;
    let answer = Command::new(program).arg(&file).arg(function).output();
    std::fs::remove_file(&file).ok()?;
    let answer = answer.ok().filter(|answer| answer.status.success())?;
    let mut lines = answer.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let output = serde_json::from_slice(lines.next()?).ok()?;
    let evaluate = |line: &[u8]| {
        let timing: Value = serde_json::from_slice(line).ok()?;
        (timing["name"] == "evaluate").then(|| timing["nanoseconds"].as_f64())?
    };
    Some(Answer { times: lines.filter_map(evaluate).collect(), output })
}
