//! An `Option` or a `Result` of a vector that has a name: `let r = f(x); match r { Ok(v) => …, Err(e) => … }`.
//!
//! The name becomes that of how the call ended, which carries no gradient, and what is inside has a name of its own:
//! `let (r, mut inside) = split(f(x));`. That is right where one place takes out what is inside, and others ask only whether there is
//! anything.

use std::collections::VecDeque;

use syn::visit::{self, Visit};
use syn::{Expr as Syn, Ident, Pat, Stmt, parse_quote};

use crate::contents::{arms, inside};
use crate::parse::{Binding, Parser};
use crate::rename::{Bindings, Occurrences, bound};
use crate::uses::is_name;

impl Parser<'_> {
    /// `let r = f(x);`, if that is looked into once in what comes after.
    pub(crate) fn named_outcome(&mut self, local: &syn::Local, rest: &VecDeque<Stmt>) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        let Pat::Ident(name) = pattern else { return None };
        let mut takes = Takes { parser: self, name: &name.ident, all: 0, asked: 0, taken: 0, again: 0 };
        takes.statements(rest);
        let mut others = Bindings::of(&name.ident);
        rest.iter().for_each(|stmt| others.visit_stmt(stmt));
        if others.count > 0 || takes.taken != 1 || takes.asked + takes.taken != takes.all {
            return None;
        }
        if !is_name(pattern) || !self.may_be_split(&init.expr) {
            return None;
        }
        let (name, whole, inside) = (&name.ident, &init.expr, self.parts.fresh("inside"));
        self.outcomes.insert(name.to_string(), inside.clone());
        Some(vec![parse_quote!(let (#name, mut #inside) = ::pullback::__private::split(#whole);)])
    }

    /// `let r = f(x); let v = r.ok_or(error)?;` in one statement, where nothing else mentions `r`.
    pub(crate) fn looked_into_next(&self, local: &syn::Local, rest: &VecDeque<Stmt>) -> Option<Stmt> {
        let init =
            local.init.as_ref().filter(|init| init.diverge.is_none() && self.may_be_split(&init.expr))?;
        let (Pat::Ident(name), Some(Stmt::Local(next))) = (&local.pat, rest.front()) else { return None };
        let mentions = |stmt: &Stmt| Occurrences::of(stmt).count(&name.ident);
        let again = bound(&next.pat).contains(&name.ident);
        if !is_name(&local.pat)
            || mentions(&rest[0]) != 1 + usize::from(again)
            || !again && rest.iter().skip(1).any(|stmt| mentions(stmt) > 0)
        {
            return None;
        }
        let mut next = next.clone();
        let passed_on = passed_on(&mut next.init.as_mut()?.expr, false)?;
        if !matches!(outcome(passed_on), Some((looked_at, false)) if *looked_at == name.ident) {
            return None;
        }
        passed_on.clone_from(&init.expr);
        Some(Stmt::Local(next))
    }

    /// How such a call ended, what is inside, and whether it is only looked at, if `whole` is the name.
    pub(crate) fn named_halves(&self, whole: &Syn) -> Option<(Ident, Ident, bool)> {
        let (name, by_reference) = outcome(whole)?;
        let inside = self.outcomes.get(&name.to_string())?;
        let Some(Binding::Variable(_)) = self.lookup(inside) else { return None };
        Some((name.clone(), inside.clone(), by_reference))
    }
}

/// The outcome that another one is made of, in `r.ok_or(error)?`, `r.ok().unwrap()` and the like.
fn passed_on(expr: &mut Syn, found: bool) -> Option<&mut Syn> {
    match expr {
        Syn::Try(tried) => passed_on(&mut tried.expr, found),
        Syn::MethodCall(call) => match call.method.to_string().as_str() {
            "ok" | "ok_or" | "ok_or_else" | "map_err" => passed_on(&mut call.receiver, true),
            "unwrap" | "expect" => passed_on(&mut call.receiver, found),
            _ => None,
        },
        outcome => found.then_some(outcome),
    }
}

/// The variable in `r`, `&r` and `r.as_ref()`; and whether it is only looked at.
fn outcome(expr: &Syn) -> Option<(&Ident, bool)> {
    match expr {
        Syn::Path(path) => Some((path.path.get_ident()?, false)),
        Syn::Reference(reference) if reference.mutability.is_none() => {
            Some((outcome(&reference.expr)?.0, true))
        }
        Syn::MethodCall(call) if call.method == "as_ref" && call.args.is_empty() => {
            Some((outcome(&call.receiver)?.0, true))
        }
        _ => None,
    }
}

/// What is done with an outcome.
struct Takes<'p, 'e, 'n> {
    parser: &'p Parser<'e>,
    name: &'n Ident,
    all: usize,
    /// Whether there is something inside.
    asked: usize,
    /// What is inside is taken out, and handled as a vector.
    taken: usize,
    /// Loops and closures around.
    again: usize,
}

impl Takes<'_, '_, '_> {
    fn is(&self, expr: &Syn) -> bool {
        outcome(expr).is_some_and(|(name, _)| name == self.name)
    }

    fn take<'s>(&mut self, pattern: Option<&Pat>, scope: impl IntoIterator<Item = &'s Stmt>) {
        let handled =
            self.again == 0 && pattern.is_some_and(|pattern| self.parser.is_handled(pattern, scope));
        self.taken += usize::from(handled);
    }

    fn statements<'s>(&mut self, stmts: impl IntoIterator<Item = &'s Stmt>) {
        let stmts: Vec<_> = stmts.into_iter().collect();
        for (i, stmt) in stmts.iter().enumerate() {
            if let Stmt::Local(local) = stmt
                && let Some(init) = &local.init
            {
                let rest = stmts[i + 1..].iter().copied();
                match (&init.diverge, &*init.expr) {
                    (Some(_), whole) if self.is(whole) => self.take(inside(&local.pat), rest),
                    (None, Syn::Try(tried)) if self.is(&tried.expr) => self.take(Some(&local.pat), rest),
                    (None, Syn::MethodCall(call))
                        if self.is(&call.receiver)
                            && (call.method.to_string().starts_with("unwrap") || call.method == "expect") =>
                    {
                        self.take(Some(&local.pat), rest);
                    }
                    _ => {}
                }
            }
            self.visit_stmt(stmt);
        }
    }
}

