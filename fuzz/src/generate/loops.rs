//! Loops.

use super::numbers::{MODERATE, Number};
use super::scope::{Below, Holder, Length, Type, Variable};
use super::sequences::ARRAYS;
use super::statements::{braced, valued};
use super::tree::{Kind, Tree};
use super::{Generator, Leave};

/// More runs of a statement take too long.
const MANY: usize = 150;

impl Generator {
    pub(super) fn push_index(&mut self, name: &str, length: Length, before: usize, after: usize) {
        let below = Below { class: Some(length.class), before, after };
        self.scope.push(Variable::new(name, Type::Index(below)));
    }

    pub(super) fn any_loop(&mut self) -> Tree {
        if self.context.times > MANY {
            return self.write();
        }
        match self.random.below(12) {
            0..5 => self.over_range(),
            5..9 => self.over_items(),
            9 => self.while_counted(),
            10 => self.while_large(),
            _ => self.forever(),
        }
    }

    /// The body of a loop, behind what its head binds; with a label and a strategy, as they suit it.
    pub(super) fn looped(
        &mut self,
        head: &str,
        heads: Vec<Tree>,
        first: &str,
        bind: impl FnOnce(&mut Self),
    ) -> Tree {
        // A strategy is for loops that are not left early.
        let strategy = match self.random.below(25) {
            0 => "#[pullback(recompute)] ",
            1 => "#[pullback(checkpoint = 2)] ",
            2 => "#[pullback(store)] ",
            3 => "#[pullback(binomial = 2)] ",
            _ => "",
        };
        let label = if self.chance(30) { Some(self.label()) } else { None };
        let written = match &label {
            Some(label) => format!("{label}: "),
            None => String::new(),
        };
        let leave = Leave { label, value: false, again: true, block: false };
        let often = self.often();
        let body = self.within(
            |context| {
                context.times *= often;
                if strategy.is_empty() {
                    context.leaves.push(leave);
                } else {
                    (context.exits, context.leaves) = (false, Vec::new());
                    context.steady |= strategy != "#[pullback(store)] ";
                }
            },
            |g| {
                bind(g);
                let mut statements = vec![Tree::fixed(first)];
                statements.append(&mut g.statements(4));
                if g.chance(50) {
                    statements.push(g.assign());
                }
                braced(statements)
            },
        );
        // An attribute is not for an expression, which a loop at the end of a block is.
        let end = if strategy.is_empty() { "" } else { ";" };
        Tree::statement(&format!("{strategy}{written}{head} ${end}"), heads.into_iter().chain([body]))
    }

    fn over_range(&mut self) -> Tree {
        let i = self.name(&Type::Index(Below::default()));
        let outer = self.some(|v| matches!(v.of, Type::Index(Below { class: Some(_), .. })));
        if let Some(Variable { name: outer, of: Type::Index(below), .. }) = outer
            && self.chance(30)
        {
            let Below { before, after, class } = below;
            let (range, below) = match self.random.below(3) {
                0 => (format!("0..{outer}"), Below { class, before: 0, after: after + 1 }),
                1 => (format!("0..={outer}"), Below { class, before: 0, after }),
                _ => (format!("{outer}..{outer} + {}", after + 1), Below { class, before, after: 0 }),
            };
            return self.looped(&format!("for {i} in {range}"), vec![], "", |g| {
                g.scope.push(Variable::new(&i, Type::Index(below)));
            });
        }
        let Some((sequence, length)) = self.sequence().filter(|_| self.random.below(5) > 0) else {
            let count = self.count();
            let range = self.random.pick(&["0..$", "1..=$", "(0..$).rev()", "(0..$ + 2).step_by(2)"]);
            return self.looped(&format!("for {i} in {range}"), vec![count], "", |g| {
                g.scope.push(Variable::new(&i, Type::Index(Below::default())));
            });
        };
        let name = &sequence.name;
        let (range, before, after) = self.random.pick(&[
            ("0..#.len()", 0, 0),
            ("0..#.len()", 0, 0),
            ("1..#.len()", 1, 0),
            ("0..#.len() - 1", 0, 1),
            ("1..#.len() - 1", 1, 1),
            ("(0..#.len()).rev()", 0, 0),
            ("(1..#.len()).rev()", 1, 0),
            ("(0..#.len() - 1).rev()", 0, 1),
            ("(0..#.len()).step_by(2)", 0, 0),
            ("(1..#.len()).step_by(2).rev()", 1, 0),
            ("0..=#.len() - 1", 0, 0),
        ]);
        self.looped(&format!("for {i} in {}", range.replace('#', name)), vec![], "", |g| {
            g.push_index(&i, length, before, after);
        })
    }

