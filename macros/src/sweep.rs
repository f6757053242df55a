//! Loops that sweep through an array: `y[i] = …` in a loop over `i`.
//!
//! Each iteration overwrites an element of its own. What the elements held is kept as a whole, by one copy before the loop, and brought
//! back by another one: both run at the speed of memory, and the loop itself keeps nothing and can run in vectors. It works as long as
//! the reverse pass of an iteration looks at no other element, and at its own either as the loop found it (then the copy comes
//! back first) or as the loop left it (then it comes back in the end).

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Ident;

use crate::program::*;
use crate::reverse::Reverse;
use crate::rows::same_before;

/// Memory that the reverse pass reads.
#[derive(Clone)]
pub(crate) struct MemoryRead {
    pub(crate) variable: VarId,
    pub(crate) version: usize,
    /// The loops around.
    pub(crate) loops: Vec<BlockId>,
    /// Those among them that sweep through it, if it is their iteration's own element.
    pub(crate) own: Vec<(BlockId, Moment)>,
}

/// When an element is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moment {
    /// As the loop found it.
    Entry,
    /// As the loop left it.
    Exit,
    /// It is another element than those that the loop writes to.
    Elsewhere,
}

/// What a loop overwrites.
#[derive(Clone)]
enum Elements {
    /// Each iteration another one: the index, and what is added to it.
    Row(Option<ExprId>),
    /// All iterations the same.
    One(ExprId),
}

/// An array that a loop sweeps through.
#[derive(Clone)]
pub(crate) struct Swept {
    pub(crate) variable: VarId,
    /// The name of the array where the loop stands.
    name: Ident,
    elements: Elements,
    /// One of the places, and what is known there.
    place: (Place, At),
    /// Where the loop stands.
    before: At,
}

