//! Elements of one array that are never the same: `a[i * n + j]` and `a[j * n + k]`, given that `i` runs through `j..n` and `k`
//! through `0..j`.
//!
//! The difference of two indices is a polynomial. A loop over `lo..hi` says that its index is `lo` plus something, and `hi` the index plus
//! one plus something; with all of these put in, the polynomial has no variables left but such that are not negative. If then all
//! of its coefficients have one sign, and the constant one is not zero, it is never zero. (Indices count elements in memory: that
//! their arithmetic goes round the end of the integers is a mistake, which a debug build reports.)

use std::collections::BTreeMap;

use crate::program::*;
use crate::reverse::Reverse;

/// A number that is not negative.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Symbol {
    /// A variable's value, by its definition.
    Variable(VarId, usize),
    /// The length of a slice.
    Length(String),
    /// By how much a bound is missed.
    Slack(usize),
    /// The index of another iteration, and by how much it is missed.
    Other,
    Distance,
}

/// An element in each of the iterations of a loop.
pub(crate) struct Iterations<'p> {
    /// The element, and what is known where it is mentioned.
    pub(crate) place: (&'p Place, &'p At),
    pub(crate) index: VarId,
    pub(crate) range: ExprId,
    /// What is known where the range is.
    pub(crate) before: &'p At,
}

/// The coefficients of products of symbols.
#[derive(Clone, Default)]
struct Polynomial(BTreeMap<Vec<Symbol>, i64>);

impl Polynomial {
    fn constant(value: i64) -> Self {
        Polynomial(BTreeMap::from([(Vec::new(), value)]))
    }

    fn symbol(symbol: Symbol) -> Self {
        Polynomial(BTreeMap::from([(vec![symbol], 1)]))
    }

    fn plus(mut self, other: &Polynomial, factor: i64) -> Option<Self> {
        for (product, coefficient) in &other.0 {
            let sum = self.0.entry(product.clone()).or_default();
            *sum = sum.checked_add(coefficient.checked_mul(factor)?)?;
        }
        self.0.retain(|_, coefficient| *coefficient != 0);
        Some(self)
    }

    fn times(&self, other: &Polynomial) -> Option<Self> {
        let mut product = Polynomial::default();
        for (left, a) in &self.0 {
            for (right, b) in &other.0 {
                let mut symbols = [&left[..], right].concat();
                symbols.sort();
                product = product.plus(&Polynomial(BTreeMap::from([(symbols, a.checked_mul(*b)?)])), 1)?;
            }
        }
        Some(product)
    }

    /// With `value` for `symbol`.
    fn with(&self, symbol: &Symbol, value: &Polynomial) -> Option<Self> {
        let mut result = Polynomial::default();
        for (product, coefficient) in &self.0 {
            let mut term = Polynomial::constant(*coefficient);
            for factor in product {
                let factor =
                    if factor == symbol { value.clone() } else { Polynomial::symbol(factor.clone()) };
                term = term.times(&factor)?;
            }
            result = result.plus(&term, 1)?;
        }
        Some(result)
    }

    /// `symbol + constant`
    fn shifted_symbol(&self) -> Option<(Symbol, i64)> {
        let mut symbol = None;
        let mut shift = 0;
        for (product, coefficient) in &self.0 {
            match (&product[..], coefficient) {
                ([], constant) => shift = *constant,
                ([one], 1) if symbol.is_none() => symbol = Some(one.clone()),
                _ => return None,
            }
        }
        Some((symbol?, shift))
    }

    fn mentions(&self, symbol: &Symbol) -> bool {
        self.0.keys().any(|product| product.contains(symbol))
    }

    fn is_never_zero(&self) -> bool {
        let constant = self.0.get(&Vec::new()).copied().unwrap_or_default();
        constant != 0 && self.0.values().all(|coefficient| coefficient.signum() == constant.signum())
    }
}

/// What the loops around say about their indices.
#[derive(Default)]
pub(crate) struct Facts {
    /// What symbols stand for: in no value occurs a symbol that comes before it.
    values: Vec<(Symbol, Polynomial)>,
}

