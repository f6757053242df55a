//! Integers that count: `k += 1`.
//!
//! What a loop adds to such a variable is known without running it. So the reverse pass keeps no value of it for each iteration: it
//! counts back from what the loop has left, or, in a loop over a range, goes by the index.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::Ident;

use crate::program::*;
use crate::reverse::Reverse;
use crate::sweep::bounds;

/// An integer that each iteration of a loop changes by literals, and loops within by literals in each of theirs.
#[derive(Clone)]
pub(crate) struct Count {
    /// What it is when an iteration starts.
    entry: DefId,
    /// What it is when the loop is through.
    exit: DefId,
    changes: Vec<Change>,
    /// What it counts back by, once that is asked for.
    back: Option<Ident>,
}

/// A number, added once or in each iteration of a loop over a range.
#[derive(Clone)]
struct Change {
    by: i64,
    within: Option<(ExprId, At)>,
}

impl Reverse<'_> {
    /// The integers that the loop `statement` with this body counts.
    pub(crate) fn counts(&self, body: BlockId, statement: &Statement) -> Vec<Count> {
        let program = self.program;
        if program.left_early(body) {
            return Vec::new();
        }
        let entries = &program.blocks[body].entries;
        let exit_of = |id: VarId| {
            statement.defines.iter().copied().find(|def| {
                let block = statement.before.block;
                matches!(&program.definitions[*def], Definition::Merged { variable, block: b } if *variable == id && *b == block)
            })
        };
        let count = |(id, entry): &(VarId, DefId)| {
            let changes = program.changes(*id, body)?;
            Some(Count { entry: *entry, exit: exit_of(*id)?, changes, back: None })
        };
        entries.iter().filter_map(count).collect()
    }

    /// A name for what an integer is at the start of an iteration, if it counts.
    pub(crate) fn counted(&mut self, entry: DefId, variable: VarId) -> Option<Ident> {
        let found = |counts: &[Count]| counts.iter().position(|count| count.entry == entry);
        let (level, i) =
            (0..self.levels.len()).find_map(|level| Some((level, found(&self.levels[level].counts)?)))?;
        if let Some(name) = self.levels[level].names.get(&entry) {
            return Some(name.clone());
        }
        let count = self.levels[level].counts[i].clone();
        let known = |change: &Change| {
            change.within.as_ref().is_none_or(|(range, at)| self.replayable(*range, at, level))
        };
        if !count.changes.iter().all(known) {
            return None;
        }
        let variable = &self.program.variables[variable].unique;
        let name = self.kept.fresh(&format!("{variable}_in"));
        let value = match self.by_index(&count, level) {
            Some(value) => value,
            None => {
                let back = self.kept.fresh(&format!("{variable}_back"));
                for change in count.changes.iter().rev() {
                    let by = Literal::i64_unsuffixed(change.by.abs());
                    let step = match &change.within {
                        Some((range, at)) => {
                            let range = self.text(*range, at, level);
                            let by = Literal::i64_unsuffixed(-change.by);
                            quote!(#back = __pb::counted(#back, __pb::iterations(&(#range)), #by);)
                        }
                        None if change.by < 0 => quote!(#back += #by;),
                        None => quote!(#back -= #by;),
                    };
                    self.levels[level].out.extend(step);
                }
                self.levels[level].counts[i].back = Some(back.clone());
                quote!(#back)
            }
        };
        self.levels[level].out.extend(quote!(let #name = #value;));
        self.levels[level].names.insert(entry, name.clone());
        Some(name)
    }

    /// What the integer is, by the index of a loop over a range.
    fn by_index(&mut self, count: &Count, level: usize) -> Option<TokenStream> {
        if count.changes.iter().any(|change| change.within.is_some()) {
            return None;
        }
        let (index, first, _, at) = self.half_open(level)?;
        let (id, _) = self.program.blocks[self.levels[level].block]
            .entries
            .iter()
            .find(|(_, def)| *def == count.entry)?;
        let start = self.definition(*at.versions.get(id)?);
        let index = &self.program.variables[index].unique;
        let by = Literal::i64_unsuffixed(count.changes.iter().map(|change| change.by).sum());
        Some(quote!(__pb::counted(#start, __pb::since(#first, #index), #by)))
    }

    /// The index of the loop at `level` over a range without its end, the first one, the range, and what is known where it stands.
    fn half_open(&mut self, level: usize) -> Option<(VarId, Box<syn::Expr>, TokenStream, At)> {
        let (index, range, at) = self.levels[level].counter.clone().filter(|_| level > 0)?;
        if !self.replayable(range, &at, level - 1) {
            return None;
        }
        let range = self.text(range, &at, level - 1);
        let bounds: syn::ExprRange = syn::parse2(range.clone()).ok()?;
        let first = bounds.start.filter(|_| matches!(bounds.limits, syn::RangeLimits::HalfOpen(_)))?;
        bounds.end.is_some().then_some((index, first, range, at))
    }

    /// The row of elements that the loop at `level` goes through with an index that it counts up by ones: where the row starts, how long it
    /// is, and the number of an iteration's element in it.
    pub(crate) fn counted_row(
        &mut self,
        position: ExprId,
        at: &At,
        level: usize,
    ) -> Option<(TokenStream, TokenStream, TokenStream)> {
        let program = self.program;
        let ExprKind::Read(place) = &program.exprs[program.peel(position)].kind else { return None };
        let entry = at.versions.get(&place.base).filter(|_| place.projections.is_empty())?;
        let count = self.levels[level].counts.iter().find(|count| count.entry == *entry)?;
        let by: i64 = count.changes.iter().map(|change| change.by).sum();
        if by != 1 || count.changes.iter().any(|change| change.within.is_some()) {
            return None;
        }
        let (index, first, range, at) = self.half_open(level)?;
        let start = self.definition(*at.versions.get(&place.base)?);
        let index = &program.variables[index].unique;
        Some((
            quote!(#start),
            quote!(__pb::iterations(&(#range)) as usize),
            quote!(__pb::since(#first, #index) as usize),
        ))
    }

    /// What stands before a loop that counts back.
    pub(crate) fn counting(&mut self, counts: Vec<Count>) -> TokenStream {
        let mut before = TokenStream::new();
        for count in counts {
            if let Some(back) = count.back {
                let exit = self.definition(count.exit);
                before.extend(quote!(let mut #back = #exit;));
            }
        }
        before
    }
}

impl Program {
    /// What an iteration adds to the variable, in order, if nothing else changes it.
    fn changes(&self, id: VarId, body: BlockId) -> Option<Vec<Change>> {
        let variable = &self.variables[id];
        if variable.memory || variable.by_reference() || variable.disturbed || variable.active {
            return None;
        }
        let mut changes = Vec::new();
        for statement in &self.blocks[body].statements {
            match &statement.kind {
                StatementKind::Assign(assign) if assign.place.base == id => {
                    changes.push(Change { by: self.step(assign)?, within: None });
                }
                StatementKind::For(f) if self.written(f.body).contains(&id) => {
                    changes.extend(self.change_within(id, f, body, &statement.before)?);
                }
                _ => {}
            }
        }
        let times = self.writes_in(body).into_iter().filter(|written| *written == id).count();
        (!changes.is_empty() && changes.len() == times).then_some(changes)
    }

    /// What a loop within `body` does to it.
    fn change_within(&self, id: VarId, f: &For, body: BlockId, at: &At) -> Option<Vec<Change>> {
        let settled =
            bounds(self, f).is_some() && !self.left_early(f.body) && self.independent(f.range, at, body);
        let within = Some((f.range, at.clone()));
        let changes = self.changes(id, f.body).filter(|_| settled)?;
        let direct = changes.iter().all(|change| change.within.is_none());
        direct
            .then(|| changes.into_iter().map(|change| Change { within: within.clone(), ..change }).collect())
    }

    /// Nothing that iterations of `body` pass on has a part in the value.
    fn independent(&self, expr: ExprId, at: &At, body: BlockId) -> bool {
        self.tree(expr).into_iter().all(|e| {
            let mentioned = match &self.exprs[e].kind {
                ExprKind::Constant(constant) => constant.mentions.clone(),
                ExprKind::Read(place) | ExprKind::Borrow { place, .. } => vec![place.base],
                _ => Vec::new(),
            };
            mentioned.into_iter().all(|id| {
                let variable = &self.variables[id];
                if variable.memory || variable.by_reference() {
                    return true;
                }
                match at.versions.get(&id).map(|def| &self.definitions[*def]) {
                    Some(Definition::Entry { block, .. }) => *block != body,
                    Some(Definition::Computed { expr, at, .. }) => self.independent(*expr, at, body),
                    Some(_) => true,
                    None => false,
                }
            })
        })
    }

    /// What `k += 1` and the like add.
    fn step(&self, assign: &Assign) -> Option<i64> {
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(by), .. }) =
            &self.exprs[self.peel(assign.value)].syntax
        else {
            return None;
        };
        if by.suffix().starts_with('f') || !assign.place.projections.is_empty() {
            return None;
        }
        let by = by.base10_parse::<u32>().ok()?;
        match assign.op? {
            Op::Add => Some(by.into()),
            Op::Sub => Some(-i64::from(by)),
            _ => None,
        }
    }
}
