//! Items by value that are only looked at: `for r in regimens { total += area(&r) * r.k }`. They may be of a type that is not `Copy`, so that
//! they cannot be taken out of what is indexed; so the name stands for the element where it is.

use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprIndex, Ident, Stmt, parse_quote};

use crate::iterators::SOURCES;
use crate::iterators::item::Code;
use crate::kind::inert_method;
use crate::parse::Parser;
use crate::program::{Kind, Origin, Projection};
use crate::rename::{Bindings, Occurrences, is_name};
use crate::suspects::variable_of;

impl Parser<'_> {
    /// The `let` by which `name` stands for `element` itself, if `code` only looks at that. In `code` the name is then a reference.
    pub(super) fn only_looked_at(
        &mut self,
        name: &Ident,
        element: &ExprIndex,
        code: &mut Code,
    ) -> Option<Stmt> {
        let all = Occurrences::of(&*code);
        let base = variable_of(&element.expr)?;
        // While the items of an array of plain data are gone through, the array itself may change.
        if matches!(*element.index, Expr::Range(_)) || all.count(base) > 0 {
            return None;
        }
        // A list that is gone through has a name that is not known yet.
        let place = self.place(&element.expr);
        let untold = place.as_ref().is_none_or(|place| match self.program.kind_of_place(place) {
            Kind::Sequence(inner) => *inner == Kind::Unknown,
            // What a call has returned.
            Kind::Unknown => {
                place.projections.iter().all(|projection| matches!(projection, Projection::Index(_)))
                    && self.program.variables[place.base].origin == Origin::Local
            }
            _ => false,
        });
        if !untold {
            return None;
        }
        let (mut looks, mut others) =
            (Looks { name, borrowed: 0, parts: 0, as_vector: 0 }, Bindings::of(name));
        for stmt in &code.statements {
            looks.visit_stmt(stmt);
            others.visit_stmt(stmt);
        }
        if let Some(value) = &code.value {
            looks.visit_expr(value);
            others.visit_expr(value);
        }
        if looks.borrowed + looks.as_vector == 0
            || looks.borrowed + looks.parts != all.count(name)
            || others.count > 0
        {
            return None;
        }
        code.statements.iter_mut().for_each(|stmt| Reborrow(name).visit_stmt_mut(stmt));
        code.value.iter_mut().for_each(|value| Reborrow(name).visit_expr_mut(value));
        Some(parse_quote!(let #name = &#element;))
    }
}

/// How often an item is borrowed, and how often a part of it is read or a method called.
struct Looks<'n> {
    name: &'n Ident,
    borrowed: usize,
    parts: usize,
    /// How often it is a vector, or an array, as far as syntax tells.
    as_vector: usize,
}

impl<'ast> Visit<'ast> for Looks<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Reference(reference)
                if reference.mutability.is_none() && is_name(&reference.expr, self.name) =>
            {
                self.borrowed += 1;
            }
            Expr::Field(field) if is_name(&field.base, self.name) => self.parts += 1,
            Expr::Index(element) if is_name(&element.expr, self.name) => {
                (self.parts, self.as_vector) = (self.parts + 1, self.as_vector + 1);
                self.visit_expr(&element.index);
            }
            Expr::MethodCall(call) if is_name(&call.receiver, self.name) => {
                let method = call.method.to_string();
                self.parts += 1;
                self.as_vector += usize::from(inert_method(&method) || SOURCES.contains(&method.as_str()));
                visit::visit_expr(self, expr);
            }
            Expr::ForLoop(f) if is_name(&f.expr, self.name) => {
                (self.parts, self.as_vector) = (self.parts + 1, self.as_vector + 1);
                self.visit_block(&f.body);
            }
            // What is written to is a copy.
            Expr::Assign(assign) => self.visit_expr(&assign.right),
            Expr::Binary(binary) if crate::parse::assign_op(&binary.op).is_some() => {
                self.visit_expr(&binary.right);
            }
            expr => visit::visit_expr(self, expr),
        }
    }
}

/// `r` for `&r`, and what leaves `r` there for what uses it up.
struct Reborrow<'n>(&'n Ident);

impl VisitMut for Reborrow<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Reference(reference) if is_name(&reference.expr, self.0) => {
                *expr = (*reference.expr).clone();
            }
            Expr::MethodCall(call) if call.method == "into_iter" && is_name(&call.receiver, self.0) => {
                let items = &call.receiver;
                *expr = parse_quote!(#items.iter().cloned());
            }
            Expr::ForLoop(f) if is_name(&f.expr, self.0) => {
                let items = &f.expr;
                *f.expr = parse_quote!(#items.iter().cloned());
                self.visit_block_mut(&mut f.body);
            }
            expr => visit_mut::visit_expr_mut(self, expr),
        }
    }
}
