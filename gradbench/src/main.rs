//! `gradbench-tool`: answers one message per line, on standard input, by one line on standard output.

use std::io::{self, BufRead, BufWriter, Write};

fn main() -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        serde_json::to_writer(&mut out, &gradbench::protocol::answer(&line))?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(())
}
