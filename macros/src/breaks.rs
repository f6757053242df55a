//! Vectors that leave a loop or a block by `break`.
//!
//! `let v = loop { …; break w; };` becomes `let mut left = Vec::new(); loop { …; swap(&mut left, &mut w); break; } let v = left;`.

use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Block, Expr as Syn, Ident, Lifetime, Local, Pat, Stmt, parse_quote};

use crate::mutation::owned_type;
use crate::parse::{Binding, Parser};
use crate::returned::{Leaving, Mutable};
use crate::tails::makes_vector;

impl Parser<'_> {
    /// `let name = loop { … };` and `let name = 'label: { … };`, where the syntax tells that the value is a vector.
    pub(crate) fn let_left(&mut self, local: &Local) -> Option<Vec<Stmt>> {
        let ty = match &local.pat {
            Pat::Type(typed) => Some(&*typed.ty),
            _ => None,
        };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let (label, block) = match &*init.expr {
            Syn::Loop(l) => (l.label.as_ref(), &l.body),
            Syn::Block(b) => (Some(b.label.as_ref()?), &b.block),
            _ => return None,
        };
        let is_loop = matches!(&*init.expr, Syn::Loop(_));
        let mut body = block.clone();
        let mut values = Breaks::of(label, is_loop, None);
        values.visit_block_mut(&mut body);
        let mut found = values.found;
        if let (false, Some(Stmt::Expr(value, None))) = (is_loop, block.stmts.last()) {
            found.push(value.clone());
        }
        let told = |value| self.is_vector(value, block);
        if !self.suspects.any(block) || !(ty.is_some_and(owned_type) || found.iter().any(told)) {
            return None;
        }
        let leaving = Leaving { returned: self.hidden("left"), ..self.leaving(None, None) };
        let leaving = Leaving { label: label.map_or(leaving.label, |label| label.name.clone()), ..leaving };
        let mut breaks = Breaks::of(label, is_loop, Some(&leaving));
        breaks.visit_block_mut(&mut body);
        let mut names = breaks.names;
        if let (false, Some(Stmt::Expr(value, None))) = (is_loop, body.stmts.last().cloned()) {
            body.stmts.pop();
            let exchange = leaving.exchange(&value, &mut names);
            body.stmts.push(parse_quote!({ #exchange }));
        }
        for name in &names {
            if let Some(Binding::Variable(id)) = self.lookup(name) {
                let id = *id;
                self.program.make_mutable(id);
                self.program.emptied.insert(id);
            }
        }
        let told: syn::Type = ty.cloned().unwrap_or_else(|| parse_quote!(::std::vec::Vec<_>));
        names.iter().for_each(|name| Told { name, ty: &told }.visit_block_mut(&mut body));
        Mutable(names).visit_block_mut(&mut body);
        let (left, label, pattern) = (&leaving.returned, &leaving.label, &local.pat);
        let left_by: Stmt = match is_loop {
            true => parse_quote!(#label: loop #body),
            false => parse_quote!(#label: #body),
        };
        self.push_statement(&parse_quote!(let mut #left: #told = ::std::vec::Vec::new();));
        if let Some(Binding::Variable(id)) = self.lookup(left) {
            self.program.emptied.extend([*id]);
        }
        Some(vec![left_by, parse_quote!(let #pattern = #left;)])
    }

    /// The value is a vector, which may have got its name in `block`.
    fn is_vector(&self, value: &Syn, block: &Block) -> bool {
        let Syn::Path(path) = value else { return makes_vector(value) };
        let Some(name) = path.path.get_ident() else { return false };
        let mut made = Made { name, vector: None };
        made.visit_block(block);
        made.vector.unwrap_or_else(|| self.is_known_vector(value))
    }
}

/// Finds the `break`s that leave a loop or a block, and has them leave their values behind if that is wanted.
struct Breaks<'l> {
    label: Option<&'l Lifetime>,
    /// A `break` without a label is one of them.
    own: bool,
    leaving: Option<&'l Leaving>,
    found: Vec<Syn>,
    /// The variables that are left behind.
    names: Vec<Ident>,
}

impl<'l> Breaks<'l> {
    fn of(label: Option<&'l syn::Label>, own: bool, leaving: Option<&'l Leaving>) -> Self {
        Breaks { label: label.map(|label| &label.name), own, leaving, found: Vec::new(), names: Vec::new() }
    }
}

impl VisitMut for Breaks<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        for mut stmt in std::mem::take(&mut block.stmts) {
            let leaves = matches!(stmt, Stmt::Expr(Syn::Break(_), _));
            self.visit_stmt_mut(&mut stmt);
            match stmt {
                Stmt::Expr(Syn::Block(inner), _) if leaves => block.stmts.extend(inner.block.stmts),
                stmt => block.stmts.push(stmt),
            }
        }
    }
    fn visit_expr_mut(&mut self, expr: &mut Syn) {
        let inner = matches!(expr, Syn::Loop(_) | Syn::While(_) | Syn::ForLoop(_));
        let own = self.own;
        self.own &= !inner;
        syn::visit_mut::visit_expr_mut(self, expr);
        self.own = own;
        let Syn::Break(syn::ExprBreak { label, expr: Some(value), .. }) = &*expr else { return };
        if !label.as_ref().map_or(self.own, |label| Some(label) == self.label) {
            return;
        }
        self.found.push((**value).clone());
        if let Some(leaving) = self.leaving {
            let block = leaving.leave(value, &mut self.names);
            *expr = parse_quote!(#block);
        }
    }
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Gives the variables of a name the type that they have.
struct Told<'n> {
    name: &'n Ident,
    ty: &'n syn::Type,
}

impl VisitMut for Told<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        syn::visit_mut::visit_local_mut(self, local);
        if let Pat::Ident(ident) = &local.pat
            && ident.ident == *self.name
            && local.init.is_some()
        {
            let (pattern, ty) = (&local.pat, self.ty);
            local.pat = Pat::Type(parse_quote!(#pattern: #ty));
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Whether the last variable of a name that a block binds is a vector.
struct Made<'n> {
    name: &'n Ident,
    vector: Option<bool>,
}

impl<'ast> Visit<'ast> for Made<'_> {
    fn visit_local(&mut self, local: &'ast Local) {
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        if matches!(pattern, Pat::Ident(ident) if ident.ident == *self.name) {
            let made = local.init.as_ref().is_some_and(|init| makes_vector(&init.expr));
            self.vector = Some(ty.map_or(made, owned_type));
        }
        syn::visit::visit_local(self, local);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
