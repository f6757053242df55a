//! Parsing of statements: bindings, assignments, loops, and what only the forward pass runs.

use std::collections::HashMap;

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Expr as Syn, Pat, Stmt};

use crate::annotation::Strip;
use crate::escape::{is_panic, statement_escapes};
use crate::iterators::constant::UNKNOWN_ITERATOR;
use crate::iterators::integers::is_item_of_constant;
use crate::kind::kind_of_type;
use crate::kind::names_other_type;
use crate::lift::is_held_constant;
use crate::outcome::inside_type;
use crate::parse::{Binding, CONTROL, Mentions, Parser, assign_op, bitwise_op, is_range};
use crate::program::*;
use crate::rename::{Occurrences, bound};
use crate::views::{CHANGES, is_name_or_ignored};

const UNNAMED: &str = "cannot assign to this expression differentiably: assign to a variable or an element";

const THROUGH_PATTERN: &str =
    "this writes through a reference that a pattern has bound: assign to the variable itself, by its name";

impl Parser<'_> {
    pub(crate) fn statement(&mut self, stmt: &Stmt) -> Option<StatementKind> {
        match stmt {
            Stmt::Local(local) => self.local(local),
            Stmt::Item(item) => {
                self.items.push(item.clone());
                None
            }
            Stmt::Macro(m) => Some(self.macro_statement(stmt, &m.mac)),
            Stmt::Expr(Syn::Macro(m), _) => Some(self.macro_statement(stmt, &m.mac)),
            Stmt::Expr(expr, semi) => self.expr_statement(stmt, expr, semi.is_some()),
        }
    }

    pub(crate) fn macro_statement(&mut self, stmt: &Stmt, mac: &syn::Macro) -> StatementKind {
        let name = mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        let observer =
            ["assert", "debug_assert", "print", "eprint"].iter().any(|prefix| name.starts_with(prefix))
                || is_panic(mac);
        self.refuse_closures(stmt.to_token_stream());
        let why = (!observer).then(|| format!("`{name}!` is not known to leave active values alone"));
        let Mentions { mentions, reads, aliases } = self.mentioned(stmt.to_token_stream());
        StatementKind::Opaque(Opaque { syntax: stmt.clone(), mentions, reads, aliases, why })
    }

    pub(crate) fn local(&mut self, local: &syn::Local) -> Option<StatementKind> {
        let named = with_names(local);
        let local = named.as_ref().unwrap_or(local);
        let followed = self.followed(local);
        let local = followed.as_ref().unwrap_or(local);
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        let syntax = local.init.as_ref().map(|init| &*init.expr);
        let borrowed = match syntax {
            Some(Syn::Reference(reference)) => {
                Some((referent(&reference.expr), reference.mutability.is_some()))
            }
            Some(view @ Syn::MethodCall(call))
                if self.viewed(call).is_some() || self.known_to_select(call).is_some() =>
            {
                let unique = crate::arrays::is_written(&call.method) || self.selects_uniquely(call);
                Some((view, unique))
            }
            _ => None,
        };
        // A reference to what is constant may go on to something else.
        let changes = matches!(pattern, Pat::Ident(name) if name.mutability.is_some())
            && syntax.is_some_and(|init| {
                let named = self.variable(init).is_some_and(|id| self.program.variables[id].by_reference());
                (named || matches!(borrowed, Some((_, false)))) && !self.suspects.any(init)
            });
        if let (Pat::Ident(name), Some(syn::Type::Reference(reference)), false) = (pattern, ty, changes)
            && let Some(place) = syntax.and_then(|init| self.referred_part(init, &reference.elem))
        {
            let unique = reference.mutability.is_some();
            self.program.variables[place.base].memory |= unique;
            return Some(self.names_for_places(local, [(name.ident.clone(), place)], unique));
        }
        if let (Pat::Ident(name), Some((borrowed, unique))) = (pattern, borrowed.filter(|_| !changes))
            && let Some(place) = self.place(borrowed)
        {
            if unique {
                self.program.variables[place.base].memory = true;
            }
            return Some(self.names_for_places(local, [(name.ident.clone(), place)], unique));
        }
        if let (Pat::Tuple(parts), Some(Syn::Reference(reference)), None) = (pattern, syntax, ty)
            && let Some(names) = self.names_of_parts(parts, reference)
        {
            return Some(self.names_for_places(local, names, false));
        }
        if let Some(parts) = self.elements_by_name(local) {
            return Some(self.names_for_places(local, parts, true));
        }
        if let Some(parts) = self.cut(local) {
            return Some(self.names_for_places(local, parts, true));
        }
        if let (Pat::Ident(name), Some(value @ Syn::Path(path))) = (pattern, syntax) {
            // Likewise another name for a reference.
            let function = self.function_parameter(value);
            let alias = match path.path.get_ident().and_then(|name| self.lookup(name)) {
                // To be called a function need not be `mut` here.
                _ if let Some(id) = function => Some((Place { base: id, projections: Vec::new() }, false)),
                Some(Binding::Variable(id))
                    if name.mutability.is_some() && self.refers_to_slice(*id) && !changes =>
                {
                    self.errors.push(name, CHANGES);
                    None
                }
                _ if name.mutability.is_some() => None,
                Some(Binding::Alias { place, unique, .. }) => Some((place.clone(), *unique)),
                Some(Binding::Variable(id)) if self.program.variables[*id].by_reference() => {
                    let variable = &self.program.variables[*id];
                    let unique = variable.origin == Origin::Unique && !self.captures(variable);
                    Some((Place { base: *id, projections: Vec::new() }, unique))
                }
                _ => None,
            };
            if let Some((place, unique)) = alias {
                return Some(self.names_for_places(local, [(name.ident.clone(), place)], unique));
            }
        }
        let known =
            ty.cloned().or_else(|| syntax.and_then(|init| self.shape_of(init)).map(|shape| shape.to_type()));
        let known = known.or_else(|| self.type_of_copy(syntax?));
        let integer = ty.is_none() && syntax.is_some_and(|init| self.is_other_integer(init));
        let moved_map = syntax.filter(|init| ty.is_none() && self.is_map_of_constants(init));
        let moved_map = moved_map.and_then(|map| self.program.variables[self.variable(map)?].ty.clone());
        let init = syntax.map(|e| self.expr(e));
        if let (Some(init), Some(ty)) = (init, ty) {
            self.tell_selected(init, self.program.kind_of_type(ty));
        }
        let mut variables = Vec::new();
        let tuple = matches!(pattern, Pat::Tuple(_));
        match pattern {
            Pat::Tuple(tuple) => {
                for element in &tuple.elems {
                    let id = self.pattern(element);
                    variables.push(id);
                }
            }
            pattern => {
                let id = self.pattern(pattern);
                variables.push(id);
            }
        }
        if syntax.and_then(|init| self.variable(init)).is_some_and(|whole| self.bound.contains(&whole)) {
            self.bound.extend(variables.iter().flatten());
        }
        for (i, id) in variables.iter().enumerate() {
            let Some(id) = *id else { continue };
            let declared = ty.is_some_and(|ty| self.declared_as_found(pattern, ty));
            self.program.variables[id].found =
                changes || declared || init.is_some_and(|init| self.is_found_in(init, i));
        }
        if let [Some(id)] = variables[..] {
            // What changes goes on to hold constants.
            let held = matches!(syntax, Some(Syn::Call(call)) if is_held_constant(call));
            self.program.variables[id].constant = held && self.program.variables[id].mutable;
            self.note_vector(id, init, ty);
            self.types.extend(known.map(|ty| (id, ty)));
            if moved_map.is_some() {
                self.program.variables[id].ty = moved_map;
            }
            self.integers.extend(integer.then_some(id));
            self.program.variables[id].referring |= syntax.is_some_and(is_item_of_constant);
            if let Some(ty) = ty {
                self.program.variables[id].kind = self.program.kind_of_type(ty);
                self.program.variables[id].ty = Some(Box::new(ty.clone()));
                let kind = &self.program.variables[id].kind;
                self.program.variables[id].of_user = names_other_type(ty, kind);
            }
            if let Some(init) = init {
                // The gradient of an option is that of the number inside.
                let of_option = ty.and_then(inside_type).is_some_and(|ty| kind_of_type(&ty) == Kind::Float);
                let zero = match of_option && !self.program.generic() {
                    true => Some(Zero::Scalar),
                    false => self.program.zero_of(init),
                };
                let (kind, of_user) = (self.program.kind_of(init), self.program.of_user(init));
                let constructed = kind == Kind::Unknown && syntax.is_some_and(|init| self.constructs(init));
                self.constructed.extend(constructed.then_some(id));
                let variable = &mut self.program.variables[id];
                if variable.kind == Kind::Unknown {
                    // `_` is what is taken for a number.
                    let number = kind == Kind::Unknown && matches!(ty, Some(syn::Type::Infer(_)));
                    variable.kind = if number { Kind::Float } else { kind };
                }
                variable.zero = zero;
                variable.of_user |= of_user;
            }
        }
        if let (true, Some(syn::Type::Tuple(types))) = (tuple, ty) {
            for (id, ty) in variables.iter().zip(&types.elems) {
                if let Some(id) = *id
                    && crate::mutation::owned_type(ty)
                {
                    self.note_vector(id, None, Some(ty));
                    self.program.variables[id].memory = true;
                }
            }
        }
        if let Some(ExprKind::Split(_)) = init.map(|init| &self.program.exprs[init].kind) {
            self.settle_split(&variables);
        }
        if let (true, Some(init)) = (tuple, init) {
            for (id, (kind, zero)) in variables.iter().zip(self.program.kinds_of_parts(init)) {
                if let Some(id) = id {
                    self.program.variables[*id].kind = kind;
                    self.program.variables[*id].zero = zero;
                }
            }
        }
        Some(StatementKind::Let(Let { syntax: local.clone(), variables, tuple, init, aliases: Vec::new() }))
    }

    /// A parameter that is a reference to a slice.
    fn refers_to_slice(&self, id: VarId) -> bool {
        let variable = &self.program.variables[id];
        variable.slice && variable.by_reference() && !self.by_value.contains(&id)
    }

    /// `let (a, b) = (x.row(0), x.row(1));`: a `let` for each view, which is another name for a place. Likewise for arrays that are computed,
    /// where the function calls itself, and for copies of structs, since these may own memory.
    pub(crate) fn views_apart(&self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let Stmt::Local(syn::Local { pat: Pat::Tuple(names), init: Some(init), .. }) = stmt else {
            return None;
        };
        let Syn::Tuple(values) = &*init.expr else { return None };
        let named = |part: &Pat| match part {
            Pat::Ident(name) => name.by_ref.is_none() && name.subpat.is_none(),
            part => matches!(part, Pat::Wild(_)),
        };
        let apart = |value: &Syn| match value {
            Syn::MethodCall(call) => {
                let copied =
                    || call.method == "clone" && self.kind_of_syntax(&call.receiver) == Kind::Unknown;
                self.viewed(call).is_some() || self.shape_of(value).is_some() || copied()
            }
            Syn::Binary(_) => self.shape_of(value).is_some(),
            Syn::Call(call) => match &*call.func {
                Syn::Path(path) => {
                    path.path.get_ident().is_some_and(|name| self.function.as_ref() == Some(name))
                }
                _ => false,
            },
            _ => false,
        };
        if names.elems.len() != values.elems.len()
            || !names.elems.iter().all(named)
            || !values.elems.iter().any(apart)
        {
            return None;
        }
        let (mut lets, mut renamed) = (Vec::new(), Vec::new());
        for (i, (name, value)) in names.elems.iter().zip(&values.elems).enumerate() {
            // A name means in later values what it has meant before.
            let read = |name: &syn::Ident| {
                values.elems.iter().skip(i + 1).any(|value| Occurrences::of(value).count(name) > 0)
            };
            if bound(name).iter().any(read) {
                let other = Program::fresh(&format!("part_{i}"));
                lets.push(syn::parse_quote!(let #other = #value;));
                renamed.push(syn::parse_quote!(let #name = #other;));
            } else {
                lets.push(syn::parse_quote!(let #name = #value;));
            }
        }
        lets.extend(renamed);
        Some(lets)
    }

    /// `let (a, b) = &pairs[i]`: the names stand for parts of a place.
    fn names_of_parts(
        &mut self,
        parts: &syn::PatTuple,
        reference: &syn::ExprReference,
    ) -> Option<Vec<(syn::Ident, Place)>> {
        if reference.mutability.is_some() || !parts.elems.iter().all(is_name_or_ignored) {
            return None;
        }
        let whole = self.place(referent(&reference.expr))?;
        let names = parts.elems.iter().enumerate().filter_map(|(i, part)| {
            let Pat::Ident(name) = part else { return None };
            let mut place = whole.clone();
            place.projections.push(Projection::Field(syn::Member::from(i)));
            Some((name.ident.clone(), place))
        });
        Some(names.collect())
    }

    /// `let [a, b] = &mut pair;`: the names stand for elements.
    fn elements_by_name(&mut self, local: &syn::Local) -> Option<Vec<(syn::Ident, Place)>> {
        let (Pat::Slice(names), Syn::Reference(reference)) = (&local.pat, &*local.init.as_ref()?.expr) else {
            return None;
        };
        let rest = matches!(names.elems.last(), Some(Pat::Rest(_)));
        let known = names.elems.len() - usize::from(rest);
        if reference.mutability.is_none() || !names.elems.iter().take(known).all(is_name_or_ignored) {
            return None;
        }
        let whole = self.place(&reference.expr)?;
        let variable = &mut self.program.variables[whole.base];
        (variable.memory, variable.parted) = (true, true);
        let mut parts = Vec::new();
        for (i, name) in names.elems.iter().take(known).enumerate() {
            let Pat::Ident(name) = name else { continue };
            let i = syn::Index::from(i);
            let (index, mut place) = (self.inert_expr(&syn::parse_quote!(#i)), whole.clone());
            place.projections.push(Projection::Index(index));
            parts.push((name.ident.clone(), place));
        }
        Some(parts)
    }

    /// Other names for places, resolved where they are used.
    pub(crate) fn names_for_places(
        &mut self,
        local: &syn::Local,
        names: impl IntoIterator<Item = (syn::Ident, Place)>,
        unique: bool,
    ) -> StatementKind {
        let ty = match &local.pat {
            Pat::Type(typed) => Some(typed.ty.clone()),
            _ => None,
        };
        let aliases: Vec<_> = names.into_iter().collect();
        for (name, place) in &aliases {
            if matches!(self.scope().get(&name.to_string()), Some(Binding::Variable(id)) if *id != place.base)
            {
                self.errors.push(name, "this name is taken by a variable of the same block: give the reference a name of its own");
            }
            let binding = Binding::Alias { place: place.clone(), unique, ty: ty.clone() };
            self.scope().insert(name.to_string(), binding);
            self.program.unique_names.extend(unique.then(|| name.to_string()));
        }
        StatementKind::Let(Let {
            syntax: local.clone(),
            variables: Vec::new(),
            tuple: false,
            init: None,
            aliases,
        })
    }

    pub(crate) fn pattern(&mut self, pattern: &Pat) -> Option<VarId> {
        match pattern {
            Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => {
                Some(self.bind(&ident.ident, Origin::Local, ident.mutability.is_some()))
            }
            Pat::Wild(_) => None,
            other => {
                self.errors
                    .push(other, "this pattern is not differentiable yet: bind a name, or a tuple of names");
                None
            }
        }
    }

    pub(crate) fn expr_statement(&mut self, stmt: &Stmt, expr: &Syn, semi: bool) -> Option<StatementKind> {
        match expr {
            Syn::Assign(assign) => self.assignment(expr, &assign.left, None, &assign.right),
            Syn::Binary(binary)
                if let Some(op) = assign_op(&binary.op)
                    && self.changes_owner(&binary.left, &binary.right) =>
            {
                let call = self.operator_onto(expr, op, &binary.left, &binary.right);
                Some(StatementKind::Expr(call, true))
            }
            Syn::Binary(binary) if assign_op(&binary.op).is_some() => {
                self.assignment(expr, &binary.left, assign_op(&binary.op), &binary.right)
            }
            // An integer beside what carries a gradient, such as the state of a generator.
            Syn::Binary(binary)
                if let Some(op) = bitwise_op(&binary.op)
                    && self.suspects.any(&binary.left)
                    && is_plain_place(&binary.left) =>
            {
                let (left, right) = (&binary.left, &binary.right);
                let value = syn::parse_quote!(::pullback::__private::inert(#left #op (#right)));
                self.assignment(expr, left, None, &value)
            }
            Syn::ForLoop(f) => {
                if let Some(Err((_, why))) = self.for_over(f) {
                    return Some(self.opaque(stmt, why));
                }
                if !matches!(&*f.pat, Pat::Ident(_) | Pat::Wild(_)) || !is_range(&f.expr) {
                    return Some(self.opaque(stmt, UNKNOWN_ITERATOR.into()));
                }
                let range = self.expr(&f.expr);
                self.mark_range(&f.expr);
                let integer = self.has_other_bound(&f.expr);
                let strategy = self.strategy(&f.attrs);
                let body = self.new_block();
                let mut index = None;
                self.landing(f.label.as_ref(), body, true, |parser| {
                    parser.in_block(body, |parser| {
                        if let Pat::Ident(ident) = &*f.pat {
                            let id = parser.bind(&ident.ident, Origin::Index, false);
                            parser.program.variables[id].kind = Kind::Inert;
                            parser.integers.extend(integer.then_some(id));
                            index = Some(id);
                        }
                        parser.scopes.push(HashMap::new());
                        parser.fill_block(&f.body);
                        parser.scopes.pop();
                    });
                });
                self.heed(strategy, body, &f.body);
                Some(StatementKind::For(For { pattern: (*f.pat).clone(), index, range, body, strategy }))
            }
            Syn::While(w) => {
                let cond = self.inert_expr(&w.cond);
                let strategy = self.strategy(&w.attrs);
                let body = self.new_block();
                self.landing(w.label.as_ref(), body, true, |parser| {
                    parser.in_block(body, |parser| parser.fill_block(&w.body));
                });
                self.heed(strategy, body, w);
                Some(StatementKind::While(While { cond, body, strategy }))
            }
            _ => {
                let expr = self.expr(expr);
                Some(StatementKind::Expr(expr, semi))
            }
        }
    }

    pub(crate) fn opaque(&mut self, stmt: &Stmt, why: String) -> StatementKind {
        if statement_escapes(stmt) {
            self.errors.push(stmt, CONTROL);
        }
        self.refuse_closures(stmt.to_token_stream());
        self.refuse_moved_names(|moved| moved.visit_stmt(stmt));
        let Mentions { mentions, reads, aliases } = self.mentioned(stmt.to_token_stream());
        let mut syntax = stmt.clone();
        Strip.visit_stmt_mut(&mut syntax);
        StatementKind::Opaque(Opaque { syntax, mentions, reads, aliases, why: Some(why) })
    }

    pub(crate) fn assignment(
        &mut self,
        syntax: &Syn,
        left: &Syn,
        op: Option<Op>,
        right: &Syn,
    ) -> Option<StatementKind> {
        // An error is shown from its first to its last token.
        let end =
            right.to_token_stream().into_iter().last().map_or_else(|| right.span(), |token| token.span());
        let stmt = || Stmt::Expr(syntax.clone(), Some(syn::Token![;](end)));
        if self.is_unnamed(left) {
            return Some(self.opaque(&stmt(), THROUGH_PATTERN.into()));
        }
        if let Syn::Path(path) = left
            && path.path.get_ident().is_some_and(|name| self.is_alias(name))
        {
            self.errors.push(left, CHANGES);
            return None;
        }
        let Some(mut place) = self.place(left) else {
            return Some(self.opaque(&stmt(), UNNAMED.into()));
        };
        let value = self.operand(right);
        if let (None, Some(Projection::Indexed(_, kind))) = (op, place.projections.last_mut()) {
            // Nothing is computed with what was there.
            *kind = self.program.kind_of(value);
        }
        if !place.projections.is_empty() {
            self.program.variables[place.base].memory = true;
        } else if self.is_found(value) || self.refers_to_constant(value) {
            self.program.variables[place.base].found = true;
        } else if op.is_none() && self.program.kind_of(value) == Kind::Float {
            // A call that has made the first value does not tell what it is.
            let zero = self.program.zero_of(value);
            let variable = &mut self.program.variables[place.base];
            if variable.kind == Kind::Unknown {
                (variable.kind, variable.zero) = (Kind::Float, zero);
            }
        }
        let result = match op {
            None => value,
            Some(op) => {
                let read = self.add(left, ExprKind::Read(place.clone()));
                // `a *= b + c` is `a * (b + c)`.
                let kind = &self.program.exprs[value].kind;
                let loose =
                    matches!(kind, ExprKind::Binary { .. } | ExprKind::If { .. } | ExprKind::Block(_));
                let operand = if loose { self.add(right, ExprKind::Paren(value)) } else { value };
                self.add(syntax, ExprKind::Binary { op, left: read, right: operand })
            }
        };
        Some(StatementKind::Assign(Assign { place, op, value, result, syntax: syntax.clone() }))
    }
}

/// A place that can be asked for twice.
pub(crate) fn is_plain_place(expr: &Syn) -> bool {
    match expr {
        Syn::Path(_) => true,
        Syn::Field(field) => is_plain_place(&field.base),
        Syn::Index(index) => {
            is_plain_place(&index.expr) && matches!(&*index.index, Syn::Path(_) | Syn::Lit(_))
        }
        Syn::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => is_plain_place(&unary.expr),
        Syn::Paren(paren) => is_plain_place(&paren.expr),
        _ => false,
    }
}

/// What a reference to references refers to.
pub(crate) fn referent(expr: &Syn) -> &Syn {
    match expr {
        Syn::Reference(reference) => referent(&reference.expr),
        expr => expr,
    }
}

/// `let (q, _) = f(x);` and `let _ = f(x);` with a name for each part: it may be a vector, and has a gradient then.
fn with_names(local: &syn::Local) -> Option<syn::Local> {
    let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
    if !matches!(&*init.expr, Syn::Call(_) | Syn::MethodCall(_)) {
        return None;
    }
    let mut named = local.clone();
    let pattern = match &mut named.pat {
        Pat::Type(typed) => &mut *typed.pat,
        pattern => pattern,
    };
    let parts: Vec<_> = match pattern {
        Pat::Tuple(parts) => parts.elems.iter_mut().collect(),
        pattern => vec![pattern],
    };
    let mut found = false;
    for (i, part) in parts.into_iter().enumerate().filter(|(_, part)| matches!(part, Pat::Wild(_))) {
        let name = Program::fresh(&format!("ignored_{i}"));
        *part = syn::parse_quote!(#name);
        found = true;
    }
    found.then_some(named)
}
