//! Loops that sweep through an array: `y[i] = …` in a loop over `i`, `a[i * n + j] = …` likewise.
//!
//! Each iteration overwrites an element of its own. What the elements held is kept as a whole, by one copy before the loop, and brought
//! back by another one: both run at the speed of memory, and the loop itself keeps nothing and can run in vectors. It works as long as
//! the reverse pass of an iteration looks at no other element, and at its own either as the loop found it (then the copy comes
//! back first) or as the loop left it (then it comes back in the end).
//!
//! A loop whose iterations sweep through the same elements again and again, by a loop within, keeps them once for all iterations.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Ident;

use crate::distinct::Iterations;
use crate::program::*;
use crate::reverse::{Level, Reverse};
use crate::rows::same_before;
use crate::runs::Run;

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
#[derive(Clone, Copy)]
enum Elements {
    /// Each iteration another one.
    Run(Run),
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
    /// The loop within whose iterations do it, if that is not the loop itself: its body, index and range.
    within: Option<(BlockId, VarId, ExprId)>,
    /// One of the places, and what is known there.
    pub(crate) place: (Place, At),
    /// Where the loop stands.
    before: At,
}

/// A loop that is through with its elements before the next one begins.
struct Sweep<'f> {
    f: &'f For,
    index: VarId,
    /// What is known where it stands.
    at: At,
}

