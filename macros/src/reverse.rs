//! The reverse pass: undoes the statements of each block, the last one first, and hands gradients from results to operands.

use std::collections::{HashMap, HashSet};

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::checkpoint::Checkpoints;
use crate::cotangent::Cotangent;
use crate::counts::Count;
use crate::errors::Errors;
use crate::gather::Code;
use crate::keeping::Keeping;
use crate::kept::{Item, Kept};
use crate::methods::of_option;
use crate::overwriting::Firsts;
use crate::passed_over::{Goes, Unseen};
use crate::plan::Plan;
use crate::program::*;
use crate::recurrence::Recurrence;
use crate::rows::Rows;
use crate::stencil::Stencil;
use crate::sweep::{MemoryRead, Swept};

/// A block whose reverse pass is being written.
pub(crate) struct Level {
    pub(crate) block: BlockId,
    pub(crate) out: Code,
    /// What memory holds at this point of the reverse pass.
    pub(crate) current: Versions,
    /// Definitions that have been evaluated again.
    pub(crate) names: HashMap<DefId, Ident>,
    /// Likewise expressions.
    pub(crate) temporaries: HashMap<ExprId, Ident>,
    /// The variables of the block whose shadows have been declared.
    pub(crate) declared: HashSet<VarId>,
    pub(crate) is_loop: bool,
    /// The index of a loop, and what an iteration adds to elements near it.
    pub(crate) index: Option<VarId>,
    pub(crate) stencil: Stencil,
    /// What a loop counts by, and the range, where it stands.
    pub(crate) counter: Option<(VarId, ExprId, At)>,
    pub(crate) rows: Rows,
    /// What the loop may sweep through.
    pub(crate) swept: Vec<Swept>,
    /// The integers that it counts.
    pub(crate) counts: Vec<Count>,
    /// What comes after all else.
    pub(crate) last: TokenStream,
}

/// Something that lasts from call to call: a field of the rule's state.
pub(crate) struct Slot {
    pub(crate) name: Ident,
    pub(crate) init: TokenStream,
}

/// Memory that the reverse pass reads.
type Reads = Vec<MemoryRead>;

