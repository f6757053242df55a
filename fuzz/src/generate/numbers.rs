//! Expressions whose values are numbers.

use super::scope::{Type, Variable};
use super::tree::{Kind, Piece, Tree};
use super::{Generator, Returns};

/// How tightly an expression binds.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    /// `if`, `match` and the like, and sums.
    Sum,
    Product,
    Atom,
}

/// An expression.
pub(super) struct Number {
    tree: Tree,
    level: Level,
    /// Its value is not larger than this.
    pub(super) bound: f64,
    /// Its type shows without what is around it.
    typed: bool,
}

/// What may be assigned to variables is not larger than this.
pub(super) const MODERATE: f64 = 4.0;

impl Number {
    fn new(template: &str, parts: impl IntoIterator<Item = Tree>, bound: f64) -> Self {
        Number { tree: Tree::new(Kind::Number, template, parts), level: Level::Atom, bound, typed: true }
    }

    /// An expression that is no operation, with what it is made of.
    pub(super) fn atom(template: &str, parts: impl IntoIterator<Item = Tree>, bound: f64) -> Self {
        Number::new(template, parts, bound)
    }

    /// One that begins with `if`, `match`, `loop` or a brace.
    pub(super) fn statement(template: &str, parts: impl IntoIterator<Item = Tree>, bound: f64) -> Self {
        Number { level: Level::Sum, ..Number::new(template, parts, bound) }
    }

    pub(super) fn tree(self) -> Tree {
        self.tree
    }

    fn at_least(self, level: Level) -> Tree {
        if self.level >= level { self.tree } else { Tree::new(Kind::Number, "($)", [self.tree]) }
    }

    /// On either side of a comparison.
    pub(super) fn operand(self) -> Tree {
        self.at_least(Level::Product)
    }

    /// As the receiver of a method, or in front of an index.
    pub(super) fn receiver(self) -> Tree {
        self.typed().at_least(Level::Atom)
    }

    /// With a type that shows: what has none is a literal.
    pub(super) fn typed(mut self) -> Self {
        if !self.typed {
            self.tree.pieces.push(Piece::Text("_f64".into()));
        }
        Number { typed: true, ..self }
    }
}

impl Generator {
    pub(super) fn literal(&mut self) -> Number {
        let hundredths = 5 + self.random.below(140);
        let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
        let bound = hundredths as f64 / 100.0;
        if self.chance(15) {
            Number { typed: false, level: Level::Product, ..Number::new(&format!("-{text}"), [], bound) }
        } else if self.chance(20) {
            Number::new(&format!("{text}_f64"), [], bound)
        } else {
            Number { typed: false, ..Number::new(&text, [], bound) }
        }
    }

    /// Something simple, of any size.
    fn leaf(&mut self) -> Number {
        let readable = |v: &Variable| !matches!(v.of, Type::Flag | Type::Closure(_));
        for _ in 0..3 {
            let variable = if self.chance(50) { self.latest(readable) } else { self.some(readable) };
            let Some(variable) = variable else { break };
            if let Some(number) = self.part_of(&variable) {
                return number;
            }
        }
        self.literal()
    }

    /// A number that is a part of `variable`.
    pub(super) fn part_of(&mut self, variable: &Variable) -> Option<Number> {
        let Variable { name, of, bound, .. } = variable;
        Some(match of {
            Type::Number => Number::new(name, [], *bound),
            Type::NumberRef | Type::NumberMut => Number::new(&format!("(*{name})"), [], *bound),
            Type::Index(_) if self.chance(40) => {
                let scale = if self.long { "0.01" } else { "0.1" };
                Number::new(&format!("({name} as f64 * {scale})"), [], 1.0)
            }
            Type::Pair => Number::new(&format!("{name}.{}", self.random.below(2)), [], *bound),
            Type::Body => {
                let field = self.random.pick(&["mass", "speed", "at[0]", "at[1]"]);
                Number::new(&format!("{name}.{field}"), [], *bound)
            }
            Type::Sequence(_, length) => {
                let index = self.index_into(name, *length)?;
                Number::new(&format!("{name}[$]"), [index], *bound)
            }
            Type::Rows(_, length, of_each) => {
                let index = self.index_into(name, *length)?;
                let row = format!("{name}[0]");
                let within = self.index_into(&row, *of_each)?;
                Number::new(&format!("{name}[$][$]"), [index, within], *bound)
            }
            Type::State(state) => {
                let integer = self.integer_of(name, *state)?;
                let integer = Tree::new(Kind::Index, &integer, []);
                Number::new("(($) % 7) as f64", [integer], 6.0).scaled()
            }
            Type::Index(_) | Type::Flag | Type::Closure(_) => return None,
        })
    }

