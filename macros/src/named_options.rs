//! Options of references under a name: `let first = x.first();`, `let found = x.windows(2).find(|w| w[1] > t);`.
//!
//! A reference is the place that it refers to. Such a name stands for whether there is one, and for that place.

use syn::{Expr, ExprMethodCall, Pat, Stmt, parse_quote};

use crate::closures::Refused;
use crate::iterators::flow::optional;
use crate::iterators::item::Item;
use crate::iterators::optional::{Found, Located};
use crate::iterators::source::result;
use crate::parse::Parser;
use crate::views::is_none;

impl Parser<'_> {
    /// `let first = x.first();`: kept as a closure without parameters, whose value is written out as `if … { Some(…) } else { None }`.
    pub(crate) fn option_let(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        let Pat::Ident(name) = pattern else { return None };
        if name.mutability.is_some() || name.by_ref.is_some() || name.subpat.is_some() {
            return None;
        }
        if !self.suspects.any(&init.expr) {
            return None;
        }
        let (mut out, mut inner) = (Vec::new(), Vec::new());
        let (exists, item) = self.optional_item(&init.expr, &mut out, &mut inner)?.ok()?;
        if !refers(&item) {
            return None;
        }
        let mut values = Vec::new();
        by_value(&item, &mut values);
        if self.may_change(&parse_quote!(|| { #(#inner)* (#(#values,)*) })) {
            return None;
        }
        for statement in &out {
            self.push_statement(statement);
        }
        let value = item.expr();
        self.stands_for(&name.ident, parse_quote!(|| if #exists { #(#inner)* Some(#value) } else { None }));
        Some(Vec::new())
    }

    /// What `expr` names, if that is such an option.
    pub(crate) fn named_option(&self, expr: &Expr) -> Option<Result<Found, Refused>> {
        if let Expr::MethodCall(call) = expr
            && call.method == "maybe"
        {
            // As [`options`](crate::options) asks for whatever may be there.
            return self.named_option(&call.receiver);
        }
        let closure = self.closure(expr).filter(|closure| closure.syntax.inputs.is_empty())?;
        let body = (*closure.syntax.body).clone();
        let (Some(exists), code) = optional(Some(body), &closure.syntax).ok()? else { return None };
        let item = result(code.value.expect("an option has a value"));
        let found = Found { exists, item: Located::Made(code.statements, item) };
        Some(self.still_valid(&closure).map(|()| found))
    }

    /// `match found { Some(v) if *v > t => …, Some(v) => …, None => … }`
    pub(crate) fn match_named(&mut self, m: &syn::ExprMatch) -> Option<Expr> {
        if let Expr::MethodCall(call) = &*m.expr {
            let guarded = m.arms.iter().any(|arm| matches!(arm.pat, Pat::Guard(_)));
            if !guarded || !self.suspects.any(call) {
                return None;
            }
            if !self.picks(call) && self.optional_part(call, &mut Vec::new()).is_none() {
                return None;
            }
            let mut named = m.clone();
            let found = self.hidden("found");
            named.expr = parse_quote!(#found);
            return Some(parse_quote!({ let #found = #call; #named }));
        }
        let exists = self.named_option(&m.expr)?.ok()?.exists;
        let unreachable: Expr = parse_quote!(unreachable!());
        let (mut then, mut otherwise) = (unreachable.clone(), unreachable);
        for arm in m.arms.iter().rev() {
            let (pattern, guard) = match &arm.pat {
                Pat::Guard(guarded) => (&*guarded.pat, Some(&guarded.guard)),
                pattern => (pattern, None),
            };
            let chosen = |body: &Expr, rest: &Expr| -> Expr {
                match guard {
                    Some(guard) => parse_quote!(if #guard { #body } else { #rest }),
                    None => body.clone(),
                }
            };
            if is_none(pattern) {
                otherwise = chosen(&arm.body, &otherwise);
            }
            if matches!(pattern, Pat::Wild(_)) {
                then = chosen(&arm.body, &then);
            } else if !is_none(pattern) {
                let (_, _, inner) = self.there(&m.expr, pattern)?;
                let chosen = chosen(&arm.body, &then);
                then = parse_quote!({ #(#inner)* #chosen });
            }
        }
        Some(parse_quote!(if #exists { #then } else { #otherwise }))
    }

    /// `first.is_some()` and `first.is_none()`, in code that is otherwise emitted as it is.
    pub(crate) fn named_test(&self, call: &ExprMethodCall) -> Option<Expr> {
        let exists = self.named_option(&call.receiver)?.ok()?.exists;
        match call.method.to_string().as_str() {
            "is_some" => Some(parse_quote!((#exists))),
            "is_none" => Some(parse_quote!((!(#exists)))),
            _ => None,
        }
    }
}

/// There is a reference in it.
pub(crate) fn refers(item: &Item) -> bool {
    match item {
        Item::Place { .. } => true,
        Item::Value(value) => matches!(value, Expr::Reference(_)),
        Item::Tuple(items) => items.iter().any(refers),
    }
}

/// What of it is no reference.
fn by_value<'i>(item: &'i Item, found: &mut Vec<&'i Expr>) {
    match item {
        Item::Place { .. } => {}
        Item::Value(value) => found.push(value),
        Item::Tuple(items) => items.iter().for_each(|item| by_value(item, found)),
    }
}
