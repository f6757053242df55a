//! References that a branch chooses: `let r = if c { &mut a } else { &mut b }; …` is `if c { let r = &mut a; … } else { let r = &mut b; … }`, so
//! that in either copy of what follows `r` stands for one place.

use std::collections::VecDeque;

use syn::visit::Visit;
use syn::{Expr as Syn, Ident, Pat, Stmt, parse_quote};

use crate::contents::leaves;
use crate::parse::Parser;
use crate::program::Kind;
use crate::rename::{Bindings, Occurrences, bound};
use crate::selected::is_inside;

/// The branches among which a reference may be chosen: what follows is written out for each of them.
const MOST: usize = 4;

impl Parser<'_> {
    /// What is to stand in place of such a `let` and of `rest`, which it takes along.
    pub(crate) fn chosen_reference(
        &mut self,
        local: &syn::Local,
        rest: &mut VecDeque<Stmt>,
    ) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        if !matches!(&*init.expr, Syn::If(_) | Syn::Match(_) | Syn::Block(_))
            || !self.suspects.any(&init.expr)
            || !self.chooses_reference(&init.expr)
        {
            return None;
        }
        let all: Vec<Stmt> = rest.iter().cloned().collect();
        if !self.keeps_names(&init.expr, &local.pat, &all) {
            return None;
        }
        let (pattern, mut chosen) = (&local.pat, (*init.expr).clone());
        each_end(&mut chosen, &mut |end| {
            if !leaves(end) {
                *end = parse_quote!({ let #pattern = #end; #(#all)* });
            }
        });
        rest.clear();
        // A local that the function returns is one of its own block.
        Some(match all.last() {
            Some(Stmt::Expr(Syn::Path(value), None)) => {
                vec![parse_quote!(let #value = #chosen;), Stmt::Expr(Syn::Path(value.clone()), None)]
            }
            _ => vec![Stmt::Expr(chosen, None)],
        })
    }

    /// No branch binds a name that what follows means otherwise; those in `pattern` are bound again.
    fn keeps_names(&self, value: &Syn, pattern: &Pat, rest: &[Stmt]) -> bool {
        let mut later = Occurrences::default();
        rest.iter().for_each(|stmt| later.add(stmt));
        let again = bound(pattern);
        // Where it is bound once more, and means nothing outside, all that is meant are those.
        let other = |name: &Ident| {
            let (mut others, mut calls) = (Bindings::of(name), Calls(name, false));
            rest.iter().for_each(|stmt| others.visit_stmt(stmt));
            rest.iter().for_each(|stmt| calls.visit_stmt(stmt));
            self.lookup(name).is_none() && others.count > 0 && !calls.1
        };
        let mut names = Names(Vec::new());
        names.visit_expr(value);
        names.0.iter().all(|name| again.contains(name) || later.count(name) == 0 || other(name))
    }

    /// The value is a reference that one of several branches chooses.
    pub(crate) fn chooses_reference(&self, value: &Syn) -> bool {
        let mut ends = Vec::new();
        let few = ends_of(value, &mut ends) && (1..=MOST).contains(&ends.len());
        few && self.are_references(&ends, &self.named_parts(value))
    }

    /// They refer to places, of which they are not mere numbers. What is called by one of `parts` refers to a part of another place.
    fn are_references(&self, ends: &[&Syn], parts: &[Ident]) -> bool {
        let is_part = |end: &Syn| matches!(end, Syn::Path(path) if path.path.get_ident().is_some_and(|name| parts.contains(name)));
        let refers = |end: &Syn| match end {
            Syn::Tuple(tuple) if tuple.elems.iter().any(is_part) => Some(true),
            end if is_part(end) => Some(true),
            end => self.is_reference_to(end),
        };
        let all = ends.iter().all(|end| leaves(end) || refers(end).is_some());
        all && ends.iter().any(|end| refers(end) == Some(true))
    }

    /// The names in `value` of what patterns of slices leave, `[first, rest @ ..]`, and of elements that patterns refer to,
    /// `if let Some(p) = ps.first()`, `match ps { [p, ..] => …, … }`.
    fn named_parts(&self, value: &Syn) -> Vec<Ident> {
        let refers = |scrutinee: &Syn| match scrutinee {
            Syn::Reference(_) => true,
            Syn::Path(path) => path.path.get_ident().is_some_and(|name| self.is_reference(name)),
            Syn::MethodCall(call) => {
                ["get", "first", "last"].iter().any(|name| call.method == name) && is_place(&call.receiver)
            }
            _ => false,
        };
        let mut parts = Parts { refers: &refers, referring: false, names: Vec::new() };
        parts.visit_expr(value);
        parts.names
    }

    /// The expression is a reference; whether what is done with it has to be followed to a place.
    pub(crate) fn is_reference_to(&self, expr: &Syn) -> Option<bool> {
        match expr {
            Syn::Reference(reference) if is_place(&reference.expr) => {
                Some(reference.mutability.is_some() || self.kind_of_syntax(&reference.expr) != Kind::Float)
            }
            Syn::Path(path) if path.path.get_ident().is_some_and(|name| self.is_reference(name)) => {
                let unique = path.path.get_ident().is_some_and(|name| self.is_unique(name));
                Some(unique || self.kind_of_syntax(expr) != Kind::Float)
            }
            Syn::Paren(paren) => self.is_reference_to(&paren.expr),
            Syn::Tuple(tuple) => {
                tuple.elems.iter().any(|part| self.is_reference_to(part) == Some(true)).then_some(true)
            }
            Syn::MethodCall(call) if is_place(&call.receiver) => {
                let view =
                    ["row", "row_mut", "column", "column_mut", "view", "view_mut", "slice", "slice_mut"];
                let slice = ["as_slice", "as_mut_slice"];
                view.iter().chain(&slice).any(|name| call.method == name).then_some(true)
            }
            _ => None,
        }
    }
}

/// A variable, or a part of it.
fn is_place(expr: &Syn) -> bool {
    match expr {
        Syn::Path(path) => path.path.get_ident().is_some(),
        Syn::Field(field) => is_place(&field.base),
        Syn::Index(index) => is_place(&index.expr),
        Syn::Paren(paren) => is_place(&paren.expr),
        Syn::Unary(unary) => matches!(unary.op, syn::UnOp::Deref(_)) && is_place(&unary.expr),
        Syn::MethodCall(call) => is_inside(call) && is_place(&call.receiver),
        _ => false,
    }
}

/// The values that a branch may have. Whether all are to be seen.
pub(crate) fn ends_of<'e>(value: &'e Syn, ends: &mut Vec<&'e Syn>) -> bool {
    let block = |block: &'e syn::Block, ends: &mut Vec<&'e Syn>| match block.stmts.last() {
        Some(Stmt::Expr(value, _)) if leaves(value) => true,
        Some(Stmt::Expr(value, None)) => ends_of(value, ends),
        _ => false,
    };
    match value {
        Syn::Paren(paren) => ends_of(&paren.expr, ends),
        Syn::If(branch) => {
            let Some((_, otherwise)) = &branch.else_branch else { return false };
            block(&branch.then_branch, ends) && ends_of(otherwise, ends)
        }
        Syn::Block(inner) if inner.label.is_none() => block(&inner.block, ends),
        Syn::Match(m) => m.arms.iter().all(|arm| ends_of(&arm.body, ends)),
        value => {
            ends.push(value);
            true
        }
    }
}

/// Changes what a value ends in.
pub(crate) fn each_end(value: &mut Syn, change: &mut dyn FnMut(&mut Syn)) {
    let block = |block: &mut syn::Block, change: &mut dyn FnMut(&mut Syn)| {
        if let Some(Stmt::Expr(value, None)) = block.stmts.last_mut() {
            each_end(value, change);
        }
    };
    match value {
        Syn::Paren(paren) => each_end(&mut paren.expr, change),
        Syn::If(branch) => {
            block(&mut branch.then_branch, change);
            if let Some((_, otherwise)) = &mut branch.else_branch {
                each_end(otherwise, change);
            }
        }
        Syn::Block(inner) => block(&mut inner.block, change),
        Syn::Match(m) => m.arms.iter_mut().for_each(|arm| each_end(&mut arm.body, change)),
        value => change(value),
    }
}

/// Names for parts of what is matched.
struct Parts<'r> {
    /// A pattern on this refers to parts of it.
    refers: &'r dyn Fn(&Syn) -> bool,
    referring: bool,
    names: Vec<Ident>,
}

