//! Smaller programs that fail in the same way.

use crate::cases::{Fault, judge};
use crate::generate::tree::{Kind, Piece, Tree};

/// How many smaller programs are compiled at once.
const BATCH: usize = 40;

/// A part of a program, by the way there, and what may stand in its place.
#[derive(Clone)]
struct Step {
    path: Vec<usize>,
    with: Tree,
    /// By how many characters the program gets shorter.
    gain: usize,
}

/// The smallest program that can be found by steps that keep the fault.
pub(crate) fn shrunk(mut program: Tree, fault: &Fault) -> Tree {
    loop {
        let Some(next) = shrunk_once(&program, fault) else { return program };
        eprintln!("{} characters", next.to_string().len());
        program = next;
    }
}

/// A program that is smaller by as many steps as can be taken together.
fn shrunk_once(program: &Tree, fault: &Fault) -> Option<Tree> {
    let mut steps = Vec::new();
    collect(program, &mut Vec::new(), &mut steps);
    steps.sort_by_key(|step| std::cmp::Reverse(step.gain));
    let mut tried = steps.chunks(BATCH);
    tried.find_map(|steps| {
        let candidates: Vec<_> = steps.iter().map(|step| taken(program, &[step])).collect();
        let faults = judge(&candidates);
        let good: Vec<_> = (0..steps.len()).filter(|&i| faults[i].as_ref() == Some(fault)).collect();
        let best = candidates.get(*good.first()?)?.clone();
        // Parts that do not contain each other may get smaller together: as many of these as still fail.
        let mut together: Vec<&Step> = Vec::new();
        for step in good.iter().map(|&i| &steps[i]) {
            if together
                .iter()
                .all(|other| !within(&step.path, &other.path) && !within(&other.path, &step.path))
            {
                together.push(step);
            }
        }
        let all = together.len();
        let counts: Vec<usize> = (0..).map(|k| all >> k).take_while(|&count| count > 1).collect();
        let candidates: Vec<_> = counts.iter().map(|&count| taken(program, &together[..count])).collect();
        let faults = if candidates.is_empty() { Vec::new() } else { judge(&candidates) };
        let larger = (0..candidates.len()).find(|&i| faults[i].as_ref() == Some(fault));
        Some(larger.map_or(best, |i| candidates[i].clone()))
    })
}

fn within(path: &[usize], of: &[usize]) -> bool {
    path.starts_with(of)
}

/// The program after these steps.
fn taken(program: &Tree, steps: &[&Step]) -> Tree {
    let mut program = program.clone();
    for step in steps {
        let mut part = &mut program;
        for &i in &step.path {
            let Piece::Tree(inner) = &mut part.pieces[i] else { unreachable!("a path leads to a part") };
            part = inner;
        }
        *part = step.with.clone();
    }
    program
}

/// All steps within `tree`, which is at `path`.
fn collect(tree: &Tree, path: &mut Vec<usize>, steps: &mut Vec<Step>) {
    let len = tree.to_string().len();
    let mut step = |with: Tree| {
        let gain = len.saturating_sub(with.to_string().len());
        if gain > 0 {
            steps.push(Step { path: path.clone(), with, gain });
        }
    };
    let simplest = match tree.kind {
        Kind::Statement => &[""][..],
        Kind::Number => &["0.5_f64"],
        Kind::Index => &["0"],
        Kind::Condition => &["true", "false"],
        Kind::Block | Kind::Fixed => &[],
    };
    simplest.iter().for_each(|text| step(Tree::new(Kind::Fixed, text, [])));
    // What is within may do by itself.
    match tree.kind {
        Kind::Statement => inner(tree, Kind::Block, &mut |block| step(Tree::statement("$", [block]))),
        kind @ (Kind::Number | Kind::Condition) => inner(tree, kind, &mut step),
        Kind::Index | Kind::Block | Kind::Fixed => {}
    }
    for (i, piece) in tree.pieces.iter().enumerate() {
        if let Piece::Tree(part) = piece {
            path.push(i);
            collect(part, path, steps);
            path.pop();
        }
    }
}

/// The outermost parts of this kind.
fn inner(tree: &Tree, kind: Kind, found: &mut dyn FnMut(Tree)) {
    for piece in &tree.pieces {
        match piece {
            Piece::Tree(part) if part.kind == kind => found(part.clone()),
            Piece::Tree(part) => inner(part, kind, found),
            Piece::Text(_) => {}
        }
    }
}
