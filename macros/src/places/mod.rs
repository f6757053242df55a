//! Vectors of references: `let rows: Vec<&[f64]> = x.chunks(3).collect();`, `let near: Vec<&Point> = points.iter().filter(…).collect();`.
//!
//! All of these refer to parts of one slice, or to elements of it. So the vector becomes one of what tells where, which carries no
//! gradient: pairs of integers, where `x[places[i].0..places[i].1]` stands in the place of `rows[i]`, or integers, with `points[places[i]]`. Each
//! use is written anew, see [`uses`]. Whatever is not known to be of that one slice is refused, as by [`crate::advancing`].

mod uses;

use std::collections::VecDeque;

use syn::{Expr, ExprMethodCall, Ident, Pat, Stmt, Type, parse_quote};

use crate::iterators::collect::element_of_vec;
use crate::iterators::consumers::generic;
use crate::kind::inert;
use crate::parse::Parser;
use crate::program::Kind;
use crate::rename::{bound, is_name, path};
use crate::suspects::variable_of;
use uses::{List, Uses};

const OTHERWISE: &str = "a vector of references becomes one of places in the slice that all of them refer to, for which this use of it is not \
                         known: index it, go through it by `iter`, `windows` or `chunks`, or `sort_by` or `retain` its items";

/// Whether the vector refers to parts of a slice, rather than to elements.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Parts,
    Elements,
}

impl Parser<'_> {
    /// What stands in place of `let rows: Vec<&[f64]> = chain.collect();`, where `later` uses the name `rows`: it is replaced there.
    pub(crate) fn places(&mut self, local: &syn::Local, later: &mut VecDeque<Stmt>) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let (pattern, annotated) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some((*typed.ty).clone())),
            pattern => (pattern, None),
        };
        let (Pat::Ident(name), Expr::MethodCall(collect)) = (pattern, &*init.expr) else { return None };
        let plain = name.by_ref.is_none() && name.subpat.is_none();
        if !plain || collect.method != "collect" || !self.suspects.any(&collect.receiver) {
            return None;
        }
        let ty = annotated.or_else(|| generic(collect))?;
        let of = referring(&element_of_vec(&ty)?, &collect.receiver)?;
        let (whole, places) = (self.hidden("whole"), self.names.fresh("places"));
        let mut chain = (*collect.receiver).clone();
        let slice = self.divided_by(&mut chain, &whole)?;
        let list = List { name: name.ident.clone(), places: places.clone(), whole: whole.clone(), of };
        let mut replaced: Vec<Stmt> = later.iter().cloned().collect();
        let mut uses = Uses::new(list, &mut self.names);
        uses.statements(&mut replaced);
        let mutability = uses.changes.then_some(name.mutability);
        if let Some(left) = uses.left() {
            self.errors.push(left, OTHERWISE);
            return None;
        }
        *later = replaced.into();
        let mut part = self.hidden("part");
        part.set_span(collect.method.span().resolved_at(part.span()));
        let place = place_of(of, &whole, &path(&part));
        let element = match of {
            Of::Parts => quote::quote!((usize, usize)),
            Of::Elements => quote::quote!(usize),
        };
        Some(vec![
            parse_quote!(let #whole = &#slice;),
            parse_quote!(let #mutability #places: Vec<#element> = #chain.map(|#part| #place).collect();),
        ])
    }

    /// The slice that the references which `chain` hands out refer to; where that is what it goes through, `chain` has it as `whole` from now on.
    fn divided_by(&mut self, chain: &mut Expr, whole: &Ident) -> Option<Expr> {
        let slice = match referent_of_items(chain) {
            Referent::Source(source) => {
                let slice = source.clone();
                *source = path(whole);
                slice
            }
            Referent::Other(slice) => slice,
            Referent::Unknown => return None,
        };
        let place = self.place(&slice)?;
        let kind = self.program.kind_of_place(&place);
        let slices = matches!(kind, Kind::Sequence(_) | Kind::Unknown) && !inert(&kind);
        (slices && self.shape_of(&slice).is_none()).then_some(slice)
    }
}

/// What a vector with such elements refers to, if these are references; `_` is one where nothing else can come from `chain`.
fn referring(element: &Type, chain: &Expr) -> Option<Of> {
    match element {
        Type::Reference(reference) if reference.mutability.is_none() => Some(match &*reference.elem {
            Type::Slice(_) => Of::Parts,
            Type::Infer(_) => of_chain(chain)?,
            _ => Of::Elements,
        }),
        Type::Infer(_) => of_chain(chain),
        _ => None,
    }
}

/// Adapters that hand out the same items.
const SAME_ITEMS: [&str; 8] =
    ["filter", "skip", "take", "rev", "step_by", "skip_while", "take_while", "inspect"];

/// What the references are to that `chain` hands out, where the names of its methods tell that these are references.
fn of_chain(chain: &Expr) -> Option<Of> {
    let Expr::MethodCall(call) = chain else { return None };
    match call.method.to_string().as_str() {
        "chunks" | "chunks_exact" | "windows" => Some(Of::Parts),
        "iter" if call.args.is_empty() => Some(Of::Elements),
        "map" => match result_of(call)? {
            Expr::Reference(reference) if reference.mutability.is_none() => match &*reference.expr {
                Expr::Index(index) if matches!(&*index.index, Expr::Range(_)) => Some(Of::Parts),
                Expr::Index(_) => Some(Of::Elements),
                _ => None,
            },
            _ => None,
        },
        method if SAME_ITEMS.contains(&method) => of_chain(&call.receiver),
        _ => None,
    }
}

/// What the closure of `map` ends in.
fn result_of(map: &ExprMethodCall) -> Option<&Expr> {
    let Expr::Closure(closure) = map.args.first()? else { return None };
    let mut value = &*closure.body;
    while let Expr::Block(block) = value {
        let Some(Stmt::Expr(last, None)) = block.block.stmts.last() else { return None };
        value = last;
    }
    Some(value)
}

/// What the items of a chain refer to.
enum Referent<'c> {
    /// Parts of what it goes through.
    Source(&'c mut Expr),
    /// Parts of something that one of its closures mentions.
    Other(Expr),
    Unknown,
}

fn referent_of_items(chain: &mut Expr) -> Referent<'_> {
    let Expr::MethodCall(call) = chain else { return Referent::Unknown };
    if call.method == "map"
        && let Some(Expr::Reference(reference)) = result_of(call)
        && let Expr::Closure(closure) = &call.args[0]
    {
        let Expr::Index(index) = &*reference.expr else { return Referent::Unknown };
        let own: Vec<Ident> = closure.inputs.iter().flat_map(bound).collect();
        if !variable_of(&index.expr).is_some_and(|name| own.contains(name)) {
            return Referent::Other((*index.expr).clone());
        }
    }
    match call.method.to_string().as_str() {
        "iter" | "chunks" | "chunks_exact" | "windows" if !goes_on(&call.receiver) => {
            Referent::Source(&mut call.receiver)
        }
        _ => referent_of_items(&mut call.receiver),
    }
}

/// The receiver is a call itself.
fn goes_on(receiver: &Expr) -> bool {
    matches!(receiver, Expr::MethodCall(_) | Expr::Call(_))
}

/// What tells where `part` is in `whole`.
fn place_of(of: Of, whole: &Ident, part: &Expr) -> Expr {
    match of {
        Of::Parts => parse_quote!((
            ::pullback::__private::start_of_part(&#whole[..], #part),
            ::pullback::__private::end_of_part(&#whole[..], #part)
        )),
        Of::Elements => parse_quote!(::pullback::__private::place_of_element(&#whole[..], #part)),
    }
}