impl Facts {
    fn put_in(&self, mut polynomial: Polynomial) -> Option<Polynomial> {
        for (symbol, value) in &self.values {
            polynomial = polynomial.with(symbol, value)?;
        }
        Some(polynomial)
    }

    /// `larger` is at least `smaller` plus `distance`.
    fn note(&mut self, larger: Polynomial, smaller: Polynomial, distance: i64) -> Option<()> {
        let (larger, smaller) = (self.put_in(larger)?, self.put_in(smaller)?);
        let (symbol, shift) = larger.shifted_symbol()?;
        let slack = Polynomial::symbol(Symbol::Slack(self.values.len()));
        let value = smaller.plus(&slack, 1)?.plus(&Polynomial::constant(distance - shift), 1)?;
        if value.0.keys().all(|product| !product.contains(&symbol)) {
            self.values.push((symbol, value));
        }
        Some(())
    }

    /// The elements, of one array, are different ones whenever both are there.
    pub(crate) fn apart(
        &self,
        program: &Program,
        (a, at_a): (&Place, &At),
        (b, at_b): (&Place, &At),
    ) -> bool {
        let different = |a: ExprId, b: ExprId| {
            if program.frozen.contains_key(&a) || program.frozen.contains_key(&b) {
                return None;
            }
            let difference = program.polynomial(a, at_a)?.plus(&program.polynomial(b, at_b)?, -1)?;
            Some(self.put_in(difference)?.is_never_zero())
        };
        a.base == b.base
            && a.projections.iter().zip(&b.projections).any(|pair| match pair {
                (Projection::Index(a), Projection::Index(b)) => different(*a, *b) == Some(true),
                _ => false,
            })
            && a.projections.iter().chain(&b.projections).all(|p| matches!(p, Projection::Index(_)))
    }

    /// The number that `expr` is at `at` is not zero.
    pub(crate) fn is_not_zero(&self, program: &Program, expr: ExprId, at: &At) -> bool {
        let value = program.polynomial(expr, at).and_then(|value| self.put_in(value));
        value.is_some_and(|value| value.is_never_zero())
    }

    /// The element is another one than all those of `iterations`, of the same array, whichever of them it is mentioned in itself.
    pub(crate) fn never_in(
        &self,
        program: &Program,
        (place, at): (&Place, &At),
        iterations: &Iterations,
    ) -> bool {
        self.never_among(program, (place, at), iterations) == Some(true)
    }

    fn never_among(
        &self,
        program: &Program,
        (place, at): (&Place, &At),
        iterations: &Iterations,
    ) -> Option<bool> {
        let (other, there) = iterations.place;
        let ([Projection::Index(a)], [Projection::Index(b)]) =
            (&place.projections[..], &other.projections[..])
        else {
            return None;
        };
        if place.base != other.base || program.frozen.contains_key(a) || program.frozen.contains_key(b) {
            return None;
        }
        let index = iterations.index;
        let counter = Symbol::Variable(index, *there.versions.get(&index)?);
        let one_more = |symbol: Symbol| {
            let more = Polynomial::symbol(Symbol::Distance).plus(&Polynomial::constant(1), 1)?;
            Polynomial::symbol(symbol).plus(&more, 1)
        };
        // What is known of the index holds where it is mentioned; of the other one it is known where its range starts.
        let range = program.peel(iterations.range);
        let start = match &program.exprs[range].syntax {
            syn::Expr::Range(syn::ExprRange { start: Some(start), .. }) => {
                program.polynomial_of(start, range, iterations.before)
            }
            _ => None,
        };
        let started = |difference: Polynomial| match &start {
            Some(start) => {
                let slack = Polynomial::symbol(Symbol::Slack(usize::MAX));
                difference.with(&Symbol::Other, &slack.plus(start, 1)?)
            }
            None => Some(difference),
        };
        let never = |difference: Polynomial| Some(self.put_in(difference)?.is_never_zero());
        let own = program.polynomial(*a, at)?;
        let others = program.polynomial(*b, there)?.with(&counter, &Polynomial::symbol(Symbol::Other))?;
        let difference = own.clone().plus(&others, -1)?;
        if !own.mentions(&counter) {
            return never(started(difference)?);
        }
        let same = difference.with(&Symbol::Other, &Polynomial::symbol(counter.clone()))?;
        let later = difference.with(&Symbol::Other, &one_more(counter.clone())?)?;
        let earlier = started(difference.with(&counter, &one_more(Symbol::Other)?)?)?;
        Some(never(same)? && never(later)? && never(earlier)?)
    }
}

