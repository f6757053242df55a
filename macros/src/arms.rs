//! The reverse pass of what may go several ways: `match`, `loop`, and blocks that are left early.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Ident;

use crate::kept::Item;
use crate::program::*;
use crate::reverse::{Cotangent, Reverse};
use crate::values::replace;

impl Reverse<'_> {
    /// The gradient with respect to the value of what `target` leaves, if it has one.
    pub(crate) fn seed(&mut self, target: Target, d: &Cotangent) -> Cotangent {
        let Target::Break(block) = target else { return d.clone() };
        let valued = self.program.broken(block).any(|value| self.program.exprs[value].active);
        if !valued || d.is_nothing() {
            self.seeds.remove(&target);
            return d.clone();
        }
        let d = self.bind(d);
        self.seeds.insert(target, d.clone());
        d
    }

    pub(crate) fn pull_exit(&mut self, target: Target, value: Option<ExprId>, at: &At) {
        let Some(value) = value else { return };
        let seed = self.seeds.get(&target).cloned();
        self.pull_root(value, seed, at);
    }

    /// What follows a statement that may leave the block: undone if it was reached.
    pub(crate) fn pull_rest(&mut self, expr: ExprId, rest: BlockId, d: &Cotangent, at: &At) {
        let d = if self.yields(rest) { self.bind(d) } else { d.clone() };
        self.open(rest, false);
        self.undo_block(rest, Some(&d));
        let body = self.close();
        if body.is_empty() && self.kept.is_empty(rest) {
            return;
        }
        let residual = self.kept.keep(at.block, Item::Branch(expr), "rest");
        let pattern = self.kept.pattern(rest);
        self.emit(quote!(if let __pb::Branch::Then(#pattern) = #residual { #body }));
    }

    pub(crate) fn pull_loop(&mut self, body: BlockId, id: StmtId, d: &Cotangent, at: &At) {
        self.seed(Target::Break(body), d);
        self.open(body, true);
        self.undo_block(body, None);
        let iteration = self.close();
        if iteration.is_empty() && self.kept.is_empty(body) {
            return;
        }
        let count = self.kept.keep(at.block, Item::Count(id), "count");
        let pop = self.pop(body, id);
        self.emit(quote!(for _ in 0..#count { #pop #iteration }));
    }

    pub(crate) fn pull_match(&mut self, expr: ExprId, m: &Match, d: &Cotangent, at: &At) {
        let valued = m.arms.iter().any(|arm| self.yields(arm.body));
        let d = if valued { self.bind(d) } else { d.clone() };
        let mut bodies = Vec::new();
        for arm in &m.arms {
            self.open(arm.body, false);
            self.undo_block(arm.body, Some(&d));
            for binding in &arm.bindings {
                self.hand_over(m.scrutinee, binding, at);
            }
            bodies.push(self.close());
        }
        let stateless = m.arms.iter().all(|arm| self.kept.is_empty(arm.body));
        if stateless && bodies.iter().all(TokenStream::is_empty) {
            return;
        }
        if let ([arm], [body]) = (&m.arms[..], &bodies[..]) {
            if stateless {
                return self.emit(quote!({ #body }));
            }
            let residual = self.kept.keep(at.block, Item::Branch(expr), "inner");
            let pattern = self.kept.pattern(arm.body);
            return self.emit(quote!({ let #pattern = #residual; #body }));
        }
        let level = self.top();
        let again = m.arms.iter().all(|arm| arm.guard.is_none() && self.renamed(arm).is_some())
            && self.free(m.scrutinee, at, level);
        if stateless && again {
            let scrutinee = self.text(m.scrutinee, at, level);
            let patterns = m.arms.iter().map(|arm| self.renamed(arm).expect("asked above"));
            return self.emit(quote!(match #scrutinee { #(#patterns => { #bodies })* }));
        }
        let residual = self.kept.keep(at.block, Item::Branch(expr), "branch");
        let patterns =
            m.arms.iter().enumerate().map(|(i, arm)| taken(i, m.arms.len(), self.kept.pattern(arm.body)));
        self.emit(quote!(match #residual { #(#patterns => { #bodies })* }));
    }

    /// What has come to a name in a pattern goes to the part of the scrutinee that it stands for.
    fn hand_over(&mut self, scrutinee: ExprId, binding: &Binding, at: &At) {
        let top = self.top();
        let variable = &self.program.variables[binding.variable];
        if !variable.active || !self.levels[top].declared.contains(&binding.variable) {
            return;
        }
        let (ExprKind::Read(place) | ExprKind::Borrow { place, .. }, Some(part)) =
            (&self.program.exprs[scrutinee].kind, &binding.part)
        else {
            return;
        };
        let shadow = &variable.shadow;
        let projections = place.projections.iter().chain(part).cloned().collect();
        let place = Place { base: place.base, projections };
        self.accumulate(&place, &Cotangent::atom(quote!(#shadow)), at);
        self.give_back(binding.variable);
    }

    /// The pattern of an arm under the names of the reverse pass; nothing if it cannot be written again.
    fn renamed(&self, arm: &Arm) -> Option<TokenStream> {
        struct Shorthand(bool);
        impl<'ast> syn::visit::Visit<'ast> for Shorthand {
            fn visit_field_pat(&mut self, field: &'ast syn::FieldPat) {
                self.0 |= field.colon_token.is_none();
            }
        }
        let mut visitor = Shorthand(false);
        syn::visit::Visit::visit_pat(&mut visitor, &arm.pattern);
        let names: Vec<_> = arm
            .bindings
            .iter()
            .map(|binding| {
                let variable = &self.program.variables[binding.variable];
                let unique = &variable.unique;
                (variable.name.clone(), quote!(#unique))
            })
            .collect();
        if visitor.0 && names.iter().any(|(name, unique)| *name != unique.to_string()) {
            return None;
        }
        Some(replace(arm.pattern.to_token_stream(), &names))
    }

    /// The value of a name in a pattern: matched again, or kept.
    pub(crate) fn bound(
        &mut self,
        def: DefId,
        variable: VarId,
        (expr, arm): (ExprId, usize),
        at: &At,
    ) -> Ident {
        let program = self.program;
        let ExprKind::Match(m) = &program.exprs[expr].kind else { unreachable!("bound by a pattern") };
        let arm = &m.arms[arm];
        let level = self.level_of(arm.body);
        if let Some(name) = self.levels[level].names.get(&def) {
            return name.clone();
        }
        let reference = match &program.exprs[m.scrutinee].kind {
            ExprKind::Borrow { .. } => true,
            ExprKind::Read(place) => program.variables[place.base].by_reference(),
            _ => false,
        };
        let again = match &program.exprs[m.scrutinee].kind {
            ExprKind::Borrow { place, .. } => {
                self.intact(place.base, at, level) && place.indices().all(|i| self.replayable(i, at, level))
            }
            _ => self.replayable(m.scrutinee, at, level) && (reference || self.free(m.scrutinee, at, level)),
        };
        let pattern =
            self.renamed(arm).filter(|_| again && (arm.guard.is_none() || !alternatives(&arm.pattern)));
        let Some(pattern) = pattern else {
            if matches!(program.exprs[m.scrutinee].kind, ExprKind::Borrow { .. }) {
                self.errors.push(
                    &arm.pattern,
                    "the pullback needs what this pattern refers to once more: match a value, or copy it into a variable \
                     of its own before",
                );
            }
            let name = format!("{}_at", program.variables[variable].unique);
            return self.kept.keep(arm.body, Item::Definition(def), &name);
        };
        let scrutinee = self.text(m.scrutinee, at, level);
        self.levels[level].out.extend(quote!(let #pattern = #scrutinee else { ::core::unreachable!() };));
        for (variable, def) in &program.blocks[arm.body].entries {
            let unique = program.variables[*variable].unique.clone();
            self.named.insert(unique.to_string());
            self.levels[level].names.insert(*def, unique);
        }
        self.levels[level].names[&def].clone()
    }
}

/// The residual of arm number `arm` of `count`, as an expression or a pattern.
pub(crate) fn taken(arm: usize, count: usize, residual: TokenStream) -> TokenStream {
    let last = arm + 1 == count;
    let inner = if last { residual } else { quote!(__pb::Branch::Then(#residual)) };
    (0..arm).fold(inner, |inner, _| quote!(__pb::Branch::Else(#inner)))
}

/// There is an `|` in the pattern: with a guard, matching again might choose another alternative.
fn alternatives(pattern: &syn::Pat) -> bool {
    struct Or(bool);
    impl<'ast> syn::visit::Visit<'ast> for Or {
        fn visit_pat_or(&mut self, _: &'ast syn::PatOr) {
            self.0 = true;
        }
    }
    let mut visitor = Or(false);
    syn::visit::Visit::visit_pat(&mut visitor, pattern);
    visitor.0
}
