//! Chains of iterators.

use super::Generator;
use super::numbers::{MODERATE, Number};
use super::scope::{Below, Holder, Length, Type, Variable};
use super::statements::valued;
use super::tree::{Kind, Tree};

/// What a chain begins with: its text, the pattern of its items, and what that binds.
struct Source {
    text: String,
    parts: Vec<Tree>,
    pattern: String,
    items: Vec<Variable>,
    /// How many items there are.
    length: Option<Length>,
}

impl Generator {
    fn source(&mut self) -> Option<Source> {
        let (sequence, length) = self.sequence()?;
        let (s, v) = (&sequence.name, self.name(&Type::Number));
        let item = |of: Type| vec![Variable::new(&v, of)];
        let source = |text: String, pattern: String, items: Vec<Variable>| {
            let length = (!sequence.grows).then_some(length);
            Source { text, parts: Vec::new(), pattern, items, length }
        };
        let shortened = |source: Source| Some(Source { length: None, ..source });
        Some(match self.random.below(10) {
            0..2 => source(format!("{s}.iter()"), v.clone(), item(Type::NumberRef)),
            2 => source(format!("{s}.iter().rev()"), format!("&{v}"), item(Type::Number)),
            3 => source(format!("{s}.iter().copied()"), v.clone(), item(Type::Number)),
            4 => {
                let (other, _) = self.sequence()?;
                let w = self.name(&Type::Number);
                if w == v {
                    return None;
                }
                let items = vec![Variable::new(&v, Type::NumberRef), Variable::new(&w, Type::NumberRef)];
                let text = format!("{s}.iter().zip({}.iter())", other.name);
                return shortened(source(text, format!("({v}, {w})"), items));
            }
            5 => {
                let i = self.name(&Type::Index(Default::default()));
                if i == v {
                    return None;
                }
                let below = Below { class: Some(length.class), before: 0, after: 0 };
                let items = vec![Variable::new(&i, Type::Index(below)), Variable::new(&v, Type::NumberRef)];
                source(format!("{s}.iter().enumerate()"), format!("({i}, {v})"), items)
            }
            6 => {
                let i = self.name(&Type::Index(Default::default()));
                let below = Below { class: Some(length.class), before: 0, after: 0 };
                source(format!("(0..{s}.len())"), i.clone(), vec![Variable::new(&i, Type::Index(below))])
            }
            7 => {
                let part = self.length(2);
                let items = vec![Variable::new(&v, Type::Sequence(Holder::Slice, part))];
                return shortened(source(format!("{s}.windows(2)"), v.clone(), items));
            }
            8 => {
                let part = self.length(1);
                let items = vec![Variable::new(&v, Type::Sequence(Holder::Slice, part))];
                return shortened(source(format!("{s}.chunks(2)"), v.clone(), items));
            }
            _ => {
                let adapter = self.random.pick(&["skip(1)", "take(2)", "step_by(2)"]);
                let items = item(Type::Number);
                return shortened(source(format!("{s}.iter().copied().{adapter}"), v.clone(), items));
            }
        })
    }

    /// What `write` writes as the body of a closure, which writes to nothing that it captures.
    pub(super) fn captured<T>(&mut self, variables: &[Variable], write: impl FnOnce(&mut Self) -> T) -> T {
        let (captured, often) = (self.scope.capture(), self.often());
        let written = self.within(
            |context| {
                context.times *= often;
                (context.exits, context.leaves) = (false, Vec::new());
            },
            |g| {
                variables.iter().for_each(|variable| g.scope.push(variable.clone()));
                write(g)
            },
        );
        self.scope.captured = captured;
        written
    }

    /// The body of a closure: an expression, or a block.
    pub(super) fn body(&mut self, bound: f64, depth: usize) -> Tree {
        let blocks = if self.lends { 60 } else { 25 };
        if self.context.depth < 4 && !self.context.plain && self.chance(blocks) {
            let statements = self.statements(3);
            let value = self.number(depth);
            return valued(statements, self.within_bound(value, bound).typed().tree());
        }
        let value = self.number(depth);
        self.within_bound(value, bound).typed().tree()
    }

