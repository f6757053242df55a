//! Conditions, and indices.

use super::Generator;
use super::scope::{Below, Length, Type, Variable};
use super::tree::{Kind, Tree};

impl Generator {
    pub(super) fn condition(&mut self, depth: usize) -> Tree {
        let plain = std::mem::replace(&mut self.context.plain, true);
        let condition = self.any_condition(depth);
        self.context.plain = plain;
        condition
    }

    fn any_condition(&mut self, depth: usize) -> Tree {
        if depth > 0 && self.chance(20) {
            let parts = [self.condition(depth - 1), self.condition(depth - 1)];
            return Tree::new(
                Kind::Condition,
                self.random.pick(&["($ && $)", "($ || $)", "($ && !$)"]),
                parts,
            );
        }
        if self.states
            && self.chance(25)
            && let Some(integer) = self.integer()
        {
            let text =
                self.random.pick(&["(# % 3 == 1)", "(# > 2)", "matches!(# % 4, 0 | 3)", "(# % 2 != 0)"]);
            return Tree::new(Kind::Condition, &text.replace('#', &integer), []);
        }
        if self.chance(45)
            && let Some(constant) = self.constant_condition()
        {
            return constant;
        }
        let (a, limit) = (self.number(depth.min(2)), self.literal());
        match self.random.below(5) {
            0 => {
                let b = self.number(depth.min(1));
                Tree::new(Kind::Condition, "($ > $)", [a.operand(), b.operand()])
            }
            1 => Tree::new(Kind::Condition, "($.abs() < $)", [a.receiver(), limit.operand()]),
            2 => Tree::new(Kind::Condition, "(0.12..0.79).contains(&$)", [a.receiver()]),
            _ => {
                let template = self.random.pick(&["($ > $)", "($ < $)", "($ >= $)"]);
                Tree::new(Kind::Condition, template, [a.operand(), limit.operand()])
            }
        }
    }

    /// One that no gradient passes through.
    fn constant_condition(&mut self) -> Option<Tree> {
        let variable = self.some(|v| matches!(v.of, Type::Index(_) | Type::Flag | Type::Sequence(..)))?;
        let (name, k) = (&variable.name, self.random.below(4));
        let text = match variable.of {
            Type::Flag => self.random.pick(&["$", "!$"]).replace('$', name),
            Type::Sequence(..) => format!("({name}.len() > {})", k + 1),
            _ => match self.random.below(5) {
                0 => format!("({name} % 2 == {})", k % 2),
                1 => format!("({name} > {k})"),
                2 => format!("matches!({name} % 4, 0 | 3)"),
                3 => format!("({name} != {k})"),
                _ => match self.some(|v| matches!(v.of, Type::Index(_))) {
                    Some(other) => format!("({name} <= {})", other.name),
                    None => format!("({name} == {k})"),
                },
            },
        };
        Some(Tree::new(Kind::Condition, &text, []))
    }

    /// An index of an element of what is called `name`.
    pub(super) fn index_into(&mut self, name: &str, length: Length) -> Option<Tree> {
        if length.least == 0 {
            return None;
        }
        let index = |text: &str| Some(Tree::new(Kind::Index, text, []));
        let within = |v: &Variable| matches!(v.of, Type::Index(below) if below.class == Some(length.class));
        if self.chance(70)
            && let Some(Variable { name: i, of: Type::Index(Below { before, after, .. }), .. }) =
                self.some(within)
        {
            return match self.random.below(5) {
                0 if before > 0 => index(&format!("{i} - 1")),
                1 if after > 0 => index(&format!("{i} + 1")),
                2 if after == 0 && before == 0 => index(&format!("{name}.len() - 1 - {i}")),
                3 => index(&format!("({i} + 1) % {name}.len()")),
                _ => index(&i),
            };
        }
        if self.states
            && self.chance(35)
            && let Some(integer) = self.integer()
        {
            return index(&format!("{integer} % {name}.len()"));
        }
        match self.random.below(6) {
            0..2 => index(&self.random.below(length.least).to_string()),
            2 => index(&format!("{name}.len() - 1")),
            3 => {
                let number =
                    self.within(|context| (context.calls, context.plain) = (false, true), |g| g.number(1));
                let template = format!("($.abs() * 3.3) as usize % {name}.len()");
                Some(Tree::new(Kind::Index, &template, [number.receiver()]))
            }
            _ => match self.some(|v| matches!(v.of, Type::Index(_))) {
                Some(i) => {
                    let template =
                        self.random.pick(&["$ % #.len()", "($ + 1) % #.len()", "(2 * $ + 1) % #.len()"]);
                    index(&template.replace('$', &i.name).replace('#', name))
                }
                None => index("0"),
            },
        }
    }

    /// An expression for a small count.
    pub(super) fn count(&mut self) -> Tree {
        if self.states
            && self.chance(40)
            && let Some(integer) = self.integer()
        {
            return Tree::new(Kind::Index, &format!("{integer} % 4"), []);
        }
        let counts = |v: &Variable| matches!(v.of, Type::Index(_));
        match self.some(counts) {
            Some(i) if self.chance(40) => Tree::new(Kind::Index, &format!("{} % 4", i.name), []),
            _ => Tree::new(Kind::Index, &self.random.below(4).to_string(), []),
        }
    }
}
