//! Boxes that are made as parts of others: `Node { value, left: Some(Box::new(leaf)) }`.
//!
//! A box is like a struct with one field: what is in it has been moved there, and the reverse pass takes it out again. Its gradient is that of
//! a slice of one, and that of an `Option` of a box the same, or that of none.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprCall, Ident, Local, Member, Pat, Stmt, parse_quote};

use crate::boxes::BOXED;
use crate::calls::Callee;
use crate::contents::of_ours;
use crate::functions::is_box;
use crate::listed::is_name;
use crate::parse::Parser;
use crate::program::{ExprId, ExprKind, Kind, Program, StructLiteral};
use crate::rename::Occurrences;

impl Parser<'_> {
    /// `Box::new(x)`, or `Some(Box::new(x))`, of what carries a gradient.
    pub(crate) fn boxing(&mut self, expr: &Expr, call: &ExprCall) -> Option<ExprId> {
        let (value, function) = match (&call.args.first()?, is_some(call)) {
            (Expr::Call(inner), true) if is_box(&inner.func) => (inner.args.first()?, "some_boxed"),
            (value, false) if is_box(&call.func) => (*value, "boxed"),
            _ => return None,
        };
        if !self.suspects.any(value) || matches!(value, Expr::Closure(_)) {
            return None;
        }
        let value = self.expr(value);
        let content = self.program.peel(value);
        // The gradient of what is always there is that of a slice where it is of a type that holds others of its own alone.
        if function == "boxed" && self.program.kind_of(value) != Kind::Unknown {
            return Some(self.constant(expr, false, Some(BOXED)));
        }
        if matches!(self.program.exprs[content].kind, ExprKind::Struct(_)) {
            self.program.owning.insert(content);
        }
        let function = Ident::new(function, Span::call_site());
        let path = parse_quote!(::pullback::__private::#function);
        let literal =
            StructLiteral { path, fields: vec![(Member::from(0), value)], rest: None, called: true };
        Some(self.add(expr, ExprKind::Struct(Box::new(literal))))
    }
}

pub(crate) const REPLACED: &str = "a variable that holds an `Option` of a box gets no other one to hold differentiably: let a function that calls itself make \
                                   the boxes from the inside out, or use a `Vec`";

pub(crate) const READ: &str = "what is in this box is read before the function returns it, which is not differentiable: return a struct that holds it, or \
                               let the caller read it";

/// The function by which derived code makes a box.
pub(crate) fn makes(path: &syn::Path) -> bool {
    of_ours(path).is_some_and(|name| name == "boxed" || name == "some_boxed")
}

impl Program {
    /// The value is an `Option` of a box, as its syntax tells.
    pub(crate) fn gives_box(&self, expr: ExprId) -> bool {
        let expr = self.peel(expr);
        match &self.exprs[expr].kind {
            ExprKind::Struct(literal) => of_ours(&literal.path).is_some_and(|name| name == "some_boxed"),
            ExprKind::Call { function, args } => {
                let boxed = self.own.as_ref().is_some_and(|own| own.boxed);
                let named = || {
                    self.calls_itself(function, args) || self.may_call_itself(expr, function, args).is_some()
                };
                boxed && (matches!(function, Callee::Itself(_)) || named())
            }
            ExprKind::Read(place) => place.projections.is_empty() && self.boxes.contains(&place.base),
            ExprKind::If { .. } | ExprKind::Match(_) | ExprKind::Block(_) => {
                let mut values =
                    self.blocks_of(expr).into_iter().filter_map(|block| self.blocks[block].value);
                values.any(|value| self.gives_box(value))
            }
            _ => false,
        }
    }
}

/// A struct that gets a name right before it is put in a box, `let node = Node { … }; Some(Box::new(node))`, without that name: nothing but
/// the box has to be taken apart.
pub(crate) struct Unnamed;

impl VisitMut for Unnamed {
    fn visit_block_mut(&mut self, block: &mut Block) {
        visit_mut::visit_block_mut(self, block);
        for i in (1..block.stmts.len()).rev() {
            let (before, rest) = block.stmts.split_at_mut(i);
            let (Some((name, made)), [Stmt::Expr(next, _), later @ ..]) = (made(&before[i - 1]), rest) else {
                continue;
            };
            let later: TokenStream = later.iter().map(ToTokens::to_token_stream).collect();
            if Occurrences::of(&later).count(name) == 0 && put_in_box(next, name, made) {
                block.stmts.remove(i - 1);
            }
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The name and the value of a struct that a statement makes.
fn made(stmt: &Stmt) -> Option<(&Ident, &Expr)> {
    let Stmt::Local(Local { pat: Pat::Ident(name), init: Some(init), .. }) = stmt else { return None };
    matches!(*init.expr, Expr::Struct(_)).then_some((&name.ident, &*init.expr))
}

/// Puts `made` in the place of `name` in a box that is all of `value`, or all that is assigned. Tells whether it is there.
fn put_in_box(value: &mut Expr, name: &Ident, made: &Expr) -> bool {
    match value {
        Expr::Assign(assign) => put_in_box(&mut assign.right, name, made),
        Expr::Return(syn::ExprReturn { expr: Some(value), .. }) => put_in_box(value, name, made),
        Expr::Call(call) if is_box(&call.func) || is_some(call) => match call.args.first_mut() {
            Some(inside) if is_box(&call.func) && is_name(inside, name) => {
                *inside = made.clone();
                true
            }
            Some(inside) => put_in_box(inside, name, made),
            None => false,
        },
        _ => false,
    }
}

/// `Some(Box::new(x))`
pub(crate) fn some_in_box(value: &Expr) -> bool {
    match value {
        Expr::Call(call) if is_some(call) => {
            matches!(call.args.first(), Some(Expr::Call(inner)) if is_box(&inner.func))
        }
        Expr::Paren(paren) => some_in_box(&paren.expr),
        _ => false,
    }
}

/// `Some(x)`
fn is_some(call: &ExprCall) -> bool {
    matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Some"))
}