    /// Loops over elements, rows, parts.
    fn over_items(&mut self) -> Tree {
        let Some((sequence, length)) = self.sequence() else { return self.over_range() };
        let s = sequence.name.clone();
        let writable = self.scope.may_write(&sequence) && self.chance(50);
        let v = self.name(&Type::Number);
        let i = self.name(&Type::Index(Below::default()));
        let freeze = |g: &mut Self| g.scope.change(&s, |s| s.frozen = true);
        let hide = |g: &mut Self| g.scope.change(&s, |s| s.hidden = true);
        if writable {
            let rev = self.random.pick(&["", "", ".rev()"]);
            return match self.random.below(4) {
                0 => self.looped(&format!("for {v} in {s}.iter_mut(){rev}"), vec![], "", |g| {
                    hide(g);
                    g.scope.push(Variable::new(&v, Type::NumberMut));
                }),
                1 if i != v => self.looped(
                    &format!("for ({i}, {v}) in {s}.iter_mut().enumerate(){rev}"),
                    vec![],
                    "",
                    |g| {
                        hide(g);
                        g.push_index(&i, length, 0, 0);
                        g.scope.push(Variable::new(&v, Type::NumberMut));
                    },
                ),
                2 => {
                    let locks = self.scope.locks();
                    hide(self);
                    let other = self.sequence();
                    self.scope.unlock(&locks);
                    let w = self.name(&Type::Number);
                    let Some((other, _)) = other.filter(|_| w != v) else { return self.over_range() };
                    self.looped(
                        &format!("for ({v}, {w}) in {s}.iter_mut().zip({}.iter())", other.name),
                        vec![],
                        "",
                        |g| {
                            hide(g);
                            g.scope.change(&other.name, |other| other.frozen = true);
                            g.scope.push(Variable::new(&v, Type::NumberMut));
                            g.scope.push(Variable::new(&w, Type::NumberRef));
                        },
                    )
                }
                _ => {
                    let w = self.name(&Type::Sequence(Holder::SliceMut, length));
                    let part = self.length(1);
                    self.looped(&format!("for {w} in {s}.chunks_mut(2)"), vec![], "", |g| {
                        hide(g);
                        g.scope.push(Variable::new(&w, Type::Sequence(Holder::SliceMut, part)));
                    })
                }
            };
        }
        match self.random.below(9) {
            0 => self.looped(&format!("for {v} in {s}.iter()"), vec![], "", |g| {
                freeze(g);
                g.scope.push(Variable::new(&v, Type::NumberRef));
            }),
            1 => self.looped(&format!("for &{v} in &{s}[..]"), vec![], "", |g| {
                freeze(g);
                g.scope.push(Variable::new(&v, Type::Number));
            }),
            2 if i != v => {
                self.looped(&format!("for ({i}, {v}) in {s}.iter().enumerate()"), vec![], "", |g| {
                    freeze(g);
                    g.push_index(&i, length, 0, 0);
                    g.scope.push(Variable::new(&v, Type::NumberRef));
                })
            }
            3 | 4 => {
                let Some((other, _)) = self.sequence() else { return self.over_range() };
                let w = self.name(&Type::Number);
                if w == v {
                    return self.over_range();
                }
                let (rev, adapter) =
                    (self.random.pick(&["", "", ".skip(1)"]), self.random.pick(&["", ".rev()"]));
                let head = format!("for ({v}, {w}) in {s}.iter(){adapter}.zip({}.iter(){rev})", other.name);
                self.looped(&head, vec![], "", |g| {
                    freeze(g);
                    g.scope.change(&other.name, |other| other.frozen = true);
                    g.scope.push(Variable::new(&v, Type::NumberRef));
                    g.scope.push(Variable::new(&w, Type::NumberRef));
                })
            }
            5 | 6 => {
                let part = self.random.pick(&[".windows(2)", ".chunks(2)", ".chunks_exact(2)"]);
                let length = self.length(if part == ".chunks(2)" { 1 } else { 2 });
                let w = self.name(&Type::Sequence(Holder::Slice, length));
                self.looped(&format!("for {w} in {s}{part}"), vec![], "", |g| {
                    freeze(g);
                    g.scope.push(Variable::new(&w, Type::Sequence(Holder::Slice, length)));
                })
            }
            7 => {
                let condition = self.within(
                    |context| context.calls = false,
                    |g| {
                        freeze(g);
                        g.scope.push(Variable::new(&v, Type::NumberRef));
                        g.condition(1)
                    },
                );
                let borrowed: Vec<_> =
                    self.scope.visible().filter(|v| condition.mentions(&v.name)).cloned().collect();
                let adapter = self.random.pick(&["filter", "skip_while", "take_while"]);
                self.looped(
                    &format!("for {v} in {s}.iter().copied().{adapter}(|{v}| $)"),
                    vec![condition],
                    "",
                    |g| {
                        freeze(g);
                        borrowed.iter().for_each(|v| g.scope.change(&v.name, |v| v.frozen = true));
                        g.scope.push(Variable::new(&v, Type::Number));
                    },
                )
            }
            _ => self.over_rows(),
        }
    }