    /// One that is not larger than [`MODERATE`].
    pub(super) fn moderate(&mut self, depth: usize) -> Number {
        let number = self.number(depth);
        self.within_bound(number, MODERATE)
    }

    pub(super) fn within_bound(&mut self, number: Number, bound: f64) -> Number {
        if number.bound <= bound {
            return number;
        }
        let wrap = if bound < 1.0 { 2 } else { self.random.below(4) };
        match wrap {
            0 => Number::new("$.sin()", [number.receiver()], 1.0),
            1 => Number::new("$.tanh()", [number.receiver()], 1.0),
            2 => {
                let tree = number.receiver();
                Number { level: Level::Product, ..Number::new("0.5 * $.cos()", [tree], 0.5) }
            }
            _ => Number::new("$.atan()", [number.receiver()], 1.6).at_most(bound, self),
        }
    }

    /// An expression of any size.
    pub(super) fn number(&mut self, depth: usize) -> Number {
        let free = std::mem::replace(&mut self.context.free, false);
        let number = self.any_number(depth);
        self.context.free = free;
        number
    }

    fn any_number(&mut self, depth: usize) -> Number {
        if depth == 0 || self.chance(15) {
            return self.leaf();
        }
        if self.lends && !self.context.formulas && self.chance(15) {
            return self.by_closure(depth - 1);
        }
        let kinds = if self.context.formulas { 70 } else { 100 };
        match self.random.below(kinds) {
            0..55 => self.operation(depth - 1),
            55..70 => self.function(depth - 1),
            70..78 => self.choice(depth - 1),
            78..84 => self.consumed(depth - 1),
            84..89 => self.called(depth - 1),
            89..92 => self.block_of_value(depth - 1),
            92..94 => self.loop_of_value(depth - 1),
            94..97 => self.by_closure(depth - 1),
            _ => self.optional(depth - 1),
        }
    }

    fn operation(&mut self, depth: usize) -> Number {
        let which = self.random.below(10);
        let a = self.number(depth);
        if which == 9 {
            let bound = a.bound;
            return Number { level: Level::Product, ..Number::new("-$", [a.receiver()], bound) };
        }
        let b = if depth > 0 && self.chance(50) { self.leaf() } else { self.number(depth) };
        let a = if b.typed { a } else { a.typed() };
        let operation = |template, left, right, level, bound, (a, b): (Number, Number)| {
            let parts = [a.at_least(left), b.at_least(right)];
            Number { level, ..Number::new(template, parts, bound) }
        };
        let (sum, product, atom) = (Level::Sum, Level::Product, Level::Atom);
        match which {
            0..2 => operation("$ + $", product, product, sum, a.bound + b.bound, (a, b)),
            2..4 => operation("$ - $", product, product, sum, a.bound + b.bound, (a, b)),
            4..8 => operation("$ * $", product, atom, product, a.bound * b.bound, (a, b)),
            _ => {
                let bound = a.bound;
                let below = Number::new("(1.1 + $.powi(2))", [b.receiver()], f64::INFINITY);
                operation("$ / $", product, atom, product, bound, (a, below))
            }
        }
    }

    pub(super) fn function(&mut self, depth: usize) -> Number {
        let a = self.number(depth);
        let bound = a.bound;
        match self.random.below(16) {
            0 => Number::new("$.sin()", [a.receiver()], 1.0),
            1 => Number::new("$.cos()", [a.receiver()], 1.0),
            2 => Number::new("$.tanh()", [a.receiver()], 1.0),
            3 => {
                let a = self.within_bound(a, 2.0);
                Number::new("$.exp()", [a.receiver()], 8.0)
            }
            4 => Number::new("(0.6 + $.powi(2)).sqrt()", [a.receiver()], bound + 1.0),
            5 => Number::new("(1.3 + $.abs()).ln()", [a.receiver()], bound + 1.0),
            6 => Number::new("$.powi(2)", [a.receiver()], bound * bound),
            7 => Number::new("$.abs()", [a.receiver()], bound),
            8 => Number::new("$.atan()", [a.receiver()], 1.6),
            9 => {
                let b = self.number(depth);
                let bound = bound.max(b.bound);
                let template = self.random.pick(&["$.max($)", "f64::min($, $)", "$.min($)"]);
                Number::new(template, [a.receiver(), b.tree], bound)
            }
            10 => {
                let (b, c) = (self.leaf(), self.number(depth));
                let bound = bound * b.bound + c.bound;
                Number::new("$.mul_add($, $)", [a.receiver(), b.tree, c.tree], bound)
            }
            11 => Number::new("$.clamp(-0.71, 0.83)", [a.receiver()], 0.83),
            12 => {
                let b = self.number(depth);
                Number::new("$.hypot($ + 2.1)", [a.receiver(), b.at_least(Level::Product)], f64::INFINITY)
            }
            13 => {
                let a = self.within_bound(a, 1.6).typed();
                Number::new("(2.0 + $).recip()", [a.at_least(Level::Product)], 2.5)
            }
            14 => {
                let (a, b) = (self.within_bound(a, 1.6), self.within_bound_of_one(depth));
                Number::new("(2.0 + $).powf($)", [a.at_least(Level::Product), b], 3.6)
            }
            _ => Number::new("($ / 0.9).sinh().asinh()", [a.receiver()], bound * 2.0).at_most(MODERATE, self),
        }
    }