impl<'ast> Visit<'ast> for Parts<'_> {
    fn visit_expr_match(&mut self, m: &'ast syn::ExprMatch) {
        self.referring = (self.refers)(&m.expr);
        syn::visit::visit_expr_match(self, m);
    }
    fn visit_expr_let(&mut self, binding: &'ast syn::ExprLet) {
        self.referring = (self.refers)(&binding.expr);
        syn::visit::visit_expr_let(self, binding);
    }
    fn visit_pat_slice(&mut self, slice: &'ast syn::PatSlice) {
        for part in &slice.elems {
            if let Pat::Ident(name) = part {
                let rest = name.subpat.as_ref().is_some_and(|(_, inner)| matches!(**inner, Pat::Rest(_)));
                self.names
                    .extend((rest || self.referring && name.subpat.is_none()).then(|| name.ident.clone()));
            }
        }
        syn::visit::visit_pat_slice(self, slice);
    }
    fn visit_pat_tuple_struct(&mut self, pattern: &'ast syn::PatTupleStruct) {
        if let [Pat::Ident(name)] = &pattern.elems.iter().collect::<Vec<_>>()[..]
            && self.referring
            && pattern.path.is_ident("Some")
        {
            self.names.push(name.ident.clone());
        }
        syn::visit::visit_pat_tuple_struct(self, pattern);
    }
}

/// All names that patterns bind.
struct Names(Vec<Ident>);

impl<'ast> Visit<'ast> for Names {
    fn visit_pat(&mut self, pattern: &'ast Pat) {
        self.0.extend(bound(pattern));
    }
}

/// Whether a function of this name is called.
struct Calls<'n>(&'n Ident, bool);

impl<'ast> Visit<'ast> for Calls<'_> {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        self.1 |= matches!(&*call.func, Syn::Path(path) if path.path.get_ident() == Some(self.0));
        syn::visit::visit_expr_call(self, call);
    }
}