    fn over_rows(&mut self) -> Tree {
        let rows = self.some(|v| matches!(v.of, Type::Rows(..)));
        let Some(rows) = rows else { return self.over_range() };
        let (writable, Variable { name: rows, of: Type::Rows(holder, _, of_each), .. }) =
            (self.scope.may_write(&rows), rows)
        else {
            return self.over_range();
        };
        let row = self.name(&Type::Sequence(Holder::Slice, of_each));
        if holder == Holder::Vector && writable && self.chance(50) {
            return self.looped(&format!("for {row} in {rows}.iter_mut()"), vec![], "", |g| {
                g.scope.change(&rows, |rows| rows.hidden = true);
                g.scope.push(Variable::new(&row, Type::Sequence(Holder::SliceMut, of_each)));
            });
        }
        self.looped(&format!("for {row} in {rows}.iter()"), vec![], "", |g| {
            g.scope.change(&rows, |rows| rows.frozen = true);
            g.scope.push(Variable::new(&row, Type::Sequence(Holder::Slice, of_each)));
        })
    }

    /// `while` with an index that counts.
    fn while_counted(&mut self) -> Tree {
        let i = self.name(&Type::Index(Below::default()));
        let (sequence, length) = match self.sequence() {
            Some((sequence, length)) if !sequence.grows && sequence.name != i => (sequence.name, length),
            _ => return self.over_range(),
        };
        let limit = format!("{sequence}.len()");
        let (text, first, before) = match self.random.below(3) {
            0 => (format!("while {i} < {limit} - 1"), format!("{i} += 1;"), 1),
            1 => (format!("while {i} + 1 < {limit}"), format!("{i} += 1;"), 1),
            _ => (format!("while {i} < {limit}"), format!("{i} += 1; let {i} = {i} - 1;"), 0),
        };
        let body =
            self.beneath(&i, |g| g.looped(&text, vec![], &first, |g| g.push_index(&i, length, before, 0)));
        let start = self.random.pick(&["0", "0_usize"]);
        Tree::statement(&format!("{{ let mut {i} = {start}; $ }}"), [body])
    }

    /// `while` with a condition on a number that the loop makes smaller, or a count that ends it.
    fn while_large(&mut self) -> Tree {
        let number = self.some_writable(|v| v.of == Type::Number);
        let (Some(Variable { name, .. }), limit) = (number, self.literal()) else { return self.over_range() };
        let i = self.name(&Type::Index(Below::default()));
        if i == name {
            return self.over_range();
        }
        let first = format!("{i} += 1; {name} *= 0.7;");
        let body = self.beneath(&i, |g| {
            let heads = vec![limit.operand()];
            g.looped(&format!("while {name}.abs() > $ && {i} < 5"), heads, &first, |g| {
                g.scope.push(Variable::new(&i, Type::Index(Below::default())));
            })
        });
        Tree::statement(&format!("{{ let mut {i} = 0_usize; $ }}"), [body])
    }