pub(crate) struct Reverse<'p> {
    pub(crate) program: &'p Program,
    pub(crate) levels: Vec<Level>,
    pub(crate) kept: Kept,
    pub(crate) slots: Vec<Slot>,
    /// The slots of calls and loops.
    pub(crate) rules: HashMap<ExprId, Ident>,
    pub(crate) stacks: HashMap<StmtId, Ident>,
    /// What loops keep at checkpoints.
    pub(crate) checkpoints: HashMap<StmtId, Checkpoints>,
    /// The slots of the function itself.
    pub(crate) recursions: HashMap<usize, Ident>,
    /// Second names of callees, by their paths.
    pub(crate) imports: Vec<(TokenStream, Ident)>,
    /// The variables whose shadows come from pools.
    pub(crate) lent: HashSet<VarId>,
    /// The vectors to which gradients of what was pushed come back at the end of their block.
    pub(crate) kept_last: HashSet<VarId>,
    /// Where the shadows of locals are that are parts of others.
    pub(crate) parts: HashMap<VarId, TokenStream>,
    /// The shadows of what the closures that are being written have captured.
    pub(crate) captured: HashMap<VarId, Ident>,
    /// The slots of copies of what the function returns.
    pub(crate) copies: HashMap<VarId, Ident>,
    /// The slots of what the rows of such copies are in.
    pub(crate) row_spares: HashMap<VarId, Ident>,
    /// The slots of what the parts of such copies are in.
    pub(crate) spares: HashMap<VarId, Ident>,
    /// The slots of what is cut off vectors.
    pub(crate) removed: HashMap<ExprId, Ident>,
    /// The slots for exchanges of fields.
    pub(crate) exchanges: HashMap<ExprId, Ident>,
    /// Names in use for values of variables.
    pub(crate) named: HashSet<String>,
    pub(crate) reads: Reads,
    pub(crate) errors: Errors,
    /// The reads of an earlier run; without them every write is undone.
    pub(crate) known: Option<Reads>,
    /// What loops, by their bodies, keep as a whole before they sweep through it, and the slots.
    pub(crate) sweeps: HashMap<(BlockId, VarId), Swept>,
    pub(crate) sweep_slots: HashMap<(BlockId, VarId), Ident>,
    /// What they must not, as this run has found out, or an earlier one; and what is not to be looked at before its time.
    pub(crate) unswept: HashSet<(BlockId, VarId)>,
    pub(crate) not_yet: HashSet<(BlockId, VarId)>,
    /// This run has found out something that it should have known.
    pub(crate) missed: bool,
    /// What is kept though it could be computed again.
    pub(crate) keeping: Keeping,
    /// The branches around the expression that is being written, which may not be evaluated.
    pub(crate) conditional: usize,
    /// The gradient with respect to what leaves the function, a loop or a block with a value.
    pub(crate) seeds: HashMap<Target, Cotangent>,
    /// Where the two passes are to become one, and what the reverse pass around that consists of.
    pub(crate) plan: Plan,
    pub(crate) fused: HashMap<BlockId, Fused>,
    pub(crate) branched: HashMap<BlockId, Branched>,
    /// The slots that tell of parameters whether their shadows are fresh, and the parameters for which this run asks that.
    pub(crate) fresh: HashMap<VarId, Ident>,
    pub(crate) sets: HashSet<VarId>,
    /// The locals that calls come to first.
    pub(crate) firsts: Firsts,
    /// The loops of which only the last iteration that counts is undone, with the names of what tells which one that is; and those
    /// of which an earlier run has found that this does not do.
    pub(crate) latest: HashMap<StmtId, Ident>,
    pub(crate) not_latest: HashSet<StmtId>,
    /// Loops that do not run in blocks, since they keep something.
    pub(crate) unblocked: HashSet<BlockId>,
    /// Calls that might have had what was given back before the reverse pass came to them, and the names that an earlier run has given the
    /// rules of all calls.
    pub(crate) later_takers: HashSet<ExprId>,
    pub(crate) rule_names: HashMap<ExprId, Ident>,
    /// The iteration that is being undone, of a loop that hands numbers on.
    pub(crate) recurrence: Option<Recurrence>,
    /// The locals that nobody may look at, those that may be infinite, and what is being pulled if nobody may look at that.
    pub(crate) unseen_locals: HashSet<VarId>,
    pub(crate) steep_locals: HashSet<VarId>,
    pub(crate) unseen: Option<Unseen>,
}

/// The reverse pass around a loop whose iterations run forward and backward at once; see [`crate::fusion`].
pub(crate) struct Fused {
    /// What comes after the loop, undone.
    pub(crate) suffix: TokenStream,
    /// One iteration, undone.
    pub(crate) body: TokenStream,
    /// What has to follow the loop.
    pub(crate) after: TokenStream,
    /// What the reverse pass had asked the block to keep by then.
    pub(crate) kept: usize,
}

/// The reverse pass of an `if` at the end of a block, each branch of which runs forward and backward at once.
pub(crate) struct Branched {
    /// What comes before it.
    pub(crate) before: TokenStream,
    /// Its branches, undone.
    pub(crate) then: TokenStream,
    pub(crate) otherwise: TokenStream,
}

/// Writes the reverse pass of `program`, in several runs: the first finds out what is read, so that the second undoes only
/// those writes that matter. Then it is known which loops keep nothing. A third one keeps what takes long to compute again,
/// wherever something is kept anyway.
pub(crate) fn reverse(program: &Program) -> (Reverse<'_>, TokenStream) {
    let mut first = Reverse::new(program, None);
    first.run();
    let (second, tokens) = Reverse::new(program, Some(first.reads)).settled();
    let keeping = Keeping::beside(&second);
    if !keeping.any(program) {
        return (second, tokens);
    }
    let mut third = Reverse::new(program, second.known);
    third.keeping = keeping;
    third.settled()
}

