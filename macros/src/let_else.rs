//! What a `match` on an `Option` takes out or leaves for, `let v = match x.first() { Some(v) => v, None => return 0.0 };`, is a
//! `let … else`; with a reference to fall back on, `if let Some(v) = x.get(i) { v } else { &0.0 }`, it is `x.get(i).unwrap_or(&0.0)`.

use syn::{Expr as Syn, Pat, Stmt, parse_quote};

use crate::contents::leaves;
use crate::parse::Parser;
use crate::program::Kind;
use crate::uses::is_name;
use crate::variants::binds;

impl Parser<'_> {
    /// What is to stand in place of such a `let`.
    pub(crate) fn let_else(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        if !is_name(&local.pat) || !self.suspects.any(&init.expr) {
            return None;
        }
        let (option, there, other) = match &*init.expr {
            Syn::Match(m) => {
                let [first, second] = &m.arms[..] else { return None };
                let (there, other) =
                    if takes_out(&first.pat, &first.body) { (first, second) } else { (second, first) };
                if !takes_out(&there.pat, &there.body)
                    || matches!(other.pat, Pat::Guard(_))
                    || binds(&other.pat)
                {
                    return None;
                }
                (&m.expr, &there.pat, (*other.body).clone())
            }
            Syn::If(branch) => {
                let Syn::Let(binding) = &*branch.cond else { return None };
                let [Stmt::Expr(value, None)] = &branch.then_branch.stmts[..] else { return None };
                let (_, otherwise) = branch.else_branch.as_ref()?;
                if !takes_out(&binding.pat, value) {
                    return None;
                }
                (&binding.expr, &*binding.pat, (**otherwise).clone())
            }
            _ => return None,
        };
        let (pattern, Pat::TupleStruct(variant)) = (&local.pat, there) else { return None };
        if leaves(&other) {
            let variant = &variant.path;
            return Some(vec![parse_quote!(let #variant(#pattern) = #option else { #other };)]);
        }
        // What refers to more than a number is followed to a place.
        let of_numbers = match &**option {
            Syn::MethodCall(call) => match self.kind_of_syntax(&call.receiver) {
                Kind::Sequence(element) => *element == Kind::Float,
                _ => true,
            },
            _ => false,
        };
        let other = only(&other);
        let falls_back = of_numbers && matches!(other, Syn::Reference(_));
        falls_back.then(|| vec![parse_quote!(let #pattern = #option.unwrap_or(#other);)])
    }
}

/// `Some(v) => v`
fn takes_out(pattern: &Pat, value: &Syn) -> bool {
    let Pat::TupleStruct(variant) = pattern else { return false };
    let named = variant.path.segments.last().is_some_and(|last| last.ident == "Some" || last.ident == "Ok");
    let [Pat::Ident(name)] = &variant.elems.iter().collect::<Vec<_>>()[..] else { return false };
    named
        && name.by_ref.is_none()
        && name.subpat.is_none()
        && matches!(only(value), Syn::Path(path) if path.path.is_ident(&name.ident))
}

/// What a block is no more than.
fn only(value: &Syn) -> &Syn {
    match value {
        Syn::Block(block) if block.label.is_none() => match &block.block.stmts[..] {
            [Stmt::Expr(value, None)] => only(value),
            _ => value,
        },
        Syn::Paren(paren) => only(&paren.expr),
        value => value,
    }
}
