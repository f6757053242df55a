//! Programs compiled and run: what is wrong with each.

use std::cmp::Ordering;
use std::fmt::{self, Display};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::Value;

use crate::generate::tree::Tree;

/// What is wrong with a program.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    kind: Kind,
    message: String,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Kind {
    /// A test fails.
    Wrong,
    /// The compiler does not understand what the macro has written.
    Compiler,
    /// The macro does not take it, and says so.
    Refused,
}

impl Fault {
    fn new(kind: Kind, message: &str) -> Self {
        Fault { kind, message: message.trim().into() }
    }

    /// The message without names and numbers.
    fn gist(&self) -> String {
        let complaint = self.message.split('`').step_by(2).collect::<Vec<_>>().join("`");
        let words = complaint.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 2);
        words.take(12).collect::<Vec<_>>().join(" ")
    }
}

impl Ord for Fault {
    fn cmp(&self, other: &Self) -> Ordering {
        self.kind.cmp(&other.kind).then_with(|| self.gist().cmp(&other.gist()))
    }
}

impl PartialOrd for Fault {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Fault {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Fault {}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Wrong => "fails",
            Kind::Compiler => "does not compile",
            Kind::Refused => "is refused",
        };
        write!(f, "{kind}: {}", self.message)
    }
}

/// What is wrong with each of `programs`, if anything is.
pub(crate) fn judge(programs: &[Tree]) -> Vec<Option<Fault>> {
    let mut faults: Vec<Option<Fault>> = vec![None; programs.len()];
    let tests = match compiled(programs, &mut faults) {
        Ok(Some(tests)) => tests,
        Ok(None) => return faults,
        Err(fault) if programs.len() == 1 => return vec![Some(fault)],
        // Some messages do not tell what they are about.
        Err(_) => {
            let (left, right) = programs.split_at(programs.len() / 2);
            return [judge(left), judge(right)].concat();
        }
    };
    let rest: Vec<usize> = (0..programs.len()).filter(|&i| faults[i].is_none()).collect();
    let (next, found) = (Mutex::new(rest.into_iter()), Mutex::new(&mut faults));
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(i) = { next.lock().expect("no panic").next() } {
                    let fault = tested(&tests, i);
                    found.lock().expect("no panic")[i] = fault;
                }
            });
        }
    });
    faults
}

/// The binary with the tests of those programs that compile, if any does; a fault that could be any program's.
fn compiled(programs: &[Tree], faults: &mut [Option<Fault>]) -> Result<Option<PathBuf>, Fault> {
    let path = Path::new(env!("OUT_DIR")).join("cases.rs");
    while faults.iter().any(Option::is_none) {
        let mut source = String::new();
        // The line behind the last one of each.
        let mut ends = Vec::new();
        for (i, program) in programs.iter().enumerate() {
            if faults[i].is_none() {
                source += &format!("mod case_{i} {{ use super::*;\n{program}\n}}\n");
            }
            ends.push(source.matches('\n').count() as u64 + 1);
        }
        fs::write(&path, source).expect("written");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "test",
            "-p",
            "pullback-fuzz",
            "--test",
            "functions",
            "--no-run",
            "--message-format=json",
        ]);
        cargo.current_dir(env!("CARGO_MANIFEST_DIR")).env("PULLBACK_FUZZ_PROGRAM", &path);
        let output = cargo.stderr(Stdio::piped()).output().expect("Cargo runs");
        let stdout = String::from_utf8_lossy(&output.stdout);
        let messages = || stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        if output.status.success() {
            let executable = |message: Value| message["executable"].as_str().map(PathBuf::from);
            let tests = messages().filter(|message| message["target"]["name"] == "functions");
            return Ok(Some(tests.filter_map(executable).next().expect("Cargo names what it has built")));
        }
        let mut any = false;
        let mut others = None;
        for message in messages().filter(|message| message["message"]["level"] == "error") {
            let message = &message["message"];
            let Some(line) = line_of(message, &path) else {
                others.get_or_insert_with(|| complaint(message));
                continue;
            };
            let i = ends.iter().position(|&end| line < end).expect("a line of a program");
            any = true;
            faults[i].get_or_insert_with(|| complaint(message));
        }
        if !any {
            return Err(others
                .unwrap_or_else(|| Fault::new(Kind::Compiler, &String::from_utf8_lossy(&output.stderr))));
        }
    }
    Ok(None)
}

/// The line that a message of the compiler is about.
fn line_of(message: &Value, path: &Path) -> Option<u64> {
    let here = |span: &Value| {
        let mut span = span;
        loop {
            if span["file_name"].as_str().is_some_and(|name| path.ends_with(name) || Path::new(name) == path)
            {
                return span["line_start"].as_u64();
            }
            span = span.get("expansion")?.get("span")?;
        }
    };
    let spans = message["spans"].as_array()?;
    let children = message["children"].as_array()?;
    spans.iter().find_map(here).or_else(|| children.iter().find_map(|child| line_of(child, path)))
}

fn complaint(message: &Value) -> Fault {
    let ours = message["code"].is_null() && !message["spans"][0].is_null();
    let kind = if ours { Kind::Refused } else { Kind::Compiler };
    let code = message["code"]["code"].as_str().map_or(String::new(), |code| format!("{code}: "));
    Fault::new(kind, &format!("{code}{}", message["message"].as_str().unwrap_or_default()))
}

/// What the test of the `i`th program says.
fn tested(tests: &Path, i: usize) -> Option<Fault> {
    let log = Path::new(env!("OUT_DIR")).join(format!("case_{i}.txt"));
    let file = fs::File::create(&log).expect("written");
    let mut test = Command::new(tests);
    test.args([format!("case_{i}::"), "--test-threads=1".into()]).env("RUST_BACKTRACE", "0");
    test.stdout(file.try_clone().expect("a file")).stderr(file);
    let mut test = test.spawn().expect("the tests run");
    let started = Instant::now();
    let status = loop {
        if let Some(status) = test.try_wait().expect("a child") {
            break status;
        }
        if started.elapsed() > Duration::from_secs(60) {
            test.kill().and_then(|()| test.wait()).expect("a child");
            return Some(Fault::new(Kind::Wrong, "takes longer than a minute"));
        }
        thread::sleep(Duration::from_millis(5));
    };
    let log = fs::read_to_string(log).expect("written");
    let message = log.split_once("panicked at ").and_then(|(_, message)| message.split_once('\n'));
    let message = message.map_or(log.as_str(), |(_, message)| message);
    let message = message.split("\nnote: ").next().unwrap_or(message);
    (!status.success()).then(|| Fault::new(Kind::Wrong, message.trim()))
}

/// The source, as `rustfmt` would have it.
pub(crate) fn pretty(program: &Tree) -> String {
    let source = program.to_string();
    let rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config", "max_width=110,use_small_heuristics=Max"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let formatted = rustfmt.ok().and_then(|mut rustfmt| {
        rustfmt.stdin.take()?.write_all(source.as_bytes()).ok()?;
        let output = rustfmt.wait_with_output().ok()?;
        output.status.success().then_some(output.stdout)
    });
    formatted.and_then(|formatted| String::from_utf8(formatted).ok()).unwrap_or(source)
}
