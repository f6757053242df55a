//! Statements that write: to variables, elements and fields.

use super::Generator;
use super::scope::{Holder, Length, Type, Variable};
use super::tree::{Kind, Tree};

impl Generator {
    pub(super) fn write(&mut self) -> Tree {
        match self.random.below(10) {
            0 => self.exchange(),
            1..4 => self.rearrange(),
            _ => self.assign(),
        }
    }

    /// Something that holds a number and can be assigned to.
    fn place(&mut self) -> Option<Tree> {
        let variable = self.some_writable(|v| {
            !matches!(v.of, Type::NumberRef | Type::Index(_) | Type::Flag | Type::Closure(_) | Type::State(_))
        })?;
        let Variable { name, of, .. } = &variable;
        let place = |text: &str, parts: Vec<Tree>| Some(Tree::new(Kind::Fixed, text, parts));
        match of {
            Type::NumberMut => place(&format!("*{name}"), vec![]),
            Type::Pair => place(&format!("{name}.{}", self.random.below(2)), vec![]),
            Type::Body => {
                let field = self.random.pick(&["mass", "speed", "at[0]", "at[1]"]);
                place(&format!("{name}.{field}"), vec![])
            }
            // What is written to by `IndexMut` is not mentioned in the index.
            Type::Sequence(Holder::Vector, length) => {
                place(&format!("{name}[{}]", self.simple_index(*length)), vec![])
            }
            Type::Sequence(_, length) => {
                let index = self.index_into(name, *length)?;
                place(&format!("{name}[$]"), vec![index])
            }
            Type::Rows(_, length, of_each) => {
                let index = self.simple_index(*length);
                let within = self.simple_index(*of_each);
                place(&format!("{name}[{index}][{within}]"), vec![])
            }
            _ => place(name, vec![]),
        }
    }

    /// `place = …`, `place += …` and the like. What is added up is moderate, and factors are not larger than one.
    pub(super) fn assign(&mut self) -> Tree {
        let Some(place) = self.place() else { return self.declaration() };
        let form = self.random.below(10);
        match form {
            0..3 => {
                let value = self.moderate(3).tree();
                Tree::statement("$ = $;", [place, value])
            }
            3..6 => {
                let value = self.moderate(3).tree();
                Tree::statement(self.random.pick(&["$ += $;", "$ -= $;"]), [place, value])
            }
            6 => {
                let factor = self.number(2);
                let factor = self.within_bound(factor, 1.0).tree();
                Tree::statement("$ *= $;", [place, factor])
            }
            7 => {
                let divisor = self.number(1).receiver();
                Tree::statement("$ /= 1.2 + $.powi(2);", [place, divisor])
            }
            8 => {
                let (same, value) = (place.clone(), self.moderate(2).receiver());
                Tree::statement("$ = 0.6 * $ + $;", [place, same, value])
            }
            _ => {
                let (same, value) = (place.clone(), self.moderate(2).receiver());
                Tree::statement("$ = ($ * $).sin();", [place, same, value])
            }
        }
    }

    /// An index without mention of a sequence.
    pub(super) fn simple_index(&mut self, length: Length) -> String {
        let within = |v: &Variable| matches!(v.of, Type::Index(below) if below.class == Some(length.class));
        match self.some(within) {
            Some(i) if self.chance(70) => i.name,
            _ => self.random.below(length.least.max(1)).to_string(),
        }
    }

    /// `std::mem::swap` and `replace` of numbers.
    fn exchange(&mut self) -> Tree {
        let numbers = |v: &Variable| matches!(v.of, Type::Number);
        let Some(a) = self.some_writable(numbers) else { return self.assign() };
        let b = self.some_writable(|v| v.of == Type::Number && v.name != a.name);
        match b {
            Some(b) if self.chance(50) => {
                Tree::statement(&format!("std::mem::swap(&mut {}, &mut {});", a.name, b.name), [])
            }
            _ => {
                let locks = self.scope.locks();
                self.scope.change(&a.name, |a| a.hidden = true);
                let value = self.moderate(2).tree();
                self.scope.unlock(&locks);
                let name = self.bind(f64::INFINITY, false);
                Tree::statement(&format!("let {name} = std::mem::replace(&mut {}, $);", a.name), [value])
            }
        }
    }

