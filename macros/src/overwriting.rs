//! Shadows that need not be emptied first.
//!
//! Where all that a function does with a parameter `x: &T` is to pass it to one call, once, the pullback of that call is alone in
//! contributing to the shadow of `x`. If the callee's rule can write instead of adding, nobody has to fill the shadow with zeros.
//!
//! Likewise where the reverse pass comes to `x` first in a loop that writes elements `x[i]` one after the other, each of them once: it
//! sets them, and the few that the loop does not reach are set to zero. What else contributes comes later, and adds.
//!
//! And where the first that comes to the shadow of a local array is the pullback of a call with a reference to all of it.
//!
//! Nor need a new array be filled, `let mut y = Array::zeros(n);`, if the next that happens to it is a call of a rule which overwrites all
//! of it. That call's pullback is then the last that comes to its shadow, and need not empty it.

use std::collections::{BTreeMap, HashMap, HashSet};

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Ident;

use crate::calls::Callee;
use crate::fusion::Both;
use crate::gather::touches;
use crate::kept::Item;
use crate::program::*;
use crate::reverse::Reverse;
use crate::stencil::Stencil;

/// The locals that calls come to first, in one run.
#[derive(Default)]
pub(crate) struct Firsts {
    /// The pools of their shadows, with the calls, their rules, and the numbers of the arguments.
    found: Vec<(Ident, ExprId, Ident, usize)>,
    /// Arguments that are no such locals at all places where the call's pullback stands.
    others: HashSet<(ExprId, usize)>,
}

