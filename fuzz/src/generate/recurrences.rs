//! Loops that hand numbers on from one iteration to the next.

use super::Generator;
use super::scope::{Below, Length, Type, Variable};
use super::statements::braced;
use super::tree::{Kind, Tree};

impl Generator {
    /// Some numbers, and a loop over a sequence that makes each of all.
    ///
    /// Derivatives stay moderate over many iterations: what a number is changed by is small, or does not depend on what is handed on.
    pub(super) fn recurrence(&mut self) -> Tree {
        let sequence = self.sequence().filter(|(sequence, _)| !sequence.grows);
        let Some((sequence, length)) = sequence.filter(|_| self.context.times < 5) else {
            return self.write();
        };
        let mut taken = vec![sequence.name.clone()];
        let mut lines = Vec::new();
        let summed = self.chance(60);
        for _ in 0..usize::from(summed) + 1 + self.random.below(3) {
            let first = self.moderate(1).typed().tree();
            let name = self.untaken(&taken, &Type::Number);
            self.scope.push(Variable::new(&name, Type::Number).mutable());
            lines.push(Tree::statement(&format!("let mut {name} = $;"), [first]));
            taken.push(name);
        }
        let i = self.untaken(&taken, &Type::Index(Below::default()));
        let (sum, numbers) = taken[1..].split_at(usize::from(summed));
        let (range, before, after) = self.random.pick(&[
            ("0..#.len()", 0, 0),
            ("1..#.len()", 1, 0),
            ("0..#.len() - 1", 0, 1),
            ("(0..#.len()).rev()", 0, 0),
            ("(1..#.len()).rev()", 1, 0),
        ]);
        let often = self.often();
        let body = self.within(
            |context| {
                context.times *= often;
                (context.exits, context.leaves, context.formulas) = (false, Vec::new(), true);
            },
            |g| {
                g.push_index(&i, length, before, after);
                braced(g.step(&i, numbers, sum.first(), length))
            },
        );
        let head = format!("for {i} in {} $", range.replace('#', &sequence.name));
        lines.push(Tree::statement(&head, [body]));
        Tree::lines(Kind::Fixed, lines)
    }

    /// A name that is none of those.
    fn untaken(&mut self, taken: &[String], of: &Type) -> String {
        loop {
            let name = self.name(of);
            if !taken.contains(&name) {
                return name;
            }
        }
    }

    /// An iteration.
    fn step(&mut self, i: &str, numbers: &[String], sum: Option<&String>, length: Length) -> Vec<Tree> {
        let mut statements = Vec::new();
        if let Some(sum) = sum {
            self.scope.change(sum, |sum| sum.hidden = true);
        }
        let first = self.chance(30);
        statements.extend(sum.filter(|_| first).map(|sum| self.summing(sum)));
        for _ in 0..self.random.below(4) {
            let depth = 2 + self.random.below(3);
            let value = self.moderate(depth).typed().tree();
            // What is handed on is not hidden by what is the iteration's own.
            let taken: Vec<_> = sum.into_iter().chain(numbers).cloned().chain([i.into()]).collect();
            let name = self.untaken(&taken, &Type::Number);
            self.scope.push(Variable::new(&name, Type::Number).bounded(4.0));
            statements.push(Tree::statement(&format!("let {name} = $;"), [value]));
        }
        for name in numbers {
            for _ in 0..1 + usize::from(self.chance(25)) {
                statements.push(self.handing_on(name, numbers));
            }
        }
        statements.extend(sum.filter(|_| !first).map(|sum| self.summing(sum)));
        if self.chance(40) {
            statements.extend(self.contribution(i, length));
        }
        statements
    }

    fn summing(&mut self, sum: &str) -> Tree {
        let value = self.moderate(3).receiver();
        let text = self.random.pick(&["# += $;", "# -= 0.3 * $;", "# += $ * 0.7;"]);
        Tree::statement(&text.replace('#', sum), [value])
    }

    /// What makes the next `name`.
    fn handing_on(&mut self, name: &str, numbers: &[String]) -> Tree {
        let depth = 1 + self.random.below(4);
        let value = self.moderate(depth).receiver();
        match self.random.below(9) {
            0 | 1 => Tree::statement(&format!("{name} += 0.02 * $;"), [value]),
            2 => Tree::statement(&format!("{name} -= $ * 0.03;"), [value]),
            3 | 4 => Tree::statement(&format!("{name} = 0.9 * {name} + 0.05 * $;"), [value]),
            5 => Tree::statement(&format!("{name} *= 1.0 - 0.02 * $;"), [value]),
            6 => {
                let other = self.random.pick(numbers);
                let text =
                    format!("{name} = ({name} + 0.02 * {other} * $) / (1.0 + 0.01 * {other} * {other});");
                Tree::statement(&text, [value])
            }
            7 if numbers.len() > 1 && numbers[0] != name => {
                let (first, other) = (&numbers[0], self.moderate(2).receiver());
                let text =
                    format!("({first}, {name}) = ({name} * 0.8 + 0.05 * $, 0.9 * {first} - 0.05 * $);");
                Tree::statement(&text, [value, other])
            }
            _ => {
                let locks = self.scope.locks();
                // What is made of them is of the last iteration as well.
                let first = self.scope.position(&numbers[0]);
                self.scope.hide_from(first);
                let value = self.moderate(2).tree();
                self.scope.unlock(&locks);
                Tree::statement(&format!("{name} = $;"), [value])
            }
        }
    }

    /// What the iteration leaves in an element.
    fn contribution(&mut self, i: &str, length: Length) -> Option<Tree> {
        let to = self.some_writable(|v| matches!(v.of, Type::Sequence(_, of) if of.class == length.class))?;
        let value = self.moderate(3).tree();
        let op = self.random.pick(&["=", "+=", "-="]);
        Some(Tree::statement(&format!("{}[{i}] {op} $;", to.name), [value]))
    }
}
