//! The reverse pass of what may go several ways: `match`, `loop`, and blocks that are left early.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Ident;
use syn::visit_mut::VisitMut;

use crate::cotangent::Cotangent;
use crate::found::copied;
use crate::kept::Item;
use crate::program::*;
use crate::reverse::Reverse;

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
        let d = self.bind_if(self.yields(rest), d);
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
        let d = self.bind_if(valued, d);
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
        let again = m.arms.iter().all(|arm| arm.guard.is_none()) && self.free(m.scrutinee, at, level);
        if stateless && again {
            let (scrutinee, followed) = self.scrutinee(m, at, level);
            let patterns = m.arms.iter().map(|arm| self.renamed(arm, followed));
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

    /// The pattern of an arm under the names of the reverse pass, for what a reference refers to if it is `followed`.
    fn renamed(&self, arm: &Arm, followed: bool) -> TokenStream {
        let variables = arm.bindings.iter().map(|binding| &self.program.variables[binding.variable]);
        let names = variables.map(|v| (v.name.clone(), v.unique.clone())).collect();
        let mut pattern = arm.pattern.clone();
        if followed {
            follow(&mut pattern);
        }
        Renamed(names).visit_pat_mut(&mut pattern);
        pattern.to_token_stream()
    }

    /// What is matched once more, and whether that is what a reference refers to: where the names are to be copies, it is followed.
    fn scrutinee(&mut self, m: &Match, at: &At, level: usize) -> (TokenStream, bool) {
        let text = self.text(m.scrutinee, at, level);
        let variables =
            || m.arms.iter().flat_map(|arm| &arm.bindings).map(|b| &self.program.variables[b.variable]);
        let (refers, referring) = (variables().any(|v| v.refers), variables().any(|v| v.referring));
        let node = &self.program.exprs[m.scrutinee];
        match &node.kind {
            ExprKind::Borrow { place, .. } if refers => (self.place(&place.clone(), at, level), true),
            ExprKind::Read(place)
                if refers
                    && place.projections.is_empty()
                    && self.program.variables[place.base].by_reference() =>
            {
                (quote!(*#text), true)
            }
            // A name for a part of what is constant.
            ExprKind::Read(place) if referring && !place.projections.is_empty() => (quote!(&#text), false),
            // Of another name for a place, that place.
            ExprKind::Read(place) => {
                let variable = &self.program.variables[place.base];
                let reference = place.projections.is_empty() && (variable.by_reference() || variable.found);
                (text, !reference && matches!(node.syntax, syn::Expr::Path(_)))
            }
            _ => (text, false),
        }
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
            _ => {
                self.replayable(m.scrutinee, at, level)
                    && (reference || program.looks_up(m.scrutinee) || self.free(m.scrutinee, at, level))
            }
        };
        if !again || arm.guard.is_some() && alternatives(&arm.pattern) {
            let refers = program.variables[variable].refers;
            if !refers && matches!(program.exprs[m.scrutinee].kind, ExprKind::Borrow { .. }) {
                self.errors.push(
                    &arm.pattern,
                    "the pullback needs what this pattern refers to once more: match a value, or copy it into a variable \
                     of its own before",
                );
            }
            let Variable { name, found, .. } = &program.variables[variable];
            if program.looks_up_in_own(m.scrutinee) && !copied(&arm.pattern).contains(name) && !found {
                self.errors.push(
                    &arm.pattern,
                    "the pullback needs what this refers to once more: bind a copy, `Some(&x)`, or give the collection a name that does not change once it is filled, `let map = map;`",
                );
            }
            return self.keep_definition(def, variable, arm.body, "at");
        }
        let (scrutinee, followed) = self.scrutinee(m, at, level);
        let pattern = self.renamed(arm, followed);
        self.levels[level].out.extend(quote!(let #pattern = #scrutinee else { ::core::unreachable!() };));
        for (variable, def) in &program.blocks[arm.body].entries {
            let unique = program.variables[*variable].unique.clone();
            self.levels[level].names.insert(*def, unique);
        }
        self.levels[level].names[&def].clone()
    }
}

impl Program {
    /// `Some(order) => order`, of a constant that may own memory: it goes on from where the pattern has bound it.
    pub(crate) fn hands_on(&self, arm: &Arm) -> bool {
        let Some(value) = self.blocks[arm.body].value else { return false };
        let ExprKind::Read(place) = &self.exprs[self.peel(value)].kind else { return false };
        let bound = &self.variables[place.base];
        place.projections.is_empty()
            && arm.bindings.iter().any(|binding| binding.variable == place.base)
            && bound.kind == Kind::Unknown
            && !bound.active
            && !bound.refers
    }
}

/// Gives the names that a pattern binds other ones.
struct Renamed(Vec<(Ident, Ident)>);

impl VisitMut for Renamed {
    fn visit_pat_ident_mut(&mut self, ident: &mut syn::PatIdent) {
        if let Some((_, other)) = self.0.iter().find(|(name, _)| *name == ident.ident) {
            ident.ident = other.clone();
        }
        syn::visit_mut::visit_pat_ident_mut(self, ident);
    }
    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        // `Point { x }` is `Point { x: x }`.
        field.colon_token.get_or_insert_with(Default::default);
        syn::visit_mut::visit_field_pat_mut(self, field);
    }
}

/// Takes the `&` off a pattern, `&Disc(r)` or `&Disc(r) | &Ball(r)`.
fn follow(pattern: &mut syn::Pat) {
    match pattern {
        syn::Pat::Reference(reference) => *pattern = (*reference.pat).clone(),
        syn::Pat::Paren(paren) => follow(&mut paren.pat),
        syn::Pat::Or(or) => or.cases.iter_mut().for_each(follow),
        _ => {}
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
