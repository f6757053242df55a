//! Rows of matrices in flat slices: `w[i * n + j]` in a loop over `j`, and parts of slices that have a name.
//!
//! Likewise elements at fixed distances from the index, `x[i - 1]`, in a loop that runs in blocks: those of a block are a row.
//!
//! That an index is within bounds the forward pass has found out, but the optimiser cannot see it: with a check in each
//! iteration it cannot use vector instructions. The reverse pass takes the row out before the loop, with one check, and goes
//! through that.
//!
//! An integer that the loop counts up by ones, `a[k]` with `k += 1`, goes through a row as well.
//!
//! Of a local array and of what a `&mut` refers to, values are taken out where the loop writes none of them. The shadow of a local
//! array becomes cells, of which several rows can be had: as in `l[i * n + k] * l[j * n + k]`, of which nobody knows whether `i` is
//! `j`. The optimiser asks that before the loop.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Ident;

use crate::blocks::Blocks;
use crate::gather::Element;
use crate::iterators::source::is_zero;
use crate::program::*;
use crate::reverse::{Level, Reverse};

/// The rows that an innermost loop goes through.
#[derive(Default)]
pub(crate) struct Rows {
    /// The number of its iterations, if these count from zero.
    count: Option<TokenStream>,
    /// Where the loop stands, and what the variables hold there.
    pub(crate) before: At,
    /// The blocks in which it runs.
    pub(crate) blocks: Option<Blocks>,
    /// Of the value or of the shadow of a variable: where the row begins, as text, and what it is called.
    found: Vec<(VarId, Holder, String, Ident)>,
    /// The shadows of locals that are cells meanwhile.
    cells: Vec<(VarId, Ident)>,
    /// Statements before the loop, or before each block of it.
    pub(crate) out: TokenStream,
}

/// What holds a row: a value, the cells of a shadow, or a shadow that is a local vector, as such or as cells.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    Value,
    Shadow,
    Own,
    Cells,
}

