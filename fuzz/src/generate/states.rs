//! Constants that change on the way: counts, cells, collections, and dice.

use super::Generator;
use super::scope::{Below, Type, Variable};
use super::tree::{Kind, Tree};

/// What counts, and is no number with a gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum State {
    /// `usize`
    Count,
    /// `Cell<usize>`
    Cell,
    /// `HashMap<usize, usize>`
    Map,
    /// `Vec<usize>`
    Stack,
    /// What `&mut self` throws.
    Dice,
    /// The same behind a shared reference.
    Cup,
}

impl State {
    /// It changes behind a shared reference.
    pub(crate) fn is_shared(self) -> bool {
        matches!(self, State::Cell | State::Cup)
    }
}

impl Generator {
    fn some_state(&mut self, writable: bool) -> Option<(String, State)> {
        if !self.states {
            return None;
        }
        let steady = self.context.steady;
        let such = |v: &Variable| match v.of {
            Type::State(state) => !(steady && state.is_shared()),
            _ => false,
        };
        let state = if writable { self.some_writable(such) } else { self.some(such) }?;
        let Variable { name, of: Type::State(of), .. } = state else { unreachable!("as above") };
        Some((name, of))
    }

    /// An integer that some state has at present.
    pub(super) fn integer(&mut self) -> Option<String> {
        let (name, state) = self.some_state(false)?;
        self.integer_of(&name, state)
    }

    pub(super) fn integer_of(&mut self, name: &str, state: State) -> Option<String> {
        if self.context.steady && state.is_shared() {
            return None;
        }
        let key = self.random.below(4);
        Some(match state {
            State::Count => name.into(),
            State::Cell => format!("{name}.get()"),
            State::Map => match self.random.below(3) {
                0 => format!("{name}.len()"),
                1 => format!("{name}.get(&{key}).copied().unwrap_or(3)"),
                _ => format!("(if {name}.contains_key(&{key}) {{ 1 }} else {{ 2 }})"),
            },
            State::Stack => match self.random.below(4) {
                0 => format!("{name}.len()"),
                1 => format!("{name}.last().copied().unwrap_or(2)"),
                2 => format!("{name}.iter().sum::<usize>()"),
                _ => format!("{name}.get({key}).map_or(0, |k| k + 1)"),
            },
            State::Dice => {
                let may_throw = self.some_writable(|v| v.name == name).is_some();
                return may_throw.then(|| format!("{name}.throw()"));
            }
            State::Cup => format!("{name}.throw()"),
        })
    }

    /// An integer less than `limit`.
    fn small(&mut self, limit: usize) -> Tree {
        let index = self.some(|v| matches!(v.of, Type::Index(_)));
        let text = match (self.integer(), index) {
            (Some(integer), _) if self.chance(50) => format!("{integer} % {limit}"),
            (_, Some(index)) if self.chance(60) => format!("{} % {limit}", index.name),
            _ => self.random.below(limit).to_string(),
        };
        Tree::new(Kind::Index, &text, [])
    }

    /// Declares one, or changes one.
    pub(super) fn state_statement(&mut self) -> Tree {
        if self.chance(30) {
            return self.state_declaration();
        }
        match self.some_state(true) {
            Some((name, state)) => self.state_write(&name, state),
            None => self.state_declaration(),
        }
    }

    fn state_declaration(&mut self) -> Tree {
        let state = self.random.pick(&[
            State::Count,
            State::Count,
            State::Cell,
            State::Map,
            State::Stack,
            State::Dice,
            State::Cup,
        ]);
        let name = self.random.pick(&["k", "n", "seen", "left", "steps", "state"]);
        let start = self.small(5);
        let (mutable, text) = match state {
            State::Count => ("mut ", "$ + 0_usize"),
            State::Cell => ("", "std::cell::Cell::new($ + 0_usize)"),
            State::Map => ("mut ", "std::collections::HashMap::<usize, usize>::from([($, 2)])"),
            State::Stack => ("mut ", "vec![$, 1_usize]"),
            State::Dice => ("mut ", "Dice($)"),
            State::Cup => ("", "Cup(std::cell::Cell::new($))"),
        };
        self.scope.push(Variable::new(name, Type::State(state)).mutable());
        Tree::statement(&format!("let {mutable}{name} = {text};"), [start])
    }

    fn state_write(&mut self, name: &str, state: State) -> Tree {
        match state {
            State::Count => {
                let amount = self.small(4);
                let text = self.random.pick(&["# += $;", "# = (3 * # + $) % 11;", "# = $;", "# /= $ + 1;"]);
                Tree::statement(&text.replace('#', name), [amount])
            }
            State::Cell => {
                let value = self.small(7);
                let text = self.random.pick(&[
                    "#.set($);",
                    "#.set((#.get() * 3 + $) % 11);",
                    "#.replace($);",
                    "#.update(|k| (k + $) % 9);",
                ]);
                Tree::statement(&text.replace('#', name), [value])
            }
            State::Map => self.map_write(name),
            State::Stack => self.stack_write(name),
            State::Dice | State::Cup => Tree::statement(&format!("{name}.throw();"), []),
        }
    }

    fn map_write(&mut self, name: &str) -> Tree {
        let locks = self.scope.locks();
        self.scope.change(name, |map| map.hidden = true);
        let (key, value) = (self.small(4), self.small(6));
        self.scope.unlock(&locks);
        let text = self.random.pick(&[
            "*#.entry($).or_insert(1) += $;",
            "#.insert($, $);",
            "if let Some(held) = #.get_mut(&($)) { *held += $; }",
            "if #.remove(&($)).is_none() { #.insert(0, $); }",
            "let held = #.entry($).or_default(); *held = (*held + $) % 7;",
        ]);
        Tree::statement(&text.replace('#', name), [key, value])
    }

    fn stack_write(&mut self, name: &str) -> Tree {
        let index = self.name(&Type::Index(Below::default()));
        let walk = |g: &mut Self, head: &str| {
            let head = head.replace('@', &index).replace('#', name);
            g.looped(&head, vec![], "", |g| {
                g.scope.change(name, |stack| stack.hidden = true);
                g.scope.push(Variable::new(&index, Type::Index(Below::default())));
            })
        };
        match self.random.below(8) {
            0..3 => {
                let value = self.small(6);
                Tree::statement(&format!("{name}.push($);"), [value])
            }
            3 => walk(self, "for &@ in #.iter().take(4)"),
            4 => {
                let head = self
                    .random
                    .pick(&["for @ in #.clone().into_iter().take(3)", "while let Some(@) = #.pop()"]);
                walk(self, head)
            }
            5 => {
                let block = self.within(
                    |_| (),
                    |g| {
                        g.scope.push(Variable::new(&index, Type::Index(Below::default())));
                        g.open_block(3)
                    },
                );
                Tree::statement(&format!("if let Some({index}) = {name}.pop() $"), [block])
            }
            6 => {
                let text = self.random.pick(&["reverse", "sort", "clear", "pop", "dedup"]);
                Tree::statement(&format!("{name}.{text}();"), [])
            }
            _ => {
                self.scope.push(Variable::new(&index, Type::Index(Below::default())));
                Tree::statement(&format!("let {index} = {name}.pop().unwrap_or(2);"), [])
            }
        }
    }
}
