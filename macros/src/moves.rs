//! Vectors that are moved out of an enclosing block: they leave an empty one behind, so that the reverse pass, which puts them back,
//! finds a vector in any case.

use std::collections::VecDeque;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{Expr as Syn, Pat, Stmt, parse_quote};

use crate::chosen::each_end;
use crate::contents::leaves;
use crate::kind::inert;
use crate::parse::{Binding, Parser};
use crate::program::*;
use crate::rename::{Occurrences, Replace, Substitute, path};
use crate::returned::Mutable;
use crate::uses::is_name;

impl Parser<'_> {
    /// What is to stand in place of a statement that moves a vector out of an enclosing block.
    pub(crate) fn moving(&mut self, stmt: &Stmt, last: bool) -> Option<Vec<Stmt>> {
        let mut stmt = stmt.clone();
        let mut out = Vec::new();
        match &mut stmt {
            Stmt::Local(syn::Local { init: Some(init), .. }) if init.diverge.is_none() => {
                *init.expr = self.moved_here(&init.expr, false, false, &mut out)?;
            }
            Stmt::Expr(Syn::Assign(assign), _) => {
                if let Some(chosen) = self.assigned_at_ends(assign) {
                    return Some(vec![Stmt::Expr(chosen, Some(Default::default()))]);
                }
                // What takes the place of a vector is one.
                let told = self.is_known_vector(&assign.left);
                *assign.right = self.moved_here(&assign.right, told, false, &mut out)?;
            }
            Stmt::Expr(Syn::MethodCall(call), _) if call.method == "push" || call.method == "insert" => {
                // So is what becomes a row.
                let told = self.variable(&call.receiver).is_some_and(|id| self.program.nested.contains(&id));
                let value = call.args.last_mut()?;
                *value = self.moved_here(value, told, true, &mut out)?;
            }
            Stmt::Expr(value, None) if last => *value = self.moved_here(value, false, false, &mut out)?,
            _ => return None,
        }
        out.push(stmt);
        Some(out)
    }

    /// `let z = y;` where nothing tells what `y` is but that `z` is handled as a vector from then on, and nobody calls it `y` any more: `z` is
    /// another name for it. Tells whether this is one, after which `stmts` have that name.
    pub(crate) fn called_otherwise(&mut self, local: &syn::Local, stmts: &mut VecDeque<Stmt>) -> bool {
        let (Pat::Ident(pattern), Some(init)) = (&local.pat, &local.init) else { return false };
        let (Syn::Path(old), None) = (&*init.expr, &init.diverge) else { return false };
        let Some(old) = old.path.get_ident() else { return false };
        let Some(Binding::Variable(id)) = self.lookup(old) else { return false };
        let (id, variable) = (*id, &self.program.variables[*id]);
        let unknown = variable.origin == Origin::Local
            && variable.block == self.block
            && !inert(&variable.kind)
            && !self.types.contains_key(&id)
            && !self.program.vectors.contains(&id);
        let mut rest = stmts.clone();
        let called = Occurrences::of(rest.iter().map(ToTokens::to_token_stream).collect::<TokenStream>());
        let free = pattern.ident == *old || called.count(old) == 0;
        if !unknown || !free || !is_name(&local.pat) || !self.is_handled(&local.pat, &rest) {
            return false;
        }
        let by = Substitute::Name(old.clone());
        let mut replace = Replace::new(&pattern.ident, &by);
        rest.iter_mut().for_each(|stmt| replace.visit_stmt_mut(stmt));
        if replace.left || pattern.mutability.is_some() && !self.program.make_mutable(id) {
            return false;
        }
        *stmts = rest;
        true
    }

    /// `x = if c { y } else { z };` of a vector `x`, as an assignment at each end, of which one moves what nothing else tells to be a vector.
    fn assigned_at_ends(&self, assign: &syn::ExprAssign) -> Option<Syn> {
        let chosen = matches!(&*assign.right, Syn::If(_) | Syn::Match(_));
        if !chosen || !self.is_known_vector(&assign.left) {
            return None;
        }
        let (mut value, place, mut found) = ((*assign.right).clone(), &assign.left, false);
        each_end(&mut value, &mut |end| {
            if !leaves(end) {
                let local = self.variable(end).filter(|id| !self.program.vectors.contains(id));
                found |= local.is_some_and(|id| self.program.variables[id].origin == Origin::Local);
                *end = parse_quote!({ #place = #end; });
            }
        });
        found.then_some(value)
    }

    /// A vector from an enclosing block, as is known or `told`, or whatever a call has returned, if `any`, under a name of this block, or a struct of such.
    fn moved_here(&mut self, value: &Syn, told: bool, any: bool, out: &mut Vec<Stmt>) -> Option<Syn> {
        if let Syn::Struct(literal) = value {
            let (mut literal, before) = (literal.clone(), out.len());
            for field in &mut literal.fields {
                if let Some(moved) = self.moved_here(&field.expr, false, any, out) {
                    field.expr = moved;
                    field.colon_token.get_or_insert_with(Default::default);
                }
            }
            return (out.len() > before).then_some(Syn::Struct(literal));
        }
        let Syn::Path(name) = value else { return None };
        let name = name.path.get_ident()?;
        let Some(Binding::Variable(id)) = self.lookup(name) else { return None };
        let (id, variable) = (*id, &self.program.variables[*id]);
        let local = variable.origin == Origin::Local && variable.block != self.block;
        let vector = told && variable.kind == Kind::Unknown || self.program.vectors.contains(&id);
        let departs = any && !vector && self.suspects.any(value) && self.program.may_depart(id);
        if !local || inert(&variable.kind) || !(vector || departs) || !self.program.make_mutable(id) {
            return None;
        }
        let taken = self.hidden("taken");
        if vector {
            out.push(parse_quote!(let #taken = ::pullback::__private::take_out(&mut #name);));
            self.program.emptied.insert(id);
        } else {
            out.push(parse_quote!(let #taken = ::pullback::__private::move_out(&mut #name);));
        }
        Some(path(&taken))
    }
}

impl Program {
    /// The local holds what a call has returned, of which what is done with it tells that it is no number.
    fn may_depart(&self, id: VarId) -> bool {
        let variable = &self.variables[id];
        let called = self.blocks[variable.block].statements.iter().any(|s| match &s.kind {
            StatementKind::Let(Let { variables, init: Some(init), .. }) => {
                variables.contains(&Some(id)) && (self.is_call(*init) || self.is_unwrapped_call(*init))
            }
            _ => false,
        });
        variable.kind == Kind::Unknown && called && self.is_taken_apart(id)
    }

    /// What is done with the local tells that it is no number.
    pub(crate) fn is_taken_apart(&self, id: VarId) -> bool {
        let variable = &self.variables[id];
        let apart = |e: &Expr| match &e.kind {
            ExprKind::Read(place) => place.base == id && !place.projections.is_empty(),
            ExprKind::Constant(c) => {
                c.mentions.contains(&id) && is_indexed(e.syntax.to_token_stream(), &variable.name)
            }
            _ => false,
        };
        variable.heap || self.vectors.contains(&id) || self.is_looked_into(id) || self.exprs.iter().any(apart)
    }

    /// Declares a local `mut` that is there already. Tells whether a `let` has made it.
    pub(crate) fn make_mutable(&mut self, id: VarId) -> bool {
        let Variable { block, name, .. } = &self.variables[id];
        let (block, name) = (*block, name.clone());
        let lets = self.blocks[block].statements.iter_mut().filter_map(|s| match &mut s.kind {
            StatementKind::Let(l) if l.variables.contains(&Some(id)) => Some(l),
            _ => None,
        });
        let Some(found) = lets.last() else { return false };
        Mutable(vec![name]).visit_pat_mut(&mut found.syntax.pat);
        self.variables[id].mutable = true;
        true
    }
}

/// `name[…]` is part of the code.
fn is_indexed(code: TokenStream, name: &Ident) -> bool {
    let mut named = false;
    code.into_iter().any(|token| {
        let indexed = match &token {
            TokenTree::Group(group) => {
                named && group.delimiter() == Delimiter::Bracket || is_indexed(group.stream(), name)
            }
            _ => false,
        };
        named = matches!(&token, TokenTree::Ident(found) if found == name);
        indexed
    })
}