impl Reverse<'_> {
    /// What is known where the reverse pass stands.
    pub(crate) fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        for level in &self.levels {
            if let Some((index, range, at)) = &level.counter {
                _ = self.program.note_bounds(&mut facts, *index, *range, at, level.block);
            }
        }
        facts
    }
}

impl Program {
    fn note_bounds(
        &self,
        facts: &mut Facts,
        index: VarId,
        range: ExprId,
        at: &At,
        body: BlockId,
    ) -> Option<()> {
        let range = self.peel(range);
        let syn::Expr::Range(bounds) = &self.exprs[range].syntax else { return None };
        let inside =
            self.blocks[body].statements.first().map_or(&self.blocks[body].tail, |first| &first.before);
        let counter = Polynomial::symbol(Symbol::Variable(index, *inside.versions.get(&index)?));
        if let Some(end) = bounds.end.as_deref().and_then(|end| self.polynomial_of(end, range, at)) {
            let distance = i64::from(matches!(bounds.limits, syn::RangeLimits::HalfOpen(_)));
            _ = facts.note(end, counter.clone(), distance);
        }
        let start = self.polynomial_of(bounds.start.as_deref()?, range, at)?;
        if !start.0.is_empty() {
            facts.note(counter, start, 0)?;
        }
        Some(())
    }

    fn polynomial(&self, expr: ExprId, at: &At) -> Option<Polynomial> {
        self.polynomial_of(&self.exprs[expr].syntax, expr, at)
    }

    /// `syntax`, a part of `expr`, which stands at `at`.
    fn polynomial_of(&self, syntax: &syn::Expr, expr: ExprId, at: &At) -> Option<Polynomial> {
        match syntax {
            syn::Expr::Paren(e) => self.polynomial_of(&e.expr, expr, at),
            syn::Expr::Group(e) => self.polynomial_of(&e.expr, expr, at),
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(int), .. }) => {
                let value: i64 = int.base10_parse().ok()?;
                let zero = value == 0;
                Some(if zero { Polynomial::default() } else { Polynomial::constant(value) })
            }
            syn::Expr::Path(path) => {
                let id = self.named(path.path.get_ident()?, expr)?;
                let variable = &self.variables[id];
                let number = !variable.memory && !variable.by_reference() && !variable.active;
                Some(Polynomial::symbol(Symbol::Variable(id, *at.versions.get(&id).filter(|_| number)?)))
            }
            syn::Expr::MethodCall(call) if call.method == "len" && call.args.is_empty() => {
                let syn::Expr::Path(path) = &*call.receiver else { return None };
                let variable = &self.variables[self.named(path.path.get_ident()?, expr)?];
                let stays = variable.origin == Origin::Shared && variable.slice || variable.fixed;
                stays.then(|| Polynomial::symbol(Symbol::Length(variable.unique.to_string())))
            }
            syn::Expr::Binary(binary) => {
                let left = self.polynomial_of(&binary.left, expr, at)?;
                let right = self.polynomial_of(&binary.right, expr, at)?;
                match binary.op {
                    syn::BinOp::Add(_) => left.plus(&right, 1),
                    syn::BinOp::Sub(_) => left.plus(&right, -1),
                    syn::BinOp::Mul(_) => left.times(&right),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The variable that `name` stands for in `expr`.
    fn named(&self, name: &syn::Ident, expr: ExprId) -> Option<VarId> {
        let is = |id: &VarId| self.variables[*id].name == *name;
        self.tree(expr).into_iter().find_map(|e| match &self.exprs[e].kind {
            ExprKind::Read(place) => Some(place.base).filter(|id| place.projections.is_empty() && is(id)),
            ExprKind::Constant(constant) if constant.aliases.is_empty() => {
                constant.mentions.iter().copied().find(is)
            }
            _ => None,
        })
    }
}
