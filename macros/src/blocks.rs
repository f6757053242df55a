//! Loops whose reverse pass runs block by block: `next[i] = u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1])`.
//!
//! An iteration contributes to elements that the next one contributes to as well, and to `k`, to which all do: one after the other, and
//! so none of it in vectors. In blocks, a loop computes what each iteration contributes and puts it side by side, and adds it up
//! afterwards; both run in vectors, with checks of bounds before them.
//!
//! It takes iterations that are formulas: arithmetic on numbers and on elements at fixed distances from the index. Since each block has
//! to be begun and ended, they have to be long ones, unless the values of functions are kept, which takes longer.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::fusion::{added_to, read_in};
use crate::kept::Item;
use crate::kind::reused_method;
use crate::program::*;
use crate::reverse::{Level, Reverse};
use crate::rows::{Holder, Row, same_before};
use crate::stencil::{WIDEST, shifted};
use crate::sweep::bounds;

/// The operations that an iteration takes at least for blocks to pay, as measured where vectors have two elements.
const LEAST_WORK: usize = 24;

/// How a loop runs block by block.
#[derive(Clone)]
pub(crate) struct Blocks {
    /// The index of the first iteration of a block.
    pub(crate) first: Ident,
    /// The number of its iterations.
    pub(crate) len: Ident,
    /// The number of an iteration within the block.
    pub(crate) lane: Ident,
}

impl Blocks {
    /// The loop, of which `rows` stand before a block, and `after` behind one. What iterations have kept is on a stack, if at all.
    pub(crate) fn run(
        &self,
        (index, range): (&Ident, &TokenStream),
        residuals: Option<(Ident, TokenStream)>,
        rows: &TokenStream,
        body: &TokenStream,
        after: &TokenStream,
    ) -> TokenStream {
        let Blocks { first, len, lane } = self;
        let (kept, row) = (Program::fresh("kept"), Program::fresh("kept_row"));
        let (start, take, residual) = match residuals {
            Some((stack, pattern)) => (
                quote!(let #kept = #stack.all(&(#range)); let mut #kept = #kept.as_slice();),
                quote!(let #row; (#row, #kept) = #kept.split_at(#len);),
                quote!(let #pattern = #row[#lane];),
            ),
            None => Default::default(),
        };
        quote! {
            #start
            for (#first, #len) in __pb::blocks(#range) {
                #take
                #rows
                for #lane in 0..#len {
                    let #index = #first + #lane;
                    #residual
                    #body
                }
                #after
            }
        }
    }
}

impl Reverse<'_> {
    /// How the reverse pass of the loop `f`, which stands at `before`, runs in blocks, if that is possible and pays.
    pub(crate) fn blocks(&mut self, f: &For, before: &At) -> Option<Blocks> {
        let program = self.program;
        let open = self.known.is_some() && self.captured.is_empty() && !self.unblocked.contains(&f.body);
        if !open || program.generic() || program.dual || f.strategy.is_some() || program.left_early(f.body) {
            return None;
        }
        let index = program.counter(f)?;
        let known = bounds(program, f).is_some()
            && same_before(program, f.range, before, before)
            && self.replayable(f.range, before, self.top());
        let formula = Formula::of(program, f.body, index, self.keeping.reuses(f.body)).filter(|_| known)?;
        formula.pays().then(|| Blocks {
            first: self.kept.fresh("first"),
            len: self.kept.fresh("len"),
            lane: self.kept.fresh("lane"),
        })
    }
}

impl Reverse<'_> {
    /// The block, of which the formula has been undone, keeps nothing but values of methods.
    pub(crate) fn keeps_values_alone(&self, body: BlockId) -> bool {
        let items = self.kept.items(body);
        items.is_empty()
            || self.keeping.reuses(body) && items.iter().all(|(item, _)| matches!(item, Item::Value(_)))
    }

