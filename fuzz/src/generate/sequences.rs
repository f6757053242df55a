//! Arrays, vectors and rows that are made.

use super::Generator;
use super::scope::{Holder, Length, Type, Variable};
use super::tree::{Kind, Tree};

/// The class of arrays, which are all of three numbers.
pub(super) const ARRAYS: Length = Length { class: 0, least: 3 };

impl Generator {
    /// Any sequence that can be read.
    pub(super) fn sequence(&mut self) -> Option<(Variable, Length)> {
        let variable = self.some(|v| matches!(v.of, Type::Sequence(..)))?;
        let Type::Sequence(_, length) = variable.of else { return None };
        Some((variable, length))
    }

    /// The length of a sequence that is made of this one.
    pub(super) fn length_like(&mut self, variable: &Variable, length: Length) -> Length {
        if variable.grows { self.length(length.least) } else { length }
    }

    fn bind_sequence(&mut self, holder: Holder, length: Length, mutable: bool) -> String {
        let of = Type::Sequence(holder, length);
        let name = self.name(&of);
        let variable = Variable::new(&name, of);
        self.scope.push(if mutable { variable.mutable() } else { variable });
        name
    }

    pub(super) fn sequence_declaration(&mut self) -> Tree {
        let like = self.sequence();
        match (self.random.below(12), like) {
            (0 | 1, Some((like, length))) => {
                let value = self.moderate(2).typed().tree();
                let length = self.length_like(&like, length);
                let name = self.bind_sequence(Holder::Vector, length, true);
                Tree::statement(&format!("let mut {name} = vec![$; {}.len()];", like.name), [value])
            }
            (2 | 3, Some((like, length))) => {
                let length = self.length_like(&like, length);
                let name = self.bind_sequence(Holder::Vector, length, true);
                Tree::statement(&format!("let mut {name} = {}.to_vec();", like.name), [])
            }
            (4, Some((like, length))) if length.least > 1 => {
                self.scope.change(&like.name, |v| v.frozen = true);
                let shorter = self.length(length.least - 1);
                let name = self.bind_sequence(Holder::Slice, shorter, false);
                let part =
                    self.random.pick(&["1..", "..#.len() - 1", "1..=#.len() - 1"]).replace('#', &like.name);
                Tree::statement(&format!("let {name} = &{}[{part}];", like.name), [])
            }
            (5, Some((like, length))) if !like.grows => {
                let value = self.literal().typed().tree();
                let two = self.length(2);
                let of = Type::Rows(Holder::Vector, two, length);
                let name = self.name(&of);
                let text = format!("let mut {name} = vec![vec![$; {}.len()]; 2];", like.name);
                self.scope.push(Variable::new(&name, of).mutable());
                Tree::statement(&text, [value])
            }
            (6, Some((like, length))) if !like.grows && like.name != "rows" => {
                let name = String::from("rows");
                let (first, second) = self.beneath(&name, |g| (g.moderate(1), g.moderate(1)));
                let two = self.length(2);
                let of = Type::Rows(Holder::Vector, two, length);
                let text = format!(
                    "let mut {name} = Vec::new(); {name}.push(vec![$; {0}.len()]); {name}.push({0}.iter().map(|e| e * $).collect());",
                    like.name
                );
                self.scope.push(Variable::new(&name, of).mutable());
                Tree::statement(&text, [first.typed().tree(), second.receiver()])
            }
            (7, _) => {
                let of = Type::Sequence(Holder::Vector, self.length(2));
                let name = self.name(&of);
                let numbers = self.beneath(&name, |g| [g.moderate(1), g.moderate(1)]);
                self.scope.push(Variable { grows: true, ..Variable::new(&name, of).mutable() });
                let text = format!("let mut {name} = Vec::new(); {name}.push($); {name}.push($);");
                Tree::statement(&text, numbers.map(|number| number.typed().tree()))
            }
            (8, Some((like, length))) => {
                let of = Type::Sequence(Holder::Vector, self.length(length.least));
                let (name, i) = (self.name(&of), self.name(&Type::Index(Default::default())));
                if name == like.name {
                    return self.write();
                }
                let often = self.often();
                let value = self.beneath(&name, |g| {
                    g.within(
                        |context| context.times *= often,
                        |g| {
                            g.push_index(&i, length, 0, 0);
                            g.moderate(2).typed().tree()
                        },
                    )
                });
                self.scope.push(Variable { grows: true, ..Variable::new(&name, of).mutable() });
                let text = format!(
                    "let mut {name} = Vec::with_capacity({0}.len()); for {i} in 0..{0}.len() {{ {name}.push($); }}",
                    like.name
                );
                Tree::statement(&text, [value])
            }
            _ => {
                let text = if self.chance(70) { "[$, $, $]" } else { "[$; 3]" };
                let numbers: Vec<_> = text.matches('$').map(|_| self.moderate(2).typed().tree()).collect();
                let array = Tree::new(Kind::Fixed, text, numbers);
                let name = self.bind_sequence(Holder::Array, ARRAYS, true);
                Tree::statement(&format!("let mut {name} = $;"), [array])
            }
        }
    }
}
