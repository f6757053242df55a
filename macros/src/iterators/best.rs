//! What is made of the items one after the other, starting with the first: `reduce`, `min_by`, `max_by`.

use quote::ToTokens;
use syn::{Expr, Ident, Stmt, parse_quote};

use crate::closures::{Refused, Site};
use crate::iterators::consumers::Names;
use crate::iterators::flow::{Flow, reference};
use crate::iterators::item::Item;
use crate::iterators::optional::{Found, Located};
use crate::iterators::source::Source;
use crate::parse::Parser;
use crate::rename::path;

impl<'e> Parser<'e> {
    /// A number that is made of all items, starting with the first: `then` has to update it with each other one.
    pub(super) fn reduce(
        &mut self,
        flow: &Flow,
        site: Site,
        out: &mut Vec<Stmt>,
        mut then: impl FnMut(&mut Parser<'e>, &Ident, Item, &mut Vec<Stmt>) -> Result<(), Refused>,
    ) -> Result<Found, Refused> {
        let best = self.hidden("best");
        out.push(parse_quote!(let mut #best = 0.0;));
        // Whether there was an item before follows from the index, if that counts the items.
        let by_index = flow.source().is_some();
        let (started, exists): (Option<Ident>, Expr) = if let Some(source) = flow.source() {
            let (_, n) = self.counted(source, &best, out)?;
            (None, parse_quote!(0 < #n))
        } else {
            let started = self.names.fresh("started");
            out.push(parse_quote!(let mut #started = false;));
            (Some(started.clone()), path(&started))
        };
        let mut sink = |parser: &mut Parser<'e>, item: Item, index: Option<&Expr>, out: &mut Vec<Stmt>| {
            let item = match item {
                Item::Place { .. } => {
                    let why = "this is differentiable for an iterator of numbers: put `copied` before it";
                    return Err((item.expr().to_token_stream(), why.into()));
                }
                item => parser.named(item, out),
            };
            let value = item.expr();
            let mut update = Vec::new();
            then(parser, &best, item, &mut update)?;
            match (&started, index) {
                (None, Some(index)) => {
                    out.push(parse_quote!(if #index == 0 { #best = #value; } else { #(#update)* }));
                }
                (started, _) => {
                    out.push(parse_quote!(if !#started { #best = #value; } else { #(#update)* }));
                    out.push(parse_quote!(#started = true;));
                }
            }
            Ok(())
        };
        self.drive(flow, site, by_index, &mut sink, out)?;
        Ok(Found { exists, item: Located::There(Item::Value(path(&best))) })
    }

    /// Something that is made of all items, of whatever type: it starts as the first one, and `then` updates it with each other.
    pub(super) fn peeled(
        &mut self,
        flow: &Flow,
        mut then: impl FnMut(&mut Parser<'e>, &Names, Item, &mut Vec<Stmt>) -> Result<(), Refused>,
    ) -> Result<Found, Refused> {
        let mut made = Vec::new();
        let mut source = flow.source().expect("just seen").clone();
        self.name_lengths(&mut source, &mut made)?;
        let len = source.len().ok_or_else(|| (Default::default(), "this iterator has no end".to_string()))?;
        let first = self.item_at(&source, &parse_quote!(0), Site::Block, &mut made)?;
        let (tuple, parts) = match first {
            Item::Tuple(items) => (true, items),
            item => (false, vec![item]),
        };
        let mut names = Vec::new();
        for part in parts {
            let (name, value) = (self.hidden("best"), part.expr());
            made.push(parse_quote!(let mut #name = #value;));
            names.push(name);
        }
        let best = Names { names, tuple, numbers: tuple };
        let i = self.names.fresh("i");
        let mut body = Vec::new();
        let item = self.item_at(&source, &path(&i), Site::Block, &mut body)?;
        let item = self.named(item, &mut body);
        then(self, &best, item, &mut body)?;
        made.push(parse_quote!(for #i in 1..#len { #(#body)* }));
        Ok(Found { exists: parse_quote!(0 < #len), item: Located::Made(made, best.item()) })
    }

    /// The index of the item that is the least or the greatest: nothing of the items has to be kept.
    pub(super) fn best_index(
        &mut self,
        source: &Source,
        name: &str,
        compare: &Expr,
        site: Site,
        out: &mut Vec<Stmt>,
    ) -> Result<Found, Refused> {
        let (source, n) = self.counted(source, compare, out)?;
        let (best, i) = (self.names.fresh("best"), self.names.fresh("i"));
        let (at_best, at_i) = (path(&best), path(&i));
        let mut places = Vec::new();
        let old = self.item_at(&source, &at_best, site, &mut places)?;
        // The names that a closure has for what it is given mean those of the other item from then on.
        let old = if places.is_empty() { old } else { self.under_a_name(old, &mut places) };
        let new = self.item_at(&source, &at_i, site, &mut places)?;
        let test = self.better(name, compare, &reference(&old), &reference(&new))?;
        out.push(parse_quote!(let mut #best = 0_usize;));
        out.push(parse_quote!(for #i in 1..#n {
            #(#places)*
            if #test {
                #best = #i;
            }
        }));
        Ok(Found { exists: parse_quote!(0 < #n), item: Located::At(Box::new(source), at_best) })
    }

    /// The new item takes the place of the old one: the last of equal ones is the greatest, the first is the least.
    pub(super) fn better(
        &mut self,
        name: &str,
        compare: &Expr,
        old: &Expr,
        new: &Expr,
    ) -> Result<Expr, Refused> {
        let order = self.predicate(compare, &[old.clone(), new.clone()])?;
        Ok(match name {
            "max_by" => parse_quote!((#order) != ::core::cmp::Ordering::Greater),
            _ => parse_quote!((#order) == ::core::cmp::Ordering::Greater),
        })
    }
}
