//! Fields that are given something else to hold, where nothing tells whether that owns memory: `s.previous = s.current.clone();`,
//! `s.previous = std::mem::replace(&mut s.current, next);`. A local has what is new, and changes places with the field, which is right
//! for whatever has a shadow.

use syn::{Expr as Syn, Ident, Stmt, parse_quote};

use crate::exchange::taken;
use crate::parse::Parser;
use crate::program::*;
use crate::rename::Occurrences;

impl Parser<'_> {
    /// What is to stand in place of an assignment to such a field, in front of `rest`.
    pub(crate) fn refilled<'s>(
        &mut self,
        stmt: &Stmt,
        rest: impl IntoIterator<Item = &'s Stmt> + Clone,
    ) -> Option<Vec<Stmt>> {
        let Stmt::Expr(Syn::Assign(assign), _) = stmt else { return None };
        let field = &assign.left;
        if !self.is_unknown_field(field) || !self.suspects.any(assign) {
            return None;
        }
        let mut out = Vec::new();
        let new = match &*assign.right {
            Syn::Call(_) => self.replaced(&assign.right, rest, &mut out)?,
            value if self.gives_vector(value) => return None,
            value => self.contents_of(value, rest, &mut out)?,
        };
        out.push(parse_quote!(::core::mem::swap(&mut #field, &mut #new);));
        Some(out)
    }

    /// What `std::mem::replace` returns for such a field, or `std::mem::take` for one of a local.
    fn replaced<'s>(
        &mut self,
        expr: &Syn,
        rest: impl IntoIterator<Item = &'s Stmt> + Clone,
        out: &mut Vec<Stmt>,
    ) -> Option<Ident> {
        let (field, value) = taken(expr)?;
        if !self.is_unknown_field(field) {
            return None;
        }
        let new = match value {
            Some(value) => self.contents_of(value, rest, out)?,
            None if self
                .place(field)
                .is_some_and(|place| self.program.variables[place.base].by_reference()) =>
            {
                return None;
            }
            None => {
                let new = self.hidden("contents");
                out.push(parse_quote!(let mut #new = ::core::default::Default::default();));
                new
            }
        };
        out.push(parse_quote!(::core::mem::swap(&mut #field, &mut #new);));
        Some(new)
    }

    /// A local that holds `value`, and is not asked for in `rest`.
    fn contents_of<'s>(
        &mut self,
        value: &Syn,
        rest: impl IntoIterator<Item = &'s Stmt>,
        out: &mut Vec<Stmt>,
    ) -> Option<Ident> {
        if let Syn::Path(path) = value
            && let Some(id) = self.variable(value).filter(|id| self.program.copies.contains(id))
        {
            let name = path.path.get_ident()?;
            let later = rest.into_iter().any(|stmt| Occurrences::of(stmt).count(name) > 0);
            let own = self.program.variables[id].block == self.block;
            return (own && !later && self.program.make_mutable(id)).then(|| name.clone());
        }
        let copy = matches!(value, Syn::MethodCall(call) if call.method == "clone" && self.is_unknown_field(&call.receiver));
        if !copy && !self.gives_vector(value) {
            return None;
        }
        let new = self.hidden("contents");
        out.push(parse_quote!(let mut #new = #value;));
        Some(new)
    }

    fn is_unknown_field(&mut self, expr: &Syn) -> bool {
        let place = match expr {
            Syn::Field(_) => self.place(expr),
            _ => None,
        };
        place.is_some_and(|place| self.program.kind_of_place(&place) == Kind::Unknown)
    }
}