    /// A source and adapters; the items are numbers, and where `one` they are not larger than one.
    fn chain(&mut self, one: bool, depth: usize) -> Option<(Tree, Option<Length>)> {
        let Source { mut text, mut parts, pattern, items, mut length } = self.source()?;
        if self.chance(20) && items.len() == 1 && matches!(items[0].of, Type::Number) {
            let condition = self.captured(&items, |g| g.within(|c| c.calls = false, |g| g.condition(1)));
            text += &format!(".filter(|&{pattern}| $)");
            parts.push(condition);
            length = None;
        }
        let bound = if one { 1.0 } else { MODERATE };
        let body = self.captured(&items, |g| g.body(bound, depth));
        text += &format!(".map(|{pattern}| $)");
        parts.push(body);
        if self.chance(15) {
            let v = self.name(&Type::Number);
            let item = Variable::new(&v, Type::Number).bounded(bound);
            let body = self.captured(&[item], |g| g.body(bound, depth.min(1)));
            text += &format!(".map(|{v}| $)");
            parts.push(body);
        }
        Some((Tree::new(Kind::Fixed, &text, parts), length))
    }

    /// A chain that gives a number.
    pub(super) fn consumed(&mut self, depth: usize) -> Number {
        let kind = self.random.below(10);
        if self.context.times > 100 {
            return self.choice(depth);
        }
        let Some((chain, length)) = self.chain(kind == 0, depth.min(2)) else { return self.choice(depth) };
        let unknown = f64::INFINITY;
        match kind {
            0 => Number::atom("$.product::<f64>()", [chain], 1.0),
            1..5 => Number::atom("$.sum::<f64>()", [chain], unknown),
            5..7 => {
                let (a, v) = (self.name(&Type::Number), self.name(&Type::Number));
                if a == v {
                    return Number::atom("$.sum::<f64>()", [chain], unknown);
                }
                let start = self.moderate(1).typed().tree();
                let items =
                    [Variable::new(&a, Type::Number), Variable::new(&v, Type::Number).bounded(MODERATE)];
                let body = self.captured(&items, |g| g.body(MODERATE, 2));
                Number::atom(&format!("$.fold($, |{a}, {v}| $)"), [chain, start, body], unknown)
            }
            7 => Number::atom("$.fold(f64::NEG_INFINITY, f64::max).max(-3.0)", [chain], MODERATE),
            8 => Number::atom("$.min_by(|a, b| a.total_cmp(b)).unwrap_or(0.5)", [chain], MODERATE),
            _ if length.is_some() => {
                let last = self.random.pick(&["$.last().unwrap_or(0.3)", "$.nth(1).unwrap_or(0.3)"]);
                Number::atom(last, [chain], MODERATE)
            }
            _ => Number::atom("$.sum::<f64>()", [chain], unknown),
        }
    }

    /// A vector made by a chain, or a loop with double buffers.
    pub(super) fn chain_declaration(&mut self) -> Tree {
        if self.context.times > 100 || self.context.depth > 3 {
            return self.write();
        }
        if self.chance(25) {
            return self.double_buffered();
        }
        let Some((chain, length)) = self.chain(false, 2) else { return self.declaration() };
        let Some(length) = length else {
            // It may be empty.
            let sum = Number::atom("$.sum::<f64>()", [chain], f64::INFINITY);
            let name = self.bind(f64::INFINITY, true);
            return Tree::statement(&format!("let mut {name} = $;"), [sum.tree()]);
        };
        let of = Type::Sequence(Holder::Vector, length);
        let name = self.name(&of);
        self.scope.push(Variable::new(&name, of).mutable());
        Tree::statement(&format!("let mut {name}: Vec<f64> = $.collect();"), [chain])
    }
}
