//! PyTorch and JAX in a process of their own, which waits between samples.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

pub(crate) struct Peers {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peers {
    /// Started with the Python that `PULLBACK_PEERS` names, if it does.
    pub(crate) fn start() -> Option<Self> {
        let python = std::env::var_os("PULLBACK_PEERS")?;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/array_peers.py");
        let mut process = Command::new(python)
            .args([script, "--serve"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("PULLBACK_PEERS names a Python");
        let requests = process.stdin.take().expect("a pipe");
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        Some(Peers { process, requests, answers })
    }

    /// How long so many calls of value and gradient take.
    pub(crate) fn sample(&mut self, library: &str, case: &str, calls: u64) -> Duration {
        writeln!(self.requests, "{library} {case} {calls}").expect("Python reads");
        self.requests.flush().expect("Python reads");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("Python answers");
        Duration::from_secs_f64(answer.trim().parse().expect("a number of seconds"))
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
