//! Tuples that a chain picks out, under one name: `let best = x.iter().enumerate().max_by(…).unwrap();`.
//!
//! Their parts may be references, which stand for places: each gets a name of its own.

use std::collections::VecDeque;

use quote::quote;
use syn::visit_mut::VisitMut;
use syn::{Expr, ExprField, Ident, Local, Member, Pat, Stmt, parse_quote};

use crate::iterators::item::Item;
use crate::named_options::refers;
use crate::parse::Parser;
use crate::rename::{Replace, Substitute, path};

impl Parser<'_> {
    /// The tuple that `local` binds to one name, taken apart. In `later` its parts stand in the place of that name.
    pub(crate) fn picked_tuple(&mut self, local: &Local, later: &mut VecDeque<Stmt>) -> Option<Stmt> {
        let Pat::Ident(name) = &local.pat else { return None };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        if name.mutability.is_some() || name.by_ref.is_some() || name.subpat.is_some() {
            return None;
        }
        let item = self.picked_item(&init.expr)?;
        let pattern = self.apart_in(&name.ident, &item, later.make_contiguous());
        let value = &init.expr;
        matches!(pattern, Pat::Tuple(_)).then(|| parse_quote!(let #pattern = #value;))
    }

    /// `chain.unwrap().1`: that part under a name, without the others.
    pub(crate) fn part_of_picked(&mut self, field: &ExprField, out: &mut Vec<Stmt>) -> Option<Expr> {
        let (Member::Unnamed(index), Item::Tuple(items)) = (&field.member, self.picked_item(&field.base)?)
        else {
            return None;
        };
        let part = self.hidden("part");
        let pattern =
            (0..items.len()).map(|i| if i == index.index as usize { quote!(#part) } else { quote!(_) });
        let whole = &field.base;
        out.push(parse_quote!(let (#(#pattern,)*) = #whole;));
        Some(path(&part))
    }

    /// What an option holds that a chain ends in, where that is unwrapped and has references in it.
    pub(crate) fn picked_item(&mut self, expr: &Expr) -> Option<Item> {
        let option = match expr {
            Expr::MethodCall(call) if call.method == "unwrap" || call.method == "expect" => &*call.receiver,
            Expr::Try(tried) => &*tried.expr,
            _ => return None,
        };
        if !matches!(option, Expr::MethodCall(_)) || !self.suspects.any(option) {
            return None;
        }
        let (_, item) = self.optional_item(option, &mut Vec::new(), &mut Vec::new())?.ok()?;
        (matches!(item, Item::Tuple(_)) && refers(&item)).then_some(item)
    }

    /// A pattern that gives all parts of `item` names, which stand for those of `whole` in `code`.
    fn apart_in(&mut self, whole: &Ident, item: &Item, code: &mut [Stmt]) -> Pat {
        let Item::Tuple(items) = item else { return parse_quote!(#whole) };
        let names: Vec<Ident> = items.iter().map(|_| self.hidden(&whole.to_string())).collect();
        let by = Substitute::Parts(names.clone());
        let mut replace = Replace::new(whole, &by);
        code.iter_mut().for_each(|stmt| replace.visit_stmt_mut(stmt));
        if replace.left {
            self.errors.push(whole, "give the parts of this tuple names of their own, in the pattern");
        }
        let parts = names.iter().zip(items).map(|(name, item)| self.apart_in(name, item, code));
        let parts: Vec<Pat> = parts.collect();
        parse_quote!((#(#parts),*))
    }
}
