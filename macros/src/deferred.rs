//! Vectors that are declared first and made later: `let v; if c { v = x.to_vec(); } else { v = vec![k; 3]; }`. They start as empty ones, so that the
//! reverse pass finds a vector in any case. Tuples with vectors in them that a branch chooses, `let (v, n) = if c { (x.to_vec(), 2) } else { … };`,
//! are taken for such.

use std::collections::VecDeque;

use syn::visit::Visit;
use syn::{Expr as Syn, Ident, Pat, Stmt, parse_quote};

use crate::chosen::{each_end, ends_of};
use crate::contents::leaves;
use crate::kind::{inert, is_vector};
use crate::parse::Parser;
use crate::program::Kind;
use crate::rename::Occurrences;

impl Parser<'_> {
    /// `let v;` of a vector, as its type or one of the values tells that it gets in `rest`.
    pub(crate) fn made_later(&self, local: &syn::Local, rest: &VecDeque<Stmt>) -> Option<Vec<Stmt>> {
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        let Pat::Ident(name) = pattern else { return None };
        if local.init.is_some() || !self.suspects.contains(&name.ident) {
            return None;
        }
        let mut values = Values(&name.ident, Vec::new());
        rest.iter().for_each(|stmt| values.visit_stmt(stmt));
        let told = ty.is_some_and(is_vector) || values.1.iter().any(|value| self.gives_vector(value));
        let (name, ty) = (&name.ident, ty.map(|ty| quote::quote!(: #ty)));
        told.then(|| vec![parse_quote!(let mut #name #ty = Vec::new();)])
    }

    /// The parts of a tuple that a branch chooses as variables, one of them a vector.
    pub(crate) fn chosen_parts(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let Pat::Tuple(patterns) = &local.pat else { return None };
        let mut ends = Vec::new();
        if !matches!(&*init.expr, Syn::If(_) | Syn::Match(_))
            || !self.suspects.any(&init.expr)
            || !ends_of(&init.expr, &mut ends)
            || patterns.elems.iter().any(|pattern| matches!(pattern, Pat::Rest(_)))
        {
            return None;
        }
        let ends = ends.into_iter().filter(|end| !leaves(end)).map(|end| match end {
            Syn::Tuple(tuple) if tuple.elems.len() == patterns.elems.len() => Some(tuple),
            _ => None,
        });
        let ends: Vec<_> = ends.collect::<Option<_>>()?;
        // All values of a part are of one type, which one of them tells.
        let vector = |i: usize| ends.iter().any(|end| self.gives_vector(&end.elems[i]));
        let number = |i: usize| ends.iter().any(|end| self.is_plain_number(&end.elems[i]));
        let vectors: Vec<_> = (0..patterns.elems.len()).map(vector).collect();
        if !vectors.contains(&true) || !vectors.iter().enumerate().all(|(i, vector)| *vector || number(i)) {
            return None;
        }
        // A vector that is moved on could not get another one: the names are those of the pattern.
        let mentioned = Occurrences::of(&init.expr);
        let name = |pattern: &Pat| match pattern {
            Pat::Ident(name)
                if name.by_ref.is_none() && name.subpat.is_none() && mentioned.count(&name.ident) == 0 =>
            {
                Some((name.ident.clone(), name.mutability))
            }
            _ => None,
        };
        let (names, mutability): (Vec<_>, Vec<_>) =
            patterns.elems.iter().map(name).collect::<Option<Vec<_>>>()?.into_iter().unzip();
        let mut out: Vec<Stmt> = Vec::new();
        for ((name, mutability), vector) in names.iter().zip(mutability).zip(vectors) {
            out.push(match vector {
                true => parse_quote!(let mut #name = Vec::new();),
                false => parse_quote!(let #mutability #name;),
            });
        }
        let mut chosen = (*init.expr).clone();
        each_end(&mut chosen, &mut |end| {
            if let Syn::Tuple(tuple) = end {
                let values = tuple.elems.iter();
                *end = parse_quote!({ #(#names = #values;)* });
            }
        });
        out.push(Stmt::Expr(chosen, None));
        Some(out)
    }

    /// The value is a number in any case.
    fn is_plain_number(&self, value: &Syn) -> bool {
        match value {
            Syn::Paren(paren) => self.is_plain_number(&paren.expr),
            Syn::Lit(_) | Syn::Cast(_) => true,
            Syn::Binary(binary) => self.is_plain_number(&binary.left) || self.is_plain_number(&binary.right),
            Syn::Unary(unary) => self.is_plain_number(&unary.expr),
            value => {
                let kind = self.kind_of_syntax(value);
                kind == Kind::Float || inert(&kind)
            }
        }
    }
}

/// What is assigned to a name.
struct Values<'n, 's>(&'n Ident, Vec<&'s Syn>);

impl<'s> Visit<'s> for Values<'_, 's> {
    fn visit_expr_assign(&mut self, assign: &'s syn::ExprAssign) {
        if matches!(&*assign.left, Syn::Path(path) if path.path.is_ident(self.0)) {
            self.1.push(&assign.right);
        }
        syn::visit::visit_expr_assign(self, assign);
    }
}