    fn within_bound_of_one(&mut self, depth: usize) -> Tree {
        let number = self.number(depth);
        self.within_bound(number, 1.0).tree
    }

    /// What is in an `Option`.
    fn optional(&mut self, depth: usize) -> Number {
        let sequence = self.some(|v| matches!(v.of, Type::Sequence(..)));
        let other = self.moderate(0);
        match sequence {
            Some(Variable { name, of: Type::Sequence(_, length), .. }) if self.chance(60) => {
                match self.random.below(4) {
                    0 => Number::new(
                        &format!("{name}.first().copied().unwrap_or($)"),
                        [other.tree],
                        f64::INFINITY,
                    ),
                    1 => Number::new(&format!("*{name}.last().unwrap()"), [], f64::INFINITY).product(),
                    2 => Number::new(
                        &format!("{name}.last().map(|v| v * 0.7).unwrap_or($)"),
                        [other.tree],
                        f64::INFINITY,
                    ),
                    _ => {
                        let index = self.index_into(&name, length);
                        let index = index.unwrap_or_else(|| Tree::new(Kind::Index, "0", []));
                        Number::new(
                            &format!("{name}.get($).copied().unwrap_or($)"),
                            [index, other.tree],
                            f64::INFINITY,
                        )
                    }
                }
            }
            _ => {
                let (condition, inner) = (self.condition(depth), self.moderate(depth));
                let parts = [condition, inner.typed().tree, other.tree];
                Number::new("(if $ { Some($) } else { None }).unwrap_or($)", parts, MODERATE)
            }
        }
    }

    /// A call of a function that returns a number, or makes one of what it returns.
    fn called(&mut self, depth: usize) -> Number {
        let returns = [Returns::Number, Returns::Option, Returns::Pair, Returns::Vector];
        let Some((call, returns)) = self.call(&returns, false) else { return self.operation(depth) };
        match returns {
            Returns::Option => {
                let other = self.moderate(depth.min(1));
                Number::new("$.unwrap_or($)", [call, other.tree], f64::INFINITY)
            }
            Returns::Pair => Number::new(self.random.pick(&["$.0", "$.1"]), [call], f64::INFINITY),
            Returns::Vector => Number::new("$[1]", [call], f64::INFINITY),
            _ => Number::new("$", [call], f64::INFINITY),
        }
    }

    /// A number that depends on much of what is in scope.
    pub(super) fn summary(&mut self) -> Number {
        let visible: Vec<_> = self.scope.visible().cloned().collect();
        let mut parts = vec![self.number(2).at_least(Level::Product)];
        for variable in visible {
            if !self.chance(60) {
                continue;
            }
            if let Some(part) = self.part_of(&variable) {
                parts.push(part.at_least(Level::Atom));
            }
        }
        let mut template = String::from("$");
        for _ in 1..parts.len() {
            let (sign, factor) = (self.random.pick(&["+", "-"]), 2 + self.random.below(8));
            template += &format!(" {sign} 0.{factor} * $");
        }
        Number::statement(&template, parts, f64::INFINITY)
    }
}

impl Number {
    /// A tenth of it.
    fn scaled(self) -> Self {
        Number::new("($ * 0.1)", [self.tree], self.bound * 0.1)
    }

    fn product(self) -> Self {
        Number { level: Level::Product, ..self }
    }

    fn at_most(self, bound: f64, generator: &mut Generator) -> Self {
        generator.within_bound(self, bound)
    }
}
