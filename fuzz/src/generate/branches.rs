//! `if`, `match` and blocks, as statements and as values.

use super::numbers::{MODERATE, Number};
use super::scope::{Type, Variable};
use super::statements::valued;
use super::tree::{Kind, Tree};
use super::{Context, Generator, Leave};

impl Generator {
    pub(super) fn branch(&mut self) -> Tree {
        match self.random.below(10) {
            0..3 => {
                let (condition, block) = (self.condition(2), self.block(3));
                Tree::statement("if $ $", [condition, block])
            }
            3..6 => {
                let (condition, yes, no) = (self.condition(2), self.block(3), self.block(3));
                Tree::statement("if $ $ else $", [condition, yes, no])
            }
            6 => {
                let parts =
                    [self.condition(1), self.block(2), self.condition(1), self.block(2), self.block(2)];
                Tree::statement("if $ $ else if $ $ else $", parts)
            }
            7 => self.match_of_index(),
            8 => self.if_let(),
            _ => self.labelled(),
        }
    }

    /// `match` on an integer, with alternatives, ranges and guards.
    fn match_of_index(&mut self) -> Tree {
        let Some(index) = self.some(|v| matches!(v.of, Type::Index(_))) else {
            return self.match_of_number();
        };
        let (first, guard, second, rest) = (self.block(2), self.condition(1), self.block(2), self.block(2));
        let pattern = self.random.pick(&["0", "0 | 3", "1..=2", "2.."]);
        Tree::statement(
            &format!("match {} % 4 {{ {pattern} => $ _ if $ => $ _ => $ }}", index.name),
            [first, guard, second, rest],
        )
    }

    /// `match` on a number, which the arms bind.
    fn match_of_number(&mut self) -> Tree {
        let number = self.number(2).typed();
        let (bound, name) = (number.bound, self.name(&Type::Number));
        let arm = |g: &mut Self| {
            g.within(
                |_| (),
                |g| {
                    g.scope.push(Variable::new(&name, Type::Number).bounded(bound));
                    g.open_block(2)
                },
            )
        };
        let limit = self.literal().operand();
        let (first, second) = (arm(self), arm(self));
        let text = format!("match $ {{ {name} if {name} > $ => $ {name} => $ }}");
        Tree::statement(&text, [number.operand(), limit, first, second])
    }

    /// `if let` of what may not be there.
    fn if_let(&mut self) -> Tree {
        let Some((sequence, length)) = self.sequence() else { return self.labelled() };
        let name = self.name(&Type::Number);
        let index = self.index_into(&sequence.name, length).unwrap_or_else(|| Tree::fixed("0"));
        let (pattern, of) = self.random.pick(&[("&", Type::Number), ("", Type::NumberRef)]);
        let yes = self.within(
            |_| (),
            |g| {
                g.scope.change(&sequence.name, |v| v.frozen = true);
                g.scope.push(Variable::new(&name, of));
                g.open_block(3)
            },
        );
        let no = self.block(2);
        let text = format!("if let Some({pattern}{name}) = {}.get($) $ else $", sequence.name);
        Tree::statement(&text, [index, yes, no])
    }

    /// A block that is left by its label.
    fn labelled(&mut self) -> Tree {
        let label = self.label();
        let leave = Leave { label: Some(label.clone()), value: false, again: false, block: true };
        let block = self.within(|context| context.leaves.push(leave), |g| g.open_block(3));
        Tree::statement(&format!("{label}: $"), [block])
    }

    pub(super) fn label(&mut self) -> String {
        self.labels += 1;
        format!("'l{}", self.labels)
    }

    /// A block with a value.
    pub(super) fn value_block(&mut self, depth: usize) -> Tree {
        if self.context.depth > 3 || self.context.plain || self.chance(50) {
            let value = self.moderate(depth).typed().tree();
            return Tree::new(Kind::Fixed, "{ $ }", [value]);
        }
        self.statements_of_value(|_| (), depth)
    }

    /// Statements and a value, which write to what is around them only where that is free.
    pub(super) fn statements_of_value(&mut self, change: impl FnOnce(&mut Context), depth: usize) -> Tree {
        let before = self.scope.captured;
        if !self.context.free {
            self.scope.capture();
        }
        let written = self.within(
            |context| {
                context.free = false;
                change(context);
            },
            |g| {
                let statements = g.statements(2);
                let value = g.moderate(depth).typed().tree();
                valued(statements, value)
            },
        );
        self.scope.captured = before;
        written
    }

    /// A value whose blocks may write to variables around them.
    pub(super) fn free_value(&mut self) -> Number {
        self.context.free = true;
        let value = match self.random.below(5) {
            0..3 => self.choice(2),
            3 => self.block_of_value(2),
            _ => self.loop_of_value(2),
        };
        self.context.free = false;
        value
    }

    /// `if` and `match` as values.
    pub(super) fn choice(&mut self, depth: usize) -> Number {
        match self.random.below(5) {
            0..3 => {
                let parts = [self.condition(depth.min(1)), self.value_block(depth), self.value_block(depth)];
                Number::statement("if $ $ else $", parts, MODERATE)
            }
            3 => {
                let Some(index) = self.some(|v| matches!(v.of, Type::Index(_))) else {
                    return self.block_of_value(depth);
                };
                let parts = [self.value_block(depth), self.value_block(depth)];
                Number::statement(&format!("match {} % 3 {{ 1 => $ _ => $ }}", index.name), parts, MODERATE)
            }
            _ => {
                let (a, limit) = (self.number(depth).typed(), self.literal());
                let (bound, name) = (a.bound, self.name(&Type::Number));
                let arm = |g: &mut Self| {
                    g.within(
                        |_| (),
                        |g| {
                            g.scope.push(Variable::new(&name, Type::Number).bounded(bound));
                            g.moderate(depth).typed().tree()
                        },
                    )
                };
                let (first, second) = (arm(self), arm(self));
                let text = format!("match $ {{ {name} if {name} < $ => $, {name} => $ }}");
                Number::statement(&text, [a.operand(), limit.operand(), first, second], MODERATE)
            }
        }
    }

    pub(super) fn block_of_value(&mut self, depth: usize) -> Number {
        let label = self.label();
        if !self.context.exits || self.context.plain || self.chance(50) {
            let block = self.value_block(depth);
            return Number::statement("$", [block], MODERATE);
        }
        let leave = Leave { label: Some(label.clone()), value: true, again: false, block: true };
        let block = self.statements_of_value(|context| context.leaves.push(leave), depth);
        Number::statement(&format!("{label}: $"), [block], MODERATE)
    }
}
