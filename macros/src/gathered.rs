//! Iterators as arguments: see [`crate::streams`] for what takes them.
//!
//! `f(x.iter().copied(), y)` lends `x` to the rule. In `f(x.iter().map(|x| x * k), y)` the items are gathered first, as if written
//! `{ let gathered: Vec<_> = x.iter().map(|x| x * k).collect(); f(gathered.iter().cloned(), y) }`.

use std::collections::HashMap;

use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr as Syn, ExprMethodCall, Pat, Stmt, Token, Type, parse_quote, parse_quote_spanned};

use crate::calls::Callee;
use crate::escape::writes;
use crate::iterators::flow::{Flow, Origin, Stage};
use crate::iterators::generators::generator;
use crate::iterators::item::Code;
use crate::iterators::source::{Access, Function, Source};
use crate::parse::Parser;
use crate::program::{ExprId, ExprKind, Program};
use crate::rename::path;
use crate::streams::Handing;

/// Why a chain is refused that would do something at another time than it does.
const CHANGES: &str = "this iterator changes variables on the way: gather its items before, `let items: Vec<_> = ….collect();`, and pass `items.iter()`";

impl Parser<'_> {
    /// The call with names for the items of iterators among its arguments.
    pub(crate) fn with_gathered(&mut self, call: &syn::ExprCall) -> Option<Syn> {
        if generator(&call.func).is_some() || makes_collection(&call.func) {
            return None;
        }
        let mut named = call.clone();
        let statements = self.gather(&mut named.args, call)?;
        Some(parse_quote_spanned!(call.span()=> { #(#statements)* #named }))
    }

    /// The same for the call of a method.
    pub(crate) fn with_gathered_of_method(&mut self, call: &ExprMethodCall) -> Option<Syn> {
        if writes(&call.receiver) {
            return None;
        }
        let mut named = call.clone();
        let statements = self.gather(&mut named.args, call)?;
        Some(parse_quote_spanned!(call.span()=> { #(#statements)* #named }))
    }

    /// Puts what stands for gathered items in the place of such arguments: the statements that gather them.
    fn gather(&mut self, args: &mut Punctuated<Syn, Token![,]>, call: &impl ToTokens) -> Option<Vec<Stmt>> {
        if !self.suspects.any(call) {
            return None;
        }
        let mut statements = Vec::new();
        for i in 0..args.len() {
            let arg = &args[i];
            if !self.is_iterator(arg) || self.lent_whole(arg).is_some() {
                continue;
            }
            let chain = match self.named_chain(arg) {
                Ok(named) => named.unwrap_or_else(|| arg.clone()),
                Err((tokens, why)) => {
                    self.errors.push(tokens, why);
                    continue;
                }
            };
            if self.changes_others(&chain) {
                self.errors.push(arg, CHANGES);
                continue;
            }
            let Ok(Some(flow)) = self.flow(&chain, &mut Vec::new()) else { continue };
            let Some(handing) = self.handing(&flow) else { continue };
            let (gathered, owned) = (self.hidden("gathered"), handing.owned(&chain));
            statements.push(parse_quote_spanned!(arg.span()=> let #gathered: ::pullback::__private::gathered::Vec<_> = #owned.collect();));
            let again = handing.chain(&path(&gathered));
            args[i] = parse_quote_spanned!(arg.span()=> ::pullback::__private::gathered::handed(#again, &#gathered));
            if args.iter().take(i).any(|earlier| writes(earlier) && !is_unique(earlier)) {
                let why = "this is computed before what the call is given further left, which changes something: bind that with `let` first";
                self.errors.push(&args[i], why);
            }
        }
        (!statements.is_empty()).then_some(statements)
    }

    /// An iterator, as far as syntax tells, that nothing consumes.
    fn is_iterator(&self, arg: &Syn) -> bool {
        match arg {
            Syn::Paren(paren) => self.is_iterator(&paren.expr),
            Syn::Path(_) => matches!(self.named_chain(arg), Ok(Some(_))),
            Syn::Call(call) => generator(&call.func).is_some(),
            arg => self.goes_through(arg),
        }
    }

    /// What an iterator goes through, all of it, that is an argument.
    fn lent_whole(&mut self, arg: &Syn) -> Option<(Syn, Handing)> {
        match arg {
            Syn::Paren(paren) => return self.lent_whole(&paren.expr),
            Syn::Path(_) => return self.lent_whole(&self.named_chain(arg).ok()??),
            _ => {}
        }
        let Syn::MethodCall(call) = arg else { return None };
        if !call.args.is_empty() {
            return None;
        }
        let receiver = &call.receiver;
        match call.method.to_string().as_str() {
            "copied" | "cloned" => match self.lent_whole(receiver)? {
                (lent, Handing::Reference) => Some((lent, Handing::Value)),
                _ => None,
            },
            "clone" => self.lent_whole(receiver),
            "into_iter" if self.goes_through(receiver) => self.lent_whole(receiver),
            "iter" | "into_iter" => {
                let known = self.place(receiver).is_some() && self.shape_of(receiver).is_none();
                let handing = match call.method == "iter" {
                    true => Handing::Reference,
                    false => of_access(self.access(receiver))?,
                };
                (known && self.goes_through(arg)).then(|| ((**receiver).clone(), handing))
            }
            _ => None,
        }
    }

    /// What is lent to a rule that has the items of an iterator.
    pub(crate) fn lent_items(&mut self, arg: &Syn) -> Option<ExprId> {
        let (lent, handing) = match self.lent_whole(arg) {
            Some(found) => found,
            None => match gathered(arg)? {
                [_, Syn::Reference(lent)] => {
                    let name = (*lent.expr).clone();
                    (name, Handing::Value)
                }
                _ => return None,
            },
        };
        let by_reference = self.variable(&lent).is_some_and(|id| {
            let variable = &self.program.variables[id];
            variable.by_reference() || variable.refers
        });
        let id = match by_reference {
            true => self.argument(&lent),
            // The name of a `&mut` stands for a place as well.
            false if self.names_unique(&lent) => self.expr(&parse_quote!(&*#lent)),
            false => self.expr(&parse_quote!(&#lent)),
        };
        if !matches!(self.program.exprs[id].kind, ExprKind::Borrow { .. }) {
            return Some(id);
        }
        let again = gathered(arg).map_or_else(|| handing.chain(&lent), |args| args[0].clone());
        self.program.streamed.insert(id, again);
        Some(id)
    }

    /// The name of a reference by which something is written to.
    fn names_unique(&self, expr: &Syn) -> bool {
        matches!(expr, Syn::Path(path) if path.path.get_ident().is_some_and(|name| self.is_unique(name)))
    }

    /// What the items of a chain are; `None` if that is not known.
    fn handing(&self, flow: &Flow) -> Option<Handing> {
        let mut items = match &flow.origin {
            Origin::Source(source) => self.handing_of(source)?,
            Origin::Chain(first, _) => self.handing(first)?,
            Origin::Constant(_) => return None,
        };
        for stage in &flow.stages {
            items = match stage {
                Stage::Filter(_)
                | Stage::Inspect(_)
                | Stage::TakeWhile(..)
                | Stage::SkipWhile(..)
                | Stage::Skip(..)
                | Stage::Take(..)
                | Stage::StepBy(..) => items,
                Stage::Map(function) => of_result(function, &items),
                Stage::Enumerate(_) => Handing::Tuple(vec![Handing::Value, items]),
                Stage::Zip(zipped) => {
                    let other = self.handing_of(&zipped.source)?;
                    Handing::Tuple(if zipped.first { vec![other, items] } else { vec![items, other] })
                }
                Stage::FlatMap(None) if items != Handing::Value => Handing::Reference,
                Stage::FlatMap(Some(Function::Closure(closure))) => of_inner(&Code::of(&closure.body).value?),
                Stage::Copied | Stage::FilterMap(..) | Stage::Scan(..) | Stage::FlatMap(_) => Handing::Value,
            };
        }
        Some(items)
    }

    fn handing_of(&self, source: &Source) -> Option<Handing> {
        Some(match source {
            Source::Range { .. } | Source::Integers { .. } | Source::From(_) | Source::Copied(_) => {
                Handing::Value
            }
            Source::Elements { access, .. } => of_access(*access)?,
            Source::Repeat(value) => of_value(value, &HashMap::new()),
            Source::Zip(left, right) => Handing::Tuple(vec![self.handing_of(left)?, self.handing_of(right)?]),
            Source::Enumerate(inner) => Handing::Tuple(vec![Handing::Value, self.handing_of(inner)?]),
            Source::Cycle(inner, _)
            | Source::Skip(inner, _)
            | Source::Take(inner, _)
            | Source::StepBy(inner, _)
            | Source::Rev(inner, _) => self.handing_of(inner)?,
            Source::Map(inner, function) => {
                of_result(function, &self.handing_of(inner).unwrap_or(Handing::Value))
            }
            _ => return None,
        })
    }
}

/// What elements are that are handed out like that.
fn of_access(access: Access) -> Option<Handing> {
    match access {
        Access::Shared => Some(Handing::Reference),
        Access::Value => Some(Handing::Value),
        Access::Unique => None,
    }
}

/// What `function` makes of an item.
fn of_result(function: &Function, item: &Handing) -> Handing {
    let Function::Closure(closure) = function else { return Handing::Value };
    let mut names = HashMap::new();
    closure.inputs.iter().for_each(|pattern| name(pattern, item, &mut names));
    Code::of(&closure.body).value.map_or(Handing::Value, |value| of_value(&value, &names))
}

/// Notes what the names in a pattern stand for.
fn name(pattern: &Pat, item: &Handing, names: &mut HashMap<String, Handing>) {
    match (pattern, item) {
        (Pat::Ident(ident), item) => {
            names.insert(ident.ident.to_string(), item.clone());
        }
        (Pat::Paren(paren), item) => name(&paren.pat, item, names),
        (Pat::Type(typed), item) => name(&typed.pat, item, names),
        (Pat::Tuple(tuple), Handing::Tuple(parts)) => {
            tuple.elems.iter().zip(parts).for_each(|(pattern, part)| name(pattern, part, names));
        }
        _ => {}
    }
}

/// What a value is, where `names` are known.
fn of_value(value: &Syn, names: &HashMap<String, Handing>) -> Handing {
    match value {
        Syn::Paren(paren) => of_value(&paren.expr, names),
        Syn::Reference(_) => Handing::Reference,
        Syn::Tuple(tuple) => Handing::Tuple(tuple.elems.iter().map(|part| of_value(part, names)).collect()),
        Syn::Path(path) => {
            let known = path.path.get_ident().and_then(|name| names.get(&name.to_string()));
            known.cloned().unwrap_or(Handing::Value)
        }
        _ => Handing::Value,
    }
}

/// What the items of an iterator are that a closure returns.
fn of_inner(value: &Syn) -> Handing {
    match value {
        Syn::Reference(_) => Handing::Reference,
        Syn::MethodCall(call) if call.method == "iter" => Handing::Reference,
        Syn::MethodCall(call)
            if ["rev", "skip", "take", "step_by"].iter().any(|name| call.method == name) =>
        {
            of_inner(&call.receiver)
        }
        _ => Handing::Value,
    }
}

/// `Vec::from_iter` and the like.
fn makes_collection(function: &Syn) -> bool {
    let Syn::Path(path) = function else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "from_iter")
}

/// `&mut place`
fn is_unique(arg: &Syn) -> bool {
    matches!(arg, Syn::Reference(reference) if reference.mutability.is_some() && !writes(&reference.expr))
}

/// The arguments of the function that marks what is gathered.
fn gathered(arg: &Syn) -> Option<[&Syn; 2]> {
    let Syn::Call(call) = arg else { return None };
    let Syn::Path(function) = &*call.func else { return None };
    (own(&function.path, "handed") && call.args.len() == 2).then(|| [&call.args[0], &call.args[1]])
}

/// The path is that of `name` in `rules/src/gathered.rs`.
fn own(path: &syn::Path, name: &str) -> bool {
    let segments = path.segments.iter().map(|segment| &segment.ident);
    segments.eq(["pullback", "__private", "gathered", name].iter())
}

/// A vector of gathered items, by its type.
pub(crate) fn is_gathered(ty: Option<&Type>) -> bool {
    matches!(ty, Some(Type::Path(path)) if own(&path.path, "Vec"))
}

/// An empty vector for at least so many of them.
pub(crate) fn room(n: Option<&Syn>) -> Syn {
    let n = n.cloned().unwrap_or_else(|| parse_quote!(0));
    parse_quote!(::pullback::__private::gathered::room(#n))
}

impl Program {
    /// A call that makes room for gathered items.
    pub(crate) fn is_room(&self, expr: ExprId) -> bool {
        matches!(&self.exprs[expr].kind, ExprKind::Call { function: Callee::Function(path), .. } if own(path, "room"))
    }
}
