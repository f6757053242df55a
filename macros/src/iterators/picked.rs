//! One item of a chain: where it comes from is looked for, and nothing of the others has to be kept.

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Expr, ExprClosure, ExprMethodCall, Ident, Stmt, parse_quote};

use crate::closures::{Refused, Site};
use crate::iterators::consumers::changes_others;
use crate::iterators::flow::{Flow, Origin, Stage, guarded, optional, reference};
use crate::iterators::item::{Item, operand};
use crate::iterators::optional::{Found, Located};
use crate::iterators::source::{Source, result};
use crate::parse::Parser;
use crate::rename::{Occurrences, bound, path};

impl<'e> Parser<'e> {
    /// A closure in the chain changes variables that others see: neither what it has itself, nor the state of a `scan`.
    pub(crate) fn changes_others(&self, chain: &Expr) -> bool {
        struct Closures<'p, 'e> {
            parser: &'p Parser<'e>,
            change: bool,
        }
        impl<'ast> Visit<'ast> for Closures<'_, '_> {
            fn visit_expr(&mut self, expr: &'ast Expr) {
                match (expr, self.parser.closure(expr)) {
                    (Expr::Closure(closure), _) => self.change |= self.parser.reaches_out(closure),
                    (_, Some(named)) if named.syntax.inputs.is_empty() => {
                        self.change |= self.parser.changes_others(&named.syntax.body);
                    }
                    (_, Some(named)) => self.change |= self.parser.reaches_out(&named.syntax),
                    (expr, None) => visit::visit_expr(self, expr),
                }
            }
        }
        let mut closures = Closures { parser: self, change: false };
        closures.visit_expr(chain);
        closures.change
    }

    /// The closure changes what neither its parameters nor its own variables are.
    fn reaches_out(&self, closure: &ExprClosure) -> bool {
        struct Lets(Vec<Ident>);
        impl<'ast> Visit<'ast> for Lets {
            fn visit_local(&mut self, local: &'ast syn::Local) {
                self.0.extend(bound(&local.pat));
                visit::visit_local(self, local);
            }
        }
        let mut lets = Lets(Vec::new());
        lets.visit_expr(&closure.body);
        // A name may be that of another variable before.
        let own = lets.0.into_iter().filter(|name| self.lookup(name).is_none());
        let own: Vec<Ident> = own.chain(closure.inputs.iter().flat_map(bound)).collect();
        changes_others(&closure.body, &own)
    }

    /// A closure in the chain changes variables.
    pub(super) fn changes_on_the_way(&self, chain: &Expr) -> bool {
        struct Closures<'p, 'e> {
            parser: &'p Parser<'e>,
            change: bool,
        }
        impl<'ast> Visit<'ast> for Closures<'_, '_> {
            fn visit_expr(&mut self, expr: &'ast Expr) {
                match expr {
                    Expr::Closure(closure) => self.change |= changes_others(&closure.body, &[]),
                    expr => {
                        if let Some(closure) = self.parser.closure(expr) {
                            let named = &closure.syntax;
                            self.change |= match named.inputs.is_empty() {
                                true => self.parser.changes_on_the_way(&named.body),
                                false => changes_others(&named.body, &[]),
                            };
                        }
                        visit::visit_expr(self, expr);
                    }
                }
            }
        }
        let mut closures = Closures { parser: self, change: false };
        closures.visit_expr(chain);
        closures.change
    }

    /// The `Option` is of one item of a chain.
    pub(crate) fn picks(&self, call: &ExprMethodCall) -> bool {
        const PICK: [&str; 7] = ["last", "next", "nth", "find", "find_map", "min_by", "max_by"];
        PICK.iter().any(|name| call.method == name) && self.is_chain(&call.receiver)
    }

