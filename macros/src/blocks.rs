//! Loops whose reverse pass runs block by block: `next[i] = u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1])`.
//!
//! An iteration contributes to elements that the next one contributes to as well, and to `k`, to which all do: one after the other, and
//! so none of it in vectors. In blocks, a loop computes what each iteration contributes and puts it side by side, and adds it up
//! afterwards; both run in vectors, with checks of bounds before them.
//!
//! It takes iterations that are formulas: arithmetic on numbers and on elements at fixed distances from the index. Since each block has
//! to be begun and ended, they have to be long ones, unless the values of functions are kept, which takes longer.
//!
//! An iteration may also hand a few numbers on to the next, as the steps of a differential equation do; see [`crate::recurrence`]. Blocks
//! run backward then, and each of them in three loops: derivatives in vectors, the gradients of these numbers one after the other, and
//! in vectors again what goes to everything else.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Ident;

use crate::chain::Chain;
use crate::fusion::{added_to, read_in};
use crate::kept::Item;
use crate::kind::reused_method;
use crate::program::*;
use crate::recurrence::LONG;
use crate::reverse::{Level, Reverse};
use crate::rows::{Holder, Row, same_before};
use crate::stencil::{WIDEST, shifted};
use crate::sweep::bounds;

/// The operations that an iteration takes at least for blocks to pay, as measured where vectors have two elements.
const LEAST_WORK: usize = 24;

/// How many numbers iterations may hand on: there are that many derivatives of everything.
const WIDEST_STATE: usize = 3;

/// How a loop runs block by block.
#[derive(Clone)]
pub(crate) struct Blocks {
    /// The index of the first iteration of a block.
    pub(crate) first: Ident,
    /// The number of its iterations.
    pub(crate) len: Ident,
    /// The number of an iteration within the block.
    pub(crate) lane: Ident,
    /// The numbers that iterations hand on.
    pub(crate) carried: Vec<VarId>,
    /// They pay if there are many iterations.
    pub(crate) if_many: bool,
}

impl Blocks {
    /// Iterations hand numbers on.
    pub(crate) fn in_turn(&self) -> bool {
        !self.carried.is_empty()
    }

