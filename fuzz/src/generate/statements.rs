//! Statements, and blocks of them.

use super::scope::{Below, Type, Variable};
use super::tree::{Kind, Tree};
use super::{Generator, Leave, Returns};

impl Generator {
    /// A few statements.
    pub(super) fn statements(&mut self, at_most: usize) -> Vec<Tree> {
        let count = 1 + self.random.below(at_most);
        let mut statements = Vec::new();
        for _ in 0..count {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            statements.push(self.statement());
        }
        statements
    }

    /// A block without a value, in a scope of its own.
    pub(super) fn block(&mut self, at_most: usize) -> Tree {
        self.within(|_| (), |g| g.open_block(at_most))
    }

    /// The same in the scope that there is.
    pub(super) fn open_block(&mut self, at_most: usize) -> Tree {
        let mut statements = self.statements(at_most);
        if self.chance(50) {
            statements.push(self.assign());
        }
        braced(statements)
    }

    fn statement(&mut self) -> Tree {
        let shallow = self.context.depth < 4;
        if self.long && shallow && self.chance(10) {
            return self.recurrence();
        }
        if self.states && self.chance(22) {
            return self.state_statement();
        }
        match self.random.below(100) {
            0..20 => self.declaration(),
            20..30 => self.sequence_declaration(),
            30..55 => self.write(),
            55..66 if shallow => self.branch(),
            66..82 if shallow => self.any_loop(),
            82..86 => self.exit(),
            86..91 => self.call_statement(),
            91..95 => self.closure_statements(),
            95 => self.recurrence(),
            96 if shallow => {
                let block = self.block(3);
                Tree::statement("$", [block])
            }
            _ => self.chain_declaration(),
        }
    }

    /// Binds a number to a name.
    pub(super) fn bind(&mut self, number_bound: f64, mutable: bool) -> String {
        let name = self.name(&Type::Number);
        let variable = Variable::new(&name, Type::Number).bounded(number_bound);
        self.scope.push(if mutable { variable.mutable() } else { variable });
        name
    }

    pub(super) fn declaration(&mut self) -> Tree {
        match self.random.below(14) {
            0..3 => {
                let number = self.number(3);
                let bound = number.bound;
                let number = number.typed().tree();
                let name = self.bind(bound, false);
                Tree::statement(&format!("let {name} = $;"), [number])
            }
            3..5 => {
                let number = self.free_value().tree();
                let name = self.bind(4.0, false);
                Tree::statement(&format!("let {name} = $;"), [number])
            }
            5..9 => {
                let number = self.moderate(2);
                let (number, typed) = (number.typed().tree(), self.random.pick(&["", "", ": f64"]));
                let name = self.bind(f64::INFINITY, true);
                Tree::statement(&format!("let mut {name}{typed} = $;"), [number])
            }
            9 => {
                let numbers =
                    [self.moderate(2).typed(), self.moderate(2).typed()].map(|number| number.tree());
                let a = self.bind(f64::INFINITY, true);
                let b = loop {
                    let b = self.name(&Type::Number);
                    if b != a {
                        break b;
                    }
                };
                self.scope.push(Variable::new(&b, Type::Number).bounded(4.0));
                Tree::statement(&format!("let (mut {a}, {b}) = ($, $);"), numbers)
            }
            10 => {
                let name = self.name(&Type::Number);
                let (condition, a, b) =
                    self.beneath(&name, |g| (g.condition(2), g.moderate(2).tree(), g.moderate(2).tree()));
                self.scope.push(Variable::new(&name, Type::Number).bounded(4.0));
                Tree::statement(
                    &format!("let {name}: f64; if $ {{ {name} = $; }} else {{ {name} = $; }}"),
                    [condition, a, b],
                )
            }
            11 => {
                let condition = self.condition(2);
                let name = self.random.pick(&["flag", "hot", "taken"]);
                self.scope.push(Variable::new(name, Type::Flag));
                Tree::statement(&format!("let {name} = $;"), [condition])
            }
            12 => {
                let numbers =
                    [self.moderate(2).typed(), self.moderate(2).typed()].map(|number| number.tree());
                let name = self.random.pick(&["p", "q", "d"]);
                self.scope.push(Variable::new(name, Type::Pair).mutable());
                Tree::statement(&format!("let mut {name} = ($, $);"), numbers)
            }
            _ => match self.some(|v| matches!(v.of, Type::Sequence(..))) {
                Some(Variable { name: of, of: Type::Sequence(_, length), .. }) => {
                    let index = self.index_into(&of, length);
                    let index = index.unwrap_or_else(|| Tree::new(Kind::Index, "0", []));
                    let name = self.name(&Type::Index(Below::default()));
                    let below = Below { class: Some(length.class), before: 0, after: 0 };
                    self.scope.push(Variable::new(&name, Type::Index(below)));
                    Tree::statement(&format!("let {name} = $;"), [index])
                }
                _ => self.write(),
            },
        }
    }

    /// A way out of the function or of a loop, under a condition.
    fn exit(&mut self) -> Tree {
        if !self.context.exits {
            return self.write();
        }
        let condition = self.condition(2);
        let leaving = self.leaving();
        match self.random.below(4) {
            0 => {
                let before = self.within(|_| (), |g| g.write());
                Tree::statement("if $ { $ $ }", [condition, before, leaving])
            }
            1 => {
                let (value, otherwise) = (self.moderate(2).typed().tree(), leaving);
                let name = self.bind(4.0, false);
                Tree::statement(
                    &format!("let {name} = if $ {{ $ }} else {{ $ }};"),
                    [condition, value, otherwise],
                )
            }
            _ => Tree::statement("if $ { $ }", [condition, leaving]),
        }
    }

    /// `return`, `break` or `continue`.
    pub(super) fn leaving(&mut self) -> Tree {
        let leaves = self.context.leaves.clone();
        if !leaves.is_empty() && self.chance(70) {
            let inner = leaves.len() - 1;
            let which = if self.chance(70) { inner } else { self.random.below(leaves.len()) };
            let Leave { label, value, again, block } = &leaves[which];
            if which == inner || label.is_some() {
                let label = match label {
                    Some(label) if which != inner || *block || self.chance(50) => format!(" {label}"),
                    _ => String::new(),
                };
                if *again && self.chance(50) {
                    return Tree::fixed(&format!("continue{label};"));
                }
                if !value {
                    return Tree::fixed(&format!("break{label};"));
                }
                let value = self.moderate(2).typed().tree();
                return Tree::new(Kind::Fixed, &format!("break{label} ($);"), [value]);
            }
        }
        let nothing = self.chance(40);
        match self.context.returns {
            Returns::Nothing => Tree::fixed("return;"),
            Returns::Option if nothing => Tree::fixed("return None;"),
            _ => {
                let value = self.returned(2);
                Tree::new(Kind::Fixed, "return $;", [value])
            }
        }
    }
}

/// Statements between braces.
pub(super) fn braced(statements: Vec<Tree>) -> Tree {
    let inner = Tree::lines(Kind::Fixed, statements);
    Tree::new(Kind::Block, "{ $ }", [inner])
}

/// Statements and a value.
pub(super) fn valued(statements: Vec<Tree>, value: Tree) -> Tree {
    let inner = Tree::lines(Kind::Fixed, statements);
    Tree::new(Kind::Fixed, "{ $ $ }", [inner, value])
}
