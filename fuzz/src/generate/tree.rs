//! Programs as trees of text: each part tells what may stand in its place, so that whoever makes one smaller need know no Rust.

use std::fmt::{self, Display};

use super::random::Random;

/// What a part of a program is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// May be left out.
    Statement,
    /// Statements between braces.
    Block,
    Number,
    Index,
    Condition,
    /// Stays as it is, but for its parts.
    Fixed,
}

#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(String),
    Tree(Tree),
}

#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) kind: Kind,
    pub(crate) pieces: Vec<Piece>,
}

impl Tree {
    /// The `template` with `parts` in the places of each `$`.
    pub(crate) fn new(kind: Kind, template: &str, parts: impl IntoIterator<Item = Tree>) -> Tree {
        let mut parts = parts.into_iter();
        let mut pieces = Vec::new();
        for (i, text) in template.split('$').enumerate() {
            if i > 0 {
                pieces.push(Piece::Tree(parts.next().expect("a part for each `$`")));
            }
            pieces.push(Piece::Text(text.into()));
        }
        assert!(parts.next().is_none(), "a `$` for each part of `{template}`");
        Tree { kind, pieces }
    }

    /// One part after the other, each on a line.
    pub(crate) fn lines(kind: Kind, parts: impl IntoIterator<Item = Tree>) -> Tree {
        let parts = parts.into_iter();
        let line = || Piece::Text("\n".into());
        Tree { kind, pieces: parts.flat_map(|part| [Piece::Tree(part), line()]).collect() }
    }

    pub(crate) fn statement(template: &str, parts: impl IntoIterator<Item = Tree>) -> Tree {
        Tree::new(Kind::Statement, template, parts)
    }

    /// The text has such a word.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.to_string().split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
    }

    pub(crate) fn fixed(text: &str) -> Tree {
        Tree::new(Kind::Fixed, text, [])
    }

    /// Puts parentheses that say nothing around some of its parts.
    pub(crate) fn parenthesise(&mut self, random: &mut Random) {
        for piece in &mut self.pieces {
            let Piece::Tree(part) = piece else { continue };
            part.parenthesise(random);
            if matches!(part.kind, Kind::Number | Kind::Index | Kind::Condition) && random.once_in(25) {
                part.pieces.insert(0, Piece::Text("(".into()));
                part.pieces.push(Piece::Text(")".into()));
            }
        }
    }
}

impl Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces.iter().try_for_each(|piece| match piece {
            Piece::Text(text) => f.write_str(text),
            Piece::Tree(tree) => tree.fmt(f),
        })
    }
}