    /// The loop, of which `rows` stand before a block, and `after` behind one. What iterations have kept is on a stack, if at all.
    pub(crate) fn run(
        &self,
        (index, range): (Option<&Ident>, &TokenStream),
        residuals: Option<(Ident, TokenStream)>,
        rows: &TokenStream,
        (chain, body): (Option<Chain>, &TokenStream),
        after: &TokenStream,
    ) -> TokenStream {
        let Blocks { first, len, lane, .. } = self;
        let (kept, row) = (Program::fresh("kept"), Program::fresh("kept_row"));
        let backward = chain.is_some();
        let take = match backward {
            true => quote!((#kept, #row) = #kept.split_at(#kept.len() - #len);),
            false => quote!((#row, #kept) = #kept.split_at(#len);),
        };
        let (start, take, residual) = match residuals {
            Some((stack, pattern)) => (
                quote!(let #kept = #stack.all(&(#range)); let mut #kept = #kept.as_slice();),
                quote!(let #row; #take),
                quote!(let #pattern = #row[#lane];),
            ),
            None => Default::default(),
        };
        let (range, index) = match index {
            Some(index) => (range.clone(), quote!(let #index = #first + #lane;)),
            None => (quote!(0..__pb::count(#range)), TokenStream::new()),
        };
        match chain {
            Some(Chain { before, derivatives, step }) => quote! {
                #start
                #before
                for (#first, #len) in __pb::blocks_backward(#range) {
                    #take
                    #rows
                    for #lane in 0..#len {
                        #index
                        #residual
                        #derivatives
                    }
                    for #lane in (0..#len).rev() { #step }
                    for #lane in 0..#len { #body }
                    #after
                }
            },
            None => quote! {
                #start
                for (#first, #len) in __pb::blocks(#range) {
                    #take
                    #rows
                    for #lane in 0..#len {
                        #index
                        #residual
                        #body
                    }
                    #after
                }
            },
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
        let known = bounds(program, f).is_some()
            && same_before(program, f.range, before, before)
            && self.replayable(f.range, before, self.top());
        let carried = self.carried(f.body).unwrap_or_default();
        let index = program.counter(f);
        if !known || index != f.index || carried.is_empty() && index.is_none() {
            return None;
        }
        let (reuses, in_turn) = (self.keeping.reuses(f.body), !carried.is_empty());
        let formula = Formula::of(program, f.body, index, (reuses, in_turn))?;
        let (pays, if_many) = match in_turn {
            true => (formula.pays_in_turn(&carried), true),
            false => (formula.sums() && formula.pays(), !formula.is_long()),
        };
        let mut in_row = |(place, at): &(Place, At)| {
            index.is_some_and(|index| self.row_of_blocks(place, index, (at, before)).is_some())
        };
        let pays = pays && formula.in_rows.iter().all(&mut in_row);
        pays.then(|| Blocks {
            first: self.kept.fresh("first"),
            len: self.kept.fresh("len"),
            lane: self.kept.fresh("lane"),
            carried,
            if_many,
        })
    }

    /// The part of an array in which a loop that stands at `before` goes through a row, and where that starts.
    fn row_of_blocks(
        &mut self,
        place: &Place,
        index: VarId,
        (at, before): (&At, &At),
    ) -> Option<(TokenStream, TokenStream)> {
        let (program, level) = (self.program, self.level_of(before.block));
        let (around, start) = program.row(place, index)?;
        if start
            .is_some_and(|start| !same_before(program, start, at, before) || !self.free(start, before, level))
        {
            return None;
        }
        let part = self.part_of_row(&around, before, level + 1)?;
        let start = start.map(|start| self.text(start, before, level));
        Some((part, start.unwrap_or_default()))
    }
}

impl Reverse<'_> {
    /// The block, of which the formula has been undone, keeps nothing that blocks could not go through: values of methods, and what
    /// the iterations hand on.
    pub(crate) fn keeps_numbers_alone(&self, body: BlockId, blocks: &Blocks) -> bool {
        let items = self.kept.items(body);
        items.is_empty()
            || blocks.in_turn()
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
        let (index, Blocks { first, len, lane, .. }) = ((*index)?, rows.blocks.clone()?);
        let (part, start) = match self.program.near(place, index) {
            Some(offset) => (TokenStream::new(), shifted(quote!(#first), offset)),
            None => {
                let before = rows.before.clone();
                let (part, start) = self.row_of_blocks(place, index, (&before, &before))?;
                let start = if start.is_empty() { quote!(#first) } else { quote!(#start + #first) };
                (part, start)
            }
        };
        let row = Row { part, start, count: quote!(#len) };
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
    index: Option<VarId>,
    /// The active arrays that it reads, and the distances from the index.
    offsets: BTreeMap<VarId, BTreeSet<i64>>,
    /// The active numbers from outside that it reads.
    common: BTreeSet<VarId>,
    /// The index is one of arrays, and so a `usize`.
    indexes: bool,
    /// Methods whose values are kept may occur, and do.
    reuses: bool,
    reused: bool,
    /// Iterations hand numbers on: any methods may occur.
    in_turn: bool,
    /// The arrays that it writes to, by what they share memory with, and the distance of the element, or the start of the row.
    written: BTreeMap<VarId, String>,
    /// The elements of rows that it reads and writes.
    in_rows: Vec<(Place, At)>,
}

impl<'p> Formula<'p> {
    fn of(
        program: &'p Program,
        body: BlockId,
        index: Option<VarId>,
        (reuses, in_turn): (bool, bool),
    ) -> Option<Self> {
        let mut formula = Formula {
            program,
            body,
            index,
            offsets: BTreeMap::new(),
            common: BTreeSet::new(),
            indexes: false,
            reuses,
            reused: false,
            in_turn,
            written: BTreeMap::new(),
            in_rows: Vec::new(),
        };
        let block = &program.blocks[body];
        let all = block.value.is_none() && block.statements.iter().all(|s| formula.statement(s));
        all.then_some(formula)
    }

    /// All that happens to numbers from outside is that something is added.
    fn sums(&self) -> bool {
        let (program, body) = (self.program, self.body);
        let numbers: Vec<VarId> =
            program.written(body).into_iter().filter(|id| !program.variables[*id].memory).collect();
        added_to(program, &[body], &numbers) && !read_in(program, &[body], &numbers)
    }

    /// It takes long enough for blocks to pay where there are few iterations, too.
    fn is_long(&self) -> bool {
        self.program.operations(self.body) >= LEAST_WORK || self.reused
    }

    /// There is something that the loop would have to do one after the other.
    fn pays(&self) -> bool {
        let wide = |offsets: &BTreeSet<i64>| offsets.last().zip(offsets.first()).map_or(0, |(m, l)| m - l);
        let widest = self.offsets.values().map(wide).max().unwrap_or(0);
        self.indexes
            && widest <= WIDEST
            && match widest {
                0 => !self.common.is_empty(),
                _ => self.is_long(),
            }
    }

    /// The iterations, which hand `carried` on, take long enough, and there is not too much to be computed of each.
    fn pays_in_turn(&self, carried: &[VarId]) -> bool {
        let (program, body) = (self.program, self.body);
        let state = carried.iter().filter(|id| read_in(program, &[body], &[**id])).count();
        let mentioned = |index| {
            program
                .roots(body)
                .into_iter()
                .flat_map(|root| program.tree(root))
                .any(|e| program.mentions(e, index))
        };
        program.operations(body) >= LONG
            && state <= WIDEST_STATE
            && self.written.is_empty()
            && program.hands_on_numbers_alone(body)
            && self.offsets.values().all(|offsets| offsets.len() == 1)
            && (self.indexes || !self.index.is_some_and(mentioned))
    }

    fn statement(&mut self, statement: &Statement) -> bool {
        let rows = self.in_rows.len();
        let is_formula = self.is_formula(statement);
        for (_, at) in &mut self.in_rows[rows..] {
            at.clone_from(&statement.before);
        }
        is_formula
    }

    fn is_formula(&mut self, statement: &Statement) -> bool {
        match &statement.kind {
            StatementKind::Let(l) => {
                let parts = match l.init.map(|init| &self.program.exprs[init].kind) {
                    Some(ExprKind::Tuple(elements)) if l.tuple => elements.clone(),
                    Some(_) if !l.tuple => l.init.into_iter().collect(),
                    _ => return false,
                };
                l.variables.iter().all(Option::is_some)
                    && l.aliases.is_empty()
                    && parts.into_iter().all(|part| self.expr(part))
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
        let Some(element) = self.element(place) else { return false };
        let storage = program.variables[place.base].storage;
        sum && program.is_flat(place.base)
            && *self.written.entry(storage).or_insert(element.clone()) == element
    }

    fn expr(&mut self, e: ExprId) -> bool {
        let program = self.program;
        match &program.exprs[e].kind {
            ExprKind::Constant(constant) => {
                let number = |id: &VarId| {
                    let variable = &program.variables[*id];
                    let given = self.in_turn && variable.origin == Origin::Shared;
                    given || !variable.memory && !variable.by_reference() || !constant.reads.contains(id)
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
                (name == "sqrt" || name == "recip" || name == "mul_add" || reused || self.in_turn)
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
        if self.element(place).is_none() {
            return false;
        }
        if variable.active {
            let offset = self.index.and_then(|index| self.program.near(place, index));
            self.offsets.entry(place.base).or_default().insert(offset.unwrap_or(0));
        }
        variable.has_rows()
    }

    /// How far an element is from the index, or where its row starts.
    fn element(&mut self, place: &Place) -> Option<String> {
        let (program, index) = (self.program, self.index?);
        if program.kind_of_place(place) != Kind::Float {
            return None;
        }
        let element = match program.near(place, index) {
            Some(offset) => offset.to_string(),
            None => {
                let (_, start) = program.row(place, index)?;
                self.in_rows.push((place.clone(), At::default()));
                start
                    .map(|start| program.exprs[start].syntax.to_token_stream().to_string())
                    .unwrap_or_default()
            }
        };
        self.indexes = true;
        Some(element)
    }
}

impl Program {
    /// How far an element of an array is from the index.
    fn near(&self, place: &Place, index: VarId) -> Option<i64> {
        let [Projection::Index(position)] = place.projections[..] else { return None };
        (!self.frozen.contains_key(&position)).then(|| self.offset(position, index))?
    }
}
