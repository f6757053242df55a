//! Parsing of control flow: branches, loops, patterns, and the ways out of them.

use std::collections::VecDeque;

use quote::ToTokens;
use syn::{BinOp, Expr as Syn, Ident, Pat, Stmt, parse_quote};

use crate::annotation;
use crate::escape::{escapes, is_left, is_panic, statement_escapes};
use crate::found::copied;
use crate::kind::inert;
use crate::normal::has_let;
use crate::parse::{Binding as Name, Parser, is_assignment};
use crate::program::*;
use crate::rename::bound;
use crate::suspects::variable_of;
use crate::variants::{alternatives, guarded};

/// Where a `break` or `continue` may lead.
pub(crate) struct Landing {
    label: Option<String>,
    block: BlockId,
    is_loop: bool,
}

/// A name found in a pattern.
struct Found {
    name: Ident,
    mutable: bool,
    part: Option<Vec<Projection>>,
    /// The part can be read without matching.
    plain: bool,
    /// Carries no gradient whatever it is part of.
    inert: bool,
}

impl Parser<'_> {
    /// The statements of the current block, and its value.
    pub(crate) fn fill(&mut self, stmts: VecDeque<Stmt>) {
        let outer = self.recomputing;
        self.fill_in(stmts);
        self.recomputing = outer;
    }

    fn fill_in(&mut self, mut stmts: VecDeque<Stmt>) {
        while let Some(mut stmt) = stmts.pop_front() {
            self.recomputing = annotation::take_mark(&mut stmt);
            if let Stmt::Local(local) = &stmt
                && let Some(referring) = self.field_let(local, &stmts)
            {
                self.program.blocks[self.block].rewritten = true;
                stmt = referring;
            }
            if let Stmt::Local(local) = &stmt
                && let Some(unboxed) = self.unboxed(local, &mut stmts)
            {
                self.program.blocks[self.block].rewritten = true;
                stmt = unboxed;
            }
            if let Stmt::Local(local) = &stmt
                && let Some(pushed) = self.pushed_at_once(local, &stmts)
            {
                self.program.blocks[self.block].rewritten = true;
                stmts.pop_front();
                stmt = pushed;
            }
            if let Stmt::Local(local) = &stmt
                && self.called_otherwise(local, &mut stmts)
            {
                self.program.blocks[self.block].rewritten = true;
                continue;
            }
            if let Stmt::Local(local) = &stmt
                && let Some(merged) = self.looked_into_next(local, &stmts)
            {
                self.program.blocks[self.block].rewritten = true;
                stmts.pop_front();
                stmt = merged;
            }
            if let Stmt::Local(local) = &stmt
                && let Some(apart) = self.picked_tuple(local, &mut stmts)
            {
                self.program.blocks[self.block].rewritten = true;
                stmt = apart;
            }
            self.keep_named(&mut stmt, &mut stmts);
            let last = stmts.is_empty();
            if let Stmt::Local(local) = &stmt
                && let Some(parts) = self
                    .let_else(local)
                    .or_else(|| self.let_there(local))
                    .or_else(|| self.let_present(local))
                    .or_else(|| self.let_variant(local, &stmts))
                    .or_else(|| self.cursor_let(local, &stmts))
                    .or_else(|| self.let_inside(local, &stmts))
                    .or_else(|| self.named_outcome(local, &stmts))
                    .or_else(|| self.held_once(local, &stmts))
                    .or_else(|| self.let_references(local))
                    .or_else(|| self.let_left(local))
                    .or_else(|| self.taken_box_of_field(local))
                    .or_else(|| self.exchanged_field(local, &stmts))
            {
                self.program.blocks[self.block].rewritten = true;
                self.put_back(parts, &mut stmts);
                continue;
            }
            if let Stmt::Local(local) = &stmt
                && let Some(parts) = self
                    .chosen_reference(local, &mut stmts)
                    .or_else(|| self.chosen_numbers(local))
                    .or_else(|| self.chosen_parts(local))
                    .or_else(|| self.made_later(local, &stmts))
            {
                self.put_back(parts, &mut stmts);
                continue;
            }
            if let Stmt::Local(local) = &stmt
                && let Some(parts) = self
                    .next_nodes(local, &mut stmts)
                    .or_else(|| self.advancing(local, &mut stmts))
                    .or_else(|| self.places(local, &mut stmts))
            {
                self.program.blocks[self.block].rewritten = true;
                self.put_back(parts, &mut stmts);
                continue;
            }
            if let Stmt::Local(local) = &stmt
                && let Some(names) = self.names_for_variant(local)
            {
                self.record(names);
                continue;
            }
            if let Some(parts) = self.refilled(&stmt, &stmts) {
                self.program.blocks[self.block].rewritten = true;
                self.put_back(parts, &mut stmts);
                continue;
            }
            if let Some(parts) = self.apart(&stmt).or_else(|| self.in_turn(&stmt)) {
                self.put_back(parts, &mut stmts);
                continue;
            }
            if let Some(parts) = self.parts.split(&stmt, last, self.errors) {
                parts.iter().for_each(|part| self.suspect_part(part));
                self.put_back(parts, &mut stmts);
                continue;
            }
            if let Some(made) = self.made_array(&stmt) {
                stmt = made;
                self.program.blocks[self.block].rewritten = true;
            }
            if let Some(parts) = self
                .zipped(&stmt)
                .or_else(|| self.accumulated(&stmt))
                .or_else(|| self.listed(&stmt))
                .or_else(|| self.collected_array(&stmt))
                .or_else(|| self.folded(&stmt))
                .or_else(|| self.views_apart(&stmt))
                .or_else(|| self.rewrite(&stmt))
                .or_else(|| self.moving(&stmt, last))
                .or_else(|| self.lowered(&stmt))
                .or_else(|| self.ends_apart(&stmt))
            {
                self.program.blocks[self.block].rewritten = true;
                self.put_back(parts, &mut stmts);
                continue;
            }
            if self.goes_on(&stmt, &mut stmts) {
                return;
            }
            match &stmt {
                Stmt::Expr(expr, None)
                    if last && !matches!(expr, Syn::ForLoop(_) | Syn::While(_)) && !is_assignment(expr) =>
                {
                    let value = self.expr(expr);
                    self.program.blocks[self.block].value = Some(value);
                    return;
                }
                Stmt::Macro(m) if last && m.semi_token.is_none() && is_panic(&m.mac) => {
                    let mac = &m.mac;
                    let value = self.expr(&parse_quote!(#mac));
                    self.program.blocks[self.block].value = Some(value);
                    return;
                }
                _ => {}
            }
            if let Some(kind) = self.statement(&stmt) {
                self.record(kind);
                if !last && statement_escapes(&stmt) && !self.is_landing(&stmt) {
                    let rest = self.new_block();
                    let value = self.add(&parse_quote!(()), ExprKind::Rest(rest));
                    self.go_on(value, rest);
                }
            }
        }
    }

    /// What stands for a statement, to be parsed next.
    fn put_back(
        &self,
        parts: impl IntoIterator<Item = Stmt, IntoIter: DoubleEndedIterator>,
        stmts: &mut VecDeque<Stmt>,
    ) {
        for mut part in parts.into_iter().rev() {
            if self.recomputing {
                annotation::mark(&mut part);
            }
            stmts.push_front(part);
        }
    }

    /// Parses a statement that goes in front of the one in question.
    pub(crate) fn push_statement(&mut self, stmt: &Stmt) {
        if let Some(kind) = self.statement(stmt) {
            self.record(kind);
        }
    }

    fn record(&mut self, kind: StatementKind) {
        let id = self.program.statements;
        self.program.statements += 1;
        let statement = Statement { id, kind, before: At::default(), defines: Vec::new() };
        self.program.blocks[self.block].statements.push(statement);
    }

    /// The current block ends with `value`, within which `rest` stands for what follows.
    fn go_on(&mut self, value: ExprId, rest: BlockId) {
        self.program.blocks[self.block].value = Some(value);
        self.program.continues.insert(rest, self.block);
        self.block = rest;
    }

    /// Statements that take what follows along: exits, after which nothing comes, `if`s that leave the block, and patterns.
    fn goes_on(&mut self, stmt: &Stmt, rest: &mut VecDeque<Stmt>) -> bool {
        match stmt {
            Stmt::Expr(expr @ (Syn::Return(_) | Syn::Break(_) | Syn::Continue(_)), _) => {
                let value = self.expr(expr);
                self.program.blocks[self.block].value = Some(value);
                true
            }
            Stmt::Expr(expr @ Syn::If(branch), _)
                if !rest.is_empty()
                    && branch.else_branch.is_none()
                    && !has_let(&branch.cond)
                    && is_left(&branch.then_branch)
                    && statement_escapes(stmt) =>
            {
                let cond = self.inert_expr(&branch.cond);
                let then = self.parse_block(&branch.then_branch);
                let otherwise = self.new_block();
                let value = self.add(expr, ExprKind::If { cond, then, otherwise: Some(otherwise) });
                self.program.guards.insert(value);
                self.go_on(value, otherwise);
                self.fill(std::mem::take(rest));
                true
            }
            Stmt::Local(local) => {
                let pattern = match &local.pat {
                    Pat::Type(typed) => &*typed.pat,
                    pattern => pattern,
                };
                let Some(init) = &local.init else { return false };
                if init.diverge.is_none() && is_simple(pattern) {
                    return false;
                }
                if !self.is_scrutinee(&init.expr) {
                    let (part, expr) = (self.parts.fresh("part"), &init.expr);
                    let mut taken = local.clone();
                    taken.init.as_mut().expect("there is one").expr = parse_quote!(#part);
                    rest.push_front(Stmt::Local(taken));
                    rest.push_front(parse_quote!(let #part = #expr;));
                    let rest = std::mem::take(rest);
                    self.fill(rest);
                    return true;
                }
                let scrutinee = self.scrutinee(&init.expr);
                let diverge = init.diverge.as_ref().map(|(_, diverge)| diverge.clone());
                let (diverge, panic) = match diverge {
                    Some(diverge) if !escapes(&diverge) => (None, Some(diverge)),
                    Some(diverge) => (Some(self.block_of(&diverge)), None),
                    None => (None, None),
                };
                let body = self.new_block();
                let style = if init.diverge.is_some() { Style::LetElse } else { Style::Let };
                let outer = std::mem::replace(&mut self.block, body);
                let bindings = self.bind_pattern(&local.pat, scrutinee);
                self.block = outer;
                let mut arms = vec![Arm { pattern: local.pat.clone(), bindings, guard: None, body }];
                arms.extend(diverge.map(|body| Arm {
                    pattern: parse_quote!(_),
                    bindings: Vec::new(),
                    guard: None,
                    body,
                }));
                let expr: Syn = (*init.expr).clone();
                let value = self.add(&expr, ExprKind::Match(Match { scrutinee, arms, style, panic }));
                self.go_on(value, body);
                self.fill(std::mem::take(rest));
                true
            }
            _ => false,
        }
    }

    /// An expression as a block of its own.
    fn block_of(&mut self, expr: &Syn) -> BlockId {
        match expr {
            Syn::Block(block) if block.label.is_none() => self.parse_block(&block.block),
            expr => {
                let id = self.new_block();
                self.in_block(id, |parser| parser.fill([Stmt::Expr(expr.clone(), None)].into()));
                id
            }
        }
    }

    /// What stands in place of code that looks at `whole`, and is emitted itself where the names in that are of no variables.
    pub(crate) fn without_names(&mut self, whole: &Syn, test: &Syn) -> ExprId {
        let expr = self.expr(test);
        if self.names_code(whole) {
            self.program.rewritten.insert(expr);
        }
        expr
    }

    /// `if`
    pub(crate) fn branch(&mut self, expr: &Syn, branch: &syn::ExprIf) -> ExprId {
        if let Some(test) =
            self.if_there(branch).or_else(|| self.if_inside(branch)).or_else(|| self.if_references(branch))
        {
            return self.without_names(&branch.cond, &test);
        }
        let otherwise = branch.else_branch.as_ref().map(|(_, otherwise)| &**otherwise);
        match &*branch.cond {
            Syn::Let(binding) => {
                let scrutinee = self.scrutinee(&binding.expr);
                let then = self.arm(&binding.pat, scrutinee, None, &block_expr(&branch.then_branch));
                let body = match otherwise {
                    Some(otherwise) => self.block_of(otherwise),
                    None => self.new_block(),
                };
                let otherwise = Arm { pattern: parse_quote!(_), bindings: Vec::new(), guard: None, body };
                let arms = vec![then, otherwise];
                self.add(expr, ExprKind::Match(Match { scrutinee, arms, style: Style::IfLet, panic: None }))
            }
            cond if has_let(cond) => {
                let chain = self.let_chain(cond, &branch.then_branch, otherwise);
                self.expr(&chain)
            }
            cond => {
                let cond = self.inert_expr(cond);
                let then = self.parse_block(&branch.then_branch);
                let otherwise = otherwise.map(|otherwise| self.block_of(otherwise));
                self.add(expr, ExprKind::If { cond, then, otherwise })
            }
        }
    }

    /// `if a && let b = c { … } else { … }`, one condition after the other.
    fn let_chain(&mut self, cond: &Syn, then: &syn::Block, otherwise: Option<&Syn>) -> Syn {
        fn links<'c>(cond: &'c Syn, found: &mut Vec<&'c Syn>) {
            match cond {
                Syn::Binary(binary) if matches!(binary.op, BinOp::And(_)) && has_let(cond) => {
                    links(&binary.left, found);
                    links(&binary.right, found);
                }
                cond => found.push(cond),
            }
        }
        let mut found = Vec::new();
        links(cond, &mut found);
        let Some(otherwise) = otherwise else {
            let inner =
                found.iter().rev().fold(then.clone(), |inner, link| parse_quote!({ if #link #inner }));
            return block_expr(&inner);
        };
        let name = self.parts.fresh("chain");
        let label = syn::Lifetime { apostrophe: name.span(), ident: name };
        let done: syn::Block = parse_quote!({ break #label #then; });
        let inner = found.iter().rev().fold(done, |inner, link| parse_quote!({ if #link #inner }));
        let tests = &inner.stmts;
        parse_quote!(#label: { #(#tests)* #otherwise })
    }

    pub(crate) fn parse_match(&mut self, expr: &Syn, m: &syn::ExprMatch) -> ExprId {
        if let Some(test) =
            self.match_there(m).or_else(|| self.match_inside(m)).or_else(|| self.match_references(m))
        {
            return self.without_names(&m.expr, &test);
        }
        let scrutinee = self.scrutinee(&m.expr);
        let arms: Vec<_> = m.arms.iter().flat_map(|arm| self.alternatives(arm)).collect();
        let arms = arms
            .iter()
            .map(|arm| {
                let (pattern, guard) = guarded(&arm.pat);
                if let Some(guard) = guard.filter(|guard| has_let(guard)) {
                    self.errors.push(
                        guard,
                        "a guard that binds names is not differentiable: write an `if let` within the arm",
                    );
                }
                self.arm(pattern, scrutinee, guard, &arm.body)
            })
            .collect();
        self.add(expr, ExprKind::Match(Match { scrutinee, arms, style: Style::Match, panic: None }))
    }

    /// An arm for each alternative of `A { x } | B { y: x } => …`, if these bind a name to different parts.
    fn alternatives(&mut self, arm: &syn::Arm) -> Vec<syn::Arm> {
        let (pattern @ Pat::Or(_), _) = guarded(&arm.pat) else { return vec![arm.clone()] };
        let mut found = Vec::new();
        self.names(pattern, Some(Vec::new()), true, false, &mut found);
        match found.iter().all(|name| name.part.is_some()) {
            true => vec![arm.clone()],
            false => alternatives(arm),
        }
    }

    fn arm(&mut self, pattern: &Pat, scrutinee: ExprId, guard: Option<&Syn>, value: &Syn) -> Arm {
        let body = self.new_block();
        let (mut bindings, mut test) = (Vec::new(), None);
        self.in_block(body, |parser| {
            bindings = parser.bind_pattern(pattern, scrutinee);
            test = guard.map(|guard| parser.inert_expr(guard));
            parser.scopes.push(Default::default());
            match value {
                Syn::Block(block) if block.label.is_none() => parser.fill_block(&block.block),
                value => parser.fill([Stmt::Expr(value.clone(), None)].into()),
            }
            parser.scopes.pop();
        });
        Arm { pattern: pattern.clone(), bindings, guard: test, body }
    }

    pub(crate) fn labelled(&mut self, expr: &Syn, label: &syn::Label, block: &syn::Block) -> ExprId {
        let id = self.new_block();
        self.landing(Some(label), id, false, |parser| parser.in_block(id, |parser| parser.fill_block(block)));
        self.add(expr, ExprKind::Block(id))
    }

    pub(crate) fn endless(&mut self, expr: &Syn, l: &syn::ExprLoop) -> ExprId {
        let body = self.new_block();
        let id = self.program.statements;
        self.program.statements += 1;
        let label = l.label.as_ref();
        self.landing(label, body, true, |parser| parser.in_block(body, |parser| parser.fill_block(&l.body)));
        self.add(expr, ExprKind::Loop { body, id })
    }

    /// Parses what a `break` or `continue` may leave.
    pub(crate) fn landing(
        &mut self,
        label: Option<&syn::Label>,
        block: BlockId,
        is_loop: bool,
        parse: impl FnOnce(&mut Self),
    ) {
        if let Some(label) = label {
            self.program.labels.insert(block, label.clone());
        }
        let label = label.map(|label| label.name.ident.to_string());
        self.landings.push(Landing { label, block, is_loop });
        parse(self);
        self.landings.pop();
    }

    /// `return`, `break` and `continue`.
    pub(crate) fn exit(&mut self, expr: &Syn) -> ExprId {
        let (label, value) = match expr {
            Syn::Return(jump) => {
                let value = jump.expr.as_ref().map(|value| self.expr(value));
                let target = self.closure_body.map_or(Target::Function, Target::Break);
                return self.add(expr, ExprKind::Exit { target, value });
            }
            Syn::Break(jump) => (&jump.label, jump.expr.as_ref()),
            Syn::Continue(jump) => (&jump.label, None),
            _ => unreachable!("called for exits"),
        };
        let name = label.as_ref().map(|label| label.ident.to_string());
        let landing = self.landings.iter().rev().find(|landing| match &name {
            Some(name) => landing.label.as_ref() == Some(name),
            None => landing.is_loop,
        });
        let Some(block) = landing.map(|landing| landing.block) else {
            self.errors.push(expr, "there is nothing here to leave");
            return self.constant(&parse_quote!(()), true, None);
        };
        let value = value.map(|value| self.expr(value));
        let target =
            if matches!(expr, Syn::Break(_)) { Target::Break(block) } else { Target::Continue(block) };
        self.add(expr, ExprKind::Exit { target, value })
    }

    /// A pattern can be matched against the expression as it stands: it is a place, or carries no gradient.
    fn is_scrutinee(&mut self, expr: &Syn) -> bool {
        match expr {
            Syn::Paren(paren) => self.is_scrutinee(&paren.expr),
            Syn::Reference(reference) => {
                reference.mutability.is_some() || self.place(&reference.expr).is_some()
            }
            Syn::Lit(_) | Syn::Macro(_) => true,
            _ if self.place(expr).is_some() => true,
            Syn::MethodCall(call) if self.is_map_of_constants(&call.receiver) => true,
            _ => self.mentions(expr.to_token_stream()).into_iter().all(|id| {
                let variable = &self.program.variables[id];
                variable.constant || inert(&variable.kind)
            }),
        }
    }

    /// A local that is declared as a map or a set, which carries no gradient. What it holds is looked up again rather than kept.
    pub(crate) fn is_map_of_constants(&self, expr: &Syn) -> bool {
        const MAPS: &[&str] = &["HashMap", "BTreeMap", "HashSet", "BTreeSet"];
        let Some(id) = self.variable(expr) else { return false };
        match self.program.variables[id].ty.as_deref() {
            Some(syn::Type::Path(ty)) => {
                ty.path.segments.last().is_some_and(|last| MAPS.iter().any(|map| last.ident == map))
            }
            _ => false,
        }
    }

    /// What a pattern is matched against; bound to a name of its own if need be.
    fn scrutinee(&mut self, expr: &Syn) -> ExprId {
        if let Syn::Reference(reference) = expr
            && reference.mutability.is_some()
        {
            return self.constant(
                expr,
                false,
                Some("a pattern on `&mut` is not differentiable: assign to the variable itself, by its name"),
            );
        }
        if self.is_scrutinee(expr) {
            return match self.place(expr) {
                Some(place) => self.add(expr, ExprKind::Read(place)),
                None => self.expr(expr),
            };
        }
        let part = self.parts.fresh("part");
        if let Some(kind) = self.statement(&parse_quote!(let #part = #expr;)) {
            self.record(kind);
        }
        let named = self.expr(&parse_quote!(#part));
        // As written it would be evaluated twice.
        self.program.rewritten.insert(named);
        named
    }

    /// Binds the names in a pattern to parts of `scrutinee`.
    fn bind_pattern(&mut self, pattern: &Pat, scrutinee: ExprId) -> Vec<Binding> {
        let place = match &self.program.exprs[scrutinee].kind {
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => Some(place.clone()),
            _ => None,
        };
        let mut spelt = pattern.clone();
        if let Some(ty) = place.as_ref().and_then(|place| self.type_of_place(place)) {
            spell_out(&mut spelt, &ty);
        }
        let mut found = Vec::new();
        self.names(&spelt, Some(Vec::new()), true, false, &mut found);
        // What stands behind a reference is copied from there.
        let refers = place.as_ref().is_some_and(|place| self.refers(pattern, scrutinee, place));
        // What is constant need not be `Copy`.
        let constant = place.as_ref().is_some_and(|place| self.program.variables[place.base].constant);
        let referring = self.referring(pattern, scrutinee);
        let copied = if self.is_found(scrutinee) { copied(pattern) } else { bound(pattern) };
        let mut bindings = Vec::new();
        for Found { name, mutable, part, plain, inert } in found {
            let variable = self.bind(&name, Origin::Local, mutable);
            self.bound.insert(variable);
            self.program.variables[variable].constant = inert;
            // An error need not be `Copy`: what is computed from it is kept, and not the error.
            self.program.variables[variable].disturbed = inert;
            self.program.variables[variable].refers = refers && !constant;
            self.program.variables[variable].referring = refers && constant || referring.contains(&name);
            self.program.variables[variable].found = !copied.contains(&name);
            let place = part.as_ref().zip(place.as_ref()).map(|(part, place)| {
                let projections = place.projections.iter().chain(part).cloned().collect();
                Place { base: place.base, projections }
            });
            let mut read = None;
            if let Some(place) = place {
                self.program.variables[place.base].parted |= !place.projections.is_empty();
                // What is a reference in both passes is bound by the pattern there, too.
                if plain && !(refers && constant) && !self.program.variables[place.base].found {
                    self.program.variables[variable].kind = self.program.kind_of_place(&place);
                    read = Some(self.add(&parse_quote!(#name), ExprKind::Read(place)));
                }
            }
            bindings.push(Binding { variable, part, read });
        }
        bindings
    }

    /// The names in a pattern that takes fields of what elements of a tuple refer to, `(Some(i), None)` of `(&node.left, &node.right)`, where that is
    /// constant.
    fn referring(&self, pattern: &Pat, scrutinee: ExprId) -> Vec<Ident> {
        let program = &self.program;
        let (Pat::Tuple(patterns), ExprKind::Tuple(elements)) =
            (guarded(pattern).0, &program.exprs[program.peel(scrutinee)].kind)
        else {
            return Vec::new();
        };
        let refers = |element: ExprId| match &program.exprs[element].kind {
            ExprKind::Borrow { place, .. } => program.variables[place.base].constant,
            ExprKind::Read(place) => {
                let variable = &program.variables[place.base];
                variable.constant && variable.by_reference() && place.projections.is_empty()
            }
            _ => false,
        };
        let referring = patterns.elems.iter().zip(elements);
        let referring = referring.filter(|(pattern, element)| takes_fields(pattern) && refers(**element));
        referring.flat_map(|(pattern, _)| bound(pattern)).collect()
    }

    /// The names in a pattern that takes fields are references, since it is matched against one.
    fn refers(&self, pattern: &Pat, scrutinee: ExprId, place: &Place) -> bool {
        let reference = match (&self.program.exprs[scrutinee].kind, &self.program.exprs[scrutinee].syntax) {
            (ExprKind::Borrow { .. }, _) => true,
            (_, Syn::Path(path)) => path.path.get_ident().is_some_and(|name| self.is_reference(name)),
            _ => false,
        };
        let by_value = matches!(pattern, Pat::Reference(_))
            || place.projections.iter().any(|p| matches!(p, Projection::Deref));
        reference && !by_value && takes_fields(pattern)
    }

    /// The names in a pattern for `part` of something.
    fn names(
        &mut self,
        pattern: &Pat,
        part: Option<Vec<Projection>>,
        plain: bool,
        is_inert: bool,
        found: &mut Vec<Found>,
    ) {
        let within = |projection: Projection| {
            let mut part = part.clone()?;
            part.push(projection);
            Some(part)
        };
        match pattern {
            Pat::Ident(ident) => {
                let constant = ident.ident.to_string().starts_with(char::is_uppercase);
                if constant && ident.subpat.is_none() {
                    return;
                }
                let part = if ident.by_ref.is_some() { None } else { part.clone() };
                found.push(Found {
                    name: ident.ident.clone(),
                    mutable: ident.mutability.is_some() && ident.by_ref.is_none(),
                    part: part.clone(),
                    plain,
                    inert: is_inert,
                });
                if let Some((_, inner)) = &ident.subpat {
                    self.names(inner, part, plain, is_inert, found);
                }
            }
            Pat::Paren(paren) => self.names(&paren.pat, part, plain, is_inert, found),
            Pat::Type(typed) => self.names(&typed.pat, part, plain, is_inert, found),
            Pat::Reference(reference) => self.names(&reference.pat, part, plain, is_inert, found),
            Pat::Tuple(tuple) => {
                let gap = tuple.elems.iter().position(|p| matches!(p, Pat::Rest(_)));
                for (i, element) in tuple.elems.iter().enumerate() {
                    let known = gap.is_none_or(|gap| i < gap);
                    let part = known.then(|| within(Projection::Field(syn::Member::from(i)))).flatten();
                    self.names(element, part, plain, is_inert, found);
                }
            }
            Pat::Slice(slice) => {
                let gap = slice.elems.iter().position(|p| {
                    matches!(p, Pat::Rest(_) | Pat::Ident(syn::PatIdent { subpat: Some(_), .. }))
                });
                for (i, element) in slice.elems.iter().enumerate() {
                    let known = gap.is_none_or(|gap| i < gap);
                    let literal = syn::LitInt::new(&i.to_string(), proc_macro2::Span::call_site());
                    let index = self.constant(&parse_quote!(#literal), true, None);
                    let part = known.then(|| within(Projection::Index(index))).flatten();
                    self.names(element, part, plain, is_inert, found);
                }
            }
            Pat::TupleStruct(inner) => {
                let name = inner.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
                if (name == "Some" || name == "Ok") && inner.elems.len() == 1 {
                    return self.names(&inner.elems[0], part, false, is_inert, found);
                }
                let err = name == "Err";
                let (whole, plain) = within_path(&inner.path, part.clone().filter(|_| !err), plain && !err);
                let gap = inner.elems.iter().position(|p| matches!(p, Pat::Rest(_)));
                for (i, element) in inner.elems.iter().enumerate() {
                    let known = gap.is_none_or(|gap| i < gap);
                    let part = whole.clone().filter(|_| known).map(|mut part| {
                        part.push(Projection::Field(syn::Member::from(i)));
                        part
                    });
                    self.names(element, part, plain, is_inert || err, found);
                }
            }
            Pat::Struct(inner) => {
                let (whole, plain) = within_path(&inner.path, part, plain);
                for field in &inner.fields {
                    let part = whole.clone().map(|mut part| {
                        part.push(Projection::Field(field.member.clone()));
                        part
                    });
                    self.names(&field.pat, part, plain, is_inert, found);
                }
            }
            Pat::Or(or) => {
                let before = found.len();
                for (i, case) in or.cases.iter().enumerate() {
                    let mut others = Vec::new();
                    self.names(case, part.clone(), false, is_inert, &mut others);
                    if i == 0 {
                        found.extend(others);
                        continue;
                    }
                    for other in others {
                        let same = found[before..].iter_mut().find(|f| f.name == other.name);
                        if let Some(same) = same
                            && !self.same_part(same.part.as_deref(), other.part.as_deref())
                        {
                            same.part = None;
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn same_part(&self, one: Option<&[Projection]>, other: Option<&[Projection]>) -> bool {
        let (Some(one), Some(other)) = (one, other) else { return false };
        one.len() == other.len()
            && one.iter().zip(other).all(|pair| match pair {
                (Projection::Field(a), Projection::Field(b)) => a == b,
                (Projection::Index(a), Projection::Index(b)) => {
                    let text = |e: ExprId| self.program.exprs[e].syntax.to_token_stream().to_string();
                    text(*a) == text(*b)
                }
                _ => false,
            })
    }

    /// What is assigned to is not a variable but what it refers to, and that is known only to the pattern which bound it.
    pub(crate) fn through_binding(&self, left: &Syn) -> bool {
        match variable_of(left).and_then(|name| self.lookup(name)) {
            Some(Name::Variable(id)) => {
                self.bound.contains(id)
                    && (!self.program.variables[*id].mutable || matches!(left, Syn::Unary(_)))
            }
            _ => false,
        }
    }

    /// The variable that is `count` in `*count`.
    fn followed_name(&self, left: &Syn) -> Option<VarId> {
        match left {
            Syn::Index(index) => self.followed_name(&index.expr),
            Syn::Field(field) => self.followed_name(&field.base),
            Syn::Paren(paren) => self.followed_name(&paren.expr),
            Syn::Unary(unary) => self.variable(&unary.expr).filter(|id| {
                let variable = &self.program.variables[*id];
                variable.origin == Origin::Local && !variable.memory
            }),
            _ => None,
        }
    }

    /// Whether `left` stands behind a reference that is known to a pattern, or to the call that has returned it: where that is one to a constant,
    /// the forward pass alone changes it.
    pub(crate) fn is_unnamed(&mut self, left: &Syn) -> bool {
        let followed = self.followed_name(left).filter(|id| {
            let variable = &self.program.variables[*id];
            // What a box holds that carries a gradient is a part of it.
            !variable.mutable || !self.suspects.contains(&variable.name) || self.is_made_by_search(*id)
        });
        let bound = self.through_binding(left).then_some(left).and_then(variable_of);
        let bound = bound.and_then(|name| self.lookup(name)).and_then(|binding| match binding {
            Name::Variable(id) => Some(*id),
            _ => None,
        });
        let unnamed = bound.or(followed);
        if let Some(id) = unnamed {
            self.program.variables[id].found = true;
        }
        unnamed.is_some()
    }
}

/// The fields of what a pattern with this path matches: those of an enum stand within a field named like the variant, and
/// cannot be read without matching.
fn within_path(
    path: &syn::Path,
    part: Option<Vec<Projection>>,
    plain: bool,
) -> (Option<Vec<Projection>>, bool) {
    let Some(variant) = variant(path) else { return (part, plain) };
    let part = part.map(|mut part| {
        part.push(Projection::Field(syn::Member::Named(variant.clone())));
        part
    });
    (part, false)
}

/// Puts a `_` for each of the elements that a `..` in the pattern of a tuple stands for.
fn spell_out(pattern: &mut Pat, ty: &syn::Type) {
    match (pattern, ty) {
        (Pat::Tuple(tuple), syn::Type::Tuple(types)) => {
            let gap = tuple.elems.iter().position(|p| matches!(p, Pat::Rest(_)));
            if let Some(gap) = gap
                && let Some(left_out) = (types.elems.len() + 1).checked_sub(tuple.elems.len())
            {
                let mut elements: Vec<_> = std::mem::take(&mut tuple.elems).into_iter().collect();
                let wild: Pat = parse_quote!(_);
                elements.splice(gap..=gap, vec![wild; left_out]);
                tuple.elems = elements.into_iter().collect();
            }
            tuple.elems.iter_mut().zip(&types.elems).for_each(|(element, ty)| spell_out(element, ty));
        }
        (Pat::Paren(paren), ty) => spell_out(&mut paren.pat, ty),
        (Pat::Reference(reference), ty) => spell_out(&mut reference.pat, ty),
        (Pat::Or(or), ty) => or.cases.iter_mut().for_each(|case| spell_out(case, ty)),
        (pattern, syn::Type::Paren(paren)) => spell_out(pattern, &paren.elem),
        (pattern, syn::Type::Reference(reference)) => spell_out(pattern, &reference.elem),
        _ => {}
    }
}

/// The pattern takes a struct, an enum or an `Option` apart.
pub(crate) fn takes_fields(pattern: &Pat) -> bool {
    struct Fields(bool);
    impl<'ast> syn::visit::Visit<'ast> for Fields {
        fn visit_pat_struct(&mut self, _: &'ast syn::PatStruct) {
            self.0 = true;
        }
        fn visit_pat_tuple_struct(&mut self, inner: &'ast syn::PatTupleStruct) {
            // What stands in an error carries no gradient, and need not be `Copy`.
            self.0 |= !inner.path.is_ident("Err");
            syn::visit::visit_pat_tuple_struct(self, inner);
        }
    }
    let mut visitor = Fields(false);
    syn::visit::Visit::visit_pat(&mut visitor, pattern);
    visitor.0
}

fn block_expr(block: &syn::Block) -> Syn {
    Syn::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block: block.clone() })
}

/// A name, or a tuple of names.
fn is_simple(pattern: &Pat) -> bool {
    let name = |p: &Pat| match p {
        Pat::Ident(ident) => ident.by_ref.is_none() && ident.subpat.is_none(),
        Pat::Wild(_) => true,
        _ => false,
    };
    match pattern {
        Pat::Tuple(tuple) => tuple.elems.iter().all(name),
        pattern => name(pattern),
    }
}
