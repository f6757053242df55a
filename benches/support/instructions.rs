//! Counts instructions, which other programs do not disturb as they do times: the program runs itself under Callgrind, a tool of
//! Valgrind.

use std::hint::black_box;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use super::rounds::{Contender, HAND_WRITTEN, PRIMAL};

/// Part of a program's command line: whether it is to count instructions, or runs under Callgrind.
const ASKED: &str = "--instructions";
const COUNTED: &str = "--counted";

/// What a program has to do with instructions.
#[derive(Clone, Copy)]
pub(crate) enum Counting {
    Asked,
    Counted,
}

impl Counting {
    /// What the command line tells.
    pub(crate) fn given() -> Option<Self> {
        let given = |name| std::env::args().any(|argument| argument == name);
        let counted = given(COUNTED).then_some(Counting::Counted);
        if given(ASKED) { Some(Counting::Asked) } else { counted }
    }
}

/// What Callgrind looks at, and writes a file for whenever it returns.
#[inline(never)]
fn counted(contender: &mut Contender<'_>, calls: u64) {
    black_box((contender.run)(calls));
}

/// Under Callgrind: makes two files for each contender, with one and with two calls, and says whose they are.
pub(crate) fn count(case: &str, contenders: &mut [Contender<'_>]) {
    for contender in contenders {
        // Only the first call allocates.
        (contender.run)(1);
        counted(contender, 1);
        counted(contender, 2);
        println!("{case}\t{}", contender.name);
    }
}

struct Count {
    case: String,
    contender: String,
    instructions: u64,
}

/// Counts all cases, or those that are chosen, and prints a table.
pub(crate) fn report(chosen: Option<&str>) {
    let folder = std::env::temp_dir().join(format!("instructions-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder for what Callgrind writes");
    let counts = counts(&folder, chosen);
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    let Some(counts) = counts else {
        println!("instructions are not counted, since valgrind is missing: see https://valgrind.org");
        return;
    };
    println!("| case | | instructions | × primal | × hand-written |\n|---|---|--:|--:|--:|");
    for Count { case, contender, instructions } in &counts {
        let over = |name: &str| {
            let unit = counts.iter().find(|count| count.case == *case && count.contender == name)?;
            Some(format!("{:.2}", *instructions as f64 / unit.instructions as f64))
        };
        let to_primal = over(PRIMAL).unwrap_or_default();
        let to_hand_written = over(HAND_WRITTEN).filter(|_| contender != PRIMAL).unwrap_or_default();
        println!("| {case} | {contender} | {instructions} | {to_primal} | {to_hand_written} |");
    }
}

/// `None` if there is no Valgrind.
fn counts(folder: &Path, chosen: Option<&str>) -> Option<Vec<Count>> {
    let files = folder.join("counts");
    let function = std::any::type_name_of_val(&counted);
    let output = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind"])
        // The compiler may add something to the name, and Callgrind takes a pattern for one of its options only.
        .arg(format!("--toggle-collect={function}*"))
        .arg(format!("--dump-after=*{function}*"))
        .arg(format!("--callgrind-out-file={}", files.display()))
        .arg(std::env::current_exe().expect("a program has a path"))
        .arg(COUNTED)
        .args(chosen)
        .stderr(Stdio::inherit())
        .output();
    let output = match output {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        output => output.expect("valgrind can be started"),
    };
    assert!(output.status.success(), "valgrind: {}", output.status);
    let lines = String::from_utf8(output.stdout).expect("cases have names");
    let total = |file: usize| -> u64 {
        let text = std::fs::read_to_string(files.with_extension(file.to_string()));
        let text = text.expect("Callgrind writes a file for each call of `counted`");
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        total.expect("the file has a total").parse().expect("the total is a number")
    };
    let count = |(i, line): (usize, &str)| {
        let (case, contender) = line.split_once('\t').expect("a line of `count`");
        // What surrounds the calls is in both.
        let instructions = total(2 * i + 2) - total(2 * i + 1);
        Count { case: case.to_owned(), contender: contender.to_owned(), instructions }
    };
    Some(lines.lines().enumerate().map(count).collect())
}
