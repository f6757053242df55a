//! Whether what is done with a variable is done to vectors, where nothing else tells its type.

use std::collections::HashSet;

use syn::visit::{self, Visit};
use syn::{Expr as Syn, Ident, Pat, Stmt, parse_quote};

use crate::iterators::SOURCES;
use crate::kind::{changes_receiver, inert_method};
use crate::parse::{Binding, Parser};
use crate::program::Origin;

impl Parser<'_> {
    /// The pattern is a name, and what is done with that in `scope` is done to vectors.
    pub(crate) fn is_handled<'s>(&self, pattern: &Pat, scope: impl IntoIterator<Item = &'s Stmt>) -> bool {
        let Pat::Ident(ident) = pattern else { return false };
        if !is_name(pattern) {
            return false;
        }
        let uses = self.uses(&ident.ident, scope);
        uses.of_vectors > 0 && uses.of_vectors + uses.moves == uses.all
    }

    fn uses<'n, 's>(&self, name: &'n Ident, scope: impl IntoIterator<Item = &'s Stmt>) -> Uses<'n> {
        let vectors = self.program.vectors.iter().map(|id| self.program.variables[*id].name.to_string());
        let vectors = vectors.collect();
        let mut uses = Uses { name, vectors, all: 0, of_vectors: 0, moves: 0, whole: 0 };
        scope.into_iter().for_each(|stmt| uses.visit_stmt(stmt));
        uses
    }

    /// `let w = model.weights;` as `let w = &model.weights;`, where neither changes and `w` is nothing but looked at in `scope`: to the
    /// reverse pass the struct stays in one piece.
    pub(crate) fn field_let<'s>(
        &self,
        local: &syn::Local,
        scope: impl IntoIterator<Item = &'s Stmt>,
    ) -> Option<Stmt> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let Pat::Ident(name) = &local.pat else { return None };
        if name.mutability.is_some() || !is_name(&local.pat) || !self.suspects.contains(&name.ident) {
            return None;
        }
        let Some(Binding::Variable(id)) = self.lookup(root_of_field(&init.expr)?) else { return None };
        let variable = &self.program.variables[*id];
        let uses = self.uses(&name.ident, scope);
        let looked_at = uses.of_vectors > 0 && uses.of_vectors == uses.all && uses.whole == 0;
        if variable.origin != Origin::Local || variable.mutable || !looked_at {
            return None;
        }
        let field = &init.expr;
        Some(parse_quote!(let #name = &#field;))
    }
}

/// The variable of which `expr` is a field.
fn root_of_field(expr: &Syn) -> Option<&Ident> {
    let Syn::Field(field) = expr else { return None };
    match &*field.base {
        Syn::Path(path) => path.path.get_ident(),
        base => root_of_field(base),
    }
}

pub(crate) fn is_name(pattern: &Pat) -> bool {
    matches!(pattern, Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none())
}

/// What is done with a variable.
struct Uses<'n> {
    name: &'n Ident,
    /// The names of vectors.
    vectors: HashSet<String>,
    all: usize,
    of_vectors: usize,
    moves: usize,
    /// Its elements are taken by value.
    whole: usize,
}

impl Uses<'_> {
    fn is(&self, expr: &Syn) -> bool {
        matches!(expr, Syn::Path(path) if path.path.get_ident() == Some(self.name))
    }

    fn note(&mut self, expr: &Syn) {
        self.of_vectors += usize::from(self.is(expr));
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.all += usize::from(path.path.get_ident() == Some(self.name));
    }
    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        if matches!(&*assign.left, Syn::Path(path) if path.path.get_ident().is_some_and(|name| self.vectors.contains(&name.to_string())))
        {
            self.note(&assign.right);
        }
        visit::visit_expr_assign(self, assign);
    }
    fn visit_local(&mut self, local: &'ast syn::Local) {
        self.moves += usize::from(local.init.as_ref().is_some_and(|init| self.is(&init.expr)));
        visit::visit_local(self, local);
    }
    fn visit_expr_index(&mut self, index: &'ast syn::ExprIndex) {
        self.note(&index.expr);
        visit::visit_expr_index(self, index);
    }
    fn visit_expr_reference(&mut self, reference: &'ast syn::ExprReference) {
        self.note(&reference.expr);
        visit::visit_expr_reference(self, reference);
    }
    fn visit_expr_for_loop(&mut self, f: &'ast syn::ExprForLoop) {
        self.note(&f.expr);
        self.whole += usize::from(self.is(&f.expr));
        visit::visit_expr_for_loop(self, f);
    }
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        if inert_method(&name) || changes_receiver(&name) || SOURCES.contains(&name.as_str()) {
            self.note(&call.receiver);
        }
        self.whole += usize::from(name == "into_iter" && self.is(&call.receiver));
        if name == "push" {
            call.args.iter().for_each(|arg| self.note(arg));
        }
        visit::visit_expr_method_call(self, call);
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        // Where it is only looked at.
        let found = crate::rename::Occurrences::of(&mac.tokens).count(self.name);
        self.all += found;
        self.of_vectors += found;
    }
}
