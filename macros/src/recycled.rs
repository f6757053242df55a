//! Vectors that chains use up, `y.into_iter().map(f).collect()`, which the standard library collects into the memory of `y`. Where that has come
//! from a call, or is a parameter, its memory goes to the rule of what is collected, for the next call: see `rules/src/recycled.rs`.

use syn::{Expr as Syn, Ident, Pat, Stmt, parse_quote};

use crate::calls::Callee;
use crate::contents::of_ours;
use crate::parse::Parser;
use crate::program::*;
use crate::rename::is_name;

impl Parser<'_> {
    /// A reference to `base`, which a chain uses up, where that is what a call has returned, in one of the `statements` before it may be, or a
    /// parameter by value. It may be a vector of numbers.
    pub(crate) fn used_up(&self, base: &Syn, statements: &[Stmt]) -> Option<Syn> {
        // A generic function has no literal for the numbers to start with.
        if !self.program.scalars.is_empty() {
            return None;
        }
        let Some(id) = self.variable(base) else {
            return statements.iter().any(|stmt| binds_call(stmt, base)).then(|| parse_quote!(&#base));
        };
        let variable = &self.program.variables[id];
        let untold = match &variable.kind {
            Kind::Sequence(element) => **element == Kind::Unknown,
            kind => *kind == Kind::Unknown,
        };
        match variable.origin == Origin::Local && untold {
            _ if self.captures(variable) => None,
            true if !variable.by_reference() => Some(parse_quote!(&#base)),
            _ => self.by_value.contains(&id).then(|| parse_quote!(&*#base)),
        }
    }

    /// The call that this module writes.
    pub(crate) fn recycling(
        &mut self,
        expr: &Syn,
        call: &syn::ExprCall,
        function: &syn::Path,
    ) -> Option<ExprId> {
        of_ours(function).filter(|name| *name == "recycled")?;
        let args: Vec<_> = call.args.iter().map(|arg| self.expr(arg)).collect();
        self.program.taken.insert(args[0]);
        Some(self.add(expr, ExprKind::Call { function: Callee::Function(function.clone()), args }))
    }
}

impl Program {
    /// What is collected may be in the memory of what is used up.
    pub(crate) fn is_recycled(&self, expr: ExprId) -> bool {
        let ExprKind::Call { function: Callee::Function(path), .. } = &self.exprs[expr].kind else {
            return false;
        };
        of_ours(path).is_some_and(|name| name == "recycled")
    }
}

/// `n` zeros, where `used_up` is, to which this refers.
pub(crate) fn recycled(used_up: &Syn, n: &Ident) -> Syn {
    parse_quote!(::pullback::__private::recycled(#used_up, #n))
}

/// The statement binds what a call returns to the name that `base` is.
fn binds_call(stmt: &Stmt, base: &Syn) -> bool {
    let Stmt::Local(local) = stmt else { return false };
    let Pat::Ident(name) = &local.pat else { return false };
    let called =
        local.init.as_ref().is_some_and(|init| matches!(&*init.expr, Syn::Call(_) | Syn::MethodCall(_)));
    called && is_name(base, &name.ident)
}
