//! Whether what is done with a variable is done to vectors, where nothing else tells its type.

use std::collections::HashSet;

use syn::visit::{self, Visit};
use syn::{Expr as Syn, Ident, Pat, Stmt, parse_quote};

use crate::calls::Callee;
use crate::contents::wraps;
use crate::invocations::takes_closure;
use crate::iterators::SOURCES;
use crate::iterators::collect::element_of_vec;
use crate::kind::{changes_receiver, inert_method, kind_of_type, of_float};
use crate::parse::{Binding, Parser};
use crate::program::*;
use crate::rename::bound;

impl Parser<'_> {
    /// The pattern is a name, and what is done with that in `scope` is done to vectors.
    pub(crate) fn is_handled<'s>(&self, pattern: &Pat, scope: impl IntoIterator<Item = &'s Stmt>) -> bool {
        let Some(uses) = self.uses_of(pattern, scope) else { return false };
        let tells = uses.of_vectors + uses.given + uses.of_fields;
        tells > 0 && uses.all_known()
    }

    /// It is a struct, of which fields are looked at, or has methods of the user's.
    pub(crate) fn is_struct<'s>(&self, pattern: &Pat, scope: impl IntoIterator<Item = &'s Stmt>) -> bool {
        self.uses_of(pattern, scope).is_some_and(|uses| uses.fields > 0 && uses.all_known())
    }

    /// [`Parser::is_handled`] where a number is as likely, which calls are given as well.
    pub(crate) fn is_handled_as_vector<'s>(
        &self,
        pattern: &Pat,
        scope: impl IntoIterator<Item = &'s Stmt>,
    ) -> bool {
        self.uses_of(pattern, scope)
            .is_some_and(|uses| uses.of_vectors + uses.of_fields > 0 && uses.all_known())
    }

    /// What is done with the name that the pattern is.
    fn uses_of<'n, 's>(
        &self,
        pattern: &'n Pat,
        scope: impl IntoIterator<Item = &'s Stmt>,
    ) -> Option<Uses<'n>> {
        match pattern {
            Pat::Ident(ident) if is_name(pattern) => Some(self.uses(&ident.ident, scope)),
            _ => None,
        }
    }

    fn uses<'n, 's>(&self, name: &'n Ident, scope: impl IntoIterator<Item = &'s Stmt>) -> Uses<'n> {
        let vectors = self.program.vectors.iter().map(|id| self.program.variables[*id].name.to_string());
        let vectors = vectors.collect();
        let numbers = self.types.iter().filter(|(id, ty)| {
            let name = &self.program.variables[**id].name;
            let visible = matches!(self.lookup(name), Some(Binding::Variable(found)) if found == *id);
            visible && element_of_vec(ty).is_some_and(|element| kind_of_type(&element) == Kind::Float)
        });
        let numbers = numbers.map(|(id, _)| self.program.variables[*id].name.to_string()).collect();
        let mut uses = Uses {
            name,
            vectors,
            numbers,
            all: 0,
            of_vectors: 0,
            moves: 0,
            to_fields: 0,
            given: 0,
            whole: 0,
            pushed: 0,
            fields: 0,
            of_fields: 0,
            replaced: Vec::new(),
        };
        scope.into_iter().for_each(|stmt| uses.visit_stmt(stmt));
        let owners = uses.replaced.iter().filter(|name| match self.lookup(name) {
            Some(Binding::Variable(id)) => self.is_owner(*id),
            _ => false,
        });
        uses.of_vectors += owners.count();
        uses
    }

    /// `let w = model.weights;` as `let w = &model.weights;`, and `let mut w` likewise as `&mut`, where `w` is handled as a vector in `scope`
    /// but stays where it is, and nothing else changes it meanwhile: to the reverse pass the struct stays in one piece.
    pub(crate) fn field_let<'s>(
        &mut self,
        local: &syn::Local,
        scope: impl IntoIterator<Item = &'s Stmt> + Clone,
    ) -> Option<Stmt> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        if let Pat::Type(typed) = &local.pat {
            return self.told_to_move(typed, &init.expr);
        }
        let Pat::Ident(name) = &local.pat else { return None };
        if !is_name(&local.pat) || !self.suspects.contains(&name.ident) {
            return None;
        }
        let (field, base) = (&init.expr, root_of_field(&init.expr)?);
        let Some(Binding::Variable(id)) = self.lookup(base) else { return None };
        let (id, variable) = (*id, &self.program.variables[*id]);
        let uses = self.uses(&name.ident, scope.clone());
        if uses.pushed > 0 && uses.pushed == uses.of_vectors {
            return None;
        }
        let looked_at = uses.of_vectors > 0 && uses.of_vectors == uses.all && uses.whole + uses.pushed == 0;
        if self.program.own_parameters.contains(&id) {
            return match (looked_at, name.mutability) {
                (true, None) => Some(parse_quote!(let #name = &#field;)),
                _ => uses.is_vector_or_moved().then(|| parse_quote!(let #name = #field.clone();)),
            };
        }
        if variable.origin != Origin::Local {
            return None;
        }
        if !looked_at {
            if !self.is_owner(id) || !uses.is_vector_or_moved() {
                return None;
            }
            return match uses.of_vectors > 0 && self.program.make_mutable(id) {
                true => Some(parse_quote!(let #name = ::core::mem::take(&mut #field);)),
                false => Some(parse_quote!(let #name = #field.clone();)),
            };
        }
        let mut sees = Sees { base, field, found: variable.block != self.block };
        scope.into_iter().for_each(|stmt| sees.visit_stmt(stmt));
        match name.mutability {
            None => (!variable.mutable || !sees.found).then(|| parse_quote!(let #name = &#field;)),
            Some(_) => {
                let name = &name.ident;
                (!sees.found && self.program.make_mutable(id)).then(|| parse_quote!(let #name = &mut #field;))
            }
        }
    }
}

impl Parser<'_> {
    /// `let w: Vec<f64> = model.weights;` moves a vector out of a local, as its type tells: an empty one stays behind.
    fn told_to_move(&mut self, typed: &syn::PatType, field: &Syn) -> Option<Stmt> {
        element_of_vec(&typed.ty)?;
        let Some(Binding::Variable(id)) = self.lookup(root_of_field(field)?) else { return None };
        let id = *id;
        let moved = self.program.variables[id].origin == Origin::Local && self.program.make_mutable(id);
        moved.then(|| parse_quote!(let #typed = ::core::mem::take(&mut #field);))
    }

    /// The local is a struct that owns memory, as its type tells, or what it is bound to.
    pub(crate) fn is_owner(&self, id: VarId) -> bool {
        let statements = &self.program.blocks[self.program.variables[id].block].statements;
        let made = |s: &Statement| match &s.kind {
            StatementKind::Let(Let { variables, init: Some(init), .. }) => {
                let operator = matches!(
                    &self.program.exprs[self.program.peel(*init)].kind,
                    ExprKind::Call { function: Callee::Operator(..), .. }
                );
                variables.contains(&Some(id)) && (operator || self.program.owns(*init))
            }
            _ => false,
        };
        let told = self.types.get(&id).is_some_and(|ty| self.program.owners.own(ty));
        told || statements.iter().any(made)
    }
}

/// Whether anything looks at a field of `base`, at a part of that, or at something that it is a part of.
struct Sees<'f> {
    base: &'f Ident,
    field: &'f Syn,
    found: bool,
}

/// The members that lead from a variable to a part of it.
fn members(expr: &Syn) -> Vec<&syn::Member> {
    match expr {
        Syn::Field(field) => {
            let mut members = members(&field.base);
            members.push(&field.member);
            members
        }
        _ => Vec::new(),
    }
}

impl<'ast> Visit<'ast> for Sees<'_> {
    fn visit_expr_field(&mut self, part: &'ast syn::ExprField) {
        let whole = Syn::Field(part.clone());
        if root_of_field(&whole) != Some(self.base) {
            return visit::visit_expr_field(self, part);
        }
        self.found |= members(&whole).iter().zip(members(self.field)).all(|(one, other)| **one == *other);
    }
    fn visit_ident(&mut self, name: &'ast Ident) {
        self.found |= name == self.base;
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.found |= crate::rename::Occurrences::of(&mac.tokens).count(self.base) > 0;
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

/// Methods that numbers, options and plain structs have from the standard library.
const OF_NUMBERS: [&str; 16] = [
    "add",
    "clone",
    "cmp",
    "div",
    "eq",
    "expect",
    "into",
    "is_finite",
    "is_nan",
    "mul",
    "neg",
    "partial_cmp",
    "sub",
    "to_string",
    "total_cmp",
    "unwrap",
];

/// What is done with a variable.
struct Uses<'n> {
    name: &'n Ident,
    /// The names of vectors.
    vectors: HashSet<String>,
    /// Those of vectors that are told to be of numbers.
    numbers: HashSet<String>,
    all: usize,
    of_vectors: usize,
    moves: usize,
    /// It is assigned to a field.
    to_fields: usize,
    /// Calls have it by value.
    given: usize,
    /// Its elements are taken by value.
    whole: usize,
    /// It becomes an element of a vector, as a row or a number.
    pushed: usize,
    /// What it is assigned to, and is no vector.
    replaced: Vec<Ident>,
    /// It is a struct, of which a field is looked at, and that as a vector, or that has methods of the user's.
    fields: usize,
    of_fields: usize,
}

impl Uses<'_> {
    /// It is a vector, as what is done with it tells, or moved whole: into another struct, for instance.
    fn is_vector_or_moved(&self) -> bool {
        self.all > 0 && self.of_vectors + self.moves == self.all
    }

    /// Nothing else is done with it than what is done with vectors.
    fn all_known(&self) -> bool {
        self.of_vectors + self.given + self.moves + self.to_fields + self.fields == self.all
    }

    fn is(&self, expr: &Syn) -> bool {
        matches!(expr, Syn::Path(path) if path.path.get_ident() == Some(self.name))
    }

    fn note(&mut self, expr: &Syn) {
        self.of_vectors += usize::from(self.is(expr));
        self.of_fields += usize::from(root_of_field(expr) == Some(self.name));
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.all += usize::from(path.path.get_ident() == Some(self.name));
    }
    fn visit_expr_field(&mut self, field: &'ast syn::ExprField) {
        if root_of_field(&Syn::Field(field.clone())) == Some(self.name) {
            (self.all, self.fields) = (self.all + 1, self.fields + 1);
        } else {
            visit::visit_expr_field(self, field);
        }
    }
    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        if matches!(&*assign.left, Syn::Path(path) if path.path.get_ident().is_some_and(|name| self.vectors.contains(&name.to_string())))
        {
            self.note(&assign.right);
        } else if let (Syn::Path(path), true) = (&*assign.left, self.is(&assign.right)) {
            self.replaced.extend(path.path.get_ident().cloned());
        } else if let Syn::Field(_) = &*assign.left {
            self.to_fields += usize::from(self.is(&assign.right));
        }
        visit::visit_expr_assign(self, assign);
    }
    fn visit_local(&mut self, local: &'ast syn::Local) {
        self.moves += usize::from(local.init.as_ref().is_some_and(|init| self.is(&init.expr)));
        visit::visit_local(self, local);
    }
    fn visit_expr_struct(&mut self, literal: &'ast syn::ExprStruct) {
        self.moves += literal.fields.iter().filter(|field| self.is(&field.expr)).count();
        visit::visit_expr_struct(self, literal);
    }
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if matches!(&*call.func, Syn::Path(path) if !path.path.get_ident().is_some_and(wraps) && !of_float(&path.path))
        {
            self.given += call.args.iter().filter(|arg| self.is(arg)).count();
        }
        visit::visit_expr_call(self, call);
    }
    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        // A parameter of this name is another variable.
        if !closure.inputs.iter().flat_map(bound).any(|name| name == *self.name) {
            visit::visit_expr_closure(self, closure);
        }
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
        } else if !takes_closure(&name) && !OF_NUMBERS.contains(&name.as_str()) && self.is(&call.receiver) {
            (self.fields, self.of_fields) = (self.fields + 1, self.of_fields + 1);
        }
        self.whole += usize::from(name == "into_iter" && self.is(&call.receiver));
        let of_numbers = |vector: &Syn| matches!(vector, Syn::Path(path) if path.path.get_ident().is_some_and(|name| self.numbers.contains(&name.to_string())));
        if name == "push" && !of_numbers(&call.receiver) {
            call.args.iter().for_each(|arg| self.note(arg));
            self.pushed += call.args.iter().filter(|arg| self.is(arg)).count();
        }
        if name == "zip" {
            call.args.iter().for_each(|arg| self.note(arg));
            self.whole += call.args.iter().filter(|arg| self.is(arg)).count();
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