impl<'ast> Visit<'ast> for Takes<'_, '_, '_> {
    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.statements(&block.stmts);
    }
    fn visit_expr(&mut self, expr: &'ast Syn) {
        let again = matches!(expr, Syn::ForLoop(_) | Syn::While(_) | Syn::Loop(_) | Syn::Closure(_));
        self.again += usize::from(again);
        visit::visit_expr(self, expr);
        self.again -= usize::from(again);
    }
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.all += usize::from(path.path.get_ident() == Some(self.name));
    }
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let asks = ["is_some", "is_none", "is_ok", "is_err"].iter().any(|name| call.method == name);
        self.asked += usize::from(asks && self.is(&call.receiver));
        visit::visit_expr_method_call(self, call);
    }
    fn visit_expr_match(&mut self, m: &'ast syn::ExprMatch) {
        if self.is(&m.expr)
            && let Some(parted) = arms(m)
        {
            self.take(Some(parted.inside), &[Stmt::Expr(parted.then.clone(), None)]);
        }
        visit::visit_expr_match(self, m);
    }
    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        if let Syn::Let(binding) = &*branch.cond
            && self.is(&binding.expr)
        {
            self.take(inside(&binding.pat), &branch.then_branch.stmts);
        }
        visit::visit_expr_if(self, branch);
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.all += Occurrences::of(&mac.tokens).count(self.name);
    }
}
