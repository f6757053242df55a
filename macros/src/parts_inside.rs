//! Tuples with vectors in them in an `Option` or a `Result`: `let (v, e) = f(x)?;` becomes
//!
//! ```text
//! let (outcome, mut part_1, part_2) = split_parts(f(x));
//! if !is_filled(&outcome) { return …; }
//! let v = take_out(&mut part_1);
//! let e = part_2.unwrap();
//! ```
//!
//! Each part is an `Option` of its own: a vector is taken out of that as in [`crate::contents`], anything else is a value that may be missing.

use syn::{Expr as Syn, Ident, Pat, Stmt, parse_quote};

use crate::contents::{Source, Taken};
use crate::cotangent::Cotangent;
use crate::mutation::owned_type;
use crate::parse::Parser;
use crate::program::*;
use crate::reverse::Reverse;

impl Parser<'_> {
    /// Where `whole` may have a tuple with vectors that the names in `pattern` get, as their types tell, or what is done with them in `scope`.
    pub(crate) fn source_of_parts<'s>(
        &mut self,
        whole: &Syn,
        pattern: &syn::PatTuple,
        types: Option<&syn::Type>,
        scope: impl IntoIterator<Item = &'s Stmt>,
    ) -> Option<Source> {
        let plain = |part: &Pat| match part {
            Pat::Ident(name) => name.by_ref.is_none() && name.subpat.is_none(),
            part => matches!(part, Pat::Wild(_)),
        };
        if pattern.elems.len() < 2 || !pattern.elems.iter().all(plain) || !self.may_be_split(whole) {
            return None;
        }
        let scope: Vec<&Stmt> = scope.into_iter().collect();
        // What nobody looks at may be a vector as well.
        let may_own = |(i, part): (usize, &Pat)| match types {
            _ if matches!(part, Pat::Wild(_)) => true,
            Some(syn::Type::Tuple(types)) => types.elems.get(i).is_some_and(owned_type),
            _ => self.is_handled_as_vector(part, scope.iter().copied()),
        };
        let may_own: Vec<bool> = pattern.elems.iter().enumerate().map(may_own).collect();
        if !may_own.contains(&true) {
            return None;
        }
        let outcome = self.parts.fresh("outcome");
        let parts: Vec<Ident> = may_own.iter().map(|_| self.parts.fresh("part")).collect();
        let patterns = parts.iter().zip(&may_own).map(|(part, may_own)| -> Pat {
            if *may_own { parse_quote!(mut #part) } else { parse_quote!(#part) }
        });
        let split =
            parse_quote!(let (#outcome, #(#patterns),*) = ::pullback::__private::split_parts(#whole););
        let taken = parts.iter().zip(&may_own).map(|(part, may_own)| -> Syn {
            match may_own {
                true => parse_quote!(::pullback::__private::take_out(&mut #part)),
                false => parse_quote!(#part.unwrap()),
            }
        });
        Some(Source::of_parts(outcome, taken.collect(), split))
    }

    /// Marks the parts that something is taken out of: they are `mut`.
    pub(crate) fn settle_split(&mut self, variables: &[Option<VarId>]) {
        let Some((outcome, parts)) = variables.split_first() else { return };
        outcome.iter().for_each(|id| self.program.variables[*id].constant = true);
        let own = parts.iter().flatten().filter(|id| self.program.variables[**id].mutable);
        let own: Vec<VarId> = own.copied().collect();
        self.program.inside.extend(own);
    }
}

impl Taken {
    /// Binds the names in `pattern`.
    pub(crate) fn bind_parts(parts: &[Syn], pattern: &Pat, ty: Option<&syn::Type>) -> Vec<Stmt> {
        let Pat::Tuple(names) = pattern else { unreachable!("of a tuple") };
        let ty = |i: usize| match ty {
            Some(syn::Type::Tuple(types)) => types.elems.get(i).map(|ty| quote::quote!(: #ty)),
            _ => None,
        };
        let bound =
            names.elems.iter().zip(parts).enumerate().filter(|(_, (name, _))| !matches!(name, Pat::Wild(_)));
        bound
            .map(|(i, (name, part))| {
                let ty = ty(i);
                parse_quote!(let #name #ty = #part;)
            })
            .collect()
    }
}

impl Reverse<'_> {
    /// Undoes `let (outcome, mut part_1, part_2) = split_parts(whole);`
    pub(crate) fn undo_split_parts(&mut self, l: &Let, whole: ExprId, at: &At) {
        if !self.program.exprs[whole].active {
            return self.pull_root(whole, None, at);
        }
        let parts: Vec<_> = l.variables[1..].iter().map(|id| id.expect("each has a name")).collect();
        let own: Vec<_> = parts.iter().copied().filter(|id| self.program.inside.contains(id)).collect();
        own.iter().for_each(|id| self.declare(*id));
        let gradients = parts.iter().map(|id| match self.final_shadow(*id) {
            Some(shadow) => shadow.tokens,
            None => quote::quote!(__pb::zero()),
        });
        let (gradients, d) = (gradients.collect::<Vec<_>>(), self.kept.fresh("d"));
        self.emit(quote::quote!(let #d = (#(#gradients,)*);));
        self.pull_root(whole, Some(Cotangent { owned: true, ..Cotangent::atom(quote::quote!(#d)) }), at);
        for (i, id) in parts.iter().enumerate().filter(|(_, id)| own.contains(id)) {
            let i = syn::Index::from(i);
            self.give_back_inside(*id, quote::quote!(#d.#i));
        }
    }
}
