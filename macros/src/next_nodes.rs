//! References that go from one node of a list or a tree to the next, `cursor = &cell.next;`, which are refused.

use std::collections::VecDeque;

use syn::visit::{self, Visit};
use syn::{Expr, ExprAssign, Ident, Local, Pat, Stmt};

use crate::parse::Parser;
use crate::rename::{Occurrences, bound, is_name};

const WALKS: &str = "a reference that goes from one node to the next is not differentiable: let a function that calls itself go through them, and pass it \
                     what comes next, as in `fn total(list: &Option<Box<Cell>>) -> f64`";

impl Parser<'_> {
    /// Refuses `let mut cursor = &list;` where `later` gives another node to the `cursor`; nothing is made of what comes after.
    pub(crate) fn next_nodes(&mut self, local: &Local, later: &mut VecDeque<Stmt>) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        let Pat::Ident(name) = pattern else { return None };
        if name.mutability.is_none() || !self.suspects.any(&init.expr) {
            return None;
        }
        let mut steps = Steps { name: &name.ident, parts: Vec::new(), next: Vec::new(), found: None };
        later.iter().for_each(|stmt| steps.visit_stmt(stmt));
        self.errors.push(&steps.found?, WALKS);
        later.clear();
        Some(Vec::new())
    }
}

/// Looks for an assignment of a part of what is behind `name`.
struct Steps<'n> {
    name: &'n Ident,
    /// What patterns have bound to parts of that.
    parts: Vec<Ident>,
    /// Those that are nodes themselves.
    next: Vec<Ident>,
    found: Option<ExprAssign>,
}

impl Steps<'_> {
    fn binds(&mut self, pattern: &Pat, value: &Expr) {
        if Occurrences::of(value).count(self.name) > 0 {
            let names = bound(pattern);
            if field(value).is_some() {
                self.next.extend(names.iter().cloned());
            }
            self.parts.extend(names);
        }
    }

    fn steps(&self, value: &Expr) -> bool {
        let of = |expr: &Expr, names: &[Ident]| names.iter().any(|name| is_name(expr, name));
        match field(value) {
            Some(base) => of(base, &self.parts) || is_name(base, self.name),
            None => of(value, &self.next),
        }
    }
}

impl Visit<'_> for Steps<'_> {
    fn visit_expr_let(&mut self, binding: &syn::ExprLet) {
        self.binds(&binding.pat, &binding.expr);
        visit::visit_expr_let(self, binding);
    }
    fn visit_expr_match(&mut self, m: &syn::ExprMatch) {
        m.arms.iter().for_each(|arm| self.binds(&arm.pat, &m.expr));
        visit::visit_expr_match(self, m);
    }
    fn visit_expr_assign(&mut self, assign: &ExprAssign) {
        if self.found.is_none() && is_name(&assign.left, self.name) && self.steps(&assign.right) {
            self.found = Some(assign.clone());
        }
        visit::visit_expr_assign(self, assign);
    }
}

/// The struct of which the value refers to a field: `&cell.next`, `cell.next.as_deref()`
fn field(value: &Expr) -> Option<&Expr> {
    let part = match value {
        Expr::Reference(reference) => &*reference.expr,
        Expr::MethodCall(call) if ["unwrap", "expect"].iter().any(|name| call.method == name) => {
            return field(&call.receiver);
        }
        Expr::MethodCall(call)
            if ["as_ref", "as_mut", "as_deref", "as_deref_mut"].iter().any(|name| call.method == name) =>
        {
            &*call.receiver
        }
        _ => return None,
    };
    match part {
        Expr::Field(field) => Some(&field.base),
        _ => None,
    }
}