    /// The source, whose lengths have names by now, and that of how many items it has.
    pub(super) fn counted(
        &mut self,
        source: &Source,
        tokens: impl ToTokens,
        out: &mut Vec<Stmt>,
    ) -> Result<(Source, Ident), Refused> {
        let mut source = source.clone();
        self.name_lengths(&mut source, out)?;
        let Some(len) = source.len() else {
            return Err((tokens.to_token_stream(), "this iterator has no end".into()));
        };
        let n = self.names.fresh("n");
        out.push(parse_quote!(let #n = #len;));
        Ok((source, n))
    }

    /// The index of the first item that passes a test.
    pub(super) fn find(
        &mut self,
        source: &Source,
        test: &Expr,
        site: Site,
        out: &mut Vec<Stmt>,
    ) -> Result<Found, Refused> {
        let (source, n) = self.counted(source, test, out)?;
        let (at, i) = (self.names.fresh("at"), self.names.fresh("i"));
        let item = self.item_at(&source, &path(&i), site, &mut Vec::new())?;
        let test = self.predicate(test, &[reference(&item)])?;
        out.push(parse_quote!(let mut #at = #n;));
        out.push(parse_quote!(for #i in 0..#n { if #at == #n && #test { #at = #i; } }));
        let index = path(&at);
        Ok(Found { exists: parse_quote!(#at < #n), item: Located::At(Box::new(source), index) })
    }

    /// The first item that comes through the stages, and this one behind them, the last or the `n`-th: where it comes from is looked for,
    /// and it is made once more from there.
    pub(super) fn picked(
        &mut self,
        flow: &Flow,
        behind: Option<Stage>,
        call: &ExprMethodCall,
        site: Site,
        out: &mut Vec<Stmt>,
    ) -> Result<Found, Refused> {
        let refused = || {
            let why = format!("`{}` behind these adapters is not differentiable: write a loop", call.method);
            (call.method.to_token_stream(), why)
        };
        // What is made once more must not count, or the like.
        if self.changes_on_the_way(&call.receiver) || call.args.iter().any(|arg| self.changes_on_the_way(arg))
        {
            return Err(refused());
        }
        let mut flow = flow.clone();
        flow.stages.extend(behind);
        let Origin::Source(source) = &flow.origin else { return Err(refused()) };
        let (source, n) = self.counted(source, &call.method, out)?;
        let (at, i) = (self.names.fresh("at"), self.names.fresh("i"));
        out.push(parse_quote!(let mut #at = #n;));
        let left = call.args.first().filter(|_| call.method == "nth").map(|index| {
            let left = self.names.fresh("left");
            out.push(parse_quote!(let mut #left: usize = #index;));
            left
        });
        let mut sink = |_: &mut Parser<'e>, _: Item, _: Option<&Expr>, out: &mut Vec<Stmt>| {
            out.push(match &left {
                Some(left) => parse_quote!(if #left == 0 { #at = #i; } else { #left -= 1; }),
                None => parse_quote!(#at = #i;),
            });
            Ok(())
        };
        let mut body = Vec::new();
        let guard = flow.guard();
        guarded(&guard, &mut body, |body| {
            let item = self.item_at(&source, &path(&i), site, body)?;
            self.pass(&flow.stages, item, None, site, &mut sink, body)
        })?;
        out.push(match call.method == "last" {
            true => parse_quote!(for #i in 0..#n { #(#body)* }),
            false => parse_quote!(for #i in 0..#n { if #at == #n { #(#body)* } }),
        });
        let mut made = Vec::new();
        let item = self.item_at(&source, &path(&at), Site::Block, &mut made)?;
        let item = self.made_again(&flow.stages, item, &mut made)?.ok_or_else(refused)?;
        Ok(Found { exists: parse_quote!(#at < #n), item: Located::Made(made, item) })
    }

    /// What the stages make of an item that comes through all of them; `None` where that is not known from the item alone.
    fn made_again(
        &mut self,
        stages: &[Stage],
        mut item: Item,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<Item>, Refused> {
        let site = Site::Block;
        for stage in stages {
            item = match stage {
                Stage::Map(function) => self.mapped(function, item, site, out)?,
                Stage::Copied => item.copied(),
                Stage::FilterMap(closure, _) => {
                    let value = self.inline(closure, vec![item], site, out)?;
                    match (optional(value.clone(), closure), value) {
                        (Ok((_, mut then)), _) => {
                            self.rename_locals(&mut then, &Occurrences::of(closure), site);
                            out.extend(then.statements);
                            result(then.value.expect("an option has a value"))
                        }
                        (Err(_), Some(option)) => {
                            let option = operand(option);
                            Item::Value(parse_quote!(#option.unwrap()))
                        }
                        (Err(refused), None) => return Err(refused),
                    }
                }
                Stage::Filter(_)
                | Stage::Inspect(_)
                | Stage::TakeWhile(..)
                | Stage::SkipWhile(..)
                | Stage::Skip(..)
                | Stage::Take(..)
                | Stage::StepBy(..) => item,
                Stage::FlatMap(_) | Stage::Enumerate(_) | Stage::Scan(..) | Stage::Zip(_) => return Ok(None),
            };
        }
        Ok(Some(item))
    }
}
