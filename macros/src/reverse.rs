//! The reverse pass: undoes the statements of each block, the last one first, and hands gradients from results to operands.

use std::collections::{HashMap, HashSet};

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Ident;

use crate::errors::Errors;
use crate::kept::{Item, Kept};
use crate::program::*;
use crate::stencil::{Moves, Stencil};

/// A block whose reverse pass is being written.
pub(crate) struct Level {
    pub(crate) block: BlockId,
    pub(crate) out: TokenStream,
    /// What memory holds at this point of the reverse pass.
    pub(crate) current: Versions,
    /// Definitions that have been evaluated again.
    pub(crate) names: HashMap<DefId, Ident>,
    /// Likewise expressions.
    pub(crate) temporaries: HashMap<ExprId, Ident>,
    /// The variables of the block whose shadows have been declared.
    declared: HashSet<VarId>,
    is_loop: bool,
    /// The index of a loop, and what an iteration adds to elements near it.
    index: Option<VarId>,
    stencil: Stencil,
}

/// Something that lasts from call to call: a field of the rule's state.
pub(crate) struct Slot {
    pub(crate) name: Ident,
    pub(crate) init: TokenStream,
}

/// Memory that the reverse pass reads: the variable, the version and the loops around the reading.
type Reads = Vec<(VarId, usize, Vec<BlockId>)>;

pub(crate) struct Reverse<'p> {
    pub(crate) program: &'p Program,
    pub(crate) levels: Vec<Level>,
    pub(crate) kept: Kept,
    pub(crate) slots: Vec<Slot>,
    /// The slots of calls and loops.
    pub(crate) rules: HashMap<ExprId, Ident>,
    pub(crate) stacks: HashMap<StmtId, Ident>,
    /// Names in use for values of variables.
    pub(crate) named: HashSet<String>,
    pub(crate) reads: Reads,
    pub(crate) errors: Errors,
    /// The reads of an earlier run; without them every write is undone.
    known: Option<Reads>,
    /// The loop, a statement of the function's body, whose two passes are to become one.
    fuse: Option<usize>,
    pub(crate) fused: Option<Fused>,
}

/// The reverse pass around a loop whose iterations run forward and backward at once; see [`crate::fusion`].
pub(crate) struct Fused {
    /// What comes after the loop, undone.
    pub(crate) suffix: TokenStream,
    /// One iteration, undone.
    pub(crate) body: TokenStream,
    /// What has to follow the loop.
    pub(crate) after: TokenStream,
    /// What the reverse pass had asked the function's body to keep by then.
    pub(crate) kept: usize,
}

/// A gradient on its way: an expression, and how tightly it binds.
#[derive(Clone)]
struct Cotangent {
    tokens: TokenStream,
    /// A name or an element: can be written several times.
    atom: bool,
}

impl Cotangent {
    fn atom(tokens: TokenStream) -> Self {
        Cotangent { tokens, atom: true }
    }
    fn term(tokens: TokenStream) -> Self {
        Cotangent { tokens, atom: false }
    }
}

impl quote::ToTokens for Cotangent {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.tokens.to_tokens(tokens);
    }
}

/// Writes the reverse pass of `program`. Two runs: the first finds out what is read, so that the second undoes only
/// those writes that matter.
pub(crate) fn reverse(program: &Program) -> (Reverse<'_>, TokenStream) {
    let mut first = Reverse::new(program, None);
    first.run();
    let mut second = Reverse::new(program, Some(first.reads));
    let tokens = second.run();
    (second, tokens)
}