impl Reverse<'_> {
    /// The arrays that the loop `f`, which stands at `before`, may sweep through.
    pub(crate) fn swept_by(&self, f: &For, before: &At) -> Vec<Swept> {
        let program = self.program;
        let simple = f.strategy.is_none() && self.captured.is_empty() && !program.left_early(f.body);
        let (Some(index), true) = (f.index, simple && !program.generic()) else { return Vec::new() };
        if self.known.is_none()
            || bounds(program, f).is_none()
            || !self.replayable(f.range, before, self.top())
        {
            return Vec::new();
        }
        let mut written = program.written(f.body);
        written.retain(|id| !self.unswept.contains(&(f.body, *id)));
        written.into_iter().filter_map(|id| self.swept(id, index, f, before)).collect()
    }

    fn swept(&self, id: VarId, index: VarId, f: &For, before: &At) -> Option<Swept> {
        let program = self.program;
        let variable = &program.variables[id];
        let array = variable.slice
            || program.vectors.contains(&id)
            || matches!(variable.zero, Some(Zero::Repeat(..)));
        let floats = variable.kind == Kind::Sequence(Box::new(Kind::Float));
        if !(array && floats && variable.memory) || variable.disturbed || variable.unrestored {
            return None;
        }
        let shares = |other: VarId| program.variables[other].storage == variable.storage;
        let blocks = program.nested(f.body);
        let inner: HashSet<_> = program.loops().filter(|b| *b != f.body && blocks.contains(b)).collect();
        let inner: HashSet<_> = inner.into_iter().flat_map(|b| program.nested(b)).collect();
        let roots = blocks.iter().flat_map(|b| program.roots(*b)).flat_map(|root| program.tree(root));
        let lends = |e: ExprId| matches!(&program.exprs[e].kind, ExprKind::Borrow { place, unique: true } if shares(place.base));
        if roots.into_iter().any(lends) {
            return None;
        }
        let mut found: Option<(Elements, (Place, At))> = None;
        for block in blocks {
            for statement in &program.blocks[block].statements {
                let StatementKind::Assign(assign) = &statement.kind else { continue };
                if !shares(assign.place.base) {
                    continue;
                }
                if assign.place.base != id || inner.contains(&block) || !names(assign, &variable.name) {
                    return None;
                }
                let elements = self.elements(&assign.place, &statement.before, index, before)?;
                // Where the assignment may not be reached, there may be no such number.
                if !matches!(elements, Elements::Row(None)) && block != f.body {
                    return None;
                }
                if found.as_ref().is_some_and(|(other, _)| !program.same_elements(other, &elements)) {
                    return None;
                }
                found = Some((elements, (assign.place.clone(), statement.before.clone())));
            }
        }
        let (elements, place) = found?;
        Some(Swept { variable: id, name: variable.name.clone(), elements, place, before: before.clone() })
    }

    /// Which elements a place is in the iterations of the loop.
    fn elements(&self, place: &Place, at: &At, index: VarId, before: &At) -> Option<Elements> {
        let program = self.program;
        let [Projection::Index(position)] = place.projections[..] else { return None };
        if program.frozen.contains_key(&position) {
            return None;
        }
        if program.offset(position, index) == Some(0) {
            return Some(Elements::Row(None));
        }
        let fixed = |e: ExprId| {
            // It is asked for while the array is borrowed.
            let plain = program.tree(e).into_iter().all(|e| match &program.exprs[e].kind {
                ExprKind::Constant(c) => c.aliases.is_empty() && !c.mentions.contains(&place.base),
                _ => true,
            });
            plain && same_before(program, e, at, before) && self.free(e, before, self.top())
        };
        match program.start_of_row(position, index).filter(|start| fixed(*start)) {
            Some(start) => Some(Elements::Row(Some(start))),
            None => fixed(position).then_some(Elements::One(position)),
        }
    }

    /// The innermost loop brings back what it overwrites of this variable as a whole.
    pub(crate) fn is_swept(&mut self, id: VarId) -> bool {
        let Some(level) = self.levels.iter().rposition(|level| level.is_loop) else { return false };
        let body = self.levels[level].block;
        let Some(swept) = self.levels[level].swept.iter().find(|swept| swept.variable == id) else {
            return false;
        };
        let swept = swept.clone();
        if !self.sweeps.contains_key(&(body, id)) {
            let slot = match self.sweep_slots.get(&(body, id)) {
                Some(slot) => slot.clone(),
                None => self.slot("overwritten", quote!(__pb::Stack::new())),
            };
            self.sweep_slots.insert((body, id), slot);
            self.sweeps.insert((body, id), swept);
        }
        true
    }

    /// The loops that sweep through an array of which `place`, read at `at`, is their iteration's own element.
    pub(crate) fn own_elements(&self, place: &Place, at: &At) -> Vec<(BlockId, Moment)> {
        let program = self.program;
        let [Projection::Index(position)] = place.projections[..] else { return Vec::new() };
        let version = at.versions.get(&place.base);
        let mut found = Vec::new();
        for level in &self.levels {
            let swept = level.swept.iter().find(|swept| swept.variable == place.base);
            let (Some(swept), Some(index)) = (swept, level.index) else { continue };
            let own = match swept.elements {
                Elements::Row(None) => program.offset(position, index) == Some(0),
                Elements::Row(Some(start)) => program.start_of_row(position, index).is_some_and(|other| {
                    program.same_text(other, start) && same_before(program, other, at, &swept.before)
                }),
                Elements::One(_) => {
                    let (other, there) = &swept.place;
                    if self.facts().apart(program, (place, at), (other, there)) {
                        found.push((level.block, Moment::Elsewhere));
                    }
                    continue;
                }
            };
            let block = &program.blocks[level.block];
            let entry = block.statements.first().map_or(&block.tail, |first| &first.before);
            let is = |moment: &At| own && version.is_some() && version == moment.versions.get(&place.base);
            if is(entry) {
                found.push((level.block, Moment::Entry));
            } else if is(&block.end) {
                found.push((level.block, Moment::Exit));
            }
        }
        found
    }

    /// What stands before and after the reverse pass of the loop `f`, whose body has been undone: what it swept through comes back.
    pub(crate) fn bring_back(&mut self, f: &For, at: &At) -> (TokenStream, TokenStream) {
        let (mut before, mut after) = (TokenStream::new(), TokenStream::new());
        for Swept { variable, elements, .. } in self.active_sweeps(f) {
            let storage = self.program.variables[variable].storage;
            let reads = self.reads.iter().filter(|read| {
                read.loops.contains(&f.body) && self.program.variables[read.variable].storage == storage
            });
            let moment = |read: &MemoryRead| {
                read.own.iter().find(|(body, _)| *body == f.body).map(|(_, moment)| *moment)
            };
            let moments: Vec<_> = reads.map(moment).collect();
            let all = |moment| moments.iter().all(|m| *m == Some(moment) || *m == Some(Moment::Elsewhere));
            if !all(Moment::Entry) && !all(Moment::Exit) {
                // Found out too late: the next run does without.
                self.unswept.insert((f.body, variable));
                self.missed = true;
                continue;
            }
            self.present(variable);
            let level = self.top();
            let (method, start) = match elements {
                Elements::Row(None) => (quote!(bring_back), quote!(0)),
                Elements::Row(Some(start)) => (quote!(bring_back), self.text(start, at, level)),
                Elements::One(position) => (quote!(bring_one_back), self.text(position, at, level)),
            };
            let range = self.text(f.range, at, level);
            let (name, slot) =
                (&self.program.variables[variable].unique, &self.sweep_slots[&(f.body, variable)]);
            let back = quote!(#slot.#method(#range, || #start, &mut #name[..]););
            if all(Moment::Entry) { before.extend(back) } else { after.extend(back) }
        }
        (before, after)
    }

    /// What the loop `f` keeps as a whole.
    fn active_sweeps(&self, f: &For) -> Vec<Swept> {
        let of_loop = self.sweeps.iter().filter(|((body, _), _)| *body == f.body);
        let mut found: Vec<_> = of_loop.map(|(_, swept)| swept.clone()).collect();
        found.sort_by_key(|swept| swept.variable);
        found
    }

    /// What stands before the loop `f` in the forward pass: what it will overwrite is kept.
    pub(crate) fn keep_swept(&self, f: &For) -> TokenStream {
        let mut kept = TokenStream::new();
        for Swept { variable, name, elements, .. } in self.active_sweeps(f) {
            let (slot, range) = (&self.sweep_slots[&(f.body, variable)], &self.program.exprs[f.range].syntax);
            let syntax = |e: ExprId| self.program.exprs[e].syntax.to_token_stream();
            let (method, start) = match elements {
                Elements::Row(start) => (quote!(keep), start.map_or(quote!(0), syntax)),
                Elements::One(position) => (quote!(keep_one), syntax(position)),
            };
            kept.extend(quote!(#slot.#method(#range, || #start, &#name[..]);));
        }
        kept
    }

    /// Some loop in `block` keeps what it overwrites as a whole.
    pub(crate) fn sweeps_in(&self, block: BlockId) -> bool {
        self.program.blocks[block].statements.iter().any(|s| match &s.kind {
            StatementKind::For(f) => self.sweeps.keys().any(|(body, _)| *body == f.body),
            _ => false,
        })
    }
}

/// The bounds of a loop over `a..b` that may be written once more.
fn bounds<'p>(program: &'p Program, f: &For) -> Option<&'p syn::ExprRange> {
    let range = &program.exprs[program.peel(f.range)];
    let pure = matches!(&range.kind, ExprKind::Constant(c) if c.pure && c.aliases.is_empty());
    match &range.syntax {
        syn::Expr::Range(bounds) if pure => {
            let half_open = matches!(bounds.limits, syn::RangeLimits::HalfOpen(_));
            (half_open && bounds.start.is_some() && bounds.end.is_some()).then_some(bounds)
        }
        _ => None,
    }
}

/// The assignment goes to an element of `array`, by this name.
fn names(assign: &Assign, array: &Ident) -> bool {
    let left = match &assign.syntax {
        syn::Expr::Assign(a) => &a.left,
        syn::Expr::Binary(b) => &b.left,
        _ => return false,
    };
    matches!(&**left, syn::Expr::Index(index) if matches!(&*index.expr, syn::Expr::Path(path) if path.path.is_ident(array)))
}

impl Program {
    fn same_text(&self, a: ExprId, b: ExprId) -> bool {
        let text = |e: ExprId| self.exprs[e].syntax.to_token_stream().to_string();
        text(a) == text(b)
    }

    fn same_elements(&self, a: &Elements, b: &Elements) -> bool {
        match (a, b) {
            (Elements::Row(None), Elements::Row(None)) => true,
            (Elements::Row(Some(a)), Elements::Row(Some(b))) | (Elements::One(a), Elements::One(b)) => {
                self.same_text(*a, *b)
            }
            _ => false,
        }
    }

    /// Constant code asks for nothing but the shape of the variable, which has the same one everywhere.
    pub(crate) fn shape_alone(&self, constant: &Constant, id: VarId) -> bool {
        self.variables[id].fixed && !constant.reads.contains(&id)
    }
}
