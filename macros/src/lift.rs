//! Statements before statements: chains of iterators and calls of closures within an expression become loops and `let`s in
//! front of it. What is left of the expression is arithmetic, which the reverse pass can evaluate again.

use std::collections::{HashMap, VecDeque};

use quote::{ToTokens, quote};
use syn::visit_mut::VisitMut;
use syn::{Expr, Ident, Pat, Stmt, Type, parse_quote};

use crate::escape::statement_escapes;
use crate::iterators::collect::element_of_vec;
use crate::iterators::consumers::{Chain, changes};
use crate::iterators::item::{Code, Item, never_a_value, operand};
use crate::kind::{inert, kind_of_type};
use crate::listed::as_array;
use crate::mutation::owned_type;
use crate::of_std::name_in;
use crate::parse::{Binding, Parser, assign_op};
use crate::parts_of_calls::is_element;
use crate::program::Kind;
use crate::rename::{Occurrences, Replace, Substitute, bound, is_name, path};
use crate::tails::{converted, tell};

impl Parser<'_> {
    /// What is to stand in place of a statement; `None` if that stays as it is.
    pub(crate) fn rewrite(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let dropped = self.dropped_row(stmt);
        if let Some(out) = dropped
            .or_else(|| self.by_exchange(stmt))
            .or_else(|| self.selected(stmt))
            .or_else(|| self.shortened(stmt))
            .or_else(|| self.holding(stmt))
        {
            return Some(out);
        }
        match stmt {
            Stmt::Expr(Expr::MethodCall(call), semi)
                if let Some(out) = self.write_of_temporary(call, *semi) =>
            {
                Some(out)
            }
            Stmt::Expr(Expr::MethodCall(call), Some(_)) if call.method == "extend" => self.extended(call),
            Stmt::Expr(Expr::Assign(assign), _)
                if let Some(out) = self.unpacked(assign).or_else(|| self.assigned_call(assign)) =>
            {
                Some(out)
            }
            Stmt::Local(local) => self.rewrite_let(local),
            Stmt::Expr(Expr::ForLoop(f), _) => self.for_over(f)?.ok(),
            // Memory that a pullback may ask for again stays where it is.
            Stmt::Expr(Expr::Call(call), Some(_)) if drops(call) && self.suspects.any(call) => {
                Some(Vec::new())
            }
            Stmt::Expr(Expr::Call(call), semi) if self.chooses(call) && !is_held_constant(call) => {
                Some(vec![Stmt::Expr(self.chosen(call)?, *semi)])
            }
            Stmt::Expr(expr, semi) => {
                let (mut expr, mut out) = (expr.clone(), Vec::new());
                let lifted = match &mut expr {
                    Expr::Assign(assign) => {
                        let place = self.place(&assign.left);
                        if let Some(ty) = place.and_then(|place| self.type_of_place(&place)) {
                            tell(&mut assign.right, &ty);
                        }
                        let lifted = self.place_there(&mut assign.left, &mut out);
                        self.replaced = match &*assign.left {
                            Expr::Path(path) => path.path.get_ident().cloned(),
                            _ => None,
                        };
                        let lifted = self.lift(&mut assign.right, &mut out) | lifted;
                        let done = self.replaced.take().is_some_and(|name| is_name(&assign.right, &name));
                        if lifted && done {
                            return Some(out);
                        }
                        lifted
                    }
                    Expr::Binary(binary) if assign_op(&binary.op).is_some() => {
                        let lifted = self.place_there(&mut binary.left, &mut out);
                        self.lift(&mut binary.right, &mut out) | lifted
                    }
                    expr => self.lift(expr, &mut out),
                };
                if !lifted {
                    return None;
                }
                if let Expr::Paren(paren) = &expr {
                    expr = (*paren.expr).clone();
                }
                if !is_unit(&expr) {
                    out.push(Stmt::Expr(expr, *semi));
                }
                Some(out)
            }
            _ => None,
        }
    }

    fn rewrite_let(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        if let Some(out) = self
            .closure_let(local)
            .or_else(|| self.function_let(local))
            .or_else(|| self.chain_let(local))
            .or_else(|| self.option_let(local))
        {
            return Some(out);
        }
        if let Some(out) = self
            .let_temporary(local)
            .or_else(|| self.let_parts(local))
            .or_else(|| self.let_whole(local))
            .or_else(|| self.let_slice(local))
            .or_else(|| self.let_split(local))
        {
            return Some(out);
        }
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let ty = match &local.pat {
            Pat::Type(typed) => Some(&*typed.ty),
            _ => None,
        };
        if let (Expr::MethodCall(call), Some(ty)) = (&*init.expr, ty)
            && self.suspects.any(call)
            && let Some(value) = converted(ty, call)
        {
            let pattern = &local.pat;
            return Some(vec![parse_quote!(let #pattern = #value;)]);
        }
        if let (Expr::MethodCall(call), Some(ty)) = (&*init.expr, ty)
            && call.method == "collect"
            && call.turbofish.is_none()
            && !matches!(ty, Type::Infer(_))
            && self.suspects.any(call)
            && element_of_vec(ty).is_none_or(|element| {
                matches!(element, Type::Reference(_))
                    || is_flag(&element)
                    || inert(&kind_of_type(&element)) && self.is_taken_for_numbers(call)
            })
        {
            // The type is told where the refusal looks for it.
            let (mut call, pattern) = (call.clone(), &local.pat);
            call.turbofish = Some(parse_quote!(::<#ty>));
            return Some(vec![parse_quote!(let #pattern = #call;)]);
        }
        let mut out = Vec::new();
        match self.chain(&init.expr, ty, &mut out) {
            Some(Ok(Chain::Value(item))) => {
                self.bind_chain(local, &init.expr, item, &mut out);
                return Some(out);
            }
            Some(_) => return None,
            None => {}
        }
        let mut expr = (*init.expr).clone();
        let chosen = match &expr {
            Expr::Call(call) if !is_held_constant(call) => self.chosen(call),
            _ => None,
        };
        match chosen {
            Some(chosen) => expr = chosen,
            None if self.lift(&mut expr, &mut out) => {}
            None => return None,
        }
        let mut local = local.clone();
        if let Some(init) = &mut local.init {
            *init.expr = expr;
        }
        out.push(Stmt::Local(local));
        Some(out)
    }

    /// `let pattern = chain;`
    fn bind_chain(&mut self, local: &syn::Local, chain: &Expr, item: Item, out: &mut Vec<Stmt>) {
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        match (pattern, &item) {
            // A collection is built under its own name: moving it would end its life as memory.
            (Pat::Ident(name), Item::Value(Expr::Path(hidden)))
                if (makes_vector(chain) || self.folds_vector(local, chain))
                    && self.around(chain).count(&name.ident) == 0 =>
            {
                let Some(hidden) = hidden.path.get_ident().cloned() else { return };
                let by = Substitute::Name(name.ident.clone());
                let mut code = Code { statements: std::mem::take(out), value: None };
                let mut replace = Replace::new(&hidden, &by);
                for statement in &mut code.statements {
                    syn::visit_mut::VisitMut::visit_stmt_mut(&mut replace, statement);
                }
                *out = code.statements;
            }
            (Pat::Ident(_), Item::Tuple(_)) => {
                let (pattern, value) = (&local.pat, item.expr());
                out.push(parse_quote!(let #pattern = #value;));
            }
            _ => {
                let mut none = Code { statements: Vec::new(), value: None };
                self.bind_item(&local.pat, item, &mut none, out);
            }
        }
    }

    /// `chain.fold(x.to_vec(), …)`, as the type of the `let` or what it starts with tells.
    fn folds_vector(&self, local: &syn::Local, chain: &Expr) -> bool {
        let Expr::MethodCall(call) = chain else { return false };
        let annotated = matches!(&local.pat, Pat::Type(typed) if owned_type(&typed.ty));
        let starts_with_one = |start: &Expr| match start {
            Expr::MethodCall(call) => call.method == "to_vec" || call.method == "collect",
            Expr::Macro(mac) => mac.mac.path.is_ident("vec"),
            start => matches!(self.kind_of_syntax(start), Kind::Sequence(_)),
        };
        call.method == "fold" && (annotated || call.args.first().is_some_and(starts_with_one))
    }

    /// Takes chains and calls of closures out of `expr`, where it evaluates them in any case. Tells whether there were any.
    pub(crate) fn lift(&mut self, expr: &mut Expr, out: &mut Vec<Stmt>) -> bool {
        match expr {
            Expr::MethodCall(_) => return self.lift_method(expr, out),
            Expr::Call(_) => return self.lift_call(expr, out),
            Expr::Macro(mac) => return self.lift_elements(&mut mac.mac, out),
            Expr::Binary(binary) if matches!(binary.op, syn::BinOp::And(_) | syn::BinOp::Or(_)) => {
                return false;
            }
            Expr::Field(field) if let Some(part) = self.part_of_picked(field, out) => {
                *expr = part;
                return true;
            }
            _ => {}
        }
        let operands: Vec<&mut Expr> = match expr {
            Expr::Binary(binary) => vec![&mut *binary.left, &mut *binary.right],
            Expr::Paren(paren) => vec![&mut *paren.expr],
            Expr::Group(group) => vec![&mut *group.expr],
            Expr::Unary(unary) => vec![&mut *unary.expr],
            Expr::Cast(cast) => vec![&mut *cast.expr],
            Expr::Reference(reference) => vec![&mut *reference.expr],
            Expr::Field(field) => vec![&mut *field.base],
            Expr::Index(index) => vec![&mut *index.expr, &mut *index.index],
            Expr::Tuple(tuple) => tuple.elems.iter_mut().collect(),
            Expr::Array(array) => array.elems.iter_mut().collect(),
            Expr::Repeat(repeat) => vec![&mut *repeat.expr],
            // A chain that is all of the value becomes a block there.
            Expr::Return(syn::ExprReturn { expr: Some(value), .. })
            | Expr::Break(syn::ExprBreak { expr: Some(value), .. })
                if !matches!(&**value, Expr::MethodCall(_) | Expr::Call(_)) =>
            {
                vec![&mut **value]
            }
            Expr::Return(syn::ExprReturn { expr: Some(value), .. })
            | Expr::Break(syn::ExprBreak { expr: Some(value), .. }) => {
                in_parentheses(value).into_iter().collect()
            }
            // The arms may be without gradient, so that nothing else looks into it.
            Expr::Match(matched) if self.calls_closure(&matched.expr) || is_unwrapped(&matched.expr) => {
                vec![&mut *matched.expr]
            }
            Expr::If(branch) => match &mut *branch.cond {
                Expr::Let(test) if self.calls_closure(&test.expr) || is_unwrapped(&test.expr) => {
                    vec![&mut *test.expr]
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        self.lift_all(operands, out)
    }

    /// Those of `vec![…]`.
    fn lift_elements(&mut self, vec: &mut syn::Macro, out: &mut Vec<Stmt>) -> bool {
        let Some(mut array) = as_array(vec) else { return false };
        let lifted = self.lift(&mut array, out);
        match array {
            Expr::Array(syn::ExprArray { elems, .. }) if lifted => vec.tokens = elems.to_token_stream(),
            Expr::Repeat(syn::ExprRepeat { expr, len, .. }) if lifted => vec.tokens = quote!(#expr; #len),
            _ => {}
        }
        lifted
    }

    fn lift_all<'x>(&mut self, exprs: impl IntoIterator<Item = &'x mut Expr>, out: &mut Vec<Stmt>) -> bool {
        exprs.into_iter().fold(false, |lifted, expr| self.lift(expr, out) | lifted)
    }

    fn lift_call(&mut self, expr: &mut Expr, out: &mut Vec<Stmt>) -> bool {
        let Expr::Call(call) = expr else { return false };
        if is_held_constant(call) {
            return false;
        }
        if let Some(chosen) = self.chosen(call) {
            *expr = match chosen {
                Expr::Match(chosen) => {
                    let name = self.hidden("outcome");
                    out.push(parse_quote!(let #name = #chosen;));
                    path(&name)
                }
                chosen => chosen,
            };
            self.lift(expr, out);
            return true;
        }
        let lifted = self.lift_all(&mut call.args, out);
        let Some(closure) = self.closure(&call.func) else { return lifted };
        let Ok(value) = self.inline_call(&closure, call, out) else { return lifted };
        *expr = match value {
            None => parse_quote!(()),
            // What the next call changes is read now.
            Some(value) if changes(&closure.syntax.body) && !never_a_value(&value) => {
                let name = self.hidden("outcome");
                out.push(parse_quote!(let #name = #value;));
                path(&name)
            }
            Some(value) => self.settled(value, out),
        };
        true
    }

    fn lift_method(&mut self, expr: &mut Expr, out: &mut Vec<Stmt>) -> bool {
        let mut before = Vec::new();
        match self.chain(expr, None, &mut before) {
            Some(Ok(Chain::Value(item))) => {
                out.extend(before);
                *expr = match item {
                    Item::Place { .. } => {
                        let (name, value) = (self.hidden("item"), item.expr());
                        out.push(parse_quote!(let #name = #value;));
                        path(&name)
                    }
                    item => self.settled(item.expr(), out),
                };
                true
            }
            Some(_) => false,
            None => {
                let Expr::MethodCall(call) = expr else { return false };
                // What is called on what `map` makes may tell that this is an `Option`.
                let lifted = !self.may_map_option(&call.receiver) && self.lift(&mut call.receiver, out);
                self.lift_all(&mut call.args, out) | lifted
            }
        }
    }

    /// What was inlined, as an operand; under a name if there is more to take out of it.
    fn settled(&mut self, value: Expr, out: &mut Vec<Stmt>) -> Expr {
        if !self.has_more(&value) {
            return operand(value);
        }
        let name = self.hidden("outcome");
        out.push(parse_quote!(let #name = #value;));
        path(&name)
    }

    /// There are more chains or calls of closures in what was inlined.
    fn has_more(&self, expr: &Expr) -> bool {
        has_any(expr, &|expr| match expr {
            Expr::Closure(_) => true,
            Expr::Call(call) => self.closure(&call.func).is_some(),
            Expr::MethodCall(call) => ["iter", "into_iter", "iter_mut"].iter().any(|m| call.method == m),
            _ => false,
        })
    }

    pub(crate) fn calls_closure(&self, expr: &Expr) -> bool {
        has_any(expr, &|expr| matches!(expr, Expr::Call(call) if self.closure(&call.func).is_some()))
    }

    /// A `let` may make of it another name for a place.
    fn may_refer(&self, init: &Expr) -> bool {
        match init {
            Expr::Reference(_) | Expr::MethodCall(_) => true,
            Expr::Path(path) => path.path.get_ident().is_some_and(|name| self.is_reference(name)),
            Expr::Tuple(tuple) => tuple.elems.iter().any(|element| self.may_refer(element)),
            _ => false,
        }
    }

    /// A variable of a block around this one has the name: where a block is left, what it keeps of that is handed over.
    fn hides_variable(&self, name: &Ident) -> bool {
        let (own, around) = self.scopes.split_last().expect("there is always a scope");
        let is_variable =
            |scope: &HashMap<_, _>| matches!(scope.get(&name.to_string()), Some(Binding::Variable(_)));
        !own.contains_key(&name.to_string()) && around.iter().any(is_variable)
    }

    /// A `let` that takes a name which a closure still refers to, or which the variable has that it refers to itself, as in
    /// `let x = &x[1..];`, or by which a block is left: both get along if the new one is called otherwise.
    pub(crate) fn keep_named(&mut self, stmt: &mut Stmt, rest: &mut VecDeque<Stmt>) {
        let left = match stmt {
            Stmt::Expr(Expr::ForLoop(f), _) => f.body.stmts.iter().any(statement_escapes),
            _ => rest.iter().any(statement_escapes),
        };
        let (names, init) = match stmt {
            Stmt::Local(local) => {
                let init = local.init.as_ref().map(|init| &*init.expr).filter(|init| self.may_refer(init));
                (bound(&local.pat), init)
            }
            Stmt::Expr(Expr::ForLoop(f), _) => (bound(&f.pat), None),
            _ => return,
        };
        let refers_to = |name: &Ident, init: &Expr| match self
            .scopes
            .last()
            .and_then(|scope| scope.get(&name.to_string()))
        {
            Some(Binding::Variable(_)) => true,
            // The names get their meanings one after the other.
            _ => names.len() > 1 && Occurrences::of(init).count(name) > 0,
        };
        let taken = |name: &&Ident| {
            self.is_captured(name)
                || left && self.hides_variable(name)
                || self.suspects.contains(name) && init.is_some_and(|init| refers_to(name, init))
        };
        let names: Vec<_> = names.iter().filter(taken).cloned().collect();
        for name in names {
            // Otherwise it may be an own value after all.
            let before = (!self.is_captured(&name)).then(|| (stmt.clone(), rest.clone()));
            let new = self.names.fresh(&name.to_string());
            if self.suspects.contains(&name) {
                self.suspects.insert(&new);
            }
            let by = Substitute::Name(new);
            let mut replace = Replace::new(&name, &by);
            match stmt {
                Stmt::Local(local) => {
                    replace.visit_pat_mut(&mut local.pat);
                    rest.iter_mut().for_each(|later| replace.visit_stmt_mut(later));
                }
                Stmt::Expr(Expr::ForLoop(f), _) => {
                    replace.visit_pat_mut(&mut f.pat);
                    replace.visit_block_mut(&mut f.body);
                }
                _ => {}
            }
            match before {
                Some(before) if replace.left => (*stmt, *rest) = before,
                None if replace.left => self.errors.push(
                    &name,
                    "a closure refers to an earlier variable of this name: give this one another name",
                ),
                _ => {}
            }
        }
    }
}

/// The type is `bool`.
fn is_flag(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("bool"))
}

/// The value of the chain is a vector.
fn makes_vector(chain: &Expr) -> bool {
    match chain {
        Expr::MethodCall(call) => ["collect", "concat"].iter().any(|method| call.method == method),
        _ => false,
    }
}

pub(crate) fn is_unit(expr: &Expr) -> bool {
    match expr {
        Expr::Tuple(tuple) => tuple.elems.is_empty(),
        Expr::Paren(paren) => is_unit(&paren.expr),
        _ => false,
    }
}

/// `drop(v)` and `std::mem::drop(v)` of a variable.
fn drops(call: &syn::ExprCall) -> bool {
    let [Expr::Path(_)] = call.args.iter().collect::<Vec<_>>()[..] else { return false };
    let Expr::Path(function) = &*call.func else { return false };
    function.path.is_ident("drop") || name_in("mem", &function.path).is_some_and(|name| name == "drop")
}

/// `constant(e)`, where *e* stays as it is.
pub(crate) fn is_held_constant(call: &syn::ExprCall) -> bool {
    matches!(&*call.func, Expr::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "constant"))
}

/// `expr` is one of these, or has one in it.
fn has_any(expr: &Expr, one: &dyn Fn(&Expr) -> bool) -> bool {
    struct Search<'a>(&'a dyn Fn(&Expr) -> bool, bool);
    impl<'ast> syn::visit::Visit<'ast> for Search<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.1 |= (self.0)(expr);
            syn::visit::visit_expr(self, expr);
        }
    }
    let mut search = Search(one, false);
    syn::visit::Visit::visit_expr(&mut search, expr);
    search.1
}

/// What stands in parentheses in `(…).sin().abs()`.
fn in_parentheses(expr: &mut Expr) -> Option<&mut Expr> {
    match expr {
        Expr::MethodCall(call) => in_parentheses(&mut call.receiver),
        Expr::Paren(_) => Some(expr),
        _ => None,
    }
}

/// An element that has to be there, `x.last().unwrap()`, or what it refers to.
fn is_unwrapped(expr: &Expr) -> bool {
    match expr {
        Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Deref(_)) && is_unwrapped(&unary.expr),
        expr => is_element(expr) && !matches!(expr, Expr::Try(_)),
    }
}