/// A name of generated code.
pub(crate) fn quote_name(name: &str) -> TokenStream {
    let ident = Program::fresh(name);
    quote!(#ident)
}

impl<'p> Reverse<'p> {
    fn new(program: &'p Program, known: Option<Reads>) -> Self {
        Reverse {
            program,
            levels: Vec::new(),
            kept: Kept::new(
                program.variables.iter().flat_map(|v| [v.unique.to_string(), v.shadow.to_string()]),
            ),
            slots: Vec::new(),
            rules: HashMap::new(),
            stacks: HashMap::new(),
            named: program
                .variables
                .iter()
                .filter(|v| v.origin != Origin::Local)
                .map(|v| v.unique.to_string())
                .collect(),
            reads: Vec::new(),
            errors: Errors::default(),
            known,
            fuse: None,
            fused: None,
        }
    }

    /// Another run over the same program with the same state, in which the loop `statement` of the body is fused.
    pub(crate) fn fusing(&self, statement: usize) -> (Self, TokenStream) {
        let mut other = Reverse::new(self.program, self.known.clone());
        for slot in &self.slots {
            other.kept.fresh(&slot.name.to_string());
            other.slots.push(Slot { name: slot.name.clone(), init: slot.init.clone() });
        }
        other.rules = self.rules.clone();
        other.stacks = self.stacks.clone();
        other.fuse = Some(statement);
        let tokens = other.run();
        (other, tokens)
    }

    fn run(&mut self) -> TokenStream {
        let seed = Cotangent::atom(quote_name("d"));
        self.open(BODY, false);
        self.undo_block(BODY, Some(&seed));
        let gradients = self.program.parameters.iter().map(|p| self.gradient(*p)).collect::<Vec<_>>();
        let out = self.close();
        quote!(#out (#(#gradients,)*))
    }

    fn open(&mut self, block: BlockId, is_loop: bool) {
        self.levels.push(Level {
            block,
            out: TokenStream::new(),
            current: (*self.program.blocks[block].end.versions).clone(),
            names: HashMap::new(),
            temporaries: HashMap::new(),
            declared: HashSet::new(),
            is_loop,
            index: None,
            stencil: Stencil::default(),
        });
    }

    fn close(&mut self) -> TokenStream {
        self.levels.pop().expect("a level per open block").out
    }

    fn emit(&mut self, tokens: TokenStream) {
        self.levels.last_mut().expect("within a block").out.extend(tokens);
    }

    pub(crate) fn loops(&self, level: usize) -> Vec<BlockId> {
        self.levels[..=level].iter().filter(|l| l.is_loop).map(|l| l.block).collect()
    }

    /// What the pullback returns for a parameter.
    fn gradient(&mut self, parameter: Option<VarId>) -> TokenStream {
        let Some(id) = parameter else { return quote!(__pb::zero()) };
        let variable = &self.program.variables[id];
        match variable.origin {
            Origin::Value if self.levels[0].declared.contains(&id) => {
                let shadow = &variable.shadow;
                quote!(#shadow)
            }
            _ => quote!(__pb::zero()),
        }
    }

    /// Undoes a block whose level is open. `seed` is the gradient with respect to its value.
    fn undo_block(&mut self, id: BlockId, seed: Option<&Cotangent>) {
        let block = &self.program.blocks[id];
        if let Some(value) = block.value {
            self.pull_root(value, seed.cloned(), &block.tail);
        }
        for (i, statement) in block.statements.iter().enumerate().rev() {
            match &statement.kind {
                StatementKind::For(f) if id == BODY && self.fuse == Some(i) => {
                    self.undo_fused(f, &statement.before)
                }
                _ => self.undo_statement(statement),
            }
            let top = self.top();
            self.levels[top].current = (*statement.before.versions).clone();
        }
    }

    fn undo_statement(&mut self, statement: &Statement) {
        let at = &statement.before;
        match &statement.kind {
            StatementKind::Let(l) => self.undo_let(l, at),
            StatementKind::Assign(assign) => self.undo_assign(assign, statement),
            StatementKind::Expr(expr, _) => self.pull_root(*expr, None, at),
            StatementKind::For(f) => self.undo_for(f, statement),
            StatementKind::While(w) => self.undo_while(w, statement),
            StatementKind::Opaque(_) => {}
        }
    }

    fn undo_let(&mut self, l: &Let, at: &At) {
        let Some(init) = l.init else { return };
        let program = self.program;
        if let (true, ExprKind::Tuple(elements)) = (l.tuple, &program.exprs[init].kind) {
            for (variable, element) in l.variables.iter().zip(elements).rev() {
                let seed = variable.and_then(|id| self.final_shadow(id));
                self.pull_root(*element, seed, at);
            }
        } else if l.tuple {
            if !program.exprs[init].active {
                return;
            }
            let parts: Vec<_> = l
                .variables
                .iter()
                .map(|id| match id.and_then(|id| self.final_shadow(id)) {
                    Some(shadow) => shadow.tokens,
                    None => quote!(__pb::zero()),
                })
                .collect();
            self.pull_root(init, Some(Cotangent::term(quote!((#(#parts),*)))), at);
        } else {
            let seed = l.variables[0].and_then(|id| self.final_shadow(id));
            self.pull_root(init, seed, at);
            if let Some(id) = l.variables[0] {
                self.give_back(id);
            }
        }
    }

    /// The gradient with respect to the initial value of a local.
    fn final_shadow(&self, id: VarId) -> Option<Cotangent> {
        let variable = &self.program.variables[id];
        let level = self.level_of(variable.block);
        let shadow = &variable.shadow;
        self.levels[level].declared.contains(&id).then(|| Cotangent::atom(quote!(#shadow)))
    }

    /// A root is an expression that is a statement, an initialiser or an assigned value: what it wrote has to be undone
    /// even if nobody looks at its value.
    fn pull_root(&mut self, expr: ExprId, seed: Option<Cotangent>, at: &At) {
        let peeled = self.program.peel(expr);
        let writes = matches!(
            self.program.exprs[peeled].kind,
            ExprKind::Call { .. } | ExprKind::If { .. } | ExprKind::Block(_)
        );
        match seed {
            Some(seed) => self.pull(peeled, &seed, at),
            None if writes => self.pull(peeled, &Cotangent::term(quote!(__pb::zero())), at),
            None => {}
        }
    }

    fn undo_assign(&mut self, assign: &Assign, statement: &Statement) {
        let at = &statement.before;
        let id = assign.place.base;
        let variable = &self.program.variables[id];
        let value = self.program.peel(assign.value);
        if variable.memory {
            let output = variable.origin == Origin::Unique
                && assign.op.is_none()
                && self.program.exprs[value].active
                && matches!(self.program.exprs[value].kind, ExprKind::Method { .. });
            if output {
                // The place still holds the value of the method that was assigned to it.
                let after = At {
                    block: at.block,
                    versions: std::rc::Rc::new(self.levels[self.top()].current.clone()),
                };
                let level = self.top();
                let base = &variable.unique;
                let projections = self.projections(&assign.place.projections, at, level);
                self.reads_memory(id, &after, level);
                let place = deref(&assign.place, quote!(#base), projections);
                let name = self.kept.fresh("y");
                self.emit(quote!(let #name = #place;));
                self.levels[level].temporaries.insert(value, name);
            }
            if self.needs_undo(id, at) {
                let level = self.top();
                self.present(id);
                let old = self.kept.keep(at.block, Item::Old(statement.id), "old");
                let base = &variable.unique;
                let projections = self.projections(&assign.place.projections, at, level);
                let place = deref(&assign.place, quote!(#base), projections);
                self.emit(quote!(#place = #old;));
            }
        }
        // From here on memory is as it was before the statement.
        let top = self.top();
        self.levels[top].current = (*at.versions).clone();
        if !variable.active {
            return self.pull_root(value, None, at);
        }
        if !self.has_shadow(id) {
            return self.pull_root(value, None, at);
        }
        match assign.op {
            Some(op @ (Op::Add | Op::Sub)) => {
                if !self.program.exprs[value].active {
                    return;
                }
                let d = self.read_shadow(&assign.place, at);
                let d = if op == Op::Sub { negate(d) } else { d };
                self.pull(value, &d, at);
            }
            _ => {
                let simple = !variable.memory && assign.op.is_none() && !self.reads_shadow_of(id, value);
                if simple {
                    let shadow = &variable.shadow;
                    self.pull_root(value, Some(Cotangent::atom(quote!(#shadow))), at);
                    if variable.kind == Kind::Float {
                        self.emit(quote!(#shadow = 0.0;));
                    } else {
                        self.emit(quote!(#shadow = __pb::zero();));
                    }
                } else {
                    let d = self.take_shadow(&assign.place, at);
                    self.pull_root(assign.result, Some(d), at);
                }
            }
        }
    }

    /// A write to memory that was at `at` has to be undone: somebody reads what it held, or the caller wants it back.
    fn needs_undo(&self, id: VarId, at: &At) -> bool {
        let variable = &self.program.variables[id];
        let Some(known) = &self.known else { return true };
        if variable.origin == Origin::Unique {
            return true;
        }
        let version = at.versions.get(&id).copied().unwrap_or(0);
        let outer = self.level_of(variable.block);
        let around: Vec<_> = self.levels[outer + 1..].iter().filter(|l| l.is_loop).map(|l| l.block).collect();
        known.iter().any(|(v, read, loops)| {
            *v == id && (*read <= version || loops.iter().any(|l| around.contains(l)))
        })
    }

    /// `expr` hands gradients to the variable `id`.
    fn reads_shadow_of(&self, id: VarId, expr: ExprId) -> bool {
        let mut roots = vec![expr];
        roots.extend(self.program.tree(expr).into_iter().flat_map(|e| self.program.blocks_of(e)).flat_map(
            |b| self.program.nested(b).into_iter().flat_map(|b| self.program.roots(b)).collect::<Vec<_>>(),
        ));
        roots.into_iter().flat_map(|r| self.program.tree(r)).any(|e| match &self.program.exprs[e].kind {
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => place.base == id,
            _ => false,
        })
    }

    fn undo_for(&mut self, f: &For, statement: &Statement) {
        let at = &statement.before;
        let (body, stencil) = self.undo_iteration(f);
        if body.is_empty() && self.kept.is_empty(f.body) {
            return;
        }
        let level = self.top();
        let range = if self.replayable(f.range, at, level) {
            self.text(f.range, at, level)
        } else {
            let name = self.kept.keep(at.block, Item::Range(statement.id), "range");
            quote!(#name)
        };
        let pattern = match f.index {
            Some(index) => {
                let name = &self.program.variables[index].unique;
                quote!(#name)
            }
            None => quote!(_),
        };
        let pop = self.pop(f.body, statement.id);
        let bounds = syn::parse2::<syn::ExprRange>(range.clone()).ok();
        let moves = self.finish(stencil, f, bounds.as_ref(), false);
        let range = match bounds {
            Some(_) => quote!((#range).rev()),
            None if steps_inclusively(&self.program.exprs[f.range].syntax) => quote!(__pb::backwards(#range)),
            None => quote!(#range.rev()),
        };
        let Moves { before, within, after } = moves;
        self.emit(quote!(#before for #pattern in #range { #pop #body #within } #after));
    }

    fn undo_fused(&mut self, f: &For, at: &At) {
        let (body, stencil) = self.undo_iteration(f);
        let kept = self.kept.items(BODY).len();
        let range =
            if self.replayable(f.range, at, 0) { self.text(f.range, at, 0) } else { TokenStream::new() };
        let bounds = syn::parse2::<syn::ExprRange>(range).ok();
        let Moves { before, within, after } = self.finish(stencil, f, bounds.as_ref(), true);
        let suffix = std::mem::take(&mut self.levels[0].out);
        self.fused =
            Some(Fused { suffix: quote!(#suffix #before), body: quote!(#body #within), after, kept });
    }

    /// One iteration of a loop, undone; what it adds to elements near the index is gathered.
    fn undo_iteration(&mut self, f: &For) -> (TokenStream, Stencil) {
        self.open(f.body, true);
        self.levels.last_mut().expect("just opened").index = f.index;
        self.undo_block(f.body, None);
        let stencil = std::mem::take(&mut self.levels.last_mut().expect("opened above").stencil);
        (self.close(), stencil)
    }

    fn finish(
        &mut self,
        stencil: Stencil,
        f: &For,
        range: Option<&syn::ExprRange>,
        ascending: bool,
    ) -> Moves {
        match f.index {
            Some(index) => stencil.finish(self.program, index, range, ascending, &mut self.kept),
            None => Moves::default(),
        }
    }

    fn undo_while(&mut self, w: &While, statement: &Statement) {
        self.open(w.body, true);
        self.undo_block(w.body, None);
        let body = self.close();
        if body.is_empty() && self.kept.is_empty(w.body) {
            return;
        }
        let count = self.kept.keep(statement.before.block, Item::Count(statement.id), "count");
        let pop = self.pop(w.body, statement.id);
        self.emit(quote!(for _ in 0..#count { #pop #body }));
    }

    /// Takes the residual of one iteration off the loop's stack.
    fn pop(&mut self, body: BlockId, statement: StmtId) -> TokenStream {
        if self.kept.is_empty(body) {
            return TokenStream::new();
        }
        let stack = match self.stacks.get(&statement) {
            Some(stack) => stack.clone(),
            None => {
                let stack = self.kept.fresh("stack");
                self.slots.push(Slot { name: stack.clone(), init: quote!(__pb::Stack::new()) });
                self.stacks.insert(statement, stack.clone());
                stack
            }
        };
        let pattern = self.kept.pattern(body);
        quote!(let #pattern = #stack.pop();)
    }

    // ---- shadows ----

    /// Whether gradients have come, or may still come, to a variable.
    fn has_shadow(&mut self, id: VarId) -> bool {
        let variable = &self.program.variables[id];
        if variable.by_reference() {
            return true;
        }
        let level = self.level_of(variable.block);
        if level < self.top() {
            // A later round of a loop, or the other branch, may contribute.
            self.declare(id);
        }
        self.levels[level].declared.contains(&id)
    }

    /// Declares the shadow of a local or by-value parameter in the block of the variable.
    fn declare(&mut self, id: VarId) {
        let program = self.program;
        let variable = &program.variables[id];
        let level = self.level_of(variable.block);
        if !self.levels[level].declared.insert(id) {
            return;
        }
        let shadow = &variable.shadow;
        let zero = match (&variable.zero, &variable.kind) {
            (Some(zero), _) => zero_tokens(zero),
            (None, Kind::Float) => quote!(0.0),
            (None, _)
                if variable.memory
                    && matches!(variable.kind, Kind::Sequence(_))
                    && variable.origin == Origin::Local =>
            {
                let name = &variable.unique;
                self.present(id);
                let pool = self.pool(id);
                quote!(#pool.take(&#name))
            }
            (None, Kind::Sequence(_)) => {
                let name = self.any_value(id);
                quote!(__pb::zero_of(&#name))
            }
            (None, _) if variable.memory => {
                let name = &variable.unique;
                self.present(id);
                let pool = self.pool(id);
                quote!(#pool.take(&#name))
            }
            // The compiler has to know the type before it sees a part of it.
            (None, _) if variable.parted => {
                let name = self.any_value(id);
                quote!(__pb::zero_of(&#name))
            }
            _ => quote!(__pb::zero()),
        };
        self.levels[level].out.extend(quote!(let mut #shadow = #zero;));
    }

    /// Some value of the variable, to tell its type.
    fn any_value(&mut self, id: VarId) -> TokenStream {
        let variable = &self.program.variables[id];
        if variable.memory {
            self.present(id);
        }
        let level = self.level_of(variable.block);
        let current =
            At { block: variable.block, versions: std::rc::Rc::new(self.levels[level].current.clone()) };
        let place = Place { base: id, projections: Vec::new() };
        if variable.memory {
            let name = &variable.unique;
            quote!(#name)
        } else {
            self.place(&place, &current, level)
        }
    }

    /// The slot that keeps the shadow of a local between calls.
    fn pool(&mut self, id: VarId) -> Ident {
        let name = format_ident!("pool_{}", self.program.variables[id].shadow);
        if !self.slots.iter().any(|slot| slot.name == name) {
            self.slots.push(Slot { name: name.clone(), init: quote!(__pb::Pool::new()) });
        }
        name
    }

    fn give_back(&mut self, id: VarId) {
        let name = format_ident!("pool_{}", self.program.variables[id].shadow);
        if self.slots.iter().any(|slot| slot.name == name) {
            let shadow = &self.program.variables[id].shadow;
            self.emit(quote!(#name.give(#shadow);));
        }
    }

    fn accumulate(&mut self, place: &Place, d: &Cotangent, at: &At) {
        let program = self.program;
        let variable = &program.variables[place.base];
        if !variable.active {
            return;
        }
        let level = self.top();
        if let Some(offset) = self.near_index(place) {
            let Level { stencil, out, .. } = &mut self.levels[level];
            out.extend(stencil.gather(place.base, offset, &d.tokens, &mut self.kept));
            return;
        }
        let projections = self.projections(&place.projections, at, level);
        let shadow = &variable.shadow;
        if variable.by_reference() {
            let cells = Program::fresh("d");
            let part = if projections.is_empty() { quote!(*#cells) } else { quote!(&#cells #projections) };
            return self.emit(quote!(#shadow.accumulate(|#cells| #part, #d);));
        }
        let home = self.level_of(variable.block);
        if projections.is_empty() && home == level && self.levels[home].declared.insert(place.base) {
            return self.emit(quote!(let mut #shadow = #d;));
        }
        self.declare(place.base);
        if program.kind_of_place(place) == Kind::Float {
            self.emit(quote!(#shadow #projections += #d;));
        } else {
            self.emit(quote!(__pb::accumulate(&mut #shadow #projections, #d);));
        }
    }

    /// The offset of an element of a shared array from the index of the innermost loop. Nobody reads the shadow of a shared
    /// reference meanwhile, so that additions to it can wait.
    fn near_index(&self, place: &Place) -> Option<i64> {
        let index = self.levels[self.top()].index?;
        let variable = &self.program.variables[place.base];
        let [Projection::Index(position)] = place.projections[..] else { return None };
        let floats = self.program.kind_of_place(place) == Kind::Float;
        (variable.origin == Origin::Shared && floats).then(|| self.program.offset(position, index))?
    }

    fn read_shadow(&mut self, place: &Place, at: &At) -> Cotangent {
        let variable = &self.program.variables[place.base];
        let level = self.top();
        let projections = self.projections(&place.projections, at, level);
        let shadow = &variable.shadow;
        if projections.is_empty() && !variable.by_reference() {
            return Cotangent::atom(quote!(#shadow));
        }
        let name = self.kept.fresh("d");
        if variable.by_reference() {
            let cells = Program::fresh("d");
            let part = if projections.is_empty() { quote!(*#cells) } else { quote!(&#cells #projections) };
            self.emit(quote!(let #name = #shadow.read(|#cells| #part);));
        } else {
            self.emit(quote!(let #name = #shadow #projections;));
        }
        Cotangent::atom(quote!(#name))
    }

    fn take_shadow(&mut self, place: &Place, at: &At) -> Cotangent {
        let variable = &self.program.variables[place.base];
        let level = self.top();
        let projections = self.projections(&place.projections, at, level);
        let shadow = &variable.shadow;
        let name = self.kept.fresh("d");
        if variable.by_reference() {
            let cells = Program::fresh("d");
            let part = if projections.is_empty() { quote!(*#cells) } else { quote!(&#cells #projections) };
            self.emit(quote!(let #name = #shadow.take(|#cells| #part);));
        } else {
            self.emit(quote!(let #name = __pb::take(&mut #shadow #projections);));
        }
        Cotangent::atom(quote!(#name))
    }

    // ---- gradients of expressions ----

    /// Gives a gradient that is used several times a name.
    fn bind(&mut self, d: &Cotangent) -> Cotangent {
        if d.atom {
            return d.clone();
        }
        let name = self.kept.fresh("d");
        self.emit(quote!(let #name = #d;));
        Cotangent::atom(quote!(#name))
    }

    /// Hands `d`, the gradient with respect to `expr`, on to the operands.
    fn pull(&mut self, expr: ExprId, d: &Cotangent, at: &At) {
        let program = self.program;
        let node = &program.exprs[expr];
        if !node.active {
            return;
        }
        let active = |e: ExprId| program.exprs[e].active;
        match &node.kind {
            ExprKind::Constant(_) => {}
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => self.accumulate(place, d, at),
            ExprKind::Paren(e) => self.pull(*e, d, at),
            ExprKind::Neg(e) => self.pull(*e, &negate(d.clone()), at),
            ExprKind::Binary { op, left, right } => {
                let both = active(*left) && active(*right);
                let d = if both { self.bind(d) } else { d.clone() };
                match op {
                    Op::Add => {
                        self.pull(*left, &d, at);
                        self.pull(*right, &d, at);
                    }
                    Op::Sub => {
                        self.pull(*left, &d, at);
                        self.pull(*right, &negate(d), at);
                    }
                    Op::Mul if both && self.same_variable(*left, *right) => {
                        let factor = self.value(*left, at);
                        self.pull(*left, &Cotangent::term(quote!(2.0 * #d * #factor)), at);
                    }
                    Op::Mul => {
                        if active(*left) {
                            let right = self.value(*right, at);
                            self.pull(*left, &Cotangent::term(quote!(#d * #right)), at);
                        }
                        if active(*right) {
                            let left = self.value(*left, at);
                            self.pull(*right, &Cotangent::term(quote!(#d * #left)), at);
                        }
                    }
                    Op::Div => {
                        let divisor = self.value(*right, at);
                        if active(*left) {
                            self.pull(*left, &Cotangent::term(quote!(#d / #divisor)), at);
                        }
                        if active(*right) {
                            let quotient = self.value(expr, at);
                            self.pull(*right, &Cotangent::term(quote!(-#d * #quotient / #divisor)), at);
                        }
                    }
                    Op::Rem => {
                        // a % b = a - b·trunc(a/b)
                        self.pull(*left, &d, at);
                        if active(*right) {
                            let (left, divisor) = (self.value(*left, at), self.value(*right, at));
                            self.pull(*right, &Cotangent::term(quote!(-#d * (#left / #divisor).trunc())), at);
                        }
                    }
                }
            }
            ExprKind::Cast(e, _) => {
                let value = self.value(*e, at);
                self.pull(*e, &Cotangent::term(quote!(__pb::cast_tangent(&#value, #d))), at);
            }
            ExprKind::Method { receiver, name, args } => self.pull_method(expr, *receiver, name, args, d, at),
            ExprKind::Call { function, args } => self.pull_call(expr, function, args, d, at),
            ExprKind::If { cond, then, otherwise } => self.pull_if(expr, *cond, *then, *otherwise, d, at),
            ExprKind::Block(block) => {
                let d = if self.yields(*block) { self.bind(d) } else { d.clone() };
                self.open(*block, false);
                self.undo_block(*block, Some(&d));
                let body = self.close();
                if self.kept.is_empty(*block) {
                    self.emit(quote!({ #body }));
                } else {
                    let residual = self.kept.keep(at.block, Item::Branch(expr), "inner");
                    let pattern = self.kept.pattern(*block);
                    self.emit(quote!({ let #pattern = #residual; #body }));
                }
            }
            ExprKind::Tuple(elements) => {
                let d = self.bind(d);
                for (i, element) in elements.iter().enumerate() {
                    let index = syn::Index::from(i);
                    self.pull_root(*element, Some(Cotangent::atom(quote!(#d.#index))), at);
                }
            }
            ExprKind::Array(elements) => {
                let d = self.bind(d);
                for (i, element) in elements.iter().enumerate() {
                    let index = syn::Index::from(i);
                    self.pull_root(*element, Some(Cotangent::atom(quote!(#d[#index]))), at);
                }
            }
            ExprKind::Repeat(element, _) => self.pull(*element, &Cotangent::term(quote!(__pb::sum(#d))), at),
        }
    }

    /// `x * x`, of floats.
    fn same_variable(&self, left: ExprId, right: ExprId) -> bool {
        let program = self.program;
        let (left, right) = (program.peel(left), program.peel(right));
        match (&program.exprs[left].kind, &program.exprs[right].kind) {
            (ExprKind::Read(_), ExprKind::Read(_)) => {
                let syntax = |e: ExprId| program.exprs[e].syntax.to_token_stream().to_string();
                program.kind_of(left) == Kind::Float && syntax(left) == syntax(right)
            }
            _ => false,
        }
    }

    fn pull_method(
        &mut self,
        expr: ExprId,
        receiver: ExprId,
        name: &Ident,
        args: &[ExprId],
        d: &Cotangent,
        at: &At,
    ) {
        let program = self.program;
        let level = self.top();
        let x = self.value(receiver, at);
        let operands: Vec<_> = args.iter().map(|a| self.value(*a, at)).collect();
        let y = self.text(expr, at, level);
        let pullback = format_ident!("{name}_pullback", span = name.span());
        let call = quote_spanned!(name.span()=> #x.#pullback(#(#operands,)* || #y, #d));
        if args.is_empty() {
            return self.pull(receiver, &Cotangent::term(call), at);
        }
        let operands: Vec<_> = std::iter::once(receiver).chain(args.iter().copied()).collect();
        let names: Vec<_> =
            operands.iter().map(|e| program.exprs[*e].active.then(|| self.kept.fresh("d"))).collect();
        let pattern = names.iter().map(|n| n.as_ref().map_or(quote!(_), |n| quote!(#n)));
        self.emit(quote!(let (#(#pattern),*) = #call;));
        for (operand, name) in operands.into_iter().zip(names) {
            if let Some(name) = name {
                self.pull(operand, &Cotangent::atom(quote!(#name)), at);
            }
        }
    }

    fn pull_call(&mut self, expr: ExprId, function: &syn::Path, args: &[ExprId], d: &Cotangent, at: &At) {
        let program = self.program;
        let level = self.top();
        let last = &function.segments.last().expect("a path has a segment").ident;
        let known = self.rules.get(&expr).cloned();
        let rule = known.clone().unwrap_or_else(|| self.kept.fresh(&format!("{last}_rule")));
        let residual = self.kept.keep(at.block, Item::Residual(expr), &format!("{last}_residual"));
        // The pullback gets the arguments as the forward left them.
        let after = At { block: at.block, versions: std::rc::Rc::new(self.levels[level].current.clone()) };
        let mut init = quote_spanned!(last.span()=> #function::rule());
        // The shadows of locals are borrowed before the arguments are.
        let mut local = HashMap::new();
        for &arg in args {
            let ExprKind::Borrow { place, .. } = &program.exprs[arg].kind else { continue };
            let variable = &program.variables[place.base];
            if variable.active && !variable.by_reference() && !local.contains_key(&place.base) {
                let whole = self.local_shadow(place.base, at);
                let name = self.kept.fresh("cells");
                self.emit(quote!(let #name = #whole;));
                local.insert(place.base, name);
            }
        }
        let (mut texts, mut shadows) = (Vec::new(), Vec::new());
        for (i, &arg) in args.iter().enumerate() {
            let ExprKind::Borrow { place, unique } = &program.exprs[arg].kind else {
                let temporary = matches!(program.exprs[arg].syntax, syn::Expr::Reference(_));
                if temporary && !self.replayable(arg, at, level) {
                    self.errors.push(
                        &program.exprs[arg].syntax,
                        "the pullback needs this value once more: bind it with `let` first, and pass a reference to the variable",
                    );
                }
                if !program.exprs[arg].active && program.kind_of(arg) != Kind::Inert && !temporary {
                    init = quote!(#init.forgoing(#i));
                }
                texts.push(if temporary { self.text(arg, at, level) } else { self.value(arg, at) });
                shadows.push(quote!(__pb::none()));
                continue;
            };
            let text = if *unique {
                if !self.needs_undo(place.base, at) {
                    init = quote!(#init.forgoing(#i));
                }
                // Indices are as they were before the call, the contents as it left them.
                self.borrow_after(place, at, &after)
            } else {
                self.text(arg, at, level)
            };
            if program.variables[place.base].disturbed {
                self.errors.push(
                    &program.exprs[arg].syntax,
                    "this variable is changed by code that cannot be undone: borrow it before, or copy it into a variable of its own",
                );
            }
            texts.push(text);
            shadows.push(self.shadow_argument(place, at, local.get(&place.base)));
        }
        if known.is_none() {
            self.slots.push(Slot { name: rule.clone(), init });
            self.rules.insert(expr, rule.clone());
        }
        let values: Vec<_> = args
            .iter()
            .map(|&arg| {
                let by_value = !matches!(program.exprs[arg].kind, ExprKind::Borrow { .. });
                (by_value && program.exprs[arg].active).then(|| self.kept.fresh("d"))
            })
            .collect();
        let call = quote_spanned! {last.span()=>
            #rule.pullback(#residual, #function::args(#(#texts),*), (#(#shadows,)*), #d)
        };
        if values.iter().all(Option::is_none) {
            self.emit(quote!(#call;));
        } else {
            let pattern = values.iter().map(|n| n.as_ref().map_or(quote!(_), |n| quote!(#n)));
            self.emit(quote!(let (#(#pattern,)*) = #call;));
        }
        // The callee has brought its arguments back.
        self.levels[level].current = (*at.versions).clone();
        for (&arg, name) in args.iter().zip(values) {
            if let Some(name) = name {
                self.pull(arg, &Cotangent::atom(quote!(#name)), at);
            }
        }
    }

    fn borrow_after(&mut self, place: &Place, at: &At, after: &At) -> TokenStream {
        let level = self.top();
        let variable = &self.program.variables[place.base];
        self.reads_memory(place.base, after, level);
        self.present(place.base);
        let base = &variable.unique;
        let projections = self.projections(&place.projections, at, level);
        match variable.by_reference() && projections.is_empty() {
            true => quote!(&mut *#base),
            false => quote!(&mut #base #projections),
        }
    }

    /// What stands for the shadow of a borrowed argument.
    fn shadow_argument(&mut self, place: &Place, at: &At, local: Option<&Ident>) -> TokenStream {
        let program = self.program;
        let variable = &program.variables[place.base];
        if !variable.active {
            return quote!(__pb::none());
        }
        let level = self.top();
        let projections = self.projections(&place.projections, at, level);
        let shadow = &variable.shadow;
        if variable.by_reference() {
            if projections.is_empty() {
                return quote!(#shadow.into());
            }
            let cells = Program::fresh("d");
            return quote!(#shadow.map(|#cells| &#cells #projections).into());
        }
        let whole = local.expect("bound before the call");
        if projections.is_empty() {
            quote!(#whole.into())
        } else {
            let cells = Program::fresh("d");
            quote!(#whole.map(|#cells| &#cells #projections).into())
        }
    }

    /// The shadow of a local as a callee sees it.
    fn local_shadow(&mut self, id: VarId, at: &At) -> TokenStream {
        self.declare(id);
        let variable = &self.program.variables[id];
        let shadow = &variable.shadow;
        let value = if variable.memory {
            self.present(id);
            let name = &variable.unique;
            quote!(#name)
        } else {
            let level = self.top();
            self.place(&Place { base: id, projections: Vec::new() }, at, level)
        };
        quote!(__pb::shadow_of(&#value, &mut #shadow))
    }

    /// The block has a value that carries a gradient.
    fn yields(&self, block: BlockId) -> bool {
        let Some(value) = self.program.blocks[block].value else { return false };
        let value = self.program.peel(value);
        let blocks = self.program.blocks_of(value);
        let statement = !blocks.is_empty() && !blocks.into_iter().any(|b| self.yields(b));
        self.program.exprs[value].active && !statement
    }

    fn pull_if(
        &mut self,
        expr: ExprId,
        cond: ExprId,
        then: BlockId,
        otherwise: Option<BlockId>,
        d: &Cotangent,
        at: &At,
    ) {
        let valued = self.yields(then) || otherwise.is_some_and(|b| self.yields(b));
        let d = if valued { self.bind(d) } else { d.clone() };
        self.open(then, false);
        self.undo_block(then, Some(&d));
        let then_body = self.close();
        let else_body = match otherwise {
            Some(block) => {
                self.open(block, false);
                self.undo_block(block, Some(&d));
                self.close()
            }
            None => TokenStream::new(),
        };
        let stateless = self.kept.is_empty(then) && otherwise.is_none_or(|b| self.kept.is_empty(b));
        if !stateless {
            let residual = self.kept.keep(at.block, Item::Branch(expr), "branch");
            let then_pattern = self.kept.pattern(then);
            let else_pattern = otherwise.map_or(quote!(()), |b| self.kept.pattern(b));
            return self.emit(quote! {
                match #residual {
                    __pb::Branch::Then(#then_pattern) => { #then_body }
                    __pb::Branch::Else(#else_pattern) => { #else_body }
                }
            });
        }
        if then_body.is_empty() && else_body.is_empty() {
            return;
        }
        let level = self.top();
        let cond = if self.free(cond, at, level) {
            self.text(cond, at, level)
        } else {
            let name = self.kept.keep(at.block, Item::Value(cond), "taken");
            quote!(#name)
        };
        self.emit(match (then_body.is_empty(), else_body.is_empty()) {
            (false, true) => quote!(if #cond { #then_body }),
            (true, false) => quote!(if !(#cond) { #else_body }),
            _ => quote!(if #cond { #then_body } else { #else_body }),
        });
    }
}

/// `(a..=b).step_by(n)`, which the standard library does not reverse.
fn steps_inclusively(range: &syn::Expr) -> bool {
    fn inclusive(range: &syn::Expr) -> bool {
        match range {
            syn::Expr::Range(range) => matches!(range.limits, syn::RangeLimits::Closed(_)),
            syn::Expr::Paren(paren) => inclusive(&paren.expr),
            syn::Expr::MethodCall(call) => inclusive(&call.receiver),
            _ => false,
        }
    }
    match range {
        syn::Expr::Paren(paren) => steps_inclusively(&paren.expr),
        syn::Expr::MethodCall(call) if call.method == "step_by" => inclusive(&call.receiver),
        syn::Expr::MethodCall(call) => steps_inclusively(&call.receiver),
        _ => false,
    }
}

fn deref(place: &Place, base: TokenStream, projections: TokenStream) -> TokenStream {
    let deref = place.projections.iter().any(|p| matches!(p, Projection::Deref));
    if deref && projections.is_empty() { quote!(*#base) } else { quote!(#base #projections) }
}

fn negate(d: Cotangent) -> Cotangent {
    let mut tokens = d.tokens.clone().into_iter();
    match tokens.next() {
        Some(proc_macro2::TokenTree::Punct(minus)) if minus.as_char() == '-' => {
            Cotangent { tokens: tokens.collect(), atom: false }
        }
        _ => {
            let d = d.tokens;
            Cotangent::term(quote!(-#d))
        }
    }
}

fn zero_tokens(zero: &Zero) -> TokenStream {
    match zero {
        Zero::Scalar => quote!(0.0),
        Zero::Repeat(element, len) => {
            let element = zero_tokens(element);
            quote!([#element; #len])
        }
        Zero::List(elements) => {
            let elements = elements.iter().map(zero_tokens);
            quote!([#(#elements),*])
        }
    }
}
