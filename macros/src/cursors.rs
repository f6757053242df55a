//! Iterators that are asked for one item after the other: `let mut it = x.iter(); while let Some(v) = it.next() { … }`.
//!
//! Such an iterator stands for what it goes through, and for how many of the items have been handed out: its rest is
//! `x.iter().skip(at)`.

use std::collections::VecDeque;

use syn::visit::{self, Visit};
use syn::{Expr, ExprMethodCall, Ident, Pat, Stmt, parse_quote};

use crate::parse::Parser;
use crate::rename::{Bindings, Occurrences};

/// What takes some of the items and leaves the rest, other than `next`.
const BY_REFERENCE: &[&str] = &[
    "by_ref",
    "nth",
    "find",
    "find_map",
    "position",
    "rposition",
    "any",
    "all",
    "try_fold",
    "try_for_each",
    "next_back",
    "nth_back",
    "rfind",
    "peek",
    "next_if",
    "next_if_eq",
    "clone",
    "len",
    "size_hint",
    "as_slice",
];

impl<'e> Parser<'e> {
    /// The `let` of such an iterator, if what comes after asks for items by `next` alone, and for all others at once.
    pub(crate) fn cursor_let(&mut self, local: &syn::Local, rest: &VecDeque<Stmt>) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let (Pat::Ident(name), chain) = (&local.pat, &init.expr) else { return None };
        if name.mutability.is_none() || !(matches!(**chain, Expr::Range(_)) || self.goes_through(chain)) {
            return None;
        }
        let (mut uses, mut all, mut others) =
            (Uses { name: &name.ident, known: 0 }, Occurrences::default(), Bindings::of(&name.ident));
        for stmt in rest {
            uses.visit_stmt(stmt);
            others.visit_stmt(stmt);
            all.add(stmt);
        }
        if others.count > 0 || uses.known != all.count(&name.ident) {
            return None;
        }
        // What `next` would have to look for is found again from the start each time.
        let flow = self.flow_of_receiver(chain, &mut Vec::new()).ok()??;
        flow.source()?;
        if self.may_change(&parse_quote!(|| #chain)) {
            return None;
        }
        let at = self.names.fresh("at");
        self.push_statement(&parse_quote!(let mut #at = 0_usize;));
        self.stands_for(&name.ident, parse_quote!(|| (#chain).skip(#at)));
        Some(Vec::new())
    }

    /// The rest of such an iterator before one more item is handed out, if `call` asks for that.
    pub(crate) fn before_next(&mut self, call: &ExprMethodCall, out: &mut Vec<Stmt>) -> Option<Expr> {
        if call.method != "next" {
            return None;
        }
        let Expr::MethodCall(mut rest) = self.named_chain(&call.receiver).ok()?? else { return None };
        let (at, now) = (rest.args.first()?.clone(), self.names.fresh("now"));
        out.push(parse_quote!(let #now = #at;));
        out.push(parse_quote!(#at += 1;));
        rest.args = std::iter::once::<Expr>(parse_quote!(#now)).collect();
        Some(Expr::MethodCall(rest))
    }
}

/// How often such an iterator is used in a way that is known.
struct Uses<'n> {
    name: &'n Ident,
    known: usize,
}

impl Uses<'_> {
    fn is(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Path(path) if path.path.get_ident() == Some(self.name))
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let rest = !BY_REFERENCE.iter().any(|name| call.method == name);
        self.known += usize::from(rest && self.is(&call.receiver));
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_for_loop(&mut self, f: &'ast syn::ExprForLoop) {
        self.known += usize::from(self.is(&f.expr));
        visit::visit_expr_for_loop(self, f);
    }
}