    /// Elements change places, or many are written at once.
    fn rearrange(&mut self) -> Tree {
        let sequence = self.some_writable(|v| matches!(v.of, Type::Sequence(..)));
        let Some(Variable { name, of: Type::Sequence(holder, length), grows, .. }) = sequence else {
            return self.rearrange_rows();
        };
        let locks = self.scope.locks();
        self.scope.change(&name, |v| v.hidden = true);
        let other = self.some(|v| matches!(v.of, Type::Sequence(_, of) if of.class == length.class));
        let value = self.moderate(2).typed().tree();
        self.scope.unlock(&locks);
        let (i, j) = (self.simple_index(length), self.simple_index(length));
        match (self.random.below(10), other) {
            (0 | 1, _) => Tree::statement(&format!("{name}.swap({i}, {j});"), []),
            (2, _) => Tree::statement(&format!("{name}.fill($);"), [value]),
            (3, _) => {
                let method = self.random.pick(&["reverse()", "sort_by(f64::total_cmp)"]);
                let method = if self.dual { "reverse()" } else { method };
                Tree::statement(&format!("{name}.{method};"), [])
            }
            (4, _) => {
                let method = self.random.pick(&["rotate_left", "rotate_right"]);
                Tree::statement(&format!("{name}.{method}(1);"), [])
            }
            (5, _) => Tree::statement(&format!("{name}[{i}..].fill($);"), [value]),
            (6, Some(other)) => Tree::statement(&format!("{name}.copy_from_slice(&{}[..]);", other.name), []),
            (7, Some(other))
                if holder == Holder::Vector && is_vector(&other) && self.scope.may_write(&other) =>
            {
                Tree::statement(&format!("std::mem::swap(&mut {name}, &mut {});", other.name), [])
            }
            (7, _) if length.least > 1 => Tree::statement(&format!("{name}.copy_within(1..2, 0);"), []),
            (8, _) if grows => Tree::statement(&format!("{name}.push($);"), [value]),
            (9, _) if grows && !self.scope.is_walked(length.class) => {
                let least = length.least;
                let bound = self.name(&Type::Number);
                if self.chance(50) {
                    Tree::statement(&format!("if {name}.len() > {least} {{ {name}.pop(); }}"), [])
                } else {
                    let inner = self.within(
                        |_| (),
                        |g| {
                            g.scope.push(Variable::new(&bound, Type::Number));
                            g.write()
                        },
                    );
                    Tree::statement(
                        &format!("if {name}.len() > {least} && let Some({bound}) = {name}.pop() {{ $ }}"),
                        [inner],
                    )
                }
            }
            _ => self.assign(),
        }
    }

    fn rearrange_rows(&mut self) -> Tree {
        let rows = self.some_writable(|v| matches!(v.of, Type::Rows(Holder::Vector, ..)));
        let Some(Variable { name, of: Type::Rows(_, length, of_each), .. }) = rows else {
            return self.assign();
        };
        let (i, j) = (self.simple_index(length), self.simple_index(length));
        let row =
            self.some(|v| is_vector(v) && matches!(v.of, Type::Sequence(_, of) if of.class == of_each.class));
        match (self.random.below(4), row) {
            (0, _) => Tree::statement(&format!("{name}.swap({i}, {j});"), []),
            (1, Some(row)) => Tree::statement(&format!("{name}[{i}] = {}.clone();", row.name), []),
            (2, Some(row)) if self.scope.may_write(&row) => {
                Tree::statement(&format!("std::mem::swap(&mut {name}[{i}], &mut {});", row.name), [])
            }
            _ => Tree::statement(&format!("{name}[{i}].reverse();"), []),
        }
    }
}

fn is_vector(variable: &Variable) -> bool {
    matches!(variable.of, Type::Sequence(Holder::Vector, _)) && !variable.grows
}