    fn forever(&mut self) -> Tree {
        let i = self.name(&Type::Index(Below::default()));
        let body = self.beneath(&i, |g| {
            let label = g.chance(40).then(|| g.label());
            let written = label.as_ref().map_or(String::new(), |label| format!("{label}: "));
            let leave = Leave { label, value: false, again: true, block: false };
            let body = g.within(
                |context| {
                    context.times *= 4;
                    context.leaves.push(leave);
                },
                |g| {
                    g.scope.push(Variable::new(&i, Type::Index(Below::default())));
                    g.open_block(4)
                },
            );
            let count = 2 + g.random.below(3);
            Tree::new(
                Kind::Fixed,
                &format!("{written}loop {{ {i} += 1; if {i} > {count} {{ break; }} $ }}"),
                [body],
            )
        });
        Tree::statement(&format!("{{ let mut {i} = 0_usize; $ }}"), [body])
    }

    /// A loop whose value is a number.
    pub(super) fn loop_of_value(&mut self, depth: usize) -> Number {
        if self.context.times > MANY || !self.context.exits || self.context.plain || self.context.depth > 3 {
            return self.block_of_value(depth);
        }
        let i = self.name(&Type::Index(Below::default()));
        let (count, label) = (1 + self.random.below(3), self.label());
        let leave = Leave { label: Some(label.clone()), value: true, again: true, block: false };
        let before = self.scope.captured;
        if !self.context.free {
            self.scope.capture();
        }
        let (body, value) = self.beneath(&i, |g| {
            g.within(
                |context| {
                    (context.times, context.free) = (context.times * 3, false);
                    context.leaves.push(leave);
                },
                |g| {
                    g.scope.push(Variable::new(&i, Type::Index(Below::default())));
                    let value = g.moderate(depth).typed().tree();
                    (g.open_block(3), value)
                },
            )
        });
        self.scope.captured = before;
        let text = format!(
            "{{ let mut {i} = 0_usize; {label}: loop {{ {i} += 1; if {i} > {count} {{ break ($); }} $ }} }}"
        );
        Number::statement(&text, [value, body], MODERATE)
    }

    /// Two vectors, the one computed from the other again and again.
    pub(super) fn double_buffered(&mut self) -> Tree {
        let Some((like, length)) = self.sequence().filter(|(like, _)| !like.grows) else {
            return self.over_range();
        };
        if length == ARRAYS || self.context.times > MANY / 4 {
            return self.over_range();
        }
        let (steps, i) = (self.count(), self.name(&Type::Index(Below::default())));
        let strategy = self.random.pick(&["", "", "#[pullback(checkpoint = 2)] ", "#[pullback(recompute)] "]);
        let old = Variable::new("old", Type::Sequence(Holder::Vector, length)).mutable();
        let new = Variable::new("new", Type::Sequence(Holder::Vector, length)).mutable();
        self.scope.push(new);
        self.scope.push(old);
        let often = self.often();
        let value = self.within(
            |context| {
                context.times *= 4 * often;
                (context.exits, context.leaves) = (false, Vec::new());
                context.steady |= !strategy.is_empty();
            },
            |g| {
                g.scope.change("new", |new| new.hidden = true);
                g.scope.change("old", |old| old.frozen = true);
                g.push_index(&i, length, 0, 0);
                let statements = g.statements(2);
                let value = g.moderate(2).typed().tree();
                valued(statements, value)
            },
        );
        let like = like.name;
        let text = format!(
            "let (mut old, mut new) = ({like}.to_vec(), vec![0.0; {like}.len()]); {strategy}for _ in 0..$ {{ for {i} in 0..old.len() {{ new[{i}] = $; }} std::mem::swap(&mut old, &mut new); }};"
        );
        Tree::statement(&text, [steps, value])
    }
}