impl Reverse<'_> {
    /// The rows of a loop that stands at `before`: none, but possible ones.
    pub(crate) fn rows(&mut self, f: &For, before: &At, blocks: Option<Blocks>) -> Rows {
        let program = self.program;
        let level = self.top();
        let mut rows = Rows { before: before.clone(), blocks, ..Rows::default() };
        if rows.blocks.is_some() {
            return rows;
        }
        let simple = f.strategy.is_none() && !program.left_early(f.body);
        let Some(index) = program.counter(f).filter(|_| simple) else {
            return rows;
        };
        let roots = program.roots(f.body);
        let goes_through = |e: ExprId| match &program.exprs[e].kind {
            ExprKind::Read(place) => program.row(place, index).is_some(),
            _ => false,
        };
        let any = roots.into_iter().flat_map(|root| program.tree(root)).any(goes_through);
        if any && self.replayable(f.range, before, level) {
            let range = self.text(f.range, before, level);
            rows.count = syn::parse2::<syn::ExprRange>(range).ok().and_then(|range| match range {
                syn::ExprRange {
                    start: Some(start),
                    end: Some(end),
                    limits: syn::RangeLimits::HalfOpen(_),
                    ..
                } if is_zero(&start) => Some(end.to_token_stream()),
                _ => None,
            });
        }
        rows
    }

    /// The element as one of a row, if the innermost loop goes through such a row in any case.
    pub(crate) fn element_of_row(
        &mut self,
        place: &Place,
        at: &At,
        level: usize,
        holder: Holder,
    ) -> Option<(Ident, TokenStream)> {
        if level == 0 || self.conditional > 0 {
            return None;
        }
        if let Some(element) = self.element_of_block(place, level, holder) {
            return Some(element);
        }
        let (row, index) = self.row_around(place, at, level, holder)?;
        Some((self.row_of(place.base, level, holder, row), index))
    }

    /// The row that the innermost loop goes through, and where in it the element is.
    fn row_around(
        &mut self,
        place: &Place,
        at: &At,
        level: usize,
        holder: Holder,
    ) -> Option<(Row, TokenStream)> {
        let program = self.program;
        let Level { block, index, rows, .. } = &self.levels[level];
        let (index, count, before) = ((*index)?, rows.count.clone(), rows.before.clone());
        let there = match holder {
            // Nothing is written to it meanwhile.
            Holder::Value => same_version(place.base, at, &before),
            _ => before.versions.contains_key(&place.base),
        };
        let variable = &program.variables[place.base];
        let stays = variable.has_rows() || there && (holder != Holder::Shadow || variable.fixed);
        if !stays || at.block != *block {
            return None;
        }
        if let Some((around, position)) = program.slice_of(place)
            && let Some((start, count, number)) = self.counted_row(position, at, level)
        {
            let part = self.part_of_row(&around, &before, level)?;
            return Some((Row { part, start, count }, number));
        }
        let (count, (around, start)) = (count?, program.row(place, index)?);
        if start.is_some_and(|start| {
            !same_before(program, start, at, &before) || !self.free(start, &before, level - 1)
        }) {
            return None;
        }
        let part = self.part_of_row(&around, &before, level)?;
        let start = start.map_or(quote!(0), |start| self.text(start, &before, level - 1));
        let name = &program.variables[index].unique;
        Some((Row { part, start, count }, quote!(#name)))
    }

    /// The part of an array in which the rows of a loop are, if it is the same before that.
    pub(crate) fn part_of_row(&mut self, around: &Place, before: &At, level: usize) -> Option<TokenStream> {
        let program = self.program;
        // The part stands where its name has been bound.
        let same = |range: ExprId| {
            let at = &program.frozen[&range];
            same_before(program, range, at, before) && self.free(range, before, level - 1)
        };
        if !around.indices().all(same) {
            return None;
        }
        Some(self.projections(&around.projections, before, level - 1))
    }

    /// Additions to the shadows of local arrays go to rows of these, if nothing else happens with them in the innermost loop, which has
    /// been undone but for its end.
    pub(crate) fn add_to_rows(&mut self) {
        let level = self.top();
        let mut code = std::mem::take(&mut self.levels[level].out);
        for id in code.only_added_to(self.program) {
            let rows: Option<Vec<_>> = code
                .contributions(id)
                .map(|c| self.row_around(&c.place, &c.at, level, Holder::Cells))
                .collect();
            for (contribution, (row, index)) in code.contributions(id).zip(rows.into_iter().flatten()) {
                contribution.shadow = self.row_of(id, level, Holder::Cells, row);
                contribution.projections = quote!([#index]);
                contribution.element = Element::Cell;
            }
        }
        self.levels[level].out = code;
    }

    /// The name of a row, which is taken out before the loop of this level.
    pub(crate) fn row_of(&mut self, id: VarId, level: usize, holder: Holder, row: Row) -> Ident {
        let Row { part, start, count } = row;
        let key = quote!(#part #start).to_string();
        let rows = &mut self.levels[level].rows;
        if let Some((.., row)) = rows.found.iter().find(|(i, h, k, _)| (*i, *h) == (id, holder) && *k == key)
        {
            return row.clone();
        }
        let variable = &self.program.variables[id];
        let Variable { unique, shadow, .. } = variable;
        let row = self.kept.fresh(&format!("{}_row", if holder == Holder::Value { unique } else { shadow }));
        let flat = |whole: &Ident| if part.is_empty() { quote!(#whole) } else { quote!(&#whole #part) };
        let taken_out = match holder {
            Holder::Value => {
                let own = part.is_empty() && !variable.has_rows();
                let flat = if own { quote!(&#unique[..]) } else { flat(unique) };
                quote!(let #row = __pb::row_of(#flat, || #start, #count);)
            }
            Holder::Shadow => {
                let cells = Program::fresh("d");
                let flat = flat(&cells);
                quote!(let #row = #shadow.map(|#cells| __pb::row_of(#flat, || #start, #count));)
            }
            Holder::Own => quote!(let #row = __pb::row_mut(&mut #shadow, #start, #count);),
            Holder::Cells => {
                let cells = match rows.cells.iter().find(|(other, _)| *other == id) {
                    Some((_, cells)) => cells.clone(),
                    None => {
                        let cells = self.kept.fresh(&format!("{shadow}_cells"));
                        rows.out.extend(quote!(let #cells = __pb::own_cells(&mut #shadow[..]);));
                        rows.cells.push((id, cells.clone()));
                        cells
                    }
                };
                let flat = flat(&cells);
                quote!(let #row = __pb::row_of(#flat, || #start, #count);)
            }
        };
        rows.out.extend(taken_out);
        rows.found.push((id, holder, key, row.clone()));
        row
    }
}

/// A row, as text: the part of an array, where it starts there, and its length.
pub(crate) struct Row {
    pub(crate) part: TokenStream,
    pub(crate) start: TokenStream,
    pub(crate) count: TokenStream,
}

/// `expr`, evaluated within a loop, is what it would have been before.
pub(crate) fn same_before(program: &Program, expr: ExprId, at: &At, before: &At) -> bool {
    program.tree(expr).into_iter().all(|e| match &program.exprs[e].kind {
        ExprKind::Constant(constant) => {
            let same = |id: &VarId| {
                same_version(*id, at, before)
                    || program.shape_alone(constant, *id) && before.versions.contains_key(id)
            };
            constant.pure && constant.mentions.iter().all(same)
        }
        ExprKind::Read(place) => place.projections.is_empty() && same_version(place.base, at, before),
        ExprKind::Binary { .. } | ExprKind::Paren(_) => true,
        _ => false,
    })
}

fn same_version(id: VarId, at: &At, before: &At) -> bool {
    before.versions.contains_key(&id) && before.versions.get(&id) == at.versions.get(&id)
}

impl Program {
    /// The slice that `place` is an element of, and where its row begins for a loop over `index`, if not where the slice does.
    pub(crate) fn row(&self, place: &Place, index: VarId) -> Option<(Place, Option<ExprId>)> {
        let (around, position) = self.slice_of(place)?;
        let start = match self.start_of_row(position, index) {
            None if around.projections.is_empty() || self.offset(position, index) != Some(0) => return None,
            start => start,
        };
        Some((around, start))
    }

    /// The slice that `place` is an element of, if that is an array or a part of one that has a name, and its index there.
    fn slice_of(&self, place: &Place) -> Option<(Place, ExprId)> {
        let variable = &self.variables[place.base];
        let (Projection::Index(position), around) = place.projections.split_last()? else { return None };
        let named = |p: &Projection| match p {
            Projection::Index(range) => {
                self.frozen.contains_key(range) && matches!(self.exprs[*range].syntax, syn::Expr::Range(_))
            }
            _ => false,
        };
        let flat = variable.has_rows() || self.is_flat(place.base);
        if !flat || self.frozen.contains_key(position) || !around.iter().all(named) {
            return None;
        }
        Some((Place { base: place.base, projections: around.to_vec() }, *position))
    }

    /// What is added to `index` in `position`: `start` in `start + index`.
    pub(crate) fn start_of_row(&self, position: ExprId, index: VarId) -> Option<ExprId> {
        let ExprKind::Binary { op: Op::Add, left, right } = self.exprs[self.peel(position)].kind else {
            return None;
        };
        let literal = |e: ExprId| matches!(self.exprs[self.peel(e)].syntax, syn::Expr::Lit(_));
        match (self.is_read_of(left, index), self.is_read_of(right, index)) {
            (false, true) if !literal(left) => Some(left),
            (true, false) if !literal(right) => Some(right),
            _ => None,
        }
    }

    /// `expr` is the variable `id`.
    pub(crate) fn is_read_of(&self, expr: ExprId, id: VarId) -> bool {
        matches!(&self.exprs[self.peel(expr)].kind, ExprKind::Read(place) if place.base == id && place.projections.is_empty())
    }
}

impl Variable {
    /// A slice, an array or a vector behind a shared reference.
    pub(crate) fn has_rows(&self) -> bool {
        self.origin == Origin::Shared && self.slice
    }
}