/// A name of generated code.
pub(crate) fn quote_name(name: &str) -> TokenStream {
    let ident = Program::fresh(name);
    quote!(#ident)
}

impl<'p> Reverse<'p> {
    pub(crate) fn new(program: &'p Program, known: Option<Reads>) -> Self {
        Reverse {
            program,
            levels: Vec::new(),
            kept: Kept::new(
                program.variables.iter().flat_map(|v| [&v.name, &v.unique, &v.shadow].map(Ident::to_string)),
            ),
            slots: Vec::new(),
            rules: HashMap::new(),
            stacks: HashMap::new(),
            checkpoints: HashMap::new(),
            recursions: HashMap::new(),
            imports: Vec::new(),
            lent: HashSet::new(),
            kept_last: HashSet::new(),
            parts: HashMap::new(),
            captured: HashMap::new(),
            copies: HashMap::new(),
            row_spares: HashMap::new(),
            spares: HashMap::new(),
            removed: HashMap::new(),
            exchanges: HashMap::new(),
            named: names_in_use(program),
            reads: Vec::new(),
            errors: Errors::default(),
            known,
            sweeps: HashMap::new(),
            sweep_slots: HashMap::new(),
            unswept: HashSet::new(),
            not_yet: HashSet::new(),
            missed: false,
            keeping: Keeping::default(),
            conditional: 0,
            seeds: HashMap::new(),
            plan: Plan::default(),
            fused: HashMap::new(),
            branched: HashMap::new(),
            fresh: HashMap::new(),
            sets: HashSet::new(),
            firsts: Firsts::default(),
            latest: HashMap::new(),
            not_latest: HashSet::new(),
            unblocked: HashSet::new(),
            later_takers: HashSet::new(),
            rule_names: HashMap::new(),
            recurrence: None,
            unseen_locals: program.unseen_locals(),
            steep_locals: program.steep_locals(),
            unseen: None,
        }
    }

    /// A reverse pass that asks for nothing: beside it the forward pass is the primal.
    pub(crate) fn bare(program: &'p Program) -> Self {
        Reverse::new(program, None)
    }

    /// Another run over the same program with the same state, in which both passes run at once where `plan` says so.
    pub(crate) fn fusing(&self, plan: &Plan) -> (Self, TokenStream) {
        let mut other = self.again();
        other.plan = plan.clone();
        other.settled()
    }

    /// What another run over the same program starts from.
    fn again(&self) -> Self {
        let mut other = Reverse::new(self.program, self.known.clone());
        for slot in &self.slots {
            other.kept.fresh(&slot.name.to_string());
            other.slots.push(Slot { name: slot.name.clone(), init: slot.init.clone() });
        }
        other.rules = self.rules.clone();
        other.stacks = self.stacks.clone();
        other.removed = self.removed.clone();
        other.exchanges = self.exchanges.clone();
        other.spares = self.spares.clone();
        other.fresh = self.fresh.clone();
        other.not_latest = self.not_latest.clone();
        other.unblocked = self.unblocked.clone();
        other.keeping = self.keeping.clone();
        other.sweep_slots = self.sweep_slots.clone();
        other.unswept = self.unswept.clone();
        other.not_yet = self.not_yet.clone();
        for name in self.rule_names.values() {
            other.kept.fresh(&name.to_string());
        }
        other.rule_names = self.rule_names.clone();
        other
    }

    /// Runs until there is nothing new to be known beforehand.
    fn settled(self) -> (Self, TokenStream) {
        let mut run = self.same();
        let mut tokens = run.run();
        while run.missed {
            let mut next = self.same();
            (next.unswept, next.not_yet, next.not_latest) = (run.unswept, run.not_yet, run.not_latest);
            next.unblocked = run.unblocked;
            (run, tokens) = (next, TokenStream::new());
            tokens.extend(run.run());
        }
        if self.rule_names.is_empty() && run.missed_takers() {
            let mut next = self.same();
            next.rule_names = run.names_of_rules();
            return next.settled();
        }
        (run, tokens)
    }

    /// What `self` was before it ran.
    fn same(&self) -> Self {
        let mut other = self.again();
        other.plan = self.plan.clone();
        other
    }

    fn run(&mut self) -> TokenStream {
        let seed = Cotangent::atom(quote_name("d"));
        self.open(BODY, false);
        self.seeds.insert(Target::Function, seed.clone());
        let received = self.receive(BODY, &seed);
        self.undo_block(BODY, (!received).then_some(&seed));
        self.give_back_copy(BODY);
        let gradients = self.program.parameters.iter().map(|p| self.gradient(*p)).collect::<Vec<_>>();
        let (copy, out) = (self.copy(BODY), self.close());
        if self.program.is_long_formula() {
            // The derivative, which does not have to wait for the gradient that it is multiplied by.
            let (given, one) = (self.kept.fresh("given"), quote!(1.0));
            let gradients = gradients.iter().zip(&self.program.parameters).map(|(gradient, parameter)| {
                let active = parameter.is_some_and(|id| self.program.variables[id].active);
                if active { quote!(#gradient * #given) } else { gradient.clone() }
            });
            return quote!(let (#given, #seed) = (#seed, #one); #copy #out (#(#gradients,)*));
        }
        quote!(#copy #out (#(#gradients,)*))
    }

    pub(crate) fn open(&mut self, block: BlockId, is_loop: bool) {
        self.levels.push(Level {
            block,
            out: Code::default(),
            current: self.program.at_end(block),
            names: HashMap::new(),
            temporaries: HashMap::new(),
            declared: HashSet::new(),
            is_loop,
            index: None,
            stencil: Stencil::default(),
            counter: None,
            rows: Rows::default(),
            swept: Vec::new(),
            counts: Vec::new(),
            last: TokenStream::new(),
        });
    }

    pub(crate) fn close(&mut self) -> TokenStream {
        let facts = self.facts();
        let Level { block, out: code, last, .. } = self.levels.pop().expect("a level per open block");
        let undone = code.finish(self.program, &mut self.kept, &facts);
        let copy = self.program.ends_function(block).then(|| self.copy(block));
        quote!(#copy #undone #last)
    }

    pub(crate) fn emit(&mut self, tokens: TokenStream) {
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
    pub(crate) fn undo_block(&mut self, id: BlockId, seed: Option<&Cotangent>) {
        let block = &self.program.blocks[id];
        let ends = self.program.ends_function(id);
        if let (true, Some(seed)) = (ends, seed) {
            self.receive(id, seed);
        }
        if let Some(value) = block.value {
            if self.undo_guarded(id, value, &block.tail, block.statements.len()) {
                return;
            }
            self.pull_root(value, seed.filter(|d| !d.is_nothing()).cloned(), &block.tail);
            self.tell_value(value, &block.tail);
            let top = self.top();
            self.levels[top].current = (*block.tail.versions).clone();
        }
        self.undo_statements(id, block.statements.len());
        if ends {
            self.give_back_copy(id);
        }
    }

    /// Undoes the first `count` statements of a block.
    pub(crate) fn undo_statements(&mut self, id: BlockId, count: usize) {
        let statements = &self.program.blocks[id].statements;
        // What they hand on is no part of what the block's value does.
        let around = self.unseen.take();
        for (i, statement) in statements[..count].iter().enumerate().rev() {
            match &statement.kind {
                StatementKind::For(f) if self.plan.loops.get(&id) == Some(&i) => {
                    self.undo_fused(f, &statement.before)
                }
                StatementKind::Expr(expr, _) if self.undo_guarded(id, *expr, &statement.before, i) => break,
                _ => self.undo_statement(statement),
            }
            let top = self.top();
            self.levels[top].current = (*statement.before.versions).clone();
        }
        self.unseen = around;
    }

    pub(crate) fn undo_statement(&mut self, statement: &Statement) {
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
                self.undo_binding(*variable, *element, at);
            }
        } else if let ExprKind::Split(whole) = program.exprs[init].kind {
            self.undo_split(l, whole, at);
        } else if l.tuple {
            if !program.exprs[init].active {
                return;
            }
            let mut ids = l.variables.iter().flatten();
            let owns = |id: &VarId| {
                program.variables[*id].memory && program.variables[*id].active && self.is_pooled(*id)
            };
            if ids.any(|id| owns(id) || self.lent.contains(id) || self.parts.contains_key(id)) {
                return self.undo_results(l, init, at);
            }
            let parts: Vec<_> = l
                .variables
                .iter()
                .map(|id| match id.and_then(|id| self.final_shadow(id)) {
                    Some(shadow) => shadow.tokens,
                    None => quote!(__pb::zero()),
                })
                .collect();
            self.reuse_parts(l, init);
            self.pull_root(init, Some(Cotangent::term(quote!((#(#parts),*)))), at);
        } else {
            self.undo_binding(l.variables[0], init, at);
        }
    }

    /// The value of a method is there if those of the variables that it was taken apart into are kept: `let (sin, cos) = x.sin_cos();`.
    fn reuse_parts(&mut self, l: &Let, init: ExprId) {
        let (program, init) = (self.program, self.program.peel(init));
        if !matches!(program.exprs[init].kind, ExprKind::Method { .. }) {
            return;
        }
        let part = |id: &Option<VarId>| {
            let id = id.filter(|id| !program.variables[*id].mutable && !program.variables[*id].found)?;
            let is = |d: &Definition| matches!(d, Definition::Merged { variable, .. } if *variable == id);
            let def = program.definitions.iter().position(is)?;
            self.kept.name(program.variables[id].block, Item::Definition(def))
        };
        if let Some(parts) = l.variables.iter().map(part).collect::<Option<Vec<_>>>() {
            let (name, top) = (self.kept.fresh("parts"), self.top());
            self.emit(quote!(let #name = (#(#parts),*);));
            self.levels[top].temporaries.insert(init, name);
        }
    }

    /// Undoes the binding of one variable.
    pub(crate) fn undo_binding(&mut self, variable: Option<VarId>, init: ExprId, at: &At) {
        // The pullback of a call that gives a vector asks for a gradient, be it zero.
        if let Some(id) = variable
            && self.program.variables[id].active
            && (self.program.variables[id].heap || self.is_pooled(id) || self.program.may_own(id))
            && self.program.exprs[init].active
            && self.program.is_call(init)
        {
            self.declare(id);
        }
        if let Some(id) = variable
            && self.program.variables[id].heap
            && self.program.variables[id].active
        {
            let seed = self.bound_vector(id, init);
            return self.pull_root(init, seed, at);
        }
        let given = variable.map(|id| self.result_given_back(id));
        let mut seed = variable.and_then(|id| self.final_shadow(id));
        if let (Some(seed), Some(id)) = (&mut seed, variable) {
            seed.owned = self.lent.contains(&id) || self.parts.contains_key(&id);
            if !seed.owned && self.program.is_result(id) && self.program.becomes_part(id) {
                seed.unsure = Some(self.program.variables[id].name.span());
            }
        }
        match (seed, variable) {
            (Some(seed), Some(id)) => self.unless_unseen(init, Goes::Local(id), &seed, |reverse, seed| {
                reverse.pull_root(init, Some(seed.clone()), at);
            }),
            _ => self.pull_root(init, None, at),
        }
        if let Some(id) = variable {
            self.give_back(id);
        }
        self.emit(given.unwrap_or_default());
    }

    /// The gradient with respect to the initial value of a local.
    pub(crate) fn final_shadow(&self, id: VarId) -> Option<Cotangent> {
        let variable = &self.program.variables[id];
        let level = self.level_of(variable.block);
        let shadow = &variable.shadow;
        let part = self.parts.get(&id).cloned();
        let there = self.levels[level].declared.contains(&id);
        there.then(|| Cotangent::atom(part.unwrap_or_else(|| quote!(#shadow))))
    }

    /// A root is an expression that is a statement, an initialiser or an assigned value: what it wrote has to be undone
    /// even if nobody looks at its value.
    pub(crate) fn pull_root(&mut self, expr: ExprId, seed: Option<Cotangent>, at: &At) {
        let peeled = self.program.peel(expr);
        match seed {
            Some(seed) => self.pull(peeled, &seed, at),
            None if self.may_write(peeled) => self.pull(peeled, &Cotangent::nothing(), at),
            None => {}
        }
    }

    /// The root may write, or what is called on what it returns stands behind something that may: `step(&mut s).map_err(f)`.
    fn may_write(&self, root: ExprId) -> bool {
        match &self.program.exprs[self.program.peel(root)].kind {
            ExprKind::Call { .. }
            | ExprKind::Mutation { .. }
            | ExprKind::If { .. }
            | ExprKind::Block(_)
            | ExprKind::Match(_)
            | ExprKind::Loop { .. }
            | ExprKind::Rest(_)
            | ExprKind::Exit { .. }
            | ExprKind::Try(_) => true,
            ExprKind::Method { receiver, name, .. } => of_option(name) && self.may_write(*receiver),
            _ => false,
        }
    }

    fn undo_assign(&mut self, assign: &Assign, statement: &Statement) {
        let at = &statement.before;
        let id = assign.place.base;
        let variable = &self.program.variables[id];
        let value = self.program.peel(assign.value);
        let result = self.program.is_call(value) && self.is_pooled(id);
        let whole = assign.place.projections.is_empty() && assign.op.is_none() && !variable.by_reference();
        if whole && variable.active && (variable.heap || result) {
            return self.undo_vector_assign(assign, statement);
        }
        if variable.memory {
            self.reuse_assigned(assign, value, at);
            if self.needs_undo(id, at) && !self.is_swept(id) {
                let level = self.top();
                self.present(id);
                let old = self.kept.keep(at.block, Item::Old(statement.id), "old");
                let place = self.place_now(&assign.place, true, at, level);
                self.emit(quote!(#place = #old;));
            } else {
                self.keep_own_indices(&assign.place, at);
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
            Some(op @ (Op::Add | Op::Sub)) if !self.program.by_rule(assign.result) => {
                if !self.program.exprs[value].active {
                    return;
                }
                let d = self.read_shadow(&assign.place, at);
                let own = assign.place.projections.is_empty() && !variable.by_reference();
                let d = if own && self.reads_shadow_of(id, value) {
                    // What comes to the variable by `value` is not part of it.
                    self.bind(&Cotangent::term(d.tokens))
                } else {
                    d
                };
                let d = if op == Op::Sub { self.program.negate(d) } else { d };
                self.pull(value, &d, at);
                self.add_now(assign, op, at);
            }
            _ => {
                // Straight-line code forgets the variable's past, so that it gets no gradient, not even zero.
                let home = !variable.memory && self.level_of(variable.block) == top && assign.op.is_none();
                let simple = !variable.memory && assign.op.is_none() && !self.reads_shadow_of(id, value);
                if simple {
                    let shadow = &variable.shadow;
                    let seed = Cotangent::atom(quote!(#shadow));
                    self.unless_unseen(value, Goes::Local(id), &seed, |reverse, seed| {
                        reverse.pull_root(value, Some(seed.clone()), at);
                    });
                    if home {
                        self.levels[top].declared.remove(&id);
                    } else if variable.kind == Kind::Float {
                        let zero = self.program.zero();
                        self.emit(quote!(#shadow = #zero;));
                    } else {
                        self.emit(quote!(#shadow = __pb::zero();));
                    }
                } else {
                    let d = if home {
                        let shadow = &variable.shadow;
                        let d = self.bind(&Cotangent::term(quote!(#shadow)));
                        self.levels[top].declared.remove(&id);
                        d
                    } else {
                        self.take_shadow(&assign.place, at)
                    };
                    let to = if variable.memory { Goes::Memory } else { Goes::Local(id) };
                    self.unless_unseen(assign.result, to, &d, |reverse, d| {
                        reverse.pull_root(assign.result, Some(d.clone()), at);
                    });
                }
            }
        }
    }

    /// Keeps the indices of a place that look at the variable itself, `w[w[0] as usize] += x`, where nobody brings back what it held.
    fn keep_own_indices(&mut self, place: &Place, at: &At) {
        let (program, level) = (self.program, self.top());
        let storage = |id: VarId| program.variables[id].storage;
        for index in place.indices() {
            let looks = |e: ExprId| match &program.exprs[e].kind {
                ExprKind::Read(read) | ExprKind::Borrow { place: read, .. } => {
                    storage(read.base) == storage(place.base)
                }
                ExprKind::Constant(constant) => {
                    constant.mentions.iter().any(|id| storage(*id) == storage(place.base))
                }
                _ => false,
            };
            if program.tree(index).into_iter().any(looks) {
                self.position(index, at, level);
            }
        }
    }

    /// A place of a variable in memory, with what that holds now.
    pub(crate) fn place_now(&mut self, place: &Place, unique: bool, at: &At, level: usize) -> TokenStream {
        let base = &self.program.variables[place.base].unique;
        match &place.projections[..] {
            [Projection::Deref] => quote!(*#base),
            _ if unique => self.part_mut(place, at, level),
            projections => self.part(quote!(#base), projections, unique, at, level),
        }
    }

    /// The part of memory that is about to be written to. Within another part its index has a name if it looks at the same memory, in
    /// `y[a..b][j % y[a..b].len()]`, which is borrowed by then.
    pub(crate) fn part_mut(&mut self, place: &Place, at: &At, level: usize) -> TokenStream {
        let program = self.program;
        let mut named = Vec::new();
        for projection in place.projections.iter().skip(1) {
            if let Projection::Index(index) = projection
                && program.tree(*index).into_iter().any(|e| program.mentions(e, place.base))
            {
                let (name, text) = (self.kept.fresh("at"), self.position(*index, at, level));
                self.emit(quote!(let #name = #text;));
                named.push((*index, self.levels[level].temporaries.insert(*index, name)));
            }
        }
        let base = &program.variables[place.base].unique;
        let part = self.part(quote!(#base), &place.projections, true, at, level);
        for (index, before) in named {
            self.levels[level].temporaries.remove(&index);
            self.levels[level].temporaries.extend(before.map(|name| (index, name)));
        }
        part
    }

    /// A write to memory that was at `at` has to be undone: somebody reads what it held, or the caller wants it back.
    pub(crate) fn needs_undo(&self, id: VarId, at: &At) -> bool {
        let variable = &self.program.variables[id];
        if variable.is_copied() {
            return false;
        }
        let Some(known) = &self.known else { return true };
        if variable.origin == Origin::Unique {
            return true;
        }
        let version = at.versions.get(&id).copied().unwrap_or(0);
        let outer = self.level_of(variable.block);
        let around: Vec<_> = self.levels[outer + 1..].iter().filter(|l| l.is_loop).map(|l| l.block).collect();
        known.iter().any(|read| {
            let shared = self.program.variables[read.variable].storage == variable.storage;
            shared && (read.version <= version || read.loops.iter().any(|l| around.contains(l)))
        })
    }

    /// `expr` hands gradients to the variable `id`.
    pub(crate) fn reads_shadow_of(&self, id: VarId, expr: ExprId) -> bool {
        let mut roots = vec![expr];
        roots.extend(self.program.tree(expr).into_iter().flat_map(|e| self.program.blocks_of(e)).flat_map(
            |b| self.program.nested(b).into_iter().flat_map(|b| self.program.roots(b)).collect::<Vec<_>>(),
        ));
        roots.into_iter().flat_map(|r| self.program.tree(r)).any(|e| match &self.program.exprs[e].kind {
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => place.base == id,
            _ => false,
        })
    }

    /// Takes the residual of one iteration off the loop's stack.
    pub(crate) fn pop(&mut self, body: BlockId, statement: StmtId) -> TokenStream {
        if self.kept.is_empty(body) {
            return TokenStream::new();
        }
        let (stack, pattern) = (self.stack(statement), self.kept.pattern(body));
        quote!(let #pattern = #stack.pop();)
    }

    /// The stack of a loop.
    pub(crate) fn stack(&mut self, statement: StmtId) -> Ident {
        if let Some(stack) = self.stacks.get(&statement) {
            return stack.clone();
        }
        let stack = self.slot("stack", quote!(__pb::Stack::new()));
        self.stacks.insert(statement, stack.clone());
        stack
    }

    /// A new field of the rule's state.
    pub(crate) fn slot(&mut self, name: &str, init: TokenStream) -> Ident {
        let name = self.kept.fresh(name);
        self.slots.push(Slot { name: name.clone(), init });
        name
    }
}

/// The names that no definition which is computed again may have: those of parameters, and those that patterns bind, which are
/// matched again when the first value of such a name is needed, be that after the next one has got its name.
fn names_in_use(program: &Program) -> HashSet<String> {
    let bound = program.definitions.iter().filter_map(|definition| match definition {
        Definition::Bound { variable, .. } => Some(&program.variables[*variable]),
        _ => None,
    });
    let given = program.variables.iter().filter(|variable| variable.origin != Origin::Local);
    given.chain(bound).map(|variable| variable.unique.to_string()).collect()
}
