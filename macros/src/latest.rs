//! Loops that look for one among many: `if x[i] > best { best = x[i]; }`, `best = best.max(x[i])`.
//!
//! What an iteration gives to a variable is lost when a later one gives it something else. So the gradient goes to the last
//! iteration that did, and to no other: the forward pass remembers which one that was, instead of keeping something of each, and the
//! reverse pass undoes that one alone.
//!
//! Of *n* numbers about ln *n* are larger than all before. Told so, the compiler makes a jump of the comparison with the best, which costs
//! next to nothing and for which the next iteration does not wait; otherwise each iteration would choose the number of the last one, too.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::cotangent::Cotangent;
use crate::forward::Forward;
use crate::kept::Item;
use crate::program::*;
use crate::reverse::Reverse;

/// The end of an iteration of such a loop, behind so many statements that only compute what it needs.
#[derive(Clone, Copy)]
struct Latest {
    count: usize,
    end: End,
}

#[derive(Clone, Copy)]
enum End {
    /// `if … { best = …; }`, by the `if` and its block.
    If(ExprId, BlockId),
    /// `best = best.max(…);`, or `min`, by the variable and the other operand.
    Extremum(VarId, ExprId),
}

impl Reverse<'_> {
    /// Undoes the loop `f`, if it is one of these. Tells whether it was.
    pub(crate) fn undo_latest(&mut self, f: &For, statement: &Statement) -> bool {
        let program = self.program;
        // The first run finds out what may be read if it is none.
        if self.known.is_none() || self.not_latest.contains(&statement.id) {
            return false;
        }
        let (Some(latest), Some(index)) = (program.latest(f), program.counter(f)) else { return false };
        let at = &statement.before;
        self.open(f.body, true);
        match latest.end {
            End::If(_, then) => {
                self.open(then, false);
                self.undo_block(then, Some(&Cotangent::nothing()));
                let branch = self.close();
                self.emit(branch);
            }
            End::Extremum(best, other) => {
                if self.has_shadow(best) {
                    let (shadow, zero) = (&program.variables[best].shadow, program.zero());
                    let d = self.bind(&Cotangent::term(quote!(#shadow)));
                    self.emit(quote!(#shadow = #zero;));
                    let before = program.blocks[f.body].statements[latest.count].before.clone();
                    let top = self.top();
                    self.levels[top].current = (*before.versions).clone();
                    self.pull(other, &d, &before);
                }
            }
        }
        self.undo_statements(f.body, latest.count);
        let body = self.close();
        let keeps = |block: BlockId| !self.kept.is_empty(block);
        if program.nested(f.body).into_iter().any(keeps) {
            // What is needed of the iteration cannot be had by its index.
            self.not_latest.insert(statement.id);
            self.missed = true;
            return true;
        }
        if body.is_empty() {
            return true;
        }
        let last = self.kept.keep(at.block, Item::Last(statement.id), "last");
        self.latest.insert(statement.id, last.clone());
        let index = &program.variables[index].unique;
        self.emit(quote!(if let ::core::option::Option::Some(#index) = #last { #body }));
        true
    }
}

impl Program {
    fn latest(&self, f: &For) -> Option<Latest> {
        if f.strategy.is_some() || self.captures_anything() {
            return None;
        }
        let block = &self.blocks[f.body];
        let (count, end) = match (block.value, block.statements.split_last()) {
            (Some(value), _) => (block.statements.len(), self.ends_with_if(value)?),
            (None, Some((last, before))) => {
                let end = match &last.kind {
                    StatementKind::Expr(expr, _) => self.ends_with_if(*expr)?,
                    StatementKind::Assign(assign) => self.extremum(assign)?,
                    _ => return None,
                };
                (before.len(), end)
            }
            (None, None) => return None,
        };
        let plain = |e: ExprId| {
            self.tree(e).into_iter().all(|e| {
                let kind = &self.exprs[e].kind;
                !kind.happens_once() && !matches!(kind, ExprKind::Borrow { unique: true, .. })
            })
        };
        let within = self.nested(f.body);
        let simple = |s: &Statement| matches!(&s.kind, StatementKind::Let(l) if !l.variables.iter().flatten().any(|id| self.variables[*id].heap));
        let branch = match end {
            End::If(_, then) => Some(then),
            End::Extremum(..) => None,
        };
        // Branches within values have no statements.
        let others = within.iter().filter(|b| **b != f.body && Some(**b) != branch);
        let all_plain = block.statements[..count].iter().all(simple)
            && others.clone().all(|b| self.blocks[*b].statements.is_empty())
            && within.iter().flat_map(|b| self.roots(*b)).all(plain);
        if !all_plain {
            return None;
        }
        // What is given a value that counts is looked at by nothing but conditions.
        let (given, expected) = match end {
            End::If(_, then) => (self.given(then)?, 0),
            End::Extremum(best, _) => (vec![best], 1),
        };
        let reads = within.iter().flat_map(|b| self.roots(*b)).flat_map(|root| self.tree(root));
        let reads = reads.filter(|e| match &self.exprs[*e].kind {
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => given.contains(&place.base),
            _ => false,
        });
        (reads.count() == expected).then_some(Latest { count, end })
    }

    /// There are closures, which may have variables of the function.
    fn captures_anything(&self) -> bool {
        !self.closures.is_empty()
    }

    fn ends_with_if(&self, expr: ExprId) -> Option<End> {
        let expr = self.peel(expr);
        match self.exprs[expr].kind {
            ExprKind::If { then, otherwise: None, .. } => Some(End::If(expr, then)),
            _ => None,
        }
    }

    /// The condition compares with what the branch gives another value: `if x[i] > best { best = x[i]; }`.
    fn is_record(&self, expr: ExprId, then: BlockId) -> bool {
        let ExprKind::If { cond, .. } = self.exprs[expr].kind else { return false };
        let given = self.given(then).unwrap_or_default();
        self.tree(cond).into_iter().any(|e| match &self.exprs[e].kind {
            ExprKind::Constant(constant) => constant.mentions.iter().any(|id| given.contains(id)),
            _ => false,
        })
    }

    /// `best = best.max(other)`
    fn extremum(&self, assign: &Assign) -> Option<End> {
        let best = assign.place.base;
        let value = self.peel(assign.value);
        let ExprKind::Method { receiver, name, args } = &self.exprs[value].kind else { return None };
        let receives = matches!(&self.exprs[self.peel(*receiver)].kind, ExprKind::Read(place)
            if place.base == best && place.projections.is_empty());
        let extremum = assign.op.is_none() && (name == "max" || name == "min") && receives && !self.dual;
        let [other] = args[..] else { return None };
        let counts = self.is_given(assign) && self.variables[best].kind == Kind::Float;
        (extremum && counts && self.exprs[other].active).then_some(End::Extremum(best, other))
    }

    /// The active variables that `block`, which does nothing else, gives a value.
    fn given(&self, block: BlockId) -> Option<Vec<VarId>> {
        let block = &self.blocks[block];
        if block.value.is_some() {
            return None;
        }
        let mut given = Vec::new();
        for statement in &block.statements {
            let StatementKind::Assign(assign) = &statement.kind else { return None };
            let variable = &self.variables[assign.place.base];
            match variable.active {
                true if self.is_given(assign) => given.push(assign.place.base),
                false if !variable.memory && assign.place.projections.is_empty() => {}
                _ => return None,
            }
        }
        (!given.is_empty()).then_some(given)
    }

    /// `best = …`, of a number.
    fn is_given(&self, assign: &Assign) -> bool {
        let variable = &self.variables[assign.place.base];
        let whole = assign.place.projections.is_empty() && assign.op.is_none();
        let number =
            variable.kind == Kind::Float && !variable.memory && !variable.heap && !variable.by_reference();
        whole && number && variable.active && !variable.disturbed
    }
}

/// What the forward pass adds to a loop that has such iterations.
#[derive(Default)]
pub(crate) struct Noted {
    /// Before the loop.
    pub(crate) before: TokenStream,
    /// At the start of an iteration, before another variable takes the name of the index.
    pub(crate) start: TokenStream,
}

impl Forward<'_> {
    /// The number of the last iteration that counts.
    pub(crate) fn note(&self, f: &For, statement: StmtId) -> Noted {
        let Some(last) = self.reverse.latest.get(&statement) else { return Noted::default() };
        let index = f.index.map(|index| &self.program.variables[index].name);
        let now = now();
        Noted {
            before: quote!(let mut #last = ::core::option::Option::None;),
            start: quote!(let #now = #index;),
        }
    }

    /// The variable that has the number of the last iteration in which the branch of the `if` was taken.
    pub(crate) fn noted_by(&self, expr: ExprId) -> Option<TokenStream> {
        self.latest_loops().find_map(|(of, f)| match self.program.latest(f)?.end {
            End::If(e, then) if e == expr => {
                Some(noting(&self.reverse.latest[&of], self.program.is_record(expr, then)))
            }
            _ => None,
        })
    }

    /// `best = best.max(…)`, after which it is known whether `best` is another one.
    pub(crate) fn noted_extremum(
        &self,
        assign: &Assign,
        statement: StmtId,
    ) -> Option<(TokenStream, TokenStream)> {
        let (of, _) = self.latest_loops().find(|(_, f)| {
            let last = self.program.blocks[f.body].statements.last();
            matches!(self.program.latest(f), Some(Latest { end: End::Extremum(..), .. }))
                && last.is_some_and(|s| s.id == statement)
        })?;
        let (best, before) = (&self.program.variables[assign.place.base].name, Program::fresh("before"));
        let note = noting(&self.reverse.latest[&of], true);
        // Of two equal ones the receiver counts, and a number rather than NaN.
        Some((quote!(let #before = #best;), quote!(if #best != #before && #best == #best { #note })))
    }

    fn latest_loops(&self) -> impl Iterator<Item = (StmtId, &For)> {
        let statements = self.program.blocks.iter().flat_map(|block| &block.statements);
        statements.filter_map(|s| match &s.kind {
            StatementKind::For(f) if self.reverse.latest.contains_key(&s.id) => Some((s.id, f)),
            _ => None,
        })
    }
}

fn noting(last: &Ident, rarely: bool) -> TokenStream {
    let now = now();
    let rarely = rarely.then(|| quote!(::core::hint::cold_path();));
    quote!(#rarely #last = ::core::option::Option::Some(#now);)
}

fn now() -> Ident {
    Program::fresh("now")
}