    /// The element as one of those that a block goes through, if the innermost loop runs in blocks.
    pub(crate) fn element_of_block(
        &mut self,
        place: &Place,
        level: usize,
        holder: Holder,
    ) -> Option<(Ident, TokenStream)> {
        let Level { index, rows, .. } = &self.levels[level];
        let (index, Blocks { first, len, lane }) = ((*index)?, rows.blocks.clone()?);
        let [Projection::Index(position)] = place.projections[..] else { return None };
        let start = shifted(quote!(#first), self.program.offset(position, index)?);
        let row = Row { part: TokenStream::new(), start, count: quote!(#len) };
        Some((self.row_of(place.base, level, holder, row), quote!(#lane)))
    }

    /// The element of a shadow that the innermost loop reads or empties.
    pub(crate) fn own_element(&mut self, place: &Place, level: usize) -> Option<(Ident, TokenStream)> {
        let shared = self.program.variables[place.base].by_reference();
        self.element_of_block(place, level, if shared { Holder::Shadow } else { Holder::Own })
    }

    /// The number is one that all iterations of the innermost loop, which runs in blocks, contribute to.
    pub(crate) fn is_common(&self, place: &Place) -> bool {
        let Level { block, rows, .. } = &self.levels[self.top()];
        rows.blocks.is_some()
            && place.projections.is_empty()
            && self.program.variables[place.base].block != *block
    }
}

/// The body of a loop that is nothing but arithmetic.
struct Formula<'p> {
    program: &'p Program,
    body: BlockId,
    index: VarId,
    /// The active arrays that it reads, and the distances from the index.
    offsets: BTreeMap<VarId, BTreeSet<i64>>,
    /// The active numbers from outside that it reads.
    common: BTreeSet<VarId>,
    /// The index is one of arrays, and so a `usize`.
    indexes: bool,
    /// Its operations on active numbers.
    work: usize,
    /// Methods whose values are kept may occur, and do.
    reuses: bool,
    reused: bool,
    /// The arrays that it writes to, by what they share memory with, and the distance of the element.
    written: BTreeMap<VarId, i64>,
}

impl<'p> Formula<'p> {
    fn of(program: &'p Program, body: BlockId, index: VarId, reuses: bool) -> Option<Self> {
        let mut formula = Formula {
            program,
            body,
            index,
            offsets: BTreeMap::new(),
            common: BTreeSet::new(),
            indexes: false,
            work: 0,
            reuses,
            reused: false,
            written: BTreeMap::new(),
        };
        let block = &program.blocks[body];
        (block.value.is_none() && block.statements.iter().all(|s| formula.statement(s))).then_some(())?;
        let numbers: Vec<VarId> =
            program.written(body).into_iter().filter(|id| !program.variables[*id].memory).collect();
        let summed = added_to(program, &[body], &numbers) && !read_in(program, &[body], &numbers);
        summed.then_some(formula)
    }

    /// There is something that the loop would have to do one after the other.
    fn pays(&self) -> bool {
        let wide = |offsets: &BTreeSet<i64>| offsets.last().zip(offsets.first()).map_or(0, |(m, l)| m - l);
        let widths: Vec<i64> = self.offsets.values().map(wide).collect();
        self.indexes
            && (self.work >= LEAST_WORK || self.reused)
            && widths.iter().all(|width| *width <= WIDEST)
            && (widths.iter().any(|width| *width > 0) || !self.common.is_empty())
    }

    fn statement(&mut self, statement: &Statement) -> bool {
        match &statement.kind {
            StatementKind::Let(l) => {
                matches!(l.variables[..], [Some(_)])
                    && !l.tuple
                    && l.aliases.is_empty()
                    && l.init.is_some_and(|init| self.expr(init))
            }
            StatementKind::Assign(assign) => self.assign(assign),
            StatementKind::Opaque(_) => true,
            _ => false,
        }
    }

    fn assign(&mut self, assign: &Assign) -> bool {
        let (program, place) = (self.program, &assign.place);
        let sum = matches!(assign.op, None | Some(Op::Add | Op::Sub));
        if !self.expr(assign.value) {
            return false;
        }
        if place.projections.is_empty() {
            return !program.variables[place.base].memory;
        }
        let Some(offset) = self.offset(place) else { return false };
        let storage = program.variables[place.base].storage;
        self.indexes = true;
        sum && program.is_flat(place.base) && *self.written.entry(storage).or_insert(offset) == offset
    }

    fn expr(&mut self, e: ExprId) -> bool {
        let program = self.program;
        let operation = matches!(
            program.exprs[e].kind,
            ExprKind::Binary { .. } | ExprKind::Method { .. } | ExprKind::Neg(_)
        );
        self.work += usize::from(operation && program.exprs[e].active);
        match &program.exprs[e].kind {
            ExprKind::Constant(constant) => {
                let number = |id: &VarId| {
                    let variable = &program.variables[*id];
                    !variable.memory && !variable.by_reference() || !constant.reads.contains(id)
                };
                constant.pure && constant.aliases.is_empty() && constant.mentions.iter().all(number)
            }
            ExprKind::Read(place) => self.read(place),
            ExprKind::Neg(e) | ExprKind::Paren(e) | ExprKind::Cast(e, _) => self.expr(*e),
            ExprKind::Binary { op: Op::Add | Op::Sub | Op::Mul | Op::Div, left, right } => {
                self.expr(*left) && self.expr(*right)
            }
            ExprKind::Method { receiver, name, args } => {
                let reused = self.reuses && reused_method(&name.to_string());
                self.reused |= reused;
                (name == "sqrt" || name == "recip" || name == "mul_add" || reused)
                    && self.expr(*receiver)
                    && args.iter().all(|arg| self.expr(*arg))
            }
            _ => false,
        }
    }

    fn read(&mut self, place: &Place) -> bool {
        let variable = &self.program.variables[place.base];
        if place.projections.is_empty() {
            if variable.memory || variable.by_reference() {
                return false;
            }
            if variable.active && variable.block != self.body {
                self.common.insert(place.base);
            }
            return true;
        }
        let Some(offset) = self.offset(place) else { return false };
        self.indexes = true;
        if variable.active {
            self.offsets.entry(place.base).or_default().insert(offset);
        }
        variable.has_rows()
    }

    /// How far an element is from the index.
    fn offset(&self, place: &Place) -> Option<i64> {
        let [Projection::Index(position)] = place.projections[..] else { return None };
        let number = self.program.kind_of_place(place) == Kind::Float;
        let frozen = self.program.frozen.contains_key(&position);
        (number && !frozen).then(|| self.program.offset(position, self.index))?
    }
}