impl Reverse<'_> {
    /// Declares the shadows of those arguments of the call `expr` that are local arrays to which no gradient has come yet: its pullback,
    /// that of `rule`, comes next. `plain` is what has no closures among its arguments, and a rule of its own.
    pub(crate) fn declare_for(&mut self, expr: ExprId, args: &[ExprId], rule: &Ident, plain: bool) {
        let top = self.top();
        for (i, &arg) in args.iter().enumerate() {
            let id = match &self.program.exprs[arg].kind {
                ExprKind::Borrow { place, unique: false } if place.projections.is_empty() => place.base,
                _ => continue,
            };
            let (program, variable) = (self.program, &self.program.variables[id]);
            let alone = args.iter().filter(|arg| program.borrowed(**arg).contains(&id)).count() == 1;
            let whole = self.is_pooled(id)
                && variable.row_of.is_none()
                && !program.takes_rows(id)
                && !program.may_be_left(id)
                && !program.hands_boxes_on(id);
            let fresh = self.level_of(variable.block) == top && !self.levels[top].declared.contains(&id);
            if !(plain && variable.active && self.view(id).is_none() && alone && whole && fresh) {
                self.firsts.others.insert((expr, i));
                continue;
            }
            self.levels[top].declared.insert(id);
            self.present(id);
            self.lent.insert(id);
            let (pool, variable) = (self.pool(id), &program.variables[id]);
            let (name, shadow) = (&variable.unique, &variable.shadow);
            let held = self.shaped(id, &name.to_token_stream());
            self.emit(quote!(let mut #shadow = #pool.take_to_overwrite(#held);));
            self.firsts.found.push((pool, expr, rule.clone(), i));
        }
    }

    /// Those of the arrays that a loop adds to whose shadows are fresh when it starts, if they are at all: with the flags that tell.
    /// `within` is what it consists of beside these additions.
    pub(crate) fn set_by(
        &mut self,
        stencil: &Stencil,
        body: BlockId,
        range: Option<&syn::ExprRange>,
        within: &[&TokenStream],
    ) -> HashMap<VarId, Ident> {
        let program = self.program;
        let mut flags = HashMap::new();
        // Beside a loop within it would not pay: the compiler writes both ways.
        let nested = program.nested(body);
        if program.loops().any(|other| other != body && nested.contains(&other)) {
            return flags;
        }
        // The loop stands in the function's body, which is not left early: it is run, once, and to its end.
        let top = matches!(&self.levels[..], [level] if level.block == BODY);
        if !top || program.has_exits() || range.is_none_or(|r| r.start.is_none() || r.end.is_none()) {
            return flags;
        }
        for id in stencil.written_once() {
            let variable = &program.variables[id];
            if self.is_touched(id, within) || variable.origin != Origin::Shared || !variable.slice {
                continue;
            }
            // Both passes at once have the slots that the others have.
            let split = self.plan.is_empty();
            let slot = match self.fresh.get(&id) {
                Some(slot) => slot.clone(),
                None if split => self.slot("fresh", quote!(__pb::Fresh::new())),
                None => continue,
            };
            let flag = self.kept.fresh("set");
            self.emit(quote!(let #flag = #slot.get();));
            self.fresh.insert(id, slot);
            self.sets.insert(id);
            flags.insert(id, flag);
        }
        flags
    }

    /// Something has been, or may have been, added to the shadow of a parameter, in the body of the function so far or in `tokens`.
    fn is_touched(&self, id: VarId, tokens: &[&TokenStream]) -> bool {
        // What a loop or a branch whose two passes are one consists of, and what follows it, has been put aside.
        let branches = self.branched.values().flat_map(|b| [&b.before, &b.then, &b.otherwise]);
        let aside = self.fused.values().flat_map(|f| [&f.suffix, &f.body, &f.after]).chain(branches);
        self.levels[0].out.touches(self.program, id)
            || aside.chain(tokens.iter().copied()).any(|tokens| touches(self.program, id, tokens))
    }
}

/// A new array that is handed to a call before anybody looks at it.
struct New {
    /// What makes it.
    made: ExprId,
    /// The call, and the number of the argument.
    call: ExprId,
    position: usize,
}

impl Program {
    fn new_arrays(&self) -> Vec<New> {
        self.blocks.iter().flat_map(|block| self.new_arrays_in(&block.statements)).collect()
    }

    fn new_arrays_in(&self, statements: &[Statement]) -> Vec<New> {
        let mut found = Vec::new();
        for (i, statement) in statements.iter().enumerate() {
            let StatementKind::Let(Let { variables, init: Some(made), .. }) = &statement.kind else {
                continue;
            };
            let ([Some(id)], true) = (&variables[..], self.is_made(*made)) else { continue };
            // What it is filled with has no gradient: it would be taken for that of what overwrites it.
            if self.operands(*made).iter().any(|operand| self.exprs[*operand].active) {
                continue;
            }
            let rest = &statements[i + 1..];
            let next = rest.iter().position(|s| self.mentioned_by(std::slice::from_ref(s)).contains(id));
            let whole = |arg: &ExprId| {
                matches!(&self.exprs[*arg].kind, ExprKind::Borrow { place, unique: true }
                    if place.base == *id && place.projections.is_empty())
            };
            let about = |arg: &&ExprId| self.tree(**arg).iter().any(|e| self.mentions(*e, *id));
            if let Some(StatementKind::Expr(call, _)) = next.map(|next| &rest[next].kind)
                && let ExprKind::Call { function: function @ Callee::Function(_), args } =
                    &self.exprs[*call].kind
                && !self.calls_itself(function, args)
                && !self.with_closures(args)
                && let Some(position) = args.iter().position(whole)
                && args.iter().filter(about).count() == 1
            {
                found.push(New { made: *made, call: *call, position });
            }
        }
        found
    }
}

/// Asks rules to overwrite the shadows of locals, and tells the pools of these whether they will; likewise new arrays, and what makes them.
pub(crate) fn asking(reverse: &Reverse, both: Option<&Both>) -> Option<TokenStream> {
    let runs = || [&reverse.firsts].into_iter().chain(both.map(|both| &both.firsts));
    let slot = |name: &Ident| reverse.slots.iter().any(|slot| slot.name == *name);
    let mut pools = BTreeMap::new();
    for (pool, expr, rule, i) in runs().flat_map(|firsts| &firsts.found) {
        let first = slot(rule) && slot(pool) && runs().all(|firsts| !firsts.others.contains(&(*expr, *i)));
        let calls = pools.entry(pool).or_insert_with(|| Some(BTreeMap::new()));
        match calls {
            Some(calls) if first => _ = calls.insert((*expr, *i), rule),
            _ => *calls = None,
        }
    }
    let asked = pools.into_iter().filter_map(|(pool, calls)| {
        let calls = calls?.into_iter().map(|((_, i), rule)| quote!(#rule.overwrite(#i)));
        Some(quote!(#pool.overwrite(#(#calls)&*);))
    });
    let new = reverse.program.new_arrays().into_iter().filter_map(|New { made, call, position }| {
        let rule = |expr| reverse.rules.get(&expr).filter(|rule| slot(rule));
        let (made, call) = (rule(made)?, rule(call)?);
        Some(quote!(if #call.overwrite(#position) { #made.forgo_output(); }))
    });
    let asked: Vec<_> = asked.chain(new).collect();
    (!asked.is_empty()).then(|| quote!(#(#asked)*))
}

/// The arms of a `match` on the number of a parameter: whether its shadow is overwritten.
pub(crate) fn overwriting(program: &Program, reverse: &Reverse, both: Option<&Both>) -> Option<TokenStream> {
    // Each call has to happen.
    if program.has_exits() {
        return None;
    }
    let calls: Vec<ExprId> = program
        .roots(BODY)
        .into_iter()
        .flat_map(|root| program.tree(root))
        .filter(|e| program.exprs[*e].active && matches!(program.exprs[*e].kind, ExprKind::Call { .. }))
        .collect();
    let mut arms = TokenStream::new();
    let mut of_loops = Vec::new();
    for (number, id) in program.parameters.iter().enumerate() {
        let Some(id) = *id else { continue };
        if reverse.sets.contains(&id) && both.is_none_or(|both| both.sets.contains(&id)) {
            let slot = &reverse.fresh[&id];
            arms.extend(quote!(__pb::Request::Overwrite(#number) => #slot.overwrite(),));
            of_loops.push(slot);
            continue;
        }
        let variable = &program.variables[id];
        if variable.origin != Origin::Shared || !variable.active || uses(program, id) != 1 {
            continue;
        }
        for call in &calls {
            let ExprKind::Call { args, .. } = &program.exprs[*call].kind else { continue };
            let whole = |arg: &ExprId| {
                matches!(&program.exprs[*arg].kind, ExprKind::Borrow { place, unique: false }
                    if place.base == id && place.projections.is_empty())
            };
            let rule = reverse.rules.get(call).filter(|rule| reverse.slots.iter().any(|s| s.name == **rule));
            // A call with a residual has a pullback, which is called.
            let kept = reverse.kept.name(BODY, Item::Residual(*call)).is_some();
            if let (Some(position), Some(rule), true) = (args.iter().position(whole), rule, kept)
                && !program.with_closures(args)
            {
                arms.extend(quote!(__pb::Request::Overwrite(#number) => #rule.overwrite(#position),));
            }
        }
    }
    if !of_loops.is_empty() {
        arms.extend(quote!(__pb::Request::Overwrite(__pb::OF_LOOPS) => #(#of_loops.overwrite())&*,));
    }
    (!arms.is_empty()).then_some(arms)
}

/// How often what a variable holds is used.
fn uses(program: &Program, id: VarId) -> usize {
    let uses = |e: &&Expr| match &e.kind {
        ExprKind::Read(place) | ExprKind::Borrow { place, .. } => place.base == id,
        _ => false,
    };
    program.exprs.iter().filter(uses).count()
}