impl Reverse<'_> {
    /// The arrays that the loop `f`, which stands at `before`, may sweep through.
    pub(crate) fn swept_by(&self, f: &For, before: &At) -> Vec<Swept> {
        let program = self.program;
        if self.known.is_none() || !self.captured.is_empty() || program.generic() {
            return Vec::new();
        }
        let Some(sweep) = self.sweep(f, before, before) else { return Vec::new() };
        let mut written = program.written(f.body);
        written.retain(|id| !self.unswept.contains(&(f.body, *id)));
        written.into_iter().filter_map(|id| self.swept(id, &sweep)).collect()
    }

    /// The loop `f`, which stands at `at`, if its range is known where `before` is.
    fn sweep<'f>(&self, f: &'f For, at: &At, before: &At) -> Option<Sweep<'f>> {
        let program = self.program;
        let simple = f.strategy.is_none() && !program.left_early(f.body) && bounds(program, f).is_some();
        let index = program.counter(f).filter(|_| simple)?;
        let known = same_before(program, f.range, at, before) && self.replayable(f.range, before, self.top());
        known.then(|| Sweep { f, index, at: at.clone() })
    }

    fn swept(&self, id: VarId, outer: &Sweep) -> Option<Swept> {
        let program = self.program;
        let (f, before) = (outer.f, &outer.at);
        let variable = &program.variables[id];
        if !program.is_flat(id) || variable.disturbed || variable.unrestored {
            return None;
        }
        let blocks = program.nested(f.body);
        let roots = blocks.iter().flat_map(|b| program.roots(*b)).flat_map(|root| program.tree(root));
        let lends = |e: ExprId| matches!(&program.exprs[e].kind, ExprKind::Borrow { place, unique: true } if place.base == id);
        if roots.into_iter().any(lends) {
            return None;
        }
        let mut found: Option<Swept> = None;
        for block in blocks {
            for statement in &program.blocks[block].statements {
                let StatementKind::Assign(assign) = &statement.kind else { continue };
                if assign.place.base != id {
                    continue;
                }
                if !names(assign, &variable.name) {
                    return None;
                }
                let inner = self.loop_within(outer, block)?;
                let sweep = inner.as_ref().unwrap_or(outer);
                let elements = self.elements(&assign.place, &statement.before, sweep.index, before)?;
                // Where the assignment may not be reached, there may be no such number.
                let plain = matches!(elements, Elements::Run(Run { start: None, stride: None }));
                if !plain && block != sweep.f.body {
                    return None;
                }
                let swept = Swept {
                    variable: id,
                    name: variable.name.clone(),
                    elements,
                    within: inner.map(|inner| (inner.f.body, inner.index, inner.f.range)),
                    place: (assign.place.clone(), statement.before.clone()),
                    before: before.clone(),
                };
                if found.as_ref().is_some_and(|other| !program.same_elements(other, &swept)) {
                    return None;
                }
                found = Some(swept);
            }
        }
        found
    }

    /// The loop, directly in the body of `outer`, whose iterations are those in which `block` runs; none, if they are those of `outer`.
    fn loop_within<'p>(&'p self, outer: &Sweep, block: BlockId) -> Option<Option<Sweep<'p>>> {
        let program = self.program;
        let around = program.loops().filter(|b| *b != outer.f.body && program.nested(*b).contains(&block));
        let around: Vec<_> = around.filter(|b| program.nested(outer.f.body).contains(b)).collect();
        let [body] = around[..] else { return around.is_empty().then_some(None) };
        let inner = program.blocks[outer.f.body].statements.iter().find_map(|s| match &s.kind {
            StatementKind::For(f) if f.body == body => self.sweep(f, &s.before, &outer.at),
            _ => None,
        })?;
        Some(Some(inner))
    }

    /// Which elements a place is in the iterations over `index`, as can be told at `before`.
    fn elements(&self, place: &Place, at: &At, index: VarId, before: &At) -> Option<Elements> {
        let program = self.program;
        let [Projection::Index(position)] = place.projections[..] else { return None };
        if program.frozen.contains_key(&position) {
            return None;
        }
        let fixed = |e: ExprId| {
            // It is asked for while the array is borrowed.
            let plain = program.tree(e).into_iter().all(|e| match &program.exprs[e].kind {
                ExprKind::Constant(c) => c.aliases.is_empty() && !c.mentions.contains(&place.base),
                _ => true,
            });
            plain && same_before(program, e, at, before) && self.free(e, before, self.top())
        };
        match program.run(position, index).filter(|run| run.parts().all(fixed)) {
            Some(run) => Some(Elements::Run(run)),
            None => fixed(position).then_some(Elements::One(position)),
        }
    }

    /// A loop around brings back what it overwrites of this variable as a whole.
    pub(crate) fn is_swept(&mut self, id: VarId) -> bool {
        let Some((body, swept)) = self.sweeping(id) else { return false };
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

    /// The outermost loop that may sweep through the variable.
    pub(crate) fn sweeping(&self, id: VarId) -> Option<(BlockId, Swept)> {
        self.levels.iter().find_map(|level| {
            let swept = level.swept.iter().find(|swept| swept.variable == id)?;
            Some((level.block, swept.clone()))
        })
    }

    /// `place`, read at `at`, is an element that a loop sweeps through, as that finds it: whenever an iteration is undone, it is there.
    pub(crate) fn is_back(&self, place: &Place, at: &At) -> bool {
        // The caller wants it back in any case.
        let wanted = self.program.variables[place.base].origin == Origin::Unique;
        wanted
            && self.sweeping(place.base).is_some_and(|(body, _)| {
                !self.not_yet.contains(&(body, place.base))
                    && self.own_elements(place, at).contains(&(body, Moment::Entry))
            })
    }

    /// The loops that sweep through an array of which `place`, read at `at`, is their iteration's own element.
    pub(crate) fn own_elements(&self, place: &Place, at: &At) -> Vec<(BlockId, Moment)> {
        let moment = |level: &Level| {
            let swept = level.swept.iter().find(|swept| swept.variable == place.base)?;
            Some((level.block, self.moment(level, swept, place, at)?))
        };
        self.levels.iter().filter_map(moment).collect()
    }

    fn moment(&self, level: &Level, swept: &Swept, place: &Place, at: &At) -> Option<Moment> {
        let program = self.program;
        let [Projection::Index(position)] = place.projections[..] else { return None };
        let (other, there) = &swept.place;
        let Elements::Run(run) = &swept.elements else {
            let apart = self.facts().apart(program, (place, at), (other, there));
            return apart.then_some(Moment::Elsewhere);
        };
        let index = swept.within.map_or(level.index, |(_, index, _)| Some(index))?;
        let same =
            program.run(position, index).is_some_and(|own| program.same_run(run, &own, at, &swept.before));
        if !same || swept.within.is_some() {
            let range = swept.within.map_or(level.counter.as_ref()?.1, |(_, _, range)| range);
            let (other, there) = (other.clone(), there.clone());
            let overwritten = Iterations { place: (&other, &there), index, range, before: &swept.before };
            return self.facts().never_in(program, (place, at), &overwritten).then_some(Moment::Elsewhere);
        }
        // With a step of zero the iterations have one element among them.
        if run.stride.is_some_and(|stride| !self.facts().is_not_zero(program, stride, &swept.before)) {
            return None;
        }
        let version = at.versions.get(&place.base)?;
        let block = &program.blocks[level.block];
        let entry = block.statements.first().map_or(&block.tail, |first| &first.before);
        let is = |moment: &At| moment.versions.get(&place.base) == Some(version);
        match (is(entry), is(&block.end)) {
            (true, _) => Some(Moment::Entry),
            (false, true) => Some(Moment::Exit),
            (false, false) => None,
        }
    }

    /// What stands before and after the reverse pass of the loop `f`, whose body has been undone: what it swept through comes back.
    pub(crate) fn bring_back(&mut self, f: &For, at: &At) -> (TokenStream, TokenStream) {
        let (mut before, mut after) = (TokenStream::new(), TokenStream::new());
        for Swept { variable, elements, within, .. } in self.active_sweeps(f) {
            let reads =
                self.reads.iter().filter(|read| read.loops.contains(&f.body) && read.variable == variable);
            let moment = |read: &MemoryRead| {
                read.own.iter().find(|(body, _)| *body == f.body).map(|(_, moment)| *moment)
            };
            let moments: Vec<_> = reads.map(moment).collect();
            let all = |moment| moments.iter().all(|m| *m == Some(moment) || *m == Some(Moment::Elsewhere));
            if !all(Moment::Entry) && !all(Moment::Exit) {
                // Found out too late: the next run does without.
                if !self.not_yet.insert((f.body, variable)) {
                    self.unswept.insert((f.body, variable));
                }
                self.missed = true;
                continue;
            }
            self.present(variable);
            let level = self.top();
            let mut text = |e: ExprId| self.text(e, at, level);
            let (iterations, positions) = (iterations(f, within, &mut text), positions(elements, &mut text));
            let method = match elements {
                Elements::Run(Run { stride: None, .. }) => quote!(bring_back),
                Elements::Run(_) => quote!(bring_steps_back),
                Elements::One(_) => quote!(bring_one_back),
            };
            let (name, slot) =
                (&self.program.variables[variable].unique, &self.sweep_slots[&(f.body, variable)]);
            let back = quote!(#slot.#method(#iterations, || #positions, &mut #name[..]););
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
        for Swept { variable, name, elements, within, .. } in self.active_sweeps(f) {
            let slot = &self.sweep_slots[&(f.body, variable)];
            let mut syntax = |e: ExprId| self.program.exprs[e].syntax.to_token_stream();
            let (iterations, positions) =
                (iterations(f, within, &mut syntax), positions(elements, &mut syntax));
            let method = match elements {
                Elements::Run(Run { stride: None, .. }) => quote!(keep),
                Elements::Run(_) => quote!(keep_steps),
                Elements::One(_) => quote!(keep_one),
            };
            kept.extend(quote!(#slot.#method(#iterations, || #positions, &#name[..]);));
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
pub(crate) fn bounds<'p>(program: &'p Program, f: &For) -> Option<&'p syn::ExprRange> {
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

/// The iterations, each of which has an element: none, if the loop around those of a loop within has none.
fn iterations(
    f: &For,
    within: Option<(BlockId, VarId, ExprId)>,
    write: &mut impl FnMut(ExprId) -> TokenStream,
) -> TokenStream {
    let range = write(f.range);
    match within {
        None => range,
        Some((.., inner)) => {
            let inner = write(inner);
            quote!(__pb::within(#range, || #inner))
        }
    }
}

/// Where the first element is, and what it is from one to the next.
fn positions(elements: Elements, write: &mut impl FnMut(ExprId) -> TokenStream) -> TokenStream {
    match elements {
        Elements::One(position) => write(position),
        Elements::Run(Run { start, stride }) => {
            let start = start.map_or(quote!(0), &mut *write);
            match stride.map(write) {
                Some(stride) => quote!((#start, #stride)),
                None => start,
            }
        }
    }
}

impl Program {
    /// The index of a loop, unless an iteration changes it.
    pub(crate) fn counter(&self, f: &For) -> Option<VarId> {
        let index = f.index?;
        let changes = |s: &Statement| matches!(&s.kind, StatementKind::Assign(a) if a.place.base == index);
        let changed = self.nested(f.body).into_iter().any(|b| self.blocks[b].statements.iter().any(changes));
        (!changed && !self.variables[index].memory).then_some(index)
    }

    /// Numbers one after the other, written through an index.
    pub(crate) fn is_flat(&self, id: VarId) -> bool {
        let variable = &self.variables[id];
        let array =
            variable.slice || self.vectors.contains(&id) || matches!(variable.zero, Some(Zero::Repeat(..)));
        array && variable.kind == Kind::Sequence(Box::new(Kind::Float)) && variable.memory
    }

    fn same_elements(&self, a: &Swept, b: &Swept) -> bool {
        let body = |swept: &Swept| swept.within.map(|(body, ..)| body);
        let same = match (a.elements, b.elements) {
            (Elements::Run(run), Elements::Run(other)) => self.same_run(&run, &other, &a.before, &a.before),
            (Elements::One(a), Elements::One(b)) => self.same_text(a, b),
            _ => false,
        };
        same && body(a) == body(b)
    }

    /// Constant code asks for nothing but the shape of the variable, which has the same one everywhere.
    pub(crate) fn shape_alone(&self, constant: &Constant, id: VarId) -> bool {
        self.variables[id].fixed && !constant.reads.contains(&id)
    }
}
