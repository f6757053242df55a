//! Vectors that are moved out of an enclosing block: they leave an empty one behind, so that the reverse pass, which puts them back,
//! finds a vector in any case.

use syn::visit_mut::VisitMut;
use syn::{Expr as Syn, Stmt, parse_quote};

use crate::kind::inert;
use crate::parse::{Binding, Parser};
use crate::program::*;
use crate::rename::path;
use crate::returned::Mutable;

impl Parser<'_> {
    /// What is to stand in place of a statement that moves a vector out of an enclosing block.
    pub(crate) fn moving(&mut self, stmt: &Stmt, last: bool) -> Option<Vec<Stmt>> {
        let mut stmt = stmt.clone();
        let mut out = Vec::new();
        match &mut stmt {
            Stmt::Local(syn::Local { init: Some(init), .. }) if init.diverge.is_none() => {
                *init.expr = self.moved_here(&init.expr, &mut out)?;
            }
            Stmt::Expr(Syn::Assign(assign), _) => {
                *assign.right = self.moved_here(&assign.right, &mut out)?;
            }
            Stmt::Expr(Syn::MethodCall(call), _) if call.method == "push" || call.method == "insert" => {
                let value = call.args.last_mut()?;
                *value = self.moved_here(value, &mut out)?;
            }
            Stmt::Expr(value, None) if last => *value = self.moved_here(value, &mut out)?,
            _ => return None,
        }
        out.push(stmt);
        Some(out)
    }

    /// A vector from an enclosing block, under a name of this block, or a struct of such.
    fn moved_here(&mut self, value: &Syn, out: &mut Vec<Stmt>) -> Option<Syn> {
        if let Syn::Struct(literal) = value {
            let (mut literal, before) = (literal.clone(), out.len());
            for field in &mut literal.fields {
                if let Some(moved) = self.moved_here(&field.expr, out) {
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
        if !local || inert(&variable.kind) || !self.program.vectors.contains(&id) || !self.make_mutable(id) {
            return None;
        }
        let taken = self.hidden("taken");
        out.push(parse_quote!(let #taken = ::pullback::__private::take_out(&mut #name);));
        self.program.emptied.insert(id);
        Some(path(&taken))
    }

    /// Declares a local `mut` that is there already. Tells whether a `let` has made it.
    pub(crate) fn make_mutable(&mut self, id: VarId) -> bool {
        let Variable { block, name, .. } = &self.program.variables[id];
        let (block, name) = (*block, name.clone());
        let lets = self.program.blocks[block].statements.iter_mut().filter_map(|s| match &mut s.kind {
            StatementKind::Let(l) if l.variables.contains(&Some(id)) => Some(l),
            _ => None,
        });
        let Some(found) = lets.last() else { return false };
        Mutable(vec![name]).visit_pat_mut(&mut found.syntax.pat);
        self.program.variables[id].mutable = true;
        true
    }
}
